// SPDX-License-Identifier: Apache-2.0
//
// Films of negative permittivity that run through a Pml (boundary.h). A film not much thicker than
// its skin depth c / (w sqrt(-eps)) guides waves whose energy runs against their phase; a pml,
// which damps by the phase, amplifies them. On thicker metal waves run forwards, but in a narrow
// band. An absorber (absorber.h) damps both.
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/sheet.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tessera::electromagnetics {

struct BackwardFilm {
  std::size_t structure = 0;  ///< of the scene; of backward_sheets the number of the sheet
  int axis = 0;               ///< that of the layer
  double thickness_m = 0;
  double skin_depth_m = 0;  ///< the least over the band
  double frequency_hz = 0;  ///< one of the band at which its permittivity is negative
};

/// Films thinner than two skin depths at a frequency of the band, however thin, that run through a
/// layer of `pml_cells` in front of a pml face; each once for an axis. Mirrors (pec, pmc) at the
/// ends of a film double it, at joined faces it goes round; what goes on in a layer at its side is
/// no film. Looked for along rows of a plane amid the layer, at most some 200 of cells in a
/// direction and one through each part that bodies are made of, and at 41 frequencies. `media` by
/// the indices that the scene uses.
std::vector<BackwardFilm> backward_films(const Scene& scene, const std::vector<Medium>& media,
                                         const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                         int pml_cells, double f_min_hz, double f_max_hz);

/// The same of sheets, by the bounds of their outlines.
std::vector<BackwardFilm> backward_sheets(std::span<const Sheet> sheets, const YeeGrid& grid,
                                          const std::array<Faces, 3>& faces, int pml_cells,
                                          double f_min_hz, double f_max_hz);

}  // namespace tessera::electromagnetics
