// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/beam.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/gaussian_beam.h"
#include "time_domain/box_surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace tessera::electromagnetics {

using namespace time_domain;

namespace {

/// Currents as sums of six samples of the waveform, `per_step` to a time step.
constexpr int per_step = 4;
struct Delayed {
  struct Entry {
    std::int64_t point;  ///< the first sample lies this many before that of the step's time
    std::array<double, 6> weight;
  };
  std::vector<Entry> entries;
  std::vector<std::size_t> first_entry;  ///< of each column
  std::int64_t longest = 0, ahead = 0;   ///< samples that are looked back and ahead
  Waveform waveform;
  double dt;

  void fill(std::int64_t first, std::int64_t n_steps, double* currents) const {
    std::vector<double> w;
    for (std::int64_t s = -longest; s <= per_step * (n_steps - 1) + ahead; ++s) {
      const double t = (static_cast<double>(first) + static_cast<double>(s) / per_step) * dt;
      w.push_back(t >= 0 && t <= waveform.end_s ? waveform.at(t) : 0.0);
    }
    for (std::int64_t n = 0; n < n_steps; ++n)
      for (std::size_t m = 0; m + 1 < first_entry.size(); ++m) {
        double sum = 0;
        for (std::size_t x = first_entry[m]; x < first_entry[m + 1]; ++x) {
          const double* at = w.data() + longest + per_step * n - entries[x].point;
          for (int i = 0; i < 6; ++i)
            sum += entries[x].weight[static_cast<std::size_t>(i)] * at[-i];
        }
        *currents++ = sum;
      }
  }
};

}  // namespace

Injection beam(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s, const Beam& b) {
  const int axis = b.axis;
  if (axis < 0 || axis > 2 || !(b.waist > 0) || !(b.frequency_hz > 0) || !(b.eps > 0) ||
      !(b.mu > 0) || !(dt_s > 0))
    throw Error(
        "[beam] needs an axis 0, 1 or 2 and a positive waist, frequency, eps, mu and time step");
  const int n = grid.cells(axis), line = nearest_line(grid.lines[axis], b.position[axis]);
  if (!grid.resolved(axis) || line < 1 || line > n - 1)
    throw Error(fmt::format(
        "[beam] the plane at {} m on axis {} becomes line {} of {}: it must lie inside the domain",
        b.position[axis], "xyz"[axis], line, n));
  Point middle = b.position;
  middle[axis] = grid.lines[axis][line];
  const GaussianBeam profile =
      gaussian_beam("beam", middle, b.direction, b.polarization, b.waist, b.focus,
                    {grid.resolved(0), grid.resolved(1), grid.resolved(2)});
  const Point &u = profile.direction, &p = profile.polarization;
  if (std::abs(u[axis]) < 0.1)
    throw Error(
        fmt::format("[beam] the direction has only {} along {}: choose a plane that it crosses",
                    u[axis], "xyz"[axis]));

  // The side ahead is a box that ends beyond the domain.
  Box ahead;
  ahead.open = {true, true, true};
  ahead.open[axis] = false;
  for (int d = 0; d < 3; ++d) ahead.low[d] = 0, ahead.high[d] = grid.cells(d);
  if (u[axis] > 0)
    ahead.low[axis] = line, ahead.high[axis] = n + 8;
  else
    ahead.low[axis] = -8, ahead.high[axis] = line;
  const Surface surface = surface_of(grid, faces, ahead);

  const double speed = speed_of_light / std::sqrt(b.eps * b.mu),
               impedance = std::sqrt(b.mu / b.eps);  // in units of Z0
  const double k = 2 * std::numbers::pi * b.frequency_hz / speed;
  std::array<double, 6> unit{p[0], p[1], p[2]};
  for (int d = 0; d < 3; ++d)
    unit[3 + d] = (u[(d + 1) % 3] * p[(d + 2) % 3] - u[(d + 2) % 3] * p[(d + 1) % 3]) / impedance;

  const auto value = [&](const Term& t) { return profile.at(grid.position(t.edge), k); };
  const double least = 1e-5 * profile.at(middle, k).amplitude;
  const auto delay = [&](const GaussianBeam::Value& v) { return v.phase / (k * speed); };
  double earliest = INFINITY;
  const auto counts = [&](const Term& t) {
    return unit[t.edge.component] != 0 && value(t).amplitude >= least;
  };
  for (const Term& t : surface.terms)
    if (counts(t)) earliest = std::min(earliest, delay(value(t)));

  auto sheet = std::make_shared<Delayed>();
  sheet->waveform = b.waveform;
  sheet->dt = dt_s;
  Injection out;
  std::int64_t last = -1;
  for (const Term& t : surface.terms) {
    if (!counts(t)) continue;
    if (t.column != last) {
      out.edges.push_back(surface.edges[static_cast<std::size_t>(t.column)]);
      sheet->first_entry.push_back(sheet->entries.size());
      last = t.column;
    }
    // E is asked for at n dt, H at (n + 1/2) dt; the samples are those -2 ... 3 steps before.
    const GaussianBeam::Value v = value(t);
    const double x = per_step *
                     ((delay(v) - earliest) / dt_s - (is_electric(t.edge.component) ? 0 : 0.5)),
                 whole = std::floor(x);
    Delayed::Entry entry{static_cast<std::int64_t>(whole) - 2, lagrange(x - whole)};
    for (double& w : entry.weight)
      w *= b.amplitude * t.factor * unit[t.edge.component] * v.amplitude;
    sheet->longest = std::max(sheet->longest, entry.point + 5);
    sheet->ahead = std::max(sheet->ahead, -entry.point);
    sheet->entries.push_back(entry);
  }
  if (out.edges.empty()) throw Error("[beam] the beam misses the domain: it drives nothing");
  sheet->first_entry.push_back(sheet->entries.size());
  out.end_s = b.waveform.end_s + static_cast<double>(sheet->longest / per_step + 2) * dt_s;
  out.fill = [sheet](std::int64_t first, std::int64_t n_steps, double* currents) {
    sheet->fill(first, n_steps, currents);
  };
  return out;
}

}  // namespace tessera::electromagnetics
