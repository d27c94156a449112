// SPDX-License-Identifier: Apache-2.0
//
// What a Forward2d holds, and its parts: each a function of one frequency in engine operations.
#pragma once
#include "mode.h"

#include <optional>

namespace tessera::inversion {

/// What the media have, [media] each. Air conducts nothing; its resistivity is not used and stands
/// as 1.
struct Axes {
  Tensor rho_y, rho_z, root_rho_y, sigma_x, root_sigma_x;
};
Axes axes_of(const Tensor& ln_rho, const Media2d& media);
Coefficients2d coefficients(bool te, const Axes& a);

/// The field of one mode at one frequency, and the systems that it solved. u = base + rise, base
/// near the field at the ground: close to it, where fluxes are read, the rise is as much smaller as
/// cells are than the skin depth, and keeps so many more digits.
struct Solved {
  Coefficients2d c;
  std::optional<LinearOperator> matrix, side_matrix;
  Tensor coupling, left_over, left_over_of_one;  // values
  Tensor base;                                   // scalar
  Tensor rise;                                   // [freedoms]
};

Tensor solution(const LinearOperator& a, const Tensor& b, const LinearSolverPtr& solver);
Solved solved(const Mode2d& mode, const Coefficients2d& c, const Frequency2d& f,
              const LinearSolverPtr& solver);

/// What is measured is made of the field at the lines, what is left over below them, and its
/// derivative along them: [sensors] each.
struct LineValues {
  Tensor at, along, across;
};
LineValues line_values(const Mode2d& mode, const SensorLines& lines, const Solved& s);

/// d(datum) of every sensor as a combination of the changes of the three, [sensors] each;
/// undefined: none.
struct DatumChange {
  Tensor at, along, across;
};

/// A datum of every sensor, and what changes it.
struct Datum {
  Tensor value;
  DatumChange change;
};

struct Forward2d::Body {
  std::vector<double> frequency_hz;
  Space2d space;
  CellIntegrals integrals;
  Media2d media;
  SensorLines lines;
  std::optional<Mode2d> te, tm;
  LinearSolverPtr solver;
  Tensor w_mu, cos_turn, sin_turn;
  bool tipper = true;
  bool turned = false;  ///< some sensor is not tilted as its line
  Tensor sensor_medium;

  Index sensors() const { return lines.at.shape()[0]; }
  void require_model(const Tensor& ln_rho) const;

  Datum te_impedance(const LineValues& v, const Frequency2d& f) const;
  Datum te_tipper(const LineValues& v) const;
  Datum tm_impedance(const LineValues& v, const Axes& a) const;
  /// E_t = -across and J_n = along; E = diag(r_y, r_z) J in the medium at the sensor: Ey' is the
  /// sum of both with these weights.
  std::pair<Tensor, Tensor> tm_weights(const Tensor& rho_y, const Tensor& rho_z) const;

  Responses2d at_one_frequency(const Tensor& w, const Axes& a) const;
  /// lambda of [equations inside, of the columns, left over below the lines], [rows, sensors]:
  /// d(datum) = lambda^T dA u, dA the change of the rows' matrices.
  Tensor multipliers(const Mode2d& mode, const Solved& s, const DatumChange& d) const;
  /// te, tm, tipper, and their derivatives.
  std::vector<Tensor> jacobian_at(const Tensor& w, const Axes& a, const Tensor& ln_rho) const;
};

}  // namespace tessera::inversion
