// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/backward_films.h"

#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

constexpr double thin_film = 2;  ///< skin depths: thinner films guide waves that run backwards
constexpr int band_points = 40;

/// The least depth to which fields enter a medium of negative permittivity in the band, and a
/// frequency at which it is negative; infinite and 0 where it is not.
struct Skin {
  double depth_m = INFINITY, frequency_hz = 0;
};
Skin skin_of(const Medium& m, double f_min, double f_max) {
  Skin skin;
  for (int i = 0; i <= band_points && !m.pec; ++i) {
    const double f = f_min + (f_max - f_min) * i / band_points;
    const double eps = f > 0 ? permittivity(m, 0, f).real() : 0;
    if (eps >= 0) continue;
    skin.depth_m =
        std::min(skin.depth_m, speed_of_light / (2 * std::numbers::pi * f * std::sqrt(-eps)));
    skin.frequency_hz = f;
  }
  return skin;
}

/// The structure that is seen at a point; -1: the background.
std::int64_t structure_at(const SceneOrder& scene, const Point& p) {
  for (const std::size_t s : scene.from_top())
    if (scene.scene().structures[s].shape.contains(p)) return static_cast<std::int64_t>(s);
  return -1;
}

}  // namespace

std::vector<BackwardFilm> backward_films(const Scene& scene, const std::vector<Medium>& media,
                                         const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                         int pml_cells, double f_min_hz, double f_max_hz) {
  std::vector<BackwardFilm> out;
  std::vector<Skin> skins;
  for (const Medium& m : media) skins.push_back(skin_of(m, f_min_hz, f_max_hz));
  if (std::all_of(skins.begin(), skins.end(), [](const Skin& s) { return s.frequency_hz == 0; }))
    return out;
  const SceneOrder order(scene);
  // Of a row of cells along `along` through p: the bodies that lie between two others.
  const auto look_along = [&](int along, int axis, Point p) {
    const auto u = static_cast<std::size_t>(along);
    std::int64_t body = -1;
    double begin = -INFINITY;  // of the body; of one from the rim on it is not known
    for (int i = 0; i < grid.cells(along); ++i) {
      p[u] = grid.middle(along, i);
      const std::int64_t now = structure_at(order, p);
      if (i == 0) body = now;
      if (now == body) continue;
      const double line = grid.lines[u][static_cast<std::size_t>(i)];
      if (body >= 0) {
        const auto s = static_cast<std::size_t>(body);
        const Skin& skin = skins[static_cast<std::size_t>(scene.structures[s].medium)];
        if (skin.frequency_hz > 0 && line - begin < thin_film * skin.depth_m &&
            std::none_of(out.begin(), out.end(),
                         [&](const BackwardFilm& x) { return x.structure == s && x.axis == axis; }))
          out.push_back({s, axis, line - begin, skin.depth_m, skin.frequency_hz});
      }
      body = now;
      begin = line;
    }
  };
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      const auto u = static_cast<std::size_t>(d);
      if (!grid.resolved(d) || (high ? faces[u].high : faces[u].low) != Boundary::pml) continue;
      Point p{};
      p[u] = grid.middle(d, high ? grid.cells(d) - 1 - pml_cells / 2 : pml_cells / 2);
      for (const int along : {(d + 1) % 3, (d + 2) % 3}) {
        const int across = 3 - d - along, step = 1 + grid.cells(across) / 50;
        for (int j = 0; j < grid.cells(across); j += step) {
          p[static_cast<std::size_t>(across)] = grid.middle(across, j);
          look_along(along, d, p);
        }
      }
    }
  return out;
}

}  // namespace tessera::electromagnetics
