// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/medium.h"

#include <complex>

namespace tessera::electromagnetics {

// Losses as data sheets and engineers state them.

/// -Im eps / Re eps at f, conduction included.
double loss_tangent(const Medium& medium, int axis, double f_hz);

/// sigma = 2 pi f eps0 eps_r tan delta, S/m. Holds at f alone: a conductor's loss tangent falls as
/// 1/f, that of a substrate hardly changes (see `wideband_debye`).
double conductivity_from_loss_tangent(double eps_r, double tan_delta, double f_hz);

/// sigma_m = 2 pi f mu0 mu_r tan delta, ohm/m.
double magnetic_conductivity_from_loss_tangent(double mu_r, double tan_delta, double f_hz);

/// Depth at which a field has fallen to 1/e: c/(2 pi f k), n - i k the index; infinite without
/// losses. Exact for every medium; in a good conductor it is sqrt(1/(pi f mu sigma)).
double skin_depth(const Medium& medium, int axis, double f_hz);

/// eta0 sqrt(mu/eps), ohm: E/H of a plane wave along the axes' normal.
std::complex<double> wave_impedance(const Medium& medium, int axis, double f_hz);

/// An isotropic medium with permittivity eps_r (1 - i tan delta) at f and a loss tangent that stays
/// nearly the same from f_low to f_high: Debye terms of equal strength, `per_decade` of them in
/// each decade, the sum for the logarithm of A. R. Djordjevic et al., IEEE Trans. Electromagn.
/// Compat. 43, 662 (2001). Two in a decade leave a ripple of +-0.08 % of the loss, one of +-6 %;
/// over the outermost decades it falls off. Causal: the permittivity falls with frequency. Throws
/// where the losses need a background below 1.
Medium wideband_debye(double eps_r, double tan_delta, double f_hz, double f_low_hz,
                      double f_high_hz, int per_decade = 2);

}  // namespace tessera::electromagnetics
