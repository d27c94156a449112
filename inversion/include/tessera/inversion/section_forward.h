// SPDX-License-Identifier: Apache-2.0
//
// The rows of a survey's table of data as a function of a section's resistivities: Forward2d at the
// model's frequencies, interpolated to those of the data (ModelData), as the numbers that the table
// has. TE is Zxy, TM is Zyx; the table's yx is -Zyx.
//
//   | element           | of a section                                             |
//   | xy, yx            | Zxy, -Zyx: real, imag, log10_rho, phase                   |
//   | determinant       | sqrt(-Zxy Zyx), the same four                             |
//   | average           | (Zxy - Zyx) / 2, the same four                            |
//   | ty                | Hz / Hy: real, imag                                       |
//   | phase_tensor      | xx: tan of the phase of yx; yy: of xy (x along strike)    |
//   | xx, yy, tx, phase_tensor xy, yx | zero over any section: they cannot be inverted |
//
//   const SectionForward forward(mesh, sensors, survey.data, model_frequencies(survey.data));
//   Tensor d = forward(ln_rho);          // engine operations: jvp, vjp, vmap, grad of a posterior
//   InverseProblem p{.forward = forward.map(), ...};
#pragma once
#include "tessera/inversion/data_table.h"
#include "tessera/inversion/forward_2d.h"
#include "tessera/inversion/forward_map.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace tessera::inversion {

/// Whether a section determines such a datum, as the table above says.
bool predicts_section(DatumKind kind);

/// What a phase may differ by without being another one: 360 degrees; of the determinant 180, since
/// the sign of its root is a convention. 0 of what is no phase.
double turn_of(DatumKind kind);

/// How many resistivities a cell has: one, or three along x, y, z.
enum class Axes2d { one = 1, three = 3 };

class SectionForward {
 public:
  /// Station k of the table is sensor k. The modes and the tipper are computed as rows ask for
  /// them, whatever `options` says of these. Throws Error for a row that a section does not
  /// determine, for a station without a sensor, and where Forward2d and model_data do.
  SectionForward(const Mesh2d& mesh, const Sensors2d& sensors, const DataTable& data,
                 const std::vector<double>& frequency_hz, const Forward2dOptions& options = {},
                 Axes2d axes = Axes2d::one);
  /// [rows] of ln rho in ohm m, [cells] or [cells, 3], in engine operations. Phases are those next
  /// to the datum, see turn_of.
  Tensor operator()(const Tensor& ln_rho) const;
  /// d(row)/d(ln rho) by reciprocity, [rows, cells (x 3, the axis fastest)]. Beside it only parts
  /// of some frequencies are kept.
  Matrix jacobian(const Tensor& ln_rho) const;
  /// The same where all of it is too much: some rows of the table at a time, which are the first
  /// ones of `values`, [rows and those begun, cells (x 3)], each when it is complete. Rows between
  /// the frequencies at work are kept.
  using JacobianRows =
      std::function<void(const std::vector<std::size_t>& rows, const Matrix& values)>;
  void jacobian(const Tensor& ln_rho, const JacobianRows& visit) const;
  /// With the Jacobian as numbers and second derivatives as products by the engine; or all of it
  /// as products, where rows x cells are too many.
  enum class First { numbers, products };
  ForwardMap map(First first = First::numbers) const;

  std::size_t rows() const;
  std::size_t parameters() const;  ///< cells x axes
  const Forward2d& forward() const;
  struct Body;

 private:
  std::shared_ptr<const Body> body_;
};

}  // namespace tessera::inversion
