// SPDX-License-Identifier: Apache-2.0
//
// With phi = the potential on the grid (dU/dQ), e(k) = 2 pi k_e/V exp(-k^2/4 beta^2)/k^2 B |Q^|^2:
//
//   dU/dq_i = sum_g phi M M M,  dU/du_ia = q_i sum_g phi M' M M,
//   dU/dx_ic = sum_b K_b dU/du_ib (h^-1)_cb
//   dU/dh_bc = sum_k e(k) [-(h^-1)_cb + 2 (1/k^2 + 1/4 beta^2) (k h^-1)_b k_c]
//              - sum_i s_ib dU/dx_ic
//
// The Hessian product carries one derivative through: dQ by the derivatives of the splines, dphi by
// one more transform each way, numbers of atoms as duals. What was computed for the last operands
// is kept: value, gradient and Hessian products at one position share it.
#include "tessera/molecular/pme.h"

#include "base/dual.h"
#include "nonbonded/matrix.h"
#include "nonbonded/pme_engine.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <vector>

namespace tessera::molecular {
namespace {

using std::numbers::pi;

void check_points(int points, int order) {
  if (points < order)
    throw Error(
        fmt::format("[pme] a grid of {} points is too coarse for splines of order {}: take at "
                    "least as many points",
                    points, order));
}

template <class T>
Matrix<T> matrix(EnergyFunction::Arrays p, EnergyFunction::Arrays v) {
  Matrix<T> h;
  for (std::size_t a = 0; a < 9; ++a)
    h[a / 3][a % 3] = number<T>(p[1], v.empty() ? nullptr : v[1], a);
  return h;
}
/// dU/dh less what atoms add, from the moments: sum e [-(h^-1)_cb + 2 (1/k^2 + 1/4 beta^2) (k
/// h^-1)_b k_c], k = 2 pi h^-1 n.
template <class T>
Matrix<T> gradient_of_waves(const Matrix<T>& inv, const std::array<T, pme_moments>& m) {
  Matrix<T> n, kk, out;
  for (std::size_t e = 0; e < 6; ++e)
    n[pairs_of_axes[e][0]][pairs_of_axes[e][1]] = n[pairs_of_axes[e][1]][pairs_of_axes[e][0]] =
        m[1 + e];
  const auto zero = [] { return T(0.0); };
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t a = 0; a < 3; ++a) {
      kk[c][a] = zero();
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t e = 0; e < 3; ++e)
          kk[c][a] = kk[c][a] + T(4 * pi * pi) * inv[c][d] * n[d][e] * inv[a][e];
    }
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t c = 0; c < 3; ++c) {
      out[b][c] = zero() - inv[c][b] * m[0];
      for (std::size_t a = 0; a < 3; ++a) out[b][c] = out[b][c] + T(2.0) * inv[a][b] * kk[c][a];
    }
  return out;
}

/// Numbers on the grid are of type Real; what atoms and the box make of them is double.
template <class Real>
class Pme final : public EnergyFunction {
 public:
  Pme(const System& s, const Nonbonded& o, const std::array<int, 3>& grid)
      : n_(static_cast<Index>(s.n_atoms())),
        ke_(s.coulomb_constant / o.epsilon_r),
        beta_(ewald_beta(o)),
        order_(o.pme_order),
        grid_(grid),
        engine_(o.pme_order, beta_, ke_) {
    for (std::size_t a = 0; a < 3; ++a) {
      check_points(grid[a], order_);
      moduli_[a] = spline_moduli(order_, grid[a]);
    }
    engine_.grid().wants_potential = true;
  }
  const char* name() const override { return "pme"; }
  std::vector<tessera::Shape> shapes() const override { return {{n_, 3}, {3, 3}, {n_}}; }

  double value(Arrays p) const override {
    const std::lock_guard one(in_use_);
    solve(p, false);
    return energy_;
  }
  void gradient(Arrays p, Results g) const override {
    const std::lock_guard one(in_use_);
    solve(p, false);
    for (std::size_t k = 0; k < 3; ++k)
      if (g[k])
        for (std::size_t i = 0; i < gradient_[k].size(); ++i) g[k][i] += gradient_[k][i];
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override;
  Tensor generic(std::span<const Tensor> p) const override;

 private:
  /// Waves that the sum takes: not zero, and none that the grid cannot tell from its opposite.
  bool counts(const std::array<int, 3>& n) const {
    return n != std::array{0, 0, 0} && 2 * n[0] != grid_[0] && 2 * n[1] != grid_[1] &&
           2 * n[2] != grid_[2];
  }
  std::size_t points() const {
    return static_cast<std::size_t>(grid_[0]) * static_cast<std::size_t>(grid_[1]) *
           static_cast<std::size_t>(grid_[2]);
  }
  void solve(Arrays p, bool spectrum) const;

  Index n_;
  double ke_, beta_;
  int order_;
  std::array<int, 3> grid_;
  std::array<std::vector<double>, 3> moduli_;
  mutable std::mutex in_use_;
  mutable PmeEngine<Real> engine_;
  mutable PmeTangent<Real> tangent_;
  mutable std::array<std::vector<double>, 3> at_,
      gradient_;  ///< the last operands, and what belongs to them
  mutable double energy_ = 0;
};

/// Potential, energy and gradient at p; with `spectrum` also what the Hessian product needs of a
/// box that moves.
template <class Real>
void Pme<Real>::solve(Arrays p, bool spectrum) const {
  const auto n = static_cast<std::size_t>(n_);
  const std::array<std::size_t, 3> sizes = {3 * n, 9, n};
  bool same = true;
  for (std::size_t k = 0; k < 3; ++k)
    same = same && at_[k].size() == sizes[k] && std::equal(p[k], p[k] + sizes[k], at_[k].begin());
  PmeGrid<Real>& g = engine_.grid();
  if (same && (g.keeps_spectrum || !spectrum)) return;
  at_[0].clear();  // nothing is known until all is done
  double finite = 0;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < sizes[k]; ++i) finite += 0 * p[k][i];
  if (!std::isfinite(finite)) throw Error("[pme] a position, a box edge or a charge is not finite");
  engine_.set_charges(p[2], n);
  engine_.set_box(grid_, matrix<double>(p, {}));
  if (spectrum && !g.keeps_spectrum) {
    g.keeps_spectrum = true;
    g.spectrum = Aligned<Real>(g.half * g.k[2] * 2 * g.turned_row);
  }
  engine_.place(p[0]);
  engine_.convolve(true);
  for (std::size_t k = 0; k < 3; ++k) gradient_[k].assign(sizes[k], 0.0);
  engine_.gather([&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const auto i = static_cast<std::size_t>(g.atoms[at].atom);
      gradient_[2][i] = g.felt[at][3];
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t b = 0; b < 3; ++b)
          gradient_[0][3 * i + c] +=
              p[2][i] * engine_.by_fraction()[c][b] * static_cast<double>(g.felt[at][b]);
    }
  });
  const std::array<double, pme_moments> moments = engine_.moments_of(g);
  energy_ = moments[0];
  Matrix<double> by_box = gradient_of_waves(engine_.inverse(), moments),
                 turned{};  // turned: X^T dU/dX
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t c = 0; c < 3; ++c) turned[a][c] += p[0][3 * i + a] * gradient_[0][3 * i + c];
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t a = 0; a < 3; ++a) by_box[b][c] -= engine_.inverse()[a][b] * turned[a][c];
      gradient_[1][3 * b + c] = by_box[b][c];
    }
  for (std::size_t k = 0; k < 3; ++k) at_[k].assign(p[k], p[k] + sizes[k]);
}

template <class Real>
void Pme<Real>::hessian_product(Arrays p, Arrays v, Results w) const {
  const std::lock_guard one(in_use_);
  PmeTangent<Real>& t = tangent_;
  t.boxed = v[1] || w[1];
  solve(p, t.boxed);
  const auto n = static_cast<std::size_t>(n_);
  PmeGrid<Real>& g = engine_.grid();
  if (t.charge.empty()) {
    engine_.shape(t.grid);
    t.charge.resize(n);
    t.felt.resize(n);
  }
  const PmeKernels<Real>& kernels = engine_.kernels();
  const Matrix<Dual<double>> h = matrix<Dual<double>>(p, v), inv = inverse(h);
  const Dual<double> volume = determinant(h);
  t.volume = along(volume) / plain(volume);
  for (std::size_t e = 0; e < 6; ++e) {
    const auto [a, b] = pairs_of_axes[e];
    t.metric[e] = 0;
    for (std::size_t c = 0; c < 3; ++c)
      t.metric[e] += (a == b ? 1 : 2) * 4 * pi * pi * along(inv[c][a] * inv[c][b]);
  }
  const auto atoms = [&](auto&& f) {
    constexpr std::size_t of_a_chunk = 2048;
    parallel_chunks(static_cast<std::int64_t>((n + of_a_chunk - 1) / of_a_chunk),
                    [&](std::int64_t chunk) {
                      const std::size_t first = static_cast<std::size_t>(chunk) * of_a_chunk;
                      for (std::size_t i = first; i < std::min(n, first + of_a_chunk); ++i) f(i);
                    });
  };
  std::vector<Vec3> moved(n);  // in cells
  std::vector<std::array<double, 4>> charge(n);
  atoms([&](std::size_t i) {
    for (std::size_t b = 0; b < 3; ++b) {
      double s = 0;
      for (std::size_t a = 0; a < 3; ++a)
        s += (v[0] ? v[0][3 * i + a] * plain(inv[a][b]) : 0) + p[0][3 * i + a] * along(inv[a][b]);
      moved[i][b] = s * grid_[b];
      charge[i][b] = p[2][i] * moved[i][b];
    }
    charge[i][3] = v[2] ? v[2][i] : 0;
  });
  double most = 0, all = 0, total = 0;
  for (const auto& q : charge) {
    const double amount = std::abs(q[0]) + std::abs(q[1]) + std::abs(q[2]) + std::abs(q[3]);
    most = std::max(most, amount);
    all += amount;
    total += q[3];
  }
  if (!std::isfinite(all)) throw Error("[pme] the direction of a second derivative is not finite");
  t.grid.quantum = pme_quantum<Real>(most, all);
  atoms([&](std::size_t i) {
    for (std::size_t k = 0; k < 4; ++k)
      t.charge[i][k] = static_cast<Real>(charge[i][k] / t.grid.quantum);
  });

  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const auto slabs = static_cast<std::int64_t>(g.slabs.size()),
             lines = static_cast<std::int64_t>(engine_.pairs_of_lines());
  parallel_chunks(slabs, [&](std::int64_t s) { kernels.spread_tangent(g, t, at(s)); });
  parallel_chunks(lines, [&](std::int64_t l) { kernels.forward(t.grid, at(l)); });
  engine_.check_range(t.grid, total / t.grid.quantum);
  parallel_chunks(static_cast<std::int64_t>(g.half),
                  [&](std::int64_t k) { kernels.convolve_tangent(g, t, at(k)); });
  parallel_chunks(lines, [&](std::int64_t l) { kernels.backward(t.grid, at(l)); });
  parallel_chunks(slabs, [&](std::int64_t s) { kernels.gather_tangent(g, t, at(s)); });

  // dU/dx_c = q sum_b K_b felt_b (h^-1)_cb and its change.
  std::vector<Vec3> by_position(w[1] ? n : 0), change_by_position(w[1] ? n : 0);
  atoms([&](std::size_t i) {
    const std::array<Real, 14>& felt = t.felt[i];
    constexpr std::size_t second[3][3] = {{4, 7, 8}, {7, 5, 9}, {8, 9, 6}};
    const double q = p[2][i], dq = v[2] ? v[2][i] : 0;
    double potential = felt[13];
    Vec3 gradient, change;  // times K
    for (std::size_t a = 0; a < 3; ++a) {
      double by = felt[10 + a];
      for (std::size_t b = 0; b < 3; ++b)
        by += static_cast<double>(felt[second[a][b]]) * moved[i][b];
      gradient[a] = grid_[a] * static_cast<double>(felt[a]);
      change[a] = grid_[a] * by;
      potential += static_cast<double>(felt[a]) * moved[i][a];
    }
    if (w[2]) w[2][i] += potential;
    for (std::size_t c = 0; c < 3; ++c) {
      double here = 0, by = 0;
      for (std::size_t b = 0; b < 3; ++b) {
        here += gradient[b] * plain(inv[c][b]);
        by += change[b] * plain(inv[c][b]) + gradient[b] * along(inv[c][b]);
      }
      if (w[0]) w[0][3 * i + c] += q * by + dq * here;
      if (!w[1]) continue;
      by_position[i][c] = q * here;
      change_by_position[i][c] = q * by + dq * here;
    }
  });
  if (!w[1]) return;
  std::array<Dual<double>, pme_moments> moments;
  const std::array<double, pme_moments> m = engine_.moments_of(g), dm = engine_.moments_of(t.grid);
  for (std::size_t k = 0; k < pme_moments; ++k)
    moments[k] = Dual<double>(m[k], {dm[k] * (g.quantum / t.grid.quantum)});
  Matrix<Dual<double>> by_box = gradient_of_waves(inv, moments), turned;  // turned: X^T dU/dX
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t c = 0; c < 3; ++c)
        turned[a][c] =
            turned[a][c] + number<Dual<double>>(p[0], v[0], 3 * i + a) *
                               Dual<double>(by_position[i][c], {change_by_position[i][c]});
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t a = 0; a < 3; ++a) by_box[b][c] = by_box[b][c] - inv[a][b] * turned[a][c];
      w[1][3 * b + c] += along(by_box[b][c]);
    }
}

template <class Real>
Tensor Pme<Real>::generic(std::span<const Tensor> p) const {
  const Tensor h = p[1], a = select(h, 0, 0), b = select(h, 0, 1), c = select(h, 0, 2);
  const auto cross = [](const Tensor& u, const Tensor& v) {
    const auto e = [](const Tensor& t, int k) { return select(t, 0, k); };
    return stack({e(u, 1) * e(v, 2) - e(u, 2) * e(v, 1), e(u, 2) * e(v, 0) - e(u, 0) * e(v, 2),
                  e(u, 0) * e(v, 1) - e(u, 1) * e(v, 0)});
  };
  const Tensor volume = sum(a * cross(b, c));
  const Tensor inv = stack({cross(b, c), cross(c, a), cross(a, b)}, 1) / volume;  // columns
  const Tensor s = matmul(p[0], inv);
  // Splines by their recursion on the fraction of a cell; indices [n] per axis and point.
  std::array<std::vector<Tensor>, 3> value, index;
  for (int axis = 0; axis < 3; ++axis) {
    const Tensor u = select(s, 1, axis) *
                     static_cast<double>(grid_[static_cast<std::size_t>(axis)]),
                 low = floor(u), w = u - low;
    std::vector<Tensor> m = {w, 1.0 - w};
    for (int order = 3; order <= order_; ++order) {
      std::vector<Tensor> next;
      for (int k = 0; k < order; ++k) {
        Tensor t = zeros({n_});
        if (k < order - 1) t = t + (w + static_cast<double>(k)) * m[static_cast<std::size_t>(k)];
        if (k > 0)
          t = t + (static_cast<double>(order - k) - w) * m[static_cast<std::size_t>(k - 1)];
        next.push_back(t / static_cast<double>(order - 1));
      }
      m = std::move(next);
    }
    const double points = grid_[static_cast<std::size_t>(axis)];
    for (int k = 0; k < order_; ++k) {
      const Tensor g = low - static_cast<double>(k);
      value[static_cast<std::size_t>(axis)].push_back(m[static_cast<std::size_t>(k)]);
      index[static_cast<std::size_t>(axis)].push_back(
          cast(stop_gradient(g - points * floor(g / points)), Dtype::i64));
    }
  }
  Tensor charges = zeros({static_cast<Index>(points())});
  for (std::size_t x = 0; x < static_cast<std::size_t>(order_); ++x)
    for (std::size_t y = 0; y < static_cast<std::size_t>(order_); ++y)
      for (std::size_t z = 0; z < static_cast<std::size_t>(order_); ++z)
        charges = scatter_add(charges,
                              (index[0][x] * static_cast<Index>(grid_[1]) + index[1][y]) *
                                      static_cast<Index>(grid_[2]) +
                                  index[2][z],
                              p[2] * value[0][x] * value[1][y] * value[2][z]);
  const Tensor hat = rfftn(reshape(charges, {grid_[0], grid_[1], grid_[2]}));
  std::vector<double> numbers, share;  // multiplicity over moduli; zero for waves that do not count
  const int half = grid_[2] / 2 + 1;
  for (int x = 0; x < grid_[0]; ++x)
    for (int y = 0; y < grid_[1]; ++y)
      for (int z = 0; z < half; ++z) {
        const std::array<int, 3> n = {x <= grid_[0] / 2 ? x : x - grid_[0],
                                      y <= grid_[1] / 2 ? y : y - grid_[1], z};
        numbers.insert(numbers.end(), n.begin(), n.end());
        share.push_back(!counts(n) ? 0
                                   : (z == 0 ? 1 : 2) / (moduli_[0][static_cast<std::size_t>(x)] *
                                                         moduli_[1][static_cast<std::size_t>(y)] *
                                                         moduli_[2][static_cast<std::size_t>(z)]));
      }
  const auto many = static_cast<Index>(share.size());
  const auto but_first = [&](const Tensor& t) { return slice(t, 0, 1, many); };
  const Tensor k = (2 * pi) * matmul(but_first(tensor(numbers, {many, 3})), transpose(inv)),
               k2 = sum(square(k), {1});
  const Tensor power = but_first(flatten(square(real(hat)) + square(imag(hat))));
  return (2 * pi * ke_) / volume *
         sum(exp(k2 * (-0.25 / (beta_ * beta_))) / k2 * but_first(tensor(share)) * power);
}

}  // namespace

[[noreturn]] static void refuse_grid(double length_nm, double spacing_nm) {
  throw Error(fmt::format(
      "[pme] an edge of {:g} nm at a fourier spacing of {:g} nm asks for more grid points than are "
      "made, 65535 an edge and 2^31 in all: take a smaller box or a wider spacing",
      length_nm, spacing_nm));
}

std::array<int, 3> pme_grid(const Nonbonded& o, const Box& box) {
  const Vec3 length = lengths_nm(box);
  std::array<int, 3> grid = o.fourier_grid;
  for (std::size_t a = 0; a < 3; ++a) {
    if (grid[a] > 0) continue;
    // GROMACS' sizes (calcgrid.cpp): up to 44 a list, then the least multiple of 4 among 48 ... 84
    // times a power of two.
    const double wanted = length[a] / o.fourier_spacing_nm + 0.999;
    if (!(wanted < 65536)) refuse_grid(length[a], o.fourier_spacing_nm);
    const int least = std::max(2 * (o.pme_order - 1), static_cast<int>(wanted));
    constexpr std::array small = {6, 8, 10, 12, 14, 16, 20, 24, 25, 28, 32, 36, 40, 42, 44};
    constexpr std::array base = {48, 50, 52, 54, 56, 60, 64, 70, 72, 75, 80, 81, 84};
    if (least <= small.back()) {
      grid[a] = *std::ranges::lower_bound(small, least);
      continue;
    }
    int power = 1;
    while (power * base.back() < least) power *= 2;
    grid[a] = power * *std::ranges::find_if(base, [&](int n) {
                return power * n >= least && power * n % 4 == 0 && power * n != 140;
              });
  }
  for (const int points : grid) check_points(points, o.pme_order);
  if (std::int64_t{grid[0]} * grid[1] * grid[2] > std::numeric_limits<std::int32_t>::max())
    refuse_grid(std::max({length[0], length[1], length[2]}), o.fourier_spacing_nm);
  return grid;
}

EnergyPtr pme_energy(const System& system, const Nonbonded& options, const std::array<int, 3>& grid,
                     Precision precision) {
  if (options.pme_order < 4 || options.pme_order > most_pme_order)
    throw Error(fmt::format("[pme] splines of order 4 to {} are known, got {}", most_pme_order,
                            options.pme_order));
  if (precision == Precision::mixed) return std::make_shared<Pme<float>>(system, options, grid);
  return std::make_shared<Pme<double>>(system, options, grid);
}

}  // namespace tessera::molecular
