// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_gain.h"

#include "base/numbers.h"
#include "gain_frequencies.h"
#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

constexpr double kRounding = 1e-13;  // of the sum of the terms' sizes

/// Im chi of the poles, which all axes share, and the sizes of its terms.
struct Terms {
  double f, im_chi, size;
};

Terms terms_at(const std::vector<PoleResidue>& poles, double f) {
  return {f, susceptibility(poles, Complex(0, two_pi * f)).imag(), size_of_terms(poles, f)};
}

struct Gain {
  double im_eps;
  double relative;  // to the sizes of the terms, whose rounding is the floor
};

Gain gain_of(const Terms& terms, double sigma) {
  const double conduction = sigma / (vacuum_permittivity * two_pi * terms.f);
  const double size = terms.size + std::abs(conduction);
  return {terms.im_chi - conduction, size > 0 ? (terms.im_chi - conduction) / size : 0};
}

}  // namespace

std::vector<double> gain_frequencies(const std::vector<PoleResidue>& poles, double f_min,
                                     double f_max) {
  double low = f_min > 0 ? f_min : std::numeric_limits<double>::infinity();
  double high = f_max;
  for (const PoleResidue& p : poles) {
    const double f = std::abs(p.a) / two_pi;
    if (f == 0) continue;
    low = std::min(low, f / 1000);
    high = std::max(high, f * 1000);
  }
  if (!(high > 0)) return {1.0};  // conduction alone has the same sign everywhere
  low = std::min(low, high);
  std::vector<double> f;
  const int n = high > low ? 600 : 1;
  for (int k = 0; k < n; ++k) f.push_back(low * std::pow(high / low, k / std::max(n - 1.0, 1.0)));
  for (const PoleResidue& p : poles) {
    const double centre = std::abs(p.a.imag()) / two_pi, width = std::abs(p.a.real()) / two_pi;
    if (centre == 0) continue;
    for (int k = 0; k < 20; ++k) {
      const double distance = std::max(width, 1e-6 * centre) * 0.1 * std::pow(300.0, k / 19.0);
      f.push_back(centre + distance);
      if (centre > distance) f.push_back(centre - distance);
    }
  }
  std::sort(f.begin(), f.end());
  return f;
}

double size_of_terms(const std::vector<PoleResidue>& poles, double f_hz) {
  double size = 0;
  for (const PoleResidue& p : poles) {
    const double nearest = std::hypot(p.a.real(), two_pi * f_hz - std::abs(p.a.imag()));
    size +=
        (is_real(p) ? 1 : 2) * std::abs(p.c) / nearest + std::abs(p.second) / (nearest * nearest);
  }
  return size;
}

bool is_lossless_resonance(const PoleResidue& p) {
  return p.a.real() == 0 && p.a.imag() != 0 && std::abs(p.c.real()) <= 1e-12 * std::abs(p.c) &&
         p.c.imag() * p.a.imag() <= 0;
}

GainReport largest_gain(const Medium& medium, double f_min_hz, double f_max_hz) {
  GainReport report;
  if (medium.pec) return report;
  for (const PoleResidue& p : medium.poles)
    if (p.a.real() == 0 && p.a != 0.0 && !is_lossless_resonance(p))
      return {false, std::abs(p.a.imag()) / two_pi, std::numeric_limits<double>::infinity()};
  const std::vector<double> f = gain_frequencies(medium.poles, f_min_hz, f_max_hz);
  std::vector<Terms> terms;
  terms.reserve(f.size());
  for (const double f_hz : f) terms.push_back(terms_at(medium.poles, f_hz));
  double worst = -std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double sigma = medium.sigma[axis];
    if (std::find(medium.sigma.begin(), medium.sigma.begin() + axis, sigma) !=
        medium.sigma.begin() + axis)
      continue;
    const auto gain_at = [&](double f_hz) { return gain_of(terms_at(medium.poles, f_hz), sigma); };
    std::size_t at = 0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < f.size(); ++k) {
      const double g = gain_of(terms[k], sigma).relative;
      if (g > best) best = g, at = k;
    }
    double top = f[at];
    if (at > 0 && at + 1 < f.size()) {  // golden section between the neighbours
      double a = f[at - 1], b = f[at + 1];
      const double golden = (std::sqrt(5.0) - 1) / 2;
      for (int n = 0; n < 60; ++n) {
        const double left = b - golden * (b - a), right = a + golden * (b - a);
        if (gain_at(left).relative > gain_at(right).relative)
          b = right;
        else
          a = left;
      }
      const double middle = (a + b) / 2, there = gain_at(middle).relative;
      if (there > best) best = there, top = middle;
    }
    if (best > worst) {
      worst = best;
      report = {best <= kRounding, top, gain_at(top).im_eps};
    }
  }
  return report;
}

}  // namespace tessera::electromagnetics
