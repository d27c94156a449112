// SPDX-License-Identifier: Apache-2.0
// What [[port]], [s_parameters] and run.excite may not say.
#include "electromagnetics/waves/checks.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

constexpr std::size_t kLongestPortName = 60;  ///< of two of them results are named

void check_guided(const PortOptions& p, const GridOptions& grid, const std::string& at,
                  Checks& checks) {
  if (std::count_if(p.direction.begin(), p.direction.end(), [](double x) { return x != 0; }) != 1)
    return checks.say(667, at + ".direction", "a mode travels along an axis",
                      "e.g. direction = [1, 0, 0], or [0, 0, -1]");
  const std::size_t axis = port_axis(p);
  if (!grid.resolved(static_cast<int>(axis)))
    return checks.say(667, at + ".direction", "leads out of the axes that are resolved");
  if (p.size && (*p.size)[axis] != 0)
    checks.say(667, at + ".size", "a mode passes a plane across its direction",
               "set that entry to 0");
  check_inside(grid, p.position, p.size.value_or(Point{}), at + ".position", 667, checks);
}

void check_terminals(const PortOptions& p, const GridOptions& grid, const std::string& at,
                     Checks& checks) {
  if (std::count_if(p.direction.begin(), p.direction.end(), [](double x) { return x != 0; }) != 1)
    return checks.say(667, at + ".direction", "the current of a lumped port runs along an axis",
                      "e.g. direction = [0, 0, 1], from the negative terminal to the positive one");
  const std::size_t axis = port_axis(p);
  check_lumped(grid, p.circuit, *p.size, axis, at, ".direction", checks);
  if (!p.circuit.resistance)
    checks.say(667, at + ".resistance", "a source is behind a resistance, which is missing",
               "e.g. resistance = \"50 ohm\"");
  if (!p.plane) return;
  int differ = 0;
  for (std::size_t d = 0; d < 3; ++d) differ += (*p.plane)[d] != p.position[d];
  if (differ != 1 || (*p.plane)[axis] != p.position[axis])
    checks.say(667, at + ".plane", "a line runs along an axis, across the current of its port",
               "let it differ from position along that axis alone");
}

/// Lengths along the direction of a port, then across it, whichever way it is turned.
std::vector<double> turned_size(const PortOptions& p, const GridOptions& grid) {
  std::vector<double> out;
  if (!p.size || port_axis(p) > 2) return out;
  for (std::size_t d = 0; d < 3; ++d)
    if (d != port_axis(p) && grid.resolved(static_cast<int>(d))) out.push_back((*p.size)[d]);
  std::sort(out.begin(), out.end());
  out.push_back(grid.resolved(static_cast<int>(port_axis(p))) ? (*p.size)[port_axis(p)] : 0);
  return out;
}

/// From the port to where its line is read; nothing where it is read at the port.
double reading_distance(const PortOptions& p) {
  double sum = 0;
  for (std::size_t d = 0; d < 3 && p.plane; ++d) sum += std::abs((*p.plane)[d] - p.position[d]);
  return sum;
}

/// What of two ports that are said to be alike is not; empty: nothing.
std::string unlike(const PortOptions& p, const PortOptions& q, const GridOptions& grid) {
  // Above the steps by which derivatives read a case again with one of the circuits moved.
  const auto near = [](double a, double b) {
    return std::abs(a - b) <= 1e-4 * std::max(std::abs(a), std::abs(b));
  };
  const auto same = [&](const std::optional<double>& a, const std::optional<double>& b) {
    return a.has_value() == b.has_value() && (!a || near(*a, *b));
  };
  const CircuitOptions &a = p.circuit, &b = q.circuit;
  const std::vector<double> own = turned_size(p, grid), other = turned_size(q, grid);
  if (!same(a.resistance, b.resistance)) return "resistance";
  if (!same(a.inductance, b.inductance)) return "inductance";
  if (!same(a.capacitance, b.capacitance)) return "capacitance";
  const int parts = a.resistance.has_value() + a.inductance.has_value() + a.capacitance.has_value();
  if (a.circuit != b.circuit && parts > 1) return "circuit";
  if (!same(p.impedance, q.impedance)) return "impedance";
  if (!near(p.reactance, q.reactance)) return "reactance";
  if (!same(p.index, q.index)) return "index";
  if (!std::equal(own.begin(), own.end(), other.begin(), other.end(), near)) return "size";
  if (!near(reading_distance(p), reading_distance(q))) return "distance of its plane";
  return {};
}

const PortOptions& port_of(const CaseOptions& o, const std::string& name) {
  return *std::find_if(o.ports.begin(), o.ports.end(),
                       [&](const PortOptions& p) { return p.name == name; });
}

/// `order` names each port once, and takes this port to that one.
void check_likeness(const CaseOptions& o, std::size_t port, const std::string& at, Checks& checks) {
  const PortOptions& p = o.ports[port];
  if (!p.same_as) {
    if (!p.order.empty())
      checks.say(667, at + ".order", "is the order of ports that same_as goes with",
                 "name the port that this one is like by same_as");
    return;
  }
  std::vector<std::string> names;
  for (const PortOptions& q : o.ports) names.push_back(q.name);
  checks.known(at + ".same_as", *p.same_as, names, "port");
  const auto like =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), *p.same_as) - names.begin());
  if (like == names.size()) return;
  const PortOptions& q = o.ports[like];
  if (like == port) return checks.say(667, at + ".same_as", "is the port itself");
  if (q.same_as)
    return checks.say(667, at + ".same_as", "'" + q.name + "' is itself like another one",
                      "name '" + *q.same_as + "'");
  if (p.kind != q.kind || p.modes != 1 || q.modes != 1)
    return checks.say(667, at + ".same_as",
                      "ports that are alike are of one kind and have one mode each",
                      "give both their own runs");
  if (const std::string what = unlike(p, q, o.grid); !what.empty())
    return checks.say(667, at + ".same_as",
                      "'" + p.name + "' has another " + what + " than '" + q.name +
                          "', whose waves are taken for its own",
                      "let them be the same, or give both their own runs");
  if (p.order.empty()) {
    if (o.ports.size() != 2)
      checks.say(667, at + ".order",
                 "of more than two ports, how the others change places is not known",
                 "list all ports in the order in which they take the places of those of the file");
    return;
  }
  std::vector<std::string> sorted = p.order;
  std::sort(sorted.begin(), sorted.end());
  std::sort(names.begin(), names.end());
  if (sorted != names) return checks.say(667, at + ".order", "does not name each port once");
  if (p.order[like] != p.name)
    checks.say(
        667, item((at + ".order").c_str(), like),
        "'" + p.name + "' takes the place of '" + q.name + "', and here is '" + p.order[like] + "'",
        "write the ports in the order in which they take the places of those of the file");
  for (std::size_t k = 0; k < o.ports.size(); ++k) {
    const PortOptions &from = o.ports[k], &to = port_of(o, p.order[k]);
    const std::string what = from.kind != to.kind     ? "kind"
                             : from.modes != to.modes ? "number of modes"
                                                      : unlike(from, to, o.grid);
    if (!what.empty())
      return checks.say(667, item((at + ".order").c_str(), k),
                        "'" + to.name + "' has another " + what + " than '" + from.name +
                            "', whose place it takes",
                        "let them be the same, or give '" + p.name + "' its own run");
  }
}

void check_band(const ScatteringOptions& s, Checks& checks) {
  const bool band = s.frequency_min || s.frequency_max;
  if (s.frequencies.empty() == !band || (band && (!s.frequency_min || !s.frequency_max)))
    return checks.say(667, "s_parameters", "ports need frequencies, or both ends of a band",
                      "give s_parameters.frequencies, or frequency_min and frequency_max");
  if (band && *s.frequency_min > *s.frequency_max)
    return checks.say(667, "s_parameters.frequency_min", "is above frequency_max",
                      "the longer wavelength is the lower frequency");
  for (std::size_t k = 1; k < s.frequencies.size(); ++k)
    if (s.frequencies[k] <= s.frequencies[k - 1])
      return checks.say(667, item("s_parameters.frequencies", k), "frequencies do not rise",
                        "list them from the lowest to the highest, each once");
  if (band && s.frequency_points > 1 && *s.frequency_min == *s.frequency_max)
    checks.say(667, "s_parameters.frequency_max", "is no higher than frequency_min",
               "a band has two ends; for one frequency: frequencies = [...]");
}

/// Whether S has a column of each port: of one that is driven, or like one that is.
bool all_told(const CaseOptions& o) {
  const std::vector<std::string> driven = driven_names(o);
  const auto is_driven = [&](const std::string& name) {
    return std::find(driven.begin(), driven.end(), name) != driven.end();
  };
  return std::all_of(o.ports.begin(), o.ports.end(), [&](const PortOptions& p) {
    const std::vector<std::string> own = channel_names(p);
    return (p.same_as && is_driven(*p.same_as)) || std::all_of(own.begin(), own.end(), is_driven);
  });
}

void check_networks_named(const CaseOptions& o, Checks& checks) {
  const ScatteringOptions& s = o.scattering;
  std::vector<std::string> names;
  for (const PortOptions& p : o.ports)
    for (const std::string& name : channel_names(p)) names.push_back(name);
  std::set<std::string> seen(names.begin(), names.end()), taken, results;
  for (const MonitorOptions& m : o.monitors) results.insert(m.name);
  for (const std::string& name : names) results.insert(name);
  const bool all = all_told(o);
  const auto whole = [&](const std::string& key) {
    if (!all)
      checks.say(667, key, "needs S of all ports, and not all are driven", "run.excite = \"all\"");
  };
  if (s.reference) whole("s_parameters.reference");
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    const std::string at = item("s_parameters.pair", k);
    whole(at);
    checks.unique(at + ".name", s.pairs[k].name, seen);
    for (const auto& [key, port] :
         {std::pair(".plus", &s.pairs[k].plus), {".minus", &s.pairs[k].minus}}) {
      checks.known(at + key, *port, names, "port");
      if (!taken.insert(*port).second)
        checks.say(667, at + key, "'" + *port + "' is in a pair already", "a port is in one pair");
    }
  }
  std::set<std::string> joined;
  for (std::size_t k = 0; k < s.joins.size(); ++k) {
    const std::string at = item("s_parameters.join", k);
    whole(at);
    checks.unique(at + ".name", s.joins[k].name, seen);
    for (std::size_t p = 0; p < s.joins[k].ports.size(); ++p) {
      const std::string& port = s.joins[k].ports[p];
      if (port.empty()) continue;
      checks.known(item((at + ".ports").c_str(), p), port, names, "port");
      if (!joined.insert(port).second)
        checks.say(667, item((at + ".ports").c_str(), p), "'" + port + "' is joined already",
                   "a port is joined once");
    }
  }
  for (std::size_t k = 0; k < s.arrays.size(); ++k) {
    const ArrayOptions& array = s.arrays[k];
    const std::string at = item("s_parameters.array", k);
    whole(at);
    if (std::any_of(o.ports.begin(), o.ports.end(), [](const PortOptions& p) { return p.same_as; }))
      checks.say(667, at, "needs the fields of a run for each port, and same_as spares some",
                 "leave same_as out");
    checks.unique(at + ".name", array.name, results);
    if (array.ports.empty())
      checks.say(667, at + ".ports", "no port is driven", "name those that are");
    std::set<std::string> own;
    for (std::size_t p = 0; p < array.ports.size(); ++p) {
      checks.known(item((at + ".ports").c_str(), p), array.ports[p], names, "port");
      checks.unique(item((at + ".ports").c_str(), p), array.ports[p], own);
    }
    for (const auto& [key, given] :
         {std::pair(".amplitudes", array.amplitudes.size()), {".phases", array.phases.size()}})
      if (given != 0 && given != array.ports.size())
        checks.say(667, at + key,
                   "has " + std::to_string(given) + " values for " +
                       std::to_string(array.ports.size()) + " ports",
                   "give one for each port");
    if (std::all_of(array.amplitudes.begin(), array.amplitudes.end(),
                    [](double x) { return x == 0; }) &&
        !array.amplitudes.empty())
      checks.say(667, at + ".amplitudes", "no port is driven", "give one that is not 0");
  }
  for (std::size_t k = 0; k < s.compare.size(); ++k) {
    const std::string at = item("s_parameters.compare", k);
    whole(at);
    checks.unique(at + ".name", s.compare[k].name, results);
    if ((s.compare[k].result == "s_mixed" && s.pairs.empty()) ||
        (s.compare[k].result == "s_joined" && s.joins.empty()))
      checks.say(667, at + ".result", "there is no such result",
                 "add a [[s_parameters.pair]] or a [[s_parameters.join]]");
  }
}

/// Elements of S are named TO_FROM, which must tell them apart: "a_a_a" is that of a and a_a, or of
/// a_a and a.
void check_elements(const CaseOptions& o, Checks& checks) {
  std::vector<std::string> names;
  for (const PortOptions& p : o.ports)
    for (std::string& name : channel_names(p)) names.push_back(std::move(name));
  for (const PairOptions& p : o.scattering.pairs)
    names.insert(names.end(), {p.name + ".d", p.name + ".c"});
  for (const JoinOptions& join : o.scattering.joins)
    for (std::size_t k = 1; k <= join.ports.size(); ++k)
      names.push_back(join.name + "." + std::to_string(k));
  std::set<std::string> seen;
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) return;  // told already
  for (const std::string& to : names)
    for (const std::string& from : names)
      if (!seen.insert(to + "_" + from).second)
        return checks.say(667, "port",
                          "two elements of S would have one name, 'S_" + to + "_" + from + "'",
                          "leave out of a port's name the _ in front of another one's");
}

void check_derivatives(const CaseOptions& o, Checks& checks) {
  std::vector<std::string> names = parameter_names(o);
  if (o.read_again)
    for (const data::Parameter& p : o.use.parameters.all()) names.push_back(p.name);
  std::set<std::string> seen;
  for (std::size_t k = 0; k < o.scattering.derivatives.size(); ++k) {
    const std::string &name = o.scattering.derivatives[k],
                      key = item("s_parameters.derivatives", k);
    checks.known(key, name, names, "parameter or length of a named structure");
    checks.unique(key, name, seen);
  }
}

/// Transforms are taken per watt at the frequencies at which the waves are known.
void check_per_watt(const CaseOptions& o, Checks& checks) {
  if (o.scattering.per_watt == PerWatt::no) return;
  const std::vector<double> known = o.scattering.all_frequencies();
  for (std::size_t m = 0; m < o.monitors.size(); ++m)
    for (const double f : o.monitors[m].all_frequencies())
      if (o.monitors[m].kind != MonitorKind::resonances &&
          std::none_of(known.begin(), known.end(),
                       [&](double x) { return std::abs(x - f) <= 1e-9 * f; }))
        return checks.say(
            667, "s_parameters.per_watt",
            "the monitor '" + o.monitors[m].name + "' has a frequency at which no waves are known",
            "let it have frequencies of s_parameters alone");
}

/// S is told of runs that ports drive, and so is all that goes by its waves.
void check_told(const CaseOptions& o, Checks& checks) {
  if (!driven_names(o).empty()) return;
  const auto none = [&](const std::string& key, const char* what) {
    checks.say(667, key, std::string(what) + ", and a [[source]] drives the case, no port",
               "leave it out, or the sources: ports that no source drives are driven themselves");
  };
  if (o.scattering.per_watt != PerWatt::no)
    none("s_parameters.per_watt", "transforms are given for a watt at the port that drives");
  if (!o.scattering.derivatives.empty())
    none("s_parameters.derivatives", "S is what is differentiated");
  for (std::size_t i = 0; i < o.ports.size(); ++i)
    if (o.ports[i].shift != 0)
      none(item("port", i) + ".shift", "a shift moves the plane of S alone");
}

void check_excited(const CaseOptions& o, Checks& checks) {
  const std::vector<std::string>& excite = o.run.excite;
  if (excite.empty()) return;
  if (!o.sources.empty())
    return checks.say(667, "run.excite", "ports are driven alone, and there is a [[source]], too",
                      "leave the sources out, or run.excite");
  if (excite.size() == 1 && excite[0] == "all") return;
  std::vector<std::string> names;
  for (const PortOptions& p : o.ports)
    for (const std::string& name : channel_names(p)) names.push_back(name);
  std::set<std::string> seen;
  for (std::size_t k = 0; k < excite.size(); ++k) {
    checks.known(item("run.excite", k), excite[k], names, "port");
    checks.unique(item("run.excite", k), excite[k], seen);
  }
}

}  // namespace

std::size_t port_axis(const PortOptions& p) {
  const auto along =
      std::find_if(p.direction.begin(), p.direction.end(), [](double x) { return x != 0; });
  return static_cast<std::size_t>(along - p.direction.begin());
}

std::vector<std::string> driven_names(const CaseOptions& o) {
  std::vector<std::string> out;
  if (o.run.excite.empty() && !o.sources.empty()) return out;
  const bool all = o.run.excite.empty() || (o.run.excite.size() == 1 && o.run.excite[0] == "all");
  for (const PortOptions& p : o.ports)
    for (const std::string& name : channel_names(p))
      if (all ? !p.same_as : std::count(o.run.excite.begin(), o.run.excite.end(), name) > 0)
        out.push_back(name);
  return out;
}

void check_ports(const CaseOptions& o, Checks& checks) {
  if (o.ports.empty()) {
    if (!o.run.excite.empty())
      checks.say(667, "run.excite", "there is no port", "add one under [[port]]");
    if (!o.scattering.all_frequencies().empty())
      checks.say(667, "s_parameters", "there is no port", "add one under [[port]]");
    return;
  }
  std::set<std::string> seen;
  for (const MonitorOptions& m : o.monitors) seen.insert(m.name);
  for (std::size_t i = 0; i < o.ports.size(); ++i) {
    const PortOptions& p = o.ports[i];
    const std::string at = item("port", i);
    checks.unique(at + ".name", p.name, seen);
    if (p.name.empty() || p.name == "all" || p.name == scattering_name ||
        p.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                                 "WXYZ0123456789_-") != std::string::npos)
      checks.say(667, at + ".name",
                 "a name is made of letters, digits, _ and -, and is not 'all' or 's_parameters'");
    if (p.name.size() > kLongestPortName)
      checks.say(667, at + ".name", "a name has at most 60 letters", "shorten it");
    if (p.kind == PortKind::mode) check_guided(p, o.grid, at, checks);
    if (p.kind == PortKind::lumped) check_terminals(p, o.grid, at, checks);
    if (p.reactance != 0 && !p.impedance)
      checks.say(667, at + ".reactance", "an impedance has a real part, which is missing",
                 "give impedance, too");
    check_likeness(o, i, at, checks);
  }
  check_band(o.scattering, checks);
  check_networks_named(o, checks);
  check_elements(o, checks);
  check_per_watt(o, checks);
  check_derivatives(o, checks);
  check_excited(o, checks);
  check_told(o, checks);
}

}  // namespace tessera::apps::waves
