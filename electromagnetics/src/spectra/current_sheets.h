// SPDX-License-Identifier: Apache-2.0
// The current sheets of a surface and of its images in mirrors.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/near_to_far.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace tessera::electromagnetics {

/// One patch, or an image of it: points of its own, the fields of the patch, and the signs that the
/// images' currents take. J_lo = -electric[0] H_hi, J_hi = electric[1] H_lo, M_lo = magnetic[0]
/// E_hi, M_hi = -magnetic[1] E_lo.
struct CurrentSheet {
  Patch at;
  std::size_t patch = 0;
  std::array<double, 2> electric{}, magnetic{};
  double turned = 1;  ///< -1: what is beside the patch along its normal is on the other side
};

/// An electric mirror turns J parallel and M across it round and leaves J across and M parallel; a
/// magnetic one the others.
inline CurrentSheet image(CurrentSheet s, const Mirror& m) {
  const auto reflect = [&](double& x) { x = 2 * m.position - x; };
  if (m.axis == s.at.axis) reflect(s.at.position), s.turned *= -1;
  for (double& x : s.at.lo)
    if (m.axis == s.at.lo_axis()) reflect(x);
  for (double& x : s.at.hi)
    if (m.axis == s.at.hi_axis()) reflect(x);
  const int axes[] = {s.at.lo_axis(), s.at.hi_axis()};
  for (int u = 0; u < 2; ++u) {
    const bool keeps_electric = (axes[u] == m.axis) != m.magnetic;
    (keeps_electric ? s.magnetic[u] : s.electric[u]) *= -1;
  }
  return s;
}

inline std::vector<CurrentSheet> sheets_of(const std::vector<Patch>& patches,
                                           const std::vector<Mirror>& mirrors) {
  std::vector<CurrentSheet> sheets;
  for (std::size_t k = 0; k < patches.size(); ++k) {
    const double s = patches[k].handedness();
    sheets.push_back({patches[k], k, {s, s}, {s, s}, 1});
  }
  for (const Mirror& m : mirrors)
    for (std::size_t k = 0, n = sheets.size(); k < n; ++k) sheets.push_back(image(sheets[k], m));
  return sheets;
}

inline void require_exterior(const char* operation, const Exterior& x,
                             std::span<const double> frequencies_hz) {
  if ((x.dimensions != 2 && x.dimensions != 3) || !(x.eps > 0) || !(x.mu > 0))
    throw Error(fmt::format("[{}] needs 2 or 3 dimensions and eps, mu > 0 outside, got {}, {}, {}",
                            operation, x.dimensions, x.eps, x.mu));
  std::array<bool, 3> taken{};
  for (const Mirror& m : x.mirrors) {
    if (m.axis < 0 || m.axis >= x.dimensions || taken[m.axis])
      throw Error(fmt::format("[{}] mirrors must lie across different axes below {}, got axis {}",
                              operation, x.dimensions, m.axis));
    taken[m.axis] = true;
  }
  for (double f : frequencies_hz)
    if (!(f > 0))
      throw Error(fmt::format("[{}] frequencies must be positive, got {}", operation, f));
}

/// In two dimensions a patch stands for one z and runs along x or y.
inline void require_dimensions(const char* operation, const std::vector<Patch>& patches,
                               int dimensions) {
  if (dimensions == 3) return;
  for (const Patch& p : patches)
    if (p.axis == 2 || p.hi.size() != 1 || p.weight_hi[0] != 1)
      throw Error(
          fmt::format("[{}] in two dimensions patches lie across x or y and have one z of weight 1",
                      operation));
}

inline double wavenumber(const Exterior& x, double f) {
  return 2 * std::numbers::pi * f / speed_of_light * std::sqrt(x.eps * x.mu);
}
inline double impedance(const Exterior& x) { return vacuum_impedance * std::sqrt(x.mu / x.eps); }

}  // namespace tessera::electromagnetics
