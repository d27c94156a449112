// SPDX-License-Identifier: Apache-2.0
//
// Pictures of what runs and trajectories tell, from plain numbers.
#pragma once
#include "tessera/data/plot.h"
#include "tessera/molecular/analysis.h"

#include <string>
#include <vector>

namespace tessera::molecular {

/// A curve, where it has errors with a band of one of them to either side.
struct CurveFigure {
  std::string title;
  std::string x_label, x_unit, y_label, y_unit;
  Curve curve;
};
data::Figure curve_figure(const CurveFigure& c);

/// Quantities over one axis, a panel each, one below the other: the rows of a stage.
struct StageFigure {
  struct Quantity {
    std::string label, unit;
    std::vector<double> values;  ///< as many as `at` has
    bool log = false;
  };
  std::string title;
  std::string axis, axis_unit;  ///< "Time", "ps"
  std::vector<double> at;
  std::vector<Quantity> quantities;
};
data::Figure stage_figure(const StageFigure& s);

}  // namespace tessera::molecular
