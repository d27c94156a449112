// SPDX-License-Identifier: Apache-2.0
//
// Forces and energies of lists of terms, added up by all threads in sums of whole numbers: bonded
// terms, and what excluded pairs add to a sum over all pairs.
#pragma once
#include "base/thread_sums.h"
#include "bonded/bonded_term.h"
#include "nonbonded/excluded_field.h"
#include "nonbonded/excluded_run.h"
#include "system/moving_part.h"

#include <functional>
#include <memory>
#include <vector>

namespace tessera::molecular {

/// Which of the lists.
struct TermChoice {
  bool bonded = true;
  /// Pairs whose part of the reciprocal sum is taken out, by these; null: they are not.
  std::shared_ptr<const ExcludedShapes> ewald_excluded;
  bool field_excluded = false;  ///< pairs with a reaction field
};

class TermSums {
 public:
  TermSums() = default;
  /// Lists of a part of a system (moving_part.h).
  TermSums(const ForcePart& part, const Nonbonded& options, const TermChoice& choice);

  /// Energies and virial of the terms that are counted; forces are left to be taken.
  Sums add(const std::vector<Vec3>& x, const Box& box, bool energies, const FixedScale& scale);
  /// Whether there is anything to take.
  bool any() const { return !force_.empty(); }
  /// sum[k] = what was added at begin + k of [n, 3].
  void take(std::size_t begin, std::size_t end, std::int64_t* sum) { force_.take(begin, end, sum); }
  void all_taken() { force_.all_taken(); }

 private:
  /// Adds terms [begin, end) of a list.
  using Add = std::function<void(const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
                                 bool energies, Sums& sums)>;
  struct List {
    std::size_t size, counted;
    bool needs_box;
    Add add;
  };
  std::vector<List> lists_;
  ThreadSums<std::int64_t> force_;
};

}  // namespace tessera::molecular
