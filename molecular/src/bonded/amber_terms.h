// SPDX-License-Identifier: Apache-2.0
//
// How AMBER's topologies (prmtop) have a kind of bonded terms: by which sections, and what the
// numbers there are. ambermd.org/FileFormats.php, "PARM file specification".
#pragma once
#include "tessera/molecular/terms.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::molecular {

/// A section of parameters, a number for each row, and the column of the table that it is.
struct AmberColumn {
  const char* section;  ///< "BOND_FORCE_CONSTANT"
  std::size_t column;
  double (*read)(double);     ///< in the unit of terms.h
  double (*written)(double);  ///< and back
  /// What is wrong with a number of the file, or nothing.
  std::string (*fault)(double) = nullptr;
};

/// A number that the file counts by: of POINTERS, or of another section of `of` numbers.
struct AmberCount {
  int index;  ///< from 0
  const char* section = "POINTERS";
  std::size_t of = 0;
};

/// A section of terms: atoms, and the number of a row from 1.
struct AmberList {
  const char* section;
  AmberCount terms;
};

struct AmberTerms {
  Term kind;
  AmberCount rows;
  std::vector<AmberColumn> columns;  ///< in the order of the file
  std::vector<AmberList> lists;      ///< those of POINTERS with hydrogens and without
  bool from_one = false;   ///< atoms are numbers from 1; else three times the number from 0
  bool of_charmm = false;  ///< in files with a force field of CHARMM, which have all of these
  bool is_bond = false;    ///< the atoms are chemically bonded
  /// Of dihedrals: a negative fourth atom tells terms of this kind, which has the same rows; ends
  /// are a 1-4 pair where the last two atoms are not negative.
  std::optional<Term> impropers = {};
};

/// The kinds that are read. Each stands in the file of its force.
std::vector<AmberTerms>& amber_terms();
struct RegisterAmber {
  explicit RegisterAmber(AmberTerms t) { amber_terms().push_back(std::move(t)); }
};

/// Of a column whose unit is that of terms.h.
inline double as_it_is(double v) { return v; }

}  // namespace tessera::molecular
