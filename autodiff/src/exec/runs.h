// SPDX-License-Identifier: Apache-2.0
//
// Which steps of a plan are joined into one (blocks.h).
#pragma once
#include "layout.h"

#include <map>

namespace tessera::plan {

/// The view is the whole root in its order.
inline bool is_whole(const Placed& p, const Root& r) {
  return p.view.data == nullptr && p.view.contiguous() && bytes_of(p.view.type()) == r.bytes;
}

/// A run that grows step by step: element-wise steps over one shape and reductions of such arrays
/// of at least `least` elements; where whole rows are reduced, along trailing axes, steps by row
/// and those that read what is by row, repeated along the rows, too.
class GrowingRun {
 public:
  GrowingRun(const Step& first, const std::vector<Root>& roots, Index least);
  /// Takes the step in if it can.
  bool goes_on(const Step& s);

  const blocks::Extent& extent() const { return extent_; }
  /// What the run makes has one element for each row.
  bool is_by_row(std::uint32_t root) const {
    const auto it = made_.find(root);
    return extent_.row > 0 && it != made_.end() && it->second == extent_.row;
  }

 private:
  static constexpr Index kElements = 0, kReduced = -1;
  bool is_element_wise(const Step& s, bool folds, Index& row) const;
  bool is_by_row(const Step& s, Index& row) const;

  const std::vector<Root>& roots_;
  Index least_;
  blocks::Extent extent_;
  /// Roots: one number for each element, for each row of so many, or for something else.
  std::map<std::uint32_t, Index> made_;
};

/// The step, which reduces arrays of at least `least` elements, may be in a run.
bool may_reduce_in_run(const Step& s, const std::vector<Root>& roots, Index least);

/// The steps with runs as one, alone where operands lie in short stretches, which a run gathers.
/// They take in the products of matrices, of at least 256 `least` bytes, that they read first,
/// where those give their rows one by one.
std::vector<Step> with_runs_joined(std::vector<Step> steps, const std::vector<Root>& roots,
                                   Index least);

}  // namespace tessera::plan
