// SPDX-License-Identifier: Apache-2.0
//
// Charges of one slab to its tile of whole numbers; and their changes along a direction.
// Read once for every set of instructions (pme_kernels.cpp).
#include "nonbonded/kernels/pme_kernels.h"

#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
    for (const auto& [begin, end] : g.rows)
      for (std::size_t y = begin; y < end; ++y) {
        auto* const r = tile + x * g.plane + y * g.row;
        for (std::size_t z = 0; z + 1 < static_cast<std::size_t>(P); ++z) {
          r[z] += r[g.k[2] + z];
          r[g.k[2] + z] = 0;
        }
      }
}

template <class T>
void clear_rows(const PmeGrid<T>& g, std::size_t deep, typename PmeGrid<T>::Whole* tile) {
  for (std::size_t x = 0; x < deep; ++x)
    for (const auto& [begin, end] : g.rows)
      std::fill_n(tile + x * g.plane + begin * g.row, (end - begin) * g.row, 0);
}

template <class T, int P>
void spread_slab(PmeGrid<T>& g, std::size_t slab) {
  using Row = RowOf<T, P>;
  using Whole = typename PmeGrid<T>::Whole;
  const typename Row::D d;
  const hn::RebindToSigned<typename Row::D> di;
  const std::size_t deep = g.slabs[slab].width + P - 1;
  Whole* const tile = g.tiles[slab].get();
  clear_rows(g, deep, tile);
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
void spread_tangent_slab(const PmeGrid<T>& g, PmeTangent<T>& t, std::size_t slab) {
  using Row = RowOf<T, P>;
  using Whole = typename PmeGrid<T>::Whole;
  const typename Row::D d;
  const hn::RebindToSigned<typename Row::D> di;
  const std::size_t deep = g.slabs[slab].width + P - 1;
  Whole* const tile = t.grid.tiles[slab].get();
  clear_rows(g, deep, tile);
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

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
