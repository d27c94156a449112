// SPDX-License-Identifier: Apache-2.0
//
// Lists of edges that are whole on each rank, and the columns of them that a rank's slab has.
#pragma once
#include "tessera/electromagnetics/yee_primitive.h"

#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::adjoint {

using RankColumns = std::vector<std::vector<std::int64_t>>;  ///< [ranks]

/// This rank's columns of [rows, width]; empty where `all` is null.
template <class T>
std::vector<T> own_columns(const YeeOp& op, const T* all, const RankColumns& columns,
                           std::int64_t width, std::int64_t rows);
/// [rows, width] on all ranks, from what each has of it.
template <class T>
void whole_columns(const YeeOp& op, const std::vector<T>& own, const RankColumns& columns,
                   std::int64_t width, std::int64_t rows, T* all);
template <class T>
std::vector<T> whole_list(const YeeOp& op, const std::vector<T>& own, const RankColumns& columns,
                          std::int64_t width, std::int64_t rows) {
  std::vector<T> all(static_cast<std::size_t>(rows * width));
  whole_columns(op, own, columns, width, rows, all.data());
  return all;
}

/// YeeScheme::advance and its transpose with lists of all ranks.
template <class T>
struct ForwardLists {
  const T* currents;
  T *records, *traces;
};
template <class T>
struct TransposedLists {
  const T *records, *traces;
  T* currents;
};
template <class T>
void advance_on_ranks(const YeeOp& op, T* state, std::int64_t n, const ForwardLists<T>& lists,
                      const T* coefficients);
template <class T>
void advance_transposed_on_ranks(const YeeOp& op, T* state, std::int64_t n,
                                 const TransposedLists<T>& lists, const T* coefficients);

}  // namespace tessera::electromagnetics::adjoint
