// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/bostick.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::inversion {

double bostick_depth(double frequency_hz, std::complex<double> impedance_ohm) {
  return std::abs(impedance_ohm) / (2 * std::numbers::pi * frequency_hz * mu0);
}

BostickModel bostick(const Response& response) {
  require_valid(response, "bostick");
  std::vector<std::size_t> order(response.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return response.frequency_hz[a] > response.frequency_hz[b];
  });
  BostickModel out;
  for (std::size_t i : order) {
    const auto z = response.impedance_ohm[i];
    const double phase = std::arg(z);
    out.depth_m.push_back(bostick_depth(response.frequency_hz[i], z));
    const bool sensible = phase > 0 && phase < 0.5 * std::numbers::pi;
    out.resistivity_ohm_m.push_back(sensible ? apparent_resistivity(response.frequency_hz[i], z) *
                                                   (std::numbers::pi / (2 * phase) - 1)
                                             : std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

}  // namespace tessera::inversion
