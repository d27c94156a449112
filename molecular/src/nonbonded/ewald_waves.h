// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tessera::molecular {

/// Throws Error where an Ewald sum has more waves than can be summed: kmax^3 V/(12 pi^2), each with
/// memory of its own, and a term of each charge.
inline void check_waves(double kmax, double volume_nm3) {
  constexpr double most = 1e7;
  const double of_one = volume_nm3 / (12 * std::numbers::pi * std::numbers::pi),
               waves = kmax * kmax * kmax * of_one;
  if (!(waves <= most))
    throw Error(fmt::format(
        "[ewald_kmax] waves up to {:.4g}/nm in a box of {:.4g} nm^3 are {:.2g}, more than the "
        "{:g} that a sum without a grid takes: at most {:.4g}/nm, or a sum with a grid (pme)",
        kmax, volume_nm3, waves, most, std::floor(10 * std::cbrt(most / of_one)) / 10));
}

}  // namespace tessera::molecular
