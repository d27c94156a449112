// SPDX-License-Identifier: Apache-2.0
//
// With phi = the potential on the grid (dU/dQ), e(k) = 2 pi k_e/V exp(-k^2/4 beta^2)/k^2 B |Q^|^2:
//
//   dU/dq_i = sum_g phi M M M,  dU/du_ia = q_i sum_g phi M' M M,  dU/dx_ic = sum_b K_b dU/du_ib (h^-1)_cb
//   dU/dh_bc = sum_k e(k) [-(h^-1)_cb + 2 (1/k^2 + 1/4 beta^2) (k h^-1)_b k_c] - sum_i s_ib dU/dx_ic
//
// The curvature carries one derivative through: dQ by the slopes of the splines, dphi by one more transform each way, numbers of
// waves and atoms as duals.
#include "tessera/molecular/pme.h"

#include "jet.h"
#include "nonbonded/matrix.h"
#include "nonbonded/splines.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace tessera::molecular {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

template <class T>
T joined(double v, double d) {
  if constexpr (std::is_same_v<T, double>) return v;
  else return Dual(v, {d});
}

class Pme final : public EnergyFunction {
 public:
  Pme(const System& s, const Nonbonded& o, const std::array<int, 3>& grid)
      : n_(static_cast<Index>(s.n_atoms())), ke_(s.coulomb_constant / o.epsilon_r), beta_(ewald_beta(o)), order_(o.pme_order), grid_(grid) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (grid[a] < order_) throw Error(fmt::format("[pme] a grid of {} points is too coarse for splines of order {}: take at least as many points", grid[a], order_));
      moduli_[a] = spline_moduli(order_, grid[a]);
    }
  }
  const char* name() const override { return "pme"; }
  std::vector<tessera::Shape> shapes() const override { return {{n_, 3}, {3, 3}, {n_}}; }

  double value(Arrays p) const override {
    const Spread s = spread(p, {});
    const Tensor hat = contiguous(rfftn(grid_tensor(s.q)));
    const auto* q = static_cast<const c128*>(hat.view().data);
    double u = 0;
    waves<double>(p, {}, [&](std::size_t at, double weight, const double& green, const auto&, const double&) { u += 0.5 * weight * green * std::norm(q[at]); });
    return u;
  }
  void gradient(Arrays p, Results g) const override { slopes<double>(p, {}, g); }
  void curvature(Arrays p, Arrays v, Results w) const override { slopes<Dual>(p, v, w); }
  Tensor generic(std::span<const Tensor> p) const override;

 private:
  struct Spread {
    std::vector<double> q, dq;  ///< on the grid [K_1, K_2, K_3]
  };
  std::size_t points() const { return static_cast<std::size_t>(grid_[0]) * static_cast<std::size_t>(grid_[1]) * static_cast<std::size_t>(grid_[2]); }
  Tensor grid_tensor(const std::vector<double>& v) const { return tensor(v, {grid_[0], grid_[1], grid_[2]}); }

  template <class T>
  static Matrix<T> matrix(Arrays p, Arrays v) {
    Matrix<T> h;
    for (std::size_t a = 0; a < 9; ++a) h[a / 3][a % 3] = number<T>(p[1], v.empty() ? nullptr : v[1], a);
    return h;
  }
  /// Fractions of one atom.
  template <class T>
  static std::array<T, 3> fractions_of(Arrays p, Arrays v, const Matrix<T>& inv, std::size_t i) {
    std::array<T, 3> s = {T(0.0), T(0.0), T(0.0)};
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t a = 0; a < 3; ++a) s[b] = s[b] + number<T>(p[0], v.empty() ? nullptr : v[0], 3 * i + a) * inv[a][b];
    return s;
  }
  std::array<SplineWeights, 3> weights_of(const std::array<double, 3>& s) const {
    return {spline_weights(order_, s[0] * grid_[0]), spline_weights(order_, s[1] * grid_[1]), spline_weights(order_, s[2] * grid_[2])};
  }
  /// f(point, jx, jy, jz) for the points that an atom touches.
  template <class F>
  void touched(const std::array<SplineWeights, 3>& w, F&& f) const {
    const auto place = [&](std::size_t a, int j) {
      const std::int64_t k = grid_[a], g = (w[a].first + j) % k;
      return static_cast<std::size_t>(g < 0 ? g + k : g);
    };
    for (int x = 0; x < order_; ++x)
      for (int y = 0; y < order_; ++y) {
        const std::size_t row = (place(0, x) * static_cast<std::size_t>(grid_[1]) + place(1, y)) * static_cast<std::size_t>(grid_[2]);
        for (int z = 0; z < order_; ++z) f(row + place(2, z), static_cast<std::size_t>(x), static_cast<std::size_t>(y), static_cast<std::size_t>(z));
      }
  }

  Spread spread(Arrays p, Arrays v) const {
    const Matrix<double> inv = inverse(matrix<double>(p, {}));
    Spread s{std::vector<double>(points(), 0.0), {}};
    if (!v.empty()) s.dq.assign(points(), 0.0);
    const Matrix<Dual> dinv = inverse(matrix<Dual>(p, v));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) {
      const std::array<SplineWeights, 3> w = weights_of(fractions_of<double>(p, {}, inv, i));
      const double q = p[2][i];
      if (v.empty()) {
        touched(w, [&](std::size_t g, std::size_t x, std::size_t y, std::size_t z) { s.q[g] += q * w[0].m[x] * w[1].m[y] * w[2].m[z]; });
        continue;
      }
      const std::array<Dual, 3> f = fractions_of<Dual>(p, v, dinv, i);
      const double dq = v[2] ? v[2][i] : 0, dx = f[0].d[0] * grid_[0], dy = f[1].d[0] * grid_[1], dz = f[2].d[0] * grid_[2];
      touched(w, [&](std::size_t g, std::size_t x, std::size_t y, std::size_t z) {
        const double mx = w[0].m[x], my = w[1].m[y], mz = w[2].m[z];
        s.q[g] += q * mx * my * mz;
        s.dq[g] += dq * mx * my * mz + q * (dx * w[0].d[x] * my * mz + dy * mx * w[1].d[y] * mz + dz * mx * my * w[2].d[z]);
      });
    }
    return s;
  }

  /// Waves that the sum takes: not zero, and none that the grid cannot tell from its opposite.
  bool counts(const std::array<int, 3>& n) const { return n != std::array{0, 0, 0} && 2 * n[0] != grid_[0] && 2 * n[1] != grid_[1] && 2 * n[2] != grid_[2]; }
  /// f(place in the half spectrum, multiplicity, d2U/d|Q^|^2 as `green`, k, k^2) for all waves: U = 1/2 sum green |Q^|^2.
  template <class T, class F>
  void waves(Arrays p, Arrays v, F&& f) const {
    using std::exp;
    const Matrix<T> h = matrix<T>(p, v), inv = inverse(h);
    const T front = T(4 * pi * ke_) / determinant(h);
    const int half = grid_[2] / 2 + 1;
    std::size_t at = 0;
    for (int x = 0; x < grid_[0]; ++x)
      for (int y = 0; y < grid_[1]; ++y)
        for (int z = 0; z < half; ++z, ++at) {
          const std::array<int, 3> n = {x <= grid_[0] / 2 ? x : x - grid_[0], y <= grid_[1] / 2 ? y : y - grid_[1], z};
          if (!counts(n)) continue;
          std::array<T, 3> k;
          for (std::size_t a = 0; a < 3; ++a) k[a] = T(2 * pi) * (T(n[0]) * inv[a][0] + T(n[1]) * inv[a][1] + T(n[2]) * inv[a][2]);
          const T k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
          const double b = moduli_[0][static_cast<std::size_t>(x)] * moduli_[1][static_cast<std::size_t>(y)] * moduli_[2][static_cast<std::size_t>(z)];
          const double weight = z == 0 ? 1 : 2;
          f(at, weight, front * exp(k2 * T(-0.25 / (beta_ * beta_))) / (k2 * T(b)), k, k2);
        }
  }

  template <class T>
  void slopes(Arrays p, Arrays v, Results g) const {
    constexpr bool second = !std::is_same_v<T, double>;
    const auto n = static_cast<std::size_t>(n_);
    const Spread s = spread(p, v);
    const Tensor hat = contiguous(rfftn(grid_tensor(s.q))), dhat = second ? contiguous(rfftn(grid_tensor(s.dq))) : Tensor();
    const auto* q = static_cast<const c128*>(hat.view().data);
    const auto* dq = second ? static_cast<const c128*>(dhat.view().data) : nullptr;
    const Matrix<T> inv = inverse(matrix<T>(p, v));
    std::vector<c128> field(static_cast<std::size_t>(hat.size()), c128(0)), dfield(second ? field.size() : 0, c128(0));
    Matrix<T> by_box{};
    const double total = static_cast<double>(points());  // irfftn divides by it
    waves<T>(p, v, [&](std::size_t at, double weight, const T& green, const std::array<T, 3>& k, const T& k2) {
      field[at] = plain(green) * total * q[at];
      T power;
      if constexpr (second) {
        dfield[at] = total * (plain(green) * dq[at] + along(green) * q[at]);
        power = green * joined<T>(std::norm(q[at]), 2 * (q[at].real() * dq[at].real() + q[at].imag() * dq[at].imag()));
      } else {
        power = green * std::norm(q[at]);
      }
      if (!g[1]) return;
      power = T(0.5 * weight) * power;
      for (std::size_t b = 0; b < 3; ++b) {
        const T kh = k[0] * inv[0][b] + k[1] * inv[1][b] + k[2] * inv[2][b];
        for (std::size_t c = 0; c < 3; ++c) by_box[b][c] = by_box[b][c] + power * (T(2.0) * (T(1.0) / k2 + T(0.25 / (beta_ * beta_))) * kh * k[c] - inv[c][b]);
      }
    });
    const tessera::Shape half = hat.shape(), full = {grid_[0], grid_[1], grid_[2]};
    const Tensor phi_t = contiguous(irfftn(tensor(field, half), {}, full)), dphi_t = second ? contiguous(irfftn(tensor(dfield, half), {}, full)) : Tensor();
    const auto* phi = static_cast<const double*>(phi_t.view().data);
    const auto* dphi = second ? static_cast<const double*>(dphi_t.view().data) : nullptr;

    std::vector<std::array<T, 3>> by_place(n);
    parallel_chunks(static_cast<std::int64_t>(n), [&](std::int64_t chunk) {
      const auto i = static_cast<std::size_t>(chunk);
      const std::array<T, 3> f = fractions_of<T>(p, v, inv, i);
      const std::array<SplineWeights, 3> w = weights_of({plain(f[0]), plain(f[1]), plain(f[2])});
      // sum_g phi D(M M M) for no slope, one slope and two slopes.
      double flat = 0, dflat = 0;
      Vec3 one{}, done{};
      std::array<Vec3, 3> two{};
      touched(w, [&](std::size_t at, std::size_t x, std::size_t y, std::size_t z) {
        const double mx = w[0].m[x], my = w[1].m[y], mz = w[2].m[z], u = phi[at];
        const Vec3 d = {w[0].d[x] * my * mz, mx * w[1].d[y] * mz, mx * my * w[2].d[z]};
        flat += u * mx * my * mz;
        for (std::size_t a = 0; a < 3; ++a) one[a] += u * d[a];
        if constexpr (second) {
          dflat += dphi[at] * mx * my * mz;
          for (std::size_t a = 0; a < 3; ++a) done[a] += dphi[at] * d[a];
          two[0][0] += u * w[0].dd[x] * my * mz;
          two[1][1] += u * mx * w[1].dd[y] * mz;
          two[2][2] += u * mx * my * w[2].dd[z];
          two[0][1] += u * w[0].d[x] * w[1].d[y] * mz;
          two[0][2] += u * w[0].d[x] * my * w[2].d[z];
          two[1][2] += u * mx * w[1].d[y] * w[2].d[z];
        }
      });
      Vec3 moved{};
      if constexpr (second) {
        two[1][0] = two[0][1];
        two[2][0] = two[0][2];
        two[2][1] = two[1][2];
        for (std::size_t a = 0; a < 3; ++a) {
          moved[a] = f[a].d[0] * grid_[a];
          dflat += one[a] * moved[a];
        }
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) done[a] += two[a][b] * moved[b];
      }
      const T charge = number<T>(p[2], v.empty() ? nullptr : v[2], i);
      if (g[2]) g[2][i] += second ? dflat : flat;
      for (std::size_t c = 0; c < 3; ++c) {
        T sum(0.0);
        for (std::size_t b = 0; b < 3; ++b) sum = sum + T(grid_[b]) * joined<T>(one[b], done[b]) * inv[c][b];
        by_place[i][c] = charge * sum;
        if (g[0]) g[0][3 * i + c] += along(by_place[i][c]);
      }
    });
    if (!g[1]) return;
    for (std::size_t i = 0; i < n; ++i) {
      const std::array<T, 3> f = fractions_of<T>(p, v, inv, i);
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t c = 0; c < 3; ++c) by_box[b][c] = by_box[b][c] - f[b] * by_place[i][c];
    }
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 3; ++c) g[1][3 * b + c] += along(by_box[b][c]);
  }

  Index n_;
  double ke_, beta_;
  int order_;
  std::array<int, 3> grid_;
  std::array<std::vector<double>, 3> moduli_;
};

Tensor Pme::generic(std::span<const Tensor> p) const {
  const Tensor h = p[1], a = select(h, 0, 0), b = select(h, 0, 1), c = select(h, 0, 2);
  const auto cross = [](const Tensor& u, const Tensor& v) {
    const auto e = [](const Tensor& t, int k) { return select(t, 0, k); };
    return stack({e(u, 1) * e(v, 2) - e(u, 2) * e(v, 1), e(u, 2) * e(v, 0) - e(u, 0) * e(v, 2), e(u, 0) * e(v, 1) - e(u, 1) * e(v, 0)});
  };
  const Tensor volume = sum(a * cross(b, c));
  const Tensor inv = stack({cross(b, c), cross(c, a), cross(a, b)}, 1) / volume;  // columns
  const Tensor s = matmul(p[0], inv);
  // Splines by their recursion on the fraction of a cell; places [n] per axis and point.
  std::array<std::vector<Tensor>, 3> value, place;
  for (int axis = 0; axis < 3; ++axis) {
    const Tensor u = select(s, 1, axis) * static_cast<double>(grid_[static_cast<std::size_t>(axis)]), low = floor(u), w = u - low;
    std::vector<Tensor> m = {w, 1.0 - w};
    for (int order = 3; order <= order_; ++order) {
      std::vector<Tensor> next;
      for (int k = 0; k < order; ++k) {
        Tensor t = zeros({n_});
        if (k < order - 1) t = t + (w + static_cast<double>(k)) * m[static_cast<std::size_t>(k)];
        if (k > 0) t = t + (static_cast<double>(order - k) - w) * m[static_cast<std::size_t>(k - 1)];
        next.push_back(t / static_cast<double>(order - 1));
      }
      m = std::move(next);
    }
    const double points = grid_[static_cast<std::size_t>(axis)];
    for (int k = 0; k < order_; ++k) {
      const Tensor g = low - static_cast<double>(k);
      value[static_cast<std::size_t>(axis)].push_back(m[static_cast<std::size_t>(k)]);
      place[static_cast<std::size_t>(axis)].push_back(cast(stop_gradient(g - points * floor(g / points)), Dtype::i64));
    }
  }
  Tensor charges = zeros({static_cast<Index>(points())});
  for (std::size_t x = 0; x < static_cast<std::size_t>(order_); ++x)
    for (std::size_t y = 0; y < static_cast<std::size_t>(order_); ++y)
      for (std::size_t z = 0; z < static_cast<std::size_t>(order_); ++z)
        charges = scatter_add(charges, (place[0][x] * static_cast<Index>(grid_[1]) + place[1][y]) * static_cast<Index>(grid_[2]) + place[2][z], p[2] * value[0][x] * value[1][y] * value[2][z]);
  const Tensor hat = rfftn(reshape(charges, {grid_[0], grid_[1], grid_[2]}));
  std::vector<double> numbers, share;  // multiplicity over moduli; zero for waves that do not count
  const int half = grid_[2] / 2 + 1;
  for (int x = 0; x < grid_[0]; ++x)
    for (int y = 0; y < grid_[1]; ++y)
      for (int z = 0; z < half; ++z) {
        const std::array<int, 3> n = {x <= grid_[0] / 2 ? x : x - grid_[0], y <= grid_[1] / 2 ? y : y - grid_[1], z};
        numbers.insert(numbers.end(), n.begin(), n.end());
        share.push_back(!counts(n) ? 0 : (z == 0 ? 1 : 2) / (moduli_[0][static_cast<std::size_t>(x)] * moduli_[1][static_cast<std::size_t>(y)] * moduli_[2][static_cast<std::size_t>(z)]));
      }
  const auto many = static_cast<Index>(share.size());
  const auto but_first = [&](const Tensor& t) { return slice(t, 0, 1, many); };
  const Tensor k = (2 * pi) * matmul(but_first(tensor(numbers, {many, 3})), transpose(inv)), k2 = sum(square(k), {1});
  const Tensor power = but_first(flatten(square(real(hat)) + square(imag(hat))));
  return (2 * pi * ke_) / volume * sum(exp(k2 * (-0.25 / (beta_ * beta_))) / k2 * but_first(tensor(share)) * power);
}

}  // namespace

std::array<int, 3> pme_grid(const Nonbonded& o, const Box& box) {
  const Vec3 length = lengths_nm(box);
  std::array<int, 3> grid = o.fourier_grid;
  for (std::size_t a = 0; a < 3; ++a) {
    if (grid[a] > 0) continue;
    // GROMACS' sizes (calcgrid.cpp): up to 44 a list, then the least multiple of 4 among 48 ... 84 times a power of two.
    const int least = std::max(2 * (o.pme_order - 1), static_cast<int>(length[a] / o.fourier_spacing_nm + 0.999));
    constexpr std::array small = {6, 8, 10, 12, 14, 16, 20, 24, 25, 28, 32, 36, 40, 42, 44};
    constexpr std::array base = {48, 50, 52, 54, 56, 60, 64, 70, 72, 75, 80, 81, 84};
    if (least <= small.back()) {
      grid[a] = *std::ranges::lower_bound(small, least);
      continue;
    }
    int power = 1;
    while (power * base.back() < least) power *= 2;
    grid[a] = power * *std::ranges::find_if(base, [&](int n) { return power * n >= least && power * n % 4 == 0 && power * n != 140; });
  }
  return grid;
}

EnergyPtr pme_energy(const System& system, const Nonbonded& options, const std::array<int, 3>& grid) {
  if (options.pme_order < 3 || options.pme_order > most_pme_order)
    throw Error(fmt::format("[pme] splines of order 3 to {} are known, got {}", most_pme_order, options.pme_order));
  return std::make_shared<Pme>(system, options, grid);
}

}  // namespace tessera::molecular
