// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/finer.h"
#include "inversion/mt2d/run.h"
#include "inversion/mt2d/sample.h"
#include "support/step_record.h"
#include "tessera/autodiff/forall.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::mt2d {
namespace {

/// Whether chains agree: what the log says of it.
void tell_mixing(data::Log& log, const WorstMixing& worst, const Draws& d) {
  // Vehtari et al. 2021, section 4.4: below 1.01; 1.05 and more is far from it.
  constexpr double mixed = 1.01, far = 1.05;
  double divergent = 0;
  for (const ChainRow& c : d.chains) divergent += c.divergent;
  if (std::isnan(worst.r_hat)) {
    log.warning(fmt::format(
        "{} draws of a chain are too few to say whether chains have mixed: posterior.samples over "
        "posterior.keep_every is to be 4 at least",
        d.kept));
  } else {
    const std::string numbers =
        fmt::format("R-hat is at most {:.3f} ({}), {:.0f} effective draws at least", worst.r_hat,
                    worst.of, worst.effective);
    if (worst.r_hat > far)
      log.warning("chains have not mixed: " + numbers +
                  "; more posterior.burn_in and posterior.samples");
    else if (worst.r_hat > mixed)
      log.warning("chains have hardly mixed: " + numbers +
                  "; quantiles are rough, more posterior.samples");
    else
      log.info("chains have mixed: " + numbers);
  }
  if (divergent > 0)
    log.warning(
        fmt::format("{:.0f} trajectories of {} chains diverged: where the density is that narrow "
                    "draws are missing",
                    divergent, d.chains.size()));
}

}  // namespace

data::ExitCode run_sample(RunContext& to, const data::Config& config, const InvertProblem& p) {
  set_num_threads(to.manifest.threads);
  to.manifest.seeds = {p.options.seed};
  tell_problem(to.log, p);

  const SampleProblem problem = sample_problem(p);
  const auto total =
      static_cast<std::uint64_t>(p.options.posterior.burn_in + p.options.posterior.samples);
  SampleState state;
  StepRecord record(to,
                    {.app = "inversion.mt2d",
                     .phase = "sample",
                     .unit = "steps",
                     .total = total,
                     .columns = sample_columns(),
                     .inputs = to.manifest.inputs,
                     .save = [&](data::Checkpoint& c) { put(c, state); },
                     .load = [&](const data::Checkpoint& c) { state = sample_state(c, problem); }});
  if (!record.resumed()) {
    to.log.info(fmt::format("{} unknowns, {} of them codes: looking for the cheapest section",
                            problem.size(), problem.prior.model.n_codes()));
    state = begin_sample(problem);
    record.note(sample_row(state));
  }
  to.log.info(state.optimum);
  if (!state.cut.empty()) to.log.warning(state.cut);
  const FinerMesh finer = finer_mesh(config, p, problem.to_cells.predict(state.mass.mean));
  tell(to.log, "", finer);
  if (finer.next)
    to.log.warning(fmt::format(
        "that is more than mesh.error, and chains stay on their mesh: mesh.columns = {}, "
        "mesh.split_rows = {}",
        p.options.solver_columns * *std::max_element(finer.next->fineness.columns.begin(),
                                                     finer.next->fineness.columns.end()),
        p.options.split_rows * finer.next->fineness.rows));
  for (const std::string& doubt : state.doubts) to.log.warning("prior doubtful: " + doubt);
  while (state.steps() < total) {
    if (!record.go_on()) return data::ExitCode::stopped_resumable;
    step_sample(problem, state, to.manifest.threads);
    const std::vector<double> row = sample_row(state);
    record.note(row, {{"gradients", row[3]}, {"divergent", row[4]}});
  }
  record.finish();
  const Result r = sample_result(problem, state);
  leave(to, p.options, r);

  const WorstMixing worst = worst_of(*r.draws);
  const std::vector<double> last = sample_row(state);
  const Fit fit = fit_of(r);
  to.manifest.metrics = {{"soundings", static_cast<double>(r.y.size())},
                         {"rms", fit.rms},
                         {"rms_worst", fit.worst},
                         {"draws", static_cast<double>(r.draws->kept * r.draws->chains.size())},
                         {"gradients", last[3]},
                         {"divergent", last[4]},
                         {"r_hat", worst.r_hat},
                         {"effective_draws", worst.effective},
                         {"prior_doubts", static_cast<double>(state.doubts.size())}};
  to.log.info(fmt::format(
      "{} draws of {} chains by {:.0f} gradients; RMS of draws {:.3f} in the "
      "median{}, of their mean {:.3f}",
      r.draws->kept * r.draws->chains.size(), r.draws->chains.size(), last[3],
      r.draws->numbers.back().middle,
      p.options.misfit.kind == survey::Misfit::huber ? " (of Huber's loss)" : "", fit.rms));
  tell_mixing(to.log, worst, *r.draws);
  return meets_expectations(to.log, p.options, r) ? data::ExitCode::ok
                                                  : data::ExitCode::not_converged;
}

}  // namespace tessera::apps::mt2d
