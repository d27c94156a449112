// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plot/scale.h"

namespace tessera::data::plot {

struct PanelExtent {
  Extent x, y, colour;
  bool has_colour = false;
};

/// What the panel's series span on its axes.
PanelExtent panel_extent(const Panel& panel);

}  // namespace tessera::data::plot
