// SPDX-License-Identifier: Apache-2.0
//
// What moves, and what moves together: masses along each direction, rigid groups, groups of temperature and their degrees of freedom.
#pragma once
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/dynamics.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::molecular {

/// Sets of atoms one after another: those of set g are atom[first[g]] ... atom[first[g + 1] - 1].
struct Sets {
  std::vector<std::int32_t> first = {0}, atom;
  std::size_t size() const { return first.size() - 1; }
};

struct Parts {
  std::vector<double> mass;               ///< 0: site, or immovable
  std::vector<Vec3> inverse;              ///< 1/m along each direction; 0: frozen
  bool any_frozen = false;
  Sets rigid;                             ///< groups that constraints hold together
  std::vector<std::int32_t> loose;        ///< moving atoms outside of them
  std::vector<std::int32_t> rigid_of;     ///< of each atom: its rigid group, or a number of its own
  std::vector<std::int32_t> bath;         ///< of each atom: its group of temperature
  std::vector<double> freedom;            ///< of each group of temperature
  Vec3 total_mass{};                      ///< of what moves, along each direction

  std::size_t n() const { return mass.size(); }
};

/// Throws Error where options and system contradict each other.
Parts parts_of(const System& system, const Constraints& constraints, const Dynamics& options);

constexpr std::size_t block = 2048;
/// f(begin, end) over blocks of [0, n), threaded.
template <class F>
void over_blocks(std::size_t n, F&& f) {
  parallel_chunks(static_cast<std::int64_t>((n + block - 1) / block), [&](std::int64_t c) {
    const std::size_t begin = static_cast<std::size_t>(c) * block;
    f(begin, std::min(begin + block, n));
  });
}
/// Sum of f(begin, end) -> array over blocks, in their order whatever the threads.
template <std::size_t K, class F>
std::array<double, K> sum_over_blocks(std::size_t n, F&& f) {
  std::vector<std::array<double, K>> parts((n + block - 1) / block);
  over_blocks(n, [&](std::size_t begin, std::size_t end) { parts[begin / block] = f(begin, end); });
  std::array<double, K> sum{};
  for (const auto& p : parts)
    for (std::size_t k = 0; k < K; ++k) sum[k] += p[k];
  return sum;
}

/// Kinetic energy of each group of temperature.
std::vector<double> kinetic_energies(const Parts& parts, const std::vector<Vec3>& v);
/// Takes out the motion of the centre, and with `angular` the rotation about it.
void rest(const Parts& parts, const std::vector<Vec3>& x, std::vector<Vec3>& v, bool angular);
/// Maxwell's velocities that meet constraints and held motion, every group at its temperature exactly.
std::vector<Vec3> velocities_at(const Parts& parts, const Constraints& constraints, const std::vector<Vec3>& x, const Box& box, const std::vector<double>& temperature_k,
                                Dynamics::Hold hold, std::uint64_t seed);
/// Images of atoms such that no molecule is cut by a face of the box.
void make_whole(const System& system, std::vector<Vec3>& x, const Box& box);

}  // namespace tessera::molecular
