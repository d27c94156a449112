// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/water.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tessera::apps::mt2d {
namespace {

constexpr double like_a_sea = 2;  // ohm m: the usual sea has 0.3, brackish water more

/// One medium below a place, from z on to the next.
struct Slice {
  double top;
  inversion::Medium2d medium;
};
std::vector<Slice> slices_below(const inversion::Mesh2d& m, double y) {
  std::vector<Slice> all;
  for (Index c = 0; c < m.cells(); ++c) {
    const auto corner = [&](int k) {
      return static_cast<std::size_t>(m.cell[static_cast<std::size_t>(c * m.corners + k)]);
    };
    double top = HUGE_VAL, bottom = -HUGE_VAL;
    for (int k = 0; k < m.corners; ++k) {
      const std::size_t a = corner(k), b = corner((k + 1) % m.corners);
      // A place on an upright side belongs to the cell on its right.
      if ((m.y[a] > y) == (m.y[b] > y)) continue;
      const double z = m.z[a] + (m.z[b] - m.z[a]) * ((y - m.y[a]) / (m.y[b] - m.y[a]));
      top = std::min(top, z), bottom = std::max(bottom, z);
    }
    if (top < bottom) all.push_back({top, m.medium[static_cast<std::size_t>(c)]});
  }
  std::sort(all.begin(), all.end(), [](const Slice& a, const Slice& b) { return a.top < b.top; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Slice& a, const Slice& b) { return a.medium == b.medium; }),
            all.end());
  return all;
}

/// Cells for which `through` holds and that air reaches through such cells alone.
std::vector<bool> joined_to_air(const inversion::Mesh2d& m, const std::vector<bool>& through) {
  std::map<std::pair<Index, Index>, std::vector<std::size_t>> at_edge;
  const auto edge = [&](std::size_t c, int k) {
    const std::size_t first = c * static_cast<std::size_t>(m.corners);
    return std::minmax(m.cell[first + static_cast<std::size_t>(k)],
                       m.cell[first + static_cast<std::size_t>((k + 1) % m.corners)]);
  };
  std::vector<std::size_t> reached;
  for (std::size_t c = 0; c < m.medium.size(); ++c) {
    for (int k = 0; k < m.corners; ++k) at_edge[edge(c, k)].push_back(c);
    if (m.medium[c].is_air()) reached.push_back(c);
  }
  std::vector<bool> out(m.medium.size(), false);
  while (!reached.empty()) {
    const std::size_t c = reached.back();
    reached.pop_back();
    for (int k = 0; k < m.corners; ++k)
      for (const std::size_t other : at_edge[edge(c, k)])
        if (through[other] && !out[other]) out[other] = true, reached.push_back(other);
  }
  return out;
}

}  // namespace

Afloat afloat(const inversion::Mesh2d& mesh, const std::vector<Axes>& ohm_m,
              const Receivers& receivers) {
  std::set<Index> water, earth;
  std::vector<std::vector<Slice>> below;
  for (const auto& [y, z] : receivers) {
    below.push_back(slices_below(mesh, y));
    const std::vector<Slice>& s = below.back();
    std::size_t floor = 1;
    for (std::size_t i = 1; i < s.size(); ++i)
      if (std::abs(s[i].top - z) < std::abs(s[floor].top - z)) floor = i;
    if (floor >= s.size()) continue;
    const Index on = s[floor - 1].medium.parameter;
    if (on < 0) continue;  // on the ground
    const bool sea = greatest_of(ohm_m[static_cast<std::size_t>(on)]) <= like_a_sea;
    for (std::size_t i = 0; i < floor; ++i)
      if (s[i].medium.parameter >= 0) (sea ? water : earth).insert(s[i].medium.parameter);
  }
  Afloat out{.water = {water.begin(), water.end()}};
  for (const Index k : earth)
    if (!water.contains(k)) out.buried_by.push_back(k);
  for (std::size_t r = 0; r < receivers.size(); ++r) {
    const auto floor = std::find_if(below[r].begin(), below[r].end(), [&](const Slice& s) {
      return s.medium.parameter >= 0 && !water.contains(s.medium.parameter);
    });
    if (floor == below[r].end()) continue;
    if (const double off = std::abs(floor->top - receivers[r].second); off > out.off_m)
      out.off_m = off, out.worst = receivers[r];
  }
  return out;
}

std::vector<bool> water_of(const data::Config& config, const Mt2dOptions& o,
                           const std::vector<Axes>& ohm_m, const inversion::Mesh2d& mesh) {
  const auto refuse = [&](const std::string& key, std::string message, const char* hint) {
    return data::InputError(data::ExitCode::input_invalid,
                            {config.error(690, key, std::move(message), hint)});
  };
  std::vector<bool> chosen(ohm_m.size(), false);
  for (std::size_t k = 0; k < o.water_regions.size(); ++k) {
    const auto number = static_cast<std::size_t>(o.water_regions[k]);
    if (number > ohm_m.size())
      throw refuse(fmt::format("section.water[{}]", k),
                   fmt::format("there is no region {}: the section has {}", number, ohm_m.size()),
                   "numbers of regions as the file has them, from 1 on");
    if (least_of(ohm_m[number - 1]) != greatest_of(ohm_m[number - 1]))
      throw refuse(fmt::format("section.water[{}]", k),
                   fmt::format("region {} has other resistivities along x, y and z", number),
                   "water has one");
    chosen[number - 1] = true;
  }
  if (o.sea_resistivity)
    for (std::size_t k = 0; k < ohm_m.size(); ++k)
      chosen[k] = std::all_of(ohm_m[k].begin(), ohm_m[k].end(), [&](double r) {
        return std::abs(r / *o.sea_resistivity - 1) < 1e-6;
      });

  std::vector<bool> through;
  for (const inversion::Medium2d& m : mesh.medium)
    through.push_back(m.parameter >= 0 && chosen[static_cast<std::size_t>(m.parameter)]);
  std::vector<bool> out = joined_to_air(mesh, through), reached(ohm_m.size(), false);
  for (std::size_t c = 0; c < out.size(); ++c)
    if (out[c]) reached[static_cast<std::size_t>(mesh.medium[c].parameter)] = true;

  if (o.sea_resistivity && std::find(reached.begin(), reached.end(), true) == reached.end())
    throw refuse("ground.sea_resistivity",
                 fmt::format("no region of the section that has {:g} ohm m is joined to the air",
                             *o.sea_resistivity),
                 "that of the file's water, or section.water with its regions; or none: then "
                 "stations stand on the ground");
  for (std::size_t k = 0; k < o.water_regions.size(); ++k)
    if (const auto number = static_cast<std::size_t>(o.water_regions[k]); !reached[number - 1])
      throw refuse(fmt::format("section.water[{}]", k),
                   fmt::format("region {} is not joined to the air through water", number),
                   "all regions between the sea's surface and its floor");
  return out;
}

}  // namespace tessera::apps::mt2d
