// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nonbonded/kernels/pme_kernels.cpp"
#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL)
// clang-format off: this file is compiled once for each target by the first include
#include <hwy/foreach_target.h>
// clang-format on

#include "nonbonded/kernels/line_fft.inl"
#include "nonbonded/kernels/pme_kernels.h"
#include "tessera/autodiff/vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Memory of the calling thread, as large as the largest asked for.
template <class T>
T* scratch_of(std::size_t n) {
  thread_local Aligned<T> held;
  thread_local std::size_t size = 0;
  if (n > size) {
    held = Aligned<T>(n);
    size = n;
  }
  return held.get();
}

constexpr std::size_t batch = 16;  // atoms whose splines are made at once

/// Weights of a batch of atoms: point j of axis a has value[a][j][atom] (splines.h), and along z
/// also rows[derivative][atom][j].
template <class T, int P>
struct BatchSplines {
  alignas(64) T value[3][P][batch];
  alignas(64) T derivative[3][P][batch];
  alignas(64) T curve[3][P][batch];
  alignas(64) T rows[3][batch][8] = {};

  /// Those of up to `batch` atoms from `begin` on, derivatives up to `order`; how many. Not
  /// inlined: the four steps that take them share its code.
  HWY_NOINLINE std::size_t take(std::span<const PmeAtom<T>> atoms, std::size_t begin, int order) {
    const std::size_t many = std::min(batch, atoms.size() - begin);
    for (std::size_t i = 0; i < many; ++i)
      for (std::size_t a = 0; a < 3; ++a) w_[a][i] = atoms[begin + i].w[a];
    make(w_, order);
    turn(value[2], rows[0]);
    if (order > 0) turn(derivative[2], rows[1]);
    if (order > 1) turn(curve[2], rows[2]);
    return many;
  }

 private:
  alignas(64) T w_[3][batch] = {};

  static HWY_INLINE void turn(const T (*from)[batch], T (*to)[8]) {
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < static_cast<std::size_t>(P); ++j) to[i][j] = from[j][i];
  }

  /// Derivatives up to `order`.
  HWY_INLINE void make(const T (*w)[batch], int order) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t at = 0; at < batch; at += hn::Lanes(d)) {
        const V u = hn::Load(d, w[a] + at), one = hn::Set(d, T(1));
        V m[P];
        m[0] = u;
        m[1] = hn::Sub(one, u);
#pragma GCC unroll 8
        for (int p = 3; p <= P; ++p) {
          if (p == P - 1 && order > 1) {
            // M_p''(u + k) = M_{p-2}(u + k) - 2 M_{p-2}(u + k - 1) + M_{p-2}(u + k - 2)
#pragma GCC unroll 8
            for (int k = 0; k < P; ++k) {
              V sum = k < P - 2 ? m[k] : hn::Zero(d);
              if (k > 0 && k < P - 1) sum = hn::Sub(sum, hn::Add(m[k - 1], m[k - 1]));
              if (k > 1) sum = hn::Add(sum, m[k - 2]);
              hn::Store(sum, d, curve[a][P - 1 - k] + at);
            }
          }
          if (p == P && order > 0) {
            // M_p' (u + k) = M_{p-1}(u + k) - M_{p-1}(u + k - 1)
            hn::Store(m[0], d, derivative[a][P - 1] + at);
#pragma GCC unroll 8
            for (int k = 1; k < P - 1; ++k)
              hn::Store(hn::Sub(m[k], m[k - 1]), d, derivative[a][P - 1 - k] + at);
            hn::Store(hn::Neg(m[P - 2]), d, derivative[a][0] + at);
          }
          const V scale = hn::Set(d, T(1) / static_cast<T>(p - 1));
          m[p - 1] = hn::Mul(hn::Mul(hn::Sub(one, u), m[p - 2]), scale);
#pragma GCC unroll 8
          for (int k = p - 2; k > 0; --k)
            m[k] = hn::Mul(
                hn::MulAdd(hn::Add(u, hn::Set(d, static_cast<T>(k))), m[k],
                           hn::Mul(hn::Sub(hn::Set(d, static_cast<T>(p - k)), u), m[k - 1])),
                scale);
          m[0] = hn::Mul(hn::Mul(u, m[0]), scale);
        }
#pragma GCC unroll 8
        for (int k = 0; k < P; ++k) hn::Store(m[k], d, value[a][P - 1 - k] + at);
      }
  }
};

/// Rows along z are taken W points at a time: weights beyond the order are zero.
template <class T, int P>
struct RowOf {
  static constexpr std::size_t lanes = std::is_same_v<T, float> && P > 4 ? 8 : 4;
  static constexpr std::size_t steps = (P + lanes - 1) / lanes;
  using D = hn::FixedTag<T, lanes>;
};

/// What is added to whole numbers: floats by conversion; doubles of less than 2^51 by their place
/// beside 1.5 2^52.
HWY_INLINE hn::Vec<hn::FixedTag<std::int32_t, 4>> whole(hn::FixedTag<float, 4>,
                                                        hn::Vec<hn::FixedTag<float, 4>> v) {
  return hn::NearestInt(v);
}
HWY_INLINE hn::Vec<hn::FixedTag<std::int32_t, 8>> whole(hn::FixedTag<float, 8>,
                                                        hn::Vec<hn::FixedTag<float, 8>> v) {
  return hn::NearestInt(v);
}
HWY_INLINE hn::Vec<hn::FixedTag<std::int64_t, 4>> whole(hn::FixedTag<double, 4> d,
                                                        hn::Vec<hn::FixedTag<double, 4>> v) {
  const hn::FixedTag<std::int64_t, 4> di;
  const auto magic = hn::Set(d, 6755399441055744.0);
  return hn::Sub(hn::BitCast(di, hn::Add(v, magic)), hn::BitCast(di, magic));
}

/// What lies beyond a row's end belongs to its beginning.
template <class T, int P>
void fold_rows(const PmeGrid<T>& g, std::size_t deep, typename PmeGrid<T>::Whole* tile) {
  for (std::size_t x = 0; x < deep; ++x)
    for (std::size_t y = 0; y < g.k[1]; ++y) {
      auto* const r = tile + x * g.plane + y * g.row;
      for (std::size_t z = 0; z + 1 < static_cast<std::size_t>(P); ++z) {
        r[z] += r[g.k[2] + z];
        r[g.k[2] + z] = 0;
      }
    }
}

template <class T, int P>
void spread_slab(PmeGrid<T>& g, std::size_t slab) {
  using Row = RowOf<T, P>;
  using Whole = typename PmeGrid<T>::Whole;
  const typename Row::D d;
  const hn::RebindToSigned<typename Row::D> di;
  const std::size_t deep = g.slabs[slab].width + P - 1;
  Whole* const tile = g.tiles[slab].get();
  std::memset(tile, 0, deep * g.plane * sizeof(Whole));
  const std::span<const PmeAtom<T>> atoms = g.of_slab(slab);
  BatchSplines<T, P> splines;
  for (std::size_t begin = 0; begin < atoms.size(); begin += batch) {
    const std::size_t many = splines.take(atoms, begin, 0);
    for (std::size_t i = 0; i < many; ++i) {
      const PmeAtom<T>& atom = atoms[begin + i];
      typename std::array<hn::Vec<typename Row::D>, 1>::value_type z[Row::steps];
      for (std::size_t s = 0; s < Row::steps; ++s)
        z[s] = hn::Load(d, splines.rows[0][i] + s * Row::lanes);
      Whole* const from = tile + static_cast<std::size_t>(atom.point[0]) * g.plane +
                          static_cast<std::size_t>(atom.point[2]);
      const std::size_t* const offset = g.wrapped_y.data() + atom.point[1];
#pragma GCC unroll 8
      for (int x = 0; x < P; ++x) {
        const T qx = atom.charge * splines.value[0][x][i];
        Whole* const at = from + static_cast<std::size_t>(x) * g.plane;
#pragma GCC unroll 8
        for (int y = 0; y < P; ++y) {
          const auto q = hn::Set(d, qx * splines.value[1][y][i]);
          for (std::size_t s = 0; s < Row::steps; ++s) {
            Whole* const to = at + offset[y] + s * Row::lanes;
            hn::StoreU(hn::Add(hn::LoadU(di, to), whole(d, hn::Mul(q, z[s]))), di, to);
          }
        }
      }
    }
  }
  fold_rows<T, P>(g, deep, tile);
}

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
void spread_tangent_slab(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t slab) {
  using Row = RowOf<T, P>;
  using Whole = typename PmeGrid<T>::Whole;
  const typename Row::D d;
  const hn::RebindToSigned<typename Row::D> di;
  const std::size_t deep = g.slabs[slab].width + P - 1;
  Whole* const tile = t.grid.tiles[slab].get();
  std::memset(tile, 0, deep * g.plane * sizeof(Whole));
  const std::span<const PmeAtom<T>> atoms = g.of_slab(slab);
  BatchSplines<T, P> splines;
  for (std::size_t begin = 0; begin < atoms.size(); begin += batch) {
    const std::size_t many = splines.take(atoms, begin, 1);
    for (std::size_t i = 0; i < many; ++i) {
      const PmeAtom<T>& atom = atoms[begin + i];
      const auto which = static_cast<std::size_t>(atom.atom);
      const auto [qx, qy, qz, dq] = t.charge[which];
      Whole* const from = tile + static_cast<std::size_t>(atom.point[0]) * g.plane +
                          static_cast<std::size_t>(atom.point[2]);
      const std::size_t* const offset = g.wrapped_y.data() + atom.point[1];
      for (int x = 0; x < P; ++x) {
        const T mx = splines.value[0][x][i], both = dq * mx + qx * splines.derivative[0][x][i];
        Whole* const at = from + static_cast<std::size_t>(x) * g.plane;
        for (int y = 0; y < P; ++y) {
          const T my = splines.value[1][y][i];
          const auto flat = hn::Set(d, both * my + qy * mx * splines.derivative[1][y][i]),
                     steep = hn::Set(d, qz * mx * my);
          for (std::size_t s = 0; s < Row::steps; ++s) {
            Whole* const to = at + offset[y] + s * Row::lanes;
            const auto v =
                hn::MulAdd(steep, hn::Load(d, splines.rows[1][i] + s * Row::lanes),
                           hn::Mul(flat, hn::Load(d, splines.rows[0][i] + s * Row::lanes)));
            hn::StoreU(hn::Add(hn::LoadU(di, to), whole(d, v)), di, to);
          }
        }
      }
    }
  }
  fold_rows<T, P>(g, deep, tile);
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

template <class T>
void forward_pair(PmeGrid<T>& g, std::size_t pair) {
  using Whole = typename PmeGrid<T>::Whole;
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const std::size_t lanes = hn::Lanes(d), n = g.k[0], block = n * lanes, y = 2 * pair;
  const bool two = y + 1 < g.k[1];
  T* const s = scratch_of<T>(6 * block);
  T *const re = s + 4 * block, *const im = s + 5 * block;
  const Lines<T> lines = {re, im, lanes};
  auto most = hn::Zero(d);
  for (std::size_t z = 0; z < g.k[2]; z += lanes) {
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t which = 0; which < 2; ++which) {
        auto sum = hn::Zero(di);
        if (which == 0 || two)
          for (const auto& part : g.parts[x])
            sum = hn::Add(sum, hn::LoadU(di, static_cast<const Whole*>(g.tiles[part.slab].get()) +
                                                 part.x * g.plane + (y + which) * g.row + z));
        const auto q = hn::ConvertTo(d, sum);
        most = hn::Max(most, hn::Abs(q));
        hn::Store(q, d, (which == 0 ? re : im) + x * lanes);
      }
    transform_lines(d, g.x, Lines<const T>{re, im, lanes}, lines, s);
    // A_k = (Z_k + conj(Z_{n-k}))/2, B_k = (Z_k - conj(Z_{n-k}))/2i
    const auto half = hn::Set(d, T(0.5));
    for (std::size_t k = 0; k < g.half; ++k) {
      const std::size_t a = k * lanes, b = (k == 0 ? 0 : n - k) * lanes;
      const auto ar = hn::Load(d, re + a), ai = hn::Load(d, im + a), br = hn::Load(d, re + b),
                 bi = hn::Load(d, im + b);
      T* const to = g.wave(k, y) + z;
      hn::StoreU(hn::Mul(half, hn::Add(ar, br)), d, to);
      hn::StoreU(hn::Mul(half, hn::Sub(ai, bi)), d, to + g.wave_row);
      if (!two) continue;
      hn::StoreU(hn::Mul(half, hn::Add(ai, bi)), d, to + 2 * g.wave_row);
      hn::StoreU(hn::Mul(half, hn::Sub(br, ar)), d, to + 3 * g.wave_row);
    }
  }
  g.largest[pair] = hn::GetLane(hn::MaxOfLanes(d, most));
}

template <class T>
void backward_pair(PmeGrid<T>& g, std::size_t pair) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), n = g.k[0], block = n * lanes, y = 2 * pair;
  const bool two = y + 1 < g.k[1];
  T* const s = scratch_of<T>(6 * block);
  T *const re = s + 4 * block, *const im = s + 5 * block;
  for (std::size_t z = 0; z < g.k[2]; z += lanes) {
    for (std::size_t k = 0; k < g.half; ++k) {
      const T* const from = g.wave(k, y) + z;
      const auto ar = hn::LoadU(d, from), ai = hn::LoadU(d, from + g.wave_row);
      const auto br = two ? hn::LoadU(d, from + 2 * g.wave_row) : hn::Zero(d),
                 bi = two ? hn::LoadU(d, from + 3 * g.wave_row) : hn::Zero(d);
      hn::Store(hn::Sub(ar, bi), d, re + k * lanes);
      hn::Store(hn::Add(ai, br), d, im + k * lanes);
      if (k == 0) continue;
      hn::Store(hn::Add(ar, bi), d, re + (n - k) * lanes);
      hn::Store(hn::Sub(br, ai), d, im + (n - k) * lanes);
    }
    if (n % 2 == 0) {
      hn::Store(hn::Zero(d), d, re + n / 2 * lanes);
      hn::Store(hn::Zero(d), d, im + n / 2 * lanes);
    }
    transform_lines(d, g.x, Lines<const T>{im, re, lanes}, Lines<T>{im, re, lanes}, s);
    T* const to = g.potential.get() + y * g.row + z;
    for (std::size_t x = 0; x < n; ++x) {
      hn::StoreU(hn::Load(d, re + x * lanes), d, to + x * g.plane);
      if (two) hn::StoreU(hn::Load(d, im + x * lanes), d, to + x * g.plane + g.row);
    }
  }
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t which = 0; which < (two ? 2u : 1u); ++which) {
      T* const r = g.potential.get() + x * g.plane + (y + which) * g.row;
      for (std::size_t i = 0; i < 8; ++i) r[g.k[2] + i] = r[i];
    }
}

/// to[j][i] = from[i][j], rows rounded up to squares of 4 (float) or 2 (double).
HWY_INLINE void turn_square(const float* from, std::size_t from_row, float* to,
                            std::size_t to_row) {
  const hn::FixedTag<float, 4> d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_row),
             c = hn::LoadU(d, from + 2 * from_row), e = hn::LoadU(d, from + 3 * from_row);
  const auto ac = hn::InterleaveLower(d, a, c), be = hn::InterleaveLower(d, b, e),
             ac2 = hn::InterleaveUpper(d, a, c), be2 = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, ac, be), d, to);
  hn::StoreU(hn::InterleaveUpper(d, ac, be), d, to + to_row);
  hn::StoreU(hn::InterleaveLower(d, ac2, be2), d, to + 2 * to_row);
  hn::StoreU(hn::InterleaveUpper(d, ac2, be2), d, to + 3 * to_row);
}
HWY_INLINE void turn_square(const double* from, std::size_t from_row, double* to,
                            std::size_t to_row) {
  const hn::FixedTag<double, 2> d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_row);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_row);
}
template <class T>
HWY_INLINE void turn_plane(const T* from, std::size_t from_row, std::size_t rows,
                           std::size_t columns, T* to, std::size_t to_row) {
  constexpr std::size_t side = std::is_same_v<T, float> ? 4 : 2;
  for (std::size_t j = 0; j < columns; j += side)
    for (std::size_t i = 0; i < rows; i += side)
      turn_square(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
}

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

/// Waves of one kx, by way of lines along y, as [z, (re, im), y] in `field`; and back. `s`: scratch
/// of transform_lines.
template <class T>
void turn_in(const PmeGrid<T>& g, T* plane, T* field, T* s) {
  const hn::ScalableTag<T> d;
  const Lines<T> lines = {plane, plane + g.wave_row, 2 * g.wave_row};
  for (std::size_t z = 0; z < g.k[2]; z += hn::Lanes(d))
    transform_lines(d, g.y, Lines<const T>{lines.re + z, lines.im + z, lines.stride},
                    Lines<T>{lines.re + z, lines.im + z, lines.stride}, s);
  for (std::size_t part = 0; part < 2; ++part)
    turn_plane(plane + part * g.wave_row, 2 * g.wave_row, g.k[1], g.k[2],
               field + part * g.turned_row, 2 * g.turned_row);
}
template <class T>
void turn_out(const PmeGrid<T>& g, const T* field, T* plane, T* s) {
  const hn::ScalableTag<T> d;
  for (std::size_t part = 0; part < 2; ++part)
    turn_plane(field + part * g.turned_row, 2 * g.turned_row, g.k[2], g.k[1],
               plane + part * g.wave_row, 2 * g.wave_row);
  const Lines<T> lines = {plane + g.wave_row, plane, 2 * g.wave_row};
  for (std::size_t z = 0; z < g.k[2]; z += hn::Lanes(d))
    transform_lines(d, g.y, Lines<const T>{lines.re + z, lines.im + z, lines.stride},
                    Lines<T>{lines.re + z, lines.im + z, lines.stride}, s);
}
template <class T>
void along_z(const PmeGrid<T>& g, T* field, std::size_t y, bool back, T* s) {
  T *re = field + y, *im = re + g.turned_row;
  if (back) std::swap(re, im);
  transform_lines(hn::ScalableTag<T>(), g.z, Lines<const T>{re, im, 2 * g.turned_row},
                  Lines<T>{re, im, 2 * g.turned_row}, s);
}
template <class T>
struct PlaneScratch {
  T *lines, *field;
  explicit PlaneScratch(const PmeGrid<T>& g) {
    constexpr std::size_t side = std::is_same_v<T, float> ? 4 : 2;
    const std::size_t for_lines = 4 * std::max(g.k[1], g.k[2]) * hn::Lanes(hn::ScalableTag<T>()),
                      turned = (g.k[2] + side - 1) / side * side * 2 * g.turned_row;
    lines = scratch_of<T>(for_lines + turned);
    field = lines + for_lines;
    std::memset(field, 0, turned * sizeof(T));
  }
};

template <class T>
void convolve_plane(PmeGrid<T>& g, std::size_t kx, bool moments) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), ny = g.k[1], nz = g.k[2];
  const PlaneScratch<T> s(g);
  T* const plane = g.wave(kx, 0);
  turn_in(g, plane, s.field, s.lines);
  const T* const green = g.influence.get() + kx * nz * g.turned_row;
  const bool first_all = moments || g.keeps_spectrum;
  if (first_all)
    for (std::size_t y = 0; y < ny; y += lanes) along_z(g, s.field, y, false, s.lines);
  if (moments) add_moments(g, kx, s.field, g.moments[kx]);
  if (g.keeps_spectrum)
    std::memcpy(g.spectrum.get() + kx * nz * 2 * g.turned_row, s.field,
                nz * 2 * g.turned_row * sizeof(T));
  for (std::size_t y = 0; y < ny; y += lanes) {
    if (!first_all) along_z(g, s.field, y, false, s.lines);
    for (std::size_t z = 0; z < nz; ++z) {
      T *const re = s.field + z * 2 * g.turned_row + y, *const im = re + g.turned_row;
      const auto factor = hn::LoadU(d, green + z * g.turned_row + y);
      hn::StoreU(hn::Mul(factor, hn::LoadU(d, re)), d, re);
      hn::StoreU(hn::Mul(factor, hn::LoadU(d, im)), d, im);
    }
    along_z(g, s.field, y, true, s.lines);
  }
  turn_out(g, s.field, plane, s.lines);
}

/// dphi^ = G dQ^ + dG Q^ with dG/G = -(1/k^2 + 1/4 beta^2) dk^2 - d ln V, and the changes of the
/// moments.
template <class T>
void convolve_tangent_plane(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t kx) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>()), ny = g.k[1], nz = g.k[2];
  const PlaneScratch<T> s(g);
  T* const plane = t.grid.wave(kx, 0);
  turn_in(g, plane, s.field, s.lines);
  const double nx = static_cast<double>(kx), weight = kx == 0 ? 0.5 : 1.0,
               quanta = t.grid.quantum / g.quantum;
  if (!t.boxed) {
    const hn::ScalableTag<T> d;
    const auto scale = hn::Set(d, static_cast<T>(quanta));
    for (std::size_t y = 0; y < ny; y += lanes) {
      along_z(g, s.field, y, false, s.lines);
      for (std::size_t z = 0; z < nz; ++z) {
        T *const re = s.field + z * 2 * g.turned_row + y, *const im = re + g.turned_row;
        const auto factor =
            hn::Mul(scale, hn::LoadU(d, g.influence.get() + (kx * nz + z) * g.turned_row + y));
        hn::StoreU(hn::Mul(factor, hn::LoadU(d, re)), d, re);
        hn::StoreU(hn::Mul(factor, hn::LoadU(d, im)), d, im);
      }
      along_z(g, s.field, y, true, s.lines);
    }
    turn_out(g, s.field, plane, s.lines);
    return;
  }
  for (std::size_t y = 0; y < ny; y += lanes) along_z(g, s.field, y, false, s.lines);
  double sums[pme_moments] = {};
  for (std::size_t z = 0; z < nz; ++z) {
    const double nz_ = wave_number(z, nz);
    const std::size_t row = (kx * nz + z) * g.turned_row;
    T *const re = s.field + z * 2 * g.turned_row, *const im = re + g.turned_row;
    const T *const green = g.influence.get() + row, *const qr = g.spectrum.get() + 2 * row,
                   *const qi = qr + g.turned_row;
    for (std::size_t y = 0; y < ny; ++y) {
      const double ny_ = wave_number(y, ny),
                   nn[6] = {nx * nx, ny_ * ny_, nz_ * nz_, nx * ny_, nx * nz_, ny_ * nz_};
      double k2 = 0, dk2 = 0;
      for (std::size_t e = 0; e < 6; ++e) {
        k2 += g.metric[e] * nn[e];
        dk2 += t.metric[e] * nn[e];
      }
      const double inverse = k2 == 0 ? 0 : 1 / k2, c = inverse + g.decay,
                   dc = -dk2 * inverse * inverse, ratio = -dk2 * c - t.volume;
      const double dr = quanta * re[y], di = quanta * im[y],
                   e = weight * green[y] * (qr[y] * qr[y] + qi[y] * qi[y]);
      const double de = e * ratio + 2 * weight * green[y] * (qr[y] * dr + qi[y] * di),
                   dn = de * c + e * dc;
      sums[0] += de;
      for (std::size_t k = 0; k < 6; ++k) sums[1 + k] += dn * nn[k];
      re[y] = static_cast<T>(green[y] * (dr + ratio * qr[y]));
      im[y] = static_cast<T>(green[y] * (di + ratio * qi[y]));
    }
  }
  std::copy(sums, sums + pme_moments, t.grid.moments[kx].begin());
  for (std::size_t y = 0; y < ny; y += lanes) along_z(g, s.field, y, true, s.lines);
  turn_out(g, s.field, plane, s.lines);
}

/// f(std::integral_constant of the order).
template <class F>
void with_order(std::size_t order, F&& f) {
  switch (order) {
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    case 6:
      return f(std::integral_constant<int, 6>());
    case 7:
      return f(std::integral_constant<int, 7>());
    default:
      return f(std::integral_constant<int, 8>());
  }
}
template <class T>
void spread(PmeGrid<T>& g, std::size_t slab) {
  with_order(g.order, [&](auto p) { spread_slab<T, p>(g, slab); });
}
template <class T>
void gather(PmeGrid<T>& g, std::size_t slab) {
  with_order(g.order, [&](auto p) { gather_slab<T, p>(g, slab); });
}
template <class T>
void spread_tangent(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t slab) {
  with_order(g.order, [&](auto p) { spread_tangent_slab<T, p>(g, t, slab); });
}
template <class T>
void gather_tangent(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t slab) {
  with_order(g.order, [&](auto p) { gather_tangent_slab<T, p>(g, t, slab); });
}

template <class T>
PmeKernels<T> kernels_of() {
  return {spread<T>, forward_pair<T>,   convolve_plane<T>,         backward_pair<T>,
          gather<T>, spread_tangent<T>, convolve_tangent_plane<T>, gather_tangent<T>};
}
PmeKernels<float> kernels_f32() { return kernels_of<float>(); }
PmeKernels<double> kernels_f64() { return kernels_of<double>(); }

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::molecular {

HWY_EXPORT(kernels_f32);
HWY_EXPORT(kernels_f64);

namespace {
/// Highway's better targets have lower bits: those above what vectors.h allows are taken out, once.
void limit_targets() {
  static const int bits = [] {
    if (vector_bits() < 512) hwy::DisableTargets((vector_bits() < 256 ? HWY_SSE4 : HWY_AVX2) - 1);
    return vector_bits();
  }();
  static_cast<void>(bits);
}
}  // namespace

template <>
PmeKernels<float> pme_kernels<float>() {
  return limit_targets(), HWY_DYNAMIC_DISPATCH(kernels_f32)();
}
template <>
PmeKernels<double> pme_kernels<double>() {
  return limit_targets(), HWY_DYNAMIC_DISPATCH(kernels_f64)();
}

}  // namespace tessera::molecular
#endif
