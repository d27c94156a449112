// SPDX-License-Identifier: Apache-2.0
//
// What moves, and what moves together: masses along each direction, rigid groups, groups of
// temperature and their degrees of freedom.
#pragma once
#include "base/others.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/dynamics.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::molecular {

[[noreturn]] inline void dynamics_fault(const std::string& what) {
  throw Error("[dynamics] " + what);
}

/// Sets of atoms one after another: those of set g are atom[first[g]] ... atom[first[g + 1] - 1].
struct Sets {
  std::vector<std::int32_t> first = {0}, atom;
  std::size_t size() const { return first.size() - 1; }
};

struct Bodies {
  std::size_t all = 0;               ///< atoms of the system, of which these are all or some
  std::vector<std::int32_t> number;  ///< of each of these: its number among all, ascending
  Others others;                     ///< who have the rest
  std::vector<double> mass;          ///< 0: site, or immovable
  std::vector<Vec3> inverse;         ///< 1/m along each direction; 0: frozen
  bool any_held = false;  ///< frozen, or by springs to places: what holds them takes up momentum
  Sets rigid;             ///< groups that constraints hold together
  std::vector<std::int32_t> loose;  ///< moving atoms outside of them
  std::vector<std::int32_t>
      still;  ///< atoms that stay along a direction, and do not move with the box there
  std::vector<std::int32_t>
      rigid_of;  ///< of each atom: its rigid group among those of all, or a number of its own
  std::vector<std::int32_t> bath;  ///< of each atom: its group of temperature
  // Of all atoms of the system:
  std::vector<double> freedom;  ///< of each group of temperature
  Vec3 total_mass{};            ///< of what moves, along each direction
  bool any_still = false;

  std::size_t n() const { return mass.size(); }
};

/// Throws Error where options and system contradict each other.
Bodies bodies_of(const System& system, const Constraints& constraints, const Dynamics& options);

/// Those of `all` with these numbers, ascending; rigid groups whole or not at all.
Bodies some_of(const Bodies& all, std::vector<std::int32_t> numbers, const Others& others);

/// Kinetic energy of each group of temperature.
std::vector<double> kinetic_energies(const Bodies& bodies, const std::vector<Vec3>& v);
/// Degrees of freedom that remove_motion takes: two atoms have no rotation about their line. Three
/// and more that lie on one leave it, and keep the angular momentum that they had there: none.
double removed_freedom(const Bodies& bodies, bool angular);
/// Motion of the whole as of one solid.
struct WholeMotion {
  Vec3 centre{}, speed{}, omega{};
  double kinetic = 0;  ///< kJ/mol
  /// speed + omega x (x - centre)
  Vec3 at(const Vec3& x) const;
};
/// Takes out the motion of the centre, and with `angular` the rotation about it (of atoms on one
/// line, that across it); tells what it took out.
WholeMotion remove_motion(const Bodies& bodies, const std::vector<Vec3>& x, std::vector<Vec3>& v,
                          bool angular);
/// Maxwell's velocities that meet constraints and the removal of motion, every group at its
/// temperature exactly.
std::vector<Vec3> velocities_at(const Bodies& bodies, const Constraints& constraints,
                                const std::vector<Vec3>& x, const Box& box,
                                const std::vector<double>& temperature_k,
                                Dynamics::CentreOfMassRemoval removal, std::uint64_t seed);
/// Images of atoms such that no molecule is cut by a face of the box.
void make_whole(const System& system, std::vector<Vec3>& x, const Box& box);

}  // namespace tessera::molecular
