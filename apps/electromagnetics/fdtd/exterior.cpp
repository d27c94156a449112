// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/exterior.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

constexpr double kTransparent =
    1e-4;  ///< |Im eps| over Re eps: 0.3 % of the amplitude over 10 wavelengths

struct DomainFace {
  int axis;
  bool high;
};
const std::vector<DomainFace>& all_faces() {
  static const std::vector<DomainFace> faces{{0, false}, {0, true},  {1, false},
                                             {1, true},  {2, false}, {2, true}};
  return faces;
}
em::Boundary at(const Case& c, const DomainFace& f) {
  return f.high ? c.faces[static_cast<std::size_t>(f.axis)].high
                : c.faces[static_cast<std::size_t>(f.axis)].low;
}
double position(const Case& c, const DomainFace& f) {
  const std::vector<double>& lines = c.grid.lines[static_cast<std::size_t>(f.axis)];
  return f.high ? lines.back() : lines.front();
}
bool is_symmetry(const Case& c, const DomainFace& f) {
  return c.grid.resolved(f.axis) && c.options.boundary.is_symmetry(f.axis, f.high);
}
bool is_wall(const Case& c, const DomainFace& f) {
  const Face face = f.high ? c.options.boundary.high(f.axis) : c.options.boundary.low(f.axis);
  return c.grid.resolved(f.axis) && (face == Face::pec || face == Face::pmc) && !is_symmetry(c, f);
}
std::string name(const DomainFace& f) {
  return fmt::format("{}_{}", "xyz"[f.axis], f.high ? "high" : "low");
}

/// Whether a monitor's region reaches a face: it then is cut by it. Energies and snapshots are of
/// the domain where no size is given.
bool reaches(const Case& c, const MonitorOptions& o, const DomainFace& f) {
  const auto d = static_cast<std::size_t>(f.axis);
  const std::vector<double>& lines = c.grid.lines[d];
  if (!o.size) return o.kind == MonitorKind::energy;
  const double extent = lines.back() - lines.front(),
               middle = o.position ? (*o.position)[d] : (lines.front() + lines.back()) / 2,
               half = (*o.size)[d] / 2;
  if (half == 0) return false;  // a plane on or along the mirror
  return f.high ? middle + half >= lines.back() - 1e-9 * extent
                : middle - half <= lines.front() + 1e-9 * extent;
}

/// Where mirrors named by the monitor are not those of the domain.
bool same_position(const Case& c, const DomainFace& f, const MirrorOptions& m) {
  const std::vector<double>& lines = c.grid.lines[static_cast<std::size_t>(f.axis)];
  return static_cast<int>(m.axis) == f.axis &&
         std::abs(m.position - position(c, f)) <= 1e-9 * (lines.back() - lines.front());
}

/// The longest of the cells that a plane holds along an axis over the shortest; 1 across the plane.
double unevenness(const Case& c, const MonitorOptions& o, int d) {
  const auto u = static_cast<std::size_t>(d);
  double least = INFINITY, most = 0;
  for (int i = 0; c.grid.resolved(d) && (*o.size)[u] > 0 && i < c.grid.cells(d); ++i) {
    if (std::abs(c.grid.middle(d, i) - (*o.position)[u]) > (*o.size)[u] / 2) continue;
    least = std::min(least, c.grid.length(d, i)), most = std::max(most, c.grid.length(d, i));
  }
  return most > 0 ? most / least : 1;
}

/// The mirrors of the domain that count in a far field.
std::vector<DomainFace> mirrors_of_domain(const Case& c, const MonitorOptions& o) {
  std::vector<DomainFace> out;
  for (const DomainFace& f : all_faces())
    if (is_symmetry(c, f) || (is_wall(c, f) && reaches(c, o, f))) out.push_back(f);
  return out;
}

}  // namespace

double images_of(const Case& c, const MonitorOptions& o) {
  double n = 1;
  for (const DomainFace& f : all_faces())
    if (is_symmetry(c, f) && reaches(c, o, f)) n *= 2;
  return n;
}

double images_of_all(const Case& c) {
  double n = 1;
  for (const DomainFace& f : all_faces())
    if (is_symmetry(c, f)) n *= 2;
  return n;
}

double permittivity_of(const em::Medium& m, int axis, double f_hz) {
  return em::permittivity(m, axis, f_hz).real();
}
bool disperses(const em::Medium& m) { return !m.poles.empty(); }

std::vector<em::Exterior> exteriors(const Case& c, const MonitorOptions& o,
                                    const std::vector<double>& frequencies_hz) {
  const em::Medium& m = c.media.front();
  em::Exterior e{.dimensions = c.grid.dimensions(), .eps = m.eps[0], .mu = m.mu[0]};
  const std::vector<DomainFace> faces = mirrors_of_domain(c, o);
  for (const DomainFace& f : faces)
    e.mirrors.push_back({f.axis, position(c, f), at(c, f) == em::Boundary::pmc});
  for (const MirrorOptions& mirror : o.mirrors)
    if (std::none_of(faces.begin(), faces.end(),
                     [&](const DomainFace& f) { return same_position(c, f, mirror); }))
      e.mirrors.push_back({static_cast<int>(mirror.axis), mirror.position, mirror.magnetic});
  if (!disperses(m)) return {e};
  std::vector<em::Exterior> out;
  for (const double f : frequencies_hz) {
    e.eps = permittivity_of(m, 0, f);
    out.push_back(e);
  }
  return out;
}

void check_exteriors(const Case& c, const data::Config& config) {
  std::vector<data::Diagnostic> errors;
  const em::Medium& around = c.media.front();
  for (std::size_t n = 0; n < c.options.monitors.size(); ++n) {
    const MonitorOptions& o = c.options.monitors[n];
    const std::string key = fmt::format("monitor[{}]", n);
    const auto say = [&](int number, const std::string& where, std::string text, std::string hint) {
      errors.push_back(config.error(number, where, std::move(text), std::move(hint)));
    };
    if (o.kind == MonitorKind::ldos) {
      for (const DomainFace& f : all_faces()) {
        if (!is_symmetry(c, f)) continue;
        const std::vector<double>& lines = c.grid.lines[static_cast<std::size_t>(f.axis)];
        for (const SourceOptions& s : c.options.sources)
          if (s.kind == SourceKind::point && (!o.source || *o.source == s.name) &&
              std::abs((*s.position)[static_cast<std::size_t>(f.axis)] - position(c, f)) >
                  1e-9 * (lines.back() - lines.front()))
            say(629, key,
                fmt::format("in the whole there are two sources, for the symmetry {} has an image "
                            "of this one",
                            name(f)),
                "put the source on the plane of symmetry, or simulate the whole");
      }
      continue;
    }
    if (o.kind == MonitorKind::orders)
      for (int d = 0; d < 3; ++d)
        if (const double ratio = unevenness(c, o, d); ratio > 1 + 1e-9)
          say(629, key,
              fmt::format("orders are sums over evenly spaced points, and grid.{0}.{1} makes cells "
                          "along {0} that differ by a factor of {2:.4g}",
                          "xyz"[d], c.options.grid.axis(d).lines.empty() ? "refine" : "lines",
                          ratio),
              fmt::format("take even cells along {}, or a flux", "xyz"[d]));
    if (o.kind != MonitorKind::far_field && o.kind != MonitorKind::rcs) continue;
    if (o.kind == MonitorKind::rcs)
      for (const DomainFace& f : all_faces())
        if (is_wall(c, f) && reaches(c, o, f))
          say(629, key,
              fmt::format("the box stands on the wall {}: a body on a wall has no cross-section",
                          name(f)),
              fmt::format("if the face cuts a symmetric body, say boundary.symmetry = [\"{}\"]; "
                          "else move the box off it",
                          name(f)));
    const std::vector<DomainFace> faces = mirrors_of_domain(c, o);
    for (std::size_t q = 0; q < faces.size(); ++q) {
      if (q > 0 && faces[q].axis == faces[q - 1].axis)
        say(629, key,
            fmt::format("its box stands between two mirrors, {} and {}: infinitely many images",
                        name(faces[q - 1]), name(faces[q])),
            "let one of these faces absorb");
      for (std::size_t m = 0; m < o.mirrors.size(); ++m) {
        if (static_cast<int>(o.mirrors[m].axis) != faces[q].axis) continue;
        const std::string where = fmt::format("{}.mirrors[{}]", key, m);
        if (!same_position(c, faces[q], o.mirrors[m]))
          say(629, where,
              fmt::format("another mirror lies across this axis: the face {} of the domain",
                          name(faces[q])),
              "leave this one out");
        else if (o.mirrors[m].magnetic != (at(c, faces[q]) == em::Boundary::pmc))
          say(629, where,
              fmt::format("the face {} there is a mirror of the other kind", name(faces[q])),
              "leave this one out");
      }
    }
    if (around.pec) continue;
    if (around.sigma != Point{} || around.sigma_m != Point{} || around.eps[0] != around.eps[1] ||
        around.eps[0] != around.eps[2] || around.mu[0] != around.mu[1] ||
        around.mu[0] != around.mu[2]) {
      say(642, key,
          fmt::format("far fields need a background without loss and anisotropy, and "
                      "grid.background is '{}'",
                      around.name),
          "take another background");
      continue;
    }
    for (const double f : o.all_frequencies()) {
      const std::complex<double> eps = em::permittivity(around, 0, f);
      if (eps.real() > 0 && std::abs(eps.imag()) <= kTransparent * eps.real()) continue;
      say(642, key,
          fmt::format("at {:.6g} Hz the permittivity of '{}', the medium around it, is {:.4g} "
                      "{:+.2g} i: not transparent",
                      f, around.name, eps.real(), eps.imag()),
          "take a background without loss, or frequencies at which it has none");
      break;
    }
  }
  if (!errors.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(errors));
}

}  // namespace tessera::apps::fdtd
