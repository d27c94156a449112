// SPDX-License-Identifier: Apache-2.0
//
// Waves of one plane kx: lines along y and along z, times the influence function, and back.
// After pme_lines.inl and pme_moments.inl.
// Read once for every set of instructions (pme_kernels.cpp).
#include "nonbonded/kernels/pme_kernels.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tessera::molecular::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace tessera::molecular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
