// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/beam_plane.h"

#include "electromagnetics/waves/mode_plane.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/samples.h"
#include "tessera/electromagnetics/surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

constexpr double kSeen = 1e-2;       ///< of the beam's amplitude: where the medium matters
constexpr double kLeastAlong = 0.1;  ///< of its direction, along the plane's normal
constexpr double kLeastPower = 0.5;  ///< of its power, that passes the plane

/// Of a mirror that a plane of the beam reaches; `through`: where its axis is.
std::optional<BeamFault> fault_at(const Case& c, const em::DomainMirror& m,
                                  const em::GaussianBeam& beam, const Point& through,
                                  const BeamFault& named) {
  const auto d = static_cast<std::size_t>(m.plane.axis);
  double others = 0;
  for (std::size_t k = 0; k < 3; ++k)
    if (k != d) others = std::max(others, std::abs(beam.polarization[k]));
  const bool in_it = beam.direction[d] == 0 &&
                     em::same_plane(c.grid, m.plane, {m.plane.axis, through[d]}),
             even = m.plane.magnetic ? beam.polarization[d] == 0 : others == 0;
  if (in_it && even) return {};
  return BeamFault{
      named.number, in_it ? ".polarization" : named.key,
      fmt::format("the plane ends at the {} {}, which the beam does not have: {}",
                  m.symmetry ? "symmetry" : "mirror", em::name_of(m),
                  in_it ? "its E is turned round by it" : "its axis does not lie in it"),
      named.hint};
}

/// Points of the plane that a source's beam starts from where it is at least `least` of what it is
/// in the middle.
template <class Use>
void on_start(const Case& c, const SourceOptions& o, double least, Use&& use) {
  const BeamStart start = start_of_beam(c, o);
  const em::Medium& around = c.media[start.medium];
  const em::GaussianBeam beam = beam_of(c, o);
  const double k = 2 * std::numbers::pi * start.frequency_hz *
                   std::sqrt(around.eps[0] * around.mu[0]) / em::speed_of_light,
               most = beam.at(start.middle, k).amplitude;
  const int lo = start.axis == 0 ? 1 : 0, hi = start.axis == 2 ? 1 : 2;
  const auto lines = [&](int d) {
    const std::vector<double>& all = c.grid.lines[static_cast<std::size_t>(d)];
    return c.grid.resolved(d) ? all : std::vector<double>{c.grid.middle(d, 0)};
  };
  for (const double x : lines(lo))
    for (const double y : lines(hi)) {
      Point p = start.middle;
      p[static_cast<std::size_t>(lo)] = x, p[static_cast<std::size_t>(hi)] = y;
      if (const double seen = beam.at(p, k).amplitude / most; seen >= least) use(p, start.axis);
    }
}

}  // namespace

em::GaussianBeam beam_of(const Case& c, const MonitorOptions& o) {
  return em::gaussian_beam("beam monitor", *o.through, o.direction, o.polarization, o.waist,
                           o.focus, {c.grid.resolved(0), c.grid.resolved(1), c.grid.resolved(2)});
}

em::GaussianBeam beam_of(const Case& c, const SourceOptions& o) {
  return em::gaussian_beam("beam", start_of_beam(c, o).middle, o.direction, o.polarization, o.waist,
                           o.focus, {c.grid.resolved(0), c.grid.resolved(1), c.grid.resolved(2)});
}

const em::Medium& medium_of_beam(const Case& c, const MonitorOptions& o) {
  return c.media[static_cast<std::size_t>(em::medium_at(c.scene, *o.through))];
}

std::vector<BeamFault> faults_of_beam(const Case& c, const MonitorOptions& o,
                                      const std::vector<em::DomainMirror>& mirrors) {
  const em::GaussianBeam beam = beam_of(c, o);
  const int axis = flat_axis(c, *o.size);
  const auto a = static_cast<std::size_t>(axis);
  std::vector<BeamFault> out;
  if (std::abs(beam.direction[a]) < kLeastAlong)
    out.push_back({629, ".direction",
                   fmt::format("it has only {:.3g} of its length along {}, across the plane",
                               std::abs(beam.direction[a]), "xyz"[axis]),
                   "take a plane that the beam crosses"});
  double images = 1;
  for (const em::DomainMirror& m : mirrors) {
    if (!m.symmetry || !em::reaches(c.grid, m, *o.position, *o.size)) continue;
    images *= 2;
    if (auto fault = fault_at(c, m, beam, *o.through, {629, ".through", {}, "simulate the whole"}))
      out.push_back(std::move(*fault));
  }
  const em::Medium& around = medium_of_beam(c, o);
  const std::vector<double> frequencies = o.all_frequencies();
  double middle = 0;
  for (const double f : frequencies) {
    middle += f / static_cast<double>(frequencies.size());
    if (!around.pec && em::is_linear_isotropic_without_conduction(around) &&
        em::is_transparent(around, f))
      continue;
    out.push_back(
        {642, ".position",
         fmt::format("a beam needs a linear medium without loss and anisotropy, and at its plane "
                     "is '{}'",
                     around.name),
         "move it, or take frequencies at which there is no loss"});
    break;
  }
  if (!out.empty()) return out;
  const double eps = em::permittivity(around, 0, middle).real(), k = 2 * std::numbers::pi * middle *
                                                                     std::sqrt(eps * around.mu[0]) /
                                                                     em::speed_of_light;
  const std::size_t lo = axis == 0 ? 1 : 0, hi = axis == 2 ? 1 : 2;
  const auto end = [&](std::size_t d, double side) {
    return (*o.position)[d] + side * (*o.size)[d] / 2;
  };
  const em::Patch patch = em::grid_patch(c.grid, axis, 1, (*o.position)[a],
                                         {end(lo, -1), end(hi, -1)}, {end(lo, 1), end(hi, 1)});
  const std::vector<Point> points = em::points_of(patch);
  const em::SceneOrder scene(c.scene);
  double power = 0;
  for (std::size_t n = 0; n < points.size(); ++n) {
    const double seen = beam.at(points[n], k).amplitude;
    power += seen * seen * patch.weight_lo[n % patch.lo.size()] *
             patch.weight_hi[n / patch.lo.size()] * std::abs(beam.direction[a]) / 2;
    if (seen < kSeen) continue;
    const em::Medium& there = c.media[static_cast<std::size_t>(em::medium_at(scene, points[n]))];
    if (&there == &around) continue;
    out.push_back({629, ".position",
                   fmt::format("a beam passes one medium, and at its plane are '{}' and '{}'",
                               around.name, there.name),
                   "move the plane off the bodies, or make it smaller"});
    return out;
  }
  const double part = images * power / beam.power(1);
  if (part < kLeastPower)
    out.push_back({629, ".size",
                   fmt::format("only {:.0f} % of the beam's power passes the plane", 100 * part),
                   "make it 3 waists wide, or put it where the beam passes"});
  return out;
}

BeamStart start_of_beam(const Case& c, const SourceOptions& o) {
  BeamStart out{.middle = *o.position, .frequency_hz = o.waveform.frequency.value_or(0)};
  if (o.waveform.frequency_min && o.waveform.frequency_max)
    out.frequency_hz = (*o.waveform.frequency_min + *o.waveform.frequency_max) / 2;
  double best = -INFINITY;
  for (int d = 0; d < 3; ++d) {
    const auto a = static_cast<std::size_t>(d);
    const double rank = !c.grid.resolved(d) ? -INFINITY
                        : o.size            ? -(*o.size)[a]
                                            : std::abs(o.direction[a]);
    if (rank > best) out.axis = d, best = rank;
  }
  double& at = out.middle[static_cast<std::size_t>(out.axis)];
  const std::vector<double>& lines = c.grid.lines[static_cast<std::size_t>(out.axis)];
  at = *std::min_element(lines.begin(), lines.end(), [&, wanted = at](double x, double y) {
    return std::abs(x - wanted) < std::abs(y - wanted);
  });
  out.medium = static_cast<std::size_t>(em::medium_at(c.scene, out.middle));
  return out;
}

std::vector<BeamFault> mirrors_in_beam(const Case& c, const SourceOptions& o,
                                       const std::vector<em::DomainMirror>& mirrors, double least) {
  std::vector<const em::DomainMirror*> met;
  on_start(c, o, least, [&](const Point& p, int axis) {
    for (const em::DomainMirror& m : mirrors)
      if (m.plane.axis != axis && p[static_cast<std::size_t>(m.plane.axis)] == m.plane.position &&
          std::find(met.begin(), met.end(), &m) == met.end())
        met.push_back(&m);
  });
  std::vector<BeamFault> out;
  for (const em::DomainMirror* m : met)
    if (auto fault =
            fault_at(c, *m, beam_of(c, o), start_of_beam(c, o).middle,
                     {628,
                      ".position",
                      {},
                      m->symmetry ? "simulate the whole"
                                  : "let the face absorb, or move it away by 2.2 times the "
                                    "beam's width there"}))
      out.push_back(std::move(*fault));
  return out;
}

std::vector<int> seams_in_beam(const Case& c, const SourceOptions& o) {
  std::array<bool, 3> met{};
  on_start(c, o, kSeen, [&](const Point& p, int axis) {
    for (std::size_t d = 0; d < 3; ++d)
      if (static_cast<int>(d) != axis && c.grid.resolved(static_cast<int>(d)) &&
          c.faces[d].low == em::Boundary::periodic &&
          (p[d] == c.grid.lines[d].front() || p[d] == c.grid.lines[d].back()))
        met[d] = true;
  });
  std::vector<int> out;
  for (int d = 0; d < 3; ++d)
    if (met[static_cast<std::size_t>(d)]) out.push_back(d);
  return out;
}

std::optional<std::string> other_medium_of_beam(const Case& c, const SourceOptions& o) {
  const em::SceneOrder scene(c.scene);
  const std::size_t own = start_of_beam(c, o).medium;
  std::optional<std::string> out;
  on_start(c, o, kSeen, [&](const Point& p, int) {
    const auto there = static_cast<std::size_t>(em::medium_at(scene, p));
    if (!out && there != own) out = c.media[there].name;
  });
  return out;
}

}  // namespace tessera::apps::waves
