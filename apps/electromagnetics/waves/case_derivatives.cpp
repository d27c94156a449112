// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/loads.h"
#include "electromagnetics/waves/moved_circuits.h"
#include "electromagnetics/waves/named_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

constexpr double kSame = 1e-12;  ///< shares that differ by less are the same

using Refuse = std::function<void(std::string, std::string)>;

class EdgeSet {
 public:
  explicit EdgeSet(const std::vector<em::Edge>& edges) {
    for (const em::Edge& e : edges) all_.insert(place(e));
  }
  bool has(const em::Edge& e) const { return all_.count(place(e)) > 0; }

 private:
  static std::array<int, 4> place(const em::Edge& e) { return {e.component, e.i, e.j, e.k}; }
  std::set<std::array<int, 4>> all_;
};

bool same_circuit(const CircuitOptions& a, const CircuitOptions& b) {
  return a.resistance == b.resistance && a.inductance == b.inductance &&
         a.capacitance == b.capacitance;
}

/// The options a step of one name further, and back.
struct Steps {
  CaseOptions more, less;
  double width;  ///< from one to the other

  bool moves_load(std::size_t k) const {
    return !same_circuit(more.loads[k].circuit, less.loads[k].circuit);
  }
  bool moves_port(std::size_t p) const {
    return !same_circuit(more.ports[p].circuit, less.ports[p].circuit);
  }
};

/// All that is asked for, each name once, with the first key that asks.
std::string collect_names(const Case& c, const data::Config& config,
                          std::vector<std::string>& names) {
  std::string key;
  const auto ask = [&](const std::vector<std::string>& wanted, const std::string& at) {
    if (wanted.empty()) return;
    check_named(c, wanted, MovedBy::media, at, config);
    if (key.empty()) key = at;
    for (const std::string& name : wanted)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  ask(c.options.scattering.derivatives, "s_parameters.derivatives");
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m)
    if (const MonitorOptions& o = c.options.monitors[m]; o.kind != MonitorKind::resonances)
      ask(o.derivatives, fmt::format("monitor[{}].derivatives", m));
  return key;
}

void add_reshaped(const em::CutCellFractions& a, const em::CutCellFractions& b,
                  std::vector<em::Edge>& out) {
  std::vector<em::CutCellFraction> apart;
  const auto place = [](const em::CutCellFraction& f) {
    return std::tuple(f.edge.component, f.edge.k, f.edge.j, f.edge.i, f.fraction, f.share);
  };
  std::set_symmetric_difference(a.fractions.begin(), a.fractions.end(), b.fractions.begin(),
                                b.fractions.end(), std::back_inserter(apart),
                                [&](const auto& x, const auto& y) { return place(x) < place(y); });
  for (const em::CutCellFraction& f : apart)
    if (std::abs(a.fraction(f.edge) - b.fraction(f.edge)) > kSame ||
        std::abs(a.share(f.edge) - b.share(f.edge)) > kSame)
      out.push_back(f.edge);
}

/// Refuses what is told by the lengths of cells that move with a sheet's line.
void check_beside(const Case& c, int axis, int line, const Refuse& refuse) {
  const auto u = static_cast<std::size_t>(axis);
  for (const em::PlacedElement& element : c.elements)
    for (const em::Edge& e : element.edges)
      if (const int at = std::array{e.i, e.j, e.k}[u]; at >= line - 1 && at <= line + 1)
        refuse("a lumped element has a part in the cells beside a sheet whose place moves",
               "move it two cells away");
  const std::vector<double>& lines = c.grid.lines[u];
  const double low = lines[static_cast<std::size_t>(line - 1)],
               high = lines[static_cast<std::size_t>(line + 1)];
  for (const MonitorOptions& m : c.options.monitors)
    if (!m.derivatives.empty() && m.position && m.size &&
        (*m.position)[u] - (*m.size)[u] / 2 < high && (*m.position)[u] + (*m.size)[u] / 2 > low)
      refuse(
          "the monitor '" + m.name + "' has a part in the cells beside a sheet whose place moves",
          "move its faces two cells away, or ask s_parameters.derivatives");
}

/// Media at other values; with `circuits` held those of elements stay.
em::MediumDerivatives media_of(const Case& c, const NamedNumbers& numbers, bool circuits_held,
                               std::vector<em::Edge>& reshaped, const Refuse& refuse) {
  const auto model_of = [&](const std::vector<double>& values) {
    Case moved = numbers.moved(values);
    moved.laminates = em::LaminateShares::exact;
    if (circuits_held) moved.elements = c.elements;
    for (const auto [axis, line] : follow_sheets(moved, c)) check_beside(c, axis, line, refuse);
    add_reshaped(*c.open, *moved.open, reshaped);
    return make_model(moved);
  };
  try {
    return em::medium_derivatives(model_of, numbers.at, numbers.steps);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse(e.what(),
           "name what moves conductors, dielectrics with losses or without along the grid, or R, L "
           "and C");
  }
  return {};
}

/// Refuses what moves at the terminals of a lumped port, or where V is read on its line: what is
/// read there is told by the medium of these edges, which is taken as it is. The port's own circuit
/// moves.
void check_terminals(const Case& c, const CasePort& port, const EdgeSet& moved,
                     const Refuse& refuse) {
  std::vector<em::Edge> own = c.elements[port.lumped.element].edges;
  if (port.lumped.line)
    own.insert(own.end(), port.lumped.line->edges.begin(), port.lumped.line->edges.end());
  for (const em::Edge& e : own)
    if (em::is_electric(e.component) && moved.has(e))
      refuse("what moves has a part in the edges of the port '" + port.monitor.name + "'",
             "move the port two cells away from it");
}

/// Modes are constants.
void check_guide(const CasePort& port, const std::vector<em::Edge>& moved, const Refuse& refuse) {
  const em::ModePlane& plane = port.mode.plane;
  for (const em::Edge& e : moved) {
    const int at[3] = {e.i, e.j, e.k};
    if (std::abs(at[plane.axis] - plane.line) <= 2)
      refuse("what moves lies within two cells of the port '" + port.monitor.name +
                 "', whose modes are constants",
             "move the port away from it");
  }
}

/// The edges of elements of other ports, and of loads, whose circuits move.
std::vector<em::Edge> moved_elements(const Case& c, const std::vector<Steps>& steps,
                                     std::size_t but_port) {
  std::vector<em::Edge> out;
  const auto add = [&](std::size_t element) {
    const std::vector<em::Edge>& edges = c.elements[element].edges;
    out.insert(out.end(), edges.begin(), edges.end());
  };
  for (const Steps& s : steps) {
    for (std::size_t k = 0; k < c.options.loads.size(); ++k)
      if (s.moves_load(k)) add(k);
    for (std::size_t p = 0; p < c.ports.size(); ++p)
      if (p != but_port && s.moves_port(p)) add(c.ports[p].lumped.element);
  }
  return out;
}

/// Refuses what would break the likeness of ports: their circuits move alike, or not at all.
void check_likeness(const CaseOptions& o, const std::vector<std::string>& names,
                    const std::vector<Steps>& steps, const Refuse& refuse) {
  const auto alike = [](const std::optional<double>& a_more, const std::optional<double>& a_less,
                        const std::optional<double>& b_more, const std::optional<double>& b_less) {
    const double a = a_more.value_or(0) - a_less.value_or(0),
                 b = b_more.value_or(0) - b_less.value_or(0);
    return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
  };
  for (std::size_t p = 0; p < o.ports.size(); ++p) {
    if (!o.ports[p].same_as) continue;
    const std::vector<std::size_t> place = places_of(o, p);
    for (std::size_t n = 0; n < names.size(); ++n)
      for (std::size_t q = 0; q < place.size(); ++q) {
        const PortOptions &a = steps[n].more.ports[q], &b = steps[n].less.ports[q],
                          &x = steps[n].more.ports[place[q]], &y = steps[n].less.ports[place[q]];
        const CircuitOptions &ca = a.circuit, &cb = b.circuit, &cx = x.circuit, &cy = y.circuit;
        if (!alike(ca.resistance, cb.resistance, cx.resistance, cy.resistance) ||
            !alike(ca.inductance, cb.inductance, cx.inductance, cy.inductance) ||
            !alike(ca.capacitance, cb.capacitance, cx.capacitance, cy.capacitance) ||
            !alike(a.impedance, b.impedance, x.impedance, y.impedance) ||
            !alike(a.reactance, b.reactance, x.reactance, y.reactance))
          refuse(fmt::format("'{}' moves '{}' otherwise than '{}', which takes its place by the "
                             "same_as of '{}'",
                             names[n], o.ports[q].name, o.ports[place[q]].name, o.ports[p].name),
                 "leave same_as out");
      }
  }
}

CaseDerivatives::References references_of(const Steps& s) {
  CaseDerivatives::References out;
  const auto z = [](const PortOptions& p) {
    return std::complex<double>(p.impedance.value_or(0), p.reactance);
  };
  for (std::size_t p = 0; p < s.more.ports.size(); ++p)
    out.of_ports.push_back((z(s.more.ports[p]) - z(s.less.ports[p])) / s.width);
  out.of_s =
      (s.more.scattering.reference.value_or(0) - s.less.scattering.reference.value_or(0)) / s.width;
  return out;
}

std::vector<em::Injection> sources_of(const Case& c, const Steps& s) {
  std::vector<em::Injection> out(c.excitations.size());
  std::optional<Case> more, less;
  for (std::size_t e = 0; e < out.size(); ++e) {
    const PortChannel& channel = c.channels[c.excitations[e].channel];
    if (!s.moves_port(channel.port)) continue;
    for (const auto& [to, options] : {std::pair(&more, &s.more), {&less, &s.less}}) {
      if (*to) continue;
      *to = c;
      (*to)->options = *options;
      change_circuits(**to);
    }
    const em::Waveform& waveform = c.sources[c.excitations[e].source].waveform;
    out[e] = sum_of({lumped_port_source(*more, channel, waveform),
                     lumped_port_source(*less, channel, waveform)},
                    {1 / s.width, -1 / s.width});
  }
  return out;
}

/// Waves are made for the media at their box or plane; a current for the open part of its edges.
void check_sources(const Case& c, const CaseDerivatives& d, const Refuse& refuse) {
  const EdgeSet media(d.media.edges.edges), reshaped(d.reshaped);
  for (const CaseSource& s : c.sources) {
    if (s.key.starts_with("port")) continue;
    const EdgeSet& moved = s.wave.edges.empty() ? reshaped : media;
    for (const em::Edge& e : injection_of(c, s).edges)
      if (moved.has(e)) refuse("a source lies on what moves", "move it two cells away");
  }
}

}  // namespace

std::optional<CaseDerivatives> case_derivatives_of(const Case& c, const data::Config& config) {
  CaseDerivatives out;
  const std::string key = collect_names(c, config, out.names);
  if (out.names.empty()) return {};
  const Refuse refuse = [&](std::string what, std::string hint) {
    throw data::InputError(data::ExitCode::config_invalid,
                           {config.error(642, key, std::move(what), std::move(hint))});
  };
  const NamedNumbers numbers(c, out.names, config);
  std::vector<Steps> steps;
  for (std::size_t k = 0; k < out.names.size(); ++k)
    steps.push_back({numbers.options(numbers.stepped(k, 1)),
                     numbers.options(numbers.stepped(k, -1)), 2 * numbers.steps[k]});
  check_likeness(c.options, out.names, steps, refuse);
  out.media = media_of(c, numbers, false, out.reshaped, refuse);
  for (const Steps& s : steps) {
    out.references.push_back(references_of(s));
    out.sources.push_back(sources_of(c, s));
  }
  // What moves beside the circuits of elements.
  std::vector<std::string> others;
  bool circuits = false;
  for (const std::string& name : out.names) {
    const CircuitsMoved moved = circuits_moved(c.options, name);
    circuits = circuits || moved.any;
    if (!moved.alone) others.push_back(name);
  }
  std::vector<em::Edge> bodies = out.media.edges.edges;
  if (circuits) {
    bodies.clear();
    if (!others.empty())
      bodies = media_of(c, NamedNumbers(c, others, config), true, out.reshaped, refuse).edges.edges;
  }
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    if (!c.ports[p].mode.band.at.empty()) {
      check_guide(c.ports[p], out.media.edges.edges, refuse);
      continue;
    }
    check_terminals(c, c.ports[p], EdgeSet(bodies), refuse);
    check_terminals(c, c.ports[p], EdgeSet(moved_elements(c, steps, p)), refuse);
  }
  check_sources(c, out, refuse);
  return out;
}

}  // namespace tessera::apps::waves
