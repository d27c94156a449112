// SPDX-License-Identifier: Apache-2.0
//
// A molecular system as all readers leave it and all kernels take it: atoms, the terms of its force
// field, constraints. What is the same in two files is the same here, whatever their formats.
//
// Units: nm, ps, kJ/mol, e, amu, radian. Every term names a row of a table of parameters; a row is
// an entry of the force field (one bond type, say), so derivatives with respect to tables are
// derivatives with respect to the force field.
#pragma once
#include "tessera/molecular/box.h"
#include "tessera/molecular/terms.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::molecular {

/// |x_i - x_j| = d, rows {d [nm]}.
using DistanceConstraints = Terms<2, 1>;
/// Rigid three-point water, atoms O, H, H, rows {d_OH, d_HH [nm]}; solved in closed form (SETTLE).
using RigidWaters = Terms<3, 2>;

/// A massless site at a position given by up to four atoms (its parents). With r_ij = x_j - x_i, i
/// the first parent:
///   linear2   x = (1 - a) x_i + a x_j
///   linear3   x = x_i + a r_ij + b r_ik
///   fixed2    x = x_i + a r_ij/|r_ij|                                                 a [nm]
///   fixed3    x = x_i + a v/|v|, v = r_ij + b r_jk        a [nm] (GROMACS 3fd: d = a, a = b)
///   angle3    x = x_i + a cos(b) r_ij/|r_ij| + a sin(b) p/|p|                a [nm], b [rad];
///             p = r_jk less its part along r_ij
///   cross3    x = x_i + a r_ij + b r_ik + c (r_ij x r_ik)                            c [1/nm]
///   frame3    OpenMM's LocalCoordinatesSite of three atoms: origin and axes by weights
///   normal4   x = x_i + c m/|m|, m = (a r_ik - r_ij) x (b r_il - r_ij)  c [nm] (GROMACS 4fdn)
struct VirtualSite {
  enum class Kind : std::uint8_t {
    linear2,
    linear3,
    fixed2,
    fixed3,
    angle3,
    cross3,
    frame3,
    normal4
  };
  Kind kind = Kind::linear2;
  std::int32_t site = 0;
  std::array<std::int32_t, 4> parents{-1, -1, -1, -1};
  /// a, b, c; frame3: three weights of the origin, three each of the x and y directions, then the
  /// local position [nm].
  std::array<double, 12> weights{};
  bool operator==(const VirtualSite&) const = default;
};

/// Lennard-Jones between types: U = c12/r^12 - c6/r^6. Tables are [types, types], symmetric.
struct LennardJones {
  int types = 0;
  std::vector<double> c6, c12;  ///< kJ/mol nm^6, kJ/mol nm^12
  /// Where pairs follow from types, how: sigma_ij, epsilon_ij by (sigma_i + sigma_j)/2 or
  /// sqrt(sigma_i sigma_j), and sqrt(epsilon_i epsilon_j). `tables`: they are given as they are.
  enum class Mixing : std::uint8_t { tables, lorentz_berthelot, geometric };
  Mixing mixing = Mixing::tables;
  std::vector<double> sigma_nm, epsilon;  ///< [types]; empty for `tables`
  /// Pairs of types that do not follow from the rule (NBFIX), i <= j.
  std::vector<std::array<std::int32_t, 2>> exceptions;
  bool operator==(const LennardJones&) const = default;
};
/// Tables by the mixing rule, to be changed at exceptions by the caller.
LennardJones mixed(LennardJones::Mixing mixing, std::vector<double> sigma_nm,
                   std::vector<double> epsilon);

struct Residue {
  std::string name;
  std::string number;  ///< as the file has it, insertion code included
  std::string chain;
  std::string segment;
  bool operator==(const Residue&) const = default;
};

struct Atoms {
  std::vector<std::string> name;
  std::vector<std::string> type;      ///< the force field's name of the type
  std::vector<std::uint8_t> element;  ///< atomic number; 0: none (virtual site)
  std::vector<double> mass_amu;       ///< 0: virtual site or immovable
  std::vector<double> charge_e;
  std::vector<std::int32_t> lj_type;
  std::vector<std::int32_t> residue;  ///< row of System::residues
  std::size_t size() const { return mass_amu.size(); }
  bool operator==(const Atoms&) const = default;
};

/// k_e = e^2 N_A/(4 pi eps0) in kJ/mol nm/e^2. Which one was used when a force field was made moves
/// energies by 1e-5.
inline constexpr double coulomb_codata_2018 = 138.93545764438198;
inline constexpr double coulomb_amber =
    18.2223 * 18.2223 * 0.4184;  ///< prmtop: charges times 18.2223, kcal/mol, Angstrom
inline constexpr double coulomb_charmm = 332.0716 * 0.4184;
/// k_B N_A [kJ/mol/K] (SI 2019, exact).
inline constexpr double gas_constant = 0.00831446261815324;
/// kJ/mol/nm^3 in bar.
inline constexpr double bar_per_pressure_unit = 16.6053906717385;

/// With the lists of its bonded terms (terms.h).
struct System : BondedTerms<Terms, CorrectionMaps> {
  Atoms atoms;
  std::vector<Residue> residues;
  std::vector<std::array<std::int32_t, 2>>
      connectivity;  ///< chemical bonds, constrained ones included, i < j, sorted

  LennardJones lj;
  std::vector<std::array<std::int32_t, 2>>
      exclusions;  ///< pairs left out of the non-bonded sum, i < j, sorted, unique
  double coulomb_constant = coulomb_codata_2018;

  DistanceConstraints constraints;
  RigidWaters rigid_waters;
  std::vector<VirtualSite> virtual_sites;

  std::string title;
  std::size_t n_atoms() const { return atoms.size(); }
  bool operator==(const System&) const = default;
};

/// Checks indices, lengths of lists, order of exclusions, parents of virtual sites; throws Error
/// naming the first fault.
void validate(const System& system);
/// Pairs that distance restraints without a flat part hold, such as GROMACS's bonds of function 6:
/// no chemical bonds, but they keep two atoms in one molecule.
std::vector<std::array<std::int32_t, 2>> springs(const System& system);
/// Molecule of each atom, numbered by first atom: what bonds, springs, constraints and virtual
/// sites connect.
std::vector<std::int32_t> molecules(const System& system);
/// Pairs at most `bonds` bonds apart (i < j, sorted).
std::vector<std::array<std::int32_t, 2>> within_bonds(const System& system, int bonds);
double net_charge_e(const System& system);
/// An atom for people: "12 (CA of ALA 2)", counted from 1.
std::string name_of_atom(const System& system, std::int32_t atom);

/// Where atoms are and how they move.
struct Frame {
  std::vector<Vec3> x_nm;
  std::vector<Vec3> v_nm_ps;  ///< empty: none
  Box box;
  double time_ps = 0;
  std::int64_t step = 0;
};

}  // namespace tessera::molecular
