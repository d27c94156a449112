// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tessera::apps::waves {
namespace {

constexpr std::size_t kLongestName = 100;  ///< with what is added to it, a file may still have it

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void check_waveform(const WaveformOptions& w, const std::string& at, Checks& checks) {
  if (w.kind != WaveformKind::gaussian) return;
  const bool by_width = w.frequency || w.bandwidth, by_band = w.frequency_min || w.frequency_max;
  if (by_width == by_band || (by_width && (!w.frequency || !w.bandwidth)) ||
      (by_band && (!w.frequency_min || !w.frequency_max)))
    checks.say(627, at, "a gaussian has a frequency and a bandwidth, or both ends of a band",
               "e.g. frequency = \"193 THz\", bandwidth = \"100 THz\"");
  else if (by_band && *w.frequency_min >= *w.frequency_max)
    checks.say(627, at + ".frequency_min", "is not below frequency_max",
               "the longer wavelength is the lower frequency");
}

void check_wave(const SourceOptions& s, const GridOptions& grid, const std::string& at,
                Checks& checks) {
  const double d = dot(s.direction, s.direction), p = dot(s.polarization, s.polarization);
  const double along = dot(s.direction, s.polarization);
  if (d == 0) return checks.say(628, at + ".direction", "has no direction");
  if (p == 0 || p * d - along * along <= 1e-12 * p * d)
    checks.say(628, at + ".polarization", "E of a wave lies across its direction",
               "name a direction that differs from where it travels to");
  for (int a = 0; a < 3; ++a)
    if (!grid.resolved(a) && s.direction[static_cast<std::size_t>(a)] != 0)
      return checks.say(628, at + ".direction", "leads out of the axes that are resolved",
                        "set its entries along the others to 0");
  // E is what lies across the direction, H is across both.
  Point e{}, h{};
  for (std::size_t a = 0; a < 3; ++a) e[a] = s.polarization[a] - along / d * s.direction[a];
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    h[a] = (s.direction[b] * e[c] - s.direction[c] * e[b]) / std::sqrt(d);
  }
  for (const auto& [field, first] : {std::pair(e, Component::Ex), std::pair(h, Component::Hx)})
    for (std::size_t a = 0; a < 3; ++a) {
      const auto component = static_cast<Component>(static_cast<int>(first) + static_cast<int>(a));
      if (std::abs(field[a]) <= 1e-9 * std::sqrt(p) || is_computed(grid, component)) continue;
      return checks.say(628, at + ".polarization",
                        std::string("the wave has a component ") +
                            electromagnetics::name_of(static_cast<int>(component)) +
                            ", which is not computed in this polarization",
                        "turn it along what is computed, or change grid.polarization");
    }
}

void check_spectrum(const MonitorOptions& m, const std::string& at, Checks& checks) {
  const bool band = m.frequency_min || m.frequency_max;
  const bool needs = m.kind != MonitorKind::probe && m.kind != MonitorKind::snapshot;
  if (!needs) return;
  if (m.frequencies.empty() == !band || (band && (!m.frequency_min || !m.frequency_max)))
    checks.say(629, at, "needs frequencies, or both ends of a band",
               "give frequencies, or frequency_min and frequency_max");
  else if (band && (*m.frequency_min > *m.frequency_max ||
                    (*m.frequency_min == *m.frequency_max && m.kind == MonitorKind::resonances)))
    checks.say(629, at + ".frequency_min", "is above frequency_max",
               "the longer wavelength is the lower frequency");
}

void check_mode(const SourceOptions& s, const GridOptions& grid, const std::string& at,
                Checks& checks) {
  const auto along =
      std::count_if(s.direction.begin(), s.direction.end(), [](double x) { return x != 0; });
  if (along != 1)
    return checks.say(628, at + ".direction", "a mode travels along an axis",
                      "e.g. direction = [1, 0, 0], or [0, 0, -1]");
  const auto axis = static_cast<std::size_t>(
      std::find_if(s.direction.begin(), s.direction.end(), [](double x) { return x != 0; }) -
      s.direction.begin());
  if (!grid.resolved(static_cast<int>(axis)))
    return checks.say(628, at + ".direction", "leads out of the axes that are resolved");
  if (s.size && (*s.size)[axis] != 0)
    checks.say(628, at + ".size", "a mode starts from a plane across its direction",
               "set that entry to 0");
  if (s.waveform.kind != WaveformKind::gaussian)
    checks.say(628, at + ".waveform", "a mode needs a pulse with a band",
               "take kind = \"gaussian\", with a band above the mode's cut-off");
}

/// The source that the monitor is measured against: one of this kind, named or the only one.
void check_source_of(const MonitorOptions& m, SourceKind kind, const CaseOptions& o,
                     const std::string& at, Checks& checks) {
  const char* what = kind == SourceKind::point ? "point source" : "plane_wave source";
  std::vector<std::string> names;
  std::size_t n = 0;
  for (const SourceOptions& s : o.sources) {
    if (s.kind != kind) continue;
    ++n;
    if (!s.name.empty()) names.push_back(s.name);
    if (s.amplitude == 0 && m.kind != MonitorKind::orders && (!m.source || *m.source == s.name))
      checks.say(629, at, std::string("is measured against a ") + what + " of amplitude 0",
                 "give that source an amplitude, or name another");
  }
  if (m.source)
    checks.known(at + ".source", *m.source, names, what);
  else if (n != 1)
    checks.say(
        629, at,
        std::string("is measured against one ") + what + ", but there are " + std::to_string(n),
        n ? "name one of them by source" : "add one under [[source]]");
}

void check_region(const MonitorOptions& m, const GridOptions& grid, const std::string& at,
                  Checks& checks) {
  if (m.kind == MonitorKind::ldos) return;
  check_inside(grid, *m.position, m.size.value_or(Point{}), at + ".position", 629, checks);
  if (!m.size) return;
  const int flat = flat_axes(grid, *m.size);
  if (m.kind == MonitorKind::orders && flat != 1)
    checks.say(629, at + ".size", "orders leave through a plane: one entry is 0");
  if (m.kind == MonitorKind::mode && flat != 1)
    checks.say(629, at + ".size", "modes pass a plane: one entry is 0");
  if (m.kind == MonitorKind::beam && flat != 1)
    checks.say(629, at + ".size", "beams pass a plane: one entry is 0");
  const bool surface =
      m.kind == MonitorKind::flux || m.kind == MonitorKind::far_field || m.kind == MonitorKind::rcs;
  if (m.kind == MonitorKind::energy && flat > 0)
    checks.say(629, at + ".size",
               "the box of an energy has no extent along an axis that is resolved",
               "make each entry as long as a part of a cell, or more");
  if (surface && flat > 1)
    checks.say(629, at + ".size", "is neither a plane (one entry is 0) nor a box (none is)");
}

/// Whether others may be divided by its power.
bool has_power(const MonitorOptions& m) {
  return m.kind == MonitorKind::flux || m.kind == MonitorKind::mode || m.kind == MonitorKind::beam;
}

std::string of_reference(const std::string& monitor) { return monitor + "." + reference_name; }

/// The monitor that `relative_to` names is another one's base at each of its frequencies.
void check_base(const MonitorOptions& m, const CaseOptions& o, const std::string& at,
                Checks& checks) {
  for (const MonitorOptions& base : o.monitors) {
    if (!has_power(base) ||
        (base.name != *m.relative_to && of_reference(base.name) != *m.relative_to))
      continue;
    const std::vector<double> own = m.all_frequencies(), other = base.all_frequencies();
    const bool same = std::equal(own.begin(), own.end(), other.begin(), other.end(),
                                 [](double a, double b) { return std::abs(a - b) <= 1e-9 * b; });
    if (!same)
      checks.say(629, at + ".relative_to",
                 "'" + base.name + "' has other frequencies: a ratio takes both at the same",
                 "give the two monitors the same frequencies, or the same band and points");
    return;
  }
}

}  // namespace

void check_sources(const CaseOptions& o, Checks& checks) {
  if (o.sources.empty() && o.ports.empty())
    checks.say(628, "app", "nothing makes waves: the case has no [[source]]",
               "add one, or a [[port]]");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < o.sources.size(); ++i) {
    const SourceOptions& s = o.sources[i];
    const std::string at = item("source", i);
    checks.unique(at + ".name", s.name, seen);
    check_waveform(s.waveform, at + ".waveform", checks);
    check_inside(o.grid, *s.position, s.size.value_or(Point{}), at + ".position", 628, checks);
    if (s.kind == SourceKind::plane_wave || s.kind == SourceKind::beam) {
      check_wave(s, o.grid, at, checks);
      if (s.kind == SourceKind::beam && s.size && flat_axes(o.grid, *s.size) != 1)
        checks.say(628, at + ".size", "a beam starts from a plane: one entry is 0",
                   "the axis along which it is says which plane; nothing of the beam is cut off");
      continue;
    }
    if (s.kind == SourceKind::mode) {
      check_mode(s, o.grid, at, checks);
      continue;
    }
    check_computed(o.grid, s.component, at + ".component", 628, checks);
    const auto extents =
        s.size ? std::count_if(s.size->begin(), s.size->end(), [](double x) { return x > 0; }) : 0;
    // In one dimension a point is the whole plane across the axis.
    const bool line = !o.grid.resolved(1) && !o.grid.resolved(2);
    const std::string instead =
        line ? "in one dimension take kind = \"point\", without size: it is the plane" : "";
    if (s.kind == SourceKind::line && extents != 1)
      checks.say(628, at + ".size", "a line has one entry above 0", instead);
    if (s.kind == SourceKind::plane && (extents == 0 || extents == 3))
      checks.say(628, at + ".size", "a plane has one or two entries above 0", instead);
  }
}

void check_reference(const CaseOptions& o, Checks& checks) {
  if (!o.reference) return;
  std::vector<std::string> names;
  for (const StructureOptions& s : o.structures)
    if (s.material && !s.name.empty()) names.push_back(s.name);
  for (const SheetOptions& s : o.sheets)
    if (!s.name.empty()) names.push_back(s.name);
  for (std::size_t k = 0; k < o.reference->without.size(); ++k)
    checks.known(item("reference.without", k), o.reference->without[k], names,
                 "structure or sheet");
  if (o.scattering.per_watt != PerWatt::no)
    checks.say(642, "s_parameters.per_watt",
               "the reference has the same pulse, not the same power, and is not told per watt",
               "leave per_watt out: `relative_to` has the power of the reference");
  if (!o.scattering.derivatives.empty())
    checks.say(642, "s_parameters.derivatives", "derivatives beside a reference are not supported",
               "leave the reference out");
  bool used = false;
  for (std::size_t i = 0; i < o.monitors.size(); ++i) {
    const MonitorOptions& m = o.monitors[i];
    if (!m.derivatives.empty())
      checks.say(642, item("monitor", i) + ".derivatives",
                 "derivatives beside a reference are not supported",
                 "run the reference by itself, and name its folder in `subtract`");
    used = used || m.subtract_reference || refers_to_reference(o, m);
  }
  if (!used)
    checks.say(629, "reference", "no monitor refers to it",
               "subtract = \"reference\", or relative_to = \"NAME.reference\"");
}

bool refers_to_reference(const CaseOptions& o, const MonitorOptions& m) {
  return m.relative_to && std::any_of(o.monitors.begin(), o.monitors.end(), [&](const auto& base) {
           return *m.relative_to == of_reference(base.name);
         });
}

bool is_in_reference(const CaseOptions& o, const MonitorOptions& m) {
  return o.reference &&
         (m.subtract_reference ||
          std::any_of(o.monitors.begin(), o.monitors.end(), [&](const MonitorOptions& other) {
            return other.relative_to && *other.relative_to == of_reference(m.name);
          }));
}

void check_monitors(const CaseOptions& o, Checks& checks) {
  std::set<std::string> seen;
  std::vector<std::string> fluxes;
  for (const MonitorOptions& m : o.monitors) {
    if (has_power(m)) fluxes.push_back(m.name);
    if (has_power(m) && o.reference) fluxes.push_back(of_reference(m.name));
  }
  for (std::size_t i = 0; i < o.monitors.size(); ++i) {
    const MonitorOptions& m = o.monitors[i];
    const std::string at = item("monitor", i);
    checks.unique(at + ".name", m.name, seen);
    if (m.name.empty() ||
        m.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                                 "WXYZ0123456789_-") != std::string::npos)
      checks.say(629, at + ".name", "a name is made of letters, digits, _ and -");
    if (m.name.size() > kLongestName)
      checks.say(629, at + ".name",
                 "a name has at most " + std::to_string(kLongestName) + " letters, this one " +
                     std::to_string(m.name.size()),
                 "shorten it: files are called by it");
    check_spectrum(m, at, checks);
    check_region(m, o.grid, at, checks);
    std::set<Component> measured;
    for (std::size_t k = 0; k < m.components.size(); ++k) {
      const std::string key = item((at + ".components").c_str(), k);
      check_computed(o.grid, m.components[k], key, 629, checks);
      if (!measured.insert(m.components[k]).second)
        checks.say(629, key, "the component is named twice", "leave one of them out");
    }
    for (std::size_t k = 0; k < m.theta.size() && !o.grid.resolved(2); ++k)
      if (std::abs(m.theta[k] - std::numbers::pi / 2) > 1e-9)
        checks.say(629, item((at + ".theta").c_str(), k),
                   "in two dimensions waves travel across z, where theta is 90 deg",
                   "leave theta out: phi is the angle in the plane");
    const bool solid = o.grid.resolved(0) && o.grid.resolved(1) && o.grid.resolved(2);
    if (m.beam && !solid) checks.say(629, at + ".beam", "a main beam is of three dimensions");
    if (m.co_polar && !solid)
      checks.say(629, at + ".co_polar", "co- and cross-polar parts are of three dimensions",
                 "leave it out: in two, E_theta is the field along z, E_phi that in the plane");
    if (m.relative_to) {
      checks.known(at + ".relative_to", *m.relative_to, fluxes, "flux, mode or beam monitor");
      check_base(m, o, at, checks);
    }
    if (m.kind == MonitorKind::rcs) check_source_of(m, SourceKind::plane_wave, o, at, checks);
    if (m.kind == MonitorKind::ldos) check_source_of(m, SourceKind::point, o, at, checks);
    if (m.kind == MonitorKind::orders && m.source)
      check_source_of(m, SourceKind::plane_wave, o, at, checks);
    std::set<Axis> mirrored;
    for (std::size_t k = 0; k < m.mirrors.size(); ++k)
      if (!mirrored.insert(m.mirrors[k].axis).second)
        checks.say(629, item((at + ".mirrors").c_str(), k), "another one lies across this axis");
    std::set<std::string> lengths;
    for (std::size_t k = 0; k < m.derivatives.size(); ++k) {
      const std::string key = item((at + ".derivatives").c_str(), k);
      std::vector<std::string> names_here = parameter_names(o);
      if (o.read_again)
        for (const data::Parameter& p : o.use.parameters.all()) names_here.push_back(p.name);
      checks.known(key, m.derivatives[k], names_here, "parameter or length of a named structure");
      if (!lengths.insert(m.derivatives[k]).second)
        checks.say(629, key, "it is named twice", "leave one of them out");
    }
    if (m.start && m.end && *m.start >= *m.end)
      checks.say(629, at + ".start", "is not before end", "exchange them");
  }
  check_expected(o, checks);
}

}  // namespace tessera::apps::waves
