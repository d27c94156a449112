// SPDX-License-Identifier: Apache-2.0
//
// Systems without files: lattices of atoms, boxes of water, a solute in water with ions. Positions
// are starts to minimize from, not equilibrated. What is chosen at random depends on the seed
// alone.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::molecular {

struct BuiltSystem {
  System system;
  Frame frame;
};

/// What is asked for cannot be built: more atoms than there are numbers for, or than this machine
/// has memory for; a box that holds no molecule, or not the solute.
class BuildError : public Error {
 public:
  using Error::Error;
};

// ---- atoms on a lattice

struct LatticeFluid {
  enum class Lattice : std::uint8_t {
    sc,
    bcc,
    fcc,
    diamond
  } lattice = Lattice::fcc;  ///< 1, 2, 4, 8 atoms a cell
  std::array<int, 3> cells = {6, 6, 6};
  double density_per_nm3 = 21;  ///< atoms per nm^3
  /// Argon: Rahman, Phys. Rev. 136 (1964) A405, epsilon/k_B = 119.8 K.
  std::string name = "AR";
  std::uint8_t element = 18;
  double mass_amu = 39.948, sigma_nm = 0.3405, epsilon = 119.8 * gas_constant;
};
/// Residues of one atom each, the first at the origin.
BuiltSystem lattice_fluid(const LatticeFluid& options);

// ---- water

/// A rigid water: two O-H bonds and their angle; Lennard-Jones on O alone; with om_nm > 0 the
/// charge -2 q_H lies on a massless site on the bisector, else on O.
struct WaterModel {
  std::string name, source;
  double oh_nm = 0, hoh_deg = 0, om_nm = 0;
  double charge_h_e = 0, sigma_nm = 0, epsilon = 0;
  int sites() const { return om_nm > 0 ? 4 : 3; }
};
/// spc, spce, tip3p, tip4p, tip4pew, tip4p2005, opc, opc3; parameters as published. Throws Error
/// naming the nearest for others.
const WaterModel& water_model(const std::string& name);
std::vector<std::string> water_model_names();

/// `n` molecules HOH of atoms O, H1, H2 (and M), rigid.
System water_system(const WaterModel& model, std::size_t n);

/// Liquid at 298 K and 1 bar: 0.997 g/cm^3 in molecules per nm^3.
inline constexpr double water_per_nm3 = 33.33;

struct WaterBox {
  std::string model = "tip3p";
  std::size_t molecules = 0;  ///< 0: as many as fit the box
  Box box;                    ///< not periodic: a cube for `molecules`
  double density_per_nm3 = water_per_nm3;
  std::uint64_t seed = 1;
};
/// Molecules on a simple cubic grid (of fractions, in a slanted box), each turned at random: the
/// best of a few tries with regard to the ones before.
BuiltSystem water_box(const WaterBox& options);

// ---- a solute in water

/// Two systems as one, atoms of `a` first. Types of Lennard-Jones stay apart; between them the rule
/// of Lorentz and Berthelot holds, with sigma and epsilon from the diagonal where a table gives no
/// rule. Throws Error where that cannot be.
System joined(const System& a, const System& b);
/// The system of the molecules of which no atom is in `leave` (one for each atom). Tables stay as
/// they are.
System without(const System& system, const std::vector<bool>& leave);

struct Solvation {
  std::string model = "tip3p";
  double padding_nm = 1;  ///< of a rectangular box around the solute, where `box` is not periodic
  Box box;
  /// No water closer to the solute than this between heavy atoms, and closer_nm where one is a
  /// hydrogen.
  double distance_nm = 0.26, closer_nm = 0.18;
  double density_per_nm3 = water_per_nm3;
  std::uint64_t seed = 1;
};
/// The solute in the middle of a box of water. Molecules that lie across faces of the box that it
/// had are made whole; where the new box is another one, they come to the images nearest to each
/// other, unless they touch as they lie. Throws BuildError where along an edge that the solute's
/// box did not have a molecule comes closer to its own image than closer_nm.
BuiltSystem solvated(const System& solute, const Frame& frame, const Solvation& options = {});

struct Ion {
  std::string name, source;
  std::uint8_t element = 0;
  double charge_e = 0, mass_amu = 0, sigma_nm = 0, epsilon = 0;
};
/// NA, K, CL with the parameters made for a model of water: tip3p, spce, tip4pew (Joung & Cheatham,
/// J. Phys. Chem. B 112 (2008) 9020), opc, opc3 (Sengupta et al., J. Chem. Inf. Model. 61 (2021)
/// 869, the set for hydration free energies). Throws Error for others.
Ion ion(const std::string& name, const std::string& water);

struct Ions {
  Ion cation, anion;
  double concentration_mol_per_l = 0;  ///< of pairs, by the volume of the box
  bool neutralise = true;
  double distance_nm = 0.5;  ///< from atoms of other molecules than water, and between ions
  std::uint64_t seed = 1;
};
/// Waters chosen at random become ions. A net charge that is off a whole multiple of the ion's by
/// no more than what charges of few digits add up to, 0.05 e, is made up but for the difference.
/// Throws Error where it is further off, or waters are too few.
BuiltSystem with_ions(const BuiltSystem& in, const Ions& options);

}  // namespace tessera::molecular
