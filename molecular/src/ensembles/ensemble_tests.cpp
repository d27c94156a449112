// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/ensemble_tests.h"

#include "tessera/autodiff/error.h"
#include "tessera/molecular/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {

double statistical_inefficiency(std::span<const double> s) {
  const std::size_t n = s.size();
  double mean = 0, variance = 0;
  for (const double x : s) mean += x / static_cast<double>(n);
  for (const double x : s) variance += (x - mean) * (x - mean);
  if (!(variance > 1e-28 * static_cast<double>(n) * mean * mean))
    return 1;  // a constant, up to rounding
  double g = 1;
  for (std::size_t t = 1; t + 1 < n; ++t) {
    double c = 0;
    for (std::size_t i = 0; i + t < n; ++i) c += (s[i] - mean) * (s[i + t] - mean);
    c *= static_cast<double>(n) / (static_cast<double>(n - t) * variance);
    if (c <= 0) break;
    g += 2 * (1 - static_cast<double>(t) / static_cast<double>(n)) * c;
  }
  return std::max(g, 1.0);
}

std::vector<double> thinned(std::span<const double> s, double stride) {
  std::vector<double> out;
  for (std::size_t i = 0; i < s.size();
       i += static_cast<std::size_t>(std::ceil(std::max(stride, 1.0))))
    out.push_back(s[i]);
  return out;
}

double gamma_distribution(double a, double x) {
  if (!(x > 0)) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  constexpr int most = 100000;
  if (x < a + 1) {
    // P = x^a e^-x/Gamma(a) sum_k x^k/(a (a + 1) ... (a + k))
    double term = 1 / a, sum = term;
    for (int k = 1; k < most && term > 1e-17 * sum; ++k) sum += term *= x / (a + k);
    return front * sum;
  }
  // 1 - P by its continued fraction 1/(x + 1 - a - 1 (1 - a)/(x + 3 - a - 2 (2 - a)/(x + 5 - a -
  // ...))), Lentz's way.
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int k = 1; k < most; ++k) {
    const double an = -k * (k - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < tiny) d = tiny;
    c = b + an / c;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return 1 - front * h;
}

DistributionTest kinetic_distribution(std::span<const double> kinetic, double freedom,
                                      double temperature_k) {
  if (kinetic.size() < 20)
    throw Error(fmt::format(
        "[kinetic_distribution] {} samples are too few: take at least 20 independent ones",
        kinetic.size()));
  std::vector<double> k(kinetic.begin(), kinetic.end());
  std::ranges::sort(k);
  const auto n = static_cast<double>(k.size());
  DistributionTest t{.samples = k.size()};
  for (std::size_t i = 0; i < k.size(); ++i) {
    const double p = gamma_distribution(0.5 * freedom, k[i] / (gas_constant * temperature_k));
    t.statistic =
        std::max({t.statistic, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  // Q(l) = 2 sum (-1)^(j-1) e^(-2 j^2 l^2), with Stephens's l for finite n (J. R. Stat. Soc. B 32
  // (1970) 115).
  const double l = (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n)) * t.statistic;
  double sum = 0;
  for (int j = 1; j <= 100; ++j) sum += (j % 2 == 1 ? 2 : -2) * std::exp(-2 * j * j * l * l);
  t.p = l < 0.2 ? 1 : std::clamp(sum, 0.0, 1.0);
  return t;
}

PairTest log_ratio_test(std::span<const double> a, std::span<const double> b, double expected) {
  // That a sample is of b has the probability 1/(1 + e^-(c + s x)): logistic regression, by
  // Newton's method in u = (x - mean)/width.
  if (a.size() < 20 || b.size() < 20)
    throw Error(fmt::format(
        "[log_ratio_test] {} and {} samples are too few: take at least 20 independent ones of each",
        a.size(), b.size()));
  double mean = 0, width = 0;
  const auto n = static_cast<double>(a.size() + b.size());
  for (const auto& s : {a, b})
    for (const double x : s) mean += x / n;
  for (const auto& s : {a, b})
    for (const double x : s) width += (x - mean) * (x - mean) / n;
  width = std::sqrt(width);
  double c = std::log(static_cast<double>(b.size()) / static_cast<double>(a.size())), s = 0,
         variance = 0;
  for (int iteration = 0;; ++iteration) {
    double g0 = 0, g1 = 0, h00 = 0, h01 = 0, h11 = 0;
    const auto add = [&](double x, double is_b) {
      const double u = (x - mean) / width, p = 1 / (1 + std::exp(-(c + s * u))), w = p * (1 - p);
      g0 += is_b - p;
      g1 += (is_b - p) * u;
      h00 += w;
      h01 += w * u;
      h11 += w * u * u;
    };
    for (const double x : a) add(x, 0);
    for (const double x : b) add(x, 1);
    const double det = h00 * h11 - h01 * h01;
    if (!(det > 0) || iteration == 100 || !(std::abs(s) < 1e3))
      throw Error(
          "[log_ratio_test] the samples do not overlap: bring the two states closer together");
    const double dc = (h11 * g0 - h01 * g1) / det, ds = (h00 * g1 - h01 * g0) / det;
    c += dc;
    s += ds;
    variance = h00 / det;
    if (std::abs(dc) + std::abs(ds) < 1e-12 * (1 + std::abs(s))) break;
  }
  return {s / width, std::sqrt(variance) / width, expected};
}

}  // namespace tessera::molecular
