// SPDX-License-Identifier: Apache-2.0
// Ports that are modes of a guide.
#include "electromagnetics/waves/case.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/loads.h"
#include "electromagnetics/waves/mode_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <optional>
#include <set>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Cells at both sides of the plane in which the guide may not change: in those before and behind
/// it waves are taken, and one line behind it a pulse starts, with a cell at both sides.
constexpr int kEven = 2;
/// Of a mode's largest field, beside a wall that its guide does not have.
constexpr double kFallen = 1e-3;
/// Ports whose modes are that much alike, in amplitude, are of one guide. Tails of guides side by
/// side are less.
constexpr double kOneGuide = 0.1;

/// Cells from the plane to the layer behind it; nothing where there is none.
std::optional<int> cells_to_layer(const Case& c, const ModePort& p) {
  const bool high = p.step < 0;  // the device is on the low side
  const int layer = layer_cells(c, p.plane.axis, high);
  if (layer == 0) return {};
  return high ? c.grid.cells(p.plane.axis) - layer - p.plane.line : p.plane.line - layer;
}

void check_guide(const Case& c, const em::YeeModel& model, const CasePort& port,
                 const data::Config& config) {
  const ModePort& p = port.mode;
  const char axis = "xyz"[p.plane.axis];
  const char* const behind = p.step > 0 ? "low" : "high";
  const std::optional<int> layer = cells_to_layer(c, p);
  if (!layer)
    refuse(
        {config.error(667, port.key + ".direction",
                      fmt::format("the guide runs into no layer behind the port: {} is a wall",
                                  fmt::format("boundary.{}_{}", axis, behind)),
                      fmt::format("waves that leave have to go somewhere: boundary.{}_{} = \"pml\"",
                                  axis, behind))});
  if (*layer < kEven)
    refuse({config.error(
        667, port.key + ".position",
        *layer < 0
            ? std::string("the port lies within the absorbing layer behind it")
            : fmt::format("there are {} cells between the port and the layer behind it", *layer),
        "leave two cells or more: move it into the domain, or enlarge grid.size")});
  const int ahead = em::even_cells(model, p.plane, p.step, kEven),
            back = em::even_cells(model, p.plane, -p.step, *layer);
  if (ahead < kEven || back < kEven)
    refuse({config.error(
        667, port.key + ".position",
        fmt::format("the guide changes within two cells of the port, {} it",
                    ahead < kEven ? "ahead of" : "behind"),
        "move the port to where the guide goes on as it is for two cells at both sides")});
  if (back < *layer)
    refuse({config.error(
        667, port.key + ".position",
        fmt::format("the guide changes {} cells behind the port, before it runs into the layer "
                    "after {}",
                    back, *layer),
        "let the guide go on into the layer as it is at the port")});
}

/// Whether there is metal behind a wall of the window, beside an edge.
bool is_metal(const Case& c, const em::SceneOrder& scene, const em::Edge& e, int axis, int line,
              bool high) {
  Point at = c.grid.position(e);
  const auto d = static_cast<std::size_t>(axis);
  const double wall = c.grid.lines[d][static_cast<std::size_t>(line)];
  at[d] = wall + (high ? 0.01 : -0.01) * c.grid.length(axis, high ? line : line - 1);
  return c.media[static_cast<std::size_t>(em::medium_at(scene, at))].pec;
}

/// The largest |e| within a cell of walls of the window that stand within the domain and that no
/// metal is behind, over the largest.
double at_walls(const Case& c, const ModePort& p, const em::GridModes& g,
                const em::GridMode& mode) {
  double most = 0, beside = 0;
  const em::SceneOrder scene(c.scene);
  for (std::size_t k = 0; k < g.e.size(); ++k) {
    const double size = std::abs(mode.e[k]) / g.e_scale[k];
    most = std::max(most, size);
    const int at[3] = {g.e[k].i, g.e[k].j, g.e[k].k};
    for (std::size_t q = 0; q < 2; ++q) {
      const int d = (p.plane.axis + 1 + static_cast<int>(q)) % 3, low = p.plane.low[q],
                high = p.plane.high[q];
      const bool middle = em::at_middle(g.e[k].component, d);
      const bool by_low = low > 0 && at[d] <= low + (middle ? 0 : 1),
                 by_high = high >= 0 && high < c.grid.cells(d) && at[d] >= high - 1;
      if ((by_low && !is_metal(c, scene, g.e[k], d, low, false)) ||
          (by_high && !is_metal(c, scene, g.e[k], d, high, true)))
        beside = std::max(beside, size);
    }
  }
  return most > 0 ? beside / most : 0;
}

bool travels(const std::complex<double>& beta) {
  return std::abs(beta.imag()) < std::abs(beta.real());
}

/// Where the modes travel in the band, and their cut-offs there.
void find_reach(ModePort& p, const std::vector<double>& frequencies) {
  std::vector<std::vector<std::complex<double>>> beta(p.band.at.front().modes.size());
  for (const double f : frequencies) {
    const em::GridModes at = em::modes_at(p.band, f);
    for (std::size_t m = 0; m < beta.size(); ++m) beta[m].push_back(at.modes[m].beta);
  }
  for (std::size_t m = 0; m < beta.size(); ++m) {
    const std::vector<double>& cutoffs =
        p.cutoffs_hz.emplace_back(em::cutoffs(p.band, m, frequencies.front() / (1 + cutoff_margin),
                                              frequencies.back() / (1 - cutoff_margin)));
    std::vector<ModeReach>& reach = p.reach.emplace_back();
    for (std::size_t k = 0; k < frequencies.size(); ++k) {
      const bool near = std::any_of(cutoffs.begin(), cutoffs.end(), [&](double cutoff) {
        return std::abs(frequencies[k] - cutoff) < cutoff_margin * cutoff;
      });
      reach.push_back(near                  ? ModeReach::near_cutoff
                      : travels(beta[m][k]) ? ModeReach::travels
                                            : ModeReach::decays);
    }
  }
}

/// Below its cut-off a mode comes back from the end of its guide, behind the layer, by more than
/// this.
constexpr double kTail = 0.01;

void check_reach(Case& c, const CasePort& port, std::size_t mode, const std::string& key,
                 const data::Config& config) {
  const std::vector<ModeReach>& reach = port.mode.reach[mode];
  const std::vector<double>& f = port.monitor.frequencies;
  std::vector<double> told;
  for (std::size_t k = 0; k < f.size(); ++k)
    if (reach[k] == ModeReach::travels) told.push_back(f[k]);
  if (told.empty())
    refuse({config.error(
        667, key, fmt::format("mode {} travels nowhere in the band of s_parameters", mode + 1),
        "ask for fewer modes, or a band above its cut-off")});
  if (told.size() == f.size()) return;
  std::string cutoffs;
  for (const double x : port.mode.cutoffs_hz[mode])
    cutoffs += fmt::format("{}{:.6g} Hz", cutoffs.empty() ? ", cut off at " : " and ", x);
  c.warnings.push_back(warning(
      config, 669, key,
      fmt::format(
          "mode {}{}: S of it is told at {} of {} frequencies, from {:.6g} to {:.6g} Hz; at "
          "the others it decays, or is within {:g} % of its cut-off",
          mode + 1, cutoffs, told.size(), f.size(), told.front(), told.back(), 100 * cutoff_margin),
      "S is nan there, and Touchstone files leave these frequencies out; if they are not wanted, "
      "take a band of s_parameters in which it travels"));
}

void check_modes(Case& c, const CasePort& port, const PortOptions& o, const data::Config& config) {
  const ModePort& p = port.mode;
  if (const int alike = p.band.at[p.band.at.size() / 2].alike; alike > 0)
    c.warnings.push_back(warning(
        config, 669, port.key + (o.modes > 1 ? ".modes" : ""),
        fmt::format(
            "{} more of the plane {} the speed of mode {}: of modes of one speed the port takes "
            "first those of lines whose conductors return all current, then those that lie lowest "
            "along the axes, and what goes into the others is not told",
            alike, alike > 1 ? "have" : "has", o.modes),
        fmt::format(
            "modes = {} takes all of them; or let the port's part of the plane hold one guide",
            o.modes + alike)));
  for (std::size_t m = 0; m < static_cast<std::size_t>(o.modes); ++m) {
    const std::string key = port.key + (o.modes > 1 ? ".modes" : "");
    if (m >= p.reach.size())
      refuse({config.error(667, key, fmt::format("the plane has {} modes", p.reach.size()),
                           "ask for fewer")});
    check_reach(c, port, m, key, config);
    double left = 0;
    for (const em::GridModes& g : p.band.at)
      if (travels(g.modes[m].beta)) left = std::max(left, at_walls(c, p, g, g.modes[m]));
    if (left > kFallen)
      c.warnings.push_back(warning(
          config, 669, port.key + ".size",
          fmt::format("mode {} has fallen to {:.2g} of its largest field only at the walls around "
                      "the port, which the guide does not have",
                      m + 1, left),
          "enlarge the part of the plane until it has fallen to a thousandth"));
  }
}

/// S of a line refers to its impedance.
void check_impedance(const CasePort& port, const PortOptions& o, const data::Config& config) {
  const ModePort& p = port.mode;
  if (o.impedance || p.conductors.empty()) return;
  const std::vector<double>& f = port.monitor.frequencies;
  for (std::size_t k = 0; k < f.size(); ++k) {
    const em::GridModes modes = em::modes_at(p.band, f[k]);
    for (std::size_t m = 0; m < static_cast<std::size_t>(o.modes); ++m) {
      if (p.reach[m][k] != ModeReach::travels) continue;
      const double resistance = em::line_impedance(modes, modes.modes[m], p.conductors).real();
      if (!(resistance <= 0)) continue;
      refuse({config.error(
          667, port.key,
          fmt::format("mode {} has the impedance of no line at {:.6g} Hz: its real part is {:.4g} "
                      "ohm, and S cannot refer to it",
                      m + 1, f[k], resistance),
          "let absorbing layers at the sides lie further from the guide, ask for fewer modes, or "
          "give the port an impedance")});
    }
  }
}

}  // namespace

void make_mode_port(Case& c, std::size_t number, const data::Config& config) {
  const PortOptions& o = c.options.ports[number];
  CasePort& port = c.ports[number];
  ModePort& p = port.mode;
  const auto axis = port_axis(o);
  p.step = o.direction[axis] > 0 ? 1 : -1;
  p.plane = p.start = mode_plane(c, static_cast<int>(axis), o.position, o.size);
  p.start.line -= p.step;
  p.position = c.grid.lines[axis][static_cast<std::size_t>(p.plane.line)];
  const em::YeeModel model = make_model(c);
  check_guide(c, model, port, config);
  // Solved at each frequency where these are few; cuts through three dimensions take their time.
  const std::size_t nodes = c.grid.dimensions() == 3 ? 7 : 15;
  const std::vector<double>& f = port.monitor.frequencies;
  try {
    p.band = f.size() <= nodes ? em::mode_band(model, p.plane, f, o.modes, o.index.value_or(0))
                               : em::mode_band(model, p.plane, f.front(), f.back(), o.modes,
                                               static_cast<int>(nodes), o.index.value_or(0));
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse({config.error(667, port.key, e.what(), "see the port's keys")});
  }
  find_reach(p, f);
  check_modes(c, port, o, config);
  p.conductors =
      em::guide_conductors(model, p.plane, p.band.at.front(), symmetry_of(c), absorbers_of(c));
  check_impedance(port, o, config);
  const em::GridModes& modes = p.band.at.front();
  const bool lines =
      std::all_of(modes.modes.begin(), modes.modes.end(), [&](const em::GridMode& m) {
        return std::isfinite(std::abs(em::line_impedance(modes, m, p.conductors)));
      });
  if (c.options.scattering.reference && !o.impedance && !lines)
    refuse(
        {config.error(667, "s_parameters.reference",
                      "the port '" + o.name +
                          "' has no impedance that S could be taken from: a mode of it carries no "
                          "current along two conductors",
                      "give it impedance: what its mode is said to have")});
}

namespace {

/// The largest part of a mode of one port that a mode of the other takes for its own, if nothing
/// changes between their planes.
double largest_coupling(const ModePort& p, const ModePort& q, double frequency_hz) {
  const em::GridModes of = em::modes_at(p.band, frequency_hz),
                      to = em::modes_at(q.band, frequency_hz);
  using Place = std::array<int, 4>;
  const auto place = [](const em::Edge& e, const ModePort& port) {
    Place out{e.component, e.i, e.j, e.k};
    out[static_cast<std::size_t>(port.plane.axis) + 1] = 0;  // the plane
    return out;
  };
  std::map<Place, std::size_t> number;
  for (std::size_t k = 0; k < of.e.size(); ++k) number[place(of.e[k], p)] = k;
  double most = 0;
  for (const em::GridMode& m : of.modes) {
    std::vector<std::complex<double>> e(to.e.size());
    for (std::size_t k = 0; k < e.size(); ++k)
      if (const auto at = number.find(place(to.e[k], q)); at != number.end())
        e[k] = m.e[at->second];
    for (const em::GridMode& n : to.modes)
      most = std::max(most, std::abs(em::mode_product(to, e, n.h)) /
                                std::sqrt(std::abs(em::mode_product(of, m.e, m.h) *
                                                   em::mode_product(to, n.e, n.h))));
  }
  return most;
}

}  // namespace

void refuse_common_guides(const Case& c, const data::Config& config) {
  for (std::size_t k = 0; k < c.ports.size(); ++k)
    for (std::size_t m = 0; m < k; ++m) {
      const ModePort &p = c.ports[k].mode, &q = c.ports[m].mode;
      if (p.reach.empty() || q.reach.empty() || p.plane.axis != q.plane.axis) continue;
      const bool same_way = p.step == q.step;
      if (!same_way && (q.plane.line - p.plane.line) * p.step >= 0) continue;  // face each other
      const std::vector<double>& f = c.ports[k].monitor.frequencies;
      double most = 0;
      for (const double at : {f.front(), f[f.size() / 2], f.back()})
        most = std::max(most, largest_coupling(p, q, at));
      if (most < kOneGuide) continue;
      refuse({config.error(
          667, c.ports[k].key + ".position",
          fmt::format(
              "the port '{}' takes {:.3g} of the wave of the port '{}' for its own: they are "
              "in one guide and {}",
              c.ports[k].monitor.name, most, c.ports[m].monitor.name,
              same_way ? "look the same way" : "look away from each other"),
          same_way ? "leave one of them out, or let each have a part of the plane of its own (size)"
                   : "let the device lie between the planes of its ports")});
    }
}

void warn_of_tails(Case& c, const data::Config& config) {
  const std::vector<double> told = told_channels(c);
  const std::size_t n = c.channels.size();
  for (const PortChannel& x : c.channels) {
    const CasePort& port = c.ports[x.port];
    const ModePort& p = port.mode;
    if (p.reach.empty()) continue;
    const std::vector<double>& lines = c.grid.lines[static_cast<std::size_t>(p.plane.axis)];
    const double length = std::abs((p.step > 0 ? lines.front() : lines.back()) - p.position);
    for (std::size_t k = 0; k < told.size() / n; ++k) {
      const auto here = told.begin() + static_cast<std::ptrdiff_t>(k * n);
      if (p.reach[x.mode][k] != ModeReach::decays ||
          std::count(here, here + static_cast<std::ptrdiff_t>(n), 0.0) ==
              static_cast<std::ptrdiff_t>(n))
        continue;
      const double f = port.monitor.frequencies[k],
                   back = std::exp(2 * em::modes_at(p.band, f).modes[x.mode].beta.imag() * length);
      if (back <= kTail) continue;
      c.warnings.push_back(warning(
          config, 669, port.key,
          fmt::format("at {:.6g} Hz {:.2g} of mode {}, which decays there, comes back from the end "
                      "of its guide behind the layer: S of other ports has that in it",
                      f, back, x.mode + 1),
          "let its guide be longer behind the port, or the band begin above its cut-off"));
      break;
    }
  }
}

/// A cut-off below the band, so near that the pulse would have more than 1e-6 of its amplitude
/// there. Further down, where s^2 is no line in f^2 any more, none is looked for.
std::optional<double> cutoff_below(const ModePort& p, std::size_t mode, const DrivenBand& band) {
  const WaveformOptions w = port_waveform(band);
  const double reach = std::sqrt(6.0) / 2 * *w.bandwidth;  // a Gaussian, a tenth at half of it
  const std::vector<double> found =
      em::cutoffs(p.band, mode, std::max(*w.frequency - reach, 0.75 * band.low_hz), band.low_hz);
  return found.empty() ? std::nullopt : std::optional(found.back());
}

em::Injection mode_port_source(const Case& c, const PortChannel& channel,
                               const em::Waveform& waveform) {
  const ModePort& p = c.ports[channel.port].mode;
  // Two or three nodes make a pulse that ends: that in the middle, or one near it where the mode
  // travels, and the ends of what is told.
  const std::vector<double>& f = c.ports[channel.port].monitor.frequencies;
  std::vector<double> told;
  for (std::size_t k = 0; k < f.size(); ++k)
    if (p.reach[channel.mode][k] == ModeReach::travels) told.push_back(f[k]);
  double middle = (told.front() + told.back()) / 2;
  if (!travels(em::modes_at(p.band, middle).modes[channel.mode].beta))
    middle = *std::min_element(told.begin(), told.end(), [&](double a, double b) {
      return std::abs(a - middle) < std::abs(b - middle);
    });
  em::ModeBand band;
  for (const double at : std::set<double>{told.front(), middle, told.back()}) {
    band.frequency_hz.push_back(at);
    band.at.push_back(em::modes_at(p.band, at));
  }
  // The guide is the same at the line where the pulse starts.
  for (em::GridModes& g : band.at)
    for (auto* edges : {&g.e, &g.h, &g.e_n, &g.h_n})
      for (em::Edge& e : *edges)
        (p.plane.axis == 0 ? e.i : p.plane.axis == 1 ? e.j : e.k) += p.start.line - p.plane.line;
  em::ModeSource source{.mode = channel.mode,
                        .forward = p.step > 0,
                        .amplitude = 1 / std::sqrt(images_of(c, p.plane)),
                        .waveform = waveform};
  const DrivenBand part = driven_band(c, channel);
  if (part.from_cutoff || part.to_cutoff) {
    // 1e-5 at the cut-off, a fiftieth where S is first told.
    source.edge_hz = cutoff_margin / 1.57 * (part.from_cutoff ? part.low_hz : part.high_hz);
    source.from_hz = part.from_cutoff ? part.low_hz + 3.02 * source.edge_hz : 0;
    source.to_hz = part.to_cutoff ? part.high_hz - 3.02 * source.edge_hz : INFINITY;
  } else if (const auto below = cutoff_below(p, channel.mode, part)) {
    // 1e-5 at the cut-off, a half where S is first told.
    source.edge_hz = std::max((part.low_hz - *below) / 3.02, cutoff_margin / 1.57 * *below);
    source.from_hz = *below + 3.02 * source.edge_hz;
    source.to_hz = INFINITY;
  }
  return em::mode_source(make_model(c), p.start, band, source);
}

}  // namespace tessera::apps::waves
