// SPDX-License-Identifier: Apache-2.0
//
// Magnetotelluric responses of a section that does not change along x (strike), e^{+i w t}, z down,
// quasi-static, mu0 everywhere. Two problems, by finite elements on a Mesh2d:
//
//   TE, everywhere:       -lap Ex + i w mu0 s_x Ex = 0,   i w mu0 (Hy, Hz) = (-dEx/dz, dEx/dy)
//   TM, where no air is:  -d/dy(r_z dHx/dy) - d/dz(r_y dHx/dz) + i w mu0 Hx = 0,
//                         (Ey, Ez) = (r_y dHx/dz, -r_z dHx/dy)
//
// with resistivities r along y and z and conductivity s_x = 1/r_x. At the top of the air Hy = 1; on
// the ground (or the sea's surface) Hx = 1, since no current enters the air. Sides have the fields
// of their own columns, found on their own nodes; a section that is mirrored at its sides has dE/dy
// = dH/dy = 0 there.
//
// Sensors stand on the mesh's lines. The field across a line is its consistent flux: what the
// equations below the line, tested with the line's own shapes, leave over (G. Carey 1982,
// doi:10.1016/0045-7825(82)90028-8).
//
//   const Forward2d forward(mesh, {.y = {...}, .z = {...}}, {0.1, 1, 10});
//   const Responses2d r = forward(ln_rho);                 // engine operations: jvp, vjp, vmap,
//   ... const Jacobian2d j = forward.jacobian(ln_rho);         // all of it, one solve a station
#pragma once
#include "tessera/autodiff/solve.h"
#include "tessera/autodiff/tree.h"
#include "tessera/inversion/mesh_2d.h"

#include <functional>
#include <memory>
#include <vector>

namespace tessera::inversion {

/// Where fields are measured: m, and `tilt` (rad, all level where empty): horizontal components
/// point along (cos tilt, sin tilt), down where y rises, the vertical one along (-sin, cos).
struct Sensors2d {
  std::vector<double> y, z, tilt = {};
};
/// On a line of the mesh at these y; tilted as the line is there with `along`.
Sensors2d sensors_on(const Mesh2d& mesh, std::size_t line, std::vector<double> y,
                     bool along = false);

enum class Sides2d { columns, mirror };
/// What is given at the top of the air in TE: Hy = 1 or Ex = 1. Over columns that differ at both
/// sides the field across the section differs with it at long periods.
enum class Top2d { magnetic, electric };
/// Below the mesh: what the lowest cells are, to any depth; or a perfect conductor (E = 0).
enum class Base2d { half_space, conductor };

struct Forward2dOptions {
  int order = 1;  ///< of the elements: 1 or 2
  bool te = true, tm = true;
  bool tipper = true;  ///< with TE
  Sides2d sides = Sides2d::columns;
  Top2d top = Top2d::magnetic;
  Base2d base = Base2d::half_space;
  LinearSolverPtr solver = nullptr;  ///< of A = A^T, complex; null: solvers::ldlt()
};

/// [frequencies, sensors], complex; [frequencies, 0] of a mode that was not asked for.
struct Responses2d {
  Tensor te;      ///< Z_xy = Ex / Hy, ohm
  Tensor tm;      ///< Z_yx = Ey / Hx, ohm
  Tensor tipper;  ///< T_zy = Hz / Hy
  TESSERA_TREE(te, tm, tipper)
};
/// d(response)/d(ln rho): [frequencies, sensors, shape of ln_rho], complex.
struct Jacobian2d {
  Responses2d value;
  Tensor te, tm, tipper;
};
/// Ex or Hx at the nodes of `space_2d(mesh, order)`: [frequencies, nodes]; NaN of Hx in the air.
struct Fields2d {
  Tensor ex, hx;
};

class Forward2d {
 public:
  /// Throws Error where the mesh is not one, has no air though TE is asked for or air that is shut
  /// in though TM is, a rim that is not two upright sides, and a level top and bottom where it is
  /// not the ground, a sensor off its lines or in the air, or a frequency is not positive.
  Forward2d(const Mesh2d& mesh, const Sensors2d& sensors, std::vector<double> frequency_hz,
            const Forward2dOptions& options = {});
  /// ln of ohm m: [parameters], or [parameters, 3] along x, y, z.
  Responses2d operator()(const Tensor& ln_rho) const;
  Jacobian2d jacobian(const Tensor& ln_rho) const;
  /// The same in parts of some frequencies each, the first of which is told: memory does not grow
  /// with the number of frequencies.
  using JacobianPart = std::function<void(Index first, const Jacobian2d& part)>;
  void jacobian(const Tensor& ln_rho, const JacobianPart& visit) const;
  Fields2d fields(const Tensor& ln_rho) const;
  /// How much of the data's errors, relative to them (the tipper's as they are), each cell would
  /// have with shapes of order 1, root of the sum of squares over all data: [cells]. The field and
  /// the fields of all functionals less their linear parts, in the cell's own equation. Order 2
  /// alone.
  std::vector<double> linear_errors(const Tensor& ln_rho) const;
  const std::vector<double>& frequency_hz() const;
  Index parameters() const;
  Index unknowns() const;  ///< of both modes at one frequency
  struct Body;

 private:
  std::shared_ptr<const Body> body_;
};

/// ln rho_a = ln(|Z|^2 / (w mu0)) of [frequencies, ...]; phase in degrees, in (-180, 180]: give -Z
/// of TM to have it in the quadrant of TE.
Tensor ln_apparent_resistivity(const Tensor& impedance, const std::vector<double>& frequency_hz);
Tensor phase_degrees(const Tensor& impedance);

}  // namespace tessera::inversion
