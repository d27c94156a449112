// SPDX-License-Identifier: Apache-2.0
// The basis function of a relaxation rate lambda is, with s = lambda / w,
//   i w / (lambda + i w) = (1 + i s) / (1 + s^2),
// real and imaginary part >= 0; its two limits are 1 (lambda = 0) and i w (lambda -> infinity,
// scaled). Each is divided by the standard deviations and brought to unit length; x = ln lambda.
//
// Duality: min 1/2 |r|^2 over a >= 0 equals max y.d - 1/2 |y|^2 over all y with phi(x).y <= 0 for
// every x. If the dual function phi(x).r of the current residual is at most eps, then r - eps u is
// admissible for u = (1, ..., 1), because the entries of phi are >= 0 and |phi|_1 >= |phi|_2 = 1;
// it gives a proven lower bound.
#include "tessera/inversion/dplus.h"

#include "tessera/inversion/matrix.h"
#include "tessera/solvers/nnls.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::inversion {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Dual {
  double value;       ///< g(x) = phi(x).r
  double derivative;  ///< dg/dx
};

class Basis {
 public:
  explicit Basis(const Response& response) {
    for (std::size_t i = 0; i < response.size(); ++i) {
      omega_.push_back(2 * std::numbers::pi * response.frequency_hz[i]);
      per_sigma_.push_back(1 / response.sigma_ohm[i]);
    }
    omega_max_ = *std::max_element(omega_.begin(), omega_.end());
  }
  std::size_t rows() const { return 2 * omega_.size(); }

  /// Unit column for x = ln lambda (-inf and +inf allowed) into `column`; returns its length
  /// before scaling. For +inf the function is i w / max(w).
  double column(double x, double* column) const {
    double sum = 0;
    for (std::size_t i = 0; i < omega_.size(); ++i) {
      double re, im;
      parts(x, i, re, im);
      column[2 * i] = re * per_sigma_[i];
      column[2 * i + 1] = im * per_sigma_[i];
      sum += column[2 * i] * column[2 * i] + column[2 * i + 1] * column[2 * i + 1];
    }
    const double length = std::sqrt(sum);
    for (std::size_t k = 0; k < rows(); ++k) column[k] /= length;
    return length;
  }

  /// The physical weight (m/s, or m for +inf) of a unit column with coefficient c.
  double weight(double x, double c, double length) const {
    return x == infinity ? c / (length * mu0 * omega_max_) : c / (length * mu0);
  }

  Dual dual(double x, const std::vector<double>& r) const {
    double n = 0, dn = 0, q = 0, dq = 0;  // phi.r, |phi|^2 and their derivatives in x
    for (std::size_t i = 0; i < omega_.size(); ++i) {
      const double s = std::exp(x) / omega_[i], s2 = s * s, inv = 1 / (1 + s2);
      const double w = per_sigma_[i], re = inv, im = s * inv;
      const double dre = -2 * s2 * inv * inv, dim = s * (1 - s2) * inv * inv;
      n += w * (re * r[2 * i] + im * r[2 * i + 1]);
      dn += w * (dre * r[2 * i] + dim * r[2 * i + 1]);
      q += w * w * (re * re + im * im);
      dq += 2 * w * w * (re * dre + im * dim);
    }
    const double length = std::sqrt(q);
    return {n / length, (dn - 0.5 * n * dq / q) / length};
  }

 private:
  void parts(double x, std::size_t i, double& re, double& im) const {
    if (x == infinity) {
      re = 0;
      im = omega_[i] / omega_max_;
      return;
    }
    const double s = x == -infinity ? 0.0 : std::exp(x) / omega_[i];
    re = 1 / (1 + s * s);
    im = s / (1 + s * s);
  }

  std::vector<double> omega_, per_sigma_;
  double omega_max_ = 0;
};

/// Where g' changes sign from + to - between lo and hi.
double find_maximum(const Basis& basis, const std::vector<double>& r, double lo, double hi) {
  for (int k = 0; k < 60 && hi - lo > 1e-13 * std::max(1.0, std::abs(lo)); ++k) {
    const double mid = 0.5 * (lo + hi);
    (basis.dual(mid, r).derivative > 0 ? lo : hi) = mid;
  }
  return 0.5 * (lo + hi);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

DplusResult dplus(const Response& response, const DplusOptions& options) {
  require_valid(response, "dplus");
  const Basis basis(response);
  const std::size_t rows = basis.rows();
  std::vector<double> data(rows);
  for (std::size_t i = 0; i < response.size(); ++i) {
    data[2 * i] = response.impedance_ohm[i].real() / response.sigma_ohm[i];
    data[2 * i + 1] = response.impedance_ohm[i].imag() / response.sigma_ohm[i];
  }
  const double data_norm = std::sqrt(dot(data, data));

  // Five decades beyond the band the functions differ from their limits by less than 1e-5, and a
  // mixture of limit and edge imitates everything beyond the edge to 1e-10.
  const auto [f_lo, f_hi] =
      std::minmax_element(response.frequency_hz.begin(), response.frequency_hz.end());
  const double x_lo = std::log(2 * std::numbers::pi * *f_lo * 1e-5);
  const double x_hi = std::log(2 * std::numbers::pi * *f_hi * 1e5);
  const auto steps = static_cast<std::size_t>(
      std::ceil((x_hi - x_lo) / std::log(10.0) * options.points_per_decade));
  std::vector<double> grid{-infinity, infinity};
  for (std::size_t k = 0; k <= steps; ++k)
    grid.push_back(x_lo + (x_hi - x_lo) * static_cast<double>(k) / static_cast<double>(steps));

  Matrix a;
  a.rows = rows;
  std::vector<double> length;
  const auto append = [&](double x) {
    a.values.resize(a.values.size() + rows);
    length.push_back(basis.column(x, a.values.data() + a.cols * rows));
    ++a.cols;
  };
  for (double x : grid) append(x);

  DplusResult result;
  solvers::NnlsResult fit;
  std::vector<std::size_t> start;
  for (int pass = 0; pass < options.max_passes; ++pass) {
    fit = solvers::nnls(a.values, data, 1e-15 * data_norm, start);
    const auto& r = fit.residual;

    // The largest value of the dual function anywhere, and the points to add.
    std::vector<double> sorted(grid.begin() + 2, grid.end());
    std::sort(sorted.begin(), sorted.end());
    double largest = 0;
    for (std::size_t j = 0; j < 2; ++j) {
      double g = 0;
      for (std::size_t i = 0; i < rows; ++i) g += a(i, j) * r[i];
      largest = std::max(largest, g);
    }
    std::vector<double> fresh;
    Dual left = basis.dual(sorted[0], r);
    largest = std::max(largest, left.value);
    for (std::size_t k = 1; k < sorted.size(); ++k) {
      const Dual right = basis.dual(sorted[k], r);
      largest = std::max(largest, right.value);
      if (left.derivative > 0 && right.derivative < 0) {
        const double x = find_maximum(basis, r, sorted[k - 1], sorted[k]);
        const double g = basis.dual(x, r).value;
        largest = std::max(largest, g);
        if (g > 0 && x > sorted[k - 1] && x < sorted[k]) fresh.push_back(x);
      }
      left = right;
    }

    result.chi2 = dot(r, r);
    std::vector<double> y = r;
    for (double& v : y) v -= largest;
    result.chi2_lower = std::clamp(2 * dot(y, data) - dot(y, y), 0.0, result.chi2);
    result.converged = result.chi2 - result.chi2_lower <=
                       options.relative_gap * result.chi2 + options.absolute_gap;
    if (result.converged || fresh.empty()) break;
    start = fit.active;
    for (double x : fresh) {
      grid.push_back(x);
      append(x);
    }
  }

  std::vector<std::pair<double, double>> sheets;
  for (std::size_t j : fit.active) {
    const double w = basis.weight(grid[j], fit.x[j], length[j]);
    if (grid[j] == infinity)
      result.a_infinity = w;
    else
      sheets.emplace_back(std::exp(grid[j]), w);
  }
  std::sort(sheets.begin(), sheets.end());
  for (const auto& [lambda, w] : sheets) {
    result.lambda.push_back(lambda);
    result.weight.push_back(w);
  }
  result.rms = std::sqrt(result.chi2 / static_cast<double>(rows));
  result.impedance_ohm =
      dplus_impedance(response.frequency_hz, result.a_infinity, result.lambda, result.weight);
  return result;
}

std::vector<std::complex<double>> dplus_impedance(const std::vector<double>& frequency_hz,
                                                  double a_infinity,
                                                  const std::vector<double>& lambda,
                                                  const std::vector<double>& weight) {
  std::vector<std::complex<double>> impedance;
  for (double f : frequency_hz) {
    const std::complex<double> iw(0, 2 * std::numbers::pi * f);
    std::complex<double> sum = a_infinity;
    for (std::size_t n = 0; n < lambda.size(); ++n) sum += weight[n] / (lambda[n] + iw);
    impedance.push_back(iw * mu0 * sum);
  }
  return impedance;
}

}  // namespace tessera::inversion
