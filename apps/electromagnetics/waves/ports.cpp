// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/ports.h"

#include "electromagnetics/waves/case.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/exterior.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Of ports that are said to be alike, in what the grid makes of them.
constexpr double kAlike = 0.01;

em::Injection source_of(const Case& c, const PortChannel& channel, const em::Waveform& waveform) {
  switch (c.options.ports[channel.port].kind) {
    case PortKind::mode:
      return mode_port_source(c, channel, waveform);
    case PortKind::lumped:
      return lumped_port_source(c, channel, waveform);
  }
  return {};
}

/// Ports that are alike are so on the grid, too: their modes travel alike, their boxes are as long
/// and as wide.
void refuse_unlike(const Case& c, std::size_t port, const data::Config& config) {
  const PortOptions& o = c.options.ports[port];
  if (!o.same_as) return;
  std::size_t like = 0;
  while (c.options.ports[like].name != *o.same_as) ++like;
  const auto need = [&](const char* what, double own, double other) {
    if (std::abs(own - other) <= kAlike * std::abs(other)) return;
    refuse({config.error(667, c.ports[port].key + ".same_as",
                         fmt::format("on the grid '{}' has {} of {:.6g}, and '{}', whose waves are "
                                     "taken for its own, of {:.6g}",
                                     o.name, what, own, *o.same_as, other),
                         "let both ports and the cells at them be alike, or give both their own "
                         "runs")});
  };
  need("a number of ports like it in the whole (boundary.symmetry)", copies_of(c, port),
       copies_of(c, like));
  if (o.kind == PortKind::lumped) {
    const em::PlacedElement &own = c.elements[c.ports[port].lumped.element],
                            &other = c.elements[c.ports[like].lumped.element];
    need("a length (m)", own.length_m, other.length_m);
    need("a cross-section (m^2)", own.section_m2, other.section_m2);
    return;
  }
  const std::vector<double>& f = c.ports[port].monitor.frequencies;
  const auto index = [&](std::size_t p, double at) {
    return std::abs(em::modes_at(c.ports[p].mode.band, at).modes.front().index);
  };
  for (const double at : {f.front(), f.back()})
    need("a mode of the index", index(port, at), index(like, at));
}

/// A turn or mirroring that takes axes to axes and positions of ports to those of others.
struct PortTurn {
  std::array<std::size_t, 3> axis{0, 1, 2};
  std::array<double, 3> sign{1, 1, 1};
  Point shift{};

  Point of(const Point& p) const {
    Point out{};
    for (std::size_t d = 0; d < 3; ++d) out[axis[d]] = sign[d] * p[d];
    return out;
  }
  int changes() const {
    int out = 0;
    for (std::size_t d = 0; d < 3; ++d) out += axis[d] != d || sign[d] < 0;
    return out;
  }
};

/// All that take each port to that of the number `to`, of one that is lumped or of its direction.
std::vector<PortTurn> turns_of_ports(const Case& c, const std::vector<std::size_t>& to) {
  const std::vector<PortOptions>& ports = c.options.ports;
  double near = INFINITY;
  for (int d = 0; d < 3; ++d)
    if (c.grid.resolved(d)) near = std::min(near, c.grid.smallest_length(d) / 2);
  std::vector<PortTurn> out;
  PortTurn l;
  do {
    for (int signs = 0; signs < 8; ++signs) {
      bool fits = true;
      for (std::size_t d = 0; d < 3; ++d) {
        l.sign[d] = (signs >> d) & 1 ? -1 : 1;
        if (!c.grid.resolved(static_cast<int>(d))) fits = fits && l.axis[d] == d && l.sign[d] > 0;
      }
      const Point first = l.of(ports[0].position);
      for (std::size_t d = 0; d < 3; ++d) l.shift[d] = ports[to[0]].position[d] - first[d];
      for (std::size_t k = 0; k < ports.size() && fits; ++k) {
        const Point at = l.of(ports[k].position), way = l.of(ports[k].direction);
        const PortOptions& there = ports[to[k]];
        double along = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          fits = fits && std::abs(at[d] + l.shift[d] - there.position[d]) <= near;
          along += way[d] * there.direction[d];
        }
        fits = fits && (there.kind == PortKind::lumped ? along != 0 : along > 0);
      }
      if (fits) out.push_back(l);
    }
  } while (std::next_permutation(l.axis.begin(), l.axis.end()));
  return out;
}

/// The waves of a lumped port change their sign where the symmetry turns its direction round: of
/// all of them or of none. Of several symmetries that fit the places that counts which changes
/// least.
void warn_of_turned(Case& c, std::size_t port, const data::Config& config) {
  const PortOptions& o = c.options.ports[port];
  const std::vector<PortOptions>& ports = c.options.ports;
  if (o.order.empty()) return;
  std::vector<std::size_t> to;
  for (const std::string& name : o.order)
    to.push_back(static_cast<std::size_t>(
        std::find_if(ports.begin(), ports.end(), [&](const auto& p) { return p.name == name; }) -
        ports.begin()));
  const std::vector<PortTurn> all = turns_of_ports(c, to);
  int least = 4;
  for (const PortTurn& l : all) least = std::min(least, l.changes());
  std::string turned, kept;
  for (const PortTurn& l : all) {
    if (l.changes() != least) continue;
    turned.clear(), kept.clear();
    for (std::size_t k = 0; k < ports.size(); ++k) {
      if (ports[k].kind != PortKind::lumped) continue;
      const Point way = l.of(ports[k].direction);
      double along = 0;
      for (std::size_t d = 0; d < 3; ++d) along += way[d] * ports[to[k]].direction[d];
      (along < 0 ? turned : kept) = ports[k].name;
    }
    if (turned.empty() || kept.empty()) return;
  }
  if (turned.empty() || kept.empty()) return;
  c.warnings.push_back(warning(
      config, 669, c.ports[port].key + ".order",
      fmt::format("what takes '{}' to '{}' turns the direction of '{}' round and keeps that of "
                  "'{}': S between the two then has the other sign",
                  *o.same_as, o.name, turned, kept),
      "let the directions of ports that are alike be turned as the device is"));
}

void drive(Case& c, std::size_t channel, const data::Config& config) {
  const PortChannel& x = c.channels[channel];
  const CasePort& port = c.ports[x.port];
  const bool guided = c.options.ports[x.port].kind == PortKind::mode;
  CaseSource s{.options = {.kind = guided ? SourceKind::mode : SourceKind::plane,
                           .name = x.name,
                           .component = static_cast<Component>(port_axis(c.options.ports[x.port])),
                           .position = port.monitor.position,
                           .size = port.monitor.size,
                           .direction = c.options.ports[x.port].direction,
                           .mode = static_cast<int>(x.mode) + 1,
                           .index = c.options.ports[x.port].index,
                           .waveform = port_waveform(driven_band(c, x))},
               .key = port.key,
               .waveform = {}};
  s.waveform = make_waveform(s.options.waveform);
  s.spectrum = sampled_spectrum(c, s);
  if (guided) s.images = images_of(c, port.mode.plane);
  try {
    s.wave = source_of(c, x, s.waveform);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse({config.error(667, port.key, e.what(), "see the port's keys")});
  }
  c.excitations.push_back({channel, c.sources.size()});
  c.sources.push_back(std::move(s));
}

}  // namespace

std::vector<double> told_channels(const Case& c) {
  const std::size_t n = c.channels.size(),
                    frequencies = c.options.scattering.all_frequencies().size();
  std::vector<double> out(frequencies * n, 1.0);
  for (std::size_t k = 0; k < n; ++k) {
    const auto& reach = c.ports[c.channels[k].port].mode.reach;
    if (reach.empty()) continue;  // a lumped port
    for (std::size_t f = 0; f < frequencies; ++f) {
      const ModeReach here = reach[c.channels[k].mode][f];
      if (here == ModeReach::decays) out[f * n + k] = 0;
      if (here == ModeReach::near_cutoff)
        std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(f * n), n, 0.0);
    }
  }
  return out;
}

DrivenBand driven_band(const Case& c, const PortChannel& channel) {
  const std::vector<double> f = c.options.scattering.all_frequencies();
  const ModePort& p = c.ports[channel.port].mode;
  if (p.reach.empty()) return {f.front(), f.back()};
  const auto& reach = p.reach[channel.mode];
  const auto first = std::find(reach.begin(), reach.end(), ModeReach::travels);
  const auto last = std::find(reach.rbegin(), reach.rend(), ModeReach::travels);
  DrivenBand out{f[static_cast<std::size_t>(first - reach.begin())],
                 f[f.size() - 1 - static_cast<std::size_t>(last - reach.rbegin())]};
  // The last cut-off below and the first above.
  const auto& cutoffs = p.cutoffs_hz[channel.mode];
  const auto above = std::upper_bound(cutoffs.begin(), cutoffs.end(), out.high_hz),
             below = std::lower_bound(cutoffs.begin(), cutoffs.end(), out.low_hz);
  if (above != cutoffs.end()) out.high_hz = *above, out.to_cutoff = true;
  if (below != cutoffs.begin()) out.low_hz = *std::prev(below), out.from_cutoff = true;
  return out;
}

WaveformOptions port_waveform(const DrivenBand& band) {
  const double middle = (band.low_hz + band.high_hz) / 2;
  return {.kind = WaveformKind::gaussian,
          .frequency = middle,
          .bandwidth = std::max(band.high_hz - band.low_hz, 0.05 * middle)};
}

void make_ports(Case& c, const data::Config& config) {
  const CaseOptions& o = c.options;
  for (std::size_t p = 0; p < o.ports.size(); ++p) {
    c.ports.push_back({.key = fmt::format("port[{}]", p),
                       .monitor = {.kind = MonitorKind::mode,
                                   .name = o.ports[p].name,
                                   .position = o.ports[p].position,
                                   .size = o.ports[p].size,
                                   .frequencies = o.scattering.all_frequencies()},
                       .mode = {}});
    switch (o.ports[p].kind) {
      case PortKind::mode:
        make_mode_port(c, p, config);
        break;
      case PortKind::lumped:
        make_lumped_port(c, p, config);
    }
    const std::vector<std::string> names = channel_names(o.ports[p]);
    for (std::size_t m = 0; m < names.size(); ++m) c.channels.push_back({names[m], p, m});
  }
  for (std::size_t p = 0; p < o.ports.size(); ++p) {
    refuse_unlike(c, p, config);
    warn_of_turned(c, p, config);
  }
  refuse_common_guides(c, config);
  if (!c.channels.empty()) warn_of_tails(c, config);
  const std::vector<std::string> driven = driven_names(o);
  for (std::size_t k = 0; k < c.channels.size(); ++k)
    if (std::find(driven.begin(), driven.end(), c.channels[k].name) != driven.end())
      drive(c, k, config);
}

}  // namespace tessera::apps::waves
