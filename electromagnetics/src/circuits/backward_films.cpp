// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/backward_films.h"

#include "geometry/crossings.h"
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
    const double eps = f > 0 ? permittivity(m, 0, beside_pole(m, f)).real() : 0;
    if (eps >= 0) continue;
    skin.depth_m =
        std::min(skin.depth_m, speed_of_light / (2 * std::numbers::pi * f * std::sqrt(-eps)));
    skin.frequency_hz = f;
  }
  return skin;
}

/// What is seen of a row through the grid between two surfaces; -1: the background.
struct RowPiece {
  double begin, end;
  std::int64_t body;
};

class SceneRows {
 public:
  SceneRows(const Scene& scene, const YeeGrid& grid) : order_(scene), grid_(grid) {}

  /// Along `along` through p, from rim to rim. Neighbours differ in their media.
  std::vector<RowPiece> pieces(int along, const Point& p) const {
    const auto u = static_cast<std::size_t>(along);
    Point from = p, to = p;
    from[u] = grid_.lines[u].front(), to[u] = grid_.lines[u].back();
    const std::vector<std::size_t> near = near_row(along, p);
    std::vector<double> at{0, 1};
    for (const std::size_t s : near)
      detail::add_crossings(structures()[s].shape.node(), from, to, at);
    std::sort(at.begin(), at.end());
    std::vector<RowPiece> out;
    double t = 0;
    for (const double next : at) {
      if (!(next - t > rounded) || next > 1) continue;
      Point middle = p;
      middle[u] = from[u] + (t + next) / 2 * (to[u] - from[u]);
      const auto seen = std::find_if(near.begin(), near.end(), [&](std::size_t s) {
        return structures()[s].shape.contains(middle);
      });
      const double begin = from[u] + t * (to[u] - from[u]),
                   end = from[u] + next * (to[u] - from[u]);
      const std::int64_t body = seen == near.end() ? -1 : static_cast<std::int64_t>(*seen);
      if (!out.empty() && medium(out.back().body) == medium(body))
        out.back().end = end;
      else
        out.push_back({begin, end, body});
      t = next;
    }
    return out;
  }
  int medium(std::int64_t body) const {
    return body < 0 ? order_.scene().background
                    : structures()[static_cast<std::size_t>(body)].medium;
  }
  /// Lines across `axis` on which rows of cells lie and, if a body has less than the distance
  /// between them, the middle of each of the parts that `wanted` bodies are made of.
  std::vector<double> places(int axis, const std::vector<bool>& wanted) const {
    const auto u = static_cast<std::size_t>(axis);
    std::vector<double> out;
    for (int j = 0; j < grid_.cells(axis); j += 1 + grid_.cells(axis) / most_rows)
      out.push_back(grid_.middle(axis, j));
    for (std::size_t s = 0; s < wanted.size() && grid_.resolved(axis); ++s)
      if (wanted[s]) add_middles(structures()[s].shape.node(), u, out);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  const std::vector<Structure>& structures() const { return order_.scene().structures; }
  /// From the top.
  std::vector<std::size_t> near_row(int along, const Point& p) const {
    std::vector<std::size_t> out;
    for (std::size_t n = 0; n < order_.from_top().size(); ++n) {
      const Bounds& b = order_.bounds_from_top()[n];
      bool meets = true;
      for (int d = 0; d < 3; ++d)
        meets &=
            d == along || (p[static_cast<std::size_t>(d)] >= b.low[static_cast<std::size_t>(d)] &&
                           p[static_cast<std::size_t>(d)] <= b.high[static_cast<std::size_t>(d)]);
      if (meets) out.push_back(order_.from_top()[n]);
    }
    return out;
  }
  void add_middles(const detail::ShapeNode& node, std::size_t u, std::vector<double>& out) const {
    for (const auto& part : node.parts) add_middles(*part, u, out);
    if (node.kind != detail::ShapeKind::primitive) return;
    const double low = std::max(node.bounds.low[u], grid_.lines[u].front()),
                 high = std::min(node.bounds.high[u], grid_.lines[u].back());
    if (low < high) out.push_back((low + high) / 2);
  }

  static constexpr double rounded = 1e-12;  ///< of a row
  static constexpr int most_rows = 200;
  SceneOrder order_;
  const YeeGrid& grid_;
};

/// How thick the film is that a piece of a row is part of: mirrors double what lies at them, and at
/// joined faces the last goes on in the first; one that goes on behind an open face has no end.
double film_thickness(const std::vector<RowPiece>& row, std::size_t n, const Faces& faces,
                      bool one_body) {
  const auto is_mirror = [](Boundary b) { return b == Boundary::pec || b == Boundary::pmc; };
  const bool first = n == 0, last = n + 1 == row.size();
  const double length = row[n].end - row[n].begin;
  if (!first && !last) return length;
  if (first && last) return INFINITY;
  if (faces.low == Boundary::periodic) {
    const RowPiece& other = first ? row.back() : row.front();
    return one_body ? length + other.end - other.begin : length;
  }
  return is_mirror(first ? faces.low : faces.high) ? 2 * length : INFINITY;
}

/// Amid the layer in front of a face across an axis.
double amid_layer(const YeeGrid& grid, int axis, bool high, int pml_cells) {
  return grid.middle(axis, high ? grid.cells(axis) - 1 - pml_cells / 2 : pml_cells / 2);
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
  const SceneRows rows(scene, grid);
  std::vector<bool> negative;
  for (const Structure& s : scene.structures)
    negative.push_back(skins[static_cast<std::size_t>(s.medium)].frequency_hz > 0);
  const auto look_along = [&](int along, int axis, const Point& p) {
    const std::vector<RowPiece> row = rows.pieces(along, p);
    const bool one_body = rows.medium(row.front().body) == rows.medium(row.back().body);
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n].body < 0) continue;
      const auto s = static_cast<std::size_t>(row[n].body);
      const Skin& skin = skins[static_cast<std::size_t>(rows.medium(row[n].body))];
      const double thick = film_thickness(row, n, faces[static_cast<std::size_t>(along)], one_body);
      if (negative[s] && thick < thin_film * skin.depth_m &&
          std::none_of(out.begin(), out.end(),
                       [&](const BackwardFilm& x) { return x.structure == s && x.axis == axis; }))
        out.push_back({s, axis, thick, skin.depth_m, skin.frequency_hz});
    }
  };
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      const auto u = static_cast<std::size_t>(d);
      if (!grid.resolved(d) || (high ? faces[u].high : faces[u].low) != Boundary::pml) continue;
      Point p{};
      p[u] = amid_layer(grid, d, high, pml_cells);
      for (const int along : {(d + 1) % 3, (d + 2) % 3}) {
        if (!grid.resolved(along)) continue;
        const int across = 3 - d - along;
        for (const double at : rows.places(across, negative)) {
          p[static_cast<std::size_t>(across)] = at;
          look_along(along, d, p);
        }
      }
    }
  return out;
}

std::vector<BackwardFilm> backward_sheets(std::span<const Sheet> sheets, const YeeGrid& grid,
                                          const std::array<Faces, 3>& faces, int pml_cells,
                                          double f_min_hz, double f_max_hz) {
  std::vector<BackwardFilm> out;
  for (std::size_t k = 0; k < sheets.size(); ++k) {
    const Sheet& s = sheets[k];
    if (s.resistance_ohm) continue;
    const Skin skin = skin_of(s.medium, f_min_hz, f_max_hz);
    if (skin.frequency_hz == 0 || !(s.thickness_m < thin_film * skin.depth_m)) continue;
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      if (d == s.axis || !grid.resolved(d)) continue;
      const auto runs_through = [&](bool high) {
        const double at = amid_layer(grid, d, high, pml_cells);
        return (high ? faces[u].high : faces[u].low) == Boundary::pml &&
               (!s.outline ||
                (s.outline->bounds().low[u] < at && at < s.outline->bounds().high[u]));
      };
      if (runs_through(false) || runs_through(true))
        out.push_back({k, d, s.thickness_m, skin.depth_m, skin.frequency_hz});
    }
  }
  return out;
}

}  // namespace tessera::electromagnetics
