// SPDX-License-Identifier: Apache-2.0
//
// What is different for some of the parameters of a training: by their names, as leaf_names gives
// them.
#pragma once
#include "tessera/autodiff/tree.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tessera::solvers {

struct LeafRule {
  std::string names;  ///< of leaves; `*` stands for any text, as in "layers.0.*"
  double rate = 1;    ///< factor of the learning rate; at 0 the leaves stay as they are
  std::optional<double> decay = {};  ///< weight decay in place of the optimizer's own
};

/// Leaves that take the same steps.
struct LeafGroup {
  double rate = 1;
  std::optional<double> decay = {};
  std::vector<std::size_t> leaves = {};  ///< by number, ascending
};

/// The leaves that a pattern names, by number. Throws where there is none, and tells their names.
std::vector<std::size_t> leaves_named(const std::string& pattern, const LeafNames& names);

/// The leaves that are trained; of the rules that name a leaf the last one counts. A leaf without a
/// rule has the rate 1. Throws for a rule that names no leaf, for a rate or decay that is negative
/// or not finite, and where no leaf is left.
std::vector<LeafGroup> leaf_groups(const LeafNames& names, const std::vector<LeafRule>& rules);

}  // namespace tessera::solvers
