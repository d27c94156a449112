// SPDX-License-Identifier: Apache-2.0
//
// Pictures of waves, from plain numbers in SI units; lengths, times and frequencies are drawn in
// the unit with the prefix in which they read well.
#pragma once
#include "tessera/data/plot.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// The unit with a prefix in which the largest value reads well, and the factor to it; of Hz, s and
/// m.
struct ReadableUnit {
  double factor;
  std::string unit;
};
ReadableUnit readable_unit(const std::vector<double>& values, const std::string& unit);

/// Draws the outlines of what the plane across `axis` at `at` (m) cuts over the map, which is the
/// last series of the panel; `scale` takes m to its axes. A line with a rim of the opposite
/// lightness is seen on any colour; what is thinner than a dot has a heavier one. Nothing is added
/// where there is no line.
void add_outlines(data::Panel& panel, const SceneOrder& bodies, int axis, double at,
                  double scale = 1);

/// Numbers over a common axis, all in one unit; drawn from the least of `at` to the largest,
/// however they are listed.
struct CurvesFigure {
  struct Curve {
    std::string name;
    std::vector<double> values;
  };
  std::string title;
  std::string axis, axis_unit;  ///< "frequency", "Hz"
  std::vector<double> at;
  std::string label, unit;
  std::vector<Curve> curves;
};
data::Figure curves_figure(const CurvesFigure& c);

/// Quality over frequency; modes that do not decay have none.
data::Figure modes_figure(const std::string& title, const std::vector<double>& frequency_hz,
                          const std::vector<double>& quality);

/// Something on a plane: its magnitude, or values of either sign about zero. Over it the outlines
/// of bodies.
struct FieldMap {
  std::string title;
  std::string name, unit;                     ///< "|Ez|", "V/m"
  int axis = 2;                               ///< across the plane,
  double position = 0;                        ///< which lies there, m
  std::array<std::string, 2> labels;          ///< of the axes: "x", "y"
  std::array<std::vector<double>, 2> points;  ///< m
  std::vector<double> values;                 ///< the first axis fastest
  bool signed_values = false;
};
data::Figure field_map_figure(const FieldMap& m, const SceneOrder& bodies);

/// A pattern over one angle, a curve for each frequency.
struct PatternFigure {
  struct Curve {
    double frequency_hz;
    std::vector<double> values;
  };
  std::string title, angle, label, unit;
  std::vector<double> angle_deg;
  std::vector<Curve> curves;
};
data::Figure pattern_figure(const PatternFigure& p);

/// Cuts through a pattern around a centre, in dB: 40 of them from the centre to the rim, a ring for
/// each 10.
struct PolarFigure {
  struct Cut {
    std::string name;
    std::vector<double> angle_deg, db;  ///< -inf is the centre
  };
  struct Panel {
    std::string title;
    bool upright = false;  ///< 0 at the top and clockwise, as theta; else at the right, as phi
    std::vector<Cut> cuts;
  };
  std::string title;
  std::vector<Panel> panels;
};
data::Figure polar_figure(const PolarFigure& f);

/// The scene as the grid sees it, with absorbing layers and marks: in two dimensions the plane, in
/// three cuts across z, y and x through a point, in their places of an engineer's drawing.
struct SceneFigure {
  struct Mark {
    std::string name;
    Point at{}, size{};  ///< a point, line or rectangle
    data::Marker marker{};
    data::Colour colour{};
  };
  std::string title;
  Point through{};  ///< the cuts; in two dimensions its z
  /// Cells of absorbing layers in front of the low and the high face of each axis.
  std::array<std::array<int, 2>, 3> layers{};
  std::vector<Mark> marks;
  bool grid_lines = false;  ///< over the media the lines between cells
  double frequency_hz = 0;  ///< of the permittivity that is shown; 0: at infinite frequency
};
data::Figure scene_figure(const SceneFigure& s, const Scene& scene,
                          const std::vector<Medium>& media, const YeeGrid& grid,
                          const SceneOrder& bodies);

/// Maps of the permittivity on a layer of cells: what was found, beside the truth where it is
/// known.
struct PermittivityMaps {
  std::vector<double> x, y;  ///< lines between cells, m
  double z = 0;              ///< of the layer
  std::vector<double> found, truth;
  double most = 1;  ///< upper end of the colours
};
data::Figure permittivity_figure(const PermittivityMaps& m, const SceneOrder& bodies);

/// The misfit of a descent, by iterations.
data::Figure descent_figure(const std::vector<double>& iteration,
                            const std::vector<double>& misfit);

/// Records in time and what a model predicts for them, a panel each.
struct TracesFigure {
  struct Trace {
    std::string title;
    std::vector<double> measured, predicted;
  };
  std::vector<double> time_s;
  std::vector<Trace> traces;
};
data::Figure traces_figure(const TracesFigure& t);

}  // namespace tessera::electromagnetics
