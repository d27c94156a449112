// SPDX-License-Identifier: Apache-2.0
//
// With e(k) = 2 pi k_e/V exp(-k^2/4 beta^2)/k^2 B |Q^|^2 and phi the potential on the grid:
//
//   f_ic = -q_i sum_b K_b (h^-1)_cb sum_g phi D_b(M M M)
//   W_ab = sum_k e(k) [delta_ab - 2 (1/k^2 + 1/4 beta^2) k_a k_b]
#include "pme_run.h"

#include "nonbonded/pme_engine.h"
#include "tessera/molecular/pme.h"

#include <atomic>
#include <numbers>
#include <optional>

namespace tessera::molecular {
namespace {

using std::numbers::pi;

template <class T>
class Run final : public PmeRun {
 public:
  Run(const System& s, const Nonbonded& o, const Domain* domain)
      : options_(o),
        charge_(s.atoms.charge_e),
        engine_(o.pme_order, ewald_beta(o), s.coulomb_constant / o.epsilon_r),
        domain_(domain) {
    engine_.set_charges(charge_.data(), charge_.size());
    if (domain) ranks_.emplace(*domain);
  }

  void add(const Vec3* x, const Box& box, bool energies, Sums& sums) override {
    const std::array<int, 3> points = pme_grid(options_, box);
    engine_.set_box(points, box.edge);
    if (domain_) follow_domain(points);
    engine_.place(x->data());
    engine_.convolve(energies);
    std::atomic<bool> out_of_range = false;
    const PmeGrid<T>& g = engine_.grid();
    force_.resize(g.atoms.size());
    engine_.gather([&](std::size_t begin, std::size_t end) {
      Sums own;
      own.scale = sums.scale;
      for (std::size_t at = begin; at < end; ++at) {
        const double q = engine_.charge()[static_cast<std::size_t>(g.atoms[at].atom)];
        for (std::size_t c = 0; c < 3; ++c) {
          double f = 0;
          for (std::size_t b = 0; b <= c; ++b)
            f -= q * engine_.by_fraction()[c][b] * static_cast<double>(g.felt[at][b]);
          force_[at][c] = own.units(f);
        }
      }
      if (own.out_of_range) out_of_range = true;
    });
    sums.out_of_range |= out_of_range;
    if (energies && (!ranks_ || ranks_->is_first())) add_energies(sums);
  }
  void add_forces(std::size_t begin, std::size_t end, std::int64_t* force) const override {
    for (std::size_t i = begin; i < end; ++i, force += 3)
      if (const std::int32_t at = engine_.slots()[i]; at >= 0)
        for (std::size_t c = 0; c < 3; ++c) force[c] += force_[static_cast<std::size_t>(at)][c];
  }

 private:
  /// The atoms that it has now, and the grid that they need.
  void follow_domain(const std::array<int, 3>& points) {
    if (domain_->version() == version_ && points == points_) return;
    version_ = domain_->version();
    points_ = points;
    std::vector<double> own;
    for (const std::int32_t i : domain_->own()) own.push_back(charge_[static_cast<std::size_t>(i)]);
    engine_.take(own);
    engine_.divide(*ranks_);
  }
  void add_energies(Sums& sums) {
    const std::array<double, pme_moments> m = PmeEngine<T>::moments_of(engine_.grid());
    const Matrix<double>& inv = engine_.inverse();
    sums.add_energy(Term::coulomb_reciprocal, m[0]);
    // n_a n_b to k_c k_d, k = 2 pi h^-1 n
    Matrix<double> w{};
    for (std::size_t c = 0; c < 3; ++c) {
      w[c][c] += m[0];
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t e = 0; e < 6; ++e) {
          const auto [a, b] = pairs_of_axes[e];
          const double both = inv[c][a] * inv[d][b] + (a == b ? 0 : inv[c][b] * inv[d][a]);
          w[c][d] -= 8 * pi * pi * both * m[1 + e];
        }
    }
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t d = 0; d < 3; ++d) sums.virial[3 * c + d].add(w[c][d], sums.scale.energies);
  }

  Nonbonded options_;
  std::vector<double> charge_;  ///< of all atoms of the system
  PmeEngine<T> engine_;
  const Domain* domain_;
  std::optional<PmeRanks<T>> ranks_;
  std::uint64_t version_ = 0;  ///< of the domain
  std::array<int, 3> points_{};
  std::vector<std::array<std::int64_t, 3>> force_;  ///< in the order of the grid's atoms
};

}  // namespace

std::unique_ptr<PmeRun> pme_run(const System& system, const Nonbonded& options, bool single,
                                const Domain* domain) {
  if (single) return std::make_unique<Run<float>>(system, options, domain);
  return std::make_unique<Run<double>>(system, options, domain);
}

}  // namespace tessera::molecular
