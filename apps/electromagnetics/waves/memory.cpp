// SPDX-License-Identifier: Apache-2.0
// What a case takes of memory, counted before any of it is taken.
#include "tessera/data/memory.h"

#include "electromagnetics/waves/case_parts.h"
#include "tessera/electromagnetics/memory_use.h"
#include "tessera/electromagnetics/monitors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Values that a monitor takes of the fields at a time.
double samples_of(const Case& c, const MonitorOptions& o) {
  const auto components = static_cast<double>(computed_components(c, o).size());
  switch (o.kind) {
    case MonitorKind::probe:
    case MonitorKind::resonances:
      return components;
    case MonitorKind::ldos:
      return 1;
    case MonitorKind::dft:
    case MonitorKind::energy:
    case MonitorKind::snapshot: {
      const MonitorBox box = box_of(c, o);
      return components * static_cast<double>(em::region_of(c.grid, box.middle, box.size).size());
    }
    case MonitorKind::rcs:  // and the box within that of the wave
      return 2 * em::flux_samples(c.grid, *o.position, o.size.value_or(Point{}));
    case MonitorKind::flux:
    case MonitorKind::far_field:
      return em::flux_samples(c.grid, *o.position, o.size.value_or(Point{}));
    default:
      return em::surface_samples(c.grid, *o.position, o.size.value_or(Point{}));
  }
}

/// Of a far field or a cross-section.
double directions_of(const Case& c, const MonitorOptions& o) {
  const auto told = [](const std::vector<double>& angles, int else_points) {
    return angles.empty() ? static_cast<double>(else_points) : static_cast<double>(angles.size());
  };
  const double theta = c.grid.dimensions() == 3 ? told(o.theta, o.angle_points[0]) : 1;
  return theta * told(o.phi, o.angle_points[1]);
}

em::RecordMemory memory_of(const Case& c, const MonitorOptions& o, double steps) {
  const double samples = samples_of(c, o);
  if (o.kind == MonitorKind::probe || o.kind == MonitorKind::resonances)
    return em::memory_of_time_record(samples, o.every ? steps * c.dt_s / *o.every : steps);
  if (o.kind == MonitorKind::snapshot) {
    const double end = std::min(steps * c.dt_s, o.end.value_or(INFINITY)),
                 frames = std::max(0.0, (end - o.start.value_or(0)) / *o.every);
    return em::memory_of_frames(samples, frames);
  }
  const auto frequencies = static_cast<double>(o.all_frequencies().size());
  em::RecordMemory out = em::memory_of_transforms(samples, frequencies);
  if (o.kind != MonitorKind::far_field && o.kind != MonitorKind::rcs) return out;
  const em::RecordMemory pattern =
      em::memory_of_pattern(directions_of(c, o), frequencies, o.kind == MonitorKind::rcs);
  out.running += pattern.running, out.result += pattern.result, out.passing += pattern.passing;
  return out;
}

/// Steps of which records are kept for sure: none where the fields may end the run, or where it
/// would take a month, which is said elsewhere.
double sure_steps(const Case& c) {
  const StopOptions& s = c.options.run.stop;
  if (s.decay_db || s.dft_tolerance) return 0;
  const auto steps = static_cast<double>(expected_steps(c));
  return steps * static_cast<double>(c.grid.cell_count()) < 1e9 * 86400 * 30 ? steps : 0;
}

}  // namespace

em::RunEnd run_end(const StopOptions& stop) { return {stop.steps, stop.time, stop.after_sources}; }

std::int64_t expected_steps(const Case& c) {
  double sources = 0;
  for (const CaseSource& source : c.sources) sources = std::max(sources, source.waveform.end_s);
  if (const auto end = em::fixed_end(run_end(c.options.run.stop), sources, c.dt_s)) return *end;
  return em::steps_of_decay(c.grid, sources, c.dt_s);
}

std::int64_t field_bytes(const Case& c) {
  return em::field_bytes(c.grid, c.faces, c.options.boundary.pml.cells,
                         c.options.run.precision == Precision::f32 ? Dtype::f32 : Dtype::f64,
                         c.bloch_k == Point{} ? 1 : 2);
}

namespace {

double bytes_of_cells(const Case& c) {
  return static_cast<double>(field_bytes(c)) + em::material_bytes(c.grid);
}

}  // namespace

void check_fits(double bytes, const std::string& key, const std::string& what,
                const std::string& hint, const data::Config& config) {
  const double has = static_cast<double>(data::memory_limit());
  if (bytes <= has) return;
  throw data::InputError(config.error(655, key,
                                      fmt::format("{} need {:.3g} GB; this machine has {:.3g} GB",
                                                  what, bytes / 1e9, has / 1e9),
                                      hint),
                         data::ExitCode::would_not_fit);
}

void check_cells_fit(const Case& c, const data::Config& config) {
  check_fits(bytes_of_cells(c), "grid",
             fmt::format("the {:.3g} cells of the case", static_cast<double>(c.grid.cell_count())),
             "use larger cells, a smaller domain, mirror planes or f32", config);
}

void check_memory(Case& c, const data::Config& config) {
  const double fields = bytes_of_cells(c), has = static_cast<double>(data::memory_limit());
  const double steps = sure_steps(c);
  double monitors = 0, passing = 0, largest = 0;
  std::size_t where = 0;
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
    const em::RecordMemory n = memory_of(c, c.options.monitors[m], steps);
    monitors += n.running + n.result;
    passing = std::max(passing, n.passing);
    if (n.running + n.result + n.passing > largest)
      largest = n.running + n.result + n.passing, where = m;
  }
  const double needed = fields + monitors + passing;
  if (needed <= 0.9 * has) return;
  const bool by_monitors = largest > fields;
  data::Diagnostic d = config.error(
      655, by_monitors ? fmt::format("monitor[{}]", where) : "grid",
      fmt::format("the case needs {:.3g} GB, {:.3g} GB of it for fields and {:.3g} GB for {}; this "
                  "machine has {:.3g} GB",
                  needed / 1e9, fields / 1e9,
                  by_monitors ? largest / 1e9 : (monitors + passing) / 1e9,
                  by_monitors ? "this monitor" : "monitors", has / 1e9),
      by_monitors
          ? "ask for fewer frequencies, components, frames or directions, or a smaller region"
          : "use larger cells, a smaller domain, mirror planes or f32");
  if (needed > has) throw data::InputError(std::move(d), data::ExitCode::would_not_fit);
  d.severity = data::Severity::warning;
  c.warnings.push_back(std::move(d));
}

}  // namespace tessera::apps::waves
