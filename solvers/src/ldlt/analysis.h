// SPDX-License-Identifier: Apache-2.0
//
// What the pattern of A = A^T alone says of its factorisation by fronts (multifrontal: I. Duff,
// J. Reid 1983, doi:10.1145/356044.356047): the order of elimination, the columns that are
// eliminated together (supernodes, small ones joined to their parents), where numbers go, and how
// the work is shared out. Made once for a pattern.
#pragma once
#include "tessera/autodiff/ops/sparse.h"

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tessera::solvers::ldlt_detail {

/// Columns first ... first + pivots - 1 of the permuted matrix, and the rows below that they reach.
/// What is left of a front is added to that of its parent.
struct Front {
  std::int32_t first = 0, pivots = 0, below = 0, parent = -1;
  std::int32_t first_child = 0, children = 0;  ///< in Analysis::children
  Index rows = 0;                              ///< in Analysis::rows and Analysis::place
  std::int32_t into = 0;  ///< the first so many rows below are pivots of the parent
};

/// Fronts [begin, end): whole subtrees.
struct Subtrees {
  std::int32_t begin, end;
};

/// Where numbers of one size lie.
struct Storage {
  std::vector<Index> panel;      ///< of each front, in the factors; one more: their size
  std::vector<Index> left_over;  ///< of each front, in the memory of its subtrees, or of the top
  std::vector<std::uint32_t> entry_at;  ///< of each entry of Analysis::entries, within its panel
  Index subtrees = 0, top = 0;          ///< sizes of those memories
  Index panel_size = 0, column = 0;     ///< the largest panel, the longest column
};

struct Neighbours;

struct Analysis {
  explicit Analysis(CsrPatternPtr pattern);

  CsrPatternPtr pattern;
  std::int32_t n = 0;
  std::vector<std::int32_t> order;  ///< permuted row k is row order[k] of the matrix
  std::vector<Front> fronts;        ///< children before parents
  std::vector<std::int32_t> children;
  std::vector<std::int32_t> rows;     ///< below each front, permuted, rising
  std::vector<std::int32_t> place;    ///< of the same rows in the parent: its pivots, then its rows
  std::vector<Index> entry_begin;     ///< of each front, in `entries`; one more
  std::vector<std::int32_t> entries;  ///< of the pattern, lower triangle of the permuted matrix
  std::vector<std::int32_t> entry_row, entry_column;  ///< within their front
  std::vector<std::int32_t> diagonal;                 ///< entry of each permuted row, or -1
  std::vector<std::int32_t> mirror;   ///< of each entry of the pattern: its transposed, or -1
  std::vector<Subtrees> tasks;        ///< may be factored at the same time, each by one thread
  std::vector<std::int32_t> top;      ///< the other fronts, in their order
  std::vector<std::uint8_t> is_root;  ///< of subtrees: what is left goes to the memory of the top
  double steps = 0;                   ///< fused steps of the factorisation
  double nonzeros = 0;                ///< of the factors, those of joined supernodes included

  std::span<const std::int32_t> rows_of(const Front& f) const {
    return {rows.data() + f.rows, static_cast<std::size_t>(f.below)};
  }
  std::span<const std::int32_t> place_of(const Front& f) const {
    return {place.data() + f.rows, static_cast<std::size_t>(f.below)};
  }
  /// For numbers of which `block` are 64 bytes: 4, 8 or 16.
  const Storage& storage(Index block) const;

 private:
  void make_fronts(const Neighbours& g);
  void find_rows(const Neighbours& g);
  void find_places();
  void place_entries();
  void share_work();

  mutable std::array<std::unique_ptr<const Storage>, 3> storage_;
  mutable std::mutex mutex_;
};

/// The analysis of a pattern: of the last eight they are kept.
std::shared_ptr<const Analysis> analysis_of(const CsrPatternPtr& pattern);

}  // namespace tessera::solvers::ldlt_detail
