// SPDX-License-Identifier: Apache-2.0
//
// Bonded terms and restraints as energies. Formulas and the columns of their tables are in
// terms.h.
#pragma once
#include "tessera/molecular/energy_function.h"
#include "tessera/molecular/system.h"
#include "tessera/molecular/terms.h"

namespace tessera::molecular {

/// The energy of one kind of bonded terms. Operands: x [n, 3], h [3, 3] (rows of Box::edge; zeros:
/// no periodicity), the table [rows, parameters] (cmap: [maps, points, points]); for pairs_lj and
/// pairs_coulomb also the charges [n]. Displacements are those of the nearest image, and which
/// image that is counts as constant; charges of pairs act in a medium of permittivity epsilon_r, as
/// Nonbonded's do. Null where the system has no such terms. Throws Error for terms that are not
/// bonded.
EnergyPtr bonded_energy(const System& system, Term kind, double epsilon_r = 1);

/// The table of a kind of terms, [rows, parameters]; of cmap [maps, points, points].
Tensor table_of(const System& system, Term kind);

}  // namespace tessera::molecular
