// SPDX-License-Identifier: Apache-2.0
//
// What a dispersive medium stores. With fields E e^{i w t} the mean electric energy is
//
//   W = eps0 / 4 sum over axes of s |E|^2,   s = eps + sum over poles of their stored energy,
//
// which is d(w Re eps)/dw where nothing is lost (L. Brillouin). A lossy pole stores the kinetic and
// the potential energy of its oscillator (R. Loudon, J. Phys. A 3 (1970) 233; R. Ruppin, Phys.
// Lett. A 299 (2002) 309), of chi = k / (w0^2 - w^2 + i w g):
//
//   Lorentz, Drude   k (w0^2 + w^2) / |w0^2 - w^2 + i w g|^2
//   Debye            delta_eps / (1 + (w tau)^2)
//
// A pair with a real part in its residue (critical point, fitted) is no such oscillator: of that
// part d(w Re chi)/dw counts, which is its energy as far as its loss is small. Conductivity stores
// nothing.
#pragma once
#include "tessera/electromagnetics/medium.h"

namespace tessera::electromagnetics {

/// s of `axis` at f > 0. Throws Error for a perfect conductor, and exactly on a pole.
double stored_permittivity(const Medium& medium, int axis, double f_hz);

}  // namespace tessera::electromagnetics
