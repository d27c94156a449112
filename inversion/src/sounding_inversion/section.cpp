// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section.h"

#include "tessera/data/median.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

/// The datum that stands at each of 0, 1, ..., n - 1, of data at `x` in any order; x.size() where
/// none does.
std::vector<std::size_t> datum_at(const std::vector<double>& x, std::size_t n) {
  std::vector<double> sorted = x, half;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) half.push_back((sorted[i] - sorted[i - 1]) / 2);
  double first = 0, last = 0,
         most = 0;  // how far data reach: below the first, above the last, between two
  if (!half.empty()) {
    first = half.front(), last = half.back();
    most = 3 * data::median(half);
  }
  std::vector<std::size_t> out(n, x.size());
  for (std::size_t k = 0; k < n; ++k) {
    const auto p = static_cast<double>(k);
    double nearest = HUGE_VAL;
    const double end = sorted.empty() || (p >= sorted.front() && p <= sorted.back()) ? most
                       : p < sorted.front()                                          ? first
                                                                                     : last;
    const double reach =
        std::max(0.5, std::min(most, end)) + 1e-9;  // half-way is met in spite of rounding
    for (std::size_t i = 0; i < x.size(); ++i)
      if (const double away = std::abs(x[i] - p); away < nearest && away <= reach)
        nearest = away, out[k] = i;
  }
  return out;
}

}  // namespace

std::vector<double> column_edges(std::span<const StationResult> results) {
  const std::size_t n = results.size();
  std::vector<double> edges(n + 1);
  const double span = results.back().distance_m - results.front().distance_m;
  const double least = span > 0 ? 1e-3 * span : 0.5;  // a width for stations on one spot
  for (std::size_t k = 1; k < n; ++k)
    edges[k] = 0.5 * (results[k - 1].distance_m + results[k].distance_m);
  const double typical = n > 1 && span > 0 ? span / static_cast<double>(n - 1) : 1.0;
  edges[0] = results.front().distance_m - 0.5 * typical;
  edges[n] = results.back().distance_m + 0.5 * typical;
  for (std::size_t k = 1; k <= n; ++k) edges[k] = std::max(edges[k], edges[k - 1] + least);
  return edges;
}

double section_depth(std::span<const StationResult> results) {
  double deep = 0;
  for (const StationResult& r : results) deep = std::max(deep, r.result.depth.bostick_m);
  return deep > 0 && std::isfinite(deep) ? 1.3 * deep : 1000.0;
}

PeriodTable period_table(std::span<const StationResult> results) {
  double lo = INFINITY, hi = 0;
  for (const StationResult& r : results)
    for (double f : r.result.response.frequency_hz) {
      lo = std::min(lo, 1 / f);
      hi = std::max(hi, 1 / f);
    }
  PeriodTable t;
  const double step = 1.0 / 8;
  const int first = static_cast<int>(std::floor(std::log10(lo) / step)),
            last = static_cast<int>(std::ceil(std::log10(hi) / step));
  for (int k = first; k <= last; ++k) t.period.push_back(std::pow(10.0, k * step));
  const std::size_t n = t.period.size();
  for (auto* v :
       {&t.rho_a, &t.phase, &t.predicted_rho_a, &t.predicted_phase, &t.rho_a_error, &t.phase_error})
    v->assign(n * results.size(), NAN);
  for (std::size_t s = 0; s < results.size(); ++s) {
    const auto& r = results[s].result;
    std::vector<double> x;
    for (const double f : r.response.frequency_hz) x.push_back(-std::log10(f) / step - first);
    const std::vector<std::size_t> datum = datum_at(x, n);
    for (std::size_t p = 0; p < n; ++p) {
      const std::size_t i = datum[p], k = s * n + p;
      if (i == x.size()) continue;
      const double f = r.response.frequency_hz[i];
      const auto z = r.response.impedance_ohm[i];
      t.rho_a[k] = apparent_resistivity(f, z);
      t.phase[k] = phase_degrees(z);
      t.rho_a_error[k] = 2 * t.rho_a[k] * r.response.sigma_ohm[i] / std::abs(z);
      t.phase_error[k] = r.response.sigma_ohm[i] / std::abs(z) * 180 / std::numbers::pi;
      if (r.predicted_ohm.empty()) continue;
      t.predicted_rho_a[k] = apparent_resistivity(f, r.predicted_ohm[i]);
      t.predicted_phase[k] = phase_degrees(r.predicted_ohm[i]);
    }
  }
  return t;
}

data::UnstructuredGrid section_grid(std::span<const StationResult> results) {
  const auto edges = column_edges(results);
  const double bottom = section_depth(results);
  data::UnstructuredGrid g;
  data::FieldArray rho{"resistivity", "ohm*m", "resistivity of the layers"},
      station{"station", "1", "number of the station along the profile"},
      low{"resistivity_q05", "ohm*m", "5 % quantile"},
      high{"resistivity_q95", "ohm*m", "95 % quantile"},
      seen{"seen", "1", "1 above the Bostick depth at the longest period"};
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto& s = results[k].result;
    const auto z = bottoms(s.thickness_m);
    double top = 0;
    for (std::size_t j = 0; j < s.resistivity_ohm_m.size() && top < bottom; ++j) {
      const double base = j < z.size() ? std::min(z[j], bottom) : bottom;
      const auto first = static_cast<std::int64_t>(g.points.size() / 3);
      for (const auto& [x, d] : {std::pair(edges[k], base), std::pair(edges[k + 1], base),
                                 std::pair(edges[k + 1], top), std::pair(edges[k], top)})
        g.points.insert(g.points.end(), {x, 0.0, -d});
      for (int c = 0; c < 4; ++c) g.connectivity.push_back(first + c);
      g.offsets.push_back(static_cast<std::int64_t>(g.connectivity.size()));
      g.shapes.push_back(data::CellShape::quad);
      rho.values.push_back(s.resistivity_ohm_m[j]);
      low.values.push_back(s.q05.empty() ? NAN : s.q05[j]);
      high.values.push_back(s.q95.empty() ? NAN : s.q95[j]);
      station.values.push_back(static_cast<double>(k));
      seen.values.push_back(top < s.depth.bostick_m ? 1 : 0);
      top = base;
    }
  }
  g.fields.cells = {rho, low, high, station, seen};
  return g;
}

data::RectilinearGrid pseudo_section_grid(std::span<const StationResult> results) {
  const auto edges = column_edges(results);
  const PeriodTable t = period_table(results);
  data::RectilinearGrid g;
  g.x = edges;
  const double half = t.period.size() > 1 ? 0.5 * std::log10(t.period[1] / t.period[0]) : 0.1;
  g.y = {0};
  g.z.clear();
  for (std::size_t p = t.period.size(); p-- > 0;)
    g.z.push_back(-std::log10(t.period[p]) - half);  // long periods below
  g.z.push_back(-std::log10(t.period[0]) + half);
  data::FieldArray fields[4] = {{"apparent_resistivity", "ohm*m", "observed"},
                                {"phase", "deg", "observed"},
                                {"predicted_apparent_resistivity", "ohm*m", "predicted"},
                                {"predicted_phase", "deg", "predicted"}};
  const std::vector<double>* from[4] = {&t.rho_a, &t.phase, &t.predicted_rho_a, &t.predicted_phase};
  for (int f = 0; f < 4; ++f) {
    for (std::size_t p = t.period.size(); p-- > 0;)
      for (std::size_t k = 0; k < results.size(); ++k)
        fields[f].values.push_back((*from[f])[k * t.period.size() + p]);
    g.fields.cells.push_back(std::move(fields[f]));
  }
  return g;
}

}  // namespace tessera::inversion
