// SPDX-License-Identifier: Apache-2.0
// Doubts about surfaces that something cuts, about frequencies that no source has, about what the
// one source of a monitor is measured against, and about records of nothing.
#include "electromagnetics/waves/beam_plane.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/sheets.h"
#include "tessera/electromagnetics/exterior.h"
#include "tessera/electromagnetics/monitors.h"
#include "tessera/electromagnetics/time_domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

constexpr double kDark = 1e-3;             ///< of the peak, 60 dB below
constexpr std::size_t kMostPoints = 2500;  ///< of a plane that are looked at

class Cuts {
 public:
  Cuts(Case& c, const data::Config& config) : c_(c), config_(config), scene_(c.scene) {}

  void look() {
    for (std::size_t s = 0; s < c_.options.sources.size(); ++s)
      if (c_.options.sources[s].kind == SourceKind::plane_wave)
        wave(s);
      else if (c_.options.sources[s].kind == SourceKind::beam)
        beam(s);
    for (std::size_t m = 0; m < c_.options.monitors.size(); ++m) {
      const MonitorOptions& o = c_.options.monitors[m];
      if (o.kind == MonitorKind::far_field || o.kind == MonitorKind::rcs)
        near_box(o, fmt::format("monitor[{}]", m));
      if (o.kind == MonitorKind::far_field) ports(o, fmt::format("monitor[{}]", m));
      if (o.kind == MonitorKind::orders) {
        period(o, fmt::format("monitor[{}]", m));
        one_medium(o, fmt::format("monitor[{}]", m));
      }
      if (o.kind == MonitorKind::ldos) even_medium(o, fmt::format("monitor[{}]", m));
      if (o.kind == MonitorKind::ldos || o.kind == MonitorKind::rcs)
        one_source(o, fmt::format("monitor[{}]", m));
      dark(o, fmt::format("monitor[{}]", m));
      record(o, fmt::format("monitor[{}]", m));
    }
    ends_in_layers();
  }

 private:
  void say(int number, const std::string& key, std::string message, std::string hint) {
    data::Diagnostic d = config_.error(number, key, std::move(message), std::move(hint));
    d.severity = data::Severity::warning;
    c_.warnings.push_back(std::move(d));
  }
  double first(std::size_t d) const { return c_.grid.lines[d].front(); }
  double last(std::size_t d) const { return c_.grid.lines[d].back(); }
  double slack(std::size_t d) const { return 1e-9 * (last(d) - first(d)); }
  bool resolved(std::size_t d) const { return c_.grid.resolved(static_cast<int>(d)); }
  /// Where the layers begin; the ends of the domain where there are none.
  std::size_t layer(std::size_t d, bool high) const {
    return static_cast<std::size_t>(layer_cells(c_, static_cast<int>(d), high));
  }
  double inner_low(std::size_t d) const { return c_.grid.lines[d][layer(d, false)]; }
  double inner_high(std::size_t d) const {
    const std::vector<double>& x = c_.grid.lines[d];
    return x[x.size() - 1 - layer(d, true)];
  }

  /// A medium other than the background on a face of a box, and the axis across that face.
  struct Cut {
    std::string medium;
    char axis;
  };
  std::optional<Cut> cut(const em::Bounds& box) const {
    const auto found = em::body_on_box(scene_, c_.grid, c_.faces, box);
    if (!found) return sheet_on(box);
    return Cut{c_.media[static_cast<std::size_t>(found->medium)].name, "xyz"[found->axis]};
  }

  /// A sheet that runs out of a box through a side of it; where joined faces are one, on through
  /// both.
  std::optional<Cut> sheet_on(const em::Bounds& box) const {
    for (const SheetOptions& sheet : c_.options.sheets) {
      const em::Bounds b = bounds_of_sheet(c_, sheet);
      if (!meet(b, box)) continue;
      for (std::size_t d = 0; d < 3; ++d) {
        const bool whole = b.low[d] <= first(d) + slack(d) && b.high[d] >= last(d) - slack(d);
        const auto side = [&](bool upper) {
          return em::has_side(c_.grid, c_.faces, box, static_cast<int>(d), upper);
        };
        const bool low = (whole || b.low[d] < box.low[d] - slack(d)) && side(false),
                   high = (whole || b.high[d] > box.high[d] + slack(d)) && side(true);
        if (resolved(d) && box.high[d] > box.low[d] && (low || high))
          return Cut{sheet.name.empty() ? "sheet" : sheet.name, "xyz"[d]};
      }
    }
    return {};
  }

  void wave(std::size_t s) {
    const std::string key = fmt::format("source[{}]", s);
    const em::Bounds box = wave_box(c_, c_.options.sources[s]);
    if (const auto found = cut(box))
      say(661, key,
          fmt::format("the box of the plane wave cuts '{}' with its face across {}: the wave that "
                      "it lets in is one of the background",
                      found->medium, found->axis),
          "let the box hold the whole body, or drive the structure by a current over a plane");
    for (std::size_t d = 0; d < 3; ++d) {
      if (!resolved(d) ||
          (box.low[d] >= inner_low(d) - slack(d) && box.high[d] <= inner_high(d) + slack(d)))
        continue;
      return say(652, key,
                 fmt::format("the box of the plane wave runs into the absorbing layer across {}, "
                             "where the wave that it lets in is damped",
                             "xyz"[d]),
                 fmt::format("the layers are {} cells deep: make it smaller, or enlarge grid.size",
                             std::max(layer(d, false), layer(d, true))));
    }
  }

  void beam(std::size_t s) {
    const SourceOptions& o = c_.options.sources[s];
    if (const auto other = other_medium_of_beam(c_, o))
      say(661, fmt::format("source[{}]", s),
          fmt::format("the plane of the beam cuts '{}': it starts as one in '{}'", *other,
                      c_.media[start_of_beam(c_, o).medium].name),
          "put the plane where one medium fills the beam");
    for (const BeamFault& f : mirrors_in_beam(c_, o, mirrors_of(c_), kDoubtedAtMirror))
      say(661, fmt::format("source[{}]{}", s, f.key), f.text, f.hint);
  }

  em::Bounds box_of(const Point& middle, const Point& size) const {
    em::Bounds b{};
    for (std::size_t d = 0; d < 3; ++d)
      b.low[d] = middle[d] - size[d] / 2, b.high[d] = middle[d] + size[d] / 2;
    return b;
  }
  /// Whether two boxes share a point, along the axes that are resolved.
  bool meet(const em::Bounds& a, const em::Bounds& b) const {
    for (std::size_t d = 0; d < 3; ++d)
      if (resolved(d) && (a.low[d] > b.high[d] + slack(d) || b.low[d] > a.high[d] + slack(d)))
        return false;
    return true;
  }

  void near_box(const MonitorOptions& o, const std::string& key) {
    const em::Bounds box = box_of(*o.position, o.size.value_or(Point{}));
    bool closed = true;
    for (std::size_t d = 0; d < 3; ++d)
      closed = closed && (!resolved(d) || box.high[d] > box.low[d]);
    if (const auto found = cut(box))
      say(661, key,
          fmt::format("the face across {} of its surface cuts '{}': far fields are those of waves "
                      "in the background, '{}'",
                      found->axis, found->medium, c_.media.front().name),
          "let the surface hold the whole body");
    for (std::size_t d = 0; d < 3; ++d) {
      if (!resolved(d)) continue;
      const bool whole = box.high[d] < inner_low(d) - slack(d) ||
                         box.low[d] > inner_high(d) + slack(d);  // said of every monitor
      if (!whole &&
          (box.low[d] < inner_low(d) - slack(d) || box.high[d] > inner_high(d) + slack(d))) {
        say(652, key,
            fmt::format(
                "its surface runs into the absorbing layer across {}, where fields are damped",
                "xyz"[d]),
            fmt::format("the layers are {} cells deep: make it smaller, or enlarge grid.size",
                        std::max(layer(d, false), layer(d, true))));
        break;
      }
    }
    bool driven = !closed || o.subtract || o.subtract_reference;
    for (const CaseSource& s : c_.sources) {
      const SourceOptions& source = s.options;
      const em::Bounds of = source.kind == SourceKind::plane_wave
                                ? wave_box(c_, source)
                                : box_of(*source.position, source.size.value_or(Point{}));
      driven = driven || meet(of, box);
      if (o.kind == MonitorKind::rcs && source.kind == SourceKind::plane_wave &&
          (!o.source || source.name == *o.source))
        within(box, of, key);
    }
    if (!driven)
      say(662, key,
          "no source and no plane wave lies in its box: it only sees waves from outside, whose far "
          "field is zero",
          "put the box around what radiates, or subtract a run without the body");
  }
  /// Gain and efficiencies need the ports that drive within the surface, and the frequencies of S.
  void ports(const MonitorOptions& o, const std::string& key) {
    if (c_.excitations.empty()) return;
    const em::Bounds box = box_of(*o.position, o.size.value_or(Point{}));
    for (const Excitation& e : c_.excitations) {
      const PortOptions& port = c_.options.ports[c_.channels[e.channel].port];
      if (port.kind == PortKind::lumped && !meet(box_of(port.position, *port.size), box))
        say(662, key,
            fmt::format("the port '{}', which drives, lies outside of its box: what it radiates is "
                        "not all in this far field, nor in gain and efficiencies",
                        port.name),
            "put the box around what radiates and its ports");
    }
    const std::vector<double> known = c_.options.scattering.all_frequencies();
    for (const double f : o.all_frequencies())
      if (std::none_of(known.begin(), known.end(),
                       [&](double x) { return std::abs(x - f) <= 1e-9 * f; }))
        return say(666, key,
                   fmt::format("at {:.6g} Hz no waves at ports are known: gain and efficiencies "
                               "are left out",
                               f),
                   "let it have frequencies of s_parameters alone");
  }
  /// An rcs box has to hold that of the wave.
  void within(const em::Bounds& box, const em::Bounds& wave, const std::string& key) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (!resolved(d)) continue;
      const double begin = first(d) + slack(d), end = last(d) - slack(d);
      const bool low = (wave.low[d] > begin || box.low[d] > begin) &&
                       box.low[d] > wave.low[d] - slack(d),
                 high = (wave.high[d] < end || box.high[d] < end) &&
                        box.high[d] < wave.high[d] + slack(d);
      if (!low && !high) continue;
      return say(663, key,
                 fmt::format("its face across {} lies within the box of the plane wave, where the "
                             "incident wave is part of the field",
                             "xyz"[d]),
                 "make it larger than that box, by two cells or more, or let both end at the face");
    }
  }

  /// Orders are sums over the plane, which is taken for one period of the structure.
  void period(const MonitorOptions& o, const std::string& key) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (!resolved(d) || (*o.size)[d] == 0) continue;
      const double periods = (last(d) - first(d)) / (*o.size)[d];
      const bool joined = c_.faces[d].low == em::Boundary::periodic;
      if (joined && std::abs(periods - std::round(periods)) <= 1e-6 * periods) continue;
      return say(666, key,
                 fmt::format("its plane is taken for one period, and {}{}",
                             joined ? "is no whole part of the domain along "
                                    : "nothing repeats between the faces across ",
                             "xyz"[d]),
                 "let it span the domain, between faces that are periodic or bloch");
    }
  }

  /// Orders are waves of the medium at the first point of the plane.
  void one_medium(const MonitorOptions& o, const std::string& key) {
    const em::Bounds box = box_of(*o.position, *o.size);
    std::size_t axis = 0;
    while (!resolved(axis) || (*o.size)[axis] > 0) ++axis;
    const std::size_t lo = axis == 0 ? 1 : 0, hi = axis == 2 ? 1 : 2;
    const auto low = [&](std::size_t d) { return std::max(box.low[d], first(d)); };
    const auto high = [&](std::size_t d) { return std::min(box.high[d], last(d)); };
    const std::vector<Point> points = em::points_of(em::grid_patch(
        c_.grid, static_cast<int>(axis), 1, low(axis), {low(lo), low(hi)}, {high(lo), high(hi)}));
    const auto medium = [&](const Point& p) -> const em::Medium& {
      return c_.media[static_cast<std::size_t>(em::medium_at(scene_, p))];
    };
    const em::Medium& at = medium(points.front());
    for (std::size_t p = 0; p < points.size(); p += 1 + points.size() / kMostPoints)
      if (const em::Medium& other = medium(points[p]); &other != &at)
        return say(666, key,
                   fmt::format("its plane runs through '{}' and '{}', and orders are waves of one "
                               "medium: it takes '{}'",
                               at.name, other.name, at.name),
                   "move it to where one medium fills the period");
    if (at.pec) return;
    if (!em::is_linear_isotropic_without_conduction(at))
      return say(
          666, key,
          fmt::format("orders are taken for waves in a linear medium without loss and anisotropy, "
                      "and its plane lies in '{}'",
                      at.name),
          "move it to another medium, or take a flux");
    for (const double f : o.all_frequencies()) {
      if (em::is_transparent(at, f)) continue;
      const std::complex<double> eps = em::permittivity(at, 0, f);
      return say(666, key,
                 fmt::format("orders are taken for waves without loss, and at {:.6g} Hz the "
                             "permittivity of '{}', in which its plane lies, is {:.4g} {:+.2g} i",
                             f, at.name, eps.real(), eps.imag()),
                 "move it to another medium, or take a flux");
    }
  }

  /// That an ldos or rcs is measured against.
  const SourceOptions* source_of(const MonitorOptions& o) const {
    const SourceKind kind =
        o.kind == MonitorKind::ldos ? SourceKind::point : SourceKind::plane_wave;
    for (const SourceOptions& s : c_.options.sources)
      if (s.kind == kind && (!o.source || *o.source == s.name)) return &s;
    return nullptr;
  }

  /// A Purcell factor is over the power in a medium of one permittivity, of which that of a line
  /// along z or a sheet has only the one along its current.
  void even_medium(const MonitorOptions& o, const std::string& key) {
    const SourceOptions* source = source_of(o);
    if (!source) return;
    em::Medium at = c_.media[static_cast<std::size_t>(em::medium_at(scene_, *source->position))];
    if (at.pec) return;
    const int component = static_cast<int>(source->component), axis = em::axis_of(component),
              dimensions = c_.grid.dimensions();
    if (em::is_electric(component) && (dimensions == 1 || (dimensions == 2 && axis == 2)))
      at.eps.fill(at.eps[static_cast<std::size_t>(axis)]);
    const char* way_out = "take its power, or move the source to another medium";
    if (!em::is_linear_isotropic_without_conduction(at))
      return say(
          666, key,
          fmt::format("a Purcell factor compares with the power in a linear medium without loss "
                      "and anisotropy, and the source lies in '{}'",
                      at.name),
          way_out);
    for (const double f : o.all_frequencies()) {
      const std::complex<double> eps = em::permittivity(at, 0, f);
      if (em::is_transparent(at, f) || !(eps.real() > 0)) continue;  // below 0 it is refused
      return say(
          666, key,
          fmt::format("a Purcell factor compares with the power in a linear medium without loss, "
                      "and at {:.6g} Hz the permittivity of '{}', in which the source lies, "
                      "is {:.4g} {:+.2g} i",
                      f, at.name, eps.real(), eps.imag()),
          way_out);
    }
  }

  void one_source(const MonitorOptions& o, const std::string& key) {
    const SourceOptions* own = source_of(o);
    for (std::size_t s = 0; own && s < c_.options.sources.size(); ++s) {
      const SourceOptions& other = c_.options.sources[s];
      if (&other == own || other.amplitude == 0) continue;
      return say(666, key,
                 fmt::format("it is measured against one source, and source[{}] drives the field "
                             "as well",
                             s),
                 "set the amplitude of all others to 0");
    }
  }

  void ends_in_layers() {
    std::vector<std::size_t> key;  // structures without a medium are only parts of others
    for (std::size_t s = 0; s < c_.options.structures.size(); ++s)
      if (c_.options.structures[s].material) key.push_back(s);
    for (std::size_t s = 0; s < c_.scene.structures.size(); ++s) {
      const em::Structure& body = c_.scene.structures[s];
      if (body.medium == c_.scene.background || body.shape.bounds().empty()) continue;
      const em::Bounds& b = body.shape.bounds();
      for (std::size_t d = 0; d < 3; ++d) {
        if (!resolved(d)) continue;
        const bool reaches =
            b.low[d] < inner_high(d) - slack(d) && b.high[d] > inner_low(d) + slack(d);
        const bool low = b.low[d] < inner_low(d) - slack(d) && b.low[d] > first(d) + slack(d),
                   high = b.high[d] > inner_high(d) + slack(d) && b.high[d] < last(d) - slack(d);
        if (!reaches || (!low && !high)) continue;
        say(664, structure_key(c_.options, key[s]),
            fmt::format("the body ends inside the absorbing layer across {}: its end sends waves "
                        "back, and the layer is not made for it",
                        "xyz"[d]),
            "let it run through the layer (\"inf\"), or end in front of it");
        break;
      }
    }
  }

  /// The share of its own peak that the strongest source has at `f`; of those whose amplitudes have
  /// one unit, of the peak of the strongest.
  double share(double f) const {
    double out = 0;
    for (std::size_t s = 0; s < c_.sources.size(); ++s)
      if (weight_[s] > 0) out = std::max(out, c_.sources[s].spectrum->at(f) * weight_[s]);
    return out;
  }
  /// Of each source: its amplitude over the largest of one kind and unit.
  std::vector<double> weights() const {
    std::vector<double> out;
    for (const CaseSource& s : c_.sources) {
      double most = 0;
      for (const CaseSource& other : c_.sources)
        if (other.options.kind == s.options.kind &&
            em::is_electric(static_cast<int>(other.options.component)) ==
                em::is_electric(static_cast<int>(s.options.component)))
          most = std::max(most, std::abs(other.options.amplitude));
      out.push_back(most > 0 ? std::abs(s.options.amplitude) / most : 0);
    }
    return out;
  }
  void dark(const MonitorOptions& o, const std::string& key) {
    if (o.kind == MonitorKind::probe || o.kind == MonitorKind::snapshot) return;
    for (const em::Medium& m : c_.media)
      if (m.chi2 != 0 || m.chi3 != 0) return;  // harmonics are in no source
    bool any = false;
    for (const CaseSource& s : c_.sources) {
      if (!s.spectrum) return;
      any = any || s.options.amplitude != 0;
    }
    if (!any) return;
    std::vector<double> f = o.all_frequencies();
    if (o.kind == MonitorKind::resonances) {  // its band may be wider than the pulse, but has to
                                              // hold some of it
      for (double& x : f) x = share(x) < kDark ? x : 0;
      if (std::find(f.begin(), f.end(), 0.0) != f.end()) return;
    }
    const auto darkest = std::min_element(f.begin(), f.end(),
                                          [&](double a, double b) { return share(a) < share(b); });
    if (darkest == f.end() || share(*darkest) >= kDark) return;
    const char* which = !o.frequencies.empty() ? ".frequencies"
                        : darkest == f.begin() ? ".frequency_min"
                                               : ".frequency_max";
    say(665, key + which,
        fmt::format("at {:.4g} Hz all sources together are {:.0f} dB below their peak: little but "
                    "rounding is measured there",
                    *darkest, -20 * std::log10(std::max(share(*darkest), 1e-15))),
        "widen the pulse (bandwidth), or ask for frequencies that it holds");
  }

  /// Values in time that would be kept behind the end of the run, or at no step of it; those of
  /// resonances are by themselves kept from the end of the sources on.
  void record(const MonitorOptions& o, const std::string& key) {
    if (o.kind != MonitorKind::probe && o.kind != MonitorKind::snapshot &&
        o.kind != MonitorKind::resonances)
      return;
    const bool by_sources = o.kind == MonitorKind::resonances && !o.start;
    double start = o.start.value_or(0);
    for (const CaseSource& s : c_.sources)
      if (by_sources) start = std::max(start, s.waveform.end_s);
    if (!std::isfinite(start))
      return say(629, key,
                 "its record begins when the sources have ended, and one of them never does",
                 "give start, or take a pulse");
    const StopOptions& stop = c_.options.run.stop;
    const double end = std::min(stop.time.value_or(INFINITY),
                                stop.steps ? static_cast<double>(*stop.steps) * c_.dt_s : INFINITY);
    if (start > end)
      return say(629, by_sources ? key : key + ".start",
                 fmt::format("its record begins at {:.4g} s{}, and the run ends at {:.4g} s", start,
                             by_sources ? ", when the sources have ended" : "", end),
                 "let the run go on for longer (run.stop)");
    if (!o.every) return;
    // Steps that are whole numbers of `every` are kept (KeptSteps); the run's last reaches `end`.
    const double every = std::max(1.0, std::round(*o.every / c_.dt_s)) * c_.dt_s,
                 kept = std::max(1.0, std::ceil(start / every * (1 - 1e-12))) * every,
                 last = std::min(end + 0.999 * c_.dt_s, o.end.value_or(INFINITY));
    if (kept > last)
      say(629, key + ".every",
          fmt::format(
              "it keeps a step each {:.4g} s, the first of them at {:.4g} s, and its record "
              "ends at {:.4g} s: none is kept",
              every, kept, std::min(end, o.end.value_or(INFINITY))),
          "keep more of them, or let the run go on for longer (run.stop)");
  }

  Case& c_;
  const data::Config& config_;
  em::SceneOrder scene_;
  std::vector<double> weight_ = weights();
};

}  // namespace

void find_cuts(Case& c, const data::Config& config) { Cuts(c, config).look(); }

}  // namespace tessera::apps::waves
