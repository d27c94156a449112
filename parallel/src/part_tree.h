// SPDX-License-Identifier: Apache-2.0
//
// The binary tree over the parts of a problem (part_sums.h).
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/parallel/part_sums.h"

#include <algorithm>
#include <vector>

namespace tessera::parallel {

/// Of the tree over all parts: it covers [index 2^level, (index + 1) 2^level).
struct Branch {
  int level;
  Index index;
  auto operator<=>(const Branch&) const = default;
  Index begin() const { return index << level; }
  Index end(Index parts) const { return std::min((index + 1) << level, parts); }
  Branch half(int which) const { return {level - 1, 2 * index + which}; }
};

/// The whole branches that parts [begin, end) are made of, from the left.
std::vector<Branch> branches_of(Index begin, Index end, Index parts);

/// all [n] = sum_of_parts.
template <class T>
void sum_of_parts(Communicator& c, std::span<const T> mine, Index n, const PartsOfRanks& parts,
                  T* all, SourceLine line);
/// The same of what each rank has added up already: `mine`, rows of n values, one for
/// each of its branches.
template <class T>
void sum_of_branches(Communicator& c, std::span<const T> mine, Index n, const PartsOfRanks& parts,
                     T* all, SourceLine line);
/// The same as an operation: x [branches of this rank, ...] -> [...]. Its transpose gives each
/// branch what comes back.
Tensor sum_of_branches(Communicator& c, const PartsOfRanks& parts, Arg x);

}  // namespace tessera::parallel
