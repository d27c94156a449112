// SPDX-License-Identifier: Apache-2.0
// Derivatives of a case against differences, and forward mode against reverse mode. Along a random
// direction v of one group of parameters, with random weights c of one result y,
//
//   phi(h) = <c, y(p + h v)> / |c| |y|,   |y| the larger of |y(p)| and |J v| over all groups,
//   phi' = <c, J v>         by forward mode, against (phi(h) - phi(-h)) / 2h, extrapolated,
//   <c, J v> = <J^T c, v>   forward mode against reverse mode: the adjoint identity,
//   |phi(h) - phi(0) - h phi'| = O(h^2),
//   |phi(h) - phi(0) - h phi' - h^2/2 phi''| = O(h^3).
//
// A wrong gradient breaks the first, a reverse mode that is not the transpose the second, and the
// slopes tell a wrong derivative from differences that are merely coarse. Extrapolation:
// C. Ridders, Adv. Eng. Software 4 (1982) 75.
#pragma once
#include "support/app.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps {

inline constexpr const char* kNoInfluence = "no influence";

/// One result along one group of parameters. All numbers relative to the size of the result and to
/// the reach of the parameters.
struct DerivativeCheck {
  std::string result, parameters;
  double derivative = 0;          ///< phi'
  double difference = 0;          ///< what the differences say
  double settled = 0;             ///< how far these can be trusted, by their own extrapolation
  double adjoint = 0;             ///< |<c, J v> - <J^T c, v>| / (|c| |J v|)
  std::optional<double> slope_1;  ///< of the remainders; none where they are rounding
  std::optional<double> slope_2;
  double size = 0;  ///< |y|, in the units of the result
  bool passed = false;
  std::string verdict;

  /// |derivative - difference| / the larger of both.
  double disagreement() const;
};

/// `told(done, total)` after each evaluation of the case.
std::vector<DerivativeCheck> check_derivatives(
    const Derivatives& d, std::uint64_t seed,
    const std::function<void(int done, int total)>& told = {});

}  // namespace tessera::apps
