// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/monitors.h"

#include "electromagnetics/fdtd/derivative_passes.h"
#include "electromagnetics/fdtd/networks.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/fdtd/run.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::fdtd {

namespace em = electromagnetics;

namespace {

struct Span2 {
  Point low, high;
};
Span2 extent(const Case& c, const MonitorOptions& o) {
  Span2 e{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double middle =
        o.position ? (*o.position)[d] : (c.grid.lines[d].front() + c.grid.lines[d].back()) / 2;
    const double size = o.size ? (*o.size)[d] : 0;
    e.low[d] = std::max(middle - size / 2, c.grid.lines[d].front());
    e.high[d] = std::min(middle + size / 2, c.grid.lines[d].back());
  }
  return e;
}

/// The axis across a plane: the resolved one along which its size is zero; -1 for a box.
int normal_axis(const Case& c, const MonitorOptions& o) {
  for (int d = 0; d < 3; ++d)
    if (c.grid.resolved(d) && (!o.size || (*o.size)[static_cast<std::size_t>(d)] == 0)) return d;
  return -1;
}

}  // namespace

const char* field_units(int component) { return em::is_electric(component) ? "V/m" : "A/m"; }

const char* amplitude_units(const Case& c) {
  const int dimensions = c.grid.dimensions();
  return dimensions == 3 ? "sqrt(W)*s" : dimensions == 2 ? "sqrt(W/m)*s" : "sqrt(W)*s/m";
}

em::KeptSteps kept_steps(const Case& c, const MonitorOptions& o) {
  return {.dt_s = c.dt_s,
          .every = o.every ? std::max<std::int64_t>(1, std::llround(*o.every / c.dt_s)) : 1,
          .start_s = o.start,
          .end_s = o.end};
}

em::Region region_of(const Case& c, const MonitorOptions& o) {
  const MonitorBox box = box_of(c, o);
  return em::region_of(c.grid, box.middle, box.size);
}

std::vector<Coordinate> region_coordinates(const em::Region& r) {
  return {{"z", "m", r.z}, {"y", "m", r.y}, {"x", "m", r.x}};
}

std::vector<em::Patch> patches_of(const Case& c, const MonitorOptions& o) {
  const Span2 e = extent(c, o);
  const int axis = normal_axis(c, o), outward = o.reverse ? -1 : 1;
  if (axis < 0) return em::box_sides(c.grid, c.faces, e.low, e.high, outward);
  const std::size_t lo = axis == 0 ? 1 : 0, hi = axis == 2 ? 1 : 2;
  return {em::grid_patch(c.grid, axis, outward, e.low[static_cast<std::size_t>(axis)],
                         {e.low[lo], e.low[hi]}, {e.high[lo], e.high[hi]})};
}

namespace {

std::unique_ptr<Monitor> make_monitor(const Case& c, const MonitorOptions& o) {
  switch (o.kind) {
    case MonitorKind::probe:
      return make_probe(c, o);
    case MonitorKind::dft:
      return make_dft(c, o);
    case MonitorKind::flux:
      return make_flux(c, o);
    case MonitorKind::energy:
      return make_energy(c, o);
    case MonitorKind::far_field:
    case MonitorKind::rcs:
      return make_far_field(c, o);
    case MonitorKind::ldos:
      return make_ldos(c, o);
    case MonitorKind::orders:
      return make_orders(c, o);
    case MonitorKind::resonances:
      return make_resonances(c, o);
    case MonitorKind::snapshot:
      return make_snapshot(c, o);
    case MonitorKind::mode:
      return make_mode(c, o);
    case MonitorKind::beam:
      return make_beam(c, o);
  }
  throw Error("[monitor " + o.name + "] is of no kind");
}

}  // namespace

std::vector<std::unique_ptr<Monitor>> make_monitors(const Case& c, const data::Config& config) {
  std::vector<std::unique_ptr<Monitor>> out;
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
    const std::string key = "monitor[" + std::to_string(m) + "]";
    try {
      out.push_back(make_monitor(c, c.options.monitors[m]));
    } catch (const data::InputError&) {
      throw;
    } catch (const MonitorFault& e) {
      throw data::InputError(data::ExitCode::config_invalid,
                             {config.error(e.number, key + "." + e.key, e.what(), e.hint)});
    } catch (const Error& e) {
      throw data::InputError(data::ExitCode::config_invalid,
                             {config.error(629, key, e.what(), "see the monitor's keys")});
    }
  }
  return out;
}

std::shared_ptr<MonitoredCase> with_monitors(Case c, const data::Config& config) {
  check_networks(c, config);
  const auto made = std::make_shared<MonitoredCase>(MonitoredCase{std::move(c), {}, {}, {}, {}});
  if (made->c.options.reference) {
    made->empty = std::make_shared<const Case>(reference_of(made->c, config));
    for (std::size_t k = 0; k < run_count(made->c); ++k)
      made->of_empty.push_back(make_monitors(*made->empty, config));
  }
  for (std::size_t k = 0; k < run_count(made->c); ++k) {
    Monitors all = make_monitors(made->c, config);
    for (auto& port : make_port_monitors(made->c, config)) all.push_back(std::move(port));
    (k == 0 ? made->monitors : made->further.emplace_back()) = std::move(all);
  }
  for (std::size_t m = 0; m < made->monitors.size(); ++m) {
    const Monitor& own = *made->monitors[m];
    const Monitor* former = made->reference_for(own, made->references());
    if (former && former->edges() != own.edges())
      throw data::InputError(
          data::ExitCode::config_invalid,
          {config.error(660, fmt::format("monitor[{}].subtract", m),
                        "its fields are taken at other places where the bodies are left out: a "
                        "conductor of the reference touches it",
                        "move the monitor two cells away")});
  }
  check_passes(*made, config);
  return made;
}

std::string MonitoredCase::name_of(std::size_t run) const {
  std::string out;
  if (run_count(c) > 1) out = c.channels[c.excitations[excitation_of(run)].channel].name;
  if (is_reference(run)) out += (out.empty() ? "" : ".") + std::string(reference_name);
  return out;
}

const Monitor* MonitoredCase::reference_for(const Monitor& own, std::size_t run) const {
  if (!own.options().subtract_reference) return nullptr;
  for (const auto& m : of_empty.at(excitation_of(run)))
    if (m->options().name == own.options().name) return m.get();
  return nullptr;
}

}  // namespace tessera::apps::fdtd
