// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/mt_transform.h"

#include "sounding/missing.h"
#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::inversion {
namespace {

using Real2 = Tensor2<double>;

/// x y, in which a coefficient of zero takes nothing from an element, even if that is missing.
template <class X, class Y>
Complex term(const X& x, const Y& y) {
  return x == 0.0 || y == 0.0 ? Complex{} : x * y;
}

template <class A, class B>
Tensor2<Complex> product(const A& a, const B& b) {
  Tensor2<Complex> out{};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) out[i][j] = term(a[i][0], b[0][j]) + term(a[i][1], b[1][j]);
  return out;
}

bool is_quarter_turn(double angle_deg) { return std::abs(std::remainder(angle_deg, 90.0)) < 1e-9; }

/// Exact at right angles: Zxx and Zyy, which may be missing, have no part in Zxy and Zyx there.
Real2 turn(double angle_deg) {
  const double a = angle_deg * std::numbers::pi / 180;
  double c = std::cos(a), s = std::sin(a);
  if (is_quarter_turn(angle_deg)) c = std::round(c), s = std::round(s);
  return {{{c, s}, {-s, c}}};
}

Real2 transposed(const Real2& m) { return {{{m[0][0], m[1][0]}, {m[0][1], m[1][1]}}}; }

double wrapped(double a) {
  a = std::fmod(a, 360.0);
  return a > 180 ? a - 360 : a <= -180 ? a + 360 : a;
}

/// Standard deviation of one part of w with dw = sum g_ij dZ_ij.
double propagated(const Sounding& s, std::size_t i, const Tensor2<Complex>& g) {
  if (!s.impedance_covariance.empty()) {
    const auto& n = s.impedance_covariance.residual[i];
    const auto& si = s.impedance_covariance.signal_inverse[i];
    Complex sum = 0;
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        for (int c = 0; c < 2; ++c)
          for (int d = 0; d < 2; ++d) sum += g[a][b] * std::conj(g[c][d]) * n[a][c] * si[b][d];
    if (sum.real() > 0) return std::sqrt(sum.real() / 2);
  }
  double sum = 0;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      if (g[a][b] != Complex{}) sum += std::norm(g[a][b]) * std::pow(s.impedance_error[i][a][b], 2);
  return std::sqrt(sum);
}

/// sqrt of the sum of squared coefficients times squared errors; a term with coefficient 0 does not
/// count even if its error is missing.
template <std::size_t N>
double quadrature(const std::array<double, N>& coefficient, const std::array<double, N>& error) {
  double sum = 0;
  for (std::size_t k = 0; k < N; ++k)
    if (coefficient[k] != 0) sum += std::pow(coefficient[k] * error[k], 2);
  return std::sqrt(sum);
}

void rotate_one(Sounding& s, std::size_t i, double angle_deg) {
  if (angle_deg == 0) return;
  const Real2 r = turn(angle_deg), rt = transposed(r);
  s.azimuth_deg[i] = wrapped(s.azimuth_deg[i] + angle_deg);
  if (s.has_impedance()) {
    s.impedance[i] = product(product(r, s.impedance[i]), rt);
    Real2& e = s.impedance_error[i];
    const std::array<double, 4> old{e[0][0], e[0][1], e[1][0], e[1][1]};
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        e[a][b] = quadrature<4>(
            {r[a][0] * r[b][0], r[a][0] * r[b][1], r[a][1] * r[b][0], r[a][1] * r[b][1]}, old);
    // Exactly where there are covariances, which a file may give at some frequencies only.
    if (auto& c = s.impedance_covariance; !c.empty()) {
      c.signal_inverse[i] = product(product(r, c.signal_inverse[i]), rt);
      c.residual[i] = product(product(r, c.residual[i]), rt);
      for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
          const double v = c.residual[i][a][a].real() * c.signal_inverse[i][b][b].real() / 2;
          if (v > 0) e[a][b] = std::sqrt(v);
        }
    }
  }
  if (s.has_tipper()) {
    const auto t = s.tipper[i];
    const auto e = s.tipper_error[i];
    for (int b = 0; b < 2; ++b) {
      s.tipper[i][b] = term(t[0], r[b][0]) + term(t[1], r[b][1]);
      s.tipper_error[i][b] = quadrature<2>({r[b][0], r[b][1]}, e);
    }
    if (auto& c = s.tipper_covariance; !c.empty()) {
      c.signal_inverse[i] = product(product(r, c.signal_inverse[i]), rt);
      for (int b = 0; b < 2; ++b) {
        const double v = c.residual[i][0][0].real() * c.signal_inverse[i][b][b].real() / 2;
        if (v > 0) s.tipper_error[i][b] = std::sqrt(v);
      }
    }
  }
}

/// Quarter turns exchange elements, Zxy' = -Zyx, and so keep what the file says of them, also of
/// one without its phase. Any other angle mixes them, and leaves nothing.
void turn_resistivity(ResistivityPhase& r, std::span<const double> angle_deg) {
  if (!std::all_of(angle_deg.begin(), angle_deg.end(), is_quarter_turn)) r = {};
  if (r.empty()) return;
  for (std::size_t i = 0; i < angle_deg.size(); ++i) {
    if (std::lround(angle_deg[i] / 90) % 2 == 0) continue;
    for (auto* list : {&r.rho, &r.rho_error, &r.phase, &r.phase_error}) {
      if (list->empty()) continue;
      Real2& t = (*list)[i];
      std::swap(t[0][0], t[1][1]);
      std::swap(t[0][1], t[1][0]);
    }
    for (double* phase : {&r.phase[i][0][1], &r.phase[i][1][0]})
      *phase = std::remainder(*phase + 180, 360.0);
  }
}

/// x, y and the slope along y, seen along axes that are turned; the ground is taken as a plane that
/// is level along x.
void turn_place(Sounding& s, double angle_deg) {
  if (angle_deg == 0) return;
  const Real2 r = turn(angle_deg);
  if (s.place_m) {
    auto& [x, y, z] = *s.place_m;
    const double was_x = x, was_y = y;
    x = r[0][0] * was_x + r[0][1] * was_y;
    y = r[1][0] * was_x + r[1][1] * was_y;
  }
  constexpr double degrees = 180 / std::numbers::pi;
  if (s.tilt_deg != 0) s.tilt_deg = degrees * std::atan(std::tan(s.tilt_deg / degrees) * r[1][1]);
}

template <class T>
void pick(std::vector<T>& v, std::span<const std::size_t> indices) {
  if (v.empty()) return;
  std::vector<T> out;
  out.reserve(indices.size());
  for (const std::size_t i : indices) out.push_back(v[i]);
  v = std::move(out);
}

}  // namespace

Response response_of(const Sounding& s, Element element) {
  if (element == Element::tx || element == Element::ty)
    throw Error("[response_of] the tipper is no impedance");
  Response out{.frequency_hz = s.frequency_hz};
  out.impedance_ohm.assign(s.size(), kMissing);
  out.sigma_ohm.assign(s.size(), kNaN);
  if (!s.has_impedance()) return out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto& z = s.impedance[i];
    Complex& w = out.impedance_ohm[i];
    Tensor2<Complex> g{};
    const auto take = [&](int row, int column, double sign) {
      w = sign * z[row][column];
      g[row][column] = sign;
    };
    if (element == Element::determinant) {
      w = std::sqrt(z[0][0] * z[1][1] - z[0][1] * z[1][0]);
      const Complex h = 0.5 / w;
      g = {{{h * z[1][1], -h * z[1][0]}, {-h * z[0][1], h * z[0][0]}}};
    } else if (element == Element::average) {
      w = (z[0][1] - z[1][0]) / 2.0;
      g = {{{0, 0.5}, {-0.5, 0}}};
    } else if (element == Element::xy) {
      take(0, 1, 1);
    } else if (element == Element::yx) {
      take(1, 0, -1);
    } else if (element == Element::xx) {
      take(0, 0, 1);
    } else {
      take(1, 1, 1);
    }
    if (!(std::abs(w) > 0)) {
      w = kMissing;
      continue;
    }
    const double e = propagated(s, i, g);
    out.sigma_ohm[i] = e > 0 ? e : kNaN;
  }
  return out;
}

void rotate_by(Sounding& s, double angle_deg) {
  if (angle_deg == 0) return;
  for (std::size_t i = 0; i < s.size(); ++i) rotate_one(s, i, angle_deg);
  turn_place(s, angle_deg);
  turn_resistivity(s.resistivity, std::vector<double>(s.size(), angle_deg));
}

void rotate_to(Sounding& s, double azimuth_deg) {
  std::vector<double> angles;
  if (!s.azimuth_deg.empty()) turn_place(s, wrapped(azimuth_deg - s.azimuth_deg.front()));
  for (std::size_t i = 0; i < s.size(); ++i) {
    double angle = wrapped(azimuth_deg - s.azimuth_deg[i]);
    if (std::abs(angle) < 1e-9) angle = 0;  // degrees that were radians in between
    angles.push_back(angle);
    rotate_one(s, i, angle);
  }
  turn_resistivity(s.resistivity, angles);
}

std::vector<Tensor2<Complex>> impedance_in(const Sounding& s, ImpedanceUnits units, TimeSign sign) {
  const double factor = units == ImpedanceUnits::field ? 1 / ohm_per_field_unit : 1;
  std::vector<Tensor2<Complex>> out = s.impedance;
  for (auto& t : out)
    for (auto& row : t)
      for (auto& z : row) z = factor * (sign == TimeSign::minus ? std::conj(z) : z);
  return out;
}

void select_frequencies(Sounding& s, std::span<const std::size_t> indices) {
  pick(s.azimuth_deg, indices);
  pick(s.impedance, indices);
  pick(s.impedance_error, indices);
  pick(s.impedance_covariance.signal_inverse, indices);
  pick(s.impedance_covariance.residual, indices);
  pick(s.tipper, indices);
  pick(s.tipper_error, indices);
  pick(s.tipper_covariance.signal_inverse, indices);
  pick(s.tipper_covariance.residual, indices);
  pick(s.resistivity.rho, indices);
  pick(s.resistivity.rho_error, indices);
  pick(s.resistivity.phase, indices);
  pick(s.resistivity.phase_error, indices);
  pick(s.frequency_hz, indices);
}

std::size_t keep_periods(Sounding& s, double shortest_s, double longest_s) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < s.size(); ++i)
    if (1 / s.frequency_hz[i] >= shortest_s && 1 / s.frequency_hz[i] <= longest_s)
      kept.push_back(i);
  const std::size_t dropped = s.size() - kept.size();
  if (dropped) select_frequencies(s, kept);
  return dropped;
}

std::vector<double> mask_periods(Sounding& s, std::span<const double> periods_s) {
  std::vector<double> unmatched;
  for (const double period : periods_s) {
    bool found = false;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (!(std::abs(period * s.frequency_hz[i] - 1) <= 0.01)) continue;
      found = true;
      if (s.has_impedance()) {
        s.impedance[i] = {{{kMissing, kMissing}, {kMissing, kMissing}}};
        s.impedance_error[i] = {{{kNaN, kNaN}, {kNaN, kNaN}}};
      }
      if (s.has_tipper()) {
        s.tipper[i] = {kMissing, kMissing};
        s.tipper_error[i] = {kNaN, kNaN};
      }
      if (!s.resistivity.empty())
        for (auto* list : {&s.resistivity.rho, &s.resistivity.rho_error, &s.resistivity.phase,
                           &s.resistivity.phase_error})
          (*list)[i] = {{{kNaN, kNaN}, {kNaN, kNaN}}};
    }
    if (!found) unmatched.push_back(period);
  }
  return unmatched;
}

}  // namespace tessera::inversion
