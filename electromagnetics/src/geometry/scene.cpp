// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/scene.h"

#include "geometry/fill.h"
#include "geometry/vector.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::electromagnetics {
using namespace detail;
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
  for (std::size_t i : from_top_) bounds_.push_back(scene_.structures[i].shape.bounds());
}

void require_media(const Scene& scene, std::size_t n_media) {
  const auto known = [&](int medium) {
    return medium >= 0 && static_cast<std::size_t>(medium) < n_media;
  };
  if (!known(scene.background))
    throw Error(fmt::format("[scene] the background is medium {}, but there are {}",
                            scene.background, n_media));
  for (std::size_t i = 0; i < scene.structures.size(); ++i)
    if (!known(scene.structures[i].medium))
      throw Error(fmt::format("[scene] structure {} is of medium {}, but there are {}", i + 1,
                              scene.structures[i].medium, n_media));
  for (std::size_t i = 0; i < scene.structures.size(); ++i)
    if (const auto& pixels = scene.structures[i].pixels)
      for (const std::int32_t medium : pixels->medium)
        if (!known(medium))
          throw Error(
              fmt::format("[scene] a pixel of structure {} is of medium {}, but there are {}",
                          i + 1, medium, n_media));
}

int medium_at(const SceneOrder& scene, const Point& p) {
  for (std::size_t i : scene.from_top()) {
    const Structure& s = scene.scene().structures[i];
    if (s.shape.contains(p)) return s.medium_at(p);
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
      const bool same = a.medium == b.medium && !a.pixels && !b.pixels;
      if (same || a.priority != b.priority) continue;
      const Bounds both = common(common(a.shape.bounds(), b.shape.bounds()), domain);
      if (!share_volume(both, domain)) continue;
      const auto level = [&](const Point& p) {
        return std::max(clearance(a.shape.node(), p), clearance(b.shape.node(), p));
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
    const auto level = [&](const Point& p) { return clearance(shape.node(), p); };
    Point at;
    if (both.empty() || find_point(level, 0, box_of(both), search_halvings, at) == Search::none)
      out.push_back(i);
  }
  return out;
}

}  // namespace tessera::electromagnetics
