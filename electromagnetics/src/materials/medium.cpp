// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium.h"

#include "base/numbers.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

constexpr double eps0 = vacuum_permittivity, mu0 = vacuum_permeability;
constexpr double kLeastSplit = 1e-4;  // of the mean of two nearly equal poles

/// The root that a passive medium has: decaying along the direction of travel, Im <= 0.
Complex decaying_root(Complex z) {
  const Complex root = std::sqrt(z);
  return root.imag() > 0 ? -root : root;
}

void need(bool ok, const char* operation, const char* expected, double came) {
  if (!ok) throw Error(fmt::format("[{}] expected {}, got {}", operation, expected, came));
}

std::size_t checked_axis(const char* operation, const Medium& medium, int axis) {
  if (medium.pec)
    throw Error(
        fmt::format("[{}] '{}' is a perfect conductor and has no permittivity or "
                    "permeability; ask only for media with pec = false",
                    operation, medium.name));
  if (axis < 0 || axis > 2)
    throw Error(fmt::format("[{}] expected an axis 0, 1 or 2, got {}", operation, axis));
  return static_cast<std::size_t>(axis);
}

Complex finite_or_throw(const char* operation, const Medium& medium, Complex value, double f_hz) {
  if (std::isfinite(value.real()) && std::isfinite(value.imag())) return value;
  throw Error(
      fmt::format("[{}] '{}' has no finite value at {} Hz: a pole lies there (zero "
                  "frequency is one of every conductor); ask beside it",
                  operation, medium.name, f_hz));
}

/// value + conductivity/(s unit), without 0/0 for an insulator at zero frequency.
Complex with_conduction(Complex value, double conductivity, double unit, Complex s) {
  return conductivity == 0 ? value : value + conductivity / (unit * s);
}

Complex permittivity_at(const char* operation, const Medium& m, int axis, Complex s, double f_hz) {
  const std::size_t k = checked_axis(operation, m, axis);
  const Complex value = with_conduction(m.eps[k] + susceptibility(m.poles, s), m.sigma[k], eps0, s);
  return finite_or_throw(operation, m, value, f_hz);
}

}  // namespace

// K/(s^2 + G s + W^2) with s = i w, K = delta_eps W^2: poles -G/2 +- sqrt(G^2/4 - W^2), residues
// +-K/(their difference).
std::vector<PoleResidue> lorentz(double f0_hz, double gamma_hz, double delta_eps) {
  need(f0_hz > 0 && std::isfinite(f0_hz), "lorentz", "a resonance frequency > 0 Hz", f0_hz);
  need(gamma_hz >= 0 && std::isfinite(gamma_hz), "lorentz", "a damping >= 0 Hz", gamma_hz);
  need(std::isfinite(delta_eps), "lorentz", "a finite strength", delta_eps);
  const double w = two_pi * f0_hz, half = two_pi * gamma_hz / 2, k = delta_eps * w * w;
  const double least = kLeastSplit * half;
  const double discriminant = (half - w) * (half + w);
  if (discriminant < 0) {
    const double wd = std::max(std::sqrt(-discriminant), least);
    return {{{-half, wd}, {0, -k / (2 * wd)}}};
  }
  const double d = std::max(std::sqrt(discriminant), least);
  const double fast = -half - d;
  const double slow = d > least ? w * w / fast : -half + d;  // no cancellation of half and d
  const double c = k / (slow - fast);
  return {{slow, c}, {fast, -c}};
}

// -S fp^2/(f^2 - i f g) = S W^2/(s (s + G)) = (S W^2/G) [1/s - 1/(s + G)], or S W^2/s^2.
std::vector<PoleResidue> drude(double fp_hz, double gamma_hz, double strength) {
  need(fp_hz > 0 && std::isfinite(fp_hz), "drude", "a plasma frequency > 0 Hz", fp_hz);
  need(gamma_hz >= 0 && std::isfinite(gamma_hz), "drude", "a damping >= 0 Hz", gamma_hz);
  need(std::isfinite(strength), "drude", "a finite strength", strength);
  const double w = two_pi * fp_hz, g = two_pi * gamma_hz;
  if (g == 0) return {{.a = 0.0, .c = 0.0, .second = strength * w * w}};
  const double c = strength * w * w / g;
  return {{0.0, c}, {-g, -c}};
}

std::vector<PoleResidue> debye(double f_relax_hz, double delta_eps) {
  need(f_relax_hz > 0 && std::isfinite(f_relax_hz), "debye", "a relaxation frequency > 0 Hz",
       f_relax_hz);
  need(std::isfinite(delta_eps), "debye", "a finite strength", delta_eps);
  const double w = two_pi * f_relax_hz;
  return {{-w, delta_eps * w}};
}

// With W = 2 pi f0, G = 2 pi gamma: W - w + i G = i (s - a) for a = -G + i W, so its term carries
// c = -i A W e^{-i phase}; the other term is the conjugate.
std::vector<PoleResidue> critical_point(double f0_hz, double gamma_hz, double amplitude,
                                        double phase_rad) {
  need(f0_hz > 0 && std::isfinite(f0_hz), "critical_point", "a frequency > 0 Hz", f0_hz);
  need(gamma_hz > 0 && std::isfinite(gamma_hz), "critical_point", "a damping > 0 Hz", gamma_hz);
  need(std::isfinite(amplitude), "critical_point", "a finite amplitude", amplitude);
  need(std::isfinite(phase_rad), "critical_point", "a finite phase", phase_rad);
  const double w = two_pi * f0_hz, g = two_pi * gamma_hz;
  return {{{-g, w}, Complex(0, -amplitude * w) * std::polar(1.0, -phase_rad)}};
}

Complex susceptibility(const std::vector<PoleResidue>& poles, Complex s) {
  Complex chi = 0;
  for (const PoleResidue& p : poles) {
    if (p.c != 0.0 || p.second == 0) chi += p.c / (s - p.a);
    if (p.second != 0) chi += p.second / ((s - p.a) * (s - p.a));
    if (!is_real(p)) chi += std::conj(p.c) / (s - std::conj(p.a));
  }
  return chi;
}

Complex permittivity(const Medium& medium, int axis, double f_hz) {
  return permittivity_at("permittivity", medium, axis, Complex(0, two_pi * f_hz), f_hz);
}

double beside_pole(const Medium& medium, double f_hz) {
  if (f_hz == 0) return f_hz;
  const Complex chi = susceptibility(medium.poles, {0, two_pi * f_hz});
  const bool on_pole = !std::isfinite(chi.real()) || !std::isfinite(chi.imag());
  return on_pole ? f_hz * (1 + 1e-6) : f_hz;
}

std::vector<double> real_permittivities(const Medium& medium, int axis,
                                        std::span<const double> frequencies_hz) {
  if (!disperses(medium)) return {medium.eps[static_cast<std::size_t>(axis)]};
  std::vector<double> out;
  for (const double f : frequencies_hz) out.push_back(permittivity(medium, axis, f).real());
  return out;
}

Complex permeability(const Medium& medium, int axis, double f_hz) {
  const std::size_t k = checked_axis("permeability", medium, axis);
  const Complex s(0, two_pi * f_hz);
  return finite_or_throw("permeability", medium,
                         with_conduction(medium.mu[k], medium.sigma_m[k], mu0, s), f_hz);
}

Complex refractive_index(const Medium& medium, int axis, double f_hz) {
  return decaying_root(permittivity(medium, axis, f_hz)) *
         decaying_root(permeability(medium, axis, f_hz));
}

double highest_index(std::span<const Medium> media, double f_hz) {
  double n = 1;
  for (const Medium& m : media)
    if (!m.pec)
      for (int axis = 0; axis < 3; ++axis)
        n = std::max(n, std::abs(refractive_index(m, axis, beside_pole(m, f_hz)).real()));
  return n;
}

Medium zero_poles_as_conductivity(Medium medium) {
  std::vector<PoleResidue> kept;
  for (const PoleResidue& p : medium.poles) {
    if (p.a != 0.0) {
      kept.push_back(p);
      continue;
    }
    for (double& sigma : medium.sigma) sigma += (is_real(p) ? 1 : 2) * p.c.real() * eps0;
    if (p.second != 0) kept.push_back({.a = 0.0, .c = 0.0, .second = p.second});
  }
  medium.poles = std::move(kept);
  return medium;
}

PoleUpdate pole_update(const PoleResidue& pole, double dt_s) {
  const Complex half = pole.a * (dt_s / 2);
  PoleUpdate u{(1.0 + half) / (1.0 - half), pole.c * (dt_s / 2) / (1.0 - half)};
  if (pole.second != 0) {
    const double g = 1 / (1 - half.real()), second = pole.second * dt_s * dt_s / 4;
    u.beta += Complex(g * g * second, g);
    u.shear = (u.alpha.real() + 1) * g * second;
  }
  return u;
}

Complex discrete_permittivity(const Medium& medium, int axis, double f_hz, double dt_s) {
  need(dt_s > 0 && 2 * std::abs(f_hz) * dt_s < 1, "discrete_permittivity",
       "a time step > 0 with at least two steps a period, |f| dt < 1/2", f_hz * dt_s);
  const Complex s(0, 2 / dt_s * std::tan(std::numbers::pi * f_hz * dt_s));
  return permittivity_at("discrete_permittivity", medium, axis, s, f_hz);
}

}  // namespace tessera::electromagnetics
