// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/error.h>
#include <tessera/molecular/build.h>
#include <tessera/molecular/selection.h>
#include <tessera/molecular/structure_file.h>

#include <cmath>
#include <iostream>

using namespace tessera::molecular;

int main() {
  // Krypton in salt water: one atom as solute, 3 nm of SPC/E around it, 0.15 mol/l of NaCl.
  BuiltSystem atom = lattice_fluid({.lattice = LatticeFluid::Lattice::sc,
                                    .cells = {1, 1, 1},
                                    .name = "KR",
                                    .element = 36,
                                    .mass_amu = 83.798,
                                    .sigma_nm = 0.3636,
                                    .epsilon = 1.3844});
  const BuiltSystem wet =
      solvated(atom.system, atom.frame, {.model = "spce", .box = rectangular_box({3, 3, 3})});
  const BuiltSystem b = with_ions(
      wet,
      {.cation = ion("NA", "spce"), .anion = ion("CL", "spce"), .concentration_mol_per_l = 0.15});

  const auto shell = select("water and name O and within 0.5 of resname KR", b.system, b.frame);
  std::cout << b.system.residues.size() << " residues, " << select("ion", b.system).size()
            << " ions, " << shell.size() << " waters around krypton\n";
  const Structure s = structure_of(b.system, b.frame);
  std::cout << mmcif_text(s).substr(0, 14) << "\n";  // a file for any viewer

  const bool neutral =
      std::abs(net_charge_e(b.system))<1e-9, hydrated = shell.size()> 10 && shell.size() < 40;
  return neutral && hydrated ? 0 : 1;
}
