// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "electromagnetics/fdtd/monitor.h"
#include "support/app.h"

namespace tessera::apps::fdtd {

using Monitors = std::vector<std::unique_ptr<Monitor>>;

/// A case with its monitors, which refer to it: those of [[monitor]], then those of its ports. Its
/// runs: one, or one for each excitation; of a case with a reference as many of this come first.
struct MonitoredCase {
  Case c;
  Monitors monitors;                  ///< of the first run of the case itself
  std::vector<Monitors> further;      ///< of further ones, an excitation each
  std::shared_ptr<const Case> empty;  ///< the reference; null: none
  std::vector<Monitors> of_empty;     ///< of its runs

  std::size_t references() const { return empty ? run_count(c) : 0; }
  std::size_t runs() const { return references() + run_count(c); }
  bool is_reference(std::size_t run) const { return run < references(); }
  const Case& case_of(std::size_t run) const { return is_reference(run) ? *empty : c; }
  std::size_t excitation_of(std::size_t run) const {
    return is_reference(run) ? run : run - references();
  }
  Monitors& of_run(std::size_t run) {
    if (is_reference(run)) return of_empty[run];
    const std::size_t own = excitation_of(run);
    return own == 0 ? monitors : further.at(own - 1);
  }
  const Monitors& of_run(std::size_t run) const {
    return const_cast<MonitoredCase*>(this)->of_run(run);
  }
  /// Of the case itself.
  const Monitors& of_excitation(std::size_t k) const { return of_run(references() + k); }
  /// What its results have behind their names, the driven port of several, then "reference"; empty
  /// for those that have names of their own alone.
  std::string name_of(std::size_t run) const;
  /// The monitor of the reference whose fields are taken off those of `own`, of that run; null:
  /// none.
  const Monitor* reference_for(const Monitor& own, std::size_t run) const;
};
/// With monitors for each run of the case. Throws InputError.
std::shared_ptr<MonitoredCase> with_monitors(Case c, const data::Config& config);

/// Steps a case to its end (or to where a former run of the folder stopped, and on), one run
/// after the other. `results` are those of the monitors; of several runs named MONITOR.PORT,
/// MONITOR.reference or MONITOR.PORT.reference.
data::ExitCode step_case(RunContext& context, MonitoredCase& made, Results& results);

/// What the other ranks do meanwhile: they hold slabs of the grid.
void help_with_steps(HelpContext& with, MonitoredCase& made);

/// Of the highest frequency; 100 steps where none is known.
double shortest_period(const Case& c);
/// From a look at the fields, their energy and the stop rule, to the next.
std::int64_t steps_between_checks(const Case& c);

/// The step at which the rules that do not look at the fields end the run; 0 where none does.
std::int64_t fixed_end(const Case& c, double sources_end_s);

/// What speaks against going on from a checkpoint with another end.
std::vector<data::Diagnostic> against(const data::Config& config, const MonitoredCase& made,
                                      const data::Checkpoint& from);

/// Throws InputError E0642 where the case has no derivatives.
void check_differentiable(const Case& c, const data::Config& config);
/// The case, which is in float64, as a differentiable function of permittivities, of the strength
/// of its sources, and of parameters that make amplitudes or R, L and C, on all ranks. Monitors
/// that have nothing to tell are taken out.
Derivatives derivatives(std::shared_ptr<MonitoredCase> made, const data::Config& config,
                        parallel::Communicator& ranks, const std::vector<double>& weights);

/// A small runnable case.
std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed);

}  // namespace tessera::apps::fdtd
