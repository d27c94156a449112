// SPDX-License-Identifier: Apache-2.0
//
// Lines along x, two real ones as one complex: charges to waves, waves to the potential.
// Read once for every set of instructions (pme_kernels.cpp).
#include "nonbonded/kernels/pme_kernels.h"

#include <hwy/highway.h>

#include <cstddef>

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
        if (g.lines.get()) {
          if (which == 0 || two)
            sum = hn::LoadU(di, static_cast<const Whole*>(g.lines.get()) +
                                    ((y + which - g.first_line) * n + x) * g.row + z);
        } else if (which == 0 || two)
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

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
