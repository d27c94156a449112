// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_stability.h"

#include "base/eigenvalues.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_gain.h"

#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// One pair of axes: the E side and the H side of a wave.
struct MaterialSide {
  double background;  // eps or mu
  double loss;        // r or r_m
};

/// Similarity by powers of two until rows and columns are of like size (Parlett and Reinsch 1969):
/// terms with large opposite residues would otherwise cost the eigenvalues their digits.
void balance(MatrixXd& m) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Index k = 0; k < m.rows(); ++k) {
      const double own = std::abs(m(k, k));
      const double row = m.row(k).cwiseAbs().sum() - own, column = m.col(k).cwiseAbs().sum() - own;
      if (!(row > 0 && column > 0)) continue;
      const double factor = std::exp2(std::round(std::log2(std::sqrt(row / column))));
      if (row / factor + column * factor >= 0.95 * (row + column)) continue;
      m.row(k) /= factor;
      m.col(k) *= factor;
      changed = true;
    }
  }
}

double spectral_radius(MatrixXd m) {
  if (!m.allFinite()) return kInfinite;
  balance(m);
  return eigenvalues_of(m).cwiseAbs().maxCoeff();
}

/// The matrix of the header on the state (E, c mu0 H, Q_1, ...): a real Q takes one row, a
/// complex one its real and its imaginary part, a double one Q and y. `root_k` is sqrt(K) = c dt
/// sqrt(L).
MatrixXd step_matrix(const std::vector<PoleUpdate>& updates, const std::vector<bool>& real,
                     MaterialSide electric, MaterialSide magnetic, double root_k) {
  Index size = 2;
  double s = 0;
  const auto single = [&](std::size_t p) { return real[p] && updates[p].shear == 0; };
  for (std::size_t p = 0; p < updates.size(); ++p) {
    size += single(p) ? 1 : 2;
    s += (real[p] ? 1 : 2) * updates[p].beta.real();
  }
  MatrixXd m = MatrixXd::Zero(size, size);
  const double h_mass = magnetic.background + magnetic.loss;
  m(1, 1) = (magnetic.background - magnetic.loss) / h_mass;
  m(1, 0) = -root_k / h_mass;

  m.row(0) = root_k * m.row(1);
  m(0, 0) += electric.background - electric.loss - s;
  Index at = 2;
  for (std::size_t p = 0; p < updates.size(); ++p) {
    const Complex back = 1.0 - updates[p].alpha;
    const double pair = real[p] ? 1 : 2;
    m(0, at++) = pair * back.real();
    if (!single(p)) m(0, at++) = -pair * (back.imag() + updates[p].shear);
  }
  m.row(0) /= electric.background + electric.loss + s;

  RowVectorXd e_sum = m.row(0);  // E' + E
  e_sum[0] += 1;
  at = 2;
  for (std::size_t p = 0; p < updates.size(); ++p) {
    const auto& [alpha, beta, shear] = updates[p];
    m.row(at) = beta.real() * e_sum;
    m(at, at) += alpha.real();
    if (!single(p)) {
      m.row(at + 1) = beta.imag() * e_sum;
      m(at, at + 1) += shear - alpha.imag();
      m(at + 1, at) += alpha.imag();
      m(at + 1, at + 1) += alpha.real();
      // Of a double pole at zero P acts on nothing, and grows where a current flows for ever.
      if (shear != 0 && alpha == 1.0) m.row(at).setZero();
      ++at;
    }
    ++at;
  }
  return m;
}

/// The different (background, loss) among the axes.
std::vector<MaterialSide> sides(const std::array<double, 3>& background,
                                const std::array<double, 3>& conductivity,
                                double half_dt_over_unit) {
  std::vector<MaterialSide> found;
  for (std::size_t k = 0; k < 3; ++k) {
    const MaterialSide side{background[k], conductivity[k] * half_dt_over_unit};
    const auto same = [&](const MaterialSide& o) {
      return o.background == side.background && o.loss == side.loss;
    };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(side);
  }
  return found;
}

/// What the proof in the header needs.
bool is_passive(const Medium& m) {
  const auto decays = [](const PoleResidue& p) {
    return p.a.real() < 0 || is_lossless_resonance(p) ||
           (p.a == 0.0 && p.c.real() >= 0 && p.second >= 0);
  };
  const auto not_negative = [](const std::array<double, 3>& v) {
    return std::all_of(v.begin(), v.end(), [](double x) { return x >= 0; });
  };
  return std::all_of(m.poles.begin(), m.poles.end(), decays) && not_negative(m.sigma) &&
         not_negative(m.sigma_m) && largest_gain(m).passive;
}

double least(const std::array<double, 3>& v) { return *std::min_element(v.begin(), v.end()); }

}  // namespace

double step_amplification(const Medium& medium, double dt_s, double curl_curl) {
  if (!(dt_s > 0 && curl_curl >= 0 && std::isfinite(dt_s) && std::isfinite(curl_curl)))
    throw Error(
        fmt::format("[step_amplification] expected dt > 0 s and a curl-curl eigenvalue >= 0, got "
                    "{} s and {}",
                    dt_s, curl_curl));
  if (medium.pec) return 1;  // its fields are zero
  std::vector<PoleUpdate> updates;
  std::vector<bool> real;
  for (const PoleResidue& p : medium.poles) {
    updates.push_back(pole_update(p, dt_s));
    real.push_back(is_real(p));
  }
  const double root_k = speed_of_light * dt_s * std::sqrt(curl_curl);
  double worst = 0;
  for (const MaterialSide& e : sides(medium.eps, medium.sigma, dt_s / (2 * vacuum_permittivity)))
    for (const MaterialSide& h : sides(medium.mu, medium.sigma_m, dt_s / (2 * vacuum_permeability)))
      worst = std::max(worst, spectral_radius(step_matrix(updates, real, e, h, root_k)));
  return worst;
}

double worst_amplification(const Medium& medium, double dt_s, double curl_curl_max) {
  double worst = step_amplification(medium, dt_s, 0);
  for (int k = 1; k <= 20 && worst < kInfinite; ++k) {
    const double linear = k / 20.0, geometric = std::pow(10.0, -0.4 * k);
    for (double share : {linear, geometric})
      worst = std::max(worst, step_amplification(medium, dt_s, share * curl_curl_max));
  }
  return worst;
}

double max_stable_dt(const Medium& medium, double curl_curl_max) {
  if (!(curl_curl_max > 0 && std::isfinite(curl_curl_max)))
    throw Error(
        fmt::format("[max_stable_dt] expected a largest curl-curl eigenvalue > 0, got {}: take "
                    "curl_curl_bound of the grid",
                    curl_curl_max));
  if (medium.pec) return kInfinite;
  const double slowness = least(medium.eps) * least(medium.mu);
  if (!(least(medium.eps) > 0 && least(medium.mu) > 0 && std::isfinite(slowness))) return 0;
  const double limit = 2 * std::sqrt(slowness / curl_curl_max) / speed_of_light;
  // At the limit itself two eigenvalues meet at -1, where rounding moves them by its square root.
  double low = 1.0 / 1024, high = 1 - 1e-9;
  if (is_passive(medium)) return high * limit;
  const auto stable = [&](double share) {
    return worst_amplification(medium, share * limit, curl_curl_max) <= 1 + kAmplificationTolerance;
  };
  if (stable(high)) return high * limit;
  if (!stable(low)) return 0;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (stable(middle) ? low : high) = middle;
  }
  return low * limit;
}

double max_stable_dt(std::span<const Medium> media, double curl_curl_max) {
  double stable = kInfinite;
  for (const Medium& m : media) stable = std::min(stable, max_stable_dt(m, curl_curl_max));
  return stable;
}

}  // namespace tessera::electromagnetics
