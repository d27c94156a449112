// SPDX-License-Identifier: Apache-2.0
//
// The steps of a particle-mesh sum and the memory that they share. The grid is cut across x into
// slabs; each has a tile of whole numbers as wide as the slab and the splines that reach beyond it,
// so that slabs are filled without locks and added in any order. Then
//
//   charges [x, y, z]  -> lines along x, two real ones as one complex
//                      -> waves [kx, y, (re, im), z], kx < K_x/2
//   waves of one kx    -> lines along y, along z, times the influence function, back along z and y
//   waves              -> lines along x -> potential [x, y, z]
//
// each with SIMD lanes along the axis that lies contiguous.
#pragma once
#include "nonbonded/kernels/line_fft.h"
#include "nonbonded/kernels/splines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::molecular {

/// Zeroed memory aligned for vectors.
template <class T>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(std::size_t n)
      : p_(static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}))) {
    std::fill(p_, p_ + n, T(0));
  }
  Aligned(Aligned&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Aligned& operator=(Aligned&& o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Aligned() { ::operator delete (p_, std::align_val_t{64}); }
  T* get() const { return p_; }

 private:
  T* p_ = nullptr;
};

/// An atom on the grid: it touches the points point[a], point[a] + 1, ... of axis a; `w` is how far
/// it is beyond the last but `order` of them (splines.h), in cells. point[0] counts from its slab's
/// first.
template <class T>
struct PmeAtom {
  std::array<T, 3> w;
  T charge;  ///< in quanta
  std::array<std::int32_t, 3> point;
  std::int32_t atom;
};

inline constexpr std::size_t pme_moments = 7;  ///< energy, then those of n_a n_b: 00 11 22 01 02 12

template <class T>
struct PmeGrid {
  using Whole = std::conditional_t<std::is_same_v<T, float>, std::int32_t, std::int64_t>;
  struct Slab {
    std::size_t first = 0, width = 0;  ///< points of x; the tile has order - 1 more
  };
  struct Part {
    std::size_t slab, x;  ///< of its tile
  };

  std::size_t order = 4;
  std::array<std::size_t, 3> k{};
  std::size_t half =
      0;  ///< waves along x: (K_x + 1)/2; that of K_x/2 has no part in the sum (pme.h)
  std::size_t row = 0, plane = 0;  ///< distances of y and of x in tiles and potential; rows repeat
                                   ///< their beginning after K_z
  std::size_t wave_row = 0,
              wave_plane = 0;  ///< distances of re, im and next y by pairs, and of kx, in `waves`
  std::size_t turned_row = 0;  ///< K_y rounded up: rows of a plane turned to [z, (re, im), y]
  LineFft<T> x, y, z;
  std::vector<Slab> slabs;
  std::vector<std::vector<Part>> parts;  ///< the tiles that make up each x
  std::vector<std::size_t> slab_of;      ///< of each x
  /// Rows y that atoms touch, [begin, end) twice: all, or those of a rank.
  std::array<std::array<std::size_t, 2>, 2> rows{};
  std::vector<std::size_t> wrapped_x,
      wrapped_y;  ///< offsets in the potential of x and y up to K + order

  std::vector<Aligned<Whole>> tiles;
  Aligned<Whole> lines;  ///< [y, x, row]: the charges of rows from first_line on, where ranks
                         ///< have added theirs; else empty
  std::size_t first_line = 0;
  Aligned<T> waves, potential;
  Aligned<T>
      influence;  ///< [kx, z, y]: 4 pi k_e/V e^{-k^2/4 beta^2}/k^2 B times the quantum of charge
  std::vector<std::array<double, pme_moments>> moments;  ///< of each kx
  std::vector<T> largest;          ///< of each pair of lines y: |charge| in quanta
  std::vector<PmeAtom<T>> atoms;   ///< slab by slab, so that threads read and write side by side
  std::vector<std::size_t> first;  ///< in `atoms` of each slab, and one past the last
  bool wants_potential = false;    ///< of atoms, beside the gradient
  std::vector<std::array<T, 4>> felt;  ///< as `atoms`: sum_g phi D(M M M), D the three derivatives
                                       ///< in its fractions of a cell, then one
  Aligned<T> spectrum;  ///< [kx, z, (re, im), y]: the transform of the charges in quanta, if kept
  bool keeps_spectrum = false;
  std::array<double, 6> metric{};  ///< k^2 = sum over 00 11 22 01 02 12 of metric n_a n_b
  double decay = 0;                ///< 1/4 beta^2
  double quantum = 1;              ///< e

  std::span<const PmeAtom<T>> of_slab(std::size_t s) const {
    return {atoms.data() + first[s], first[s + 1] - first[s]};
  }
  T* wave(std::size_t kx, std::size_t y) const {
    return waves.get() + kx * wave_plane + y * 2 * wave_row;
  }
};

/// What moves along a direction (dx, dh, dq), on a grid of the same shape as that of the charges.
template <class T>
struct PmeTangent {
  PmeGrid<T> grid;  ///< of dQ: tiles, waves, potential, moments and quantum are its own
  std::vector<std::array<T, 4>>
      charge;  ///< of each atom by its number, in quanta: q du_x, q du_y, q du_z, dq
  std::vector<std::array<T, 14>> felt;  ///< likewise: phi with derivatives x y z, none, xx yy zz xy
                                        ///< xz yz; dphi with x y z, none
  bool boxed = true;  ///< the box moves, or moments are asked for; else the spectrum is not needed
  std::array<double, 6> metric{};  ///< change of the metric
  double volume = 0;               ///< change of ln V
};

/// One set of instructions.
template <class T>
struct PmeKernels {
  void (*spread)(PmeGrid<T>&, std::size_t slab);
  void (*forward)(PmeGrid<T>&, std::size_t pair);  ///< lines y = 2 pair, 2 pair + 1
  void (*convolve)(PmeGrid<T>&, std::size_t kx, bool moments);
  void (*backward)(PmeGrid<T>&, std::size_t pair);
  void (*gather)(PmeGrid<T>&, std::size_t slab);
  void (*spread_tangent)(const PmeGrid<T>&, PmeTangent<T>&, std::size_t slab);
  void (*convolve_tangent)(const PmeGrid<T>&, PmeTangent<T>&, std::size_t kx);
  void (*gather_tangent)(const PmeGrid<T>&, PmeTangent<T>&, std::size_t slab);
};
template <class T>
PmeKernels<T> pme_kernels();

}  // namespace tessera::molecular
