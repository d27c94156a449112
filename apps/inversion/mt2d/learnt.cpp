// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/learnt.h"

#include "support/app.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/csv.h"
#include "tessera/inversion/low_rank_posterior.h"
#include "tessera/inversion/posterior.h"
#include "tessera/inversion/section_prior.h"
#include "tessera/inversion/through.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

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
  for (Index c = 0; c < mesh.columns; ++c)
    for (Index r = 0; r < mesh.rows; ++r)
      for (const double down : {0.25, 0.75})
        for (const double along : {0.25, 0.75}) {
          const auto i = static_cast<std::size_t>(c), j = static_cast<std::size_t>(r);
          points.at.push_back(mesh.depth[j] + down * (mesh.depth[j + 1] - mesh.depth[j]));
          points.at.push_back(mesh.y[i] + along * (mesh.y[i + 1] - mesh.y[i]));
          points.cell.push_back(static_cast<std::size_t>(c * mesh.rows + r));
        }
  return points;
}

struct Placed {
  inversion::LearntModel model;
  inversion::GaussianPrior prior;
};
/// Pixels have the decoder's error on held-out sections in the region, alike over about a cell of
/// the prior's, and `outside` decades elsewhere.
Placed placed(const InvertProblem& p, const inversion::PriorCalibration& calibration) {
  const inversion::SectionMesh& mesh = p.mesh;
  const std::size_t n = p.cells(), shifts = p.inversion->shifts().unknown.size();
  const inversion::Region region = region_of(p);
  Numbers background(n, std::log(p.scales.ohm_m));
  background.resize(n + shifts, 0.0);
  Placed out{
      inversion::learnt_model(
          {inversion::generator_of(inversion::read_section_prior(*p.options.prior.file))}, {region},
          points_of(mesh), background, inversion::sparse_diagonal(Numbers(n + shifts, 1.0))),
      {}};
  const Shape& shape = out.model.generators[0].model;
  const double down = 1.3 * (region.bounds[0][1] - region.bounds[0][0]) / double(shape[0]),
               along = 1.3 * (region.bounds[1][1] - region.bounds[1][0]) / double(shape[1]);
  const double area = (mesh.y.back() - mesh.y.front()) * mesh.depth.back();
  const inversion::Smoothing alike = inversion::section_smoothing(
      mesh.cells,
      {.down = std::pow(down / along, 2), .reference = {0.0}, .anchor = area / (along * along)});
  // The error of the nearest number of the array, by the way that numbers come to cells.
  Numbers error = out.model.into[0].times(calibration.cell_error.to_vector());
  Numbers deviation(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double share = 1 - out.model.outside[k];
    const double outside = p.options.prior.outside * std::numbers::ln10;
    const auto c = k / static_cast<std::size_t>(mesh.rows),
               r = k % static_cast<std::size_t>(mesh.rows);
    const double y = 0.5 * (mesh.y[c] + mesh.y[c + 1]),
                 z = 0.5 * (mesh.depth[r] + mesh.depth[r + 1]);
    const bool inside = z > region.bounds[0][0] && z < region.bounds[0][1] &&
                        y > region.bounds[1][0] && y < region.bounds[1][1];
    deviation[k] = inside ? std::hypot(error[k], (1 - share) * outside) : outside;
  }
  inversion::GaussianPrior pixels = inversion::with_standard_deviations(alike.prior(1), deviation);
  for (std::size_t k = 0; k < shifts; ++k)
    pixels = inversion::append(std::move(pixels), 0, *p.options.static_shift.prior_std);
  out.prior = out.model.prior(std::move(pixels));
  return out;
}

inversion::InverseProblem problem_of(const InvertProblem& p) {
  inversion::InverseProblem out = p.inversion->problem();
  out.forward = p.inversion->forward().map();
  if (!p.inversion->shifts().unknown.empty())
    out.forward = inversion::with_shifts(std::move(out.forward), p.inversion->shifts());
  return out;
}

}  // namespace

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
  try {
    inversion::learnt_model({inversion::generator_of(inversion::read_section_prior(*o.file))},
                            {region}, points_of(p.mesh), Numbers(p.cells(), 0.0), {});
  } catch (const Error& e) {
    throw data::InputError(
        data::ExitCode::input_invalid,
        {config.error(694, "prior.depth", e.what(), "a region that holds cells of the mesh")});
  }
}

LearntSection learnt_section(const InvertProblem& p, const Numbers& smooth, bool bands) {
  const inversion::PriorCalibration calibration =
      *inversion::read_prior_calibration(*p.options.prior.file);
  const Placed prior = placed(p, calibration);
  const inversion::InverseProblem cells = problem_of(p);
  Numbers start = smooth;
  start.resize(prior.model.cells(), 0.0);
  LearntSection s;
  s.found = inversion::invert_learnt(
      cells, prior.model, prior.prior, start,
      {.newton = {.max_iterations = p.options.max_iterations,
                  .tolerance = 1e-3 * static_cast<double>(cells.data.size())},
       .draws = p.options.prior.draws,
       .key = {p.options.seed, 17}});
  s.doubts = inversion::doubts_of(s.found, calibration);
  Result& r = s.result;
  r.survey = p.input.survey;
  r.survey.data.predicted = s.found.predicted;
  r.y = p.mesh.sensors.y, r.z = p.mesh.sensors.z;
  r.cells = p.mesh.cells;
  const std::size_t n = p.cells();
  Numbers ln_rho = s.found.cells;
  const Numbers shifts(ln_rho.begin() + static_cast<std::ptrdiff_t>(n), ln_rho.end());
  ln_rho.resize(n);
  const auto& shift_of = p.inversion->shifts().unknown;
  if (!shift_of.empty()) r.shift.assign(2 * r.y.size(), NAN);
  for (std::size_t k = 0; k < shift_of.size(); ++k)
    r.shift[2 * static_cast<std::size_t>(shift_of[k].station) +
            (shift_of[k].mode == inversion::Element::yx)] = shifts[k];
  const auto of_cells = [&](const Numbers& ln) {
    Numbers out;
    for (const inversion::Medium2d& m : r.cells.medium)
      out.push_back(m.parameter >= 0 ? std::exp(ln[static_cast<std::size_t>(m.parameter)])
                    : m.is_air()     ? NAN
                                     : m.ohm_m);
    return out;
  };
  r.ohm_m = of_cells(ln_rho);
  if (bands) {
    inversion::InverseProblem codes = cells;
    codes.forward = inversion::through(cells.forward, prior.model.map());
    const auto posterior = inversion::low_rank_laplace(
        codes, prior.prior, s.found.m,
        {.hessian = inversion::Hessian::gauss_newton, .key = {p.options.seed, 18}});
    inversion::Matrix unit(n, prior.model.cells());
    for (std::size_t k = 0; k < n; ++k) unit(k, k) = 1;
    const Numbers sd = posterior.standard_deviation(
        inversion::sparse(from_left(unit, prior.model.map().linearize(s.found.m))));
    Numbers low = ln_rho, high = ln_rho;
    const double half = inversion::normal_half_width(0.9);
    for (std::size_t k = 0; k < n; ++k) low[k] -= half * sd[k], high[k] += half * sd[k];
    r.low = of_cells(low), r.high = of_cells(high);
  }
  for (const inversion::Iteration& i : s.found.iterations)
    r.steps.push_back({.step = double(i.number),
                       .rms = i.rms,
                       .rms_te = NAN,
                       .rms_tm = NAN,
                       .rms_tipper = NAN,
                       .roughness = NAN,
                       .weight = NAN,
                       .length = i.step});
  r.reason = inversion::describe(s.found.reason);
  return s;
}

std::vector<std::string> describe(const LearntSection& s, double smooth_rms) {
  const inversion::LearntResult& f = s.found;
  std::vector<std::string> out{fmt::format(
      "with the prior: RMS {:.3f} after {} steps from start '{}' (smooth: {:.3f}), {:.3f} decades "
      "from the smooth section; codes have a mean square of {:.3f}, pixels cost {:.1f}, all {:.3f} "
      "a datum",
      f.rms, f.iterations.size(), f.starts[f.start].name, smooth_rms, f.from_smooth, f.code_norm[0],
      f.pixels_cost, f.objective / static_cast<double>(f.n_data))};
  return out;
}

std::string prior_table(const LearntSection& s, double smooth_rms) {
  const inversion::LearntResult& f = s.found;
  data::CsvTable t({"rms", "steps", "smooth_rms", "from_smooth_decades", "code_norm", "pixels_cost",
                    "cost_per_datum", "doubts"});
  t.add(f.rms)
      .add(f.iterations.size())
      .add(smooth_rms)
      .add(f.from_smooth)
      .add(f.code_norm[0])
      .add(f.pixels_cost)
      .add(f.objective / static_cast<double>(f.n_data))
      .add(s.doubts.size())
      .end_row();
  return t.text();
}

}  // namespace tessera::apps::mt2d
