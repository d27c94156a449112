// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/ports.h"

#include "electromagnetics/waves/case.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/likeness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

em::Injection source_of(const Case& c, const PortChannel& channel, const em::Waveform& waveform) {
  switch (c.options.ports[channel.port].kind) {
    case PortKind::mode:
      return mode_port_source(c, channel, waveform);
    case PortKind::lumped:
      return lumped_port_source(c, channel, waveform);
  }
  return {};
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
  make_likenesses(c, config);
  refuse_common_guides(c, config);
  if (!c.channels.empty()) warn_of_tails(c, config);
  const std::vector<std::string> driven = driven_names(o);
  for (std::size_t k = 0; k < c.channels.size(); ++k)
    if (std::find(driven.begin(), driven.end(), c.channels[k].name) != driven.end())
      drive(c, k, config);
}

}  // namespace tessera::apps::waves
