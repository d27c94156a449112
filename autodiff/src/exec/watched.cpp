// SPDX-License-Identifier: Apache-2.0
#include "watched.h"

#include "../core/graph_passes.h"
#include "../core/tensor_internal.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <optional>

namespace tessera::detail {
namespace {

bool is_bad(double v, Trap trap) { return trap == Trap::nan ? std::isnan(v) : !std::isfinite(v); }
bool is_bad(c128 v, Trap trap) { return is_bad(v.real(), trap) || is_bad(v.imag(), trap); }

/// The first element, in row-major order, that the trap is for.
template <class T>
std::optional<Index> first_bad_of(const Tensor& t, Trap trap) {
  const std::vector<T> v = t.to_vector<T>();
  const auto bad = std::find_if(v.begin(), v.end(), [&](T x) { return is_bad(x, trap); });
  if (bad == v.end()) return {};
  return bad - v.begin();
}
std::optional<Index> first_bad(const Tensor& t, Trap trap) {
  if (is_complex(t.dtype())) return first_bad_of<c128>(cast(t, Dtype::c128), trap);
  if (is_inexact(t.dtype())) return first_bad_of<double>(cast(t, Dtype::f64), trap);
  return {};
}

std::string position_text(Index at, const Shape& shape) {
  Shape p = shape;
  for (int k = shape.size() - 1; k >= 0; --k) p[k] = at % shape[k], at /= shape[k];
  return to_string(p);
}
std::string element_text(const Tensor& t, Index at) {
  const auto k = static_cast<std::size_t>(at);
  if (is_complex(t.dtype())) return text_of(cast(t, Dtype::c128).to_vector<c128>()[k]);
  const double v = cast(t, Dtype::f64).to_vector<double>()[k];
  return std::isnan(v) ? "nan" : text_of(v);
}

/// Types of the operands, with their elements at the same place where they have one.
std::string operands_text(std::span<const Tensor* const> in, Index at, const Shape& shape) {
  std::string text;
  for (const Tensor* t : in) {
    text += (text.empty() ? "" : ", ") + to_string(t->type());
    if (t->shape() == shape) text += " = " + element_text(*t, at);
    if (t->ndim() == 0 && shape.size() > 0) text += " = " + element_text(*t, 0);
  }
  return text.empty() ? "nothing" : text;
}

void look(const Graph::Equation& e, std::span<const Tensor* const> in, const Tensor& y, Trap trap) {
  for (const Tensor* t : in)
    if (first_bad(*t, trap)) return;
  const std::optional<Index> at = first_bad(y, trap);
  if (!at) return;
  const std::string place = y.ndim() == 0 ? "" : " at " + position_text(*at, y.shape());
  fail(e.primitive->name,
       "gives " + element_text(y, *at) + place +
           ", of operands without: " + operands_text(in, *at, y.shape()),
       e.line);
}

void add_time(const OperationTime& t, std::vector<OperationTime>& all) {
  for (OperationTime& known : all)
    if (known.operation == t.operation && known.line == t.line) {
      known.calls += t.calls, known.seconds += t.seconds;
      return;
    }
  all.push_back(t);
}

}  // namespace

std::vector<Tensor> evaluate_watched(const Graph& g, std::span<const Tensor> inputs, Trap trap,
                                     std::vector<OperationTime>* times) {
  using Clock = std::chrono::steady_clock;
  return evaluate_by(
      g, inputs,
      [&](const Graph::Equation& e, std::span<const Tensor* const> in, std::span<Tensor> out) {
        const auto begin = Clock::now();
        dispatch(*e.primitive, in, e.attr, e.line, out);
        if (times)
          add_time({e.primitive->name, to_string(e.line), 1,
                    std::chrono::duration<double>(Clock::now() - begin).count()},
                   *times);
        if (trap != Trap::none)
          for (const Tensor& y : out) look(e, in, y, trap);
      });
}

void add_times(const std::vector<OperationTime>& run, std::vector<OperationTime>& all) {
  for (const OperationTime& t : run) add_time(t, all);
  std::stable_sort(all.begin(), all.end(), [](const OperationTime& a, const OperationTime& b) {
    return a.seconds > b.seconds;
  });
}

}  // namespace tessera::detail
