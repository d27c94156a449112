// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/exterior.h"

#include "electromagnetics/waves/beam_plane.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/loads.h"
#include "tessera/electromagnetics/diffraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

std::vector<em::DomainMirror> mirrors_of_box(const Case& c, const MonitorOptions& o) {
  const MonitorBox box = box_of(c, o);
  return em::mirrors_of_box(c.grid, mirrors_of(c), box.middle, box.size);
}

std::vector<em::Mirror> named_mirrors(const MonitorOptions& o) {
  std::vector<em::Mirror> out;
  for (const MirrorOptions& m : o.mirrors)
    out.push_back({static_cast<int>(m.axis), m.position, m.magnetic});
  return out;
}

class ExteriorChecks {
 public:
  ExteriorChecks(const Case& c, const data::Config& config)
      : c_(c), config_(config), mirrors_(mirrors_of(c)) {}

  void check(const MonitorOptions& o, const std::string& key) {
    if (o.kind == MonitorKind::ldos) symmetric_sources(o, key);
    if (o.kind == MonitorKind::orders) even_cells(o, key);
    if (o.kind == MonitorKind::rcs) no_walls(o, key);
    if (o.kind == MonitorKind::beam) beam(o, key);
    if (o.kind != MonitorKind::far_field && o.kind != MonitorKind::rcs) return;
    mirrors(o, key);
    if (!c_.media.front().pec) background(o, key);
  }
  std::vector<data::Diagnostic> errors;

 private:
  void say(int number, const std::string& where, std::string text, std::string hint) {
    errors.push_back(config_.error(number, where, std::move(text), std::move(hint)));
  }

  void symmetric_sources(const MonitorOptions& o, const std::string& key) {
    for (const em::DomainMirror& m : mirrors_) {
      if (!m.symmetry) continue;
      for (const SourceOptions& s : c_.options.sources) {
        if (s.kind != SourceKind::point || (o.source && *o.source != s.name)) continue;
        const double at = (*s.position)[static_cast<std::size_t>(m.plane.axis)];
        if (!em::same_plane(c_.grid, m.plane, {m.plane.axis, at}))
          say(629, key,
              fmt::format("in the whole there are two sources, for the symmetry {} has an image "
                          "of this one",
                          em::name_of(m)),
              "put the source on the plane of symmetry, or simulate the whole");
      }
    }
  }

  void even_cells(const MonitorOptions& o, const std::string& key) {
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      const double ratio = em::unevenness(c_.grid, d, (*o.position)[u], (*o.size)[u]);
      if (!(ratio > 1 + 1e-9)) continue;
      const char axis = "xyz"[d];
      const std::string of = c_.auto_grid.axes[u].made ? "grid.auto"
                             : c_.options.grid.axis(d).lines.empty()
                                 ? fmt::format("grid.{}.refine", axis)
                                 : fmt::format("grid.{}.lines", axis);
      say(629, key,
          fmt::format("orders are sums over evenly spaced points, and {} makes cells along {} that "
                      "differ by a factor of {:.4g}",
                      of, axis, ratio),
          c_.auto_grid.axes[u].made
              ? fmt::format("give grid.{}.lines, evenly spaced, or take a flux", axis)
              : fmt::format("take even cells along {}, or a flux", axis));
    }
  }

  void no_walls(const MonitorOptions& o, const std::string& key) {
    const MonitorBox box = box_of(c_, o);
    for (const em::DomainMirror& m : mirrors_)
      if (!m.symmetry && (em::reaches(c_.grid, m, box.middle, box.size) || lit(o, m)))
        say(629, key,
            fmt::format("the box, or that of its wave, stands on the wall {}: a body on a wall has "
                        "no cross-section",
                        em::name_of(m)),
            fmt::format("if the face cuts a symmetric body, say boundary.symmetry = [\"{}\"]; "
                        "else let the face absorb",
                        em::name_of(m)));
  }

  /// Whether the wave that it is measured against runs along a mirror.
  bool lit(const MonitorOptions& o, const em::DomainMirror& m) const {
    for (const SourceOptions& s : c_.options.sources) {
      if (s.kind != SourceKind::plane_wave || (o.source && *o.source != s.name)) continue;
      const em::Bounds wave = wave_box(c_, s);
      Point middle{}, size{};
      for (std::size_t d = 0; d < 3; ++d)
        middle[d] = (wave.low[d] + wave.high[d]) / 2, size[d] = wave.high[d] - wave.low[d];
      return em::reaches(c_.grid, m, middle, size);
    }
    return false;
  }

  void beam(const MonitorOptions& o, const std::string& key) {
    try {
      const std::vector<BeamFault> faults = faults_of_beam(c_, o, mirrors_);
      for (const BeamFault& f : faults) say(f.number, key + f.key, f.text, f.hint);
    } catch (const Error& e) {
      say(629, key, e.what(), "see `tessera explain monitor`");
    }
  }

  void mirrors(const MonitorOptions& o, const std::string& key) {
    const MonitorBox box = box_of(c_, o);
    const std::vector<em::DomainMirror> faces = mirrors_of_box(c_, o);
    using Kind = em::MirrorFault::Kind;
    for (const em::MirrorFault& f :
         em::mirror_faults(c_.grid, faces, named_mirrors(o), box.middle, box.size)) {
      const std::string where = fmt::format("{}.mirrors[{}]", key, f.named);
      switch (f.kind) {
        case Kind::not_resolved:
          say(629, where,
              fmt::format("it lies across {}, which is not resolved",
                          "xyz"[static_cast<int>(o.mirrors[f.named].axis)]),
              "leave this one out");
          break;
        case Kind::through_box:
          say(629, where, "it runs through the surface, which has to lie on one side of it",
              "move it to the radiating part's end, or make the box smaller");
          break;
        case Kind::two_faces:
          say(629, key,
              fmt::format("its box stands between two mirrors, {} and {}: infinitely many images",
                          em::name_of(faces[f.domain - 1]), em::name_of(faces[f.domain])),
              "let one of these faces absorb");
          break;
        case Kind::another_plane:
          say(629, where,
              fmt::format("another mirror lies across this axis: the face {} of the domain",
                          em::name_of(faces[f.domain])),
              "leave this one out");
          break;
        case Kind::other_kind:
          say(629, where,
              fmt::format("the face {} there is a mirror of the other kind",
                          em::name_of(faces[f.domain])),
              "leave this one out");
      }
    }
  }

  void background(const MonitorOptions& o, const std::string& key) {
    const em::Medium& around = c_.media.front();
    if (!em::is_linear_isotropic_without_conduction(around))
      return say(642, key,
                 fmt::format("far fields need a linear background without loss and anisotropy, and "
                             "grid.background is '{}'",
                             around.name),
                 "take another background");
    for (const double f : o.all_frequencies()) {
      if (em::is_transparent(around, f)) continue;
      const std::complex<double> eps = em::permittivity(around, 0, f);
      return say(642, key,
                 fmt::format("at {:.6g} Hz the permittivity of '{}', the medium around it, is "
                             "{:.4g} {:+.2g} i: not transparent",
                             f, around.name, eps.real(), eps.imag()),
                 "take a background without loss, or frequencies at which it has none");
    }
  }

  const Case& c_;
  const data::Config& config_;
  std::vector<em::DomainMirror> mirrors_;
};

}  // namespace

std::vector<em::DomainMirror> mirrors_of(const Case& c) {
  std::vector<em::DomainMirror> out;
  const BoundaryOptions& b = c.options.boundary;
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      if (!c.grid.resolved(d)) continue;
      const Face face = high ? b.high(d) : b.low(d);
      const bool symmetry = b.is_symmetry(d, high);
      if (!symmetry && face != Face::pec && face != Face::pmc) continue;
      const auto u = static_cast<std::size_t>(d);
      const std::vector<double>& lines = c.grid.lines[u];
      const em::Boundary kind = high ? c.faces[u].high : c.faces[u].low;
      out.push_back(
          {{d, high ? lines.back() : lines.front(), kind == em::Boundary::pmc}, high, symmetry});
    }
  return out;
}

double images_of(const Case& c, const MonitorOptions& o) {
  const MonitorBox box = box_of(c, o);
  return em::images_of(c.grid, mirrors_of(c), box.middle, box.size);
}

double images_of_all(const Case& c) { return em::images_of_all(mirrors_of(c)); }

double images_of(const Case& c, const em::ModePlane& plane) {
  return em::images_of(c.grid, plane, symmetry_of(c));
}

double copies_of(const Case& c, std::size_t port) {
  const CasePort& p = c.ports[port];
  return images_of_all(c) / (c.options.ports[port].kind == PortKind::mode
                                 ? images_of(c, p.mode.plane)
                                 : c.elements[p.lumped.element].parts);
}

std::vector<em::Exterior> exteriors(const Case& c, const MonitorOptions& o,
                                    const std::vector<double>& frequencies_hz) {
  return em::exteriors(c.stepped.front(), c.grid.dimensions(),
                       em::joined_mirrors(c.grid, mirrors_of_box(c, o), named_mirrors(o)),
                       frequencies_hz);
}

std::vector<em::Mirror> walls_of_box(const Case& c, const MonitorOptions& o) {
  std::vector<em::Mirror> out = named_mirrors(o);
  for (const em::DomainMirror& m : mirrors_of_box(c, o))
    if (m.symmetry)
      std::erase_if(out, [&](const em::Mirror& w) { return em::same_plane(c.grid, w, m.plane); });
    else
      out.push_back(m.plane);
  return out;
}

void check_exteriors(const Case& c, const data::Config& config) {
  ExteriorChecks checks(c, config);
  for (std::size_t n = 0; n < c.options.monitors.size(); ++n)
    checks.check(c.options.monitors[n], fmt::format("monitor[{}]", n));
  if (!checks.errors.empty()) refuse(std::move(checks.errors));
}

}  // namespace tessera::apps::waves
