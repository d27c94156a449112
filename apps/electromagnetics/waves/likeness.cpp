// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/likeness.h"

#include "electromagnetics/waves/case.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/exterior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <string>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Of ports that are said to be alike, in what the grid makes of them.
constexpr double kAlike = 0.01;
/// Of a mode, in amplitude, that the turned mode of another port has to be.
constexpr double kOneMode = 0.7;
/// Points at which the media of the scene are compared with those of where a turn takes them.
constexpr int kPoints = 4096;

std::size_t number_of(const CaseOptions& o, const std::string& name) {
  return static_cast<std::size_t>(
      std::find_if(o.ports.begin(), o.ports.end(),
                   [&](const PortOptions& p) { return p.name == name; }) -
      o.ports.begin());
}

/// The number of the line (or middle) of an axis that is nearest to a place; -1 more than half a
/// cell outside of it.
int nearest(const em::YeeGrid& grid, int axis, bool middle, double at) {
  if (!grid.resolved(axis)) return 0;
  const std::vector<double>& lines = grid.lines[static_cast<std::size_t>(axis)];
  const int n = grid.cells(axis);
  if (at < lines.front() - grid.length(axis, 0) / 2 ||
      at > lines.back() + grid.length(axis, n - 1) / 2)
    return -1;
  const auto above =
      static_cast<int>(std::upper_bound(lines.begin(), lines.end(), at) - lines.begin());
  const int cell = std::clamp(above - 1, 0, n - 1);
  if (middle) return cell;
  return at - lines[static_cast<std::size_t>(cell)] < lines[static_cast<std::size_t>(cell) + 1] - at
             ? cell
             : cell + 1;
}

/// Half the smallest cell.
double near_of(const em::YeeGrid& grid) {
  double out = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (grid.resolved(d)) out = std::min(out, grid.smallest_length(d) / 2);
  return out;
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

/// Whether `l`, whose shift is found, takes each port to that of the number `to`, of one that is
/// lumped or of its direction.
bool fits_ports(const Case& c, const std::vector<std::size_t>& to, GridTurn& l) {
  const std::vector<PortOptions>& ports = c.options.ports;
  const double near = near_of(c.grid);
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
      if (std::abs(shift - l.shift[t]) > near) return false;
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

/// 1 or -1: the mode of a port, turned, beside that of another one; 0 where it is another mode.
double sign_of_mode(const em::YeeGrid& grid, const GridTurn& l, int axis, const em::GridModes& of,
                    const em::GridModes& to, std::size_t mode) {
  using Place = std::array<int, 4>;
  const auto place = [&](const em::Edge& e) {
    Place out{e.component, e.i, e.j, e.k};
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
            nearest(grid, d, em::at_middle(component, d), at[static_cast<std::size_t>(d)]);
    if (const auto found = number.find(p); found != number.end())
      e[k] = l.sign[from] * of.modes[mode].e[found->second] / of.e_scale[found->second] *
             to.e_scale[k];
  }
  const em::GridMode& n = to.modes[mode];
  const double part = (em::mode_product(to, e, n.h) / em::mode_product(to, n.e, n.h)).real();
  return std::abs(part) < kOneMode ? 0 : part > 0 ? 1 : -1;
}

/// [channel] by a turn, that of the first channel 1; nothing where it takes modes to others.
std::optional<std::vector<double>> signs_by(const Case& c, const std::vector<std::size_t>& to,
                                            const GridTurn& l,
                                            const std::vector<em::GridModes>& modes) {
  std::vector<double> out;
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
    if (sign == 0) return {};
    out.push_back(sign);
  }
  for (std::size_t k = out.size(); k-- > 0;) out[k] *= out[0];
  return out;
}

/// Which part of points of the scene a turn takes to another medium; 1 where none stays inside.
double unlike_part(const Case& c, const GridTurn& l) {
  const em::SceneOrder scene(c.scene);
  int inside = 0, other = 0;
  for (int k = 1; k <= kPoints; ++k) {
    Point r{};
    bool in = true;
    for (std::size_t d = 0; d < 3; ++d) {  // Halton's points
      double x = 0, part = 1;
      const int base = std::array{2, 3, 5}[d];
      for (int n = k; n > 0; n /= base) part /= base, x += part * (n % base);
      const std::vector<double>& lines = c.grid.lines[d];
      r[d] = lines.front() + x * (lines.back() - lines.front());
    }
    const Point to = l.of(r);
    for (std::size_t d = 0; d < 3; ++d)
      in = in && to[d] >= c.grid.lines[d].front() && to[d] <= c.grid.lines[d].back();
    if (!in) continue;
    ++inside;
    other += em::medium_at(scene, r) != em::medium_at(scene, to);
  }
  return inside == 0 ? 1 : static_cast<double>(other) / inside;
}

/// Signs of lumped ports that all run along one axis, about which they may be turned by any angle,
/// as three at the corners of a triangle are: their distances stay. False where it is not so.
bool find_signs_of_lumped(const Case& c, const std::vector<std::size_t>& to, Likeness& out) {
  const std::vector<PortOptions>& ports = c.options.ports;
  const std::size_t axis = port_axis(ports[0]);
  const double near = near_of(c.grid);
  const auto apart = [&](std::size_t p, std::size_t q) {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d)
      sum += std::pow(ports[p].position[d] - ports[q].position[d], 2);
    return std::sqrt(sum);
  };
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (ports[p].kind != PortKind::lumped || port_axis(ports[p]) != axis) return false;
    if (std::abs(ports[p].position[axis] - ports[to[p]].position[axis]) > near) return false;
    for (std::size_t q = 0; q < p; ++q)
      if (std::abs(apart(p, q) - apart(to[p], to[q])) > near) return false;
  }
  for (std::size_t p = 0; p < ports.size(); ++p)
    out.sign.push_back(ports[p].direction[axis] * ports[to[p]].direction[axis] < 0 ? -1 : 1);
  return true;
}

/// The turns that take ports and modes to those of `to`, and the signs of channels. Where several
/// fit with other signs those count by which the scene comes to itself: if it does by two of them,
/// channels whose signs differ see nothing of each other.
void find_turns(const Case& c, const std::vector<std::size_t>& to, Likeness& out) {
  std::vector<em::GridModes> modes;  // [port]
  for (const CasePort& p : c.ports) {
    const em::ModeBand& band = p.mode.band;
    modes.push_back(band.at.empty() ? em::GridModes{} : band.at[band.at.size() / 2]);
  }
  std::vector<std::pair<GridTurn, std::vector<double>>> all;
  GridTurn l;
  do {
    for (int signs = 0; signs < 8; ++signs) {
      for (std::size_t d = 0; d < 3; ++d) l.sign[d] = (signs >> d) & 1 ? -1 : 1;
      if (!fits_ports(c, to, l)) continue;
      if (auto sign = signs_by(c, to, l, modes)) all.emplace_back(l, std::move(*sign));
    }
  } while (std::next_permutation(l.axis.begin(), l.axis.end()));
  if (all.empty()) return;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.first.changes() < b.first.changes();
  });
  const auto other = [&](const auto& x) { return x.second != all.front().second; };
  auto best = all.begin();
  if (std::any_of(all.begin(), all.end(), other)) {
    std::vector<double> apart;
    for (const auto& [turn, sign] : all) apart.push_back(unlike_part(c, turn));
    best += std::min_element(apart.begin(), apart.end()) - apart.begin();
  }
  out.sign = best->second;
  for (const auto& [turn, sign] : all)
    if (sign == out.sign) out.turns.push_back(turn);
}

}  // namespace

Point GridTurn::turned(const Point& v) const {
  Point out{};
  for (std::size_t d = 0; d < 3; ++d) out[axis[d]] = sign[d] * v[d];
  return out;
}
Point GridTurn::of(const Point& r) const {
  Point out = turned(r);
  for (std::size_t d = 0; d < 3; ++d) out[d] += shift[d];
  return out;
}
Point GridTurn::back(const Point& r) const {
  Point out{};
  for (std::size_t d = 0; d < 3; ++d) out[d] = sign[d] * (r[axis[d]] - shift[axis[d]]);
  return out;
}
int GridTurn::changes() const {
  int out = 0;
  for (std::size_t d = 0; d < 3; ++d) out += axis[d] != d || sign[d] < 0;
  return out;
}
std::optional<em::Edge> GridTurn::of(const em::YeeGrid& grid, const em::Edge& e) const {
  const Point at = of(grid.position(e));
  const std::size_t along = axis[static_cast<std::size_t>(em::axis_of(e.component))];
  const int component = static_cast<int>(along) + (em::is_electric(e.component) ? 0 : 3);
  int to[3];
  for (int d = 0; d < 3; ++d) {
    to[d] = nearest(grid, d, em::at_middle(component, d), at[static_cast<std::size_t>(d)]);
    if (to[d] < 0) return {};
  }
  return em::Edge{static_cast<std::uint8_t>(component), to[0], to[1], to[2]};
}

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
  for (std::size_t p = 0; p < o.ports.size(); ++p) {
    if (!o.ports[p].same_as) continue;
    const std::vector<std::size_t> to = places_of(o, p);
    for (std::size_t q = 0; q < to.size(); ++q)
      if (to[q] != q) refuse_unlike(c, p, to[q], q, config);
    Likeness out{p, number_of(o, *o.ports[p].same_as), {}, {}, {}};
    for (const PortChannel& x : c.channels) out.place.push_back(begin[to[x.port]] + x.mode);
    find_turns(c, to, out);
    if (out.turns.empty() && !find_signs_of_lumped(c, to, out)) {
      if (to.size() > 2)
        refuse({config.error(
            667, c.ports[p].key + ".order",
            "no turn or mirroring takes the ports and their modes to each other in this order",
            "let the ports that change places, and the cells at them, lie as the device is turned, "
            "or give '" +
                o.ports[p].name + "' its own run")});
      out.sign.assign(c.channels.size(), 1);  // what is reciprocal has S_12 = S_21
    }
    c.likenesses.push_back(std::move(out));
  }
}

}  // namespace tessera::apps::waves
