// SPDX-License-Identifier: Apache-2.0
#include "stations.h"

#include "support.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/median.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::inversion::figures {

using namespace data;

namespace {

/// Cells reach half-way to their neighbours, but over a gap no further than so many times the
/// median half-distance: what nobody saw stays empty.
constexpr double kReach = 3;

void set_columns(Stations& s) {
  const std::vector<double> edges = cell_edges(s.x, false);
  std::vector<double> half;
  for (std::size_t i = 1; i < s.x.size(); ++i) half.push_back((s.x[i] - s.x[i - 1]) / 2);
  const double most = half.empty() ? HUGE_VAL : kReach * median(half);
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    s.low.push_back(std::max(edges[i], s.x[i] - most));
    s.high.push_back(std::min(edges[i + 1], s.x[i] + most));
  }
}

}  // namespace

void require_size(const char* figure, const char* what, std::size_t came, std::size_t expected) {
  if (came != expected)
    throw Error(std::string("[") + figure + "] " + what + " has " + std::to_string(came) +
                " entries, expected " + std::to_string(expected));
}

Stations place_stations(const std::vector<std::string>& names, const std::vector<double>& distance,
                        bool counted) {
  Stations s;
  const double length = distance.empty() ? 0 : distance.back() - distance.front();
  const auto [unit, scale] =
      counted ? std::pair<std::string, double>("", 1) : length_unit(std::abs(length));
  s.axis = {.label = counted ? "Station, in order" : "Distance", .unit = unit, .group = "distance"};
  const double least = length > 0 ? 1e-3 * length / scale : 1;
  for (std::size_t i = 0; i < distance.size(); ++i) {
    double x = distance[i] / scale;
    if (i && distance[i] < distance[i - 1])
      throw Error("[profile figure] distances must not fall along the profile; station '" +
                  names[i] + "' does");
    if (i) x = std::max(x, s.x.back() + least);
    s.x.push_back(x);
    s.marks.push_back({x, names[i]});
  }
  set_columns(s);
  return s;
}

std::vector<Series> columns(const Stations& s, const std::vector<Sounded>& seen) {
  std::vector<Series> out;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const std::vector<double>& t = seen[i].period;
    if (t.empty()) continue;
    const std::vector<double> edges = cell_edges(t, true);
    std::vector<double> half;
    for (std::size_t k = 1; k < t.size(); ++k) half.push_back(std::log(t[k] / t[k - 1]) / 2);
    const double most = half.empty() ? HUGE_VAL : std::exp(kReach * median(half));
    HeatMap column{.label = s.marks[i].label, .x_edge = {s.low[i], s.high[i]}};
    for (std::size_t k = 0; k < t.size(); ++k) {
      const double low = std::max(edges[k], t[k] / most);
      if (k == 0) {
        column.y_edge.push_back(low);
      } else if (low > column.y_edge.back()) {
        column.y_edge.push_back(low);
        column.value.push_back(NAN);
      }
      column.y_edge.push_back(std::min(edges[k + 1], t[k] * most));
      column.value.push_back(seen[i].value[k]);
    }
    out.push_back(std::move(column));
  }
  return out;
}

std::pair<double, double> central_range(std::vector<double> values, bool positive) {
  std::erase_if(values, [&](double v) { return !is_number(v) || (positive && v <= 0); });
  if (values.empty()) return {1, 0};
  std::sort(values.begin(), values.end());
  const std::size_t cut = values.size() / 50;
  return {values[cut], values[values.size() - 1 - cut]};
}

StationRange range_of_stations(const std::vector<std::vector<double>>& values) {
  constexpr double decade = 10;
  StationRange out{.beyond = std::vector<bool>(values.size(), false)};
  std::vector<std::pair<double, std::size_t>> low,
      high;  // 1/greatest, so that both are sought from below
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [lo, hi] = central_range(values[i], true);
    if (lo > hi) continue;
    low.emplace_back(lo, i);
    high.emplace_back(1 / hi, i);
  }
  const std::size_t most = low.size() < 3 ? 0 : std::max<std::size_t>(1, low.size() / 10);
  for (auto* ends : {&low, &high}) {
    std::sort(ends->begin(), ends->end());
    std::size_t n = most;
    while (n > 0 && !((*ends)[n].first > decade * (*ends)[n - 1].first)) --n;
    for (std::size_t k = 0; k < n; ++k) out.beyond[(*ends)[k].second] = true;
  }
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!out.beyond[i]) kept.insert(kept.end(), values[i].begin(), values[i].end());
  std::tie(out.low, out.high) = central_range(std::move(kept), true);
  return out;
}

double symmetric_limit(const std::vector<double>& values, double least) {
  std::vector<double> size;
  for (const double v : values) size.push_back(std::abs(v));
  const double most = std::max(least, central_range(size, false).second);
  const double digit = std::pow(10, std::floor(std::log10(most)));
  return std::ceil(most / digit) * digit;
}

}  // namespace tessera::inversion::figures
