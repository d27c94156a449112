// SPDX-License-Identifier: Apache-2.0
//
// One [ moleculetype ]: its atoms and terms, numbered within the molecule. Rows of tables are those
// of the whole topology.
#pragma once
#include "io/top_types.h"
#include "tessera/molecular/system.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::molecular {

/// Numbers the rows of a table: the same entry of the force field and the same values are one row.
template <int P>
class TopRows {
 public:
  std::int32_t row(std::int64_t entry, const std::array<double, P>& values) {
    const auto [at, fresh] =
        known_.try_emplace({entry, values}, static_cast<std::int32_t>(rows.size()));
    if (fresh) rows.push_back(values);
    return at->second;
  }
  std::vector<std::array<double, P>> rows;

 private:
  std::map<std::pair<std::int64_t, std::array<double, P>>, std::int32_t> known_;
};

template <int, int P>
using TopRowsOf = TopRows<P>;
struct NoRows {};  ///< of maps, which stand in the force field
struct TopTables : BondedTerms<TopRowsOf, NoRows> {
  TopRows<1> constraints;
  TopRows<2> rigid_waters;
};

/// Terms without their table.
template <int N>
struct TopTerms {
  std::vector<std::array<std::int32_t, N>> atoms;
  std::vector<std::int32_t> row;
  void add(const std::array<std::int32_t, N>& a, std::int32_t r) {
    atoms.push_back(a);
    row.push_back(r);
  }
};

template <int N, int>
using TopTermsOf = TopTerms<N>;

struct TopMolecule : BondedTerms<TopTermsOf, TopTerms<8>> {
  struct Restraint {
    std::int32_t atom;
    Vec3 k;
    TopWord at;
  };
  std::string name;
  TopWord at;
  int bonds_excluded = 0;  ///< nrexcl

  std::vector<int> type;  ///< of atoms: row of TopTypes::atom_types
  std::vector<std::string> atom_name;
  std::vector<double> mass, charge;
  std::vector<std::int32_t> residue;
  std::vector<Residue> residues;
  std::vector<TopWord> atom_at;

  TopTerms<2> constraints;
  TopTerms<3> rigid_waters;
  std::vector<Restraint> restrained;  ///< to positions, which the system will know
  std::vector<std::array<std::int32_t, 2>> connectivity, exclusions;
  std::vector<VirtualSite> virtual_sites;
  std::set<std::int32_t> oxygens;  ///< of rigid waters
  std::set<std::int64_t> labels;   ///< of distance restraints

  std::size_t size() const { return type.size(); }
  /// Atoms, terms and excluded pairs: what one copy takes.
  std::size_t entries() const;
};

/// Reads lines into the molecule that is open.
class TopMoleculeReader {
 public:
  TopMoleculeReader(TopTypes& types, TopTables& tables, TopFindings& findings,
                    double distance_restraint_k)
      : types_(types),
        tables_(tables),
        findings_(findings),
        distance_restraint_k_(distance_restraint_k) {}

  /// A line of `section`, a name of GROMACS's in its own spelling.
  void read(std::string_view section, const TopLine& line, TopMolecule& m);
  /// Exclusions by bonds; what must hold of the whole molecule. `most`: of excluded pairs.
  void finish(TopMolecule& m, std::size_t most);

 private:
  void atoms(const TopLine& line, TopMolecule& m);
  void bonded(std::string_view section, const TopLine& line, TopMolecule& m);
  void bonded_terms(TopKind kind, int entry, const GromacsLine& line, const TopWord& at,
                    TopMolecule& m);
  void cmap(const TopLine& line, TopMolecule& m);
  void pairs(std::string_view section, const TopLine& line, TopMolecule& m);
  void settles(const TopLine& line, TopMolecule& m);
  void exclusions(const TopLine& line, TopMolecule& m);
  void position_restraints(const TopLine& line, TopMolecule& m);
  void distance_restraints(const TopLine& line, TopMolecule& m);
  void virtual_site(std::string_view section, const TopLine& line, TopMolecule& m);
  void virtual_site_of_many(const TopLine& line, TopMolecule& m);

  /// The first `n` words as different atoms of the molecule, counted from 0; false: reported.
  bool atoms_of(std::string_view section, const TopLine& line, std::size_t n, const TopMolecule& m,
                std::int32_t* out);
  void not_read(std::string_view section, const TopWord& at, std::int64_t function);
  void too_large(const TopWord& at);

  TopTypes& types_;
  TopTables& tables_;
  TopFindings& findings_;
  double distance_restraint_k_;
  bool told_distance_ = false, told_linear_ = false;
};

}  // namespace tessera::molecular
