// SPDX-License-Identifier: Apache-2.0
// Fields over a ground, or a sea floor, z = depth - amplitude cos(k y), as sums of waves that do
// not grow away from it (Rayleigh's hypothesis, valid for k amplitude < 0.448: R. Millar 1973,
// doi:10.1029/RS008i008p00785). Coefficients by least squares at points of half a wave. e^{+i w t},
// Hy = 1 high in the air (TE), Hx = 1 in the air (TM).
#pragma once
#include <Eigen/Dense>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <vector>

namespace tessera::inversion {

struct WavyBoundary {
  double depth = 0;  ///< of the boundary's mean below the air; 0: it is the ground
  double amplitude = 100, wave = 2000;
  double above_ohm_m = 1 / 3.0,
         below_ohm_m = 100;  ///< sea and earth; without a sea the first is not used
  double k() const { return 2 * std::numbers::pi / wave; }
  double at(double y) const { return depth - amplitude * std::cos(k() * y); }
  double slope(double y) const { return std::atan(amplitude * k() * std::sin(k() * y)); }
};

/// Value and derivatives by y and z.
struct WaveField {
  std::complex<double> f, y, z;
  WaveField operator+(const WaveField& o) const { return {f + o.f, y + o.y, z + o.z}; }
  WaveField operator*(std::complex<double> s) const { return {f * s, y * s, z * s}; }
};

/// The fields on either side of the boundary.
class RayleighSeries {
 public:
  using Complex = std::complex<double>;
  RayleighSeries(bool te, const WavyBoundary& b, double frequency) : te_(te), b_(b) {
    iw_ = Complex(0, 2 * std::numbers::pi * frequency * 4e-7 * std::numbers::pi);
    const bool sea = b.depth > 0;
    const int m = modes;
    // TE on land: air m, earth m. TM on land: earth m. With a sea: sea m (what goes down is given
    // or tied at the surface to what goes up), earth m.
    const int unknowns = te || sea ? 2 * m : m, points = 6 * m;
    const int equations = te || sea ? 2 * points : points;
    Eigen::MatrixXcd a = Eigen::MatrixXcd::Zero(equations, unknowns);
    Eigen::VectorXcd right = Eigen::VectorXcd::Zero(equations);
    for (int p = 0; p < points; ++p) {
      const double y = b.wave / 2 * (p + 0.5) / points, z = b.at(y), s = b.slope(y);
      const auto across = [&](const WaveField& w) { return std::sin(s) * w.y - std::cos(s) * w.z; };
      for (int n = 0; n < m; ++n) {
        const WaveField down = below(n, y, z);
        a(p, unknowns - m + n) = down.f;
        if (unknowns == m) continue;
        const WaveField up = above(n, y, z);
        a(p, n) = -up.f;
        a(points + p, n) = -across(up) * (te ? 1 : b.above_ohm_m) * b.wave;
        a(points + p, unknowns - m + n) = across(down) * (te ? 1 : b.below_ohm_m) * b.wave;
      }
      const WaveField given = source(y, z);
      right(p) = given.f;
      if (unknowns > m) right(points + p) = across(given) * (te ? 1 : b.above_ohm_m) * b.wave;
    }
    const Eigen::VectorXd scale = a.colwise().norm();
    for (int c = 0; c < unknowns; ++c) a.col(c) /= scale(c);
    Eigen::VectorXcd x = a.colPivHouseholderQr().solve(right);
    residual = (a * x - right).norm() / right.norm();
    x = x.cwiseQuotient(scale.cast<Complex>());
    up_.assign(x.data(), x.data() + (unknowns > m ? m : 0));
    down_.assign(x.data() + unknowns - m, x.data() + unknowns);
  }
  double residual = 0;  ///< of the least squares, relative

  WaveField earth(double y, double z) const {
    WaveField sum{};
    for (int n = 0; n < modes; ++n) sum = sum + below(n, y, z) * down_[static_cast<std::size_t>(n)];
    return sum;
  }
  WaveField sea(double y, double z) const {
    WaveField sum = source(y, z);
    for (int n = 0; n < modes; ++n) sum = sum + above(n, y, z) * up_[static_cast<std::size_t>(n)];
    return sum;
  }
  /// Z_xy, Z_yx (along the tilted sensor) or T_zy at the boundary, as a sensor tilted so sees them;
  /// Ey that of the sea where there is one and the tilt is not the slope.
  Complex impedance(double y, double tilt) const {
    const double z = b_.at(y), c = std::cos(tilt), s = std::sin(tilt);
    if (te_) {
      const WaveField e = earth(y, z);
      return e.f / ((s * e.y - c * e.z) / iw_);
    }
    const bool in_sea = b_.depth > 0;
    const WaveField h = in_sea ? sea(y, z) : earth(y, z);
    return (in_sea ? b_.above_ohm_m : b_.below_ohm_m) * (c * h.z - s * h.y) / h.f;
  }
  Complex tipper(double y, double tilt) const {
    const WaveField e = earth(y, b_.at(y));
    const double c = std::cos(tilt), s = std::sin(tilt);
    return (c * e.y + s * e.z) / (s * e.y - c * e.z);
  }

 private:
  static constexpr int modes = 14;
  Complex gamma(int n, double rho) const {
    const double q = n * b_.k();
    return std::sqrt(Complex(q * q) + iw_ / rho);
  }
  static WaveField wave(Complex amplitude, Complex rate, double q, double y) {
    return {amplitude * std::cos(q * y), -q * amplitude * std::sin(q * y),
            rate * amplitude * std::cos(q * y)};
  }
  WaveField below(int n, double y, double z) const {
    const Complex g = gamma(n, b_.below_ohm_m);
    return wave(std::exp(-g * (z - b_.depth)), -g, n * b_.k(), y);
  }
  /// What goes up from the boundary, with its echo at the sea's surface.
  WaveField above(int n, double y, double z) const {
    const double q = n * b_.k();
    if (b_.depth <= 0) return wave(std::exp(q * z), q, q, y);
    const Complex g = gamma(n, b_.above_ohm_m);
    const Complex echo = te_ ? (g - q) / (g + q) : -1.0;  // TE: goes on in the air as e^{q z}
    return wave(std::exp(g * (z - b_.depth)), g, q, y) +
           wave(echo * std::exp(-g * (z + b_.depth)), -g, q, y);
  }
  /// What is there without the boundary's answer.
  WaveField source(double y, double z) const {
    (void)y;
    if (b_.depth <= 0) return te_ ? WaveField{-iw_ * z, 0, -iw_} : WaveField{1, 0, 0};
    const Complex g = gamma(0, b_.above_ohm_m);
    const Complex e = std::exp(-g * z) * (te_ ? iw_ / g : 1.0);  // dE/dz = -i w mu0 at z = 0
    return {e, 0, -g * e};
  }

  bool te_;
  WavyBoundary b_;
  Complex iw_;
  std::vector<Complex> up_, down_;
};

}  // namespace tessera::inversion
