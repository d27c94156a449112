// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/forward_mesh.h"

#include "inversion/mt2d/mesh.h"
#include "tessera/autodiff/error.h"
#include "tessera/inversion/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tessera::apps::mt2d {
namespace {

/// Rising values; of such as are nearer than `least(x)` the first one given stays.
std::vector<double> apart(const std::vector<double>& wanted,
                          const std::function<double(double)>& least) {
  std::vector<double> out;
  for (const double x : wanted)
    if (std::none_of(out.begin(), out.end(),
                     [&](double other) { return std::abs(other - x) < least(x); }))
      out.push_back(x);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

inversion::SectionMesh forward_mesh(const data::Config& config, const Mt2dOptions& o,
                                    const Ground& ground, const SectionModel& model,
                                    const std::vector<double>& frequency_hz) {
  const std::vector<double>& at = ground.stations.y;
  double shallow = HUGE_VAL, deep = 0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    shallow = std::min(shallow, model.ohm_m[model.region(at[k], ground.stations.z[k], 0)]);
    deep = std::max(deep, model.ohm_m[model.region(at[k], 1e7, 1e7)]);
  }
  const bool fine = o.order.value_or(2) == 1;
  const double skin = inversion::skin_depth(frequency_hz.front(), shallow),
               reach = std::max(3 * inversion::skin_depth(frequency_hz.back(), deep), 10 * skin);
  // A third of the least skin depth at the ground with order 2, a tenth with order 1; a tenth of
  // the depth below.
  const double first = (fine ? 0.1 : 0.25) * skin;
  const auto height = [&](double z) {
    return z < 0 ? std::max(first, -0.5 * z) : std::max(first, 0.1 * z);
  };
  double spacing = at.size() > 1 ? HUGE_VAL : 4 * skin;
  for (std::size_t k = 1; k < at.size(); ++k) spacing = std::min(spacing, at[k] - at[k - 1]);
  const double width = o.cell_width.value_or(std::max(spacing / 6, 0.5 * first));
  const auto columns = [&](double y) {
    return std::max(width, 0.3 * std::max({at.front() - y, y - at.back(), 0.0}));
  };
  double sea = 0;  // thickness of the water where the mesh is flat
  if (o.sea_resistivity)
    for (const double z : ground.stations.z) sea += z / static_cast<double>(at.size());

  std::vector<double> z_lines{0, reach, -sea - reach},
      y_lines{at.front() - reach, at.back() + reach};
  if (sea > 0) z_lines.push_back(-sea);
  for (const LayerOptions& l : o.layers) z_lines.push_back(l.top);
  for (const BodyOptions& b : o.bodies)
    for (const Place& p : b.points) {
      if (p[0] > y_lines[0] && p[0] < y_lines[1]) y_lines.push_back(p[0]);
      if (p[1] > 0 && p[1] < reach) z_lines.push_back(p[1]);
    }
  std::erase_if(z_lines, [&](double z) { return z > reach; });
  y_lines.insert(y_lines.end(), at.begin(), at.end());
  const double middle = ground.line.z.empty()
                            ? 0
                            : std::accumulate(ground.line.z.begin(), ground.line.z.end(), 0.0) /
                                  static_cast<double>(ground.line.z.size());
  try {
    const auto most = static_cast<std::size_t>(o.most_nodes);
    const std::vector<double> z = inversion::graded_axis(
        apart(z_lines, [&](double v) { return 0.3 * height(v); }), height, most);
    const std::vector<double> y = inversion::graded_axis(
        apart(y_lines, [&](double v) { return 0.3 * columns(v); }), columns, most);
    if (y.size() * z.size() > most) throw Error(fmt::format("{} nodes", y.size() * z.size()));
    inversion::SectionMesh out;
    const std::vector<double> lines =
        sea > 0 ? std::vector<double>{-sea, 0} : std::vector<double>{0};
    const inversion::Mesh2d flat = inversion::tensor_mesh(y, z, lines, [&](double, double d) {
      if (d > 0) return inversion::Medium2d{.parameter = 0};
      if (sea > 0 && d > -sea)
        return inversion::Medium2d{.parameter = -1, .ohm_m = *o.sea_resistivity};
      return inversion::air();
    });
    std::vector<inversion::Level2d> levels{
        {-sea - reach, [=](double) { return (sea > 0 ? 0 : middle) - reach; }}};
    if (sea > 0) levels.push_back({-sea, [](double) { return 0.0; }});
    levels.push_back({0, inversion::depth_through(ground.line.y, ground.line.z)});
    levels.push_back({reach, [=](double) { return middle + reach; }});
    out.solver = inversion::bent(flat, levels);
    for (Index c = 0; c < flat.cells(); ++c) {
      inversion::Medium2d& m = out.solver.medium[static_cast<std::size_t>(c)];
      if (m.parameter < 0) continue;
      const auto [at_y, at_z] = out.solver.middle(c);
      m.parameter = static_cast<Index>(model.region(at_y, at_z, flat.middle(c).second));
    }
    out.cells = out.solver;
    out.sensors = inversion::sensors_on(out.solver, lines.size() - 1, at, o.tilted);
    return out;
  } catch (const Error& e) {
    throw no_mesh(config, frequency_hz.back(), frequency_hz.front(), shallow, e.what());
  }
}

}  // namespace tessera::apps::mt2d
