// SPDX-License-Identifier: Apache-2.0
// Where everything goes: limits, ticks and the room that labels need, settled before a stroke is
// drawn.
#pragma once
#include "plot/canvas.h"
#include "plot/scale.h"
#include "tessera/data/plot_ticks.h"

#include <string>
#include <vector>

namespace tessera::data::plot {

// Typography, in points.
constexpr double kTickText = 7, kLabelText = 8, kTitleText = 8.5, kFigureTitle = 10.5,
                 kSubtitle = 8, kMarkText = 6.5;
constexpr double kTick = 3, kMinorTick = 1.8, kTickGap = 2.5, kLabelGap = 4;
constexpr double kBarGap = 7, kBarWidth = 8;
constexpr double kPageMargin = 7, kPanelGap = 9;
constexpr double kLegendText = 7, kLegendLine = 9.5, kLegendSwatch = 17;

struct LegendEntry {
  std::string label;
  const Series* series = nullptr;
  Colour colour;  ///< settled, for series that leave it open
};

struct PlacedMark {
  double x = 0;       ///< on the page
  std::string label;  ///< empty if there is no room for it
};

/// One panel, ready to be drawn.
struct PanelLayout {
  const Panel* panel = nullptr;
  std::string name;  ///< for messages: its title, or its place in the grid
  Scale x, y, colour;
  bool has_colour = false;  ///< some series is drawn through the colour axis
  bool x_labels = true,
       y_labels = true;               ///< false where a neighbour of the same group carries them
  std::vector<Colour> series_colour;  ///< one for each series
  std::vector<LegendEntry> legend;
  Rect frame;
  Ticks x_ticks, y_ticks, colour_ticks;
  bool marks_upright = false;  ///< top labels are turned by 90 degrees
  std::vector<PlacedMark> marks;
  double mark_room = 0, legend_room = 0;            ///< heights above the frame
  double left = 0, right = 0, top = 0, bottom = 0;  ///< room around the frame

  Point at(double vx, double vy) const {
    return {frame.x + x.fraction(vx) * frame.w, frame.bottom() - y.fraction(vy) * frame.h};
  }
};

/// Throws tessera::Error for unusable sizes and limits.
std::vector<PanelLayout> lay_out(const Figure& figure);

/// Checks that the arrays of every series fit together; throws naming panel and series.
void check_sizes(const Figure& figure);

/// "label (×10^{3} unit)".
std::string axis_title(const Axis& axis, int exponent);

const std::string& series_label(const Series& s);
std::string panel_name(const Panel& p);

/// Widths of the legend's entries (swatch and text) as set in one row.
double legend_entry_width(const LegendEntry& e);

}  // namespace tessera::data::plot
