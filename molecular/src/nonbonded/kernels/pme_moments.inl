// SPDX-License-Identifier: Apache-2.0
//
// Energy of the waves of one plane, and its moments, from which the virial follows.
// Read once for every set of instructions (pme_kernels.cpp).
#include "nonbonded/kernels/pme_kernels.h"

#include <hwy/highway.h>

#include <vector>

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Numbers of waves along y, the upper half of which are negative ones.
inline double wave_number(std::size_t k, std::size_t of) {
  return static_cast<double>(k) - (2 * k <= of ? 0.0 : static_cast<double>(of));
}

/// Energy and its moments over one plane: sum of e and of c n_a n_b, c = (1/k^2 + 1/4 beta^2) e, e
/// = influence |Q^|^2/2, by way of the sums of e, c, c n_y, c n_y^2 over lines along y, in eight
/// partial sums, whatever the instructions.
template <class T>
void add_moments(const PmeGrid<T>& g, std::size_t kx, const T* s,
                 std::array<double, pme_moments>& m) {
  constexpr std::size_t width = 8;
  const hn::CappedTag<double, width> d;
  const hn::Rebind<T, decltype(d)> from;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const auto load = [&](const T* p) {
    if constexpr (std::is_same_v<T, float>)
      return hn::PromoteTo(d, hn::LoadU(from, p));
    else
      return hn::LoadU(d, p);
  };
  enum { energy, c0, cy, cyy, cz, czz, cyz, n_sums };
  alignas(64) double sums[n_sums][width] = {};
  const double nx = static_cast<double>(kx);
  const auto rows = (g.k[1] + width - 1) / width * width;  // beyond K_y the influence is zero
  std::vector<double> number(rows);
  for (std::size_t y = 0; y < rows; ++y) number[y] = wave_number(y, g.k[1]);
  for (std::size_t l = 0; l < width; l += lanes) {
    V of_all[n_sums];
    for (V& v : of_all) v = hn::Zero(d);
    for (std::size_t z = 0; z < g.k[2]; ++z) {
      const double nz = wave_number(z, g.k[2]);
      const T *const re = s + z * 2 * g.turned_row, *const im = re + g.turned_row,
                     *const green = g.influence.get() + (kx * g.k[2] + z) * g.turned_row;
      const V flat =
                  hn::Set(d, g.metric[0] * nx * nx + g.metric[2] * nz * nz + g.metric[4] * nx * nz),
              cross = hn::Set(d, g.metric[3] * nx + g.metric[5] * nz);
      V e0 = hn::Zero(d), c_0 = e0, c_1 = e0, c_2 = e0;
      for (std::size_t y = l; y < rows; y += width) {
        const V ny = hn::LoadU(d, number.data() + y), r = load(re + y), i = load(im + y);
        const V k2 =
            hn::Add(flat, hn::Mul(hn::Add(cross, hn::Mul(hn::Set(d, g.metric[1]), ny)), ny));
        const V e = hn::Mul(hn::Add(hn::Mul(r, r), hn::Mul(i, i)),
                            load(green + y));  // zero for the wave zero
        const V inverse =
            hn::Div(hn::Set(d, 1.0), hn::IfThenElse(hn::Eq(k2, hn::Zero(d)), hn::Set(d, 1.0), k2));
        const V c = hn::Mul(e, hn::Add(inverse, hn::Set(d, g.decay))), c_y = hn::Mul(c, ny);
        e0 = hn::Add(e0, e);
        c_0 = hn::Add(c_0, c);
        c_1 = hn::Add(c_1, c_y);
        c_2 = hn::Add(c_2, hn::Mul(c_y, ny));
      }
      const V n = hn::Set(d, nz), c_z = hn::Mul(n, c_0);
      of_all[energy] = hn::Add(of_all[energy], e0);
      of_all[c0] = hn::Add(of_all[c0], c_0);
      of_all[cy] = hn::Add(of_all[cy], c_1);
      of_all[cyy] = hn::Add(of_all[cyy], c_2);
      of_all[cz] = hn::Add(of_all[cz], c_z);
      of_all[czz] = hn::Add(of_all[czz], hn::Mul(n, c_z));
      of_all[cyz] = hn::Add(of_all[cyz], hn::Mul(n, c_1));
    }
    for (std::size_t k = 0; k < n_sums; ++k) hn::Store(of_all[k], d, sums[k] + l);
  }
  const double weight = kx == 0 ? 0.5 : 1.0;
  double of[n_sums];
  for (std::size_t k = 0; k < n_sums; ++k) {
    of[k] = 0;
    for (const double v : sums[k]) of[k] += weight * v;
  }
  m = {of[energy], nx * nx * of[c0], of[cyy], of[czz], nx * of[cy], nx * of[cz], of[cyz]};
}

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
