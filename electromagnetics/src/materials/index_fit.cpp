// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/index_fit.h"

#include "base/numbers.h"
#include "passive_residues.h"
#include "tessera/autodiff/error.h"
#include "vector_fitting.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

constexpr double kOnTheAxis = 1e-9;  // |Re a|/|a| of a pole that is taken for lossless
constexpr double kSmallGain = 1e-3;  // relative fall of the error that is still progress
constexpr int kPatience = 6;         // iterations without it

void check(const IndexTable& table, const FitOptions& options) {
  if (table.f_hz.size() != table.eps.size() || table.f_hz.empty())
    throw Error(
        fmt::format("[fit_medium] expected as many permittivities as frequencies and at "
                    "least one, got {} and {}",
                    table.eps.size(), table.f_hz.size()));
  for (std::size_t k = 0; k < table.f_hz.size(); ++k)
    if (!(table.f_hz[k] > 0) || !std::isfinite(std::abs(table.eps[k])) || table.eps[k] == 0.0)
      throw Error(
          fmt::format("[fit_medium] expected frequencies > 0 and permittivities that are "
                      "finite and not zero, got eps = {}{:+}i at {} Hz",
                      table.eps[k].real(), table.eps[k].imag(), table.f_hz[k]));
  if (options.least_order < 1 || options.most_order < options.least_order ||
      options.iterations < 1 || !(options.tolerance >= 0))
    throw Error(
        "[fit_medium] expected 1 <= least_order <= most_order, iterations >= 1 and a "
        "tolerance >= 0");
  const std::size_t unknowns = static_cast<std::size_t>(2 * options.least_order) + 2;
  if (2 * table.f_hz.size() < unknowns)
    throw Error(
        fmt::format("[fit_medium] {} rows cannot fix {} numbers; give more rows or a "
                    "smaller least_order",
                    table.f_hz.size(), unknowns));
}

/// A medium with the errors of its fit.
FittedMedium judged(const IndexTable& table, const ResidueFit& fit, int order) {
  FittedMedium out;
  out.medium = {.name = table.name,
                .eps = {fit.eps_inf, fit.eps_inf, fit.eps_inf},
                .sigma = {fit.sigma, fit.sigma, fit.sigma},
                .poles = fit.poles};
  out.report.order = order;
  out.report.passive = fit.passive;
  out.report.constrained = fit.constrained;
  double sum = 0;
  for (std::size_t k = 0; k < table.f_hz.size(); ++k) {
    const double error = std::abs(permittivity(out.medium, 0, table.f_hz[k]) - table.eps[k]) /
                         std::abs(table.eps[k]);
    sum += error * error;
    if (error >= out.report.max_error) {
      out.report.max_error = error;
      out.report.worst_f_hz = table.f_hz[k];
    }
  }
  out.report.rms = std::sqrt(sum / static_cast<double>(table.f_hz.size()));
  return out;
}

Poles on_the_axis_if_near(Poles poles) {
  for (Complex& a : poles)
    if (is_pair(a) && std::abs(a.real()) < kOnTheAxis * std::abs(a)) a.real(0);
  return poles;
}

/// The poles with which least squares does best, of all that the iteration passes. The constant is
/// free, or held at `options.least_eps_inf`.
Poles best_poles(const IndexTable& table, const FitSamples& samples, int order, double scale,
                 const FitOptions& options, bool held) {
  ResidueOptions residues{.scale = scale,
                          .conducting = options.conducting,
                          .least_eps_inf = -std::numeric_limits<double>::infinity(),
                          .passive = false};
  FitSamples above = samples;  // the constant
  if (held) {
    residues.least_eps_inf = options.least_eps_inf;
    for (Complex& value : above.value) value -= options.least_eps_inf;
  }
  Poles poles = starting_poles(samples, order), best = poles;
  double least = std::numeric_limits<double>::infinity();
  int waiting = 0;
  for (int n = 0; n < options.iterations && waiting < kPatience; ++n) {
    poles = relocate(above, poles, {.constant = !held, .pole_at_zero = options.conducting});
    const Poles candidate = on_the_axis_if_near(poles);
    const double rms = judged(table, fit_residues(samples, candidate, residues), order).report.rms;
    waiting = rms < (1 - kSmallGain) * least ? 0 : waiting + 1;
    if (rms < least) least = rms, best = candidate;
  }
  return best;
}

bool better(const FitReport& a, const FitReport& b) {
  return a.passive != b.passive ? a.passive : a.rms < b.rms;
}

/// The best fit with `order` poles. Where the constant has to be held at its least value, poles
/// that were found with it free are no longer the best ones.
FittedMedium fit_order(const IndexTable& table, const FitSamples& samples, int order, double scale,
                       const FitOptions& options) {
  const ResidueOptions residues{.scale = scale,
                                .conducting = options.conducting,
                                .least_eps_inf = options.least_eps_inf,
                                .passive = options.passive};
  const auto fit = [&](bool held) {
    const Poles poles = best_poles(table, samples, order, scale, options, held);
    return judged(table, fit_residues(samples, poles, residues), order);
  };
  FittedMedium free = fit(false);
  if (!free.report.constrained) return free;
  FittedMedium held = fit(true);
  return better(held.report, free.report) ? held : free;
}

}  // namespace

FittedMedium fit_medium(const IndexTable& table, const FitOptions& options) {
  check(table, options);
  double scale = 0;
  for (double f : table.f_hz) scale = std::max(scale, two_pi * f);
  FitSamples samples;
  for (std::size_t k = 0; k < table.f_hz.size(); ++k) {
    samples.s.emplace_back(0, two_pi * table.f_hz[k] / scale);
    samples.value.push_back(table.eps[k]);
    samples.weight.push_back(1 / std::abs(table.eps[k]));
  }
  std::optional<FittedMedium> best;
  std::vector<double> rms_by_order;
  for (int order = options.least_order; order <= options.most_order; ++order) {
    if (2 * table.f_hz.size() < 2 * static_cast<std::size_t>(order) + 2) break;
    FittedMedium fit = fit_order(table, samples, order, scale, options);
    fit.report.reached = fit.report.rms <= options.tolerance;
    rms_by_order.push_back(fit.report.rms);
    if (!best || better(fit.report, best->report)) best = std::move(fit);
    if (best->report.reached) break;
  }
  best->report.rms_by_order = std::move(rms_by_order);
  return *best;
}

}  // namespace tessera::electromagnetics
