// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/checks.h"

#include "electromagnetics/waves/case.h"
#include "electromagnetics/waves/domain.h"
#include "tessera/data/quantity.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tessera::apps::waves {
namespace {

const char* const axis_letters[] = {"x", "y", "z"};

std::string micrometres(double m) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g um", m * 1e6);
  return text;
}

void check_axis(const GridOptions& grid, int a, Checks& checks) {
  const auto i = static_cast<std::size_t>(a);
  const AxisOptions& axis = grid.axis(a);
  const std::string name = axis_letters[a], key = "grid." + name, size_key = item("grid.size", i);
  if (!axis.lines.empty()) {
    if (axis.lines.size() < 2 || std::adjacent_find(axis.lines.begin(), axis.lines.end(),
                                                    std::greater_equal<>()) != axis.lines.end())
      return checks.say(620, key + ".lines", "the lines of an axis are two or more, rising");
    const double extent = axis.lines.back() - axis.lines.front();
    if (grid.size[i] > 0 && std::abs(grid.size[i] - extent) > 1e-9 * extent)
      checks.say(620, size_key,
                 "size is " + micrometres(grid.size[i]) + ", but the lines of " + name + " span " +
                     micrometres(extent),
                 "leave the size of this axis 0 where lines are given");
    const double middle = grid.middle(a);
    if (grid.centre[i] != 0 && std::abs(grid.centre[i] - middle) > 1e-9 * extent)
      checks.say(620, item("grid.centre", i),
                 "centre is " + micrometres(grid.centre[i]) + ", but the middle of the lines of " +
                     name + " is " + micrometres(middle),
                 "leave the centre of this axis 0 where lines are given");
    if (!axis.refine.empty())
      checks.say(620, key + ".refine", "lines are given, so there is nothing to refine",
                 "leave one of them out");
    return;
  }
  for (std::size_t k = 0; k < axis.refine.size(); ++k) {
    const RefineOptions& r = axis.refine[k];
    const std::string at = item((key + ".refine").c_str(), k);
    if (!(r.from < r.to)) checks.say(620, at, "'from' is not below 'to'", "exchange them");
    if (r.from < grid.low(a) || r.to > grid.high(a))
      checks.say(
          620, at, "reaches out of the domain",
          "the domain ends at " + micrometres(grid.low(a)) + " and " + micrometres(grid.high(a)));
    if (grid.cell && r.cell > (*grid.cell)[i])
      checks.say(620, at, "its cells are longer than those around it");
  }
  if (!grid.resolved(a) || !grid.cell || !axis.refine.empty()) return;
  const double n = grid.size[i] / (*grid.cell)[i];
  if (std::abs(n - std::round(n)) > 1e-6 * std::max(n, 1.0))
    checks.say(620, size_key, "is no whole number of cells: " + std::to_string(n),
               (n > 1 ? "take " + micrometres(std::floor(n) * (*grid.cell)[i]) + " or " : "take ") +
                   micrometres(std::ceil(n) * (*grid.cell)[i]) +
                   (n > 1 ? "" : ", or smaller cells"));
}

}  // namespace

void check_grid(const GridOptions& grid, Checks& checks) {
  for (int a = 0; a < 3; ++a) check_axis(grid, a, checks);
  const bool x = grid.resolved(0), y = grid.resolved(1), z = grid.resolved(2);
  if (!x && !y && !z)
    return checks.say(620, "grid.size", "the domain has no size",
                      "give grid.size, e.g. [\"10 um\", \"8 um\", \"0 um\"] in 2-D");
  if (!x || (z && !y))
    checks.say(621, "grid.size", "the axes that are resolved come first: x, then y, then z",
               "turn the case so that the axes without size are the last");
  if (grid.polarization != Polarization::both && !(x && y && !z))
    checks.say(621, "grid.polarization", "polarizations are told apart in 2-D only",
               "leave it out, or give z no size");
  const bool by_lines = (!x || !grid.x.lines.empty()) && (!y || !grid.y.lines.empty()) &&
                        (!z || !grid.z.lines.empty());
  if (grid.automatic) {
    for (const auto& [given, key] :
         {std::pair(grid.cell.has_value(), "grid.cell"),
          {grid.cells_per_wavelength.has_value(), "grid.cells_per_wavelength"}})
      if (given)
        checks.say(620, key, "the cells are given in two ways", "leave this or grid.auto out");
    return;
  }
  if (grid.cell && grid.cells_per_wavelength)
    checks.say(620, "grid.cells_per_wavelength", "the cell is given in two ways",
               "leave this or grid.cell out");
  if (!grid.cell && !grid.cells_per_wavelength && !by_lines)
    checks.say(620, "grid", "there is no cell",
               "give grid.cell, or grid.cells_per_wavelength and grid.frequency_max");
  if (grid.cells_per_wavelength && !grid.frequency_max)
    checks.say(620, "grid.cells_per_wavelength",
               "is counted at grid.frequency_max, which is missing", "give grid.frequency_max");
}

void check_run(const CaseOptions& o, Checks& checks) {
  const StopOptions& stop = o.run.stop;
  if (!stop.any())
    return checks.say(622, "run", "the run has no end",
                      "give run.stop, e.g. stop = {decay_db = 60} or stop = {time = \"200 fs\"}");
  if (stop.time || stop.steps) return;
  const bool transformed =
      !o.ports.empty() ||
      std::any_of(o.monitors.begin(), o.monitors.end(), [](const MonitorOptions& m) {
        return m.kind != MonitorKind::probe && m.kind != MonitorKind::snapshot &&
               m.kind != MonitorKind::resonances;
      });
  if (!stop.after_sources && !stop.decay_db && !transformed)
    checks.say(622, "run.stop", "waits for transforms to settle, but no monitor takes a transform",
               "give run.stop.decay_db or run.stop.time instead");
  for (std::size_t i = 0; i < o.sources.size(); ++i)
    if (o.sources[i].waveform.kind == WaveformKind::continuous)
      checks.say(622, "run.stop",
                 "waits for the sources to end, but " + item("source", i) + " never does",
                 "give run.stop.time or run.stop.steps, too");
}

void check_boundary(const CaseOptions& o, Checks& checks) {
  const BoundaryOptions& b = o.boundary;
  bool bloch = false;
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const bool is_bloch = o.grid.resolved(a) && b.low(a) == Face::bloch;
    bloch = bloch || is_bloch;
    const auto pairs = [](Face f) { return f == Face::periodic || f == Face::bloch; };
    if (o.grid.resolved(a) && b.low(a) != b.high(a) && (pairs(b.low(a)) || pairs(b.high(a))))
      checks.say(623,
                 std::string("boundary.") + axis_letters[a] + (pairs(b.low(a)) ? "_low" : "_high"),
                 std::string("periodic and bloch join two faces, but boundary.") + axis_letters[a] +
                     (pairs(b.low(a)) ? "_high" : "_low") + " is another",
                 std::string("write boundary.") + axis_letters[a] + " = \"periodic\"");
    for (const auto& [key, k] : {std::pair("bloch_k", &b.bloch_k), {"bloch_phase", &b.bloch_phase}})
      if (*k && (**k)[i] != 0 && !is_bloch)
        checks.say(
            623, item((std::string("boundary.") + key).c_str(), i),
            std::string(key) + " is of bloch faces, and the faces across " + axis_letters[a] +
                " are not bloch",
            std::string("set this entry to 0, or boundary.") + axis_letters[a] + " to \"bloch\"");
  }
  for (std::size_t k = 0; k < b.symmetry.size(); ++k) {
    const int a = static_cast<int>(b.symmetry[k]) / 2;
    const bool high = static_cast<int>(b.symmetry[k]) % 2 == 1;
    const Face face = high ? b.high(a) : b.low(a);
    const std::string at = item("boundary.symmetry", k);
    if (!o.grid.resolved(a) || (face != Face::pec && face != Face::pmc))
      checks.say(
          623, at, "only a mirror is a plane of symmetry, and this face is none",
          "set the face to \"pec\" where E is normal to it, or to \"pmc\" where E is tangential");
    else if (high && b.is_symmetry(a, false))
      checks.say(623, at, "two planes of symmetry across one axis make infinitely many images",
                 "leave one of them out");
  }
  if (b.bloch_k && b.bloch_phase)
    checks.say(623, "boundary.bloch_phase", "the phase is given in two ways",
               "leave this or boundary.bloch_k out");
  if (bloch && !b.bloch_k && !b.bloch_phase)
    checks.say(623, "boundary", "bloch faces need a wave vector",
               "give boundary.bloch_k or boundary.bloch_phase, or take \"periodic\"");
}

void Checks::known(const std::string& key, const std::string& name,
                   const std::vector<std::string>& known, const std::string& what) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const auto near = data::nearest_names(name, known);
  std::string all;
  for (const std::string& k : known) all += (all.empty() ? "" : ", ") + k;
  say(625, key, "there is no " + what + " '" + name.substr(0, 80) + "'",
      !near.empty() ? "did you mean '" + near.front() + "'?"
      : all.empty() ? ""
                    : "there are " + (all.size() < 200 ? all : all.substr(0, 200) + "..."));
}

void Checks::unique(const std::string& key, const std::string& name, std::set<std::string>& seen) {
  if (!name.empty() && !seen.insert(name).second)
    say(625, key, "the name '" + name.substr(0, 80) + "' is given twice", "rename one of them");
}

bool is_computed(const GridOptions& grid, Component c) {
  if (!grid.resolved(1))
    return c != Component::Ex && c != Component::Hx;  // x alone: nothing makes these
  if (grid.polarization == Polarization::both) return true;
  const bool of_ez = c == Component::Ez || c == Component::Hx || c == Component::Hy;
  return of_ez == (grid.polarization == Polarization::Ez);
}

void check_computed(const GridOptions& grid, Component c, const std::string& key, int number,
                    Checks& checks) {
  if (is_computed(grid, c)) return;
  if (!grid.resolved(1))
    checks.say(number, key,
               "lies along the one axis that is resolved: a wave has no such component, and a "
               "current along it no field but its charges'",
               "take a component along y or z");
  else
    checks.say(number, key, "is not computed in this polarization",
               "change it, or grid.polarization");
}

int flat_axes(const GridOptions& grid, const Point& size) {
  int n = 0;
  for (int a = 0; a < 3; ++a) n += grid.resolved(a) && size[static_cast<std::size_t>(a)] == 0;
  return n;
}

void check_inside(const GridOptions& grid, const Point& position, const Point& size,
                  const std::string& key, int number, Checks& checks) {
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const double slack = 1e-9 * (grid.high(a) - grid.low(a));
    if (!grid.resolved(a) || (position[i] - size[i] / 2 >= grid.low(a) - slack &&
                              position[i] + size[i] / 2 <= grid.high(a) + slack))
      continue;
    return checks.say(number, key,
                      std::string("leaves the domain along ") + axis_letters[a] +
                          ", which ends at " + micrometres(grid.low(a)) + " and " +
                          micrometres(grid.high(a)));
  }
}

namespace {

/// Paths are whole by now, in resolved.toml from the first, so that the word `reference` is the end
/// of one; a former run in a folder of this name could be meant as well.
void settle_references(CaseOptions& o, const data::Config& config, Checks& checks) {
  for (std::size_t i = 0; o.reference && i < o.monitors.size(); ++i) {
    MonitorOptions& m = o.monitors[i];
    if (!m.subtract || m.subtract->filename() != reference_name) continue;
    if (*m.subtract != config.folder && std::filesystem::exists(*m.subtract / "results.h5"))
      checks.say(660, item("monitor", i) + ".subtract",
                 "may be the run that [reference] describes, or the one in the folder " +
                     m.subtract->string(),
                 "give the folder another name");
    m.subtract.reset(), m.subtract_reference = true;
  }
}

}  // namespace

void complete_options(CaseOptions& o, const data::Config& config) {
  if (o.grid.automatic && !o.grid.resolved(0) && !o.grid.resolved(1) && !o.grid.resolved(2)) {
    Checks first(config);  // what the size is found from
    check_materials(o, first);
    check_structures(o, first);
    if (!first.findings.empty())
      throw data::InputError(data::ExitCode::config_invalid, std::move(first.findings));
    read_drawings(o, config);
    settle_domain(o, config);
  }
  Point middle{};
  for (int a = 0; a < 3; ++a) middle[static_cast<std::size_t>(a)] = o.grid.middle(a);
  for (SourceOptions& s : o.sources)
    if (!s.position) s.position = middle;
  for (MonitorOptions& m : o.monitors) {
    if (!m.position) m.position = middle;
    if (!m.through) m.through = m.position;
  }
  for (PortOptions& p : o.ports)
    if (p.kind == PortKind::lumped && !p.impedance) p.impedance = p.circuit.resistance;

  Checks checks(config);
  settle_references(o, config, checks);
  check_grid(o.grid, checks);
  check_run(o, checks);
  check_boundary(o, checks);
  check_materials(o, checks);
  check_structures(o, checks);
  check_sources(o, checks);
  check_ports(o, checks);
  check_loads(o, checks);
  check_sheets(o, checks);
  check_monitors(o, checks);
  check_reference(o, checks);
  if (checks.findings.empty()) check_result_names(o, checks);
  if (!checks.findings.empty())
    throw data::InputError(data::ExitCode::config_invalid, std::move(checks.findings));
}

}  // namespace tessera::apps::waves
