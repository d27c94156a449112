// SPDX-License-Identifier: Apache-2.0
// The app electromagnetics.inverse_scattering: fields at receivers go in, the permittivity of a
// region comes out. The gradient goes through the whole run in time (yee_primitive.h).
#include "support/app.h"

#include "electromagnetics/inverse_scattering/results.h"
#include "electromagnetics/inverse_scattering/two_discs_case.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/pictures.h"
#include "support/step_record.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/run.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

namespace tessera::apps::inverse_scattering {
namespace {

const char* const kName = "electromagnetics.inverse_scattering";
/// Of a row of the descent.
const char* const kColumns[] = {"iteration", "misfit", "gradient", "psnr_db", "ssim"};

std::pair<double, Tensor> value_and_gradient(const InverseProblem& p, const Tensor& x) {
  const auto [value, g] = value_and_grad([&](const Tensor& rho) { return p.loss(rho); })(x);
  return {value.item(), g};
}

/// Where a descent is. The loss and its gradient belong to x.
struct DescentState {
  Tensor x, gradient;
  double loss = 0;
  OptimizerState optimizer;
  std::int64_t iteration = 0;
  bool stuck = false;  ///< no step lowers the loss any more

  void save(data::Checkpoint& c) const {
    c.put("x", x.to_vector<double>());
    c.put("gradient", gradient.to_vector<double>());
    c.put("loss", loss);
    c.put("stuck", std::int64_t{stuck});
    c.put("step", optimizer.step.item());
    for (const OptimizerSlot& s : optimizer.slots)
      for (std::size_t k = 0; k < s.leaves.size(); ++k)
        c.put(fmt::format("optimizer/{}/{}", s.name, k), s.leaves[k].to_vector<double>());
  }
  void load(const data::Checkpoint& c) {
    const Shape shape = x.shape();
    x = tensor(c.array<double>("x"), shape);
    gradient = tensor(c.array<double>("gradient"), shape);
    loss = c.scalar<double>("loss");
    optimizer.step = Tensor(c.scalar<double>("step"));
    const bool by_number = c.has("slots");  // as older builds wrote them
    std::size_t n = 0;
    for (OptimizerSlot& s : optimizer.slots)
      for (std::size_t k = 0; k < s.leaves.size(); ++k, ++n)
        s.leaves[k] = tensor(c.array<double>(by_number ? fmt::format("slot/{}", n)
                                                       : fmt::format("optimizer/{}/{}", s.name, k)),
                             s.leaves[k].shape());
    iteration = static_cast<std::int64_t>(c.step);
    stuck = c.has("stuck") && c.scalar<std::int64_t>("stuck") != 0;
  }
};

Optimizer optimizer_of(const DescentOptions& o) {
  return o.method == Descent::adam ? adam(constant_rate(o.rate)) : lbfgs_steps(constant_rate(1.0));
}

/// One iteration: x, its loss and its gradient move on.
void descend(const InverseProblem& p, const Optimizer& optimizer, DescentState& s) {
  auto [next, state] = optimizer.update(s.x, s.gradient, s.optimizer);
  s.optimizer = std::move(state);
  ++s.iteration;
  if (p.options.optimize.method == Descent::adam) {
    s.x = next;
    std::tie(s.loss, s.gradient) = value_and_gradient(p, s.x);
    return;
  }
  // L-BFGS gives the direction, the line search the step; the first one changes no cell by more
  // than a half.
  const Tensor direction = next - s.x;
  const double derivative = sum(direction * s.gradient).item();
  if (!(derivative < 0)) {
    s.stuck = true;
    return;
  }
  const double first = s.iteration == 1 ? 0.5 / max(abs(direction)).item() : 1;
  double last_step = 0, last_loss = 0;
  Tensor last_gradient;
  const auto phi = [&](double a) {
    std::tie(last_loss, last_gradient) = value_and_gradient(p, s.x + a * direction);
    last_step = a;
    return std::pair(last_loss, sum(direction * last_gradient).item());
  };
  const LineSearchResult found = wolfe_search(phi, s.loss, derivative, first);
  if (!(found.step > 0 && found.value < s.loss)) {
    s.stuck = true;
    return;
  }
  if (last_step != found.step) phi(found.step);
  s.x = s.x + found.step * direction;
  s.loss = last_loss;
  s.gradient = last_gradient;
}

InverseRow row_of(const InverseProblem& p, const DescentState& s) {
  double misfit = s.loss;
  if (p.options.optimize.smoothness > 0) misfit = p.misfit(s.x).item();
  InverseRow row{static_cast<double>(s.iteration), misfit, max(abs(s.gradient)).item(), NAN, NAN};
  if (!p.truth_map.empty()) {
    const Likeness l = likeness(p.map(s.x), p.truth_map);
    row.psnr_db = l.psnr_db, row.ssim = l.ssim;
  }
  return row;
}

/// How many of the longest cells are in the shortest wavelength of the region as it begins; nothing
/// where no frequency is known.
std::string cells_of_region(const InverseProblem& p) {
  const Case& c = *p.known;
  const double highest = highest_resolved(c), mu = c.media.front().mu[0];
  if (!(highest > 0)) return {};
  double longest = 0;
  for (int d = 0; d < 3; ++d)
    for (int i = 0; c.grid.resolved(d) && i < c.grid.cells(d); ++i)
      longest = std::max(longest, c.grid.length(d, i));
  return fmt::format("{:.3g} cells in the wavelength of region.start at {:.4g} Hz",
                     electromagnetics::speed_of_light / highest /
                         std::sqrt(*p.options.region.start * mu) / longest,
                     highest);
}

CheckReport check_inverse(const InverseProblem& p) {
  const Case& c = *p.known;
  CheckReport report;
  report.findings = c.warnings;
  report.lines.push_back(fmt::format("precision of the fields {}, of the permittivity f64",
                                     c.options.run.precision == Precision::f32 ? "f32" : "f64"));
  report.lines.push_back(fmt::format("grid {} x {} x {} cells, {} steps of {:.4g} s",
                                     c.grid.cells(0), c.grid.cells(1), c.grid.cells(2), p.n_steps,
                                     c.dt_s));
  if (std::string cells = cells_of_region(p); !cells.empty())
    report.lines.push_back(std::move(cells));
  report.lines.push_back(fmt::format(
      "{} unknown cells, {} sources, {} receivers; {} iterations of {}", p.n_cells(),
      p.options.sources.size(), p.options.receivers.positions.size(), p.options.optimize.iterations,
      p.options.optimize.method == Descent::adam ? "Adam" : "L-BFGS"));
  return report;
}

Estimate estimate_inverse(const data::Config& config, InverseProblem& p) {
  make_data(p, config);
  Estimate e;
  const auto begin = std::chrono::steady_clock::now();
  value_and_gradient(p, p.start());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  e.seconds = seconds * (1.1 * p.options.optimize.iterations + 1);
  const auto shots = static_cast<std::uint64_t>(p.options.sources.size());
  e.memory_bytes = {{"program", 80u << 20},
                    {"fields", shots * static_cast<std::uint64_t>(field_bytes(*p.known))},
                    {"sources and receivers",
                     8 * static_cast<std::uint64_t>(p.currents.size() + p.receivers.size())},
                    {"derivatives", static_cast<std::uint64_t>(
                                        std::min<std::int64_t>(2 * p.tape_bytes(), 2147483648))}};
  e.disk_bytes =
      static_cast<std::uint64_t>(8 * (3 * static_cast<std::int64_t>(p.data.size()) +
                                      3 * p.known->grid.cell_count() + 30 * p.n_cells()));
  e.notes.push_back(fmt::format("a loss with its gradient took {:.3g} s", seconds));
  return e;
}

/// What is known, with the region, the sources and the receivers.
void show_scene(RunContext& context, const InverseProblem& p) {
  const InverseOptions& o = p.options;
  if (!o.output.scene) return;
  if (o.output.vtk && data::vtk_xml_available())
    write_scene(context.folder.path() / "vtk", *p.known);
  if (!o.output.pictures) return;
  using Mark = electromagnetics::SceneFigure::Mark;
  Mark region{.name = "region", .marker = data::Marker::square, .colour = data::line_colour(2)};
  for (std::size_t d = 0; d < 3; ++d) {
    region.at[d] = (o.region.low[d] + o.region.high[d]) / 2;
    region.size[d] = o.region.high[d] - o.region.low[d];
  }
  std::vector<Mark> marks{region};
  for (std::size_t r = 0; r < std::min<std::size_t>(o.receivers.positions.size(), 200); ++r)
    marks.push_back({r == 0 ? "receivers" : "",
                     o.receivers.positions[r],
                     {},
                     data::Marker::circle,
                     data::line_colour(1)});
  draw_scene(context.folder.plots(), *p.known, false, marks);
}

data::ExitCode run_inverse(RunContext& context, InverseProblem& p) {
  make_data(p, context.config);
  const InverseOptions& o = p.options;
  show_scene(context, p);
  context.manifest.seeds = {static_cast<std::uint64_t>(o.data.seed)};
  const auto& path = context.folder.path();
  std::string why_not;
  const bool vtk = o.output.vtk && data::vtk_xml_available(&why_not);
  if (o.output.vtk && !vtk) context.log.warning("no VTK XML files: " + why_not);
  context.log.info(fmt::format("{} unknown cells, {} sources, {} receivers, {} steps of {:.4g} s",
                               p.n_cells(), o.sources.size(), o.receivers.positions.size(),
                               p.n_steps, p.known->dt_s));

  const Optimizer optimizer = optimizer_of(o.optimize);
  DescentState s{.x = p.start(), .gradient = p.start(), .optimizer = optimizer.init(p.start())};
  StepRecord record(context, {.app = kName,
                              .phase = "descent",
                              .unit = "iterations",
                              .total = static_cast<std::uint64_t>(o.optimize.iterations),
                              .columns = {std::begin(kColumns), std::end(kColumns)},
                              .inputs = p.inputs,
                              .save = [&](data::Checkpoint& c) { s.save(c); },
                              .load = [&](const data::Checkpoint& c) { s.load(c); }});
  if (!record.resumed()) std::tie(s.loss, s.gradient) = value_and_gradient(p, s.x);
  const auto note = [&] {
    const InverseRow row = row_of(p, s);
    record.note({row.iteration, row.misfit, row.gradient, row.psnr_db, row.ssim},
                {{"misfit", row.misfit}});
  };
  if (record.history().empty()) note();
  const auto has_blown_up = [&] {
    if (std::isfinite(s.loss)) return false;
    record.fail();
    context.log.error(
        fmt::format("the misfit is not finite at iteration {}: lower optimize.rate or run.courant",
                    s.iteration));
    return true;
  };
  const auto misfit = [&] { return record.history().back()[1]; };
  if (has_blown_up()) return data::ExitCode::blow_up;
  while (!s.stuck && s.iteration < o.optimize.iterations && misfit() > o.optimize.until) {
    descend(p, optimizer, s);
    if (s.stuck) break;
    note();
    if (has_blown_up()) return data::ExitCode::blow_up;
    if (s.iteration < o.optimize.iterations && !record.go_on())
      return data::ExitCode::stopped_resumable;
  }
  record.finish();  // what `resume --set optimize.iterations=...` goes on from
  std::vector<InverseRow> history;
  for (const std::vector<double>& h : record.history())
    history.push_back({h[0], h[1], h[2], h[3], h[4]});
  if (s.stuck)
    context.log.info(fmt::format("no step lowers the misfit further; ended at iteration {:.0f}",
                                 history.back().iteration));

  InverseResult r{
      .lines = p.known->grid.lines,
      .map = p.map(s.x),
      .truth = p.truth_map,
      .region = {},
      .time = p.times_s(),
      .measured = p.data.to_vector<double>(),
      .predicted = p.fields(s.x).to_vector<double>(),
      .field_units =
          electromagnetics::is_electric(static_cast<int>(o.receivers.component)) ? "V/m" : "A/m",
      .sources = o.sources.size(),
      .receivers = o.receivers.positions.size(),
      .history = history};
  r.region = {std::vector<double>(o.region.low.begin(), o.region.low.end()),
              std::vector<double>(o.region.high.begin(), o.region.high.end())};
  write_inverse(path, r, vtk);
  if (o.output.pictures) draw_inverse(path, r, o);

  const InverseRow& last = history.back();
  context.manifest.metrics = {{"iterations", last.iteration}, {"misfit", last.misfit}};
  std::string told = fmt::format("misfit {:.4g} after {} iterations", last.misfit, last.iteration);
  if (!p.truth_map.empty()) {
    context.manifest.metrics.insert(context.manifest.metrics.end(),
                                    {{"psnr_db", last.psnr_db}, {"ssim", last.ssim}});
    told += fmt::format("; PSNR {:.2f} dB, SSIM {:.4f}", last.psnr_db, last.ssim);
  }
  context.log.info(told);
  bool kept = true;
  const auto expect = [&](const char* what, double found, bool holds, double bound) {
    if (holds) return;
    kept = false;
    context.log.error(fmt::format("{} is {:.6g}, expected {:.6g}: NOT MET", what, found, bound));
  };
  if (o.expect.misfit_max)
    expect("the misfit", last.misfit, last.misfit <= *o.expect.misfit_max, *o.expect.misfit_max);
  if (o.expect.psnr_min)
    expect("the PSNR", last.psnr_db, last.psnr_db >= *o.expect.psnr_min, *o.expect.psnr_min);
  if (o.expect.ssim_min)
    expect("the SSIM", last.ssim, last.ssim >= *o.expect.ssim_min, *o.expect.ssim_min);
  return kept ? data::ExitCode::ok : data::ExitCode::not_converged;
}

std::vector<data::Diagnostic> against_inverse(const data::Config& config, const InverseProblem& p,
                                              const data::Checkpoint& from) {
  const std::int64_t last = p.options.optimize.iterations;
  if (last < static_cast<std::int64_t>(from.step))
    return {config.error(
        436, "optimize.iterations",
        fmt::format("the descent is at iteration {} already, past {}", from.step, last),
        "an end further off")};
  const std::vector<double> rows = from.array<double>("history");  // of kColumns
  constexpr std::size_t width = std::size(kColumns);
  for (std::size_t k = 0; k + width < rows.size(); k += width)
    if (rows[k + 1] <= p.options.optimize.until)
      return {config.error(436, "optimize.until",
                           fmt::format("the misfit was {:.6g} at iteration {:.0f}, and the descent "
                                       "has gone on to {}",
                                       rows[k + 1], rows[k], from.step),
                           "an end further off")};
  return {};
}

std::filesystem::path example(const std::filesystem::path& dir, std::uint64_t) {
  const std::filesystem::path file = dir / "two_discs.toml";
  data::write_file_atomically(file, two_discs_case);
  return file;
}

/// Fields at the receivers and the loss, at the start of the descent but clear of the kink of
/// permittivity(rho) at zero.
Derivatives inverse_derivatives(const data::Config& config, std::shared_ptr<InverseProblem> p) {
  make_data(*p, config);
  const Tensor rho = maximum(p->start(), 0.2);
  Derivatives d;
  d.parameters = {{"permittivity", rho, full(rho.shape(), 0.1)}};
  d.results = {"receivers", "loss"};
  d.values = [p](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{p->fields(x[0]), p->loss(x[0])};
  };
  d.lines = {fmt::format("permittivity: {} cells, moved by up to 0.1", p->n_cells()),
             fmt::format("{} sources, {} receivers, {} steps in float64", p->options.sources.size(),
                         p->options.receivers.positions.size(), p->n_steps)};
  d.left_out = {
      "float32, whose rounding differences would show; permittivities at their least, where the "
      "parameter has a kink"};
  return d;
}

PreparedCase prepare_inverse(const AppContext& context) {
  const data::Config& config = context.config;
  const auto p = std::make_shared<InverseProblem>(make_problem(config, context.for_derivatives));
  return {
      .precision = p->options.run.precision == Precision::f32 ? "f32" : "f64",
      .inputs = p->inputs,
      .check = [p] { return check_inverse(*p); },
      .estimate = [&config, p] { return estimate_inverse(config, *p); },
      .run = [p](RunContext& to) { return run_inverse(to, *p); },
      .derivatives = [&config, p] { return inverse_derivatives(config, p); },
      .against = [&config,
                  p](const data::Checkpoint& from) { return against_inverse(config, *p, from); }};
}

}  // namespace

App app() {
  return {.summary =
              "the permittivity of a region from the waves that it scatters to receivers, by "
              "gradients of the Yee scheme",
          .options = inverse_options(),
          .prepare = prepare_inverse,
          .make_example = example,
          .plot =
              [](const std::filesystem::path& run_dir) {
                return draw_inverse(
                    run_dir, read_inverse(run_dir),
                    read_inverse_options(data::read_config(run_dir / "resolved.toml")));
              },
          .derivatives = true,
          .may_change = {"optimize.iterations", "optimize.until", "output", "title", "expect"}};
}

}  // namespace tessera::apps::inverse_scattering
