// SPDX-License-Identifier: Apache-2.0
#include "build/room.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {

BuiltSystem lattice_fluid(const LatticeFluid& o) {
  using Lattice = LatticeFluid::Lattice;
  std::vector<Vec3> basis = {{0, 0, 0}};  // fractions of a cell
  if (o.lattice == Lattice::bcc) basis.push_back({0.5, 0.5, 0.5});
  if (o.lattice == Lattice::fcc || o.lattice == Lattice::diamond)
    basis.insert(basis.end(), {{0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}});
  if (o.lattice == Lattice::diamond)
    for (std::size_t k = 0; k < 4; ++k)
      basis.push_back({basis[k][0] + 0.25, basis[k][1] + 0.25, basis[k][2] + 0.25});
  if (!(o.density_per_nm3 > 0) || std::min({o.cells[0], o.cells[1], o.cells[2]}) < 1)
    throw Error(
        fmt::format("[lattice_fluid] expected a positive density and at least one cell each way, "
                    "got {} per nm^3 and {} x {} x {}",
                    o.density_per_nm3, o.cells[0], o.cells[1], o.cells[2]));
  const double atoms = static_cast<double>(basis.size()) * o.cells[0] * o.cells[1] * o.cells[2];
  expect_room("lattice_fluid", atoms, atoms);
  const double edge = std::cbrt(static_cast<double>(basis.size()) / o.density_per_nm3);

  BuiltSystem out;
  out.frame.box = rectangular_box({edge * o.cells[0], edge * o.cells[1], edge * o.cells[2]});
  System& s = out.system;
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {o.sigma_nm}, {o.epsilon});
  for (int k = 0; k < o.cells[2]; ++k)
    for (int j = 0; j < o.cells[1]; ++j)
      for (int i = 0; i < o.cells[0]; ++i)
        for (const Vec3& b : basis) {
          s.atoms.residue.push_back(static_cast<std::int32_t>(s.residues.size()));
          s.residues.push_back({o.name, std::to_string(s.residues.size() + 1), "", ""});
          s.atoms.name.push_back(o.name);
          s.atoms.type.push_back(o.name);
          s.atoms.element.push_back(o.element);
          s.atoms.mass_amu.push_back(o.mass_amu);
          s.atoms.charge_e.push_back(0);
          s.atoms.lj_type.push_back(0);
          out.frame.x_nm.push_back({edge * (i + b[0]), edge * (j + b[1]), edge * (k + b[2])});
        }
  return out;
}

}  // namespace tessera::molecular
