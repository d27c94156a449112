// SPDX-License-Identifier: Apache-2.0
//
// Atoms chosen by words, as in "protein and name CA" or "water and within 0.5 of resname LIG":
//
//   all, none, protein, backbone, sidechain, nucleic, water, ion, hydrogen, heavy
//   name, type, element, resname,   words after them; * stands for any letters, ? for one:
//   chain, segment                  name CA "C*"
//   resid, index, serial            numbers and ranges: resid 5 to 10 12. index counts from 0,
//                                   serial from 1
//   mass, charge, x, y, z           with <, <=, >, >=, =, !=: mass > 20 (amu, e, nm)
//   within 0.5 of S                 atoms at most so far [nm] from one of S, those of S included
//   same residue as S, same chain as S, same molecule as S
//   not S, S and T, S or T, ( S )   `not` binds closest, then `and`, then `or`
//
// `within` and `same` take the term that follows: not, another of them, a keyword with its words,
// or parentheses.
#pragma once
#include "tessera/molecular/system.h"

#include <string>
#include <vector>

namespace tessera::molecular {

/// Rows of the atoms, rising. `within`, x, y, z need the frame's positions; distances are to
/// nearest images in its box. Throws InputError: E0760 with the column and, for a misspelt word,
/// the nearest known; Error where a frame is asked for and missing.
std::vector<std::int32_t> select(const std::string& expression, const System& system,
                                 const Frame& frame = {});

}  // namespace tessera::molecular
