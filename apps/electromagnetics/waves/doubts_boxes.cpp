// SPDX-License-Identifier: Apache-2.0
// Doubts about what sends waves back into the boxes of far fields from outside of them, and about
// boxes and sources that joined faces repeat.
#include "electromagnetics/waves/beam_plane.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/sheets.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

class BoxDoubts {
 public:
  BoxDoubts(Case& c, const data::Config& config) : c_(c), config_(config) {}

  void look() {
    for (std::size_t m = 0; m < c_.options.monitors.size(); ++m) {
      const MonitorOptions& o = c_.options.monitors[m];
      const std::string key = fmt::format("monitor[{}]", m);
      if (o.kind == MonitorKind::ldos) repeated_source(key);
      if (o.kind != MonitorKind::far_field && o.kind != MonitorKind::rcs) continue;
      tube(o, key);
      if (!closed(o)) continue;
      walls(o, key);
      bodies(o, key);
    }
    for (std::size_t s = 0; s < c_.options.sources.size(); ++s)
      if (const SourceOptions& o = c_.options.sources[s]; o.kind == SourceKind::beam)
        for (const int axis : seams_in_beam(c_, o)) seam(fmt::format("source[{}]", s), axis);
  }

 private:
  void say(int number, const std::string& key, std::string message, std::string hint) {
    c_.warnings.push_back(warning(config_, number, key, std::move(message), std::move(hint)));
  }
  double first(std::size_t d) const { return c_.grid.lines[d].front(); }
  double last(std::size_t d) const { return c_.grid.lines[d].back(); }
  double slack(std::size_t d) const { return 1e-9 * (last(d) - first(d)); }
  bool resolved(std::size_t d) const { return c_.grid.resolved(static_cast<int>(d)); }
  bool joined(std::size_t d) const {
    return resolved(d) && c_.faces[d].low == em::Boundary::periodic;
  }
  static double low(const MonitorOptions& o, std::size_t d) {
    return (*o.position)[d] - o.size.value_or(Point{})[d] / 2;
  }
  static double high(const MonitorOptions& o, std::size_t d) {
    return (*o.position)[d] + o.size.value_or(Point{})[d] / 2;
  }
  bool closed(const MonitorOptions& o) const {
    for (std::size_t d = 0; d < 3; ++d)
      if (resolved(d) && !(high(o, d) > low(o, d))) return false;
    return true;
  }

  /// What passes through one period is not what a body sends out.
  void tube(const MonitorOptions& o, const std::string& key) {
    for (std::size_t d = 0; d < 3; ++d)
      if (joined(d) && low(o, d) <= first(d) + slack(d) && high(o, d) >= last(d) - slack(d))
        return say(661, key,
                   fmt::format("its surface spans the period along {0}, and what repeats along {0} "
                               "without end has another far field than this one period, which is "
                               "what it takes",
                               "xyz"[d]),
                   "take orders or a flux, or for what is even along an axis two dimensions");
  }

  /// Waves that come back from a wall beside a closed surface pass in and out: of the pattern they
  /// are no part.
  void walls(const MonitorOptions& o, const std::string& key) {
    const MonitorBox box = box_of(c_, o);
    for (const em::DomainMirror& m : mirrors_of(c_)) {
      const auto named = [&](const MirrorOptions& n) {
        return em::same_plane(c_.grid, {static_cast<int>(n.axis), n.position, n.magnetic}, m.plane);
      };
      if (m.symmetry || em::reaches(c_.grid, m, box.middle, box.size) ||
          std::any_of(o.mirrors.begin(), o.mirrors.end(), named))
        continue;
      return say(662, key,
                 fmt::format("the wall {} lies outside of its box: far fields are those of what "
                             "the box holds, as if there were no wall",
                             em::name_of(m)),
                 o.kind == MonitorKind::rcs
                     ? "let this face absorb"
                     : "let this face absorb, let the box stand on it, or name it in mirrors");
    }
  }

  /// Whether all that the grid has of these bounds lies outside of the box and, where a mirror is
  /// named across this axis, not behind it.
  bool beside(const em::Bounds& b, const MonitorOptions& o) const {
    bool out = false;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!resolved(d)) continue;
      if (b.high[d] < first(d) + slack(d) || b.low[d] > last(d) - slack(d)) return false;
      const bool below = b.high[d] <= low(o, d) + slack(d),
                 above = b.low[d] >= high(o, d) - slack(d);
      out = out || below || above;
      for (const MirrorOptions& m : o.mirrors)
        if (static_cast<std::size_t>(m.axis) == d &&
            ((below && m.position <= low(o, d) + slack(d) && b.high[d] <= m.position + slack(d)) ||
             (above && m.position >= high(o, d) - slack(d) && b.low[d] >= m.position - slack(d))))
          return false;
    }
    return out;
  }
  void bodies(const MonitorOptions& o, const std::string& key) {
    const auto tell = [&](const std::string& name) {
      say(662, key,
          fmt::format("'{}' lies outside of its box: far fields are those of what the box holds, "
                      "in the background alone",
                      name),
          "let the box hold all bodies, or name the plane of a wide mirror in mirrors");
    };
    for (const em::Structure& s : c_.scene.structures)
      if (s.medium != c_.scene.background && !s.shape.bounds().empty() &&
          beside(s.shape.bounds(), o))
        return tell(c_.media[static_cast<std::size_t>(s.medium)].name);
    for (const SheetOptions& s : c_.options.sheets)
      if (beside(bounds_of_sheet(c_, s), o)) return tell(s.name.empty() ? "sheet" : s.name);
    for (const WireOptions& w : c_.options.wires)
      if (beside(bounds_of(w.points), o)) return tell(w.name.empty() ? "wire" : w.name);
  }
  static em::Bounds bounds_of(const std::vector<Point>& points) {
    em::Bounds b{points.front(), points.front()};
    for (const Point& p : points)
      for (std::size_t d = 0; d < 3; ++d)
        b.low[d] = std::min(b.low[d], p[d]), b.high[d] = std::max(b.high[d], p[d]);
    return b;
  }

  void repeated_source(const std::string& key) {
    for (std::size_t d = 0; d < 3; ++d)
      if (joined(d))
        return say(666, key,
                   fmt::format("the faces across {} are joined, which repeats its source without "
                               "end: it takes the power of them all at one over that of one alone",
                               "xyz"[d]),
                   "let these faces absorb");
  }

  void seam(const std::string& key, int axis) {
    say(661, key + ".position",
        fmt::format("the faces across {0} are joined, and the beam has more than 0.01 of its "
                    "amplitude there: it is cut off in the seam, and each period sends one",
                    "xyz"[axis]),
        "let the period be 4.4 times as wide as the beam there, or let the faces absorb");
  }

  Case& c_;
  const data::Config& config_;
};

}  // namespace

void doubt_boxes(Case& c, const data::Config& config) { BoxDoubts(c, config).look(); }

}  // namespace tessera::apps::waves
