// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/invert.h"

#include "inversion/mt2d/section_model.h"
#include "support/app.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/memory.h"
#include "tessera/inversion/frequencies.h"
#include "tessera/inversion/mt_transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tessera::apps::mt2d {
namespace {

/// The ground, or the sea floor, of a mesh.
inversion::Ground2d ground_of_mesh(const inversion::Mesh2d& mesh) {
  inversion::Ground2d out;
  for (const Index v : mesh.lines.back()) {
    out.y.push_back(mesh.y[static_cast<std::size_t>(v)]);
    out.z.push_back(mesh.z[static_cast<std::size_t>(v)]);
  }
  return out;
}

/// Middle of the cells of each parameter, along the section and below the ground; their area.
struct Middles {
  std::vector<double> y, depth, area;
};
Middles middles_of(const inversion::Mesh2d& mesh, std::size_t parameters) {
  const inversion::Ground2d line = ground_of_mesh(mesh);
  const auto ground = inversion::depth_through(line.y, line.z);
  Middles out{std::vector<double>(parameters), std::vector<double>(parameters),
              std::vector<double>(parameters)};
  for (Index c = 0; c < mesh.cells(); ++c) {
    const Index p = mesh.medium[static_cast<std::size_t>(c)].parameter;
    if (p < 0) continue;
    double area = 0;
    for (int k = 0; k < mesh.corners; ++k) {
      const auto
          a = static_cast<std::size_t>(mesh.cell[static_cast<std::size_t>(c * mesh.corners + k)]),
          b = static_cast<std::size_t>(
              mesh.cell[static_cast<std::size_t>(c * mesh.corners + (k + 1) % mesh.corners)]);
      area += (mesh.y[a] * mesh.z[b] - mesh.z[a] * mesh.y[b]) / 2;
    }
    area = std::abs(area);
    const auto [y, z] = mesh.middle(c);
    const auto i = static_cast<std::size_t>(p);
    out.y[i] += area * y;
    out.depth[i] += area * (z - ground(y));
    out.area[i] += area;
  }
  for (std::size_t i = 0; i < parameters; ++i) out.y[i] /= out.area[i], out.depth[i] /= out.area[i];
  return out;
}

/// Parameters whose cells have their middle in a polygon.
std::vector<std::size_t> cells_in(const BodyOptions& polygon, const Middles& middle) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < middle.y.size(); ++i)
    if (lies_in(polygon.points, middle.y[i], middle.depth[i])) out.push_back(i);
  return out;
}

/// Straight in depth below the ground, and so bent in z wherever the ground is between two points.
std::vector<inversion::Tear2d> tears_of(const InvertProblem& p) {
  std::vector<inversion::Tear2d> out;
  const inversion::Ground2d line = ground_of_mesh(p.mesh.cells);
  const auto ground = inversion::depth_through(line.y, line.z);
  for (const TearOptions& tear : p.options.tears) {
    inversion::Tear2d bent;
    const auto add = [&](double y, double depth) {
      bent.y.push_back(y), bent.z.push_back(depth + ground(y));
    };
    add(tear.points[0][0], tear.points[0][1]);
    for (std::size_t k = 1; k < tear.points.size(); ++k) {
      const auto [from_y, from] = tear.points[k - 1];
      const auto [to_y, to] = tear.points[k];
      std::vector<double> bends;
      for (const double y : line.y)
        if (y > std::min(from_y, to_y) && y < std::max(from_y, to_y)) bends.push_back(y);
      if (from_y > to_y) std::reverse(bends.begin(), bends.end());
      for (const double y : bends) add(y, from + (to - from) * ((y - from_y) / (to_y - from_y)));
      add(to_y, to);
    }
    out.push_back(std::move(bent));
  }
  return out;
}

double weight_of_ties(const inversion::Mesh2d& cells, const std::vector<inversion::Tear2d>& tears) {
  double sum = 0;
  for (const inversion::SectionTie& t : inversion::section_ties(cells, {.tears = tears}))
    sum += t.weight;
  return sum;
}

/// Response of a station that a layered earth is found for: that of its determinant, else of the
/// mode that it has; nothing where none has three periods.
std::optional<inversion::Response> sounding_of(const inversion::DataTable& data, std::size_t k) {
  for (const inversion::Element e :
       {inversion::Element::determinant, inversion::Element::xy, inversion::Element::yx})
    if (inversion::Response r = inversion::response_of(data, k, e); r.size() > 2) return r;
  return std::nullopt;
}

double reference_of(const Mt2dOptions& o, const inversion::SectionScales& scales) {
  double rho = o.reference_resistivity.value_or(scales.ohm_m);
  if (!o.least_resistivity) return rho;
  const double lo = std::log(*o.least_resistivity), hi = std::log(*o.greatest_resistivity);
  if (o.reference_resistivity) return rho;
  return std::exp(std::clamp(std::log(rho), lo + 0.1 * (hi - lo), hi - 0.1 * (hi - lo)));
}

std::vector<inversion::SectionColumn> layered_earths(const InvertProblem& p) {
  std::vector<inversion::SectionColumn> out;
  for (std::size_t k = 0; k < p.input.survey.stations.size(); ++k) {
    const auto r = sounding_of(p.input.survey.data, k);
    if (!r) continue;
    const inversion::SoundingInverter one(*r, {.posterior = inversion::PosteriorMethod::none});
    out.push_back(
        {p.ground.stations.y[k], one.result().thickness_m, one.result().resistivity_ohm_m});
  }
  return out;
}

/// Whether steps, bands or the section of a prior take the Jacobian as numbers.
bool takes_jacobian(const Mt2dOptions& o) {
  const bool by_products =
      o.method == Method::lbfgs || o.equations == inversion::NormalEquations::conjugate_gradients;
  return o.task != Task::invert || !by_products || o.prior.file ||
         o.posterior.method != inversion::PosteriorMethod::none;
}

}  // namespace

InvertProblem meshed(const data::Config& config, const Mt2dOptions& o, Input input) {
  InvertProblem p{.options = o,
                  .input = std::move(input),
                  .ground = {},
                  .scales = {},
                  .fineness = {},
                  .mesh = {},
                  .frequency_hz = {},
                  .inversion = {}};
  p.ground = ground_of(o, p.input.survey);
  p.scales = inversion::section_scales(p.input.survey.data, o.reference_resistivity.value_or(100));
  p.frequency_hz = inversion::model_frequencies(p.input.survey.data);
  p.mesh = mesh_of(config, o, p.ground, p.scales);
  require_memory(config, p);
  return p;
}

void require_memory(const data::Config& config, const InvertProblem& p) {
  const bool can_leave_out =
      takes_jacobian(p.options) && p.options.task == Task::invert && !p.options.prior.file;
  if (const std::uint64_t has = data::memory_limit(); has > 0 && bytes_of(p) > has)
    throw data::InputError(
        data::ExitCode::would_not_fit,
        {config.error(
            687, "mesh.cell_width",
            fmt::format("{} cells and {} data take {:.2g} GB, this machine has {:.2g}", p.cells(),
                        p.input.survey.data.size(), static_cast<double>(bytes_of(p)) / 1e9,
                        static_cast<double>(has) / 1e9),
            std::string("larger cells (columns are no wider than stations are apart, rows grow by "
                        "mesh.growth), fewer periods or stations") +
                (can_leave_out ? "; or no Jacobian: inversion.equations = \"conjugate_gradients\" "
                                 "and posterior.method = \"none\""
                               : ""))});
}

void check_model(const data::Config& config, const InvertProblem& p) {
  const Mt2dOptions& o = p.options;
  std::vector<data::Diagnostic> wrong;
  const Middles middle = middles_of(p.mesh.cells, p.cells());
  for (std::size_t k = 0; k < o.fixed.size(); ++k)
    if (cells_in(o.fixed[k], middle).empty())
      wrong.push_back(config.error(689, fmt::format("model.fixed[{}].points", k),
                                   "no cell has its middle in it: nothing is fixed",
                                   "a larger polygon, or smaller cells (mesh.cell_width)"));
  std::vector<std::size_t> fixed_by(p.cells(), o.fixed.size());
  std::set<std::pair<std::size_t, std::size_t>> differ;
  for (std::size_t k = 0; k < o.fixed.size(); ++k)
    for (const std::size_t i : cells_in(o.fixed[k], middle)) {
      if (const std::size_t other = fixed_by[i];
          other < k && o.fixed[other].resistivity != o.fixed[k].resistivity &&
          differ.emplace(other, k).second)
        wrong.push_back(config.error(
            603, fmt::format("model.fixed[{}].points", k),
            fmt::format("cells lie in it and in model.fixed[{}], which says another resistivity",
                        other),
            "one resistivity for each place"));
      fixed_by[i] = k;
    }
  const std::vector<inversion::Tear2d> tears = tears_of(p);
  const double whole = tears.empty() ? 0 : weight_of_ties(p.mesh.cells, {});
  for (std::size_t k = 0; k < tears.size(); ++k)
    if (!(weight_of_ties(p.mesh.cells, {tears[k]}) < whole))
      wrong.push_back(config.error(
          689, fmt::format("model.tear[{}].points", k),
          "the line runs between no cells of the section: nothing is torn",
          "distances are along the section, depths below the ground, down; or smaller cells"));
  const inversion::Survey& survey = p.input.survey;
  bool any = o.start != Start::soundings;
  for (std::size_t k = 0; k < survey.stations.size() && !any; ++k)
    any = sounding_of(survey.data, k).has_value();
  if (!any)
    wrong.push_back(config.error(
        689, "inversion.start",
        "no station has three periods of an impedance: there is no 1-D section to start from",
        "inversion.start = \"half_space\""));
  if (!wrong.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(wrong));
}

void complete(const data::Config& config, InvertProblem& p, const std::optional<GoOn>& from) {
  if (!from) check_model(config, p);
  const Mt2dOptions& o = p.options;
  const std::size_t n = p.cells();
  const double reference = std::log(reference_of(o, p.scales));
  inversion::SectionInversionOptions s;
  s.method = o.method == Method::occam          ? inversion::SectionMethod::occam
             : o.method == Method::gauss_newton ? inversion::SectionMethod::gauss_newton
                                                : inversion::SectionMethod::lbfgs;
  s.loss = survey::loss_of(o.misfit);
  s.target_rms = o.target_rms.value_or(1);
  s.mu = o.roughness_weight;
  s.max_iterations = o.max_iterations;
  if (from) s.max_iterations -= from->steps;
  if (from && from->mu > 0) s.mu_start = from->mu;  // none where no step was taken
  s.equations = o.equations;
  s.forward.order = o.order.value_or(1);
  s.start.assign(n, reference);
  if (o.start == Start::soundings && !from) {
    s.start = inversion::stitched_section(p.mesh, layered_earths(p));
  }
  if (!o.fixed.empty()) s.fixed.assign(n, false);
  for (const BodyOptions& known : o.fixed)
    for (const std::size_t i : cells_in(known, middles_of(p.mesh.cells, n))) {
      s.fixed[i] = true;
      s.start[i] = std::log(known.resistivity);
    }
  s.smoothing.along = o.smooth_along;
  s.smoothing.down = o.smooth_down;
  s.smoothing.reference = {reference};
  s.smoothing.tears = tears_of(p);
  if (o.differences == Differences::l1) s.smoothing.norm = inversion::DifferenceNorm::huber;
  if (o.least_resistivity) {
    s.ln_rho_bounds =
        inversion::Bounds{std::log(*o.least_resistivity), std::log(*o.greatest_resistivity)};
    const double width = s.ln_rho_bounds->upper - s.ln_rho_bounds->lower;
    for (std::size_t i = 0; i < n; ++i)  // fixed cells keep what the case says of them
      if (s.fixed.empty() || !s.fixed[i])
        s.start[i] = std::clamp(s.start[i], s.ln_rho_bounds->lower + 1e-3 * width,
                                s.ln_rho_bounds->upper - 1e-3 * width);
  }
  if (o.static_shift.enabled) s.shift_std_decades = o.static_shift.prior_std;
  p.inversion.emplace(p.input.survey.data, p.mesh, p.frequency_hz, s);
}

std::vector<std::string> describe(const InvertProblem& p) {
  const inversion::SectionScales& s = p.scales;
  const std::set<double> own(p.input.survey.data.frequency_hz.begin(),
                             p.input.survey.data.frequency_hz.end());
  std::vector<std::string> out;
  out.push_back(
      fmt::format("{} data of {} stations over {:.4g} km, {} frequencies from {:.4g} to {:.4g} Hz, "
                  "computed at {}",
                  p.input.survey.data.size(), p.ground.stations.y.size(),
                  (p.ground.stations.y.back() - p.ground.stations.y.front()) / 1000, own.size(),
                  s.highest_hz, s.lowest_hz, p.frequency_hz.size()));
  double narrow = HUGE_VAL;
  for (std::size_t k = 1; k < p.mesh.y.size(); ++k)
    narrow = std::min(narrow, p.mesh.y[k] - p.mesh.y[k - 1]);
  const double least = inversion::skin_depth(s.highest_hz, s.ohm_m),
               greatest = inversion::skin_depth(s.lowest_hz, s.ohm_m);
  double first = HUGE_VAL;  // height of the solver's cells under the ground
  const inversion::Mesh2d& mesh = p.mesh.solver;
  for (Index c = 0; c < mesh.cells(); ++c) {
    if (mesh.medium[static_cast<std::size_t>(c)].parameter < 0) continue;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < mesh.corners; ++k) {
      const double z = mesh.z[static_cast<std::size_t>(
          mesh.cell[static_cast<std::size_t>(c * mesh.corners + k)])];
      low = std::min(low, z), high = std::max(high, z);
    }
    first = std::min(first, high - low);
  }
  out.push_back(
      fmt::format("{} cells: {} columns from {:.3g} m on, {} rows from {:.3g} m to {:.3g} km, "
                  "padding to {:.3g} "
                  "km among them; computed on {} cells, the first {:.2g} of the least skin depth",
                  p.cells(), p.mesh.columns, narrow, p.mesh.rows, p.mesh.depth[1],
                  p.mesh.depth_m / 1000, p.mesh.depth.back() / 1000, mesh.cells(), first / least));
  out.push_back(fmt::format("skin depths {:.3g} m to {:.3g} km at {:.3g} ohm m", least,
                            greatest / 1000, s.ohm_m));
  return out;
}

std::uint64_t bytes_of(const InvertProblem& p) {
  const auto data = static_cast<std::uint64_t>(p.input.survey.data.size()),
             cells = static_cast<std::uint64_t>(p.cells());
  const std::uint64_t factors = 10 * solver_bytes(p.mesh.solver, p.options.order.value_or(1));
  // The Jacobian, its copy over the errors and the covariance times it; the data's matrix.
  if (takes_jacobian(p.options)) return 8 * (3 * data * cells + 2 * data * data) + factors;
  // Rows between the frequencies at work, of which a datum has four, and those begun before; the
  // responses of each station by the cells; pairs of L-BFGS.
  const auto frequencies = std::max<std::uint64_t>(p.frequency_hz.size(), 1),
             at_work = std::min<std::uint64_t>(frequencies, 5);
  return 8 * (2 * data * at_work / frequencies * cells + 6 * p.ground.stations.y.size() * cells +
              20 * cells) +
         factors;
}

StepRow row_of(const InvertProblem& p, const inversion::Iteration& step,
               const std::vector<double>& predicted) {
  inversion::DataTable t = p.input.survey.data;
  t.predicted = predicted;
  return {.step = static_cast<double>(step.number),
          .rms = inversion::rms_of(t),
          .rms_te = rms_of_element(t, inversion::Element::xy),
          .rms_tm = rms_of_element(t, inversion::Element::yx),
          .rms_tipper = rms_of_element(t, inversion::Element::ty),
          .roughness = step.roughness,
          .weight = step.mu,
          .length = step.step};
}

Result invert_result(const InvertProblem& p, const inversion::SectionState& state, bool bands) {
  const inversion::SectionResult found = p.inversion->result(state);
  Result r;
  r.survey = tilted_as(p.mesh.sensors, p.input.survey);
  r.survey.data.predicted = found.predicted;
  r.y = p.mesh.sensors.y, r.z = p.mesh.sensors.z;
  r.cells = p.mesh.cells;
  r.ohm_m = resistivity_of_cells(r.cells, found.ln_rho);
  const auto of_cells = [&](const std::vector<double>& of_parameters, bool given) {
    std::vector<double> out;
    for (std::size_t c = 0; c < r.cells.medium.size(); ++c) {
      const Index k = r.cells.medium[c].parameter;
      out.push_back(k >= 0 ? of_parameters[static_cast<std::size_t>(k)] : given ? r.ohm_m[c] : NAN);
    }
    return out;
  };
  if (bands) {
    const inversion::SectionBands b = p.inversion->bands(state);
    r.low = resistivity_of_cells(r.cells, b.q05), r.high = resistivity_of_cells(r.cells, b.q95);
  }
  std::vector<double> seen = p.inversion->sensitivity(state);
  const Middles middle = middles_of(p.mesh.cells, p.cells());
  for (std::size_t k = 0; k < seen.size(); ++k) seen[k] /= middle.area[k];
  const double most = *std::max_element(seen.begin(), seen.end());
  for (double& v : seen) v /= most;
  r.sensitivity = of_cells(seen, false);
  if (!found.shift_of.empty()) {
    r.shift.assign(2 * r.y.size(), NAN);
    for (std::size_t k = 0; k < found.shift_of.size(); ++k)
      r.shift[2 * static_cast<std::size_t>(found.shift_of[k].station) +
              (found.shift_of[k].mode == inversion::Element::yx)] = found.shift_decades[k];
  }
  // Of Huber's loss it is no line of the plain RMS that pictures draw.
  if (p.options.method == Method::occam && p.options.misfit.kind == survey::Misfit::l2)
    r.target_rms = p.options.target_rms.value_or(1);
  r.reason = inversion::describe(found.reason);
  return r;
}

}  // namespace tessera::apps::mt2d
