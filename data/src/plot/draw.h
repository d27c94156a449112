// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plot/canvas.h"
#include "plot/layout.h"

namespace tessera::data::plot {

/// The series of one panel, in their order. `occupied` collects points of the ink, for placing the
/// legend.
void draw_series(Canvas& canvas, const PanelLayout& layout, std::vector<Point>& occupied,
                 PlotReport& report);

/// Frame, grid, ticks, labels, marks, colour bar, title. The grid goes under the series, the rest
/// over them.
void draw_grid(Canvas& canvas, const PanelLayout& layout);
void draw_frame(Canvas& canvas, const PanelLayout& layout);

void draw_legend(Canvas& canvas, const PanelLayout& layout, const std::vector<Point>& occupied);

void draw_marker(Canvas& canvas, Point at, Marker marker, double size, bool filled, Colour colour);

}  // namespace tessera::data::plot
