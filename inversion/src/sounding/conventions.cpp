// SPDX-License-Identifier: Apache-2.0
#include "sounding/conventions.h"

#include "tessera/data/median.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::inversion {

PhaseReview review_phases(const std::string& response, const std::vector<double>& phase_deg) {
  const auto n = static_cast<std::size_t>(phase_deg.size());
  const auto count = [&](auto&& is) {
    return static_cast<std::size_t>(std::count_if(phase_deg.begin(), phase_deg.end(), is));
  };
  PhaseReview out{.outside = count([](double p) { return p < 0 || p > 90; }),
                  .mirrored = 2 * count([](double p) { return p < 0 && p >= -90; }) > n,
                  .what = {}};
  if (out.outside)
    out.what = fmt::format(
        "the {} phase leaves 0..90 degrees at {} of {} frequencies (median {:.0f} degrees)",
        response, out.outside, n, data::median(phase_deg));
  return out;
}

bool is_of_the_earth(double ohm_m) { return ohm_m >= 0.05 && ohm_m <= 1e6; }

}  // namespace tessera::inversion
