// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/grid_modes.h"

#include <Eigen/SparseCore>

namespace tessera::electromagnetics::modes {

using Complex = std::complex<double>;
using Matrix = Eigen::SparseMatrix<Complex, Eigen::RowMajor>;
using Vector = Eigen::VectorXcd;

/// A plane of a Yee model at one frequency: s e = a h, s h = b e in the notation of grid_modes.h,
/// of e_u before e_v and h_v before h_u.
struct CrossSection {
  std::vector<Edge> e, h, e_n, h_n;
  std::vector<Edge> held;                            ///< faces h_v, then h_u, whose edge is metal
  std::vector<double> e_scale, h_scale, held_scale;  ///< e per E, h per Z0 H
  Matrix a, b, e_n_of_h, h_n_of_e, held_of_e_n;
  double cell = 0;            ///< D, m
  double reference = 0;       ///< l, m
  double depth = 1;           ///< lengths of axes that are not resolved, m
  double densest = 0;         ///< largest Re (eps mu) of the plane, as the step sees it
  double steps_per_cell = 0;  ///< D / (c dt)
};
CrossSection cross_section(const YeeModel& model, const ModePlane& plane, double frequency_hz);

}  // namespace tessera::electromagnetics::modes
