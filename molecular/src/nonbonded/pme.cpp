// SPDX-License-Identifier: Apache-2.0
//
// The sum in engine operations; its kernels are in pme_slopes.cpp.
#include "tessera/molecular/pme.h"

#include "nonbonded/pme_slopes.h"
#include "nonbonded/splines.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace tessera::molecular {
namespace {

using std::numbers::pi;

class Pme final : public EnergyFunction {
 public:
  Pme(const System& s, const Nonbonded& o, const std::array<int, 3>& grid)
      : n_(static_cast<Index>(s.n_atoms())), ke_(s.coulomb_constant / o.epsilon_r), beta_(ewald_beta(o)), order_(o.pme_order), grid_(grid), slopes_(s, o, grid) {
    for (std::size_t a = 0; a < 3; ++a) moduli_[a] = spline_moduli(order_, grid[a]);
  }
  const char* name() const override { return "pme"; }
  std::vector<tessera::Shape> shapes() const override { return {{n_, 3}, {3, 3}, {n_}}; }

  double value(Arrays p) const override { return slopes_.value(p); }
  void gradient(Arrays p, Results g) const override { slopes_.gradient(p, g); }
  void curvature(Arrays p, Arrays v, Results w) const override { slopes_.curvature(p, v, w); }
  Tensor generic(std::span<const Tensor> p) const override;

 private:
  std::size_t points() const { return static_cast<std::size_t>(grid_[0]) * static_cast<std::size_t>(grid_[1]) * static_cast<std::size_t>(grid_[2]); }
  /// Waves that the sum takes: not zero, and none that the grid cannot tell from its opposite.
  bool counts(const std::array<int, 3>& n) const { return n != std::array{0, 0, 0} && 2 * n[0] != grid_[0] && 2 * n[1] != grid_[1] && 2 * n[2] != grid_[2]; }

  Index n_;
  double ke_, beta_;
  int order_;
  std::array<int, 3> grid_;
  std::array<std::vector<double>, 3> moduli_;
  PmeSlopes slopes_;
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
