// SPDX-License-Identifier: Apache-2.0
//
// An atom with up to four rigid bonds that meet nothing else: rigid hydrogens of one carbon.
// Newton's method on a dense system
//
//   A_kl = d_k.r_l/m_0 + delta_kl d_k.r_k/m_k,   A lambda = (L^2 - d^2)/2
//   d_k += sum_l lambda_l r_l/m_0 + lambda_k r_k/m_k
//
// with d = z_0 - z_k in place of positions.
#pragma once
#include "constraints/near.h"

#include <array>
#include <cmath>

namespace tessera::molecular {

struct Star {
  static constexpr std::size_t most = 4;
  std::size_t many = 0;
  std::int32_t centre = 0;
  std::array<std::int32_t, most> end{};
  std::array<double, most> length{}, inverse_mass{};
  double inverse_centre = 0;
};

template <std::size_t K>
struct StarSolver {
  using Row = std::array<double, K>;

  /// A_kl of left and right displacements, and the solution of A x = b by elimination (A is nearly
  /// symmetric and definite).
  static Row solve(const Star& s, const std::array<Vec3, K>& left, const std::array<Vec3, K>& right,
                   Row b) {
    std::array<Row, K> a;
    for (std::size_t k = 0; k < K; ++k) {
      for (std::size_t l = 0; l < K; ++l) a[k][l] = s.inverse_centre * dot(left[k], right[l]);
      a[k][k] += s.inverse_mass[k] * dot(left[k], right[k]);
    }
    for (std::size_t p = 0; p < K; ++p) {
      const double inverse = 1 / a[p][p];
      for (std::size_t k = p + 1; k < K; ++k) {
        const double f = a[k][p] * inverse;
        for (std::size_t l = p + 1; l < K; ++l) a[k][l] -= f * a[p][l];
        b[k] -= f * b[p];
      }
    }
    for (std::size_t k = K; k-- > 0;) {
      for (std::size_t l = k + 1; l < K; ++l) b[k] -= a[k][l] * b[l];
      b[k] /= a[k][k];
    }
    return b;
  }
  static std::array<Vec3, K> spokes(const Star& s, const std::vector<Vec3>& x, const Box& box) {
    std::array<Vec3, K> r;
    for (std::size_t k = 0; k < K; ++k) r[k] = between(x, s.centre, s.end[k], s.length[k], box);
    return r;
  }
  /// to += factor (sum_k lambda_k r_k/m_0 at the centre, -lambda_k r_k/m_k at the ends).
  static void pull(const Star& s, const std::array<Vec3, K>& r, const Row& lambda, double factor,
                   std::vector<Vec3>& to) {
    for (std::size_t k = 0; k < K; ++k)
      for (std::size_t c = 0; c < 3; ++c) {
        const double p = factor * lambda[k] * r[k][c];
        to[static_cast<std::size_t>(s.centre)][c] += s.inverse_centre * p;
        to[static_cast<std::size_t>(s.end[k])][c] -= s.inverse_mass[k] * p;
      }
  }
  /// False where it does not converge.
  static bool positions(const Star& s, const std::vector<Vec3>& x, std::vector<Vec3>& y,
                        const Box& box, std::vector<Vec3>* v, double t, double tolerance,
                        int iterations) {
    const std::array<Vec3, K> r = spokes(s, x, box);
    std::array<Vec3, K> d = spokes(s, y, box);
    Row sum{};
    for (int iteration = 0; iteration <= iterations; ++iteration) {
      Row residual;
      double worst = 0;
      for (std::size_t k = 0; k < K; ++k) {
        const double want = s.length[k] * s.length[k];
        residual[k] = 0.5 * (want - dot(d[k], d[k]));
        const double error = std::abs(residual[k]) / want;
        worst = error <= worst ? worst : error;  // also where it is no number
      }
      if (worst <= tolerance) {
        pull(s, r, sum, 1, y);
        if (v) pull(s, r, sum, 1 / t, *v);
        return true;
      }
      if (!std::isfinite(worst)) return false;
      const Row lambda = solve(s, d, r, residual);
      Vec3 centre{};
      for (std::size_t k = 0; k < K; ++k) {
        sum[k] += lambda[k];
        for (std::size_t c = 0; c < 3; ++c) centre[c] += s.inverse_centre * lambda[k] * r[k][c];
      }
      for (std::size_t k = 0; k < K; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          d[k][c] += centre[c] + s.inverse_mass[k] * lambda[k] * r[k][c];
    }
    return false;
  }
  static void velocities(const Star& s, const std::vector<Vec3>& x, std::vector<Vec3>& v,
                         const Box& box) {
    const std::array<Vec3, K> r = spokes(s, x, box);
    Row speed;
    for (std::size_t k = 0; k < K; ++k) {
      const Vec3 &a = v[static_cast<std::size_t>(s.centre)],
                 &b = v[static_cast<std::size_t>(s.end[k])];
      speed[k] = -((a[0] - b[0]) * r[k][0] + (a[1] - b[1]) * r[k][1] + (a[2] - b[2]) * r[k][2]);
    }
    pull(s, r, solve(s, r, r, speed), 1, v);
  }
};

/// f(StarSolver<K>) for the star's number of bonds.
template <class F>
auto with_solver(const Star& s, F&& f) {
  switch (s.many) {
    case 1:
      return f(StarSolver<1>{});
    case 2:
      return f(StarSolver<2>{});
    case 3:
      return f(StarSolver<3>{});
    default:
      return f(StarSolver<4>{});
  }
}

}  // namespace tessera::molecular
