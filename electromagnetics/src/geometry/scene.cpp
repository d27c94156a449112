// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/scene.h"

#include "geometry/fill.h"
#include "geometry/vector.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::electromagnetics {
namespace {

Box box_of(const Bounds& b) {
  Box box;
  for (int k = 0; k < 3; ++k) {
    box.centre[k] = (b.low[k] + b.high[k]) / 2;
    box.size[k] = b.high[k] - b.low[k];
  }
  return box;
}

Bounds common(const Bounds& a, const Bounds& b) {
  Bounds c;
  for (int k = 0; k < 3; ++k) {
    c.low[k] = std::max(a.low[k], b.low[k]);
    c.high[k] = std::min(a.high[k], b.high[k]);
  }
  return c;
}

int longest_side(const Point& size) {
  return static_cast<int>(std::max_element(size.begin(), size.end()) - size.begin());
}

enum class Search { none, found, undecided };

/// A point of `box` where `level` <= `enough`, by halving the boxes that may hold one: `level`
/// changes by at most 1 m per m.
template <class Level>
Search find_point(const Level& level, double enough, const Box& box, int halvings, Point& at) {
  const double here = level(box.centre);
  if (here <= enough) {
    at = box.centre;
    return Search::found;
  }
  if (here > box.radius()) return Search::none;
  if (halvings == 0) return Search::undecided;
  const int k = longest_side(box.size);
  Box half = box;
  half.size[k] /= 2;
  Search result = Search::none;
  for (double side : {-0.25, 0.25}) {
    half.centre[k] = box.centre[k] + side * box.size[k];
    const Search s = find_point(level, enough, half, halvings - 1, at);
    if (s == Search::found) return s;
    if (s == Search::undecided) result = s;
  }
  return result;
}

constexpr int search_halvings = 18;  // 64 parts of each of three sides

void need_finite(const char* operation, const Bounds& domain) {
  for (int k = 0; k < 3; ++k)
    if (!std::isfinite(domain.low[k]) || !std::isfinite(domain.high[k]) ||
        domain.low[k] > domain.high[k])
      throw Error(
          fmt::format("[{}] the domain must be finite with low <= high, got [{}, {}] on axis {}",
                      operation, domain.low[k], domain.high[k], k));
}

bool share_volume(const Bounds& both, const Bounds& domain) {
  for (int k = 0; k < 3; ++k) {
    const bool flat = domain.low[k] == domain.high[k];
    if (flat ? both.low[k] > both.high[k] : !(both.low[k] < both.high[k])) return false;
  }
  return true;
}

}  // namespace

SceneOrder::SceneOrder(Scene scene)
    : scene_(std::move(scene)), from_top_(scene_.structures.size()) {
  std::iota(from_top_.rbegin(), from_top_.rend(), std::size_t{0});
  std::stable_sort(from_top_.begin(), from_top_.end(), [&](std::size_t a, std::size_t b) {
    return scene_.structures[a].priority > scene_.structures[b].priority;
  });
}

int medium_at(const SceneOrder& scene, const Point& p) {
  for (std::size_t i : scene.from_top()) {
    const Structure& s = scene.scene().structures[i];
    if (s.shape.contains(p)) return s.medium;
  }
  return scene.scene().background;
}

int medium_at(const Scene& scene, const Point& p) { return medium_at(SceneOrder(scene), p); }

std::vector<Overlap> overlaps(const Scene& scene, const Bounds& domain) {
  need_finite("overlaps", domain);
  std::vector<Overlap> out;
  const auto& all = scene.structures;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const Structure &a = all[i], &b = all[j];
      if (a.medium == b.medium || a.priority != b.priority) continue;
      const Bounds both = common(common(a.shape.bounds(), b.shape.bounds()), domain);
      if (!share_volume(both, domain)) continue;
      const auto level = [&](const Point& p) {
        return std::max(detail::clearance(a.shape.node(), p), detail::clearance(b.shape.node(), p));
      };
      const Box box = box_of(both);
      Point at;
      if (find_point(level, -1e-9 * box.radius(), box, search_halvings, at) == Search::found)
        out.push_back({i, j, at});
    }
  return out;
}

std::string describe(const Overlap& overlap, const Scene& scene) {
  const auto name = [&](std::size_t i) {
    const std::string& given = scene.structures.at(i).name;
    return given.empty() ? fmt::format("number {}", i + 1) : "'" + given + "'";
  };
  return fmt::format(
      "structures {} and {} overlap near ({:.6g}, {:.6g}, {:.6g}) m at equal priority; {}, the "
      "later one, is "
      "seen there",
      name(overlap.first), name(overlap.second), overlap.at[0], overlap.at[1], overlap.at[2],
      name(overlap.second));
}

std::vector<std::size_t> structures_outside(const Scene& scene, const Bounds& domain) {
  need_finite("structures_outside", domain);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < scene.structures.size(); ++i) {
    const Shape& shape = scene.structures[i].shape;
    const Bounds both = common(shape.bounds(), domain);
    const auto level = [&](const Point& p) { return detail::clearance(shape.node(), p); };
    Point at;
    if (both.empty() || find_point(level, 0, box_of(both), search_halvings, at) == Search::none)
      out.push_back(i);
  }
  return out;
}

namespace {

/// Cells [low, high) of a grid.
struct Cells {
  std::array<std::size_t, 3> low, high;
};

struct UniformMedia {
  std::array<const std::vector<double>*, 3> lines;
  std::array<std::size_t, 3> n;
  std::vector<std::int32_t> medium;

  /// The cells and their neighbours.
  Box around(const Cells& cells) const {
    Bounds b;
    for (int k = 0; k < 3; ++k) {
      b.low[k] = (*lines[k])[cells.low[k] > 0 ? cells.low[k] - 1 : 0];
      b.high[k] = (*lines[k])[std::min(cells.high[k] + 1, n[k])];
    }
    return box_of(b);
  }

  void set(const Cells& cells, std::int32_t value) {
    for (std::size_t k = cells.low[2]; k < cells.high[2]; ++k)
      for (std::size_t j = cells.low[1]; j < cells.high[1]; ++j) {
        const auto row = medium.begin() + static_cast<std::ptrdiff_t>((k * n[1] + j) * n[0]);
        std::fill(row + static_cast<std::ptrdiff_t>(cells.low[0]),
                  row + static_cast<std::ptrdiff_t>(cells.high[0]), value);
      }
  }

  void visit(const Cells& cells, const Structures& from_top, int background) {
    const Box box = around(cells);
    const double radius = 1.2 * box.radius();  // faces stand back a little (local.cpp)
    Structures near;
    for (const Structure* s : from_top) {
      const double clear = detail::clearance(s->shape.node(), box.centre);
      if (clear > radius) continue;
      if (clear < -radius) {
        background = s->medium;
        break;
      }
      near.push_back(s);
    }
    while (!near.empty() && near.back()->medium == background) near.pop_back();
    if (near.empty()) return set(cells, background);
    Point extent;
    for (int k = 0; k < 3; ++k) extent[k] = static_cast<double>(cells.high[k] - cells.low[k]);
    const int k = longest_side(extent);
    if (extent[k] == 1) {
      const Fill f = fill_box(near, background, box, 0);
      return set(cells, f.media.size() == 1 ? f.media[0].medium : -1);
    }
    Cells half = cells;
    half.high[k] = (cells.low[k] + cells.high[k]) / 2;
    visit(half, near, background);
    half.low[k] = half.high[k];
    half.high[k] = cells.high[k];
    visit(half, near, background);
  }
};

}  // namespace

std::vector<std::int32_t> uniform_media(const SceneOrder& scene, const std::vector<double>& x,
                                        const std::vector<double>& y,
                                        const std::vector<double>& z) {
  UniformMedia grid{{&x, &y, &z}, {}, {}};
  for (int k = 0; k < 3; ++k) {
    if (grid.lines[k]->size() < 2 || !std::is_sorted(grid.lines[k]->begin(), grid.lines[k]->end()))
      throw Error(fmt::format("[uniform_media] needs at least two rising lines on axis {}, got {}",
                              k, grid.lines[k]->size()));
    grid.n[k] = grid.lines[k]->size() - 1;
  }
  grid.medium.resize(grid.n[0] * grid.n[1] * grid.n[2]);
  Structures from_top;
  for (std::size_t i : scene.from_top()) from_top.push_back(&scene.scene().structures[i]);

  constexpr std::size_t side = 16;  // of the blocks that threads take
  std::array<std::size_t, 3> blocks;
  for (int k = 0; k < 3; ++k) blocks[k] = (grid.n[k] + side - 1) / side;
  parallel_chunks(static_cast<std::int64_t>(blocks[0] * blocks[1] * blocks[2]),
                  [&](std::int64_t chunk) {
                    const auto c = static_cast<std::size_t>(chunk);
                    const std::size_t block[3] = {c % blocks[0], c / blocks[0] % blocks[1],
                                                  c / blocks[0] / blocks[1]};
                    Cells cells;
                    for (int k = 0; k < 3; ++k) {
                      cells.low[k] = block[k] * side;
                      cells.high[k] = std::min(cells.low[k] + side, grid.n[k]);
                    }
                    grid.visit(cells, from_top, scene.scene().background);
                  });
  return std::move(grid.medium);
}

}  // namespace tessera::electromagnetics
