// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>
#include <tessera/data/text_file.h>
#include <tessera/molecular/amber.h>
#include <tessera/molecular/parameters.h>

#include <cmath>
#include <iostream>

using namespace tessera;
using namespace tessera::molecular;

/// One water with springs.
System water() {
  System s;
  s.residues = {{.name = "HOH", .number = "1"}};
  s.atoms = {.name = {"O", "H1", "H2"},
             .type = {"O", "H", "H"},
             .element = {8, 1, 1},
             .mass_amu = {15.999, 1.008, 1.008},
             .charge_e = {0, 0, 0},
             .lj_type = {0, 0, 0},
             .residue = {0, 0, 0}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.0});
  s.exclusions = {{0, 1}, {0, 2}, {1, 2}};
  s.bonds = {{{0, 1}, {0, 2}}, {0, 0}, {{0.09572, 502416}}};
  s.angles = {{{1, 0, 2}}, {0}, {{1.8242, 628.02}}};
  return s;
}

/// Usage: snippet_molecular_modes [FILE.prmtop FILE.rst7]
int main(int argc, char** argv) {
  System system = water();
  Frame frame{.x_nm = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}}};
  if (argc == 3) {
    system = read_amber_topology(data::read_text_file(argv[1])).system;
    frame = read_amber_restart(data::read_text_file(argv[2]), system.n_atoms());
  }
  const Nonbonded options = {.coulomb = Nonbonded::Coulomb::cutoff,
                             .coulomb_modifier = Nonbonded::Modifier::none,
                             .lj_modifier = Nonbonded::Modifier::none,
                             .cutoff_coulomb_nm = 20,
                             .cutoff_lj_nm = 20};
  const PotentialEnergy u(system, options, Box{});
  const Tensor h = edges_of(Box{});
  const Parameters p = parameters(system);
  const auto energy = [&](const Tensor& x) { return u(x, h, p); };

  const auto minimum = minimize(energy, positions_of(frame.x_nm), {.gradient_tolerance = 1e-4});
  const Tensor hess =
      reshape(hessian(energy)(minimum.x), {minimum.x.size(), minimum.x.size()});  // [3 n, 3 n]
  const Tensor mass =
      flatten(broadcast_to(expand_dims(tensor(system.atoms.mass_amu), 1), minimum.x.shape()));
  const Tensor square = eigh(hess / sqrt(outer(mass, mass))).values;  // 1/ps^2
  constexpr double wavenumber =
      33.3564095198152 / 6.283185307179586;  // 1/cm of an angular frequency of 1/ps
  int modes = 0;
  for (const double w2 : square.to_vector<double>())
    if (w2 > 1) std::cout << "mode " << ++modes << ": " << wavenumber * std::sqrt(w2) << " 1/cm\n";
  return modes == 3 * static_cast<int>(system.n_atoms()) - 6 ? 0 : 1;  // all but moving and turning
}
