// SPDX-License-Identifier: Apache-2.0
//
// Sums in 64-bit fixed point. Every contribution is rounded once and added as an integer: no order
// of terms, threads or neighbours changes a bit of the sum, and what wraps on the way does no harm.
// Range +-2^31 kJ/mol(/nm), resolution 2^-32, and finer and coarser units where these do not do:
// FixedScale.
#pragma once
#include "tessera/molecular/box.h"
#include "tessera/molecular/terms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::molecular {

inline constexpr double fixed_scale = 4294967296.0;  // 2^32
/// What a conversion out of range (or of NaN) gives.
inline constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();
inline double from_fixed(std::int64_t v, double scale = fixed_scale) {
  return static_cast<double>(v) * (1 / scale);
}

/// Units in which forces and energies add up. A contribution to a force has at most 2^58 of them:
/// 32 of them on one atom stay in range.
struct FixedScale {
  double forces = fixed_scale, energies = fixed_scale;
};
inline constexpr std::int64_t most_of_one = std::int64_t{1} << 58;
/// 2^-40 kJ/mol/nm, for contributions below 2^18 kJ/mol/nm. In double precision, where the rounding
/// of 2^-32 would be the largest error of a small molecule's forces.
inline constexpr FixedScale fine_scale = {1099511627776.0, fixed_scale};
/// 2^-27 kJ/mol/nm, for atoms that nearly overlap: contributions up to 2^31 kJ/mol/nm; to energies
/// up to 2^51 kJ/mol.
inline constexpr FixedScale coarse_scale = {134217728.0, 4096.0};

/// A sum of numbers, each of less than 2^63 units of 1/scale; wide enough for 2^64 of them.
struct FixedSum {
  __extension__ using Wide = __int128;
  Wide units = 0;
  bool holds = true;  ///< no number was beyond that, or none
  void add(double v, double scale) {
    const std::int64_t k = std::llrint(v * scale);
    units += k;
    holds &= k != no_number;
  }
  void add(const FixedSum& other) {
    units += other.units;
    holds &= other.holds;
  }
  double value(double scale = fixed_scale) const {
    return static_cast<double>(units) * (1 / scale);
  }
};

/// What one thread adds up in a step.
struct Sums {
  std::int64_t* force = nullptr;  ///< [n, 3]
  FixedScale scale;
  std::array<FixedSum, n_terms> energy{};  ///< kJ/mol
  std::array<FixedSum, 9> virial{};        ///< sum of r_a f_b [kJ/mol], r = x_i - x_j, f on i
  bool out_of_range = false;               ///< a force
  bool wants_energies = true;              ///< else energies and virial may stay zero

  std::int64_t units(double f) {
    const std::int64_t v = std::llrint(f * scale.forces);
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
    for (std::size_t a = 0; a < 3; ++a)
      force[3 * static_cast<std::size_t>(atom) + a] += units(f[a]);
  }
  void add_energy(Term term, double u) {
    if (wants_energies) energy[static_cast<std::size_t>(term)].add(u, scale.energies);
  }
  void add_virial(const Vec3& r, const Vec3& f) {
    if (!wants_energies) return;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) virial[3 * a + b].add(r[a] * f[b], scale.energies);
  }
  /// What another thread added; forces are not touched.
  void add(const Sums& other) {
    for (std::size_t k = 0; k < n_terms; ++k) energy[k].add(other.energy[k]);
    for (std::size_t k = 0; k < 9; ++k) virial[k].add(other.virial[k]);
    out_of_range |= other.out_of_range;
  }
  bool holds() const {
    const auto within = [](const FixedSum& s) { return s.holds; };
    return !out_of_range && std::ranges::all_of(energy, within) &&
           std::ranges::all_of(virial, within);
  }
};

}  // namespace tessera::molecular
