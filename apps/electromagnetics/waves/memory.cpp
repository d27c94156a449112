// SPDX-License-Identifier: Apache-2.0
// What a case takes of memory, counted before any of it is taken.
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/monitors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Of a sample: its edge and how it is found again, three weights and columns, and its records of
/// some steps.
constexpr double kSampleBytes = 150 + 24 * 16;
constexpr double kIndexBytes = 12;  ///< of a cell: a material of 16 bits for each component

/// What the machine has, or as much of it as this program may take.
double memory_bytes() {
  double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                 static_cast<double>(sysconf(_SC_PAGE_SIZE)),
         limit = 0;
  if (std::ifstream file("/sys/fs/cgroup/memory.max"); file >> limit && limit > 0)
    bytes = std::min(bytes, limit);
  return bytes;
}

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
      const em::Region r = em::region_of(c.grid, box.middle, box.size);
      return components * static_cast<double>(r.x.size()) * static_cast<double>(r.y.size()) *
             static_cast<double>(r.z.size());
    }
    default:
      break;
  }
  // Two components of E and of H in each cell of a plane, or of the faces of a box.
  const Point size = o.size.value_or(Point{});
  std::array<double, 3> n{};
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    const double low = (*o.position)[u] - size[u] / 2, high = (*o.position)[u] + size[u] / 2;
    for (int i = 0; i < c.grid.cells(d); ++i)
      n[u] += c.grid.lines[u][static_cast<std::size_t>(i)] < high &&
                      c.grid.lines[u][static_cast<std::size_t>(i) + 1] > low
                  ? 1
                  : 0;
    if (!c.grid.resolved(d)) n[u] = 1;
  }
  double faces = 0;
  for (int d = 0; d < 3; ++d) {
    if (!c.grid.resolved(d)) continue;
    const auto u = static_cast<std::size_t>(d);
    const double across = n[0] * n[1] * n[2] / std::max(n[u], 1.0);
    if (size[u] == 0) return 4 * n[(u + 1) % 3] * n[(u + 2) % 3];
    faces += 8 * across;
  }
  return faces;
}

/// While it runs, and beside that while its results are made.
struct Need {
  double running = 0, result = 0, passing = 0;
};
Need need_of(const Case& c, const MonitorOptions& o, double steps) {
  const double samples = samples_of(c, o);
  if (o.kind == MonitorKind::probe || o.kind == MonitorKind::resonances) {
    const double kept = o.every ? steps * c.dt_s / *o.every : steps;
    return {kSampleBytes * samples + 8 * kept * (samples + 1), 8 * kept * samples, 0};
  }
  if (o.kind == MonitorKind::snapshot) {
    const double end = std::min(steps * c.dt_s, o.end.value_or(INFINITY)),
                 frames = std::max(0.0, (end - o.start.value_or(0)) / *o.every);
    return {kSampleBytes * samples + 4 * frames * samples, 8 * frames * samples, 0};
  }
  const double sums = 16 * samples * static_cast<double>(o.all_frequencies().size());
  return {kSampleBytes * samples + sums, sums, 2 * sums};
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

void check_memory(Case& c, const data::Config& config) {
  const double fields = static_cast<double>(field_bytes(c)) +
                        kIndexBytes * static_cast<double>(c.grid.cell_count()),
               has = memory_bytes();
  const double steps = sure_steps(c);
  double monitors = 0, passing = 0, largest = 0;
  std::size_t where = 0;
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
    const Need n = need_of(c, c.options.monitors[m], steps);
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
      by_monitors ? "ask for fewer frequencies, components or frames, or a smaller region"
                  : "use larger cells, a smaller domain, mirror planes or f32");
  if (needed > has) throw data::InputError(std::move(d), data::ExitCode::would_not_fit);
  d.severity = data::Severity::warning;
  c.warnings.push_back(std::move(d));
}

}  // namespace tessera::apps::waves
