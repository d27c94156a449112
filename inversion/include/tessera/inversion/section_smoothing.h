// SPDX-License-Identifier: Apache-2.0
//
// Smoothness of a section as a Gaussian prior. Of neighbours a and b that share an edge of length L
// with their middles d apart,
//
//   R(m) = sum over edges  w L/d (m_a - m_b)^2  ~  int |grad m|^2 dA,
//
// which knows no units and no numbers of cells: finer cells of the same model have the same R.
// Precision = mu (R + anchor), with
//
//   anchor(m) = a sum over cells A/A_all (m - reference)^2,
//
// so that it is proper: what no datum and no neighbour holds stays near the reference.
#pragma once
#include "tessera/inversion/mesh_2d.h"
#include "tessera/inversion/occam.h"

#include <vector>

namespace tessera::inversion {

/// A polyline across which nothing ties the model: a fault, the base of a basin; m, z down.
struct Tear2d {
  std::vector<double> y, z;
};

/// What a difference of neighbours costs beside its square: D = (m_a - m_b)^2 L/d up to `corner`,
/// then as its root, 2 corner |..| - corner^2 (Huber); of l1 for a corner that is small.
enum class DifferenceNorm { squares, huber };

struct SectionSmoothingOptions {
  double along = 1;  ///< weight of differences along the section (across upright edges)
  double down = 1;   ///< of those down
  std::vector<Tear2d> tears;
  double across_tears = 0;        ///< factor on differences across them
  std::vector<double> reference;  ///< ln ohm m of each parameter (x axes); one number: of all
  /// Differences are those of m - reference; else of m alone, and only the anchor knows it.
  bool rough_from_reference = false;
  double anchor = 1e-3;
  DifferenceNorm norm = DifferenceNorm::squares;
  double corner = 0.1;  ///< |m_a - m_b| beyond which `huber` counts differences by their size
  int axes = 1;         ///< 1, or 3 resistivities a cell, the axis fastest
  double isotropy =
      1;  ///< weight of differences of a cell's axes, times A over depth^2 of its middle
};

/// An edge between cells of two parameters, or two axes of one.
struct SectionTie {
  Index a = 0, b = 0;
  double weight = 0;  ///< w L/d
};
/// All ties of the parameters of a mesh; those of one pair are added.
std::vector<SectionTie> section_ties(const Mesh2d& cells, const SectionSmoothingOptions& options);

/// The family of priors. With another norm than squares the weights are those of reweighted least
/// squares at the model `at` (P. Huber 1964; C. Farquharson and D. Oldenburg 1998,
/// doi:10.1046/j.1365-246x.1998.00555.x): make it again as the model moves. Throws Error for sizes
/// that do not fit, weights that are negative, no anchor.
Smoothing section_smoothing(const Mesh2d& cells, const SectionSmoothingOptions& options,
                            const std::vector<double>& at = {});

/// A field of mean 0, a number a cell, whose correlation is d K1(d), d the distance in lengths of
/// either direction (m). Its precision is B M^-1 B but for a factor, M the areas of cells and
///   m^T B m = sum of A m^2 + sum over edges w L/d (m_a - m_b)^2,
/// w the square of the length that leads across the edge (P. Whittle 1954,
/// doi:10.1093/biomet/41.3-4.434). First differences alone have K0, which has no end at 0: the
/// finer the cells are, the less is left of their mean. Here means are those of d K1(d), within a
/// tenth for lengths of 0.6 cells and more. with_standard_deviations gives the size.
GaussianPrior section_correlation(const Mesh2d& cells, double along_m, double down_m);

}  // namespace tessera::inversion
