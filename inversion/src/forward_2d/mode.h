// SPDX-License-Identifier: Apache-2.0
//
// One of the two problems on a mesh: which nodes are unknown, what is given, its matrices.
//
// Degrees of freedom are numbered: unknowns inside, nodes of the sides (unknowns of the columns),
// nodes whose value is given. Rows are: equations inside, equations of the columns, what is left
// over below the sensors' lines.
#pragma once
#include "form.h"
#include "sensor_lines.h"

#include <optional>

namespace tessera::inversion {

struct Mode2d {
  bool te = true;
  Index inside = 0, side = 0, given = 0;
  std::vector<Index> freedom;  ///< [nodes]: number, -1 where the field is not asked for
  double given_value = 0;      ///< of all that are given
  Tensor load;                 ///< [inside] f64, times i w mu0; undefined: none
  Tensor side_load;            ///< [side]
  std::array<bool, kinds_2d> constant{};
  Block2d matrix, coupling, side_matrix, side_coupling, left_over;
  /// The same rows' products with a field of 1, one column: gradients have no part in it.
  Block2d of_one, side_of_one, left_over_of_one;
  Tensor line_freedom;  ///< [line nodes] i64
  Index on_ground = 0;  ///< freedom of the first of them
  Sensitivity2d sensitivity;
  Index freedoms() const { return inside + side + given; }
};

/// Media of the mesh: parameters first, then what is given; number of each cell's.
struct Media2d {
  std::vector<Index> of_cell;
  Index parameters = 0;
  std::vector<double> given_ohm_m;
  Index count() const { return parameters + static_cast<Index>(given_ohm_m.size()); }
};

Mode2d mode_2d(bool te, const Mesh2d& mesh, const Space2d& space, const CellIntegrals& integrals,
               const Media2d& media, const SensorLines& lines, const Forward2dOptions& options);

}  // namespace tessera::inversion
