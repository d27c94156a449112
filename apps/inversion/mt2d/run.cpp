// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/run.h"

#include "inversion/mt2d/finer.h"
#include "inversion/mt2d/learnt.h"
#include "inversion/mt2d/sample.h"
#include "support/step_record.h"
#include "tessera/autodiff/forall.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/data/vtk_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;

/// "RMS 1.234 (TE 1.1, TM 1.4)"
std::string rms_text(const StepRow& row) {
  std::string parts;
  for (const auto& [name, rms] :
       {std::pair{"TE", row.rms_te}, {"TM", row.rms_tm}, {"tipper", row.rms_tipper}})
    if (!std::isnan(rms)) parts += fmt::format("{}{} {:.3f}", parts.empty() ? "" : ", ", name, rms);
  return fmt::format("RMS {:.4f}{}", row.rms, parts.empty() ? "" : " (" + parts + ")");
}

/// ln ohm m of the cells, then static shifts in decades.
std::vector<double> section_of(const inversion::SectionResult& r) {
  std::vector<double> out = r.ln_rho;
  out.insert(out.end(), r.shift_decades.begin(), r.shift_decades.end());
  return out;
}

/// The section of the prior, in the folder `learnt` of the run, and its pictures. It has contacts
/// where the smooth one has none, and so asks for a mesh of its own. Whether its search has ended.
bool run_with_prior(RunContext& to, const data::Config& config, InvertProblem p,
                    const std::vector<double>& section, const Result& of_smooth) {
  const Smooth smooth{section, inversion::rms_of(of_smooth.survey.data)};
  // A start and a few steps show where contacts are.
  constexpr int few = 4;
  auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(begin, now)).count();
  };
  const OnStep on_step = [&](const inversion::Iteration& i) {
    to.log.info(fmt::format("with the prior: step {}: RMS {:.4f}, step length {:.2g}, {:.1f} s",
                            i.number, i.plain_rms, i.step, seconds()));
  };
  LearntSection s =
      first_learnt_section(p, smooth, std::min(few, p.options.max_iterations), on_step);
  FinerMesh finer;
  const auto look = [&] {
    finer = finer_mesh(config, p, s.found.cells);
    tell(to.log, "with the prior: ", finer);
    if (!finer.next || steps_left(p, s) < 1) return true;
    p = *std::move(finer.next);
    complete(config, p);
    to.log.info(
        fmt::format("with the prior: goes on from there on {} cells", p.mesh.solver.cells()));
    return false;
  };
  look();
  while (steps_left(p, s) > 0) {
    begin = std::chrono::steady_clock::now();
    s = learnt_section(p, smooth, s, on_step);
    if (look()) break;
  }
  if (finer.next)
    to.log.warning(
        "with the prior: that is more than mesh.error, but inversion.max_iterations is reached");
  if (p.options.posterior.method == inversion::PosteriorMethod::laplace) {
    add_bands(p, s);
    to.manifest.metrics.emplace_back("learnt_error_scale", s.error_scale);
    if (s.error_scale > 1)
      to.log.info(
          fmt::format("with the prior: bands take errors {:.3g} times the stated ones, as "
                      "large as the misfit",
                      s.error_scale));
  }
  s.result.sensitivity = of_smooth.sensitivity;  // what data see, by either
  const fs::path folder = to.folder.path() / "learnt";
  data::make_folder(folder);
  write_results(folder, s.result, can_write_vtk(to.log));
  data::write_file_atomically(folder / "prior.csv", prior_table(s, smooth.rms));
  if (p.options.pictures) draw(folder / "plots", s.result, false);
  for (const std::string& line : describe(s, smooth.rms)) to.log.info(line);
  if (was_cut(s.found))
    to.log.warning("with the prior: " + s.result.reason);
  else
    to.log.info("with the prior: " + s.result.reason);
  for (const std::string& doubt : s.doubts) to.log.warning("prior doubtful: " + doubt);
  to.manifest.metrics.emplace_back("learnt_rms", rms_of(s));
  to.manifest.metrics.emplace_back("learnt_from_smooth", s.found.from_smooth);
  to.manifest.metrics.emplace_back("learnt_mesh_error", finer.change);
  to.manifest.metrics.emplace_back("code_norm", s.found.code_norm[0]);
  to.manifest.metrics.emplace_back("prior_doubts", static_cast<double>(s.doubts.size()));
  return !was_cut(s.found);
}

/// An inversion between two steps: the case on its mesh, the state there, how many steps were taken
/// on coarser meshes, and whether this mesh was looked at before the steps have ended.
struct Progressing {
  InvertProblem p;
  inversion::SectionState state;
  int before = 0;
  bool looked = false;
  double mu = 1;  ///< where this mesh began

  void put(data::Checkpoint& c) const {
    c.put("state", inversion::packed(state));
    std::vector<double> mesh{double(p.fineness.rows), double(before), double(looked), mu};
    mesh.insert(mesh.end(), p.fineness.columns.begin(), p.fineness.columns.end());
    c.put("mesh", std::move(mesh));
  }
  void get(const data::Config& config, const data::Checkpoint& c) {
    state = inversion::unpacked(c.array<double>("state"));
    const std::vector<double>& mesh = c.array<double>("mesh");
    before = static_cast<int>(mesh[1]), looked = mesh[2] != 0, mu = mesh[3];
    const Fineness fineness{{mesh.begin() + 4, mesh.end()}, static_cast<int>(mesh[0])};
    if (fineness == p.fineness) return;
    p = with_fineness(config, p, fineness);
    complete(config, p, GoOn{.mu = mu, .steps = before});
  }
};

/// The RMS of another loss than squares, into the manifest and in words.
std::string loss_rms(data::Manifest& to, const InvertProblem& p,
                     const inversion::SectionState& state) {
  if (p.options.misfit.kind == survey::Misfit::l2) return {};
  const double loss = p.inversion->result(state).loss_rms;
  to.metrics.emplace_back("loss_rms", loss);
  return fmt::format("; {:.3f} of Huber's loss, which inversion.target_rms is of", loss);
}

}  // namespace

bool can_write_vtk(data::Log& log) {
  std::string why_not;
  if (data::vtk_xml_available(&why_not)) return true;
  log.warning("no VTK XML files: " + why_not);
  return false;
}

void tell_problem(data::Log& log, const InvertProblem& p) {
  for (const auto& d : p.input.findings)
    d.severity == data::Severity::error ? log.error(data::to_string(d))
                                        : log.debug(data::to_string(d));
  log.info(p.input.strike);
  for (const std::string& line : describe(p)) log.info(line);
  for (const auto* remarks : {&p.input.survey.remarks, &p.ground.remarks, &p.mesh.remarks})
    for (const std::string& remark : *remarks) log.info(remark);
}

void leave(RunContext& to, const Mt2dOptions& o, const Result& r) {
  write_results(to.folder.path(), r, can_write_vtk(to.log));
  if (o.pictures) draw(to.folder.plots(), r, o.pictures_of_stations);
  const auto& stations = r.survey.stations;
  if (std::any_of(stations.begin(), stations.end(), [](const auto& s) { return s.tilt_deg != 0; }))
    to.log.info(
        "stations are tilted: data.csv, data.emdata and results.h5 say so, EDI files and "
        "data.dat cannot");
}

Fit fit_of(const Result& r) {
  Fit f{.rms = inversion::rms_of(r.survey.data)};
  for (std::size_t k = 0; k < r.y.size(); ++k)
    f.worst = std::max(f.worst, inversion::rms_of_station(r.survey.data, k));
  return f;
}

bool meets_expectations(data::Log& log, const Mt2dOptions& o, const Result& r) {
  bool met = true;
  const auto expected = [&](bool holds, const std::string& what) {
    if (holds) return;
    met = false;
    log.error("the case expects " + what);
  };
  const double worst = fit_of(r).worst;
  if (o.expect.rms_max)
    expected(worst <= *o.expect.rms_max,
             fmt::format("an RMS of at most {}, the largest is {:.4g}", *o.expect.rms_max, worst));
  if (o.expect.soundings)
    expected(r.y.size() == static_cast<std::size_t>(*o.expect.soundings),
             fmt::format("{} soundings, there are {}", *o.expect.soundings, r.y.size()));
  if (o.expected_r_hat && r.draws) {
    const double r_hat = worst_of(*r.draws).r_hat;
    expected(
        r_hat <= *o.expected_r_hat,
        fmt::format("an R-hat of at most {}, the largest is {:.4g}", *o.expected_r_hat, r_hat));
  }
  return met;
}

data::ExitCode run_invert(RunContext& to, const data::Config& config, InvertProblem problem) {
  set_num_threads(to.manifest.threads);
  Progressing now{.p = std::move(problem)};
  InvertProblem& p = now.p;
  inversion::SectionState& state = now.state;
  to.manifest.seeds = {p.options.seed};
  tell_problem(to.log, p);

  StepRecord record(to, {.app = "inversion.mt2d",
                         .phase = "invert",
                         .unit = "steps",
                         .total = static_cast<std::uint64_t>(p.options.max_iterations),
                         .columns = step_columns(),
                         .inputs = to.manifest.inputs,
                         .save = [&](data::Checkpoint& c) { now.put(c); },
                         .load = [&](const data::Checkpoint& c) { now.get(config, c); }});
  const auto note = [&](inversion::Iteration i) {
    i.number += now.before;
    const StepRow row = row_of(p, i, state.steps().predicted);
    record.note(numbers_of(row), {{"rms", row.rms}});
    return row;
  };
  if (!record.resumed()) {
    state = p.inversion->begin();
    const StepRow row = note({.mu = NAN, .roughness = NAN, .step = NAN});
    to.log.info(fmt::format("start: {}", rms_text(row)));
  }
  FinerMesh finer;
  for (bool fine = false; !fine;) {
    while (!state.ended()) {
      const auto begin = std::chrono::steady_clock::now();
      const std::size_t before = state.steps().iterations.size();
      const std::vector<double> model = state.steps().m;
      p.inversion->step(state);
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      // Occam may end with the section of an earlier step, which then has the last row.
      const bool stepped = state.steps().iterations.size() > before,
                 went_back = state.ended() && !stepped && state.steps().m != model;
      if (stepped || went_back) {
        inversion::Iteration i =
            stepped ? state.steps().iterations.back()
                    : inversion::Iteration{.number = static_cast<int>(before), .step = NAN};
        if (state.by_occam) {
          i.mu = state.occam.mu;
          i.roughness = p.inversion->smoothing(state).roughness(state.occam.m);
        }
        const StepRow row = note(i);
        to.log.info(
            fmt::format("{} {}: {}, roughness {:.4g}, weight {:.3g}, step length {:.2g}, {:.1f} s",
                        stepped ? "step" : "back after step", static_cast<int>(row.step),
                        rms_text(row), row.roughness, row.weight, row.length, seconds));
        // Steps that gain little may be spent on errors of the mesh.
        const auto& rows = record.history();
        if (!now.looked && rows.size() > 1 && row.rms > 0.9 * step_row(rows[rows.size() - 2]).rms)
          break;
      }
      if (!state.ended() && !record.go_on()) return data::ExitCode::stopped_resumable;
    }
    const inversion::SectionResult found = p.inversion->result(state);
    finer = finer_mesh(config, p, section_of(found));
    tell(to.log, "", finer);
    const int steps = static_cast<int>(record.history().back()[0]);
    now.looked = !finer.next;
    fine = state.ended() && (!finer.next || steps >= p.options.max_iterations);
    if (finer.next && steps < p.options.max_iterations) {
      p = *std::move(finer.next);
      now.before = steps, now.mu = found.mu;
      const std::vector<double> x = state.steps().m;
      complete(config, p, GoOn{.mu = found.mu, .steps = steps});
      state = p.inversion->begin(x);
      to.log.info(fmt::format("goes on from there on {} cells", p.mesh.solver.cells()));
    }
    if (!fine && !record.go_on()) return data::ExitCode::stopped_resumable;
  }
  if (finer.next)
    to.log.warning("that is more than mesh.error, but inversion.max_iterations is reached");
  record.finish();
  to.log.info(inversion::describe(state.steps().reason));
  Result r =
      invert_result(p, state, p.options.posterior.method == inversion::PosteriorMethod::laplace);
  for (const std::vector<double>& row : record.history()) r.steps.push_back(step_row(row));
  leave(to, p.options, r);
  const auto [rms, worst] = fit_of(r);
  to.manifest.metrics = {{"soundings", static_cast<double>(r.y.size())},
                         {"rms", rms},
                         {"rms_worst", worst},
                         {"steps", r.steps.back().step},
                         {"mesh_error", finer.change}};
  const std::string of_loss = loss_rms(to.manifest, p, state);
  to.log.info(fmt::format("{} soundings, {} steps, RMS {:.3f} over all, {:.3f} at worst{}",
                          r.y.size(), static_cast<int>(r.steps.back().step), rms, worst, of_loss));
  const bool learnt = !p.options.prior.file ||
                      run_with_prior(to, config, p, section_of(p.inversion->result(state)), r);
  const bool met = meets_expectations(to.log, p.options, r);
  const bool there = state.steps().reason == inversion::Reason::target_reached ||
                     state.steps().reason == inversion::Reason::converged;
  return there && learnt && met ? data::ExitCode::ok : data::ExitCode::not_converged;
}

}  // namespace tessera::apps::mt2d
