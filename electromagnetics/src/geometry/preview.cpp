// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/preview.h"

#include "tessera/autodiff/forall.h"

#include <algorithm>

namespace tessera::electromagnetics {

data::RectilinearGrid preview(const SceneOrder& scene, const std::vector<Medium>& media,
                              const YeeGrid& grid) {
  require_media(scene.scene(), media.size());
  const std::vector<std::int32_t> uniform = uniform_media(scene, grid).medium;
  const auto n = static_cast<std::size_t>(grid.cell_count());
  std::vector<double> medium(n), share(n), permittivity(3 * n);
  const auto row = static_cast<std::size_t>(grid.cells(0));
  parallel_chunks(std::int64_t{1} * grid.cells(1) * grid.cells(2), [&](std::int64_t jk) {
    const int j = static_cast<int>(jk % grid.cells(1)), k = static_cast<int>(jk / grid.cells(1));
    for (std::size_t i = 0; i < row; ++i) {
      const std::size_t cell = static_cast<std::size_t>(jk) * row + i;
      Fill f{{{uniform[cell], 1}}, {}, true};
      if (uniform[cell] < 0) {
        const std::array<int, 3> at{static_cast<int>(i), j, k};
        Point centre, size;
        for (int a = 0; a < 3; ++a) {
          centre[a] = grid.middle(a, at[a]);
          size[a] = grid.resolved(a) ? grid.length(a, at[a]) : 0;
        }
        f = fill(scene, centre, size);
      }
      const Share& most =
          *std::max_element(f.media.begin(), f.media.end(),
                            [](const Share& a, const Share& b) { return a.fraction < b.fraction; });
      medium[cell] = most.medium;
      share[cell] = most.fraction;
      double counted = 0;
      for (const Share& s : f.media) {
        const Medium& m = media[s.medium];
        if (m.pec) continue;
        counted += s.fraction;
        for (int a = 0; a < 3; ++a) permittivity[3 * cell + a] += s.fraction * m.eps[a];
      }
      if (counted > 0)
        for (int a = 0; a < 3; ++a) permittivity[3 * cell + a] /= counted;
    }
  });

  data::RectilinearGrid out;
  std::vector<double>* const axes[3] = {&out.x, &out.y, &out.z};
  for (int a = 0; a < 3; ++a)
    *axes[a] = grid.resolved(a) ? grid.lines[a] : std::vector<double>{grid.middle(a, 0)};
  out.fields.cells = {
      {"medium", "1", "index of the medium that fills most of the cell", std::move(medium), 1},
      {"share", "1", "its share of the volume", std::move(share), 1},
      {"permittivity", "1", "relative, at infinite frequency", std::move(permittivity), 3}};
  return out;
}

}  // namespace tessera::electromagnetics
