// SPDX-License-Identifier: Apache-2.0
// The app inversion.mt2d: soundings of a line go in, a section comes out; or the other way round.
#include "support/app.h"

#include "inversion/mt2d/derivatives.h"
#include "inversion/mt2d/example.h"
#include "inversion/mt2d/forward.h"
#include "inversion/mt2d/import.h"
#include "inversion/mt2d/invert.h"
#include "inversion/mt2d/outline.h"
#include "inversion/mt2d/placed_prior.h"
#include "inversion/mt2d/run.h"
#include "inversion/mt2d/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;

/// E0689, warnings: keys that have no effect.
struct Doubts {
  const data::Config& config;
  survey::IsChosen chosen = survey::chosen_in(config, mt2d_options());
  std::vector<data::Diagnostic> found = {};

  void in_vain(const char* table, const char* key, bool here, const char* why) {
    const std::string name = fmt::format("{}.{}", table, key);
    if (here && chosen(name)) survey::doubt_in_vain(config, 689, name, why, found);
  }
};

/// Keys of data that are none of data.responses.
void doubt_keys_of_data(const Mt2dOptions& o, Doubts& doubts) {
  const auto asks = [&](ResponseChoice r) {
    return std::count(o.responses.begin(), o.responses.end(), r) > 0;
  };
  const bool impedances = std::any_of(o.responses.begin(), o.responses.end(), has_size);
  for (const char* key : {"form", "error_floor"})
    doubts.in_vain("data", key, !impedances, "without te, tm or determinant in data.responses");
  doubts.in_vain("data", "tipper_floor", !asks(ResponseChoice::tipper),
                 "without tippers in data.responses");
  doubts.in_vain("data", "phase_tensor_floor", !asks(ResponseChoice::phase_tensor),
                 "without phase tensors in data.responses");
}

/// Whether data have a size, that of impedances or apparent resistivities: a table may hold phases
/// alone. Without data, whether the case asks for it.
bool have_size(const Mt2dOptions& o, const inversion::DataTable& data) {
  using inversion::Element, inversion::Part;
  if (data.size() == 0)
    return o.form != Form::phase && std::any_of(o.responses.begin(), o.responses.end(), has_size);
  return std::any_of(data.kind.begin(), data.kind.end(), [](const inversion::DatumKind& k) {
    return k.part != Part::phase && k.part != Part::phase_tensor && k.element != Element::tx &&
           k.element != Element::ty;
  });
}

/// Keys that others leave nothing to do; `sized`: data have a size.
void doubt_keys(const Mt2dOptions& o, bool sized, Doubts& doubts) {
  const auto in_vain = [&](const char* table, const char* key, bool here, const char* why) {
    doubts.in_vain(table, key, here, why);
  };
  in_vain("mesh", "goal", true, "but with task = \"forward\"");
  const bool smooth = o.task != Task::sample;
  in_vain("inversion", "target_rms", smooth && o.method != Method::occam,
          "but with inversion.method = \"occam\"");
  in_vain("inversion", "roughness_weight", smooth && o.method == Method::occam,
          "with inversion.method = \"occam\", which finds it");
  in_vain("inversion", "equations", smooth && o.method == Method::lbfgs,
          "with inversion.method = \"lbfgs\", which solves none");
  in_vain("inversion", "huber_corner", o.misfit.kind != survey::Misfit::huber,
          "but with inversion.misfit = \"huber\"");
  for (const char* key : {"burn_in", "samples", "keep_every", "chains"})
    in_vain("posterior", key, o.task != Task::sample, "but with task = \"sample\"");
  for (const char* key : {"left", "right", "top", "fade", "outside", "draws"})
    in_vain("prior", key, !o.prior.file, "without prior.file");
  in_vain("static_shift", "enabled", o.static_shift.enabled && !sized,
          "on phases, tippers and phase tensors: no factor on the impedance changes them");
}

/// Keys of a smooth section, which chains over a learnt prior do not make. The mesh and what the
/// prior leaves open go by the data's resistivity, and by the reference where they have none.
void doubt_keys_of_sampling(bool sized, Doubts& doubts) {
  const auto unread = [&](const char* table, std::initializer_list<const char*> keys) {
    for (const char* key : keys) doubts.in_vain(table, key, true, "with task = \"sample\"");
  };
  unread("model", {"smooth_along", "smooth_down", "tear"});
  if (sized) unread("model", {"reference_resistivity"});
  unread("inversion",
         {"method", "start", "differences", "equations", "target_rms", "roughness_weight"});
  unread("posterior", {"method"});
}

/// Keys that a forward run has no use for.
void doubt_keys_of_forward(const Mt2dOptions& o, Doubts& doubts) {
  const auto unread = [&](const char* table, std::initializer_list<const char*> keys,
                          bool here = true, const char* why = "with task = \"forward\"") {
    for (const char* key : keys) doubts.in_vain(table, key, here, why);
  };
  unread("mesh", {"growth", "depth", "columns", "split_rows", "error"});
  unread("profile", {"azimuth"});
  unread("data", {"files", "estimate_strike", "rotation", "shortest_period", "longest_period",
                  "mask_periods", "sign", "units"});
  const bool file = o.section_file.has_value(), outline = file && is_outline(*o.section_file),
             asks_tippers =
                 std::count(o.responses.begin(), o.responses.end(), ResponseChoice::tipper) > 0;
  unread("ground", {"shape", "file"}, outline, "with an outline, which has its ground");
  unread("mesh", {"cell_width", "first_cell"}, outline,
         "with an outline, whose triangles are made");
  unread("noise", {"tipper"}, o.tipper_noise > 0 && !asks_tippers,
         "without tippers in data.responses");
  unread("frequencies", {"per_decade"}, !o.frequencies.empty(), "beside frequencies.at");
  unread("stations", {"last"}, o.stations.empty() && o.station_count == 1,
         "with one station, which stands at stations.first");
  unread("section", {"resistivity"}, file, "with section.file");
  unread("section", {"resistivities", "water"}, !outline, "without the regions of an outline");
  unread("section", {"resistivities"}, outline && has_resistivities(*o.section_file),
         "with a model of MARE2DEM, which has them");
}

std::vector<data::Diagnostic> doubts(const data::Config& config, const Mt2dOptions& o,
                                     const inversion::DataTable& rows = {}) {
  Doubts all{.config = config};
  std::vector<data::Diagnostic>& out = all.found;
  const std::vector<const char*> others =
      o.task == Task::forward
          ? std::vector<const char*>{"model", "inversion", "static_shift", "posterior", "prior"}
          : std::vector<const char*>{"section", "stations", "frequencies", "noise"};
  for (const char* table : others) {  // that the other task reads
    if (!all.chosen(table)) continue;
    out.push_back(config.error(689, table,
                               fmt::format("[{}] has no effect with task = \"{}\"", table,
                                           o.task == Task::forward  ? "forward"
                                           : o.task == Task::sample ? "sample"
                                                                    : "invert"),
                               "leave it out, or set the other task"));
    out.back().severity = data::Severity::warning;
  }
  doubt_keys_of_data(o, all);
  if (o.task == Task::forward) {
    doubt_keys_of_forward(o, all);
  } else {
    const bool sized = have_size(o, rows);
    doubt_keys(o, sized, all);
    if (o.least_resistivity)
      for (std::size_t k = 0; k < o.fixed.size(); ++k)
        survey::doubt_known(config, fmt::format("model.fixed[{}].resistivity", k),
                            fmt::format("the resistivity of model.fixed[{}]", k),
                            o.fixed[k].resistivity, *o.least_resistivity, *o.greatest_resistivity,
                            out);
    if (o.task == Task::sample) doubt_keys_of_sampling(sized, all);
  }
  survey::DataOptions data = o.data;
  if (o.task == Task::forward) data.rotation.reset();           // said above
  if (o.estimate_strike || o.profile.azimuth) data.strike = 0;  // there is one
  survey::doubt_options(config, data, out);
  return std::move(all.found);
}

PreparedCase prepare_forward(const data::Config& config, const Mt2dOptions& o) {
  const auto p = std::make_shared<const ForwardProblem>(forward_problem(config, o));
  return {
      .inputs = data::inputs_read(),
      .check =
          [&config, p] {
            CheckReport report{.findings = doubts(config, p->options)};
            report.lines = {describe(*p), describe_noise(p->options)};
            for (const auto* remarks : {&p->ground.remarks, &p->mesh.remarks})
              report.lines.insert(report.lines.end(), remarks->begin(), remarks->end());
            return report;
          },
      .estimate =
          [&config, p] {
            const auto now = [] { return std::chrono::steady_clock::now(); };
            const auto begin = now();
            ForwardProblem one = *p;
            refine(config, one);
            const auto found = now();
            one.frequency_hz = {p->frequency_hz[p->frequency_hz.size() / 2]};
            solve(one);
            using Seconds = std::chrono::duration<double>;
            const double of_mesh = Seconds(found - begin).count(),
                         of_frequency = Seconds(now() - found).count();
            std::vector<std::string> notes{
                fmt::format("the mesh of {} cells took {:.2g} s, one frequency {:.2g} s",
                            one.mesh.solver.cells(), of_mesh, of_frequency)};
            if (!one.doubt.empty()) notes.push_back(one.doubt);
            return Estimate{
                .memory_bytes = {{"program", 80u << 20},
                                 {"factors",
                                  9 * solver_bytes(one.mesh.solver, p->options.order.value_or(2))}},
                .disk_bytes = 400 * static_cast<std::uint64_t>(one.mesh.solver.cells()) +
                              600'000 * p->ground.stations.y.size(),
                .seconds = of_mesh + of_frequency * static_cast<double>(p->frequency_hz.size()) +
                           0.2 * static_cast<double>(p->ground.stations.y.size()),
                .notes = std::move(notes)};
          },
      .run = [&config, p](RunContext& to) { return run_forward(to, config, *p); },
      .derivatives =
          [&config, p] {
            ForwardProblem fine = *p;
            refine(config, fine);
            return derivatives(fine);
          }};
}

CheckReport check_invert(const data::Config& config, const Mt2dOptions& o, const Input& input) {
  CheckReport report{.findings = input.findings};
  const auto& stations = input.survey.stations;
  report.can_go_on = !stations.empty();
  for (data::Diagnostic& d : doubts(config, o, input.survey.data))
    report.findings.push_back(std::move(d));
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const inversion::Station& station = stations[k];
    std::string line = fmt::format("{}, {:.3f} km along the section", survey::check_line(input, k),
                                   station.distance_m / 1000);
    if (station.without_value) line += fmt::format(", {} masked or missing", station.without_value);
    if (!station.without_error.empty())
      line += ", without an error " + survey::counts_text(station.without_error);
    report.lines.push_back(std::move(line));
  }
  for (std::string& line : survey::strike_lines(input)) report.lines.push_back(std::move(line));
  if (!input.strike.empty()) report.lines.push_back(input.strike);
  for (const std::string& remark : input.survey.remarks) report.lines.push_back(remark);
  if (stations.empty()) return report;
  const InvertProblem p = meshed(config, o, input);
  check_model(config, p);
  check_prior(config, p);
  for (data::Diagnostic& d : doubts_of_region(config, p)) report.findings.push_back(std::move(d));
  for (std::string& line : describe(p)) report.lines.push_back(std::move(line));
  for (const auto* remarks : {&p.ground.remarks, &p.mesh.remarks})
    report.lines.insert(report.lines.end(), remarks->begin(), remarks->end());
  report.lines.push_back(
      fmt::format("about {:.2g} GB of memory", static_cast<double>(bytes_of(p)) / 1e9));
  return report;
}

Estimate estimate_invert(const InvertProblem& p) {
  constexpr double steps = 12;  // of Occam, as a rule
  const auto begin = std::chrono::steady_clock::now();
  (void)inversion::linearized(p.inversion->problem().forward, p.inversion->start());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto stations = static_cast<std::uint64_t>(p.ground.stations.y.size());
  return {.memory_bytes = {{"program", 80u << 20}, {"Jacobian and factors", bytes_of(p)}},
          .disk_bytes = 600 * static_cast<std::uint64_t>(p.mesh.cells.cells()) +
                        (p.options.pictures_of_stations ? 600'000 * stations : 0) + 3'000'000,
          .seconds = 2 * steps * 1.7 * seconds + 0.2 * static_cast<double>(stations),
          .notes = {fmt::format("a Jacobian took {:.2g} s; {} steps are assumed, and as much time "
                                "again on finer meshes",
                                seconds, steps)}};
}

Estimate estimate_sample(const InvertProblem& p) {
  const SampleProblem s = sample_problem(p);
  const auto begin = std::chrono::steady_clock::now();
  (void)inversion::linearized(s.cells.forward, p.inversion->start());
  const double of_jacobian =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double of_gradient = seconds_of_gradient(s);
  const Mt2dOptions& o = p.options;
  const double steps = static_cast<double>(o.chains) *
                       (static_cast<double>(o.posterior.burn_in) + o.posterior.samples),
               gradients = steps * gradients_of_step;
  const std::uint64_t draws = bytes_of_draws(s);
  const auto stations = static_cast<std::uint64_t>(p.ground.stations.y.size());
  return {.memory_bytes = {{"program", 80u << 20},
                           {"Jacobian and factors", bytes_of(p)},
                           {"draws", 3 * draws + 2 * draws * s.prior.model.cells() / s.size()}},
          .disk_bytes = 4 * draws + 600 * static_cast<std::uint64_t>(p.mesh.cells.cells()) +
                        (o.pictures_of_stations ? 600'000 * stations : 0) + 3'000'000,
          // The optimum and the mass take about thirty Jacobians.
          .seconds = 30 * 1.7 * of_jacobian + gradients * of_gradient +
                     0.2 * static_cast<double>(stations),
          .notes = {fmt::format("{:.3g} gradients ({} chains of {} steps, {} gradients each are "
                                "assumed); one took {:.2g} s",
                                gradients, o.chains, o.posterior.burn_in + o.posterior.samples,
                                gradients_of_step, of_gradient)}};
}

PreparedCase prepare(const AppContext& context) {
  const data::Config& config = context.config;
  const Mt2dOptions o = read_options(config);
  if (o.task == Task::forward) return prepare_forward(config, o);
  const auto input = std::make_shared<const Input>(read_input(config, o));
  // Those of stations are listed with them; ground and prior are read where a mesh is made.
  for (const auto* file : {&o.ground_file, &o.prior.file})
    if (*file) data::open_input(**file);
  std::vector<data::InputFile> inputs = survey::files_of(*input);
  for (data::InputFile& file : data::inputs_read()) inputs.push_back(std::move(file));
  const auto problem = [&config, o, input, keep_going = context.options.keep_going] {
    survey::require_stations(config, keep_going, *input);
    InvertProblem p = meshed(config, o, *input);
    complete(config, p);
    check_prior(config, p);
    return p;
  };
  return {.inputs = std::move(inputs),
          .check = [&config, o, input] { return check_invert(config, o, *input); },
          .estimate =
              [problem, sample = o.task == Task::sample] {
                return sample ? estimate_sample(problem()) : estimate_invert(problem());
              },
          .run =
              [&config, problem, sample = o.task == Task::sample](RunContext& to) {
                return sample ? run_sample(to, config, problem())
                              : run_invert(to, config, problem());
              },
          .derivatives = [problem] { return derivatives(problem()); }};
}

std::vector<fs::path> plot(const fs::path& run) {
  std::vector<fs::path> all = draw(run / "plots", read_results(run / "results.h5"), true);
  // The section of a learnt prior, as the run draws it.
  if (const fs::path learnt = run / "learnt"; fs::exists(learnt / "results.h5"))
    for (fs::path& file : draw(learnt / "plots", read_results(learnt / "results.h5"), false))
      all.push_back(std::move(file));
  return all;
}

}  // namespace

App app() {
  return {.summary =
              "2-D magnetotellurics: a section of resistivity with uncertainty from the "
              "soundings of a line, or the soundings of a section",
          .options = mt2d_options(),
          .prepare = prepare,
          .make_example = make_example,
          .plot = plot,
          .derivatives = true,
          .may_change = {"output", "expect"},
          .importers = importers()};
}

}  // namespace tessera::apps::mt2d
