// SPDX-License-Identifier: Apache-2.0
//
// Sums over the parts of a problem, whoever holds these.
//
// Parts 0 .. P-1 are added up along one binary tree: a node of level l covers parts
// [k 2^l, (k+1) 2^l), as far as there are such, and is the sum of its two halves, the left one
// first. The bits of the sum belong to the values of the parts alone. A rank adds up the branches
// that it holds whole, sends these to the ranks that finish the sum, each a slice of it, and gets
// the slices back: where every rank holds one whole branch, 2 (n - 1) / n of the bytes of a sum
// leave each of n ranks, the least that an all-reduce can send (Thakur, Rabenseifner, Gropp 2005).
#pragma once
#include "tessera/parallel/communicator.h"

#include <vector>

namespace tessera::parallel {

/// Rank r holds parts [begin[r], begin[r + 1]) of begin.back(); some may hold none.
using PartsOfRanks = std::vector<Index>;

/// As even as they can be, the first ranks one more.
PartsOfRanks deal_parts(Index parts, int ranks);

/// The sum over all parts, at every rank. `mine`: a row of n values for each part of this rank, one
/// after the other; n is the same everywhere. Of float, double, std::complex of these,
/// std::int64_t. Throws Error where `parts` do not fit the ranks, or `mine` does not fit the parts.
template <class T>
std::vector<T> sum_of_parts(Communicator& c, std::span<const T> mine, Index n,
                            const PartsOfRanks& parts, SourceLine line = SourceLine::here());

/// The same of parts that come one after the other: a row for each level of the tree is kept, not
/// one for each part.
template <class T>
class RunningSum {
 public:
  /// Of the parts of `rank`; rows of n values.
  RunningSum(const PartsOfRanks& parts, int rank, Index n);
  /// The next part of this rank.
  void add(std::vector<T> row);
  /// The sum over all parts, at every rank; all of this rank's have come.
  std::vector<T> finish(Communicator& c, SourceLine line = SourceLine::here());

 private:
  struct Sum {
    int level;
    Index index;  ///< over parts [index 2^level, (index + 1) 2^level)
    std::vector<T> row;
  };
  PartsOfRanks parts_;
  Index n_, next_, end_;
  std::vector<Sum> sums_;
};

}  // namespace tessera::parallel
