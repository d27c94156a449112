// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/exterior.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

constexpr double transparent = 1e-4;  ///< |Im eps| over Re eps
constexpr double on_plane = 1e-9;     ///< of the domain

double extent_along(const YeeGrid& grid, int axis) {
  const std::vector<double>& lines = grid.lines[static_cast<std::size_t>(axis)];
  return lines.back() - lines.front();
}

}  // namespace

std::string name_of(const DomainMirror& m) {
  return fmt::format("{}_{}", "xyz"[m.plane.axis], m.high ? "high" : "low");
}

bool reaches(const YeeGrid& grid, const DomainMirror& m, const Point& middle, const Point& size) {
  const auto d = static_cast<std::size_t>(m.plane.axis);
  const std::vector<double>& lines = grid.lines[d];
  const double near = on_plane * extent_along(grid, m.plane.axis), half = size[d] / 2;
  if (half == 0) return false;  // a plane on or along the mirror
  return m.high ? middle[d] + half >= lines.back() - near
                : middle[d] - half <= lines.front() + near;
}

double images_of(const YeeGrid& grid, std::span<const DomainMirror> mirrors, const Point& middle,
                 const Point& size) {
  double n = 1;
  for (const DomainMirror& m : mirrors)
    if (m.symmetry && reaches(grid, m, middle, size)) n *= 2;
  return n;
}

double images_of_all(std::span<const DomainMirror> mirrors) {
  double n = 1;
  for (const DomainMirror& m : mirrors)
    if (m.symmetry) n *= 2;
  return n;
}

std::vector<DomainMirror> mirrors_of_box(const YeeGrid& grid, std::span<const DomainMirror> mirrors,
                                         const Point& middle, const Point& size) {
  std::vector<DomainMirror> out;
  for (const DomainMirror& m : mirrors)
    if (m.symmetry || reaches(grid, m, middle, size)) out.push_back(m);
  return out;
}

bool same_plane(const YeeGrid& grid, const Mirror& a, const Mirror& b) {
  return a.axis == b.axis &&
         std::abs(a.position - b.position) <= on_plane * extent_along(grid, a.axis);
}

std::vector<Mirror> joined_mirrors(const YeeGrid& grid, std::span<const DomainMirror> domain,
                                   std::span<const Mirror> more) {
  std::vector<Mirror> out;
  for (const DomainMirror& m : domain) out.push_back(m.plane);
  for (const Mirror& m : more)
    if (std::none_of(domain.begin(), domain.end(),
                     [&](const DomainMirror& d) { return same_plane(grid, d.plane, m); }))
      out.push_back(m);
  return out;
}

std::vector<MirrorFault> mirror_faults(const YeeGrid& grid, std::span<const DomainMirror> domain,
                                       std::span<const Mirror> named, const Point& middle,
                                       const Point& size) {
  using Kind = MirrorFault::Kind;
  std::vector<MirrorFault> out;
  for (std::size_t m = 0; m < named.size(); ++m) {
    const auto d = static_cast<std::size_t>(named[m].axis);
    if (!grid.resolved(named[m].axis))
      out.push_back({.kind = Kind::not_resolved, .named = m});
    else if (std::abs(named[m].position - middle[d]) <
             size[d] / 2 - on_plane * extent_along(grid, named[m].axis))
      out.push_back({.kind = Kind::through_box, .named = m});
  }
  for (std::size_t q = 0; q < domain.size(); ++q) {
    const Mirror& plane = domain[q].plane;
    if (q > 0 && plane.axis == domain[q - 1].plane.axis)
      out.push_back({.kind = Kind::two_faces, .domain = q});
    for (std::size_t m = 0; m < named.size(); ++m) {
      if (named[m].axis != plane.axis) continue;
      if (!same_plane(grid, plane, named[m]))
        out.push_back({Kind::another_plane, m, q});
      else if (named[m].magnetic != plane.magnetic)
        out.push_back({Kind::other_kind, m, q});
    }
  }
  return out;
}

bool is_linear_isotropic_without_conduction(const Medium& m) {
  return m.chi2 == 0 && m.chi3 == 0 && m.sigma == Point{} && m.sigma_m == Point{} &&
         m.eps[0] == m.eps[1] && m.eps[0] == m.eps[2] && m.mu[0] == m.mu[1] && m.mu[0] == m.mu[2];
}

bool is_transparent(const Medium& m, double f_hz) {
  const std::complex<double> eps = permittivity(m, 0, f_hz);
  return eps.real() > 0 && std::abs(eps.imag()) <= transparent * eps.real();
}

std::vector<Exterior> exteriors(const Medium& around, int dimensions, std::vector<Mirror> mirrors,
                                std::span<const double> frequencies_hz) {
  if (around.pec) return {{dimensions, 1, 1, std::move(mirrors)}};
  if (!is_linear_isotropic_without_conduction(around))
    throw Error(
        fmt::format("[exteriors] expected a medium without conductivity, nonlinearity and "
                    "anisotropy outside, got '{}'",
                    around.name));
  for (const double f : frequencies_hz)
    if (!is_transparent(around, f))
      throw Error(
          fmt::format("[exteriors] expected a transparent medium outside; '{}' is not at {} Hz",
                      around.name, f));
  std::vector<Exterior> out;
  for (const double eps : real_permittivities(around, 0, frequencies_hz))
    out.push_back({dimensions, eps, around.mu[0], mirrors});
  return out;
}

}  // namespace tessera::electromagnetics
