// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/phase_tensor.h"

#include "sounding/missing.h"
#include "tessera/data/median.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

constexpr double kDegrees = 180 / std::numbers::pi;

/// Everything but the errors; angles in the axes of the sounding.
PhaseTensor of_impedance(const Tensor2<Complex>& z) {
  PhaseTensor p;
  const double a = z[0][0].real(), b = z[0][1].real(), c = z[1][0].real(), d = z[1][1].real();
  const double det = a * d - b * c;
  const double inverse[2][2] = {{d / det, -b / det}, {-c / det, a / det}};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      p.phi[i][j] = inverse[i][0] * z[0][j].imag() + inverse[i][1] * z[1][j].imag();
  const auto& f = p.phi;
  const double half_minus = std::hypot(f[0][0] - f[1][1], f[0][1] + f[1][0]) / 2;
  const double half_plus = std::hypot(f[0][0] + f[1][1], f[0][1] - f[1][0]) / 2;
  p.phi_max = half_plus + half_minus;
  p.phi_min = half_plus - half_minus;
  p.alpha_deg = std::atan2(f[0][1] + f[1][0], f[0][0] - f[1][1]) / 2 * kDegrees;
  p.skew_deg = std::atan2(f[0][1] - f[1][0], f[0][0] + f[1][1]) / 2 * kDegrees;
  p.strike_deg = p.alpha_deg - p.skew_deg;
  p.ellipticity = half_minus / half_plus;
  return p;
}

bool usable(const Tensor2<Complex>& z) {
  double size = 0;
  for (const auto& row : z)
    for (const Complex v : row) size += std::norm(v);
  const double det = z[0][0].real() * z[1][1].real() - z[0][1].real() * z[1][0].real();
  return std::abs(det) > 1e-14 * size;  // false for NaN
}

/// Difference of two directions modulo 180 degrees.
double axial_difference(double a, double b) { return std::remainder(a - b, 180.0); }

}  // namespace

std::vector<PhaseTensor> phase_tensors(const Sounding& s) {
  std::vector<PhaseTensor> out;
  if (!s.has_impedance()) return out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto& z = s.impedance[i];
    PhaseTensor p;
    if (!usable(z)) {
      p.phi = p.phi_error = {{{kNaN, kNaN}, {kNaN, kNaN}}};
      p.phi_max = p.phi_min = p.alpha_deg = p.skew_deg = p.skew_error_deg = p.strike_deg = kNaN;
      p.strike_error_deg = p.ellipticity = p.ellipticity_error = kNaN;
      out.push_back(p);
      continue;
    }
    p = of_impedance(z);
    double skew = 0, strike = 0, ellipticity = 0;
    Tensor2<double> phi{};
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c)
        for (const Complex part : {Complex(1, 0), Complex(0, 1)}) {
          double size = 0;
          for (const auto& row : z)
            for (const Complex v : row) size = std::max(size, std::abs(v));
          const double h = 1e-6 * size, e = s.impedance_error[i][r][c];
          Tensor2<Complex> up = z, down = z;
          up[r][c] += h * part;
          down[r][c] -= h * part;
          const PhaseTensor u = of_impedance(up), d = of_impedance(down);
          skew += std::pow(axial_difference(u.skew_deg, d.skew_deg) / (2 * h) * e, 2);
          strike += std::pow(axial_difference(u.strike_deg, d.strike_deg) / (2 * h) * e, 2);
          ellipticity += std::pow((u.ellipticity - d.ellipticity) / (2 * h) * e, 2);
          for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b)
              phi[a][b] += std::pow((u.phi[a][b] - d.phi[a][b]) / (2 * h) * e, 2);
        }
    p.skew_error_deg = std::sqrt(skew);
    p.strike_error_deg = std::sqrt(strike);
    p.ellipticity_error = std::sqrt(ellipticity);
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) p.phi_error[a][b] = std::sqrt(phi[a][b]);
    p.strike_deg = std::fmod(p.strike_deg + s.azimuth_deg[i] + 720, 180.0);
    out.push_back(p);
  }
  return out;
}

PhaseTensorCurve phase_tensor_curve(const Sounding& s) {
  PhaseTensorCurve out;
  const auto tensors = phase_tensors(s);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PhaseTensor& p = tensors[i];
    if (!std::isfinite(p.ellipticity)) continue;
    out.period.push_back(1 / s.frequency_hz[i]);
    out.phi_max.push_back(p.phi_max);
    out.phi_min.push_back(p.phi_min);
    out.azimuth.push_back(p.strike_deg);
    out.skew.push_back(p.skew_deg);
  }
  return out;
}

/// A tensor rounder than that has no direction: no data are as good as a thousandth.
constexpr double kLeastEllipticity = 1e-3;

std::optional<StrikeEstimate> estimate_strike(std::span<const PhaseTensorCurve> curves,
                                              double shortest_s, double longest_s) {
  Complex sum = 0;
  double weights = 0;
  std::vector<double> skews;
  for (const PhaseTensorCurve& c : curves)
    for (std::size_t i = 0; i < c.period.size(); ++i) {
      if (!(c.period[i] >= shortest_s && c.period[i] <= longest_s)) continue;
      // With phi_min < 0 the ratio exceeds 1; such a tensor has no more direction than a flat one.
      const double w = std::min((c.phi_max[i] - c.phi_min[i]) / (c.phi_max[i] + c.phi_min[i]), 1.0);
      if (w < kLeastEllipticity) continue;
      sum += w * std::polar(1.0, 4 * c.azimuth[i] / kDegrees);
      weights += w;
      skews.push_back(std::abs(c.skew[i]));
    }
  if (skews.empty() || !(weights > 0)) return std::nullopt;
  StrikeEstimate out;
  out.n = skews.size();
  out.strike_deg = std::fmod(std::arg(sum) / 4 * kDegrees + 90, 90.0);
  out.concentration = std::abs(sum) / weights;
  out.median_skew_deg = data::median(std::move(skews));
  return out;
}

std::optional<StrikeEstimate> estimate_strike(std::span<const Sounding> soundings,
                                              double shortest_s, double longest_s) {
  std::vector<PhaseTensorCurve> curves;
  for (const Sounding& s : soundings) curves.push_back(phase_tensor_curve(s));
  return estimate_strike(curves, shortest_s, longest_s);
}

}  // namespace tessera::inversion
