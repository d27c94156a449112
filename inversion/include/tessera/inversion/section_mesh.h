// SPDX-License-Identifier: Apache-2.0
//
// Meshes of a section for an inversion: the model's cells, which follow the ground (and the sea
// floor), one resistivity each; the solver's cells, which lie inside of them; and the stations on
// the ground.
//
//   const SectionScales scales = section_scales(survey.data);
//   const SectionMesh mesh = section_mesh(section_stations(survey), scales);
//   const SectionForward forward(mesh.solver, mesh.sensors, survey.data, frequencies);
//   const Smoothing smoothing = section_smoothing(mesh.cells, {...});
#pragma once
#include "tessera/inversion/forward_2d.h"
#include "tessera/inversion/survey.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::inversion {

/// Where stations stand, in their order: m along the line, m down, tilt of their y below the
/// horizontal (rad).
struct SectionStations {
  std::vector<double> y, z, tilt;
};
/// y of `distance_m`, z by z_of. Stations without one lie on the line through their neighbours that
/// have it, level beyond them; at 0 where none has.
SectionStations section_stations(const Survey& survey);

/// Lengths and a resistivity that data speak of.
struct SectionScales {
  double ohm_m = 100;         ///< median of the apparent resistivities
  double shallowest_m = 100;  ///< least sqrt(rho_a / (w mu0)), the depth that Bostick gives a datum
  double deepest_m = 1e5;     ///< greatest
  /// Median over stations and responses of the greatest depth of each; none: deepest_m.
  std::optional<double> reach_m = std::nullopt;
  double lowest_hz = 1e-3, highest_hz = 100;
};
/// Of apparent resistivities and impedances, xy, yx, determinants and averages; `ohm_m` and the
/// first two depths without the smallest and greatest fiftieth. Where there are none (tippers
/// alone) those of a half-space of `otherwise_ohm_m`.
SectionScales section_scales(const DataTable& data, double otherwise_ohm_m = 100);

/// A line from left to right: y rising, z down; linear between points and level beyond.
struct Ground2d {
  std::vector<double> y, z;
};

struct Sea2d {
  Ground2d floor;         ///< all of it below the surface
  double surface_m = 0;   ///< z of it
  double ohm_m = 0.3125;  ///< 3.2 S/m
};

struct SectionMeshOptions {
  // The model's cells.
  std::optional<double> cell_width_m;  ///< none: half the distance to the nearer neighbour
  std::optional<double> first_cell_m;  ///< height of the uppermost; none: a quarter of shallowest_m
  double growth = 1.12;                ///< of heights, row by row
  std::optional<double> depth_m;       ///< of the model; none: 1.5 reach_m
  double margin = 1;  ///< at both ends, in distances of stations, cells stay as wide
  // Padding around them, cells of their own that grow by `padding_growth`.
  std::optional<double> padding_m;  ///< none: 4.2 deepest_m, three skin depths
  double padding_growth = 1.4;
  /// Padding cells have resistivities of their own; else that of the model's cell next to them.
  bool free_padding = true;
  // The solver's cells.
  int order = 1;  ///< of the elements they are made for
  /// Height of the uppermost one; none: of order 1 a fifth of shallowest_m, of order 2 a half. They
  /// grow by `solver_rate` of the depth.
  std::optional<double> first_solver_m;
  double solver_rate = 0.15;
  int columns_of_cell = 2;           ///< solver columns in each column of the model below stations
  std::vector<int> split_columns;    ///< below each station in so many parts more; empty: 1
  int split_rows = 1;                ///< in so many parts each of the solver's rows is cut
  double air_growth = 1.6;           ///< of heights of rows of air
  std::size_t most_nodes = 400'000;  ///< of the solver's mesh of order 1
  // What the section is.
  /// The ground, straight between its points; none: smoothly through the stations.
  std::optional<Ground2d> ground;
  std::optional<Sea2d> sea;  ///< stations stand on its floor
  /// Sensors are tilted as the ground is; else as the stations say.
  bool tilt_along_ground = false;
};

struct SectionMesh {
  Mesh2d cells;       ///< quadrilaterals: air, sea, and one cell or more for each parameter
  Mesh2d solver;      ///< the same region, each cell inside of one of `cells`
  Sensors2d sensors;  ///< on the ground, or the sea floor: one for each station
  Index columns = 0, rows = 0;  ///< parameter = column * rows + row
  /// y and depth of the corners of parameters, [columns + 1] and [rows + 1]; depths are those below
  /// the lowest ground, and elsewhere as `depths_below_ground` tells.
  std::vector<double> y, depth;
  double base = 0;                   ///< the same of the level bottom
  std::vector<std::string> remarks;  ///< such as stations that stand off the ground given
  double depth_m = 0;                ///< of the model's rows; padding is below
  Index parameters() const { return columns * rows; }
};
/// Depth below the ground, or the sea floor, at y of what has `row` among depths of a mesh: below
/// higher ground rows are stretched to the level bottom.
std::function<double(double y, double row)> depths_below_ground(const SectionMesh& mesh);

/// Throws Error for no station, options that are no lengths or no growths, a ground that does not
/// go from left to right, a sea floor above its surface, a station more than a tenth of its cell's
/// width off the ground that is given (in the air, or buried), and for more than `most_nodes`
/// nodes.
SectionMesh section_mesh(const SectionStations& stations, const SectionScales& scales,
                         const SectionMeshOptions& options = {});

}  // namespace tessera::inversion
