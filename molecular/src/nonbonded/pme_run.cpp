// SPDX-License-Identifier: Apache-2.0
//
// With e(k) = 2 pi k_e/V exp(-k^2/4 beta^2)/k^2 B |Q^|^2 and phi the potential on the grid:
//
//   f_ic = -q_i sum_b K_b (h^-1)_cb sum_g phi D_b(M M M),   W_ab = sum_k e(k) [delta_ab - 2 (1/k^2 + 1/4 beta^2) k_a k_b]
#include "pme_run.h"

#include "nonbonded/matrix.h"
#include "nonbonded/pme_kernels.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/pme.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

using std::numbers::pi;
constexpr std::array<std::array<std::size_t, 2>, 6> pairs_of_axes = {{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};
constexpr std::size_t rounded_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

template <class T>
class Run final : public PmeRun {
 public:
  Run(const System& s, const Nonbonded& o) : options_(o), charge_(s.atoms.charge_e), ke_(s.coulomb_constant / o.epsilon_r), beta_(ewald_beta(o)), kernels_(pme_kernels<T>()) {
    if (o.pme_order < 4 || o.pme_order > most_pme_order) throw Error(fmt::format("[pme] runs take splines of order 4 to {}, got {}", most_pme_order, o.pme_order));
    double most = 0, all = 0;
    for (const double q : charge_) {
      most = std::max(most, std::abs(q));
      all += std::abs(q);
      total_ += q;
    }
    // Quanta are powers of two. Single: 2^-26 of the largest charge, which leaves room for 32 of them on one point; double: the finest
    // by which no one contribution reaches 2^50 and no point 2^62.
    const auto power = [](double q) { return q > 0 ? std::ilogb(q) + 1 : 0; };
    grid_.quantum = std::ldexp(1.0, std::is_same_v<T, float> ? power(most) - 26 : std::max(power(most) - 49, power(all) - 62));
    grid_.decay = 0.25 / (beta_ * beta_);
    grid_.order = static_cast<std::size_t>(o.pme_order);
    grid_.atoms.resize(charge_.size());
    grid_.slope.resize(charge_.size());
  }

  void add(const Vec3* x, const Box& box, bool energies, Sums& sums) override {
    if (const std::array<int, 3> points = pme_grid(options_, box); points != points_) lay_out(points);
    if (!(box == box_)) set_influence(box);
    place(x);
    const auto slabs = static_cast<std::int64_t>(grid_.slabs.size()), line_pairs = static_cast<std::int64_t>(grid_.largest.size());
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    parallel_chunks(slabs, [&](std::int64_t s) { kernels_.spread(grid_, at(s)); });
    parallel_chunks(line_pairs, [&](std::int64_t p) { kernels_.forward(grid_, at(p)); });
    check_range();
    parallel_chunks(static_cast<std::int64_t>(grid_.half), [&](std::int64_t k) { kernels_.convolve(grid_, at(k), energies); });
    parallel_chunks(line_pairs, [&](std::int64_t p) { kernels_.backward(grid_, at(p)); });
    std::atomic<bool> out_of_range = false;
    parallel_chunks(slabs, [&](std::int64_t s) {
      kernels_.gather(grid_, at(s));
      Sums own;
      own.force = sums.force;  // of atoms that no other slab has
      for (const std::int32_t m : grid_.members[at(s)]) {
        const auto i = static_cast<std::size_t>(m);
        const std::array<T, 3>& slope = grid_.slope[i];
        Vec3 f{};
        for (std::size_t c = 0; c < 3; ++c)
          for (std::size_t b = 0; b <= c; ++b) f[c] -= charge_[i] * by_fraction_[c][b] * static_cast<double>(slope[b]);
        own.add_force(m, f);
      }
      if (own.out_of_range) out_of_range = true;
    });
    sums.out_of_range |= out_of_range;
    if (energies) add_energies(sums);
  }

 private:
  void lay_out(const std::array<int, 3>& points) {
    PmeGrid<T>& g = grid_;
    for (std::size_t a = 0; a < 3; ++a) {
      if (points[a] < options_.pme_order) throw Error(fmt::format("[pme] a grid of {} points is too coarse for splines of order {}: take at least as many points", points[a], options_.pme_order));
      g.k[a] = static_cast<std::size_t>(points[a]);
      moduli_[a] = spline_moduli(options_.pme_order, points[a]);
    }
    const auto [kx, ky, kz] = g.k;
    g.half = (kx + 1) / 2;
    g.row = rounded_up(kz + 16, 16);
    g.plane = ky * g.row + 16;  // no power of two: planes side by side would share lines of the cache
    g.wave_row = rounded_up(kz, 16);
    g.wave_plane = rounded_up(ky, 4) * 2 * g.wave_row + 16;
    g.turned_row = rounded_up(ky, 16);
    g.x = LineFft<T>(kx);
    g.y = LineFft<T>(ky);
    g.z = LineFft<T>(kz);
    const std::size_t n_slabs = std::max<std::size_t>(1, kx / 8);
    g.slabs.clear();
    g.tiles.clear();
    g.parts.assign(kx, {});
    g.slab_of.assign(kx, 0);
    for (std::size_t s = 0; s < n_slabs; ++s) {
      const std::size_t first = s * kx / n_slabs, width = (s + 1) * kx / n_slabs - first;
      g.slabs.push_back({first, width});
      g.tiles.emplace_back((width + g.order - 1) * g.plane);
      for (std::size_t x = 0; x < width + g.order - 1; ++x) g.parts[(first + x) % kx].push_back({s, x});
      for (std::size_t x = 0; x < width; ++x) g.slab_of[first + x] = s;
    }
    g.members.assign(n_slabs, {});
    g.wrapped_x.clear();
    g.wrapped_y.clear();
    for (std::size_t x = 0; x < kx + g.order; ++x) g.wrapped_x.push_back(x % kx * g.plane);
    for (std::size_t y = 0; y < ky + g.order; ++y) g.wrapped_y.push_back(y % ky * g.row);
    g.waves = Aligned<T>(g.half * g.wave_plane);
    g.potential = Aligned<T>(kx * g.plane);
    g.influence = Aligned<T>(g.half * kz * g.turned_row);
    g.moments.resize(g.half);
    g.largest.resize((ky + 1) / 2);
    points_ = points;
    box_ = Box{};
  }

  void set_influence(const Box& box) {
    PmeGrid<T>& g = grid_;
    inverse_ = inverse<double>(box.edge);
    volume_ = volume_nm3(box);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t b = 0; b < 3; ++b) by_fraction_[c][b] = inverse_[c][b] * points_[b];
    for (std::size_t e = 0; e < 6; ++e) {
      const auto [a, b] = pairs_of_axes[e];
      g.metric[e] = 0;
      for (std::size_t c = 0; c < 3; ++c) g.metric[e] += (a == b ? 1 : 2) * 4 * pi * pi * inverse_[c][a] * inverse_[c][b];
    }
    const double front = 4 * pi * ke_ / volume_ * g.quantum;
    // Without slant the exponential is a product of one factor an axis.
    const bool slanted = g.metric[3] != 0 || g.metric[4] != 0 || g.metric[5] != 0;
    std::array<std::vector<double>, 3> number, factor;
    for (std::size_t a = 0; a < 3; ++a)
      for (int n = 0; n < points_[a]; ++n) {
        number[a].push_back(2 * n <= points_[a] ? n : n - points_[a]);
        factor[a].push_back((2 * n == points_[a] ? 0.0 : slanted ? 1.0 : std::exp(-g.decay * g.metric[a] * number[a].back() * number[a].back())) /
                            (2 * n == points_[a] ? 1.0 : moduli_[a][static_cast<std::size_t>(n)]));
      }
    parallel_chunks(static_cast<std::int64_t>(g.half), [&](std::int64_t chunk) {
      const auto x = static_cast<std::size_t>(chunk);
      const double nx = number[0][x];
      for (std::size_t z = 0; z < g.k[2]; ++z) {
        const double nz = number[2][z], along_xz = g.metric[0] * nx * nx + g.metric[2] * nz * nz + g.metric[4] * nx * nz, cross = g.metric[3] * nx + g.metric[5] * nz;
        const double share = front * factor[0][x] * factor[2][z];
        T* const to = g.influence.get() + (x * g.k[2] + z) * g.turned_row;
        for (std::size_t y = 0; y < g.k[1]; ++y) {
          const double ny = number[1][y], k2 = along_xz + (cross + g.metric[1] * ny) * ny;
          to[y] = static_cast<T>(k2 == 0 ? 0.0 : share * factor[1][y] * (slanted ? std::exp(-g.decay * k2) : 1.0) / k2);
        }
      }
    });
    box_ = box;
  }

  /// Where atoms are on the grid, and which slab has them.
  void place(const Vec3* x) {
    PmeGrid<T>& g = grid_;
    constexpr std::size_t of_a_chunk = 2048;
    const std::size_t n = charge_.size(), chunks = (n + of_a_chunk - 1) / of_a_chunk, n_slabs = g.slabs.size();
    slab_.resize(n);
    first_.assign(chunks * n_slabs, 0);
    const auto each = [&](std::int64_t chunk, auto&& f) {
      for (std::size_t i = static_cast<std::size_t>(chunk) * of_a_chunk; i < std::min(n, (static_cast<std::size_t>(chunk) + 1) * of_a_chunk); ++i) f(i);
    };
    parallel_chunks(static_cast<std::int64_t>(chunks), [&](std::int64_t chunk) {
      std::int32_t* const count = first_.data() + static_cast<std::size_t>(chunk) * n_slabs;
      each(chunk, [&](std::size_t i) {
        slab_[i] = -1;
        if (charge_[i] == 0) return;
        PmeAtom<T>& atom = g.atoms[i];
        for (std::size_t b = 0; b < 3; ++b) {
          double s = 0;
          for (std::size_t a = b; a < 3; ++a) s += x[i][a] * inverse_[a][b];
          const double u = (s - std::floor(s)) * points_[b], cell = std::floor(u);
          if (!(u >= 0 && u <= points_[b])) return;  // not a number: other terms name the atom
          atom.w[b] = static_cast<T>(u - cell);
          std::int32_t p = static_cast<std::int32_t>(cell) - static_cast<std::int32_t>(g.order) + 1;
          p += p < 0 ? points_[b] : 0;
          atom.point[b] = p >= points_[b] ? p - points_[b] : p;
        }
        const std::size_t slab = g.slab_of[static_cast<std::size_t>(atom.point[0])];
        atom.point[0] -= static_cast<std::int32_t>(g.slabs[slab].first);
        atom.charge = static_cast<T>(charge_[i] / g.quantum);
        slab_[i] = static_cast<std::int32_t>(slab);
        ++count[slab];
      });
    });
    for (std::size_t s = 0; s < n_slabs; ++s) {
      std::int32_t sum = 0;
      for (std::size_t c = 0; c < chunks; ++c) sum += std::exchange(first_[c * n_slabs + s], sum);
      g.members[s].resize(static_cast<std::size_t>(sum));
    }
    parallel_chunks(static_cast<std::int64_t>(chunks), [&](std::int64_t chunk) {
      std::int32_t* const next = first_.data() + static_cast<std::size_t>(chunk) * n_slabs;
      each(chunk, [&](std::size_t i) {
        if (slab_[i] < 0) return;
        const auto s = static_cast<std::size_t>(slab_[i]);
        g.members[s][static_cast<std::size_t>(next[s]++)] = static_cast<std::int32_t>(i);
      });
    });
  }

  /// A point whose sum of whole numbers went around shows as one beyond half of the range, or in the total charge, which is the wave zero.
  void check_range() const {
    if constexpr (std::is_same_v<T, float>) {
      const double total = total_ / grid_.quantum;
      if (*std::ranges::max_element(grid_.largest) < 0x1p30f && std::abs(wave_zero() - total) < 0x1p31) return;
      throw Error(fmt::format("[pme] charges of more than {:g} e lie upon one point of the grid, beyond the range of single precision: atoms lie upon each other, or the run needs precision = f64",
                              0x1p30 * grid_.quantum));
    }
  }
  double wave_zero() const {
    double sum = 0;
    for (std::size_t y = 0; y < grid_.k[1]; ++y)
      for (std::size_t z = 0; z < grid_.k[2]; ++z) sum += static_cast<double>(grid_.wave(0, y)[z]);
    return sum;
  }

  void add_energies(Sums& sums) const {
    std::array<double, pme_moments> m{};
    for (const auto& of_plane : grid_.moments)
      for (std::size_t k = 0; k < pme_moments; ++k) m[k] += of_plane[k] * grid_.quantum;
    sums.add_energy(Term::coulomb_reciprocal, m[0]);
    // n_a n_b to k_c k_d, k = 2 pi h^-1 n
    Matrix<double> w{};
    for (std::size_t c = 0; c < 3; ++c) {
      w[c][c] += m[0];
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t e = 0; e < 6; ++e) {
          const auto [a, b] = pairs_of_axes[e];
          const double both = inverse_[c][a] * inverse_[d][b] + (a == b ? 0 : inverse_[c][b] * inverse_[d][a]);
          w[c][d] -= 8 * pi * pi * both * m[1 + e];
        }
    }
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t d = 0; d < 3; ++d) sums.virial[3 * c + d] += to_fixed(w[c][d]);
  }

  Nonbonded options_;
  std::vector<double> charge_;
  double ke_, beta_, total_ = 0, volume_ = 0;
  PmeKernels<T> kernels_;
  PmeGrid<T> grid_;
  std::array<int, 3> points_{};
  std::array<std::vector<double>, 3> moduli_;
  Box box_;
  Matrix<double> inverse_{}, by_fraction_{};  ///< h^-1; du_b/dx_c
  std::vector<std::int32_t> slab_, first_;    ///< of each atom; where chunks begin in each slab
};

}  // namespace

std::unique_ptr<PmeRun> pme_run(const System& system, const Nonbonded& options, bool single) {
  if (single) return std::make_unique<Run<float>>(system, options);
  return std::make_unique<Run<double>>(system, options);
}

}  // namespace tessera::molecular
