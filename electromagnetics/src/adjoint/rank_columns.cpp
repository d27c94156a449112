// SPDX-License-Identifier: Apache-2.0
#include "adjoint/rank_columns.h"

#include "tessera/parallel/communicator.h"

#include <algorithm>
#include <complex>

namespace tessera::electromagnetics::adjoint {
namespace {

/// What goes to the columns of each rank.
template <class T>
void put_columns(const std::vector<T>& own, const std::vector<std::int64_t>& columns,
                 std::int64_t width, std::int64_t rows, T* all) {
  auto next = own.begin();
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t c : columns) all[row * width + c] = *next++;
}

const std::vector<std::int64_t>& of_this_rank(const YeeOp& op, const RankColumns& columns) {
  return columns[static_cast<std::size_t>(op.cut.ranks ? op.cut.ranks->rank() : 0)];
}

/// Room for what this rank's columns get.
template <class T>
std::vector<T> own_room(const YeeOp& op, const RankColumns& columns, std::int64_t rows) {
  return std::vector<T>(of_this_rank(op, columns).size() * static_cast<std::size_t>(rows));
}

}  // namespace

template <class T>
std::vector<T> own_columns(const YeeOp& op, const T* all, const RankColumns& columns,
                           std::int64_t width, std::int64_t rows) {
  std::vector<T> own;
  if (!all) return own;
  const std::vector<std::int64_t>& mine = of_this_rank(op, columns);
  own.reserve(mine.size() * static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t c : mine) own.push_back(all[row * width + c]);
  return own;
}

template <class T>
void whole_columns(const YeeOp& op, const std::vector<T>& own, const RankColumns& columns,
                   std::int64_t width, std::int64_t rows, T* all) {
  if (!op.cut.ranks) {
    std::copy(own.begin(), own.end(), all);
    return;
  }
  if (width * rows == 0) return;
  const std::vector<parallel::Bytes> of_ranks = op.cut.ranks->all_gather(parallel::to_bytes(own));
  for (std::size_t r = 0; r < of_ranks.size(); ++r)
    put_columns(parallel::from_bytes<T>(of_ranks[r]), columns[r], width, rows, all);
}

template <class T>
void advance_on_ranks(const YeeOp& op, T* state, std::int64_t n, const ForwardLists<T>& lists,
                      const T* coefficients) {
  const YeeScheme& s = op.scheme;
  if (!op.cut.ranks)
    return s.advance(state, n, lists.currents, lists.records, lists.traces, coefficients);
  const std::int64_t rows = s.parts() * n;
  const std::vector<T> currents = own_columns(op, lists.currents, op.columns.injected,
                                              op.n_injected(), rows),
                       c = own_columns(op, coefficients, op.columns.traced, op.n_traced(), 1);
  std::vector<T> records = own_room<T>(op, op.columns.recorded, rows),
                 traces = own_room<T>(op, op.columns.traced, rows);
  s.advance(state, n, lists.currents ? currents.data() : nullptr, records.data(),
            lists.traces ? traces.data() : nullptr, coefficients ? c.data() : nullptr);
  whole_columns(op, records, op.columns.recorded, op.n_recorded(), rows, lists.records);
  if (lists.traces) whole_columns(op, traces, op.columns.traced, op.n_traced(), rows, lists.traces);
}

template <class T>
void advance_transposed_on_ranks(const YeeOp& op, T* state, std::int64_t n,
                                 const TransposedLists<T>& lists, const T* coefficients) {
  const YeeScheme& s = op.scheme;
  if (!op.cut.ranks)
    return s.advance_transposed(state, n, lists.records, lists.traces, lists.currents, nullptr,
                                coefficients);
  const std::int64_t rows = s.parts() * n;
  const std::vector<T> records = own_columns(op, lists.records, op.columns.recorded,
                                             op.n_recorded(), rows),
                       traces =
                           own_columns(op, lists.traces, op.columns.traced, op.n_traced(), rows),
                       c = own_columns(op, coefficients, op.columns.traced, op.n_traced(), 1);
  std::vector<T> currents = own_room<T>(op, op.columns.injected, rows);
  s.advance_transposed(state, n, lists.records ? records.data() : nullptr,
                       lists.traces ? traces.data() : nullptr, currents.data(), nullptr,
                       coefficients ? c.data() : nullptr);
  whole_columns(op, currents, op.columns.injected, op.n_injected(), rows, lists.currents);
}

#define TESSERA_COLUMNS(T)                                                                      \
  template std::vector<T> own_columns(const YeeOp&, const T*, const RankColumns&, std::int64_t, \
                                      std::int64_t);                                            \
  template void whole_columns(const YeeOp&, const std::vector<T>&, const RankColumns&,          \
                              std::int64_t, std::int64_t, T*)
TESSERA_COLUMNS(float);
TESSERA_COLUMNS(double);
TESSERA_COLUMNS(std::complex<double>);
#undef TESSERA_COLUMNS
#define TESSERA_STEPS(T)                                                                 \
  template void advance_on_ranks(const YeeOp&, T*, std::int64_t, const ForwardLists<T>&, \
                                 const T*);                                              \
  template void advance_transposed_on_ranks(const YeeOp&, T*, std::int64_t,              \
                                            const TransposedLists<T>&, const T*)
TESSERA_STEPS(float);
TESSERA_STEPS(double);
#undef TESSERA_STEPS

}  // namespace tessera::electromagnetics::adjoint
