// SPDX-License-Identifier: Apache-2.0
// One run of a case in time: its records to monitors, what ends it, and what it goes on from.
#pragma once
#include "electromagnetics/fdtd/run.h"
#include "tessera/data/checkpoint.h"
#include "tessera/electromagnetics/energy_watch.h"
#include "tessera/electromagnetics/time_domain.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

/// Over ranks; wires between lines of the grid want all of it on one.
electromagnetics::GridCut cut_of(const Case& c, parallel::Communicator& ranks,
                                 const std::vector<double>& weights);

/// One of the case's runs, on the ranks that it can be cut over.
electromagnetics::TimeDomain make_run(const MonitoredCase& made, std::size_t number,
                                      std::vector<electromagnetics::Injection> sources,
                                      parallel::Communicator& ranks,
                                      const std::vector<double>& weights);

/// What the rules that look at fields have seen at checks after the sources.
struct Seen {
  double energy_j = INFINITY;  ///< the least at a check
  double change = INFINITY;    ///< the least relative change of transforms since the check before

  bool fulfils(const StopOptions& stop, double peak_j) const {
    return (stop.decay_db &&
            electromagnetics::EnergyWatch::is_below(energy_j, peak_j, *stop.decay_db)) ||
           (stop.dft_tolerance && change <= *stop.dft_tolerance);
  }
};

/// How far a run has come, as the rules that end it see it.
struct Standing {
  std::int64_t step = 0;
  Seen last, before;  ///< at the last check, and at all before it
  double peak_j = 0;  ///< of the energy
};
/// What ends a run, whichever comes first.
struct EndRule {
  StopOptions stop;
  std::int64_t check_steps = 1, last_step = 0;  ///< last_step: 0: no fixed end

  bool at_check(const Standing& s) const { return s.step % check_steps == 0; }
  bool ends(const Standing& s) const {
    return (last_step > 0 && s.step >= last_step) ||
           (at_check(s) && s.last.fulfils(stop, s.peak_j));
  }
  /// Whether it would have ended the run before it came here.
  bool is_passed(const Standing& s) const {
    return (last_step > 0 && s.step > last_step) || s.before.fulfils(stop, s.peak_j) ||
           (!at_check(s) && s.last.fulfils(stop, s.peak_j));
  }
};

struct TimeLoop {
  RunContext& context;
  MonitoredCase& made;
  const Case& c;
  std::size_t number;  ///< of the run
  Monitors& monitors;
  std::vector<std::int64_t> first;  ///< column of each monitor
  std::optional<electromagnetics::TimeDomain> run;
  EndRule end;
  std::int64_t span = 1;  ///< of an energy that stays
  bool told_that_it_stays = false;
  double sources_end = 0;
  std::vector<std::int64_t> looks;  ///< at the energy, besides the checks
  electromagnetics::EnergyWatch energy;
  std::vector<double> norms;  ///< of the transforms at the last check
  Seen last, before;          ///< at the last check, and at all before it
  std::uint64_t metrics_bytes = 0;

  TimeLoop(RunContext& context, MonitoredCase& made, std::size_t number);

  /// Until the energy is looked at again.
  std::int64_t steps_to_look() const;
  void advance(std::int64_t n);
  /// Looks at energy and transforms; whether the run cannot be trusted.
  bool grows_at_check();
  /// The same of fields alone, at an end between two checks. A run that goes on to a later end
  /// knows nothing of it.
  bool grows_at_end();
  Standing standing() const { return {run->step(), last, before, energy.peak_j}; }
  /// Whether the run has come to its end.
  bool has_ended() const { return end.ends(standing()); }

  /// All but the fields; `ended`: the runs before it.
  data::Checkpoint checkpoint(const std::vector<Standing>& ended) const;
  void restore(const data::Checkpoint& in);

 private:
  /// The largest since the last check.
  double change_of_transforms();
  void save_monitors(data::Checkpoint& out, std::size_t of_run) const;
};

/// Of a checkpoint, the runs of the case that had ended before the one whose fields it has.
std::vector<Standing> ended_runs(const data::Checkpoint& from);

}  // namespace tessera::apps::fdtd
