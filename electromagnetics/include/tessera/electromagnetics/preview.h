// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/grid.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <complex>

namespace tessera::electromagnetics {

/// The relative permittivity by which a medium is shown: at f_hz, or a millionth beside it where a
/// pole lies there; at infinite frequency where f_hz is 0. Of no perfect conductor.
std::complex<double> shown_permittivity(const Medium& medium, int axis, double f_hz);

/// A scene on the cells of a grid, to look at before a run. Cell fields:
///   medium        index of the medium that fills most of the cell
///   share         its share of the volume
///   permittivity  [3] Re of the relative one at f_hz, mean over the volume without conductors; 0
///                 where a perfect conductor fills the cell. At infinite frequency where f_hz is 0
/// An axis that is not resolved has one coordinate, its middle. With `planes` (of y or z): of
/// those cells.
data::RectilinearGrid preview(const SceneOrder& scene, const std::vector<Medium>& media,
                              const YeeGrid& grid, const Planes& planes = {}, double f_hz = 0);

}  // namespace tessera::electromagnetics
