// SPDX-License-Identifier: Apache-2.0
//
// U = sum over excluded pairs of k_e q_i q_j c(s), c = -erf(beta r)/r, s = r^2, with first and
// second derivatives:
//
//   g = 2 k_e q_i q_j c' d,   dU/dq_i = k_e q_j c
//   along dd, dq: ds = 2 d.dd,  dg = 2 k_e [(q_i q_j c'' ds + d(q_i q_j) c') d + q_i q_j c' dd],
//   dU/dq_i: k_e (dq_j c + q_j c' ds)
#include "energy/generic.h"
#include "nonbonded/excluded_batch.h"
#include "system/box_of.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/ewald.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::molecular {
namespace {

class EwaldExcluded final : public EnergyFunction {
 public:
  EwaldExcluded(const System& s, const Nonbonded& o)
      : n_(static_cast<Index>(s.n_atoms())),
        pairs_(s.exclusions),
        ke_(s.coulomb_constant / o.epsilon_r),
        shapes_(ewald_beta(o)) {}
  const char* name() const override { return "ewald_excluded"; }
  std::vector<tessera::Shape> shapes() const override { return {{n_, 3}, {3, 3}, {n_}}; }

  double value(Arrays p) const override {
    std::vector<double> u(pairs_.size());
    each(p, true, false,
         [&](std::size_t pair, std::size_t i, std::size_t j, const ExcludedBatch& b,
             std::size_t k) { u[pair] = -strength(p, i, j) * b.value[k]; });
    return std::accumulate(u.begin(), u.end(), 0.0);
  }
  void gradient(Arrays p, Results g) const override { value_and_gradient(p, g); }
  double value_and_gradient(Arrays p, Results g) const override {
    std::vector<Given> given(pairs_.size());
    std::vector<double> u(pairs_.size());
    each(
        p, true, false,
        [&](std::size_t pair, std::size_t i, std::size_t j, const ExcludedBatch& b, std::size_t k) {
          const double qq = strength(p, i, j), c = derivatives(b, k)[0],
                       du = shapes_.beta() * shapes_.beta() * qq * b.derivative[k];
          u[pair] = -qq * b.value[k];
          given[pair] = {{b.image[0][k], b.image[1][k], b.image[2][k]},
                         {du * b.d[0][k], du * b.d[1][k], du * b.d[2][k]},
                         ke_ * p[2][j] * c,
                         ke_ * p[2][i] * c};
        });
    spread(g, given);
    return std::accumulate(u.begin(), u.end(), 0.0);
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    std::vector<Given> given(pairs_.size());
    each(
        p, v[2] || w[2], true,
        [&](std::size_t pair, std::size_t i, std::size_t j, const ExcludedBatch& b, std::size_t k) {
          const auto [c, c1, c2] = derivatives(b, k);
          const Vec3 image = {b.image[0][k], b.image[1][k], b.image[2][k]};
          Vec3 dd{};
          double ds = 0;
          for (std::size_t a = 0; a < 3; ++a) {
            if (v[0]) dd[a] = v[0][3 * i + a] - v[0][3 * j + a];
            if (v[1])
              for (std::size_t m = 0; m < 3; ++m) dd[a] -= image[m] * v[1][3 * m + a];
            ds += 2 * b.d[a][k] * dd[a];
          }
          const double qi = p[2][i], qj = p[2][j], dqi = v[2] ? v[2][i] : 0,
                       dqj = v[2] ? v[2][j] : 0;
          const double du = 2 * ke_ * qi * qj * c1,
                       moved = 2 * ke_ * (qi * qj * c2 * ds + (dqi * qj + qi * dqj) * c1);
          Given& to = given[pair];
          to = {image, {}, ke_ * (dqj * c + qj * c1 * ds), ke_ * (dqi * c + qi * c1 * ds)};
          for (std::size_t a = 0; a < 3; ++a) to.gradient[a] = moved * b.d[a][k] + du * dd[a];
        });
    spread(w, given);
  }
  Tensor generic(std::span<const Tensor> p) const override {
    std::vector<std::int32_t> left, right;
    for (const auto& [a, b] : pairs_) {
      left.push_back(a);
      right.push_back(b);
    }
    const Tensor i = generic::indices(left), j = generic::indices(right),
                 d = generic::displacement(p[0], p[1], i, j), r = sqrt(generic::dot(d, d));
    return -ke_ * sum(take(p[2], i) * take(p[2], j) * erf(shapes_.beta() * r) / r);
  }

 private:
  /// k_e q_i q_j beta, in the order of operations of excluded_run.cpp.
  double strength(Arrays p, std::size_t i, std::size_t j) const {
    return ke_ * p[2][i] * p[2][j] * shapes_.beta();
  }
  /// c, c', c''.
  std::array<double, 3> derivatives(const ExcludedBatch& b, std::size_t k) const {
    const double beta = shapes_.beta(), beta3 = beta * beta * beta;
    return {-beta * b.value[k], 0.5 * beta3 * b.derivative[k],
            0.5 * beta3 * beta * beta * b.second[k]};
  }
  /// f(pair, i, j, batch, number in it) of every pair.
  template <class F>
  void each(Arrays p, bool values, bool curves, F&& f) const {
    const Box box = box_of(p[1]);
    constexpr std::size_t of_a_chunk = 16 * ExcludedBatch::width;
    parallel_chunks(static_cast<std::int64_t>((pairs_.size() + of_a_chunk - 1) / of_a_chunk),
                    [&](std::int64_t chunk) {
                      ExcludedBatch batch{};
                      const std::size_t first = static_cast<std::size_t>(chunk) * of_a_chunk,
                                        last = std::min(first + of_a_chunk, pairs_.size());
                      for (std::size_t pair = first; pair < last; pair += ExcludedBatch::width) {
                        const std::size_t many = std::min(ExcludedBatch::width, last - pair);
                        shapes_(p[0], box, pairs_.data() + pair, many, values, curves, batch);
                        for (std::size_t k = 0; k < many; ++k)
                          f(pair + k, static_cast<std::size_t>(pairs_[pair + k][0]),
                            static_cast<std::size_t>(pairs_[pair + k][1]), batch, k);
                      }
                    });
  }
  /// What one pair gives.
  struct Given {
    Vec3 image, gradient;
    double by_i, by_j;
  };
  void spread(Results g, const std::vector<Given>& given) const {
    for (std::size_t pair = 0; pair < given.size(); ++pair) {
      const auto i = static_cast<std::size_t>(pairs_[pair][0]),
                 j = static_cast<std::size_t>(pairs_[pair][1]);
      const auto& [image, gradient, by_i, by_j] = given[pair];
      for (std::size_t c = 0; c < 3; ++c) {
        if (g[0]) {
          g[0][3 * i + c] += gradient[c];
          g[0][3 * j + c] -= gradient[c];
        }
        if (g[1])
          for (std::size_t k = 0; k < 3; ++k) g[1][3 * k + c] -= image[k] * gradient[c];
      }
      if (g[2]) {
        g[2][i] += by_i;
        g[2][j] += by_j;
      }
    }
  }

  Index n_;
  std::vector<std::array<std::int32_t, 2>> pairs_;
  double ke_;
  ExcludedShapes shapes_;
};

}  // namespace

EnergyPtr ewald_excluded_energy(const System& system, const Nonbonded& options) {
  return system.exclusions.empty() ? nullptr : std::make_shared<EwaldExcluded>(system, options);
}

}  // namespace tessera::molecular
