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

#include <memory>
#include <mutex>
#include <optional>

namespace tessera::inversion {

/// Made with the first Jacobian: forward problems alone do without its memory.
class LazySensitivity2d {
 public:
  LazySensitivity2d(Entries2d entries, Index parameters, Index rows, Index cols,
                    const std::array<bool, kinds_2d>& constant);
  const Sensitivity2d& get() const;

 private:
  mutable std::once_flag made_;
  mutable Entries2d entries_;
  mutable Sensitivity2d sensitivity_;
  Index parameters_, rows_, cols_;
  std::array<bool, kinds_2d> constant_;
};

struct Mode2d {
  bool te = true;
  Index inside = 0, side = 0, given = 0;
  std::vector<Index> freedom;  ///< [nodes]: number, -1 where the field is not asked for
  double base = 0;             ///< what the field's rise is counted from at first
  Tensor given_rise;           ///< [given] f64: what is given, less `base`
  Tensor load;                 ///< [inside] f64, times i w mu0; undefined: none
  Tensor side_load;            ///< [side]
  std::array<bool, kinds_2d> constant{};
  Block2d matrix, coupling, side_matrix, side_coupling, left_over;
  /// The same rows' products with a field of 1, one column: gradients have no part in it.
  Block2d of_one, side_of_one, left_over_of_one;
  Tensor line_freedom;  ///< [line nodes] i64
  Index on_ground = 0;  ///< freedom of the first of them
  std::shared_ptr<const LazySensitivity2d> sensitivity;
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
