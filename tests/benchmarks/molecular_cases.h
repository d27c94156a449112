// SPDX-License-Identifier: Apache-2.0
//
// Systems that molecular benchmarks run: the joint AMBER-CHARMM benchmark, SPC/E water, the
// Lennard-Jones melt of LAMMPS.
#pragma once
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/constraints.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/forces.h"
#include "test_data.h"

#include <cmath>
#include <random>
#include <string>

namespace tessera::benchmarks {

using namespace tessera::molecular;

struct MolecularCase {
  System system;
  Frame frame;
  Nonbonded nonbonded;
  double dt_ps = 0.002, temperature_k = 300;
};

inline void append_atom(System& s, const char* name, std::uint8_t element, double mass,
                        double charge, int type) {
  s.atoms.name.push_back(name);
  s.atoms.type.push_back(name);
  s.atoms.element.push_back(element);
  s.atoms.mass_amu.push_back(mass);
  s.atoms.charge_e.push_back(charge);
  s.atoms.lj_type.push_back(type);
  s.atoms.residue.push_back(static_cast<std::int32_t>(s.residues.size()) - 1);
}

/// A few hundred small steps from a lattice, at the temperature.
inline void settle_down(MolecularCase& c, int steps, double dt_ps) {
  const Integrator integrator(c.system, ForceEvaluator(c.system, c.nonbonded),
                              {.scheme = Dynamics::Scheme::leap_frog,
                               .dt_ps = dt_ps,
                               .temperature_k = c.temperature_k,
                               .thermostat = Dynamics::Thermostat::berendsen,
                               .tau_t_ps = 10 * dt_ps});
  State m = integrator.begin(c.frame);
  integrator.step(m, steps);
  c.frame = m.frame;
  c.frame.step = 0;
  c.frame.time_ps = 0;
}

/// 7754 rigid SPC/E waters at 0.997 g/cm^3, cut-offs 0.9 nm, PME.
inline MolecularCase water_case(int n = 7754) {
  MolecularCase c;
  System& s = c.system;
  s.lj = mixed(LennardJones::Mixing::geometric, {0.316557, 0.1}, {0.650194, 0.0});
  const double d_oh = 0.1, d_hh = 0.163299;
  s.rigid_waters.rows = {{d_oh, d_hh}};
  const double edge = std::cbrt(n * 18.0154 / (0.997 * 602.214));
  c.frame.box = rectangular_box({edge, edge, edge});
  const int m = static_cast<int>(std::ceil(std::cbrt(n)));
  std::mt19937 random(11);
  std::normal_distribution<double> any;
  int made = 0;
  for (int k = 0; made < n; ++k) {
    if (static_cast<double>(k + 1) * n < static_cast<double>(made + 1) * m * m * m &&
        k + n - made < m * m * m)
      continue;  // empty places, evenly
    const Vec3 at = {edge / m * (k % m + 0.5), edge / m * (k / m % m + 0.5),
                     edge / m * (k / m / m % m + 0.5)};
    Vec3 u, v;
    for (Vec3* w : {&u, &v})
      for (double& x : *w) x = any(random);
    const auto scale_to = [](Vec3& w, double l) {
      const double r = l / std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
      for (double& x : w) x *= r;
    };
    scale_to(u, 1);
    const double uv = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    for (std::size_t a = 0; a < 3; ++a) v[a] -= uv * u[a];
    scale_to(v, 0.5 * d_hh);
    scale_to(u, std::sqrt(d_oh * d_oh - 0.25 * d_hh * d_hh));
    const auto o = static_cast<std::int32_t>(3 * made);
    s.residues.push_back({"SOL", std::to_string(made + 1), "", ""});
    append_atom(s, "OW", 8, 15.9994, -0.8476, 0);
    append_atom(s, "HW1", 1, 1.008, 0.4238, 1);
    append_atom(s, "HW2", 1, 1.008, 0.4238, 1);
    c.frame.x_nm.push_back(at);
    c.frame.x_nm.push_back({at[0] + u[0] + v[0], at[1] + u[1] + v[1], at[2] + u[2] + v[2]});
    c.frame.x_nm.push_back({at[0] + u[0] - v[0], at[1] + u[1] - v[1], at[2] + u[2] - v[2]});
    s.rigid_waters.atoms.push_back({o, o + 1, o + 2});
    s.rigid_waters.row.push_back(0);
    s.connectivity.push_back({o, o + 1});
    s.connectivity.push_back({o, o + 2});
    for (const auto& e : {std::array{o, o + 1}, std::array{o, o + 2}, std::array{o + 1, o + 2}})
      s.exclusions.push_back(e);
    ++made;
  }
  c.nonbonded = {.coulomb = Nonbonded::Coulomb::pme,
                 .cutoff_coulomb_nm = 0.9,
                 .cutoff_lj_nm = 0.9,
                 .pme_order = 4,
                 .fourier_spacing_nm = 0.12};
  settle_down(c, 300, 0.0005);
  settle_down(c, 300, 0.002);
  return c;
}

/// JAC with rigid bonds of hydrogens and rigid waters, 0.9 nm, PME.
inline MolecularCase jac_case() {
  const auto place = tessera::testing::test_data() / "md/dhfr";
  MolecularCase c;
  c.system = constrained(read_amber_topology(data::read_text_file(place / "JAC.prmtop.gz")).system,
                         Rigid::h_bonds);
  c.frame = read_amber_restart(data::read_text_file(place / "JAC.rst7.gz"), c.system.n_atoms());
  c.nonbonded = {.coulomb = Nonbonded::Coulomb::pme,
                 .cutoff_coulomb_nm = 0.9,
                 .cutoff_lj_nm = 0.9,
                 .pme_order = 4,
                 .fourier_spacing_nm = 0.12};
  return c;
}

/// bench/in.lj: 32,000 atoms, density 0.8442, T = 1.44, cut-off 2.5, no shift (reduced units: nm,
/// kJ/mol, amu stand for sigma, epsilon, m).
inline MolecularCase melt_case(int cells = 20) {
  MolecularCase c;
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {1.0}, {1.0});
  const double a = std::cbrt(4 / 0.8442);
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      for (int k = 0; k < cells; ++k)
        for (const Vec3& s :
             {Vec3{0, 0, 0}, Vec3{0.5, 0.5, 0}, Vec3{0.5, 0, 0.5}, Vec3{0, 0.5, 0.5}}) {
          c.system.residues.push_back({"LJ", "1", "", ""});
          append_atom(c.system, "LJ", 18, 1, 0, 0);
          c.frame.x_nm.push_back({a * (i + s[0]), a * (j + s[1]), a * (k + s[2])});
        }
  c.frame.box = rectangular_box({a * cells, a * cells, a * cells});
  c.nonbonded = {.coulomb = Nonbonded::Coulomb::none,
                 .lj_modifier = Nonbonded::Modifier::none,
                 .cutoff_lj_nm = 2.5};
  c.dt_ps = 0.005;
  c.temperature_k = 1.44 / gas_constant;
  settle_down(c, 300, 0.005);
  return c;
}

}  // namespace tessera::benchmarks
