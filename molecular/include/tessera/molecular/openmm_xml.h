// SPDX-License-Identifier: Apache-2.0
//
// Force fields in OpenMM's XML (OpenMM User Guide, "Creating Force Fields"). Read are AtomTypes,
// Residues with VirtualSite and ExternalBond, Patches, HarmonicBondForce, HarmonicAngleForce,
// PeriodicTorsionForce, RBTorsionForce, CMAPTorsionForce, AmoebaUreyBradleyForce, NonbondedForce,
// LennardJonesForce with NBFixPair, and of CustomTorsionForce harmonic impropers. Other forces and
// scripts change energies: they are refused, by the name of the element and its place. Units are
// those of system.h already.
#pragma once
#include "tessera/data/text_file.h"
#include "tessera/molecular/force_field.h"

#include <span>

namespace tessera::molecular {

/// One force field in several files, such as that of a protein and that of water. Throws InputError
/// with places: E0312 no XML, E0313 and E0314 what is dangerous to parse, E0701 elements and
/// attributes that are missing or given twice, E0702 names and indices of nothing, E0303 numbers,
/// E0703 what is not read.
ForceField read_openmm_xml(std::span<const data::TextFile> files);

}  // namespace tessera::molecular
