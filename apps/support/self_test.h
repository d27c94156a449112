// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace tessera::apps {

/// One small computation whose answer is known another way.
struct SelfTest {
  std::string name;
  double error = 0;                                   ///< relative
  double tolerance = 0;                               ///< and what it may be
  bool passed() const { return error <= tolerance; }  // NaN does not pass
};

/// Runs the engine against plain loops in long double: below a tenth of a second in all.
std::vector<SelfTest> run_self_tests();

}  // namespace tessera::apps
