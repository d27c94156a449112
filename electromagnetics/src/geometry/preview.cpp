// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/preview.h"

#include "tessera/autodiff/forall.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::electromagnetics {

std::complex<double> shown_permittivity(const Medium& medium, int axis, double f_hz) {
  const std::complex<double> lasting = medium.eps[static_cast<std::size_t>(axis)];
  if (!(f_hz > 0)) return lasting;
  return permittivity(medium, axis, beside_pole(medium, f_hz));
}

data::RectilinearGrid preview(const SceneOrder& scene, const std::vector<Medium>& media,
                              const YeeGrid& grid, const Planes& planes, double f_hz) {
  require_media(scene.scene(), media.size());
  std::vector<std::array<double, 3>> shown(media.size());
  for (std::size_t m = 0; m < media.size(); ++m)
    for (int a = 0; a < 3 && !media[m].pec; ++a)
      shown[m][static_cast<std::size_t>(a)] = shown_permittivity(media[m], a, f_hz).real();
  const UniformMedia uniform = uniform_media(scene, grid, {}, planes);
  std::array<int, 3> first{}, count{};
  for (int a = 0; a < 3; ++a) {
    first[a] = a == planes.axis ? planes.first : 0;
    count[a] = a == planes.axis ? planes.count : grid.cells(a);
  }
  const auto n = static_cast<std::size_t>(count[0]) * static_cast<std::size_t>(count[1]) *
                 static_cast<std::size_t>(count[2]);
  std::vector<double> medium(n), share(n), permittivity(3 * n);
  const auto row = static_cast<std::size_t>(count[0]);
  parallel_chunks(std::int64_t{1} * count[1] * count[2], [&](std::int64_t jk) {
    const int j = first[1] + static_cast<int>(jk % count[1]),
              k = first[2] + static_cast<int>(jk / count[1]);
    for (std::size_t i = 0; i < row; ++i) {
      const std::size_t cell = static_cast<std::size_t>(jk) * row + i;
      const std::array<int, 3> at{static_cast<int>(i), j, k};
      const std::int32_t whole = uniform.at(at[0], j, k);
      Fill f{{{whole, 1}}, {}, true};
      if (whole < 0) {
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
        if (media[s.medium].pec) continue;
        counted += s.fraction;
        for (int a = 0; a < 3; ++a) permittivity[3 * cell + a] += s.fraction * shown[s.medium][a];
      }
      if (counted > 0)
        for (int a = 0; a < 3; ++a) permittivity[3 * cell + a] /= counted;
    }
  });

  data::RectilinearGrid out;
  std::vector<double>* const axes[3] = {&out.x, &out.y, &out.z};
  for (int a = 0; a < 3; ++a)
    *axes[a] = grid.resolved(a)
                   ? std::vector<double>(grid.lines[a].begin() + first[a],
                                         grid.lines[a].begin() + first[a] + count[a] + 1)
                   : std::vector<double>{grid.middle(a, 0)};
  out.fields.cells = {
      {"medium", "1", "index of the medium that fills most of the cell", std::move(medium), 1},
      {"share", "1", "its share of the volume", std::move(share), 1},
      {"permittivity", "1",
       f_hz > 0 ? fmt::format("relative, the real part at {:.6g} Hz", f_hz)
                : "relative, at infinite frequency",
       std::move(permittivity), 3}};
  return out;
}

}  // namespace tessera::electromagnetics
