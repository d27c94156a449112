// SPDX-License-Identifier: Apache-2.0
//
// What the atoms of one slab feel of the potential, and of its change along a direction.
// Read once for every set of instructions (pme_kernels.cpp).
#include "nonbonded/kernels/pme_kernels.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, int P>
void gather_slab(PmeGrid<T>& g, std::size_t slab) {
  using Row = RowOf<T, P>;
  const typename Row::D d;
  using V = hn::Vec<typename Row::D>;
  const std::span<const PmeAtom<T>> atoms = g.of_slab(slab);
  BatchSplines<T, P> splines;
  for (std::size_t begin = 0; begin < atoms.size(); begin += batch) {
    const std::size_t many = splines.take(atoms, begin, 1);
    for (std::size_t i = 0; i < many; ++i) {
      const PmeAtom<T>& atom = atoms[begin + i];
      const T* const from = g.potential.get() + static_cast<std::size_t>(atom.point[2]);
      const std::size_t* const offset_x =
          g.wrapped_x.data() + g.slabs[slab].first + static_cast<std::size_t>(atom.point[0]);
      const std::size_t* const offset_y = g.wrapped_y.data() + atom.point[1];
      V flat[Row::steps], by_x[Row::steps], by_y[Row::steps];
      for (std::size_t s = 0; s < Row::steps; ++s) flat[s] = by_x[s] = by_y[s] = hn::Zero(d);
#pragma GCC unroll 8
      for (int x = 0; x < P; ++x) {
        V line[Row::steps], moved[Row::steps];
        for (std::size_t s = 0; s < Row::steps; ++s) line[s] = moved[s] = hn::Zero(d);
        const T* const at = from + offset_x[x];
#pragma GCC unroll 8
        for (int y = 0; y < P; ++y) {
          const V my = hn::Set(d, splines.value[1][y][i]),
                  dy = hn::Set(d, splines.derivative[1][y][i]);
          for (std::size_t s = 0; s < Row::steps; ++s) {
            const V u = hn::LoadU(d, at + offset_y[y] + s * Row::lanes);
            line[s] = hn::MulAdd(my, u, line[s]);
            moved[s] = hn::MulAdd(dy, u, moved[s]);
          }
        }
        const V mx = hn::Set(d, splines.value[0][x][i]),
                dx = hn::Set(d, splines.derivative[0][x][i]);
        for (std::size_t s = 0; s < Row::steps; ++s) {
          flat[s] = hn::MulAdd(mx, line[s], flat[s]);
          by_x[s] = hn::MulAdd(dx, line[s], by_x[s]);
          by_y[s] = hn::MulAdd(mx, moved[s], by_y[s]);
        }
      }
      V sx = hn::Zero(d), sy = sx, sz = sx;
      for (std::size_t s = 0; s < Row::steps; ++s) {
        const V mz = hn::Load(d, splines.rows[0][i] + s * Row::lanes),
                dz = hn::Load(d, splines.rows[1][i] + s * Row::lanes);
        sx = hn::MulAdd(by_x[s], mz, sx);
        sy = hn::MulAdd(by_y[s], mz, sy);
        sz = hn::MulAdd(flat[s], dz, sz);
      }
      std::array<T, 4>& felt = g.felt[g.first[slab] + begin + i];
      felt = {hn::GetLane(hn::SumOfLanes(d, sx)), hn::GetLane(hn::SumOfLanes(d, sy)),
              hn::GetLane(hn::SumOfLanes(d, sz)), T(0)};
      if (!g.wants_potential) continue;
      V s0 = hn::Zero(d);
      for (std::size_t s = 0; s < Row::steps; ++s)
        s0 = hn::MulAdd(flat[s], hn::Load(d, splines.rows[0][i] + s * Row::lanes), s0);
      felt[3] = hn::GetLane(hn::SumOfLanes(d, s0));
    }
  }
}

template <class T, int P>
void gather_tangent_slab(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t slab) {
  using Row = RowOf<T, P>;
  const typename Row::D d;
  using V = hn::Vec<typename Row::D>;
  const std::span<const PmeAtom<T>> atoms = g.of_slab(slab);
  BatchSplines<T, P> splines;
  enum { v0, vx, vy, vxx, vyy, vxy, d0, dx, dy, n_sums };
  for (std::size_t begin = 0; begin < atoms.size(); begin += batch) {
    const std::size_t many = splines.take(atoms, begin, 2);
    for (std::size_t i = 0; i < many; ++i) {
      const PmeAtom<T>& atom = atoms[begin + i];
      const auto which = static_cast<std::size_t>(atom.atom);
      const std::size_t* const offset_x =
          g.wrapped_x.data() + g.slabs[slab].first + static_cast<std::size_t>(atom.point[0]);
      const std::size_t* const offset_y = g.wrapped_y.data() + atom.point[1];
      std::array<T, 14>& felt = t.felt[which];
      felt.fill(0);
      for (std::size_t s = 0; s < Row::steps; ++s) {
        V sum[n_sums];
        for (V& v : sum) v = hn::Zero(d);
        const std::size_t along = static_cast<std::size_t>(atom.point[2]) + s * Row::lanes;
        for (int x = 0; x < P; ++x) {
          V a0 = hn::Zero(d), a1 = a0, a2 = a0, b0 = a0, b1 = a0;
          for (int y = 0; y < P; ++y) {
            const std::size_t at = offset_x[x] + offset_y[y] + along;
            const V my = hn::Set(d, splines.value[1][y][i]),
                    sy = hn::Set(d, splines.derivative[1][y][i]),
                    cy = hn::Set(d, splines.curve[1][y][i]);
            const V u = hn::LoadU(d, g.potential.get() + at),
                    du = hn::LoadU(d, t.grid.potential.get() + at);
            a0 = hn::MulAdd(my, u, a0);
            a1 = hn::MulAdd(sy, u, a1);
            a2 = hn::MulAdd(cy, u, a2);
            b0 = hn::MulAdd(my, du, b0);
            b1 = hn::MulAdd(sy, du, b1);
          }
          const V mx = hn::Set(d, splines.value[0][x][i]),
                  sx = hn::Set(d, splines.derivative[0][x][i]),
                  cx = hn::Set(d, splines.curve[0][x][i]);
          sum[v0] = hn::MulAdd(mx, a0, sum[v0]);
          sum[vx] = hn::MulAdd(sx, a0, sum[vx]);
          sum[vxx] = hn::MulAdd(cx, a0, sum[vxx]);
          sum[vy] = hn::MulAdd(mx, a1, sum[vy]);
          sum[vxy] = hn::MulAdd(sx, a1, sum[vxy]);
          sum[vyy] = hn::MulAdd(mx, a2, sum[vyy]);
          sum[d0] = hn::MulAdd(mx, b0, sum[d0]);
          sum[dx] = hn::MulAdd(sx, b0, sum[dx]);
          sum[dy] = hn::MulAdd(mx, b1, sum[dy]);
        }
        // Which sum with which derivative along z, in the order of `felt`.
        constexpr int pairs[14][2] = {{vx, 0},  {vy, 0}, {v0, 1},  {v0, 0}, {vxx, 0},
                                      {vyy, 0}, {v0, 2}, {vxy, 0}, {vx, 1}, {vy, 1},
                                      {dx, 0},  {dy, 0}, {d0, 1},  {d0, 0}};
        for (std::size_t k = 0; k < 14; ++k)
          felt[k] += hn::GetLane(hn::SumOfLanes(
              d, hn::Mul(sum[pairs[k][0]],
                         hn::Load(d, splines.rows[pairs[k][1]][i] + s * Row::lanes))));
      }
    }
  }
}

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
