// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/outline.h"

#include "inversion/mt2d/mesh.h"
#include "inversion/mt2d/water.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/text_file.h"
#include "tessera/data/text_reader.h"
#include "tessera/inversion/gmsh_2d.h"
#include "tessera/inversion/goal_mesh_2d.h"
#include "tessera/inversion/mare2dem_model.h"
#include "tessera/inversion/outline_2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;

constexpr double like_air = 1e9;  // ohm m: MARE2DEM's air has 1e12

std::string ending_of(const fs::path& file) { return data::upper(file.extension().string()); }
std::string text_of(const fs::path& file) { return data::read_text_file(file).text; }

/// Parameters are regions; those of air are air.
std::vector<inversion::Medium2d> media_of_regions(const std::vector<Axes>& ohm_m) {
  std::vector<inversion::Medium2d> out;
  for (std::size_t k = 0; k < ohm_m.size(); ++k)
    out.push_back(least_of(ohm_m[k]) >= like_air
                      ? inversion::air()
                      : inversion::Medium2d{.parameter = static_cast<Index>(k)});
  return out;
}

/// Of all cells but air.
double least_ohm_m(const inversion::Mesh2d& mesh, const Tensor& ln_rho) {
  const Index axes = ln_rho.ndim() == 2 ? 3 : 1;
  const std::vector<double> model = ln_rho.to_vector<double>();
  double least = HUGE_VAL;
  for (const inversion::Medium2d& m : mesh.medium) {
    if (m.parameter < 0) {
      if (!m.is_air()) least = std::min(least, m.ohm_m);
      continue;
    }
    const auto first = model.begin() + m.parameter * axes;
    least = std::min(least, std::exp(*std::min_element(first, first + axes)));
  }
  return least;
}

/// Where stations stand: those with water on both sides of their place, and those on land.
std::string where_stations_stand(const inversion::SectionMesh& m, const std::vector<bool>& water) {
  const inversion::Mesh2d& mesh = m.solver;
  std::vector<double> wet, dry;  // z
  for (std::size_t k = 0; k < m.sensors.y.size(); ++k) {
    const double y = m.sensors.y[k];
    bool left = false, right = false;
    for (std::size_t c = 0; c < water.size(); ++c) {
      if (!water[c]) continue;
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (int i = 0; i < mesh.corners; ++i) {
        const Index v = mesh.cell[c * static_cast<std::size_t>(mesh.corners) + std::size_t(i)];
        low = std::min(low, mesh.y[static_cast<std::size_t>(v)]);
        high = std::max(high, mesh.y[static_cast<std::size_t>(v)]);
      }
      left = left || (low < y && y <= high);
      right = right || (low <= y && y < high);
    }
    (left && right ? wet : dry).push_back(m.sensors.z[k]);
  }
  const auto range = [](const std::vector<double>& z) {
    const auto [high, low] = std::minmax_element(z.begin(), z.end());
    return fmt::format("z = {:.6g} to {:.6g} m", *high, *low);
  };
  if (wet.empty()) return "stations stand on land beside the water, at " + range(dry);
  if (dry.empty()) return "stations stand on the floor of the water, at " + range(wet);
  return fmt::format("{} stations stand on the floor of the water, at {}, and {} on land, at {}",
                     wet.size(), range(wet), dry.size(), range(dry));
}

}  // namespace

bool is_outline(const fs::path& file) {
  const std::string ending = ending_of(file);
  return ending == ".POLY" || ending == ".RESISTIVITY" || ending == ".MSH";
}

bool has_resistivities(const fs::path& file) { return ending_of(file) == ".RESISTIVITY"; }

OutlinedSection outlined_section(const data::Config& config, const Mt2dOptions& o,
                                 const std::vector<double>& y) {
  const fs::path& file = *o.section_file;
  const std::string ending = ending_of(file);
  OutlinedSection out;
  try {
    inversion::Mesh2d& mesh = out.mesh.solver;
    fs::path outline = file;
    if (ending == ".RESISTIVITY") {
      const inversion::Mare2demModel model =
          inversion::read_mare2dem_model(text_of(file), file.string());
      for (const auto& region : model.regions) out.ohm_m.push_back(region.ohm_m);
      if (model.anisotropic)
        out.remarks.push_back(
            "the model is anisotropic: TE has the resistivities along x, TM those along y and z");
      outline = file.parent_path() / model.model_file;
    } else {
      for (const double r : o.section_resistivities) out.ohm_m.push_back({r, r, r});
      if (out.ohm_m.empty())
        throw data::InputError(
            data::ExitCode::config_invalid,
            {config.error(690, "section.resistivities",
                          "regions of " + file.filename().string() + " have no resistivity",
                          "section.resistivities, one for each region from 1 on; that of air "
                          "\"inf\"")});
    }
    if (ending == ".MSH") {
      mesh = inversion::read_msh(
          text_of(file),
          {.medium =
               [&](Index group) {
                 if (group < 1 || group > std::ssize(out.ohm_m))
                   throw Error(fmt::format(
                       "physical group {} has no resistivity: section.resistivities has {}", group,
                       out.ohm_m.size()));
                 return media_of_regions(out.ohm_m)[static_cast<std::size_t>(group - 1)];
               },
           .upwards = true},
          file.string());
    } else {
      mesh = inversion::triangles_of(inversion::read_poly(text_of(outline), outline.string()),
                                     media_of_regions(out.ohm_m));
    }
    const std::vector<bool> water = water_of(config, o, out.ohm_m, mesh);
    // One line, which the sensors stand on; it is found again on each finer mesh.
    mesh.lines = {inversion::line_between(mesh, [&](Index c) {
      const auto k = static_cast<std::size_t>(c);
      return mesh.medium[k].is_air() || water[k];
    })};
    // The water is given: it is no earth, neither here nor in the tables of the run.
    for (std::size_t c = 0; c < water.size(); ++c)
      if (inversion::Medium2d& m = mesh.medium[c]; water[c])
        m = {.parameter = -1, .ohm_m = out.ohm_m[static_cast<std::size_t>(m.parameter)][0]};
    const std::vector<Index>& ground = mesh.lines[0];
    for (std::size_t k = 1; k < ground.size(); ++k)
      if (const auto a = static_cast<std::size_t>(ground[k - 1]),
          b = static_cast<std::size_t>(ground[k]);
          !(mesh.y[b] > mesh.y[a]))
        throw Error(fmt::format(
            "the ground goes back or straight down at {:.6g} m along the section, z = {:.6g} m",
            mesh.y[a], mesh.z[a]));
    out.mesh.sensors = inversion::sensors_on(mesh, 0, y, o.tilted);
    if (std::find(water.begin(), water.end(), true) != water.end())
      out.remarks.push_back(where_stations_stand(out.mesh, water));
    out.mesh.cells = mesh;
    // Whatever else responses cannot be computed of, such as air that is shut in.
    inversion::Forward2d(mesh, out.mesh.sensors, {1.0}, {.order = 1});
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    throw data::InputError(data::Diagnostic{.number = 690,
                                            .place = {.file = file.string()},
                                            .message = e.what(),
                                            .hint = "see section.file"});
  }
  return out;
}

std::optional<std::string> refine(const data::Config& config, inversion::SectionMesh& mesh,
                                  const Mt2dOptions& o, const Tensor& ln_rho,
                                  const std::vector<double>& frequency_hz,
                                  std::optional<inversion::GoalMeshSearch>& search,
                                  const std::function<bool(Index cells)>& go_on) {
  const double goal = o.goal.value_or(0.01);
  std::vector<double> some;  // a mesh for the ends and two between serves all
  for (std::size_t k = 0; k < 4; ++k)
    some.push_back(frequency_hz[k * (frequency_hz.size() - 1) / 3]);
  some.erase(std::unique(some.begin(), some.end()), some.end());
  try {
    if (!search)
      search.emplace().so_far.mesh = inversion::start_mesh(
          inversion::triangles_of(mesh.solver), mesh.sensors, frequency_hz.front(), ln_rho);
  } catch (const Error& e) {
    throw no_mesh(config, frequency_hz.back(), frequency_hz.front(),
                  least_ohm_m(mesh.solver, ln_rho), e.what());
  }
  if (goal >= 1) search->so_far.reached = search->ended = true;
  const inversion::GoalMeshOptions options{.goal = goal,
                                           .most_cells = static_cast<Index>(o.most_nodes),
                                           .forward = {.order = o.order.value_or(2)}};
  while (!search->ended) {
    inversion::step_goal_mesh(*search, mesh.sensors, some, ln_rho, options);
    if (!go_on(search->so_far.mesh.cells())) return {};
  }
  const inversion::GoalMesh& refined = search->so_far;
  std::string doubt;
  if (!refined.reached) {
    using Of = inversion::ResponseChange::Of;
    const inversion::ResponseChange& left = refined.left;
    const bool cells = refined.mesh.cells() >= options.most_cells;
    const char* of = left.of == Of::te   ? "the apparent resistivity of TE"
                     : left.of == Of::tm ? "the apparent resistivity of TM"
                                         : "twice the tipper";
    doubt = fmt::format("mesh.goal = {:g} % was not reached within {}: ", 100 * goal,
                        cells ? fmt::format("{} cells (mesh.most_nodes)", options.most_cells)
                              : fmt::format("{} steps of refinement, on {} cells",
                                            options.most_steps, refined.mesh.cells()));
    doubt += std::isfinite(left.size)
                 ? fmt::format(
                       "{} at y = {:.6g} m and {:.4g} Hz changed by {:.2g} % in the last "
                       "step{}",
                       of, mesh.sensors.y[static_cast<std::size_t>(left.sensor)],
                       some[static_cast<std::size_t>(left.frequency)], 100 * left.size,
                       cells ? "" : "; is a corner or a contact there, where it has no end?")
                 : "no change is known";
  }
  mesh.solver = refined.mesh;
  mesh.sensors = inversion::sensors_on(mesh.solver, 0, mesh.sensors.y, o.tilted);
  mesh.cells = mesh.solver;
  return doubt;
}

}  // namespace tessera::apps::mt2d
