// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_energy.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

/// k (w0^2 + w^2) / |w0^2 - w^2 + i w g|^2.
double oscillator_energy(double k, double w0_squared, double g, double w) {
  const double off = w0_squared - w * w;
  return k * (w0_squared + w * w) / (off * off + w * w * g * g);
}

/// A pair of poles is chi = (b1 s + b0) / (s^2 + g s + w0^2).
double pair_energy(const PoleResidue& p, double w) {
  const double g = -2 * p.a.real(), w0_squared = std::norm(p.a), b1 = 2 * p.c.real(),
               b0 = -2 * (p.c * std::conj(p.a)).real();
  const std::complex<double> s(0, w), below = s * s + g * s + w0_squared;
  const std::complex<double> derivative =
      b1 * s / below + s * (b1 / below - b1 * s * (2.0 * s + g) / (below * below));  // d(w chi)/dw
  return oscillator_energy(b0, w0_squared, g, w) + derivative.real();
}

}  // namespace

double stored_permittivity(const Medium& medium, int axis, double f_hz) {
  if (medium.pec || !(f_hz > 0))
    throw Error(
        fmt::format("[stored_permittivity] needs a medium with fields and a frequency above 0, got "
                    "'{}' at {} Hz",
                    medium.name, f_hz));
  const double w = 2 * std::numbers::pi * f_hz;
  double s = medium.eps[static_cast<std::size_t>(axis)];
  std::vector<PoleResidue> real;
  for (const PoleResidue& p : medium.poles)
    if (!is_real(p))
      s += pair_energy(p, w);
    else if (p.second != 0)
      s += oscillator_energy(p.second, std::norm(p.a), -2 * p.a.real(), w);
    else
      real.push_back(p);
  // Two real poles with opposite residues are one oscillator, more than critically damped; one at
  // zero, a conductivity by now, is the other half of a Drude term.
  for (std::size_t n = 0; n < real.size(); ++n) {
    if (real[n].c.real() >= 0) continue;
    for (std::size_t q = 0; q < real.size(); ++q) {
      const double a = real[n].a.real(), b = real[q].a.real(), c = real[q].c.real();
      if (std::abs(c + real[n].c.real()) > 1e-9 * c) continue;
      s += oscillator_energy(c * (b - a), a * b, -(a + b), w);
      real[n].c = real[q].c = 0;
      break;
    }
  }
  for (const PoleResidue& p : real)
    s += std::abs(p.c.real() * p.a.real()) / (w * w + std::norm(p.a));
  return s;
}

}  // namespace tessera::electromagnetics
