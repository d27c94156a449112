// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_inversion.h"

#include "gauss_newton/normal_equations.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/posterior.h"
#include "tessera/inversion/regularization.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tessera::inversion {
namespace {

[[noreturn]] void bad_inversion(const std::string& what) {
  throw Error("[SectionInversion] " + what);
}

/// Between bounds dm/dx is this half way, and so large differences of x count as those of m.
double half_way_slope(const Bounds& b) { return (b.upper - b.lower) / 4; }

struct Least {
  double at = 0, value = 0;
  bool at_low = false, at_high = false;  ///< as far as can be told: at an end
};
/// Golden section to 0.2.
template <class F>
Least least_between(const F& f, double low, double high) {
  const double ratio = (std::sqrt(5.0) - 1) / 2, first = low, last = high;
  double a = high - ratio * (high - low), b = low + ratio * (high - low), fa = f(a), fb = f(b);
  while (high - low > 0.2) {
    if (fa < fb) {
      high = b, b = a, fb = fa;
      a = high - ratio * (high - low), fa = f(a);
    } else {
      low = a, a = b, fa = fb;
      b = low + ratio * (high - low), fb = f(b);
    }
  }
  return {(low + high) / 2, std::min(fa, fb), low == first, high == last};
}

/// ln of the weight with the least -2 ln p(data | weight): over seven decades below that of a model
/// and one above, and on beyond an end where the least lies there. A weight so large that more of
/// it changes no probability is large enough.
template <class F>
double most_probable_weight(const F& evidence, double found) {
  constexpr double decade = std::numbers::ln10, worth_it = 0.1;
  constexpr int most_decades = 20;
  const Least best = least_between(evidence, found - 7 * decade, found + decade);
  if (!best.at_low && !best.at_high) return best.at;
  const double way = best.at_low ? -decade : decade;
  double end = found + (best.at_low ? -7 * decade : decade), here = evidence(end);
  for (int k = 0; k < most_decades; ++k) {
    const double next = evidence(end + way);
    if (!(next < here - worth_it)) break;
    end += way, here = next;
  }
  const Least beyond = least_between(evidence, end - decade, end + decade);
  return beyond.value < best.value - worth_it ? beyond.at : best.at;
}

}  // namespace

SectionInversion::SectionInversion(const DataTable& data, const SectionMesh& mesh,
                                   const std::vector<double>& frequency_hz,
                                   const SectionInversionOptions& options)
    : options_(options),
      cells_(mesh.cells),
      forward_(mesh.solver, mesh.sensors, data, frequency_hz, options.forward, options.axes),
      n_cells_(forward_.parameters()) {
  const auto& o = options_;
  std::vector<double> ln_rho = o.start;
  if (ln_rho.empty()) ln_rho = {std::log(section_scales(data).ohm_m)};
  if (ln_rho.size() == 1) ln_rho.assign(n_cells_, ln_rho[0]);
  if (ln_rho.size() != n_cells_)
    bad_inversion(fmt::format("the start has {} numbers, the section {}", ln_rho.size(), n_cells_));
  if (!o.fixed.empty() && o.fixed.size() != n_cells_)
    bad_inversion(fmt::format("fixed has {} entries, the section {}", o.fixed.size(), n_cells_));
  if (!(o.tolerance > 0) || !(o.max_change > 0) || o.max_iterations < 1 || !(o.target_rms > 0) ||
      !(o.mu > 0) || !(o.mu_start > 0))
    bad_inversion(
        "tolerance, max_change, max_iterations, target_rms, mu and mu_start must be "
        "above 0");
  auto& smooth = options_.smoothing;
  smooth.axes = static_cast<int>(o.axes);
  if (smooth.reference.empty()) {
    const auto n = static_cast<double>(n_cells_);
    smooth.reference = {std::accumulate(ln_rho.begin(), ln_rho.end(), 0.0) / n};
  }
  start_ = ln_rho;
  const bool products =
      o.method == SectionMethod::lbfgs || o.equations == NormalEquations::conjugate_gradients;
  ForwardMap map =
      forward_.map(products ? SectionForward::First::products : SectionForward::First::numbers);
  if (o.ln_rho_bounds) {
    const Bounds& b = *o.ln_rho_bounds;
    for (std::size_t k = 0; k < n_cells_; ++k)
      if (!(ln_rho[k] > b.lower && ln_rho[k] < b.upper))
        bad_inversion(
            fmt::format("the start has {:.4g} ohm m in cell {}, which is not between the "
                        "bounds {:.4g} and {:.4g}",
                        std::exp(ln_rho[k]), k, std::exp(b.lower), std::exp(b.upper)));
    map = with_bounds(std::move(map), b, n_cells_);
    start_ = model_to_bounded(start_, b, n_cells_);
    smooth.reference = model_to_bounded(smooth.reference, b, smooth.reference.size());
    const double slope = half_way_slope(b);
    for (double* w : {&smooth.along, &smooth.down, &smooth.anchor, &smooth.isotropy})
      *w *= slope * slope;
    smooth.corner /= slope;
  }
  if (o.shift_std_decades) {
    if (!(*o.shift_std_decades > 0)) bad_inversion("shift_std_decades must be above 0");
    shifts_ = static_shifts_of(data, o.shifted_stations);
    map = with_shifts(std::move(map), shifts_);
    start_.resize(n_cells_ + shifts_.unknown.size(), 0.0);
  }
  problem_ = {.forward = std::move(map), .data = data.value, .sigma = data.sigma, .loss = o.loss};
  if (!o.fixed.empty()) {
    problem_.fixed = o.fixed;
    problem_.fixed.resize(start_.size(), false);
  }
}

Smoothing SectionInversion::smoothing(const SectionState& state) const {
  const std::vector<double>& m = state.steps().m;
  const Smoothing s = section_smoothing(cells_, options_.smoothing, m.empty() ? start_ : m);
  return with_shifts(s, shifts_.unknown.size(), options_.shift_std_decades.value_or(1.0));
}

OccamOptions SectionInversion::occam_options() const {
  return {.target_rms = options_.target_rms,
          .mu_start = options_.mu_start,
          .max_iterations = options_.max_iterations,
          .smoothest = options_.smoothest,
          .newton = {.max_iterations = options_.max_iterations,
                     .tolerance = options_.tolerance * static_cast<double>(problem_.data.size()),
                     .max_change = options_.max_change,
                     .equations = options_.equations}};
}

SectionState SectionInversion::begin(const std::vector<double>& x) const {
  SectionState out{.by_occam = options_.method == SectionMethod::occam};
  const Smoothing smooth = smoothing(out);
  if (out.by_occam) {
    out.occam = begin_occam(problem_, smooth, x, occam_options());
  } else if (options_.method == SectionMethod::lbfgs) {
    out.descent = begin_quasi_newton(problem_, smooth.prior(options_.mu), x);
  } else {
    static_cast<StepState&>(out.descent) =
        begin_gauss_newton(problem_, smooth.prior(options_.mu), x);
  }
  return out;
}

void SectionInversion::step(SectionState& state) const {
  if (state.ended()) return;
  const Smoothing smooth = smoothing(state);
  if (state.by_occam) return step_occam(problem_, smooth, occam_options(), state.occam);
  const GaussianPrior prior = smooth.prior(options_.mu);
  const GaussNewtonOptions newton = occam_options().newton;
  const std::size_t before = state.descent.iterations.size();
  if (options_.method == SectionMethod::lbfgs)
    step_quasi_newton(problem_, prior,
                      {.max_iterations = newton.max_iterations,
                       .tolerance = newton.tolerance,
                       .max_change = newton.max_change},
                      state.descent);
  else
    step_gauss_newton(problem_, prior, newton, state.descent);
  if (state.descent.iterations.size() == before) return;
  state.descent.iterations.back().mu = options_.mu;
  state.descent.iterations.back().roughness = smooth.roughness(state.descent.m);
}

std::vector<double> SectionInversion::ln_rho_of(const std::vector<double>& x) const {
  std::vector<double> m(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n_cells_));
  return options_.ln_rho_bounds ? bounded_to_model(std::move(m), *options_.ln_rho_bounds, n_cells_)
                                : m;
}

SectionResult SectionInversion::result(const SectionState& state) const {
  const StepState& s = state.steps();
  const Smoothing smooth = smoothing(state);
  SectionResult r;
  r.mu = state.by_occam ? state.occam.mu : options_.mu;
  const GaussNewtonResult fit = result_of(problem_, smooth.prior(r.mu), s);
  r.ln_rho = ln_rho_of(s.m);
  r.shift_of = shifts_.unknown;
  r.shift_decades.assign(s.m.begin() + static_cast<std::ptrdiff_t>(n_cells_), s.m.end());
  r.predicted = s.predicted;
  r.rms = rms(Loss{}, normalised_residual(problem_.data, s.predicted, problem_.sigma));
  r.loss_rms = fit.rms;
  r.objective = fit.objective;
  r.roughness = smooth.roughness(s.m);
  r.reason = s.reason;
  r.iterations = s.iterations;
  return r;
}

std::vector<double> SectionInversion::sensitivity(const SectionState& state) const {
  const std::vector<double>& x = state.steps().m;
  const std::vector<double> ln_rho = ln_rho_of(x),
                            factor = shifts_.factors(
                                {x.begin() + static_cast<std::ptrdiff_t>(n_cells_), x.end()});
  Shape shape{static_cast<Index>(n_cells_)};
  if (options_.axes == Axes2d::three) shape = {static_cast<Index>(n_cells_ / 3), 3};
  const Tensor at = tensor(ln_rho, shape);
  std::vector<double> out(n_cells_, 0.0);
  const auto add = [&](const std::vector<std::size_t>& rows, const Matrix& j) {
    for (std::size_t k = 0; k < n_cells_; ++k)
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double d = factor.empty() ? j(i, k) : factor[rows[i]] * j(i, k),
                     a = d / problem_.sigma[rows[i]];
        out[k] += a * a;
      }
  };
  if (problem_.forward.jacobian) {
    std::vector<std::size_t> all(forward_.rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    add(all, forward_.jacobian(at));
  } else {  // steps by products alone are for Jacobians that do not fit
    forward_.jacobian(at, add);
  }
  for (double& v : out) v = std::sqrt(v);
  return out;
}

SectionBands SectionInversion::bands(const SectionState& state) const {
  const StepState& s = state.steps();
  const Smoothing smooth = smoothing(state);
  // Errors that the model cannot meet are too small: they are taken as large as the misfit says.
  InverseProblem scaled = problem_;
  const double error_scale = std::max(
      1.0, rms(problem_.loss, normalised_residual(problem_.data, s.predicted, problem_.sigma)));
  for (double& sigma : scaled.sigma) sigma *= error_scale;
  GaussNewtonOptions newton = occam_options().newton;
  newton.equations = NormalEquations::data_space;
  const Linearization linear(scaled, s.m,
                             normalised_residual(scaled.data, s.predicted, scaled.sigma), newton);
  // What is fixed is no datum: what its values cost says nothing of mu.
  const double of_fixed =
      problem_.fixed.empty() ? 0 : least_penalty(smooth.prior(1), problem_.fixed, s.m);
  // -2 ln p(data | mu) up to a constant, at the minimum of the linear problem.
  const auto evidence = [&](double ln_mu) {
    const double mu = std::exp(ln_mu);
    const GaussianPrior prior = smooth.prior(mu);
    const Linearization::Scale scale{mu, smooth.free};
    const NewtonStep d = linear.step(prior, scale);
    std::vector<double> m = s.m;
    for (std::size_t k = 0; k < m.size(); ++k) m[k] += d.step[static_cast<Eigen::Index>(k)];
    return misfit(problem_.loss, d.residual) + prior.penalty(m) - mu * of_fixed +
           linear.log_determinant_ratio(prior, scale);
  };
  const double found = std::log(state.by_occam ? state.occam.mu : options_.mu);
  SectionBands out{.mu = std::exp(most_probable_weight(evidence, found)),
                   .error_scale = error_scale};
  const Eigen::VectorXd variance = linear.variances(smooth.prior(out.mu));
  const auto quantile = [&](double probability) {
    std::vector<double> x = s.m;
    const double half = normal_half_width(std::abs(2 * probability - 1)),
                 sign = probability < 0.5 ? -1 : 1;
    for (std::size_t k = 0; k < n_cells_; ++k)
      if (problem_.fixed.empty() || !problem_.fixed[k])
        x[k] += sign * half * std::sqrt(variance[static_cast<Eigen::Index>(k)]);
    return ln_rho_of(x);
  };
  out.q05 = quantile(0.05), out.q25 = quantile(0.25);
  out.q75 = quantile(0.75), out.q95 = quantile(0.95);
  for (std::size_t k = n_cells_; k < s.m.size(); ++k)
    out.shift_std_decades.push_back(std::sqrt(variance[static_cast<Eigen::Index>(k)]));
  return out;
}

namespace {

/// Mean ln ohm m of a layered earth between two depths.
double mean_between(const SectionColumn& column, double top, double bottom) {
  double sum = 0, from = 0;
  for (std::size_t k = 0; k < column.resistivity_ohm_m.size(); ++k) {
    const double to = k < column.thickness_m.size() ? from + column.thickness_m[k]
                                                    : std::numeric_limits<double>::infinity();
    const double part = std::min(bottom, to) - std::max(top, from);
    if (part > 0) sum += part * std::log(column.resistivity_ohm_m[k]);
    from = to;
  }
  return sum / (bottom - top);
}

}  // namespace

std::vector<double> stitched_section(const SectionMesh& mesh,
                                     const std::vector<SectionColumn>& columns) {
  if (columns.empty()) throw Error("[stitched_section] there are no columns");
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const SectionColumn& column = columns[c];
    if (column.resistivity_ohm_m.size() != column.thickness_m.size() + 1 ||
        (c > 0 && !(column.y > columns[c - 1].y)))
      throw Error(
          fmt::format("[stitched_section] column {} has {} resistivities and {} "
                      "thicknesses, or does not lie right of the one before",
                      c, column.resistivity_ohm_m.size(), column.thickness_m.size()));
  }
  const auto depth = depths_below_ground(mesh);
  std::vector<double> out;
  for (Index c = 0; c < mesh.columns; ++c) {
    const double y = (mesh.y[c] + mesh.y[c + 1]) / 2;
    std::size_t right = 0;
    while (right < columns.size() && columns[right].y <= y) ++right;
    const std::size_t a = right == 0 ? 0 : right - 1, b = std::min(right, columns.size() - 1);
    const double t = a == b ? 0 : (y - columns[a].y) / (columns[b].y - columns[a].y);
    for (Index r = 0; r < mesh.rows; ++r) {
      const double top = depth(y, mesh.depth[r]), bottom = depth(y, mesh.depth[r + 1]);
      out.push_back((1 - t) * mean_between(columns[a], top, bottom) +
                    t * mean_between(columns[b], top, bottom));
    }
  }
  return out;
}

}  // namespace tessera::inversion
