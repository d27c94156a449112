// SPDX-License-Identifier: Apache-2.0
// Bodies as lines over maps.
#pragma once
#include "electromagnetics/fdtd/options.h"
#include "tessera/data/plot.h"
#include "tessera/electromagnetics/scene.h"

namespace tessera::apps::fdtd {

/// The bodies of a case for pictures alone. Media that are the same but for their names have one
/// number, so that no line parts them; bodies that are nowhere (flat, and of no conductor) are left
/// out.
electromagnetics::SceneOrder bodies_of(const FdtdOptions& o);

/// Draws the outlines of what the plane across `axis` at `at` (m) cuts over the map, which is the
/// last series of the panel; `scale` takes m to its axes. A line with a rim of the opposite
/// lightness is seen on any colour; what is thinner than a dot has a heavier one. Nothing is added
/// where there is no line.
void add_outlines(data::Panel& panel, const electromagnetics::SceneOrder& bodies, int axis,
                  double at, double scale = 1);

}  // namespace tessera::apps::fdtd
