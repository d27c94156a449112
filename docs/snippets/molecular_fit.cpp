// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/ops.h>
#include <tessera/autodiff/optimize.h>
#include <tessera/molecular/dynamics.h>
#include <tessera/molecular/parameters.h>

#include <cmath>
#include <iostream>

using namespace tessera;
using namespace tessera::molecular;

/// 54 argon and 54 krypton atoms at the sites of an fcc lattice, in motion for half a picosecond.
System mixture(Frame& frame, const Nonbonded& options) {
  System s;
  s.residues = {{.name = "MIX", .number = "1"}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3405, 0.3636}, {0.9960, 1.3844});
  for (int k = 0; k < 108; ++k) {
    const int cell = k / 4, corner = k % 4, krypton = k % 2;
    s.atoms.name.push_back(krypton ? "KR" : "AR");
    s.atoms.type.push_back(krypton ? "KR" : "AR");
    s.atoms.element.push_back(krypton ? 36 : 18);
    s.atoms.mass_amu.push_back(krypton ? 83.8 : 39.95);
    s.atoms.charge_e.push_back(0);
    s.atoms.lj_type.push_back(krypton);
    s.atoms.residue.push_back(0);
    frame.x_nm.push_back({0.58 * (cell % 3 + 0.5 * (corner > 1)),
                          0.58 * (cell / 3 % 3 + 0.5 * (corner % 3 > 0)),
                          0.58 * (cell / 9 + 0.5 * (corner % 2))});
  }
  frame.box = rectangular_box({1.74, 1.74, 1.74});
  const Integrator run(s, ForceEvaluator(s, options), {.dt_ps = 0.005, .temperature_k = 120});
  State m = run.begin(frame);
  run.step(m, 100);
  frame = m.frame;
  return s;
}

int main() {
  const Nonbonded options = {.coulomb = Nonbonded::Coulomb::none,
                             .lj_modifier = Nonbonded::Modifier::force_switch,
                             .cutoff_lj_nm = 0.85,
                             .lj_switch_nm = 0.7};
  Frame frame;
  const System system = mixture(frame, options);
  const PotentialEnergy u(system, options, frame.box);
  const Tensor x = positions_of(frame.x_nm), h = edges_of(frame.box);
  const Parameters truth = parameters(system);
  const Tensor wanted = forces(u, x, h, truth);

  // Sigma and epsilon from forces: least squares by Levenberg and Marquardt, with the exact
  // Jacobian.
  const auto with = [&](const Tensor& factors) {
    Parameters p = truth;
    p.sigma = truth.sigma * select(factors, 0, 0);
    p.epsilon = truth.epsilon * select(factors, 0, 1);
    return p;
  };
  const auto residual = [&](const Tensor& factors) {
    return forces(u, x, h, with(factors)) - wanted;
  };
  const auto fit = least_squares(residual, tensor({0.95, 1.05, 1.3, 0.8}, {2, 2}));
  const double wrong = max(abs(fit.x - 1.0)).item<double>();
  std::cout << "sigma and epsilon within " << wrong << " after " << fit.iterations
            << " iterations\n";

  // What the pressure makes of a change in sigma, in bar/nm: one derivative through the virial.
  const Tensor by_sigma = grad([&](const Tensor& sigma) {
    Parameters p = truth;
    p.sigma = sigma;
    return pressure_bar(u, x, h, p);
  })(truth.sigma);
  std::cout << "d pressure/d sigma " << to_string(by_sigma) << "\n";
  return wrong < 1e-8 ? 0 : 1;
}
