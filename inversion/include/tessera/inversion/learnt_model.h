// SPDX-License-Identifier: Apache-2.0
//
// A model of which learnt priors say a part: of cells in space, whatever their dimension,
//   m = b (1 - sum_k w_k) + P p + sum_k w_k D_k(z_k),
// with pixels p, codes z_k of generators D_k whose arrays lie in regions, weights w_k(x) that fall
// to 0 at rims of a region and add up to 1 at most, and a background b.
//
//   LearntModel m = learnt_model({generator}, {region}, places_of_cells, background, pixels);
//   InverseProblem p{through(physics, m.map()), data, sigma};
//   gauss_newton(p, m.prior(of_pixels), start);
#pragma once
#include "tessera/inversion/forward_map.h"
#include "tessera/inversion/generator.h"
#include "tessera/inversion/regularization.h"

#include <array>
#include <cstddef>
#include <vector>

namespace tessera::inversion {

/// Where a generator's array lies: its axes, the first one first, between these bounds; a number
/// of the array stands in the middle of its part. The array's neighbours of a place are taken in
/// proportion (linear along each axis, constant beyond the outermost middles).
struct Region {
  std::vector<std::array<double, 2>> bounds;
  /// Over such a part of its extent, from the lower and from the upper bound of each axis, the
  /// weight rises from 0 to 1; empty: it is 1 up to the rim.
  std::vector<std::array<double, 2>> fade = {};
  /// Beyond the lower and the upper bound of each axis the outermost numbers go on; empty: there
  /// the weight is 0.
  std::vector<std::array<bool, 2>> beyond = {};
};

/// Points in cells, [points, axes], by which a cell is represented: each counts as much as others
/// of its cell. Depths are best those below the ground, for an array that follows it.
struct CellPoints {
  std::size_t axes = 2;
  std::vector<double> at;         ///< [points, axes]
  std::vector<std::size_t> cell;  ///< [points]
};

struct LearntModel {
  std::vector<Generator> generators;
  std::vector<SparseMatrix> into;  ///< w_k and the way from log10 to ln: [cells, of the array]
  std::vector<double> outside;     ///< 1 - sum of weights: [cells]
  std::vector<double> background;  ///< b (1 - sum of weights), ln: [cells]
  SparseMatrix pixels;             ///< P: [cells, pixels], perhaps of no columns
  /// Which part of each pixel's variance is what decoders are wrong by; the rest is a freedom of
  /// its own. As learnt_model makes it: the square of the generators' weight where the pixel is.
  std::vector<double> decoder_part;

  std::size_t cells() const { return background.size(); }
  std::size_t n_pixels() const { return pixels.cols; }
  std::size_t n_codes() const;                                 ///< of all generators
  std::size_t size() const { return n_pixels() + n_codes(); }  ///< of x = (p, z_1, z_2, ...)
  std::size_t first_code(std::size_t generator) const;         ///< where z_k begins in x

  /// x -> m with exact derivatives up to second order, the generators' by the engine: all tangents
  /// of codes at once. Compiled when it is first used; keep the map.
  ForwardMap map() const;
  /// That of pixels beside N(0, 1) of all codes. Throws tessera::Error where a generator's
  /// `log_prior` is another one.
  GaussianPrior prior(GaussianPrior of_pixels) const;
  /// A generator's array that comes nearest to ln rho of cells, smooth where they say nothing:
  /// log10, [shape of model].
  Tensor array_of(std::size_t generator, const std::vector<double>& m) const;
};

/// Cells are those of `background` (ln of ohm m). Throws tessera::Error where sizes disagree, a
/// bound is not above the other, or a region holds no point.
LearntModel learnt_model(std::vector<Generator> generators, const std::vector<Region>& regions,
                         const CellPoints& points, std::vector<double> background,
                         SparseMatrix pixels);

}  // namespace tessera::inversion
