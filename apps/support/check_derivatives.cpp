// SPDX-License-Identifier: Apache-2.0
#include "support/check_derivatives.h"

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace tessera::apps {
namespace {

using Tensors = std::vector<Tensor>;

constexpr int kHalvings = 6;         ///< steps 1, 1/2 ... 1/32 of the reach
constexpr double kRounding = 1e-12;  ///< of phi: what thousands of steps in float64 leave
constexpr double kSlack = 0.1;       ///< of a slope
constexpr double kAgreement = 1e-6;  ///< of derivative and difference
constexpr double kAdjoint = 1e-10;   ///< of the two modes
constexpr double kUnsettled = 1e-3;  ///< differences that know themselves no better say nothing

/// Uniform in [-1, 1).
Tensor noise(const Tensor& like, std::mt19937_64& rng) {
  std::vector<double> v(static_cast<std::size_t>(like.size()));
  for (double& x : v) x = std::ldexp(static_cast<double>(rng() >> 11), -52) - 1;
  return reshape(tensor(v), like.shape());
}

double inner(const Tensor& a, const Tensor& b) { return sum(a * b).item(); }
double norm(const Tensor& a) { return std::sqrt(inner(a, a)); }

/// The slope of log2 r over the steps 1, 1/2 ...: by least squares over the three finest of them
/// that stand clear of rounding.
std::optional<double> slope(const std::array<double, kHalvings>& r) {
  int last = -1;
  while (last + 1 < kHalvings && r[static_cast<std::size_t>(last + 1)] > 10 * kRounding) ++last;
  if (last < 1) return {};
  const int first = std::max(0, last - 2), n = last - first + 1;
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int k = first; k <= last; ++k) {
    const double x = -k, y = std::log2(r[static_cast<std::size_t>(k)]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/// Central differences at halved steps, extrapolated in h^2; the entry of the tableau that moved
/// least.
void extrapolate(const std::array<double, kHalvings>& d, double& best, double& settled) {
  std::array<double, kHalvings> column = d;
  best = d[kHalvings - 1];
  settled = std::abs(d[kHalvings - 1] - d[kHalvings - 2]);
  for (int j = 1; j < kHalvings; ++j) {
    std::array<double, kHalvings> next{};
    const double factor = std::pow(4.0, j);
    for (int k = j; k < kHalvings; ++k) {
      const auto u = static_cast<std::size_t>(k);
      next[u] = (factor * column[u] - column[u - 1]) / (factor - 1);
      const double moved =
          std::max(std::abs(next[u] - column[u]), std::abs(next[u] - column[u - 1]));
      if (moved < settled) best = next[u], settled = moved;
    }
    column = next;
  }
}

void judge(DerivativeCheck& c) {
  const double size = std::max(std::abs(c.derivative), std::abs(c.difference));
  if (!std::isfinite(c.derivative) || !std::isfinite(c.difference))
    c.verdict = "not finite";
  else if (c.adjoint > kAdjoint)
    c.verdict = "forward and reverse mode differ";
  else if (size < 100 * kRounding)
    c.verdict = kNoInfluence;
  else if (c.settled > kUnsettled * size)
    c.verdict = "differences do not settle";
  else if (std::abs(c.derivative - c.difference) >
           kAgreement * size + 4 * c.settled + 40 * kRounding)
    c.verdict = "differs from differences";
  else if (c.slope_1 && *c.slope_1 < 2 - kSlack)
    c.verdict = "remainder falls too slowly";
  else if (c.slope_2 && *c.slope_2 < 3 - 2 * kSlack)
    c.verdict = "second remainder falls too slowly";
  else
    c.verdict = "ok";
  c.passed = c.verdict == "ok" || c.verdict == kNoInfluence;
}

}  // namespace

double DerivativeCheck::disagreement() const {
  const double size = std::max(std::abs(derivative), std::abs(difference));
  return size > 0 ? std::abs(derivative - difference) / size : 0;
}

std::vector<DerivativeCheck> check_derivatives(const Derivatives& d, std::uint64_t seed,
                                               const std::function<void(int, int)>& told) {
  const std::size_t groups = d.parameters.size(), results = d.results.size();
  const int total = 1 + static_cast<int>(results + groups * (2 + 2 * kHalvings));
  int done = 0;
  const auto tell = [&] {
    ++done;
    if (told) told(done, total);
  };
  std::mt19937_64 rng(seed);
  Tensors p;
  for (const auto& g : d.parameters) p.push_back(g.at);

  const auto [y, pull] = vjp(d.values, p);
  tell();
  Tensors weight;
  std::vector<double> size;
  std::vector<Tensors> pulled;
  for (std::size_t r = 0; r < results; ++r) {
    const Tensor c = noise(y[r], rng);
    size.push_back(norm(y[r]));
    weight.push_back(c / (norm(c) * (size[r] > 0 ? size[r] : 1)));
    Tensors ct;
    for (std::size_t q = 0; q < results; ++q)
      ct.push_back(q == r ? weight[r] : zeros(y[q].shape()));
    pulled.push_back(pull(ct));
    tell();
  }

  std::vector<DerivativeCheck> out;
  for (std::size_t g = 0; g < groups; ++g) {
    Tensors v;
    for (std::size_t q = 0; q < groups; ++q)
      v.push_back(q == g ? d.parameters[g].reach * noise(p[g], rng) : zeros(p[q].shape()));
    const auto derivative_along_v = [&](const Tensors& x) { return jvp(d.values, x, v).second; };
    const Tensors first = derivative_along_v(p);
    tell();
    const Tensors second = jvp(derivative_along_v, p, v).second;
    tell();
    std::vector<std::array<double, kHalvings>> central(results), r1(results), r2(results);
    for (int k = 0; k < kHalvings; ++k) {
      const double h = std::ldexp(1.0, -k);
      const auto at = [&](double s) {
        Tensors x = p;
        x[g] = p[g] + s * v[g];
        Tensors there = d.values(x);
        tell();
        return there;
      };
      const Tensors plus = at(h), minus = at(-h);
      for (std::size_t r = 0; r < results; ++r) {
        const double up = inner(weight[r], plus[r] - y[r]),
                     down = inner(weight[r], minus[r] - y[r]);
        const double phi1 = inner(weight[r], first[r]), phi2 = inner(weight[r], second[r]);
        const auto u = static_cast<std::size_t>(k);
        central[r][u] = (up - down) / (2 * h);
        // The mean over both sides: of a h^2 +- b h^3 the odd part cancels, a wrong derivative does
        // not.
        r1[r][u] = (std::abs(up - h * phi1) + std::abs(down + h * phi1)) / 2;
        r2[r][u] = (std::abs(up - h * phi1 - h * h / 2 * phi2) +
                    std::abs(down + h * phi1 - h * h / 2 * phi2)) /
                   2;
      }
    }
    for (std::size_t r = 0; r < results; ++r) {
      DerivativeCheck c{.result = d.results[r], .parameters = d.parameters[g].name};
      c.size = size[r];
      c.derivative = inner(weight[r], first[r]);
      extrapolate(central[r], c.difference, c.settled);
      const double apart = std::abs(c.derivative - inner(pulled[r][g], v[g])),
                   scale = norm(weight[r]) * norm(first[r]);
      c.adjoint = scale > 0 ? apart / scale : apart;
      c.slope_1 = slope(r1[r]);
      c.slope_2 = slope(r2[r]);
      judge(c);
      out.push_back(std::move(c));
    }
  }
  return out;
}

}  // namespace tessera::apps
