// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/mesh.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace tessera::apps::mt2d {

data::InputError no_mesh(const data::Config& config, double lowest_hz, double highest_hz,
                         double ohm_m, const std::string& why) {
  return {
      data::ExitCode::would_not_fit,
      {config.error(687, "mesh.most_nodes",
                    fmt::format("no mesh can be made for {:.3g} to {:.3g} Hz at {:.3g} ohm m: {}",
                                lowest_hz, highest_hz, ohm_m, why),
                    "fewer frequencies, larger cells, or more mesh.most_nodes where memory is "
                    "there; are frequencies and units right?")}};
}

void require_sea(const data::Config& config, const Mt2dOptions& o, const Ground& ground) {
  if (!o.sea_resistivity) return;
  const auto refuse = [&](const char* what, double y, double z) {
    throw data::InputError(
        data::ExitCode::config_invalid,
        {config.error(689, "ground.sea_resistivity",
                      fmt::format("{} at elevation {:.4g} m, at {:.6g} m along the section: all of "
                                  "it has to lie below the sea's surface, elevation {:.6g} m",
                                  what, 0.0 - z, y, 0.0 - ground.surface),
                      "a floor in ground.file, or by the stations' elevations; a shore is meshed "
                      "by outlines (section.file)")});
  };
  const auto& [y, z, tilt] = ground.stations;
  for (std::size_t k = 0; k < y.size(); ++k)
    if (!(z[k] > ground.surface)) refuse("a station stands", y[k], z[k]);
  for (std::size_t k = 0; k < ground.line.z.size(); ++k)
    if (!(ground.line.z[k] > ground.surface))
      refuse("the ground lies", ground.line.y[k], ground.line.z[k]);
}

namespace {

/// Columns are no wider than the nearest station is far; nothing where mesh.cell_width is not more.
std::optional<std::string> narrower_than_asked(const Mt2dOptions& o,
                                               const inversion::SectionStations& stations) {
  std::vector<double> y = stations.y;
  std::sort(y.begin(), y.end());
  std::size_t narrow = 0;
  double least = HUGE_VAL, greatest = 0;
  for (std::size_t k = 0; k < y.size() && o.cell_width; ++k) {
    double gap = HUGE_VAL;
    if (k > 0) gap = y[k] - y[k - 1];
    if (k + 1 < y.size()) gap = std::min(gap, y[k + 1] - y[k]);
    if (!(*o.cell_width > gap * (1 + 1e-3))) continue;
    ++narrow;
    least = std::min(least, gap), greatest = std::max(greatest, gap);
  }
  if (narrow == 0) return {};
  return fmt::format(
      "below {} of {} stations cells are narrower than mesh.cell_width, {:.4g} m: no wider than "
      "the nearest station is far, {:.4g} to {:.4g} m",
      narrow, y.size(), *o.cell_width, least, greatest);
}

}  // namespace

inversion::SectionMesh mesh_of(const data::Config& config, const Mt2dOptions& o,
                               const Ground& ground, const inversion::SectionScales& scales,
                               const Fineness& fineness) {
  inversion::SectionMeshOptions m{.cell_width_m = o.cell_width,
                                  .first_cell_m = o.first_cell,
                                  .growth = o.growth,
                                  .depth_m = o.depth,
                                  .order = o.order.value_or(1),
                                  .columns_of_cell = o.solver_columns,
                                  .split_columns = fineness.columns,
                                  .split_rows = o.split_rows * fineness.rows,
                                  .most_nodes = static_cast<std::size_t>(o.most_nodes),
                                  .ground = ground.line,
                                  .sea = {},
                                  .tilt_along_ground = o.tilted};
  require_sea(config, o, ground);
  if (o.ground == GroundShape::stations) m.ground.reset();  // smoothly through them
  if (o.sea_resistivity)
    m.sea = inversion::Sea2d{
        .floor = ground.line, .surface_m = ground.surface, .ohm_m = *o.sea_resistivity};
  try {
    inversion::SectionMesh out = inversion::section_mesh(ground.stations, scales, m);
    if (auto remark = narrower_than_asked(o, ground.stations))
      out.remarks.push_back(*std::move(remark));
    return out;
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    throw no_mesh(config, scales.lowest_hz, scales.highest_hz, scales.ohm_m, e.what());
  }
}

std::vector<double> resistivity_of_cells(const inversion::Mesh2d& mesh,
                                         const std::vector<double>& ln_rho) {
  std::vector<double> out;
  for (const inversion::Medium2d& m : mesh.medium)
    out.push_back(m.parameter >= 0 ? std::exp(ln_rho[static_cast<std::size_t>(m.parameter)])
                  : m.is_air()     ? NAN
                                   : m.ohm_m);
  return out;
}

inversion::Survey tilted_as(const inversion::Sensors2d& sensors, inversion::Survey survey) {
  for (std::size_t k = 0; k < survey.stations.size(); ++k) {
    inversion::Station& s = survey.stations[k];
    // Both point down where y rises, and beta is that of MARE2DEM.
    s.tilt_deg = sensors.tilt.empty() ? 0 : sensors.tilt[k] * degrees;
    s.sounding.tilt_deg = s.tilt_deg;
  }
  return survey;
}

std::uint64_t solver_bytes(const inversion::Mesh2d& mesh, int order) {
  // Nested dissection of n nodes: about 8 n log2 n complex numbers in a factor (George 1973), of
  // each mode. A run's peak beside its data was 9 of these in forward runs and 10 in inversions of
  // 5,000 to 10,000 nodes.
  const double n =
      static_cast<double>(mesh.vertices()) * (order == 2 ? (mesh.corners == 4 ? 3 : 4) : 1);
  return static_cast<std::uint64_t>(2 * 16 * 8 * n * std::log2(n + 2));
}

}  // namespace tessera::apps::mt2d
