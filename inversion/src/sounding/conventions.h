// SPDX-License-Identifier: Apache-2.0
// The two ways to misread an impedance show in its phase and in the size of the apparent
// resistivity: of soundings in files and of tables of data.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace tessera::inversion {

/// Phases of a response that lies within 0 to 90 degrees over a layered earth.
struct PhaseReview {
  std::size_t outside = 0;
  bool mirrored = false;  ///< most of them lie in -90..0: those of the other time sign
  std::string what;       ///< of them is doubtful: E0330
};
PhaseReview review_phases(const std::string& response, const std::vector<double>& phase_deg);

/// Lists of ModEM that are written here say so of their phases; the format leaves it open.
inline constexpr const char* phases_of_minus_zyx = "phases of yx are those of -Zyx";

/// Whether that is a resistivity of rocks or sea water: a mistaken unit of impedances is a factor
/// of (4 pi 1e-4)^2, six decades, and leads far outside (E0331).
bool is_of_the_earth(double ohm_m);

}  // namespace tessera::inversion
