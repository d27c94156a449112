// SPDX-License-Identifier: Apache-2.0
//
// Factors by which thermostats scale velocities.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera::molecular {

/// Stochastic velocity rescaling (Bussi, Donadio & Parrinello 2007, eq. A7): with c = e^{-ratio},
/// ratio = dt/tau,
///   factor^2 = c + (1 - c) K0/(N K) (R_1^2 + sum_{2..N} R_i^2) + 2 R_1 sqrt(c (1 - c) K0/(N K))
/// K the kinetic energy, K0 the one aimed at, N the degrees of freedom. The sum of squares is drawn
/// from its gamma distribution. `draw` numbers the draws of a run.
double bussi_factor(double kinetic, double aim, double freedom, double ratio, std::uint64_t seed,
                    std::uint64_t draw);

/// Nose-Hoover chain of `nose_hoover_length` thermostats with masses Q_1 = N kT tau^2, Q_k = kT
/// tau^2 (tau = tau_t/2 pi), advanced by t with velocities Q d(eta)/dt; Suzuki-Yoshida weights of
/// order 4 (Martyna et al. 1996). `bath`: eta, then their velocities.
inline constexpr std::size_t nose_hoover_length = 10;
double nose_hoover_factor(double* bath, double kinetic, double freedom, double kt, double tau_t,
                          double t);
double nose_hoover_energy(const double* bath, double freedom, double kt, double tau_t);

}  // namespace tessera::molecular
