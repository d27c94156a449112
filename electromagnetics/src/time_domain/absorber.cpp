// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/absorber.h"

#include "base/numbers.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/row_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace tessera::electromagnetics {
namespace {

/// s dt/2 at the lines and at the middles of an axis; empty without layers.
struct AbsorberProfile {
  std::vector<double> lines, middles;
};

AbsorberProfile absorber_profile(const std::vector<double>& x, AbsorbingFaces faces,
                                 const Absorber& a, double dt_s) {
  AbsorberProfile p;
  const double speed = speed_of_light / a.index;
  const auto n = x.size() - 1, deep = static_cast<std::size_t>(a.cells);
  const auto add = [&](double inner, double outer) {
    const double depth = std::abs(outer - inner),
                 most = -std::log(a.reflection) * (a.order + 1) * speed / (2 * depth);
    const auto at = [&](double position) {
      const double u = (position - inner) / (outer - inner);
      return u > 0 ? most * std::pow(u, a.order) * dt_s / 2 : 0;
    };
    p.lines.resize(n + 1), p.middles.resize(n + 1);
    for (std::size_t i = 0; i <= n; ++i) p.lines[i] += at(x[i]);
    for (std::size_t i = 0; i < n; ++i) p.middles[i] += at((x[i] + x[i + 1]) / 2);
  };
  if (faces.low) add(x[deep], x[0]);
  if (faces.high) add(x[n - deep], x[n]);
  return p;
}

bool polarizes(const MaterialRow& row, int i) {
  return std::any_of(row.dispersive.begin(), row.dispersive.end(), [&](const DispersiveRun& run) {
    return i >= run.first && i < run.first + static_cast<int>(run.weight.size());
  });
}

/// eps of an edge, or mu of a face, as a step of z = e^{i w dt} sees it.
double constant_at(const MaterialRow& row, int i, std::complex<double> z) {
  const double at_once = 1 / row.inverse[static_cast<std::size_t>(i)];
  if (z == 1.0 || !polarizes(row, i)) return at_once;
  return std::max(at_once, (row_answer(row, i, z) / (z - 1.0)).real());
}

void check_absorber(const YeeGrid& grid, int axis, AbsorbingFaces faces, const Absorber& a) {
  if (!(a.order >= 0) || !(a.reflection > 0 && a.reflection <= 1) || !(a.index > 0))
    throw Error(fmt::format(
        "[with_absorber] expected order >= 0, 0 < reflection <= 1 and index > 0, got {}, {} and {}",
        a.order, a.reflection, a.index));
  const int layers = int{faces.low} + int{faces.high};
  if (a.cells < 1 || a.cells > grid.cells(axis) / layers)
    throw Error(
        fmt::format("[with_absorber] {} layers of {} cells do not fit into the {} cells along {}",
                    layers, a.cells, grid.cells(axis), "xyz"[axis]));
}

}  // namespace

MaterialRows with_absorber(MaterialRows rows, const YeeGrid& grid,
                           const std::array<AbsorbingFaces, 3>& faces, const Absorber& absorber,
                           double dt_s) {
  std::array<AbsorberProfile, 3> profiles;
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    if (!grid.resolved(d) || !(faces[u].low || faces[u].high)) continue;
    check_absorber(grid, d, faces[u], absorber);
    profiles[u] = absorber_profile(grid.lines[u], faces[u], absorber, dt_s);
  }
  if (std::all_of(profiles.begin(), profiles.end(),
                  [](const AbsorberProfile& p) { return p.lines.empty(); }))
    return rows;
  const std::complex<double> z = std::polar(1.0, two_pi * absorber.frequency_hz * dt_s);
  return [rows = std::move(rows), profiles, z](int component, int j, int k, MaterialRow& row) {
    rows(component, j, k, row);
    const auto along = [&](int d) -> const std::vector<double>& {
      const AbsorberProfile& p = profiles[static_cast<std::size_t>(d)];
      return at_middle(component, d) ? p.middles : p.lines;
    };
    const auto at = [&](int d, int i) {
      return along(d).empty() ? 0 : along(d)[static_cast<std::size_t>(i)];
    };
    const double across = at(1, j) + at(2, k);
    for (int i = 0; i < static_cast<int>(row.inverse.size()); ++i) {
      const auto q = static_cast<std::size_t>(i);
      if (const double s = across + at(0, i); s > 0 && row.inverse[q] > 0)
        row.loss[q] += s * constant_at(row, i, z);
    }
  };
}

}  // namespace tessera::electromagnetics
