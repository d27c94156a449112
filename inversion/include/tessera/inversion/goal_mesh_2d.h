// SPDX-License-Identifier: Apache-2.0
//
// Meshes made for what is measured: triangles halved where the data's errors come from, until the
// data change by less than a goal. Nested, so that a cell lies in one cell of the mesh it began
// with; a mesh stays as it is while derivatives are taken on it.
#pragma once
#include "tessera/inversion/forward_2d.h"

#include <optional>
#include <vector>

namespace tessera::inversion {

/// The largest change of apparent resistivities, relative, or twice that of tippers, and of which
/// response it is.
struct ResponseChange {
  double size = 0;
  enum class Of { te, tm, tipper } of = Of::te;
  Index frequency = 0, sensor = 0;
};
ResponseChange change_of(const Responses2d& now, const Responses2d& before);

struct GoalMeshOptions {
  double goal =
      0.01;  ///< relative error of apparent resistivities; of tippers half of it, as it is
  double share = 0.8;          ///< of the cells' errors that are halved in a step
  Index most_cells = 200'000;  ///< no further from there on
  int most_steps = 25;
  Forward2dOptions forward = {.order = 2};  ///< for its order, modes, sides, base
};
struct GoalMesh {
  Mesh2d mesh;
  bool reached = false;
  ResponseChange left;  ///< of the last step, with its error as `size`
  /// After each step: cells, and the error found, as `goal`. Of order 2 the change of all data from
  /// the mesh before (the first step has none: infinite), which is more than what is left; of order
  /// 1 what order 2 changes on the same mesh.
  struct Step {
    Index cells;
    double error;
  };
  std::vector<Step> steps;
};
/// A search between two of its steps: mesh, steps and what they left so far, and what the next one
/// compares with. Plain numbers: a program keeps them and goes on from them to the same mesh.
struct GoalMeshSearch {
  GoalMesh so_far;
  std::optional<Responses2d> before;
  bool ended = false;
};
/// One step: responses on the mesh, and cells halved unless that was the last.
void step_goal_mesh(GoalMeshSearch& search, const Sensors2d& sensors,
                    const std::vector<double>& frequency_hz, const Tensor& ln_rho,
                    const GoalMeshOptions& options = {});

/// All steps. The start may be as coarse as its media allow. Not to reach the goal is a result.
/// Throws Error where Forward2d does, and unless the mesh has triangles.
GoalMesh goal_mesh(Mesh2d start, const Sensors2d& sensors, const std::vector<double>& frequency_hz,
                   const Tensor& ln_rho, const GoalMeshOptions& options = {});

/// A start: triangles halved until none is longer than `part` of the skin depth sqrt(2 rho / (w
/// mu0)) of its medium at the highest frequency (in the air the least of all), or than `rate` times
/// its distance to the nearest sensor, whichever is more.
Mesh2d start_mesh(Mesh2d mesh, const Sensors2d& sensors, double highest_hz, const Tensor& ln_rho,
                  double part = 1.0, double rate = 0.5);

}  // namespace tessera::inversion
