// SPDX-License-Identifier: Apache-2.0
//
// What the primitives of this folder share: operands with leading axes, and the columns of the
// design edges.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <string>

namespace tessera::electromagnetics::adjoint {

/// `t` with other axes in place of its last `own` ones.
inline Type with_lead(const Type& t, int own, const tessera::Shape& tail) {
  tessera::Shape s;
  for (int d = 0; d + own < t.shape.size(); ++d) s.push_back(t.shape[d]);
  for (const Index n : tail) s.push_back(n);
  return {t.dtype, s};
}
inline void expect(const char* name, const Type& got, const Type& wanted, const char* what) {
  if (got != wanted)
    fail(name, std::string(what) + " should be " + to_string(wanted) + ", got " + to_string(got));
}
/// Samples of a batch side by side where there are enough of them, else one after the other with
/// the threads inside, as where ranks wait for each other.
template <class F>
void over_samples(const YeeOp& op, Index count, F&& f) {
  if (count >= num_threads() && !op.cut.ranks) return parallel_chunks(count, f);
  for (Index b = 0; b < count; ++b) f(b);
}
/// Elements of one sample; null where it has none.
template <class T>
T* part(const View& v, Index sample, Index size) {
  return size == 0 ? nullptr : static_cast<T*>(v.data) + sample * size;
}

/// On several ranks each call runs, in its order.
inline Ordering order_of(const YeeOp& op) {
  return op.cut.ranks ? Ordering::every : Ordering::free;
}

/// by [.., columns] times all rows of v [.., rows, columns], or [.., part, rows, columns].
inline Tensor times_rows(const Tensor& by, const Tensor& v, int axes_of_rows) {
  Tensor b = cast(by, v.dtype());
  for (int d = 0; d < axes_of_rows; ++d) b = expand_dims(b, -2);
  return b * v;
}
/// A change of the parameters [.., design, K] as what each trace is taken for: dc/c, of mixed edges
/// -d theta / g.
inline Tensor share_of_traces(const YeeOp& op, const Tensor& dc, const Tensor& c) {
  if (op.channels == 1) return dc / c;
  return dc * cast(tensor(op.per_channel), dc.dtype());
}
/// `v` with the channels of each design edge as an axis of its own.
inline Tensor by_channels(const YeeOp& op, const Tensor& v) {
  tessera::Shape s = v.shape();
  s[v.ndim() - 1] = static_cast<Index>(op.design.size());
  s.push_back(op.channels);
  return reshape(v, s);
}
/// The current at the design edges [.., rows, design] that stands for the change, from the traces.
inline Tensor current_of_change(const YeeOp& op, const Tensor& dc, const Tensor& c,
                                const Tensor& traces, int axes_of_rows = 1) {
  const Tensor all = times_rows(share_of_traces(op, dc, c), traces, axes_of_rows);
  return op.channels == 1 ? all : sum(by_channels(op, all), tessera::Shape{all.ndim()});
}
/// Its transpose: the cotangents of the traces from those of the current. A bracket's own cotangent
/// `traces` (or none) is no part of it.
inline Tensor traces_of_change(const YeeOp& op, const Tensor& dc, const Tensor& c,
                               const Tensor& currents, const Tensor& traces, int axes_of_rows = 1) {
  const Tensor share = share_of_traces(op, dc, c);
  if (op.channels == 1)
    return times_rows(share, traces.defined() ? currents - traces : currents, axes_of_rows);
  tessera::Shape s = currents.shape(), columns = s;
  s.push_back(op.channels);
  columns[currents.ndim() - 1] *= op.channels;
  return times_rows(share, reshape(broadcast_to(expand_dims(currents, -1), s), columns),
                    axes_of_rows);
}
/// The shape of what a list of edges has: [steps, edges], of fields of two parts [2, steps, edges].
inline tessera::Shape table_of(const YeeOp& op, Index steps, Index edges) {
  return op.scheme.parts() == 1 ? tessera::Shape{steps, edges} : tessera::Shape{2, steps, edges};
}
/// [steps, driven], of fields of two parts [2, steps, driven].
inline void expect_currents(const YeeOp& op, const char* name, const Tensor& currents) {
  const int parts = op.scheme.parts();
  const auto driven = static_cast<Index>(op.driven.size());
  if (currents.ndim() != 1 + parts || currents.dim(parts) != driven ||
      (parts == 2 && currents.dim(0) != 2))
    throw Error("[" + std::string(name) + "] the currents should be " +
                (parts == 2 ? "[2, steps, " : "[steps, ") + std::to_string(driven) + "], got " +
                to_string(currents.type()));
}
/// All currents: those of the driven edges come first, those of the design edges after them; the
/// others are zero.
inline Tensor driven_among_currents(const YeeOp& op, const Tensor& driven) {
  tessera::Shape low = tessera::Shape::filled(driven.ndim(), 0), high = low;
  high[driven.ndim() - 1] = static_cast<Index>(op.design.size());
  return pad(driven, low, high);
}
inline Tensor design_among_currents(const YeeOp& op, const Tensor& design) {
  tessera::Shape low = tessera::Shape::filled(design.ndim(), 0), high = low;
  low[design.ndim() - 1] = static_cast<Index>(op.driven.size());
  return pad(design, low, high);
}
inline Tensor design_columns(const YeeOp& op, const Tensor& currents) {
  return slice(currents, currents.ndim() - 1, static_cast<Index>(op.driven.size()),
               op.n_injected());
}
}  // namespace tessera::electromagnetics::adjoint
