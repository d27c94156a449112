// SPDX-License-Identifier: Apache-2.0
//
// The table of bonded terms. A kind of them is a row here: its lists (BondedTerms), its words
// (each_bonded) and the name that its energy is reported by (Term). What its energy is, and by
// which keys files name it, stands in a file of its own, src/bonded/terms/. Systems, parameters,
// readers, kernels and reports go over the table.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::molecular {

/// Terms over N atoms each, with P parameters a row. No two rows need differ.
template <int N, int P>
struct Terms {
  static constexpr int n_atoms = N, n_parameters = P;
  std::vector<std::array<std::int32_t, N>> atoms;
  std::vector<std::int32_t> row;            ///< of each term
  std::vector<std::array<double, P>> rows;  ///< the table
  std::size_t size() const { return atoms.size(); }
  bool operator==(const Terms&) const = default;
};

/// Corrections on two dihedrals (CMAP): U(phi, psi) is the bicubic periodic spline through the map
/// of the term, whose entry [i, j] is U [kJ/mol] at phi = -pi + 2 pi i/points, psi = -pi + 2 pi
/// j/points. The spline and its first two derivatives are continuous (MacKerell, Feig & Brooks, J.
/// Comput. Chem. 25 (2004) 1400). All maps of a system have as many points.
struct CorrectionMaps {
  static constexpr int n_atoms = 8;
  std::vector<std::array<std::int32_t, 8>> atoms;  ///< four of phi, four of psi
  std::vector<std::int32_t> row;                   ///< map of each term
  int points = 24;                                 ///< along either dihedral, at least 4
  std::vector<double> maps;                        ///< [maps, points, points]
  std::size_t size() const { return atoms.size(); }
  std::size_t n_maps() const {
    return maps.size() / (static_cast<std::size_t>(points) * static_cast<std::size_t>(points));
  }
  bool operator==(const CorrectionMaps&) const = default;
};

/// One member for each kind: Of<N, P> for terms over N atoms with P parameters a row, Maps for
/// correction maps. Of<N, P> is Terms in a System and a tensor in Parameters.
template <template <int, int> class Of, class Maps>
struct BondedTerms {
  /// U = k/2 (r - r0)^2, rows {r0 [nm], k [kJ/mol/nm^2]}; urey_bradley: between the ends of an
  /// angle.
  Of<2, 2> bonds, urey_bradley;
  /// U = k/2 (theta - theta0)^2 at the middle atom, rows {theta0 [rad], k [kJ/mol/rad^2]}.
  Of<3, 2> angles;
  /// U = k (1 + cos(n phi - phi0)), rows {phi0 [rad], k [kJ/mol], n}; n is an integer. phi is 0 for
  /// cis, positive clockwise looking from atom 2 to atom 3 (IUPAC).
  Of<4, 3> dihedrals, impropers;
  /// U = k/2 (phi - phi0)^2 with phi - phi0 in (-pi, pi], rows {phi0 [rad], k [kJ/mol/rad^2]}.
  Of<4, 2> harmonic_impropers;
  /// U = sum_{n=0..5} C_n cos^n(psi), psi = phi - pi, rows {C_0 ... C_5 [kJ/mol]}.
  Of<4, 6> ryckaert_bellemans;
  Maps cmap;
  /// Pairs apart from the non-bonded sum (1-4): U = c12/r^12 - c6/r^6 + k_e (f q_i q_j + qq)/r
  /// without cut-off or images beyond the nearest, rows {c6 [kJ/mol nm^6], c12 [kJ/mol nm^12], f,
  /// qq [e^2]}.
  Of<2, 4> pairs;
  /// U = sum_d k_d/2 (x_d - x0_d)^2 for the nearest image, rows {k_x, k_y, k_z [kJ/mol/nm^2], x0,
  /// y0, z0 [nm]}.
  Of<1, 6> position_restraints;
  /// Flat-bottomed: U = k/2 (r - lower)^2 below `lower`, k/2 (r - upper)^2 above `upper`, else 0;
  /// rows {lower, upper [nm], k [kJ/mol/nm^2]}.
  Of<2, 3> distance_restraints;
  bool operator==(const BondedTerms&) const = default;
};

using HarmonicBonds = Terms<2, 2>;
using HarmonicAngles = Terms<3, 2>;
using PeriodicDihedrals = Terms<4, 3>;
using HarmonicDihedrals = Terms<4, 2>;
using RyckaertBellemans = Terms<4, 6>;
using ScaledPairs = Terms<2, 4>;
using PositionRestraints = Terms<1, 6>;
using DistanceRestraints = Terms<2, 3>;

/// The parts an energy is reported in, the bonded ones first.
enum class Term : std::uint8_t {
  bonds,
  urey_bradley,
  angles,
  dihedrals,
  impropers,
  harmonic_impropers,
  ryckaert_bellemans,
  cmap,  ///< corrections on two dihedrals
  pairs_lj,
  pairs_coulomb,
  position_restraints,
  distance_restraints,
  lj,                  ///< Lennard-Jones between pairs within the cut-off
  lj_tail,             ///< dispersion beyond the cut-off
  coulomb_short,       ///< of pairs within the cut-off
  coulomb_reciprocal,  ///< with self, background and excluded pairs
};
inline constexpr std::size_t n_bonded = static_cast<std::size_t>(Term::lj),
                             n_terms = static_cast<std::size_t>(Term::coulomb_reciprocal) + 1;
using TermEnergies = std::array<double, n_terms>;  ///< kJ/mol, by Term
/// The bonded ones.
inline constexpr std::array<Term, n_bonded> bonded_terms = [] {
  std::array<Term, n_bonded> all{};
  for (std::size_t k = 0; k < n_bonded; ++k) all[k] = static_cast<Term>(k);
  return all;
}();

/// A kind of bonded terms in words, and the parts of the energy that are of it.
struct BondedKind {
  const char* name;   ///< its member
  const char* words;  ///< "harmonic impropers"
  Term first, last;
  constexpr bool gives(Term t) const { return first <= t && t <= last; }
};

/// f(kind, its members of these structures...) for every kind.
template <class F, class... Lists>
constexpr void each_bonded(F&& f, Lists&... of) {
  const auto row = [&](const char* name, const char* words, Term term, auto&... members) {
    f(BondedKind{name, words, term, term}, members...);
  };
  row("bonds", "bonds", Term::bonds, of.bonds...);
  row("urey_bradley", "Urey-Bradley", Term::urey_bradley, of.urey_bradley...);
  row("angles", "angles", Term::angles, of.angles...);
  row("dihedrals", "dihedrals", Term::dihedrals, of.dihedrals...);
  row("impropers", "impropers", Term::impropers, of.impropers...);
  row("harmonic_impropers", "harmonic impropers", Term::harmonic_impropers,
      of.harmonic_impropers...);
  row("ryckaert_bellemans", "Ryckaert-Bellemans", Term::ryckaert_bellemans,
      of.ryckaert_bellemans...);
  row("cmap", "correction maps", Term::cmap, of.cmap...);
  f(BondedKind{"pairs", "1-4 pairs", Term::pairs_lj, Term::pairs_coulomb}, of.pairs...);
  row("position_restraints", "position restraints", Term::position_restraints,
      of.position_restraints...);
  row("distance_restraints", "distance restraints", Term::distance_restraints,
      of.distance_restraints...);
}

/// "lj_tail"
constexpr const char* name_of(Term term) {
  switch (term) {
    case Term::pairs_lj:
      return "pairs_lj";
    case Term::pairs_coulomb:
      return "pairs_coulomb";
    case Term::lj:
      return "lj";
    case Term::lj_tail:
      return "lj_tail";
    case Term::coulomb_short:
      return "coulomb_short";
    case Term::coulomb_reciprocal:
      return "coulomb_reciprocal";
    default:  // its kind's
      const char* name = nullptr;
      each_bonded([&](const BondedKind& kind) { name = kind.gives(term) ? kind.name : name; });
      return name;
  }
}

}  // namespace tessera::molecular
