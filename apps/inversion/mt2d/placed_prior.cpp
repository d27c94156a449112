// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/placed_prior.h"

#include "support/app.h"
#include "tessera/autodiff/error.h"
#include "tessera/inversion/section_prior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

namespace tessera::apps::mt2d {
namespace {

using Numbers = std::vector<double>;

inversion::Region region_of(const InvertProblem& p) {
  const PriorOptions& o = p.options.prior;
  const double left = o.left.value_or(p.ground.stations.y.front()),
               right = o.right.value_or(p.ground.stations.y.back());
  inversion::Region r{.bounds = {{o.top, *o.depth}, {left, right}}};
  // The ground is no rim.
  if (o.fade > 0) {
    r.fade = {{0, o.fade}, {o.fade, o.fade}};
    r.beyond = {{o.top == 0, false}, {false, false}};
  } else {
    r.beyond = {{true, true}, {true, true}};
  }
  return r;
}

/// Cells by four points each; static shifts are unknowns beside them that no region holds.
inversion::CellPoints points_of(const inversion::SectionMesh& mesh) {
  inversion::CellPoints points{.axes = 2};
  const auto depth = depths_below_ground(mesh);
  for (Index c = 0; c < mesh.columns; ++c)
    for (Index r = 0; r < mesh.rows; ++r)
      for (const double down : {0.25, 0.75})
        for (const double along : {0.25, 0.75}) {
          const auto i = static_cast<std::size_t>(c), j = static_cast<std::size_t>(r);
          const double y = mesh.y[i] + along * (mesh.y[i + 1] - mesh.y[i]);
          points.at.push_back(depth(y, mesh.depth[j] + down * (mesh.depth[j + 1] - mesh.depth[j])));
          points.at.push_back(y);
          points.cell.push_back(static_cast<std::size_t>(c * mesh.rows + r));
        }
  return points;
}

}  // namespace

PlacedPrior placed_prior(const InvertProblem& p) {
  const inversion::SectionMesh& mesh = p.mesh;
  const std::size_t n = p.cells(), shifts = p.inversion->shifts().unknown.size();
  const inversion::Region region = region_of(p);
  Numbers background(n, std::log(p.scales.ohm_m));
  background.resize(n + shifts, 0.0);
  PlacedPrior out{
      inversion::learnt_model(
          {inversion::generator_of(inversion::read_section_prior(*p.options.prior.file))}, {region},
          points_of(mesh), background, inversion::sparse_diagonal(Numbers(n + shifts, 1.0))),
      {},
      *inversion::read_prior_calibration(*p.options.prior.file)};
  const Shape& shape = out.model.generators[0].model;
  const double length = out.calibration.error_length,
               down = length * (region.bounds[0][1] - region.bounds[0][0]) / double(shape[0]),
               along = length * (region.bounds[1][1] - region.bounds[1][0]) / double(shape[1]);
  const auto depth = depths_below_ground(mesh);
  // The error of the nearest number of the array, by the way that numbers come to cells.
  Numbers error = out.model.into[0].times(out.calibration.cell_error.to_vector());
  Numbers deviation(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double share = 1 - out.model.outside[k];
    const double outside = p.options.prior.outside * std::numbers::ln10;
    const auto c = k / static_cast<std::size_t>(mesh.rows),
               r = k % static_cast<std::size_t>(mesh.rows);
    const double y = 0.5 * (mesh.y[c] + mesh.y[c + 1]),
                 z = depth(y, 0.5 * (mesh.depth[r] + mesh.depth[r + 1]));
    const bool inside = z > region.bounds[0][0] && z < region.bounds[0][1] &&
                        y > region.bounds[1][0] && y < region.bounds[1][1];
    deviation[k] = inside ? std::hypot(error[k], (1 - share) * outside) : outside;
    out.model.decoder_part[k] = inside ? std::pow(error[k] / deviation[k], 2) : 0;
  }
  inversion::GaussianPrior pixels = inversion::with_standard_deviations(
      inversion::section_correlation(mesh.cells, along, down), deviation);
  for (std::size_t k = 0; k < shifts; ++k)
    pixels = inversion::append(std::move(pixels), 0, *p.options.static_shift.prior_std);
  out.prior = out.model.prior(std::move(pixels));
  return out;
}

inversion::InverseProblem problem_of_cells(const InvertProblem& p) {
  inversion::InverseProblem out = p.inversion->problem();
  out.forward = p.inversion->forward().map();
  if (!p.inversion->shifts().unknown.empty())
    out.forward = inversion::with_shifts(std::move(out.forward), p.inversion->shifts());
  return out;
}

Result result_of_cells(const InvertProblem& p, const Numbers& cells, const Numbers& predicted) {
  Result r;
  r.survey = tilted_as(p.mesh.sensors, p.input.survey);
  r.survey.data.predicted = predicted;
  r.y = p.mesh.sensors.y, r.z = p.mesh.sensors.z;
  r.cells = p.mesh.cells;
  r.ohm_m = resistivity_of_cells(r.cells, cells);
  const auto& shift_of = p.inversion->shifts().unknown;
  if (!shift_of.empty()) r.shift.assign(2 * r.y.size(), NAN);
  for (std::size_t k = 0; k < shift_of.size(); ++k)
    r.shift[2 * static_cast<std::size_t>(shift_of[k].station) +
            (shift_of[k].mode == inversion::Element::yx)] = cells[p.cells() + k];
  return r;
}

void check_prior(const data::Config& config, const InvertProblem& p) {
  const PriorOptions& o = p.options.prior;
  if (!o.file) return;
  if (!inversion::read_prior_calibration(*o.file))
    throw data::InputError(
        data::ExitCode::input_invalid,
        {config.error(694, "prior.file", o.file->string() + " says nothing of held-out sections",
                      "a prior.safetensors of a run of inversion.prior of this version")});
  const inversion::Region region = region_of(p);
  if (!(region.bounds[1][0] < region.bounds[1][1]))
    throw data::InputError(
        data::ExitCode::input_invalid,
        {config.error(694, "prior.left", "the region has no extent along the section",
                      "prior.left below prior.right, m along the section")});
  const inversion::CellPoints points = points_of(p.mesh);
  const auto& [down, along] = std::tie(region.bounds[0], region.bounds[1]);
  bool any = false, any_along = false;
  for (std::size_t k = 0; k < points.at.size(); k += 2) {
    const bool within = points.at[k + 1] > along[0] && points.at[k + 1] < along[1];
    any_along = any_along || within;
    any = any || (within && points.at[k] > down[0] && points.at[k] < down[1]);
  }
  if (!any)
    throw data::InputError(
        data::ExitCode::input_invalid,
        {config.error(694,
                      !any_along && (o.left || o.right) ? "prior.left"
                      : down[0] >= p.mesh.depth.back()  ? "prior.top"
                                                        : "prior.depth",
                      fmt::format("the region, {:.4g} to {:.4g} m along the section and {:.4g} to "
                                  "{:.4g} m below the ground, holds no cell of the mesh, which "
                                  "reaches from {:.4g} to {:.4g} m and to {:.4g} m",
                                  along[0], along[1], down[0], down[1], p.mesh.y.front(),
                                  p.mesh.y.back(), p.mesh.depth.back()),
                      "a region below the stations")});
  const inversion::SectionPrior prior = inversion::read_section_prior(*o.file);
  // Angles of faults and intrusions are those of regions of the prior's shape.
  const double aspect =
      (region.bounds[1][1] - region.bounds[1][0]) / (region.bounds[0][1] - region.bounds[0][0]);
  constexpr double alike = 1.25;
  if (prior.aspect > 0 && (aspect > alike * prior.aspect || prior.aspect > alike * aspect))
    throw data::InputError(
        data::ExitCode::input_invalid,
        {config.error(
            694, "prior.depth",
            fmt::format("the region is {:.3g} times as wide as deep, those that the prior has "
                        "learnt are {:.3g} times",
                        aspect, prior.aspect),
            "a region of that shape within a quarter, or a prior learnt from sections with this "
            "region.aspect")});
  try {
    inversion::learnt_model({inversion::generator_of(prior)}, {region}, points_of(p.mesh),
                            Numbers(p.cells(), 0.0), {});
  } catch (const Error& e) {
    throw data::InputError(
        data::ExitCode::input_invalid,
        {config.error(694, "prior.depth", e.what(), "a region that holds cells of the mesh")});
  }
}

std::vector<data::Diagnostic> doubts_of_region(const data::Config& config, const InvertProblem& p) {
  if (!p.options.prior.file) return {};
  const auto [left, right] = region_of(p).bounds[1];
  const double first = p.ground.stations.y.front(), last = p.ground.stations.y.back();
  const double sounded = std::max(0.0, std::min(right, last) - std::max(left, first));
  if (sounded >= 0.5 * (right - left)) return {};
  data::Diagnostic d = config.error(
      696, left < first ? "prior.left" : "prior.right",
      fmt::format("the prior's region, {:.4g} to {:.4g} m along the section, lies for the most "
                  "part where there are no stations, which stand from {:.4g} to {:.4g} m",
                  left, right, first, last),
      "prior.left and prior.right about the stations; elsewhere its section is the prior alone");
  d.severity = data::Severity::warning;
  return {d};
}

}  // namespace tessera::apps::mt2d
