// SPDX-License-Identifier: Apache-2.0
//
// Power and energy from the transformed fields, e^{+i w t}, as tensor expressions: every result
// differentiates with respect to the fields. For phasors (peak values) in V/m and A/m, W and J; for
// transforms of pulses, V s/m and A s/m, energies per bandwidth in W s^2: the same for every
// quotient of two of them.
#pragma once
#include "tessera/electromagnetics/surface.h"

#include <span>

namespace tessera::electromagnetics {

/// 1/2 Re integral (E x H*) . n dS over one patch, real [frequency]: W, in two dimensions W/m.
Tensor flux(const Patch& patch, const SurfaceFields& fields);
/// The sum over several, such as the faces of a box.
Tensor flux(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields);

/// Mean energy density (eps0 eps |E|^2 + mu0 mu |H|^2) / 4, J/m^3, real [..]: e and h complex [..,
/// 3], eps and mu relative, numbers or [..]. In a dispersive medium eps stands for d(w eps)/dw,
/// which is right where losses are small (Landau & Lifshitz, Electrodynamics of Continuous Media,
/// section 80).
Tensor energy_density(const Tensor& e, const Tensor& h, Arg eps = 1.0, Arg mu = 1.0);

/// Power that a point current gives to the field, -1/2 Re(E . J*): E(w) along the current at its
/// position and the moment J(w) (in three dimensions current times length, A m; of a line along z
/// the current, A; across it, A m per m; of a sheet A/m), both complex [frequency]. W, W/m, W/m^2.
/// Absorption counts, storage does not.
Tensor emitted_power(const Tensor& e, const Tensor& moment);

enum class PointSource {
  dipole,       ///< three dimensions:  P0 = w^2 mu n |J|^2 mu0 / (12 pi c)
  line,         ///< two dimensions, along z:  P0 = w mu mu0 |J|^2 / 8
  line_dipole,  ///< two dimensions, across z: P0 = w mu mu0 |J|^2 / 16
  sheet,        ///< one dimension:  P0 = eta |J|^2 / 4
};
/// Power of the same current in a homogeneous medium of relative eps and mu, real [frequency].
Tensor homogeneous_power(PointSource source, const Tensor& moment,
                         std::span<const double> frequencies_hz, double eps = 1, double mu = 1);
/// emitted_power / homogeneous_power: the change of the rate of spontaneous emission along J.
Tensor purcell_factor(PointSource source, const Tensor& e, const Tensor& moment,
                      std::span<const double> frequencies_hz, double eps = 1, double mu = 1);
/// The same in a medium that differs from frequency to frequency: one eps for all of them, or one
/// for each.
Tensor purcell_factor(PointSource source, const Tensor& e, const Tensor& moment,
                      std::span<const double> frequencies_hz, std::span<const double> eps,
                      double mu = 1);
/// Local density of states along J: purcell factor against vacuum, times the density of vacuum:
/// w^2/(pi^2 c^3) in s/m^3 for a dipole (so that rho = 12 eps0 P/(pi |J|^2)), w/(2 pi c^2) in s/m^2
/// for a line and a line dipole (in two dimensions the other polarisation is not counted), 1/(pi c)
/// in s/m for a sheet. L. Novotny & B. Hecht, Principles of Nano-Optics, 8.4.3.
Tensor local_density_of_states(PointSource source, const Tensor& e, const Tensor& moment,
                               std::span<const double> frequencies_hz);

}  // namespace tessera::electromagnetics
