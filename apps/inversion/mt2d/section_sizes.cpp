// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/section_sizes.h"

#include "tessera/inversion/constants.h"
#include "tessera/inversion/response.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::mt2d {
namespace {

constexpr double deepest = 1e7;      // m
constexpr double unseen = 7;         // skin depths down and up again: exp(-14)
constexpr double hardly_seen = 5;    // of what is below an interface: exp(-10)
constexpr std::size_t columns = 64;  // that are looked down
constexpr double nothing = 1e-8;     // of the reach: beside a line
// Of the size by skin depths: charges on a contact turn fields within the distance to it.
constexpr double least_share = 0.1;

/// The media below a place.
class Column {
 public:
  Column(const SectionModel& model, const Ground& ground, double y) {
    const double surface = depth_of(ground.line, y);
    std::vector<double> tops{0.0};
    for (const double at : model.depths(y))
      if (const double d = model.as_z ? at - surface : at;
          d > tops.back() * (1 + 1e-12) && d < deepest)
        tops.push_back(d);
    const Axes* above = nullptr;
    for (std::size_t k = 0; k < tops.size(); ++k) {
      const double below = k + 1 < tops.size() ? tops[k + 1] : tops[k] + 1e3,
                   middle = 0.5 * (tops[k] + below);
      const Axes& along = model.ohm_m[model.region(y, surface + middle, middle)];
      if (above && along == *above) continue;  // cells of one medium
      above = &along;
      top_.push_back(tops[k]);
      least_.push_back(least_of(along));
      // Fields go down with the resistivities along x and y.
      greatest_.push_back(std::max(along[0], along[1]));
    }
    for (std::size_t k = 0; k + 1 < top_.size(); ++k)
      sum_.push_back(sum_.back() + (top_[k + 1] - top_[k]) * decay(k));
  }
  const std::vector<double>& tops() const { return top_; }
  /// The least of a layer, that sizes go by.
  double ohm_m(std::size_t layer) const { return least_[layer]; }
  /// In skin depths over the root of the frequency.
  double depth_in_skins(double depth) const {
    const std::size_t k = layer_at(depth);
    return sum_[k] + (depth - top_[k]) * decay(k);
  }
  /// Where that is `skins`.
  double depth_of_skins(double skins) const {
    std::size_t k = 0;
    while (k + 1 < top_.size() && sum_[k + 1] < skins) ++k;
    return top_[k] + (skins - sum_[k]) / decay(k);
  }

 private:
  std::size_t layer_at(double depth) const {
    return static_cast<std::size_t>(std::upper_bound(top_.begin(), top_.end(), depth) -
                                    top_.begin() - 1);
  }
  double decay(std::size_t layer) const {
    return std::sqrt(std::numbers::pi * inversion::mu0 / greatest_[layer]);
  }
  std::vector<double> top_, least_, greatest_, sum_{0.0};
};

/// What fields get through beside the stations, as far as they reach, they reach through too: no
/// less than `reach`.
double reach_within(const SectionModel& model, const Ground& ground, double reach, double lowest_hz,
                    std::size_t stride) {
  for (double before = 0; before < reach;) {
    before = reach;
    const double left = ground.stations.y.front() - before,
                 right = ground.stations.y.back() + before;
    for (std::size_t k = 0; k < model.corners.size(); k += stride) {
      const double y = model.corners[k][0];
      if (!(y > left && y < right)) continue;
      for (const double side : {-nothing, nothing})
        reach = std::max(
            reach,
            Column(model, ground, y + side * before).depth_of_skins(unseen / std::sqrt(lowest_hz)));
    }
  }
  return reach;
}

/// Media about a point, at the distance `beside`.
struct Around {
  double least_ohm_m = HUGE_VAL;
  bool across = false,
       down = false;  ///< whether they change from side to side, from above to below
};
Around media_around(const SectionModel& model, const Ground& ground, double y, double depth,
                    double beside) {
  Around out;
  const auto at = [&](double aside, double d) -> const Axes* {
    if (!(depth + d > 0)) return nullptr;
    const Axes& here = model.ohm_m[model.region(
        y + aside, depth_of(ground.line, y + aside) + depth + d, depth + d)];
    out.least_ohm_m = std::min(out.least_ohm_m, least_of(here));
    return &here;
  };
  const auto differ = [](const Axes* a, const Axes* b) { return a && b && *a != *b; };
  at(0, 0);
  // A body may be a wedge of a few degrees.
  const int quarter = model.as_z ? 2 : 23;
  for (int n = 0; n < quarter; ++n) {
    const double angle = 0.5 * std::numbers::pi * (n + 0.5) / quarter,
                 aside = beside * std::cos(angle), d = beside * std::sin(angle);
    const Axes *left_above = at(-aside, -d), *right_above = at(aside, -d),
               *left_below = at(-aside, d), *right_below = at(aside, d);
    out.across = out.across || differ(left_above, right_above) || differ(left_below, right_below);
    out.down = out.down || differ(left_above, left_below) || differ(right_above, right_below);
  }
  return out;
}

double distance_to(const std::vector<double>& stations, double y, double depth) {
  double least = HUGE_VAL;
  for (const double at : stations) least = std::min(least, std::hypot(at - y, depth));
  return least;
}

std::vector<double> rising(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
  return v;
}

}  // namespace

double size_by(const std::vector<SizeAt>& wanted, double x, double rate) {
  double least = HUGE_VAL;
  for (const SizeAt& w : wanted) least = std::min(least, w.size + rate * std::abs(x - w.at));
  return least;
}

SectionSizes section_sizes(const SectionModel& model, const Ground& ground,
                           const std::vector<double>& frequency_hz, double part) {
  const double highest = frequency_hz.front(), lowest = frequency_hz.back();
  const std::vector<double>& stations = ground.stations.y;
  /// The highest frequency that gets through so many skin depths; 0: none.
  const auto reaching = [&](double skins) {
    const double hz = skins > 0 ? std::min(highest, std::pow(hardly_seen / skins, 2)) : highest;
    return hz >= lowest ? hz : 0;
  };
  SectionSizes out;
  const auto look_down = [&](const Column& c) {
    out.reach = std::max(out.reach, c.depth_of_skins(unseen / std::sqrt(lowest)));
    for (std::size_t k = 0; k < c.tops().size(); ++k) {
      const double hz = reaching(c.depth_in_skins(c.tops()[k]));
      if (hz == 0) break;
      const double ohm_m = k == 0 ? c.ohm_m(0) : std::min(c.ohm_m(k - 1), c.ohm_m(k));
      out.down.push_back({c.tops()[k], part * inversion::skin_depth(hz, ohm_m)});
    }
  };
  for (std::size_t k = 0; k < stations.size(); k += 1 + stations.size() / columns)
    look_down(Column(model, ground, stations[k]));
  const std::size_t stride = 1 + model.corners.size() / (16 * columns);
  out.reach = reach_within(model, ground, out.reach, lowest, stride);
  const double left = stations.front() - out.reach, right = stations.back() + out.reach;
  for (std::size_t k = 0; k < model.corners.size(); ++k) {
    const double y = model.corners[k][0],
                 depth = model.corners[k][1] - (model.as_z ? depth_of(ground.line, y) : 0);
    if (!(y > left && y < right)) continue;
    const double beside = nothing * out.reach, above = std::max(depth, 0.0);
    const Around media = media_around(model, ground, y, above, beside);
    // Points of a body that a user wrote are met, whatever lies there.
    const bool across = !model.as_z || media.across, down = !model.as_z || media.down;
    if (across) out.y.push_back(y);
    if (down && depth > 0 && depth < out.reach) out.depth.push_back(depth);
    if (!(across || down) || k % stride != 0) continue;
    double skins = HUGE_VAL;
    for (const double at : {y - beside, y + beside})
      skins = std::min(skins, Column(model, ground, at).depth_in_skins(above));
    const double hz = reaching(skins);
    if (hz == 0) continue;
    double size = part * inversion::skin_depth(hz, media.least_ohm_m);
    if (!model.as_z)
      size = std::clamp(0.5 * distance_to(stations, y, above), least_share * size, size);
    if (across) out.along.push_back({y, size});
    if (down) out.down.push_back({above, size});
  }
  const auto add_depth = [&](double d) {
    if (d > 0 && d < out.reach) out.depth.push_back(d);
  };
  for (const double d : model.tops) add_depth(d);
  // Other sides have an end within the reach, which is a corner.
  const double ground_z = model.as_z ? depth_of(ground.line, stations.front()) : 0;
  for (const SectionModel::Level& l : model.levels)
    if (l.left <= left && l.right >= right) add_depth(l.depth - ground_z);
  out.y = rising(std::move(out.y)), out.depth = rising(std::move(out.depth));
  return out;
}

}  // namespace tessera::apps::mt2d
