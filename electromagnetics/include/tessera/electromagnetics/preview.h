// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/grid.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

namespace tessera::electromagnetics {

/// A scene on the cells of a grid, to look at before a run. Cell fields:
///   medium        index of the medium that fills most of the cell
///   share         its share of the volume
///   permittivity  [3] relative, at infinite frequency, mean over the volume without conductors;
///                 0 where a perfect conductor fills the cell
/// An axis that is not resolved has one coordinate, its middle. With `planes` (of y or z): of
/// those cells.
data::RectilinearGrid preview(const SceneOrder& scene, const std::vector<Medium>& media,
                              const YeeGrid& grid, const Planes& planes = {});

}  // namespace tessera::electromagnetics
