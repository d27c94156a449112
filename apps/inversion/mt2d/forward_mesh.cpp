// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/forward_mesh.h"

#include "inversion/mt2d/mesh.h"
#include "inversion/mt2d/section_sizes.h"
#include "support/app.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/memory.h"
#include "tessera/inversion/goal_mesh_2d.h"
#include "tessera/inversion/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

namespace tessera::apps::mt2d {
namespace {

/// Rising values without such as lie within `least(x)` of one that stays: all `fixed` ones do.
std::vector<double> apart(std::vector<double> fixed, const std::vector<double>& wanted,
                          const std::function<double(double)>& least) {
  for (const double x : wanted)
    if (std::none_of(fixed.begin(), fixed.end(),
                     [&](double other) { return std::abs(other - x) < least(x); }))
      fixed.push_back(x);
  std::sort(fixed.begin(), fixed.end());
  return fixed;
}

/// The stations' own columns: a sixth of their distance, and wider the further aside.
std::vector<SizeAt> sizes_at_stations(const Mt2dOptions& o, const std::vector<double>& at,
                                      double first) {
  std::vector<SizeAt> out;
  for (std::size_t k = 0; k < at.size(); ++k) {
    double spacing = at.size() > 1 ? HUGE_VAL : 24 * first;
    if (k > 0) spacing = std::min(spacing, at[k] - at[k - 1]);
    if (k + 1 < at.size()) spacing = std::min(spacing, at[k + 1] - at[k]);
    out.push_back({at[k], o.cell_width.value_or(std::max(spacing / 6, 0.5 * first))});
  }
  return out;
}

constexpr double rate_along = 0.3, rate_down = 0.1;

/// z of the highest and of the lowest ground between two places.
struct Heights {
  double highest = HUGE_VAL, lowest = -HUGE_VAL;
};
Heights heights_between(const inversion::Ground2d& line, double left, double right) {
  Heights out;
  const auto add = [&](double z) {
    out.highest = std::min(out.highest, z), out.lowest = std::max(out.lowest, z);
  };
  add(depth_of(line, left)), add(depth_of(line, right));
  for (std::size_t k = 0; k < line.y.size(); ++k)
    if (line.y[k] > left && line.y[k] < right) add(line.z[k]);
  return out;
}

/// How a mesh that is flat comes to lie below the ground: rows down to `reach` as deep below it as
/// they were below 0, whatever the ground does; under them `padding` that levels the base.
struct Bending {
  double sea = 0;      ///< thickness of the water where the mesh is flat
  double surface = 0;  ///< z of the water's
  double reach = 0, padding = 0;
  Heights ground;

  std::vector<inversion::Level2d> levels(const std::function<double(double)>& line) const {
    const double sky = (sea > 0 ? surface : ground.highest) - reach;
    std::vector<inversion::Level2d> out{{-sea - reach, [=](double) { return sky; }}};
    if (sea > 0) out.push_back({-sea, [z = surface](double) { return z; }});
    out.push_back({0, line});
    if (padding > 0) out.push_back({reach, [line, d = reach](double y) { return line(y) + d; }});
    const double base = ground.lowest + reach + padding;
    out.push_back({reach + padding, [=](double) { return base; }});
    return out;
  }
};

}  // namespace

inversion::SectionMesh forward_mesh(const data::Config& config, const Mt2dOptions& o,
                                    const Ground& ground, const SectionModel& model,
                                    const std::vector<double>& frequency_hz, const Parts& parts) {
  require_sea(config, o, ground);
  const std::vector<double>& at = ground.stations.y;
  const double part = o.order.value_or(2) == 1 ? 0.1 : 0.25;
  SectionSizes sizes = section_sizes(model, ground, frequency_hz, part);
  if (o.first_cell) sizes.down.push_back({0, *o.first_cell});
  const double first = size_by(sizes.down, 0, rate_down), reach = sizes.reach;
  double sea = 0;  // thickness of the water where the mesh is flat
  if (o.sea_resistivity)
    for (const double z : ground.stations.z)
      sea += (z - ground.surface) / static_cast<double>(at.size());

  if (sea > 0) {
    const double skin = inversion::skin_depth(frequency_hz.front(), *o.sea_resistivity);
    sizes.down.push_back({-sea, part * skin}), sizes.down.push_back({0, part * skin});
  }
  const auto height = [&](double z) {
    const double air = std::max(first, -0.5 * (z + sea));
    return (z < -sea ? air : size_by(sizes.down, z, rate_down)) / parts.rows;
  };
  std::vector<SizeAt> along = sizes_at_stations(o, at, first);
  along.insert(along.end(), sizes.along.begin(), sizes.along.end());
  const auto width = [&](double y) { return size_by(along, y, rate_along) / parts.columns; };

  Bending bending{.sea = sea,
                  .surface = ground.surface,
                  .reach = reach,
                  .ground = heights_between(ground.line, at.front() - reach, at.back() + reach)};
  if (const double relief = bending.ground.lowest - bending.ground.highest; relief > 1e-9 * reach)
    bending.padding = std::max(relief, size_by(sizes.down, reach, rate_down));
  std::vector<double> z_lines{0, reach, -sea - reach},
      y_lines{at.front() - reach, at.back() + reach};
  if (sea > 0) z_lines.push_back(-sea);
  if (bending.padding > 0) z_lines.push_back(reach + bending.padding);
  y_lines.insert(y_lines.end(), at.begin(), at.end());
  // Corners and tops that a user wrote are met; a table of cells only where they are apart, and so
  // are the points of a ground.
  std::vector<double> y_wanted, z_wanted;
  auto& y_of_model = model.as_z ? y_wanted : y_lines;
  auto& z_of_model = model.as_z ? z_wanted : z_lines;
  y_of_model.insert(y_of_model.end(), sizes.y.begin(), sizes.y.end());
  z_of_model.insert(z_of_model.end(), sizes.depth.begin(), sizes.depth.end());
  for (const double y : ground.line.y)
    if (y > at.front() - reach && y < at.back() + reach) y_wanted.push_back(y);
  const auto tiny = [&](std::vector<double>& lines) {  // one place, written twice
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end(),
                            [&](double a, double b) { return b - a < 1e-9 * reach; }),
                lines.end());
  };
  tiny(y_lines), tiny(z_lines);
  try {
    const auto most = static_cast<std::size_t>(o.most_nodes);
    const std::vector<double> z = inversion::graded_axis(
        apart(z_lines, z_wanted, [&](double v) { return 0.3 * height(v); }), height, most);
    const std::vector<double> y = inversion::graded_axis(
        apart(y_lines, y_wanted, [&](double v) { return 0.3 * width(v); }), width, most);
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
    const auto surface = inversion::depth_through(ground.line.y, ground.line.z);
    out.solver = inversion::bent(flat, bending.levels(surface));
    for (Index c = 0; c < flat.cells(); ++c) {
      inversion::Medium2d& m = out.solver.medium[static_cast<std::size_t>(c)];
      if (m.parameter < 0) continue;
      const auto [at_y, at_z] = out.solver.middle(c);
      const double row = flat.middle(c).second;
      m.parameter =
          static_cast<Index>(model.region(at_y, at_z, row < reach ? row : at_z - surface(at_y)));
    }
    out.cells = out.solver;
    out.sensors = inversion::sensors_on(out.solver, lines.size() - 1, at, o.tilted);
    return out;
  } catch (const Error& e) {
    double least = sea > 0 ? *o.sea_resistivity : HUGE_VAL;
    for (const Axes& ohm_m : model.ohm_m) least = std::min(least, least_of(ohm_m));
    throw no_mesh(config, frequency_hz.back(), frequency_hz.front(), least, e.what());
  }
}

Tensor parameters_of(const inversion::SectionMesh& mesh, const SectionModel& model) {
  const Index n = mesh.solver.parameters();
  const auto first = model.ohm_m.begin(), last = first + n;
  const bool alike =
      std::all_of(first, last, [](const Axes& r) { return r[1] == r[0] && r[2] == r[0]; });
  std::vector<double> out;
  for (auto region = first; region != last; ++region)
    for (std::size_t a = 0; a < (alike ? 1 : 3); ++a)
      out.push_back(std::isfinite((*region)[a]) ? std::log((*region)[a]) : 0);
  return alike ? tensor(out) : tensor(out, {n, 3});
}

namespace {

constexpr Index enough_unasked = 40'000;  // cells: half a minute of a core

/// At most four frequencies, the ends among them: meshes between are as good.
std::vector<double> some_of(const std::vector<double>& frequency_hz) {
  std::vector<double> out;
  for (std::size_t k = 0; k < 4; ++k)
    out.push_back(frequency_hz[k * (frequency_hz.size() - 1) / 3]);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::optional<FineMesh> fine_forward_mesh(const data::Config& config, const Mt2dOptions& o,
                                          const Ground& ground, const SectionModel& model,
                                          const std::vector<double>& frequency_hz,
                                          std::vector<Look>& looks,
                                          const std::function<bool(Index cells)>& go_on) {
  inversion::SectionMesh mesh = forward_mesh(config, o, ground, model, frequency_hz);
  const double goal = o.goal.value_or(0.01);
  if (goal >= 1) return FineMesh{std::move(mesh), {}};
  const std::vector<double> some = some_of(frequency_hz);
  const int order = o.order.value_or(2);
  std::string why_not;  // no finer mesh
  const auto finer = [&](const Parts& p) -> std::optional<inversion::SectionMesh> {
    try {
      inversion::SectionMesh m = forward_mesh(config, o, ground, model, frequency_hz, p);
      const std::uint64_t takes = 9 * solver_bytes(m.solver, order), has = data::memory_limit();
      if (!o.goal && m.solver.cells() > enough_unasked)
        why_not =
            fmt::format("it takes more than {} cells; give mesh.goal to have them", enough_unasked);
      else if (has > 0 && takes > has)
        why_not = fmt::format("it takes {:.2g} GB, this machine has {:.2g}", double(takes) / 1e9,
                              double(has) / 1e9);
      else
        return m;
    } catch (const data::InputError& e) {
      why_not = e.findings().front().message;
    }
    return {};
  };
  const auto responses =
      [&](const Parts& parts,
          const inversion::SectionMesh& m) -> std::optional<inversion::Responses2d> {
    for (const Look& look : looks)
      if (look.parts == parts) return look.responses;
    looks.push_back({parts, inversion::Forward2d(m.solver, m.sensors, some,
                                                 {.order = order})(parameters_of(m, model))});
    if (!go_on(m.solver.cells())) return {};
    return looks.back().responses;
  };
  auto found = responses({}, mesh);
  double by_columns = NAN, by_rows = NAN;
  for (Parts now; found;) {
    const Parts by_two{2 * now.columns, now.rows}, down_by_two{now.columns, 2 * now.rows};
    auto columns = finer(by_two), rows = finer(down_by_two);
    if (!columns || !rows) break;
    auto of_columns = responses(by_two, *columns);
    if (!of_columns) return {};
    auto of_rows = responses(down_by_two, *rows);
    if (!of_rows) return {};
    by_columns = inversion::change_of(*of_columns, *found).size;
    by_rows = inversion::change_of(*of_rows, *found).size;
    const bool more_columns = by_columns > goal / 2, more_rows = by_rows > goal / 2;
    if (more_columns) now.columns *= 2;
    if (more_rows) now.rows *= 2;
    if (more_columns && more_rows) {
      auto both = finer(now);
      if (!both) break;
      mesh = *std::move(both), found = responses(now, mesh);
    } else if (more_columns) {
      mesh = *std::move(columns), found = std::move(of_columns);
    } else if (more_rows) {
      mesh = *std::move(rows), found = std::move(of_rows);
    } else {
      break;
    }
  }
  if (!found) return {};
  std::string changes, doubt;
  if (!std::isnan(by_columns))
    changes = fmt::format(
        "halved columns changed apparent resistivities by {:.2g} %, halved rows by {:.2g} %, at "
        "most",
        100 * by_columns, 100 * by_rows);
  if (!why_not.empty())
    doubt = fmt::format(
        "mesh.goal = {:g} % is not reached by the mesh of {} cells: {}; a finer one: {}",
        100 * goal, mesh.solver.cells(),
        changes.empty() ? "none was looked at" : "in the last look " + changes, why_not);
  else if (!changes.empty())
    mesh.remarks.push_back(changes);
  return FineMesh{std::move(mesh), std::move(doubt)};
}

}  // namespace tessera::apps::mt2d
