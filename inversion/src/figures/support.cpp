// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tessera::inversion::figures {

bool is_number(double v) { return std::isfinite(v); }

std::pair<double, double> positive_range(const std::vector<double>& values) {
  double lo = std::numeric_limits<double>::infinity(), hi = 0;
  for (const double v : values)
    if (is_number(v) && v > 0) lo = std::fmin(lo, v), hi = std::fmax(hi, v);
  if (hi == 0) return {1, 0};
  return {lo, hi};
}

std::string digits(double value, int significant) {
  char text[40];
  return {
      text,
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, significant).ptr};
}

std::pair<std::string, double> length_unit(double greatest_m) {
  if (greatest_m >= 2000) return {"km", 1000.0};
  return {"m", 1.0};
}

std::vector<double> layer_edges(const std::vector<double>& top, double scale) {
  std::vector<double> edges;
  for (const double z : top) edges.push_back(z / scale);
  if (!edges.empty()) edges.push_back(std::numeric_limits<double>::infinity());
  return edges;
}

std::vector<double> cell_edges(const std::vector<double>& centre, bool log) {
  const std::size_t n = centre.size();
  if (n == 0) return {};
  std::vector<double> c(centre), edges(n + 1);
  if (log)
    for (double& v : c) v = std::log(v);
  if (n == 1) {
    const double half = log ? 0.5 : std::fmax(0.5, 0.05 * std::abs(c[0]));
    edges = {c[0] - half, c[0] + half};
  } else {
    for (std::size_t i = 1; i < n; ++i) edges[i] = 0.5 * (c[i - 1] + c[i]);
    edges[0] = c[0] - (edges[1] - c[0]);
    edges[n] = c[n - 1] + (c[n - 1] - edges[n - 1]);
  }
  if (log)
    for (double& v : edges) v = std::exp(v);
  return edges;
}

}  // namespace tessera::inversion::figures
