// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/profile.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::mt1d {
namespace {

/// The datum that stands at each of 0, 1, ..., n - 1, of data at `place` in any order; place.size()
/// where none does.
std::vector<std::size_t> standing_at(const std::vector<double>& place, std::size_t n) {
  std::vector<double> sorted = place, half;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) half.push_back((sorted[i] - sorted[i - 1]) / 2);
  double first = 0, last = 0,
         most = 0;  // how far data reach: below the first, above the last, between two
  if (!half.empty()) {
    first = half.front(), last = half.back();
    const auto middle = half.begin() + static_cast<std::ptrdiff_t>(half.size() / 2);
    std::nth_element(half.begin(), middle, half.end());
    most = 3 * *middle;
  }
  std::vector<std::size_t> out(n, place.size());
  for (std::size_t k = 0; k < n; ++k) {
    const auto p = static_cast<double>(k);
    double nearest = HUGE_VAL;
    const double end = sorted.empty() || (p >= sorted.front() && p <= sorted.back()) ? most
                       : p < sorted.front()                                          ? first
                                                                                     : last;
    const double reach =
        std::max(0.5, std::min(most, end)) + 1e-9;  // half-way is met in spite of rounding
    for (std::size_t i = 0; i < place.size(); ++i)
      if (const double away = std::abs(place[i] - p); away < nearest && away <= reach)
        nearest = away, out[k] = i;
  }
  return out;
}

}  // namespace

std::vector<double> column_edges(const std::vector<Record>& records) {
  const std::size_t n = records.size();
  std::vector<double> edges(n + 1);
  const double span = records.back().distance_m - records.front().distance_m;
  const double least = span > 0 ? 1e-3 * span : 0.5;  // a width for stations on one spot
  for (std::size_t k = 1; k < n; ++k)
    edges[k] = 0.5 * (records[k - 1].distance_m + records[k].distance_m);
  const double typical = n > 1 && span > 0 ? span / static_cast<double>(n - 1) : 1.0;
  edges[0] = records.front().distance_m - 0.5 * typical;
  edges[n] = records.back().distance_m + 0.5 * typical;
  for (std::size_t k = 1; k <= n; ++k) edges[k] = std::max(edges[k], edges[k - 1] + least);
  return edges;
}

double greatest_depth(const std::vector<Record>& records) {
  double deep = 0;
  for (const Record& r : records) deep = std::max(deep, r.result.depth.bostick_m);
  return deep > 0 && std::isfinite(deep) ? 1.3 * deep : 1000.0;
}

PeriodTable period_table(const std::vector<Record>& records) {
  double lo = INFINITY, hi = 0;
  for (const Record& r : records)
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
    v->assign(n * records.size(), NAN);
  for (std::size_t s = 0; s < records.size(); ++s) {
    const auto& r = records[s].result;
    std::vector<double> place;
    for (const double f : r.response.frequency_hz) place.push_back(-std::log10(f) / step - first);
    const std::vector<std::size_t> standing = standing_at(place, n);
    for (std::size_t p = 0; p < n; ++p) {
      const std::size_t i = standing[p], k = s * n + p;
      if (i == place.size()) continue;
      const double f = r.response.frequency_hz[i];
      const auto z = r.response.impedance_ohm[i];
      t.rho_a[k] = inversion::apparent_resistivity(f, z);
      t.phase[k] = inversion::phase_degrees(z);
      t.rho_a_error[k] = 2 * t.rho_a[k] * r.response.sigma_ohm[i] / std::abs(z);
      t.phase_error[k] = r.response.sigma_ohm[i] / std::abs(z) * 180 / std::numbers::pi;
      if (r.predicted_ohm.empty()) continue;
      t.predicted_rho_a[k] = inversion::apparent_resistivity(f, r.predicted_ohm[i]);
      t.predicted_phase[k] = inversion::phase_degrees(r.predicted_ohm[i]);
    }
  }
  return t;
}

}  // namespace tessera::apps::mt1d
