// SPDX-License-Identifier: Apache-2.0
// What a case expects of its stages: whether they tell such a quantity, and what it became.
#pragma once
#include "molecular/dynamics/case.h"
#include "molecular/dynamics/results.h"

#include <string>
#include <vector>

namespace tessera::apps::dynamics {

/// E0751 at a stage that there is not, E0754 at a quantity that its stage does not tell.
std::vector<data::Diagnostic> unknown_expectations(const Case& c, const data::Config& config);

struct Expectation {
  std::string name;
  double found = 0;
  std::string text;
  bool kept = false;
};
/// Of a case without unknown ones.
std::vector<Expectation> check_expectations(const Case& c, const std::vector<Summary>& stages);

}  // namespace tessera::apps::dynamics
