// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/likeness.h"

#include "electromagnetics/waves/case.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/turned_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Of ports that are said to be alike, in what the grid makes of them.
constexpr double kAlike = 0.01;
/// Of a mode, in amplitude, that the turned mode of another port has to be.
constexpr double kOneMode = 0.7;
/// Phases that are the same, rad.
constexpr double kPhase = 1e-9;
/// A turn is taken for that of a device that no one keeps if others leave so many times more of it
/// elsewhere.
constexpr double kBetter = 10;

using Factors = std::vector<std::complex<double>>;

std::size_t number_of(const CaseOptions& o, const std::string& name) {
  return static_cast<std::size_t>(
      std::find_if(o.ports.begin(), o.ports.end(),
                   [&](const PortOptions& p) { return p.name == name; }) -
      o.ports.begin());
}

/// Ports that are alike are so on the grid, too: their modes travel alike, their boxes are as long
/// and as wide.
void refuse_unlike(const Case& c, std::size_t port, std::size_t own_port, std::size_t other_port,
                   const data::Config& config) {
  const PortOptions &o = c.options.ports[own_port], &q = c.options.ports[other_port];
  const auto need = [&](const char* what, double own, double other) {
    if (std::abs(own - other) <= kAlike * std::abs(other)) return;
    refuse({config.error(667, c.ports[port].key + ".same_as",
                         fmt::format("on the grid '{}' has {} of {:.6g}, and '{}', whose waves are "
                                     "taken for its own, of {:.6g}",
                                     o.name, what, own, q.name, other),
                         "let both ports and the cells at them be alike, or give both their own "
                         "runs")});
  };
  need("a number of ports like it in the whole (boundary.symmetry)", copies_of(c, own_port),
       copies_of(c, other_port));
  if (o.kind == PortKind::lumped) {
    const CasePort &a = c.ports[own_port], &b = c.ports[other_port];
    const em::PlacedElement &own = c.elements[a.lumped.element],
                            &other = c.elements[b.lumped.element];
    need("a length (m)", own.length_m, other.length_m);
    need("a cross-section (m^2)", own.section_m2, other.section_m2);
    return;
  }
  const std::vector<double>& f = c.ports[own_port].monitor.frequencies;
  const auto index = [&](std::size_t p, double at, std::size_t mode) {
    return std::abs(em::modes_at(c.ports[p].mode.band, at).modes[mode].index);
  };
  for (const double at : {f.front(), f.back()})
    for (std::size_t m = 0; m < static_cast<std::size_t>(o.modes); ++m)
      need("a mode of the index", index(own_port, at, m), index(other_port, at, m));
}

/// Whether a port's place along an axis says where it is: a mode's plane may go across all of it.
bool is_placed(const Case& c, const PortOptions& p, std::size_t axis) {
  return c.grid.resolved(static_cast<int>(axis)) &&
         (p.kind == PortKind::lumped || p.size || axis == port_axis(p));
}

/// Whether fields go through joined faces with a phase.
bool has_phase(const Case& c) { return c.bloch_k != Point{}; }

/// Whether joined faces, and the phases between them, come to such.
bool fits_faces(const Case& c, GridTurn& l) {
  const std::array<double, 3> phase = bloch_phase(c);
  const auto joined = [&](std::size_t d) {
    return c.grid.resolved(static_cast<int>(d)) && c.faces[d].low == em::Boundary::periodic;
  };
  const auto length = [&](std::size_t d) {
    return c.grid.lines[d].back() - c.grid.lines[d].front();
  };
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t t = l.axis[d];
    if (joined(d) != joined(t)) return false;
    l.low[t] = c.grid.lines[t].front(), l.period[t] = joined(t) ? length(t) : 0;
    if (!joined(d)) continue;
    if (std::abs(length(d) - length(t)) > half_smallest_cell(c.grid)) return false;
    if (std::abs(std::remainder(l.sign[d] * phase[d] - phase[t], 2 * std::numbers::pi)) > kPhase)
      return false;
  }
  return true;
}

/// Whether `l`, whose shift is found, takes each port to that of the number `to`, of one that is
/// lumped or of its direction.
bool fits_ports(const Case& c, const std::vector<std::size_t>& to, GridTurn& l) {
  const std::vector<PortOptions>& ports = c.options.ports;
  const double near = half_smallest_cell(c.grid);
  if (!fits_faces(c, l)) return false;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t t = l.axis[d];
    if (!c.grid.resolved(static_cast<int>(d)) || !c.grid.resolved(static_cast<int>(t))) {
      if (t != d || l.sign[d] < 0) return false;
      l.shift[t] = 0;
      continue;
    }
    const std::vector<double>&from = c.grid.lines[d], &lines = c.grid.lines[t];
    l.shift[t] = (lines.front() + lines.back() - l.sign[d] * (from.front() + from.back())) / 2;
    bool found = false;
    for (std::size_t k = 0; k < ports.size(); ++k) {
      const PortOptions &p = ports[k], &there = ports[to[k]];
      if (!is_placed(c, p, d) || !is_placed(c, there, t)) continue;
      const double shift = there.position[t] - l.sign[d] * p.position[d];
      if (!found) l.shift[t] = shift;
      if (l.apart(t, shift, l.shift[t]) > near) return false;
      found = true;
    }
  }
  for (std::size_t k = 0; k < ports.size(); ++k) {
    const Point way = l.turned(ports[k].direction);
    double along = 0;
    for (std::size_t d = 0; d < 3; ++d) along += way[d] * ports[to[k]].direction[d];
    if (ports[k].kind == PortKind::lumped ? along == 0 : !(along > 0)) return false;
  }
  return true;
}

/// What the field at a port is multiplied by where it comes through joined faces to that of the
/// other one; nothing where its plane lies across such faces, and is moved along them.
std::optional<std::complex<double>> phase_through(const Case& c, const GridTurn& l,
                                                  const PortOptions& p, const PortOptions& there) {
  const std::array<double, 3> phase = bloch_phase(c);
  double out = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t t = l.axis[d];
    if (phase[t] == 0) continue;
    if (!is_placed(c, p, d)) {
      if (t != d || l.sign[d] < 0 || l.apart(t, l.shift[t], 0) > half_smallest_cell(c.grid))
        return {};
      continue;
    }
    const double image = l.sign[d] * p.position[d] + l.shift[t];
    out += phase[t] * std::round((image - there.position[t]) / l.period[t]);
  }
  return std::polar(1.0, out);
}

/// 1 or -1: the mode of a port, turned, beside that of another one; 0 where it is another mode.
double sign_of_mode(const em::YeeGrid& grid, const GridTurn& l, int axis, const em::GridModes& of,
                    const em::GridModes& to, std::size_t mode) {
  using Place = std::array<int, 4>;
  const auto place = [&](const em::Edge& e) {
    Place out{e.component, e.i, e.j, e.k};
    for (std::size_t d = 0; d < 3; ++d)
      if (l.period[d] > 0 && out[d + 1] == grid.cells(static_cast<int>(d))) out[d + 1] = 0;
    out[static_cast<std::size_t>(axis) + 1] = 0;  // the plane
    return out;
  };
  std::map<Place, std::size_t> number;
  for (std::size_t k = 0; k < of.e.size(); ++k) number[place(of.e[k])] = k;
  std::vector<std::complex<double>> e(to.e.size());
  for (std::size_t k = 0; k < e.size(); ++k) {
    const Point at = l.back(grid.position(to.e[k]));
    std::size_t from = 0;  // the axis that it has been turned from
    while (l.axis[from] != static_cast<std::size_t>(em::axis_of(to.e[k].component))) ++from;
    const int component = static_cast<int>(from);
    Place p{component, 0, 0, 0};
    for (int d = 0; d < 3; ++d)
      if (d != axis)
        p[static_cast<std::size_t>(d) + 1] =
            nearest_place(grid, d, em::at_middle(component, d), at[static_cast<std::size_t>(d)],
                          l.period[static_cast<std::size_t>(d)] > 0);
    if (const auto found = number.find(p); found != number.end())
      e[k] = l.sign[from] * of.modes[mode].e[found->second] / of.e_scale[found->second] *
             to.e_scale[k];
  }
  const em::GridMode& n = to.modes[mode];
  const double part = (em::mode_product(to, e, n.h) / em::mode_product(to, n.e, n.h)).real();
  return std::abs(part) < kOneMode ? 0 : part > 0 ? 1 : -1;
}

/// [channel] by a turn, that of the first channel 1; nothing where it takes modes to others.
std::optional<Factors> factors_by(const Case& c, const std::vector<std::size_t>& to,
                                  const GridTurn& l, const std::vector<em::GridModes>& modes) {
  Factors out;
  for (const PortChannel& x : c.channels) {
    const PortOptions &p = c.options.ports[x.port], &q = c.options.ports[to[x.port]];
    double sign = 0;
    if (p.kind == PortKind::mode) {
      sign = sign_of_mode(c.grid, l, c.ports[x.port].mode.plane.axis, modes[x.port],
                          modes[to[x.port]], x.mode);
    } else {
      const Point way = l.turned(p.direction);
      for (std::size_t d = 0; d < 3; ++d) sign += way[d] * q.direction[d];
      sign = sign < 0 ? -1 : 1;
    }
    const auto phase = phase_through(c, l, p, q);
    if (sign == 0 || !phase) return {};
    out.push_back(sign * *phase);
  }
  for (std::size_t k = out.size(); k-- > 0;) out[k] /= out[0];
  return out;
}

bool same(const Factors& a, const Factors& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (std::abs(a[k] - b[k]) > 2 * kPhase) return false;
  return true;
}

/// Factors of lumped ports that all run along one axis, about which they may be turned by any
/// angle, as three at the corners of a triangle are: their distances stay. False where it is not
/// so.
bool find_factors_of_lumped(const Case& c, const std::vector<std::size_t>& to, Likeness& out) {
  const std::vector<PortOptions>& ports = c.options.ports;
  const std::size_t axis = port_axis(ports[0]);
  const double near = half_smallest_cell(c.grid);
  GridTurn none;
  if (has_phase(c) || !fits_faces(c, none)) return false;
  const auto apart = [&](std::size_t p, std::size_t q) {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d)
      sum += std::pow(none.apart(d, ports[p].position[d], ports[q].position[d]), 2);
    return std::sqrt(sum);
  };
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (ports[p].kind != PortKind::lumped || port_axis(ports[p]) != axis) return false;
    if (std::abs(ports[p].position[axis] - ports[to[p]].position[axis]) > near) return false;
    for (std::size_t q = 0; q < p; ++q)
      if (std::abs(apart(p, q) - apart(to[p], to[q])) > near) return false;
  }
  for (std::size_t p = 0; p < ports.size(); ++p)
    out.factor.push_back(ports[p].direction[axis] * ports[to[p]].direction[axis] < 0 ? -1 : 1);
  return true;
}

/// The turns that take ports and modes to those of `to`, those that change least first.
std::vector<Likeness::Turn> turns_of_ports(const Case& c, const std::vector<std::size_t>& to) {
  std::vector<em::GridModes> modes;  // [port]
  for (const CasePort& p : c.ports) {
    const em::ModeBand& band = p.mode.band;
    modes.push_back(band.at.empty() ? em::GridModes{} : band.at[band.at.size() / 2]);
  }
  std::vector<Likeness::Turn> out;
  GridTurn l;
  do {
    for (int signs = 0; signs < 8; ++signs) {
      for (std::size_t d = 0; d < 3; ++d) l.sign[d] = (signs >> d) & 1 ? -1 : 1;
      if (!fits_ports(c, to, l)) continue;
      if (auto factor = factors_by(c, to, l, modes)) out.push_back({l, std::move(*factor)});
    }
  } while (std::next_permutation(l.axis.begin(), l.axis.end()));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.turn.changes() < b.turn.changes();
  });
  return out;
}

struct Judged {
  Likeness::Turn by;
  Unlike unlike;
};

std::string describe(const Unlike& u) {
  if (u.part > 0)
    return fmt::format(
        "takes {:.2g} % of what bodies, sheets and elements are on the grid to something else",
        100 * u.part);
  return u.beyond_cells ? "takes walls or wires to other places"
                        : "is not compared with the media of so many cells";
}

/// Of turns of the ports those that take the device to itself. If two do, one after the other's
/// inverse is a symmetry that keeps all ports: channels whose factors differ see nothing of each
/// other. Where none does, that counts which leaves least of it elsewhere.
void choose_turns(Case& c, const std::vector<Likeness::Turn>& all, const TurnedDevice& device,
                  Likeness& out, const data::Config& config) {
  std::vector<Judged> judged;
  for (const Likeness::Turn& t : all) judged.push_back({t, device.unlike(t.turn)});
  std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
    return std::pair(a.unlike.beyond_cells, a.unlike.part) <
           std::pair(b.unlike.beyond_cells, b.unlike.part);
  });
  const Judged best = judged.front();
  const std::string name = c.options.ports[out.port].name, at = c.ports[out.port].key;
  // Of two channels nothing but S_12 = S_21 has a sign.
  const bool one_sign = c.channels.size() <= 2 && !has_phase(c);
  if (!best.unlike.none()) {
    for (const Judged& x : judged)
      if (!one_sign && !same(x.by.factor, best.by.factor) &&
          x.unlike.beyond_cells == best.unlike.beyond_cells &&
          x.unlike.part <= kBetter * best.unlike.part)
        refuse({config.error(
            667, at + ".same_as",
            "turns that take the ports to each other give other signs of S, and none of them takes "
            "all of the device, its bodies, sheets, wires, loads and walls, to itself",
            "let the device and its cells be as its turn has them, or give '" + name +
                "' its own run")});
    c.warnings.push_back(warning(
        config, 669, at + ".same_as",
        fmt::format(
            "the turn or mirroring that takes the ports to each other {}: S of '{}' is that "
            "of '{}' as far as this does not matter",
            describe(best.unlike), name, c.options.ports[out.like].name),
        "let bodies, sheets, wires, loads, walls and cells be alike, or give '" + name +
            "' its own run"));
  }
  out.factor = one_sign ? Factors(c.channels.size(), 1) : best.by.factor;
  for (const Judged& x : judged)
    if (best.unlike.none() ? x.unlike.none() : same(x.by.factor, best.by.factor))
      out.turns.push_back(x.by);
}

/// What is left to ports that no turn takes to each other.
void take_without_turn(Case& c, const std::vector<std::size_t>& to, Likeness& out,
                       const data::Config& config) {
  const std::string name = c.options.ports[out.port].name, at = c.ports[out.port].key;
  const bool lumped = find_factors_of_lumped(c, to, out);
  if (!lumped && (to.size() > 2 || c.channels.size() > 2 || has_phase(c)))
    refuse({config.error(
        667, at + (to.size() > 2 ? ".order" : ".same_as"),
        has_phase(c)
            ? "no turn or mirroring that keeps the phase of joined faces (boundary.bloch_k, "
              "bloch_phase) takes the ports and their modes to each other"
            : "no turn or mirroring takes the ports and their modes to each other in this "
              "order",
        "let the ports that change places, and the cells at them, lie as the device is turned, "
        "or give '" +
            name + "' its own run")});
  if (!lumped) out.factor.assign(c.channels.size(), 1);  // what is reciprocal has S_12 = S_21
  c.warnings.push_back(warning(
      config, 669, at + ".same_as",
      fmt::format("no turn or mirroring of the grid takes the ports to each other{}: that '{}' "
                  "looks into the device as '{}' does is taken as it is said",
                  lumped ? ", only a turn by another angle" : "", name,
                  c.options.ports[out.like].name),
      "let it be so, or give '" + name + "' its own run"));
}

}  // namespace

std::vector<std::size_t> places_of(const CaseOptions& o, std::size_t port) {
  std::vector<std::size_t> out;
  for (std::size_t p = 0; p < o.ports.size(); ++p) out.push_back(p);
  const PortOptions& own = o.ports[port];
  if (own.order.empty())
    std::swap(out[port], out[number_of(o, *own.same_as)]);
  else
    for (std::size_t p = 0; p < out.size(); ++p) out[p] = number_of(o, own.order[p]);
  return out;
}

void make_likenesses(Case& c, const data::Config& config) {
  const CaseOptions& o = c.options;
  std::vector<std::size_t> begin;  // [port] its first channel
  for (std::size_t k = 0; k < c.channels.size(); ++k)
    if (c.channels[k].mode == 0) begin.push_back(k);
  std::optional<TurnedDevice> device;
  for (std::size_t p = 0; p < o.ports.size(); ++p) {
    if (!o.ports[p].same_as) continue;
    const std::vector<std::size_t> to = places_of(o, p);
    for (std::size_t q = 0; q < to.size(); ++q)
      if (to[q] != q) refuse_unlike(c, p, to[q], q, config);
    Likeness out{p, number_of(o, *o.ports[p].same_as), {}, {}, {}};
    for (const PortChannel& x : c.channels) out.place.push_back(begin[to[x.port]] + x.mode);
    if (const std::vector<Likeness::Turn> turns = turns_of_ports(c, to); turns.empty()) {
      take_without_turn(c, to, out, config);
    } else {
      if (!device) device.emplace(c);
      choose_turns(c, turns, *device, out, config);
    }
    c.likenesses.push_back(std::move(out));
  }
}

}  // namespace tessera::apps::waves
