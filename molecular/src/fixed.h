// SPDX-License-Identifier: Apache-2.0
//
// Sums in 64-bit fixed point. Every contribution is rounded once and added as an integer: no order of terms, threads or
// neighbours changes a bit of the sum, and what wraps on the way does no harm. Range +-2^31 kJ/mol(/nm), resolution 2^-32; forces
// have finer and coarser units too: ForceScale.
#pragma once
#include "tessera/molecular/box.h"
#include "tessera/molecular/terms.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::molecular {

inline constexpr double fixed_scale = 4294967296.0;  // 2^32
/// What a conversion out of range (or of NaN) gives.
inline constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();
inline std::int64_t to_fixed(double v) { return std::llrint(v * fixed_scale); }
inline double from_fixed(std::int64_t v, double scale = fixed_scale) { return static_cast<double>(v) * (1 / scale); }

/// Units in which forces add up. A contribution has at most 2^58 of them: 32 of them on one atom stay in range.
struct ForceScale {
  double scale = fixed_scale;
};
inline constexpr std::int64_t most_of_one = std::int64_t{1} << 58;
/// 2^-40 kJ/mol/nm, for contributions below 2^18 kJ/mol/nm. In double precision, where the rounding of 2^-32 would be the largest
/// error of a small molecule's forces.
inline constexpr ForceScale fine_forces = {1099511627776.0};
/// 2^-27 kJ/mol/nm, for atoms almost upon each other: contributions up to 2^31 kJ/mol/nm.
inline constexpr ForceScale coarse_forces = {134217728.0};

/// What one thread adds up in a step.
struct Sums {
  std::int64_t* force = nullptr;                ///< [n, 3] in units of `of_forces`
  ForceScale of_forces;
  std::array<std::int64_t, n_terms> energy{};   ///< kJ/mol
  std::array<std::int64_t, 9> virial{};         ///< sum of r_a f_b [kJ/mol], r = x_i - x_j, f on i
  bool out_of_range = false;
  bool wants_energies = true;                   ///< else energies and virial may stay zero

  std::int64_t units(double f) {
    const std::int64_t v = std::llrint(f * of_forces.scale);
    if (v <= most_of_one && v >= -most_of_one) return v;
    out_of_range = true;  // no_number, too, which is less than any
    return 0;
  }
  /// f on atom i, -f on atom j.
  void add_pair(std::int32_t i, std::int32_t j, const Vec3& f) {
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t v = units(f[a]);
      force[3 * static_cast<std::size_t>(i) + a] += v;
      force[3 * static_cast<std::size_t>(j) + a] -= v;
    }
  }
  void add_force(std::int32_t atom, const Vec3& f) {
    for (std::size_t a = 0; a < 3; ++a) force[3 * static_cast<std::size_t>(atom) + a] += units(f[a]);
  }
  void add_energy(Term term, double u) {
    if (!wants_energies) return;
    energy[static_cast<std::size_t>(term)] += in_range(to_fixed(u));
  }
  void add_virial(const Vec3& r, const Vec3& f) {
    if (!wants_energies) return;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) virial[3 * a + b] += in_range(to_fixed(r[a] * f[b]));
  }
  std::int64_t in_range(std::int64_t v) {
    if (v != no_number) return v;
    out_of_range = true;
    return 0;
  }
};

}  // namespace tessera::molecular
