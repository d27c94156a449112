// SPDX-License-Identifier: Apache-2.0
//
// In a layer of depth D fields lose s(u) = s_max u^p, u from 0 to 1, per second in addition to what
// their medium takes:
//   sigma / (eps0 eps) = sigma_m / (mu0 mu) = s,
// so that a wave along the axis meets no change of impedance and is damped as exp(-integral s dx /
// v). There and back that is
//   R = exp(-2 s_max D / ((p + 1) v)),    v: the speed in the background.
// Both conductivities are positive: whatever the medium, energy falls.
#include "electromagnetics/fdtd/absorber.h"

#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

constexpr double kThinFilm =
    2;  ///< skin depths: films thinner than that guide waves that run backwards

/// s dt/2 at the lines and at the middles of an axis; empty without absorbers.
struct AbsorberProfile {
  std::vector<double> lines, middles;
};

AbsorberProfile profile_of(const Case& c, int axis, double speed) {
  AbsorberProfile p;
  const AbsorberOptions& o = c.options.boundary.absorber;
  const std::vector<double>& x = c.grid.lines[static_cast<std::size_t>(axis)];
  const auto n = x.size() - 1, deep = static_cast<std::size_t>(o.cells);
  const auto add = [&](double inner, double outer) {
    const double depth = std::abs(outer - inner),
                 most = -std::log(o.reflection) * (o.order + 1) * speed / (2 * depth);
    const auto at = [&](double position) {
      const double u = (position - inner) / (outer - inner);
      return u > 0 ? most * std::pow(u, o.order) * c.dt_s / 2 : 0;
    };
    p.lines.resize(n + 1), p.middles.resize(n + 1);
    for (std::size_t i = 0; i <= n; ++i) p.lines[i] += at(x[i]);
    for (std::size_t i = 0; i < n; ++i) p.middles[i] += at((x[i] + x[i + 1]) / 2);
  };
  if (!c.grid.resolved(axis)) return p;
  if (c.options.boundary.low(axis) == Face::absorber) add(x[deep], x[0]);
  if (c.options.boundary.high(axis) == Face::absorber) add(x[n - deep], x[n]);
  return p;
}

}  // namespace

FillRow with_absorbers(const Case& c, FillRow fill) {
  const em::Medium& around = c.media.front();
  const double speed =
      em::speed_of_light / (around.pec ? 1 : std::sqrt(around.eps[0] * around.mu[0]));
  std::array<AbsorberProfile, 3> profiles;
  for (int d = 0; d < 3; ++d) profiles[static_cast<std::size_t>(d)] = profile_of(c, d, speed);
  if (std::all_of(profiles.begin(), profiles.end(),
                  [](const AbsorberProfile& p) { return p.lines.empty(); }))
    return fill;
  return [fill = std::move(fill), profiles](int component, int j, int k, em::MaterialRow& row) {
    fill(component, j, k, row);
    const auto along = [&](int d) -> const std::vector<double>& {
      const AbsorberProfile& p = profiles[static_cast<std::size_t>(d)];
      return em::at_middle(component, d) ? p.middles : p.lines;
    };
    const auto at = [&](int d, int i) {
      return along(d).empty() ? 0 : along(d)[static_cast<std::size_t>(i)];
    };
    const double across = at(1, j) + at(2, k);
    for (std::size_t i = 0; i < row.inverse.size(); ++i)
      if (const double s = across + at(0, static_cast<int>(i)); s > 0 && row.inverse[i] > 0)
        row.loss[i] += s / row.inverse[i];
  };
}

namespace {

/// The least depth to which fields enter a medium of negative permittivity in the case's band, c /
/// (w sqrt(-eps)), and a frequency at which it is negative; infinite where it is not.
struct Skin {
  double depth_m = INFINITY, frequency_hz = 0;
};
Skin skin_of(const Case& c, const em::Medium& m) {
  Skin skin;
  constexpr int n = 40;
  for (int i = 0; i <= n && !m.pec; ++i) {
    const double f = c.frequency_min + (c.frequency_max - c.frequency_min) * i / n;
    const double eps = f > 0 ? em::permittivity(m, 0, f).real() : 0;
    if (eps >= 0) continue;
    skin.depth_m = std::min(skin.depth_m, em::speed_of_light / (2 * M_PI * f * std::sqrt(-eps)));
    skin.frequency_hz = f;
  }
  return skin;
}

}  // namespace

/// Over a plane amid the layer, along rows of cells: the body between two others.
std::vector<BackwardBody> backward_bodies(const Case& c) {
  std::vector<BackwardBody> out;
  const em::SceneOrder scene(c.scene);
  std::vector<Skin> skins;
  for (const em::Medium& m : c.media) skins.push_back(skin_of(c, m));
  if (std::all_of(skins.begin(), skins.end(), [](const Skin& s) { return s.frequency_hz == 0; }))
    return out;
  const auto structure_at = [&](const Point& p) -> std::int64_t {
    for (const std::size_t s : scene.from_top())
      if (c.scene.structures[s].shape.contains(p)) return static_cast<std::int64_t>(s);
    return -1;
  };
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      const auto u = static_cast<std::size_t>(d);
      if (!c.grid.resolved(d) || (high ? c.faces[u].high : c.faces[u].low) != em::Boundary::pml)
        continue;
      const int deep = c.options.boundary.pml.cells;
      for (const int along : {(d + 1) % 3, (d + 2) % 3}) {
        const int across = 3 - d - along, step = 1 + c.grid.cells(across) / 50;
        Point p{};
        p[u] = c.grid.middle(d, high ? c.grid.cells(d) - 1 - deep / 2 : deep / 2);
        for (int j = 0; j < c.grid.cells(across); j += step) {
          p[static_cast<std::size_t>(across)] = c.grid.middle(across, j);
          std::int64_t body = -1;
          double begin = -INFINITY;  // of the run; one from the rim on has no beginning
          for (int i = 0; i < c.grid.cells(along); ++i) {
            p[static_cast<std::size_t>(along)] = c.grid.middle(along, i);
            const std::int64_t now = structure_at(p);
            if (i == 0) body = now;
            if (now == body) continue;
            const double line =
                c.grid.lines[static_cast<std::size_t>(along)][static_cast<std::size_t>(i)];
            if (body >= 0) {
              const auto s = static_cast<std::size_t>(body);
              const Skin& skin = skins[static_cast<std::size_t>(c.scene.structures[s].medium)];
              if (skin.frequency_hz > 0 && line - begin < kThinFilm * skin.depth_m &&
                  std::none_of(out.begin(), out.end(), [&](const BackwardBody& x) {
                    return x.structure == s && x.axis == d;
                  }))
                out.push_back({s, d, line - begin, skin.depth_m, skin.frequency_hz});
            }
            body = now;
            begin = line;
          }
        }
      }
    }
  return out;
}

}  // namespace tessera::apps::fdtd
