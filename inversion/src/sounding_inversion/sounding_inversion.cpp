// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/sounding_inversion.h"

#include "tessera/autodiff/error.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/nuts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::inversion {
namespace {

std::vector<double> exp_of(std::vector<double> v, std::size_t n) {
  v.resize(n);
  for (double& x : v) x = std::exp(x);
  return v;
}

/// Layers whose middle lies in a fixed range.
std::vector<bool> fix_layers(const Layering& layering, const std::vector<FixedRange>& ranges,
                             std::size_t n, std::vector<double>& ln_rho) {
  if (ranges.empty()) return {};
  std::vector<bool> fixed(n, false);
  for (std::size_t j = 0; j < layering.size(); ++j) {
    const double z = std::pow(10.0, layering.log10_depth[j]);
    for (const FixedRange& f : ranges) {
      if (!f.contains(z)) continue;
      fixed[j] = true;
      ln_rho[j] = std::log(f.resistivity_ohm_m);
    }
  }
  return fixed;
}

/// Correlation lengths of the prior over which the posterior is averaged: a fifth of a decade of
/// depth to twenty decades, equally probable in the logarithm.
std::vector<double> roughness_grid(double std_ln_rho) {
  std::vector<double> mu;
  for (int k = 0; k <= 8; ++k)
    mu.push_back(SmoothPrior::mu_of(std_ln_rho, 0.2 * std::pow(10.0, 0.25 * k)));
  return mu;
}

void check_options(const SoundingInversionOptions& o) {
  if (o.static_shift && !o.static_shift->std_ln_impedance && !o.static_shift->reference_ohm_m)
    throw Error(
        "[invert] static shift cannot be told from a resistivity without a prior or a reference");
  if (o.least_ohm_m.has_value() != o.greatest_ohm_m.has_value())
    throw Error("[invert] bounds come in pairs: least and greatest resistivity");
}

/// One sounding as a problem in x: ln rho of the layers, or x of the band-pass map where there are
/// bounds, and at the end ln of the impedance's factor where a static shift is free.
struct Setup {
  Layering layering;
  SmoothPrior smooth;  ///< of ln rho
  InverseProblem problem;
  ForwardMap of_ln_rho;  ///< before any bounds: what the data see of the resistivities
  std::vector<double> start;
  std::optional<Bounds> ln_bounds;
  std::optional<double> shift_std;

  std::size_t layers() const { return layering.size(); }
  std::vector<double> to_ln_rho(const std::vector<double>& x) const {
    return ln_bounds ? bounded_to_model(x, *ln_bounds, layers()) : x;
  }
  /// Weights and roughness are those of ln rho, bounds or not. Between bounds the prior is one of x
  /// by the slope of the map half way between them, (upper - lower) / 4, so that bounds far away
  /// leave both mu and the standard deviation their meaning.
  Smoothing smoothing() const {
    return {
        [smooth = smooth, bounds = ln_bounds, shift_std = shift_std](double mu) {
          GaussianPrior prior = smooth.at(mu);
          if (bounds) {
            const double slope = (bounds->upper - bounds->lower) / 4;
            prior.mean = model_to_bounded(smooth.mean, *bounds, smooth.mean.size());
            for (double& q : prior.precision.values) q *= slope * slope;
          }
          return shift_std ? append(std::move(prior), 0.0, *shift_std) : prior;
        },
        [smooth = smooth, bounds = ln_bounds](const std::vector<double>& x) {
          return smooth.roughness(bounds ? bounded_to_model(x, *bounds, smooth.mean.size()) : x);
        }};
  }
};

/// From here on the errors are scaled by `error_scale` so that the target is an RMS of one: a
/// sounding that no layered earth fits has errors larger than stated, and its bands must say so.
Setup set_up(const Response& response, const SoundingInversionOptions& o, double error_scale) {
  Setup s{.layering = choose_layering(response, o)};
  const std::size_t n = s.layers();
  s.smooth.mean.assign(n, std::log(reference_resistivity(response, o)));
  s.smooth.log10_depth = s.layering.log10_depth;
  s.smooth.std_ln_rho = o.prior_std_ln_rho;
  s.smooth.order = o.order;
  if (o.static_shift) s.shift_std = o.static_shift->std_ln_impedance;

  InverseProblem& p = s.problem;
  s.of_ln_rho = layered_forward(response.frequency_hz, s.layering.thickness_m,
                                {.static_shift = s.shift_std.has_value()});
  p.forward = s.of_ln_rho;
  p.data = to_real(response.impedance_ohm);
  p.sigma = sigma_of_data(response);
  for (double& sigma : p.sigma) sigma *= error_scale;
  p.loss = o.loss;
  s.start = s.smooth.mean;
  p.fixed = fix_layers(s.layering, o.fixed, n + (s.shift_std ? 1 : 0), s.start);
  if (o.least_ohm_m) {
    s.ln_bounds = {std::log(*o.least_ohm_m), std::log(*o.greatest_ohm_m)};
    p.forward =
        layered_forward(response.frequency_hz, s.layering.thickness_m,
                        {.ln_rho_bounds = s.ln_bounds, .static_shift = s.shift_std.has_value()});
    s.start = model_to_bounded(s.start, *s.ln_bounds, n);
  }
  if (s.shift_std) s.start.push_back(0);
  return s;
}

/// The smooth model: Occam's, or the minimum at a given roughness weight. That one has no target,
/// and so errors as they are stated.
OccamResult fit_smooth(const Setup& s, const SoundingInversionOptions& o, double target) {
  OccamResult fit;
  if (o.method == Method::gauss_newton) {
    GaussNewtonOptions newton;
    newton.max_iterations = o.max_iterations;
    static_cast<GaussNewtonResult&>(fit) =
        gauss_newton(s.problem, s.smoothing().prior(o.mu), s.start, newton);
    fit.mu = o.mu;
    for (Iteration& row : fit.iterations) row.mu = o.mu;
  } else {
    OccamOptions occam_options;
    occam_options.target_rms = target;
    occam_options.max_iterations = o.max_iterations;
    fit = occam(s.problem, s.smoothing(), s.start, occam_options);
  }
  return fit;
}

/// Quantiles of every layer, in ohm m.
template <class Band>
void set_bands(SoundingInversion& out, Band&& band) {
  out.q05 = band(0.05);
  out.q25 = band(0.25);
  out.q50 = band(0.5);
  out.q75 = band(0.75);
  out.q95 = band(0.95);
}

/// Of the last parameter over samples [count][n].
double deviation_of_last(const std::vector<double>& kept, std::size_t n) {
  double sum = 0, mean = 0, count = 0;
  for (std::size_t k = n - 1; k < kept.size(); k += n) {  // Welford's recursion
    const double away = kept[k] - mean;
    mean += away / ++count;
    sum += away * (kept[k] - mean);
  }
  return std::sqrt(sum / std::max(count - 1, 1.0));
}

std::vector<Iteration> with_stated_errors(std::vector<Iteration> rows, double error_scale) {
  for (Iteration& row : rows) row.rms *= error_scale;
  return rows;
}

/// What `laplace_of` finds; nothing where the curvature is lost in rounding.
template <class Laplace>
auto unless_singular(Laplace&& laplace_of) -> std::optional<decltype(laplace_of())> {
  try {
    return laplace_of();
  } catch (const SingularPosterior&) {
    return std::nullopt;
  }
}

/// A few layers in place of the smooth model, with bands by Laplace's approximation; what they
/// predict.
std::vector<double> fit_few_layers(SoundingInversion& out, const Setup& s,
                                   const SoundingInversionOptions& o, std::vector<double> ln_rho,
                                   double target) {
  const std::vector<double>& frequency = out.response.frequency_hz;
  FewLayerOptions few_options;
  few_options.layers = o.few_layers;
  few_options.starts = o.starts;
  few_options.seed = o.key.seed;
  few_options.target_rms = target;
  few_options.mean_ln_rho = s.smooth.mean.front();
  few_options.std_ln_rho = s.smooth.std_ln_rho;
  few_options.newton.max_iterations = o.max_iterations;
  ln_rho.resize(s.layers());
  const FewLayerResult few = few_layer(
      s.problem, [&](int layers) { return layered_forward_free(frequency, layers); }, s.layering,
      ln_rho, few_options);
  out.reason = few.reason;
  out.iterations = with_stated_errors(few.iterations, out.error_scale);
  out.thickness_m = few.model.thickness_m;
  out.resistivity_ohm_m = few.model.resistivity_ohm_m;
  out.starts_agreeing = few.starts_agreeing;
  if (o.posterior == PosteriorMethod::none) return few.predicted;
  const std::size_t layers = few.model.resistivity_ohm_m.size();
  InverseProblem p = s.problem;
  p.fixed.clear();
  p.forward = layered_forward_free(frequency, static_cast<int>(layers));
  const auto post = unless_singular([&] { return laplace(p, few.prior, few.m); });
  if (!post) return few.predicted;
  out.exact_hessian = post->exact_hessian;
  const auto band = [&](double half_width) {
    std::vector<double> v;
    for (std::size_t j = 0; j < layers; ++j)
      v.push_back(std::exp(few.m[j] + half_width * post->standard_deviation[j]));
    return v;
  };
  const double half50 = normal_half_width(0.5), half90 = normal_half_width(0.9);
  out.q05 = band(-half90);
  out.q25 = band(-half50);
  out.q50 = band(0);
  out.q75 = band(half50);
  out.q95 = band(half90);
  return few.predicted;
}

}  // namespace

Response without_reference_shift(Response r, const SoundingInversionOptions& o) {
  require_valid(r, "without_reference_shift");
  if (!o.static_shift || !o.static_shift->reference_ohm_m) return r;
  const double period_s = o.static_shift->reference_period_s.value_or(1 / r.frequency_hz.front());
  std::size_t nearest = 0;  // in the logarithm
  for (std::size_t i = 1; i < r.size(); ++i)
    if (std::abs(std::log(r.frequency_hz[i] * period_s)) <
        std::abs(std::log(r.frequency_hz[nearest] * period_s)))
      nearest = i;
  const double seen = apparent_resistivity(r.frequency_hz[nearest], r.impedance_ohm[nearest]);
  const double factor = std::sqrt(*o.static_shift->reference_ohm_m / seen);
  for (auto& z : r.impedance_ohm) z *= factor;
  for (double& s : r.sigma_ohm) s *= factor;
  return r;
}

Layering choose_layering(const Response& r, const SoundingInversionOptions& o) {
  if (!o.first_depth_m && !o.last_depth_m) return layering_from_data(r, o.layers);
  const auto z = bottoms(layering_from_data(r, o.layers).thickness_m);
  return logarithmic_layering(o.first_depth_m.value_or(z.front()),
                              o.last_depth_m.value_or(z.back()), o.layers);
}

double reference_resistivity(const Response& response, const SoundingInversionOptions& o) {
  if (o.reference_ohm_m) return *o.reference_ohm_m;
  const double typical = typical_resistivity(response);
  if (!o.least_ohm_m) return typical;
  const double lower = std::log(*o.least_ohm_m), upper = std::log(*o.greatest_ohm_m),
               margin = 0.1 * (upper - lower), ln_rho = std::log(typical),
               inside = std::clamp(ln_rho, lower + margin, upper - margin);
  return inside == ln_rho ? typical : std::exp(inside);
}

SoundingInverter::SoundingInverter(Response response, SoundingInversionOptions o) {
  require_valid(response, "invert");
  check_options(o);
  response = without_reference_shift(std::move(response), o);
  SoundingInversion& out = result_;
  out.response = response;
  out.bound = dplus(response);
  out.bostick = bostick(response);
  out.target_rms = o.target_rms.value_or(std::max(1.0, 1.15 * out.bound.rms));
  out.error_scale = std::max(1.0, out.target_rms);
  const double target = out.target_rms / out.error_scale;

  const Setup s = set_up(response, o, out.error_scale);
  ln_bounds_ = s.ln_bounds;
  const std::size_t n = s.layers();
  const Smoothing smoothing = s.smoothing();
  const bool weighted = o.method == Method::gauss_newton;
  const double scale_of_fit = weighted ? 1.0 : out.error_scale;
  const OccamResult fit = fit_smooth(weighted ? set_up(response, o, 1) : s, o, target);
  out.reason = fit.reason;
  // The bound is one of squares: it does not bind the RMS of another loss.
  if (!weighted && o.loss.kind == Loss::Kind::l2 && fit.reason == Reason::target_not_reached &&
      out.target_rms < out.bound.rms)
    out.reason = Reason::target_below_bound;
  out.iterations = with_stated_errors(fit.iterations, scale_of_fit);
  out.mu = fit.mu;
  out.roughness = smoothing.roughness(fit.m);
  out.thickness_m = s.layering.thickness_m;
  out.resistivity_ohm_m = exp_of(s.to_ln_rho(fit.m), n);
  if (fit.reason == Reason::not_finite) return;
  if (s.shift_std) out.shift_ln_impedance = fit.m.back();
  const std::vector<double> predicted = o.method == Method::few_layer
                                            ? fit_few_layers(out, s, o, s.to_ln_rho(fit.m), target)
                                            : fit.predicted;

  const InverseProblem& p = s.problem;
  out.predicted_ohm = to_complex(predicted);
  std::vector<double> residual = normalised_residual(p.data, predicted, sigma_of_data(response));
  out.rms = rms({}, residual);
  for (double& r : residual) r /= scale_of_fit;
  out.loss_rms = scale_of_fit * rms(o.loss, residual);
  Response smooth_response = response;  // a wild last point must not decide how deep we see
  smooth_response.impedance_ohm = out.predicted_ohm;
  if (out.shift_ln_impedance)  // nor a factor that is not the earth's
    for (auto& z : smooth_response.impedance_ohm) z *= std::exp(-*out.shift_ln_impedance);
  // By d/d ln rho: the Jacobian of a bounded variable falls to zero at either bound, whatever the
  // data see there.
  out.depth = depth_of_investigation(smooth_response, s.layering.thickness_m,
                                     s.of_ln_rho.jacobian(s.to_ln_rho(fit.m)));

  if (o.posterior == PosteriorMethod::none || o.method == Method::few_layer) return;
  // A weight that is given stands beside the stated errors: it falls as their squares grow, so that
  // the bands lie about the same minimum.
  const double larger = out.error_scale / scale_of_fit;
  const auto grid = o.order == 1 ? roughness_grid(s.smooth.std_ln_rho)
                                 : std::vector<double>{fit.mu / (larger * larger)};
  const auto found = unless_singular([&] { return smooth_posterior(p, smoothing, grid, fit.m); });
  if (!found) return;
  const SmoothPosterior& posterior = *found;
  out.exact_hessian = posterior.exact_hessian;
  out.correlation_decades =
      o.order == 1 ? s.smooth.correlation_decades(posterior.components[posterior.most_probable].mu)
                   : 0;
  set_bands(out, [&](double probability) {
    return exp_of(s.to_ln_rho(posterior.quantile(probability)), n);
  });
  if (s.shift_std) out.shift_std = posterior.standard_deviation.back();
  if (o.posterior == PosteriorMethod::mcmc)
    sampler_ = std::make_unique<Sampler>(p, smoothing, posterior,
                                         SamplerOptions{o.burn_in, o.samples, o.keep_every, o.key});
}

void SoundingInverter::finish(const Chain& chain) {
  if (!sampler_) throw Error("[invert] there is no sampler to finish");
  SoundingInversion& out = result_;
  const std::size_t layers = out.resistivity_ohm_m.size();
  const auto band = [&](double probability) {
    auto m = sample_quantile(chain.kept, chain.m.size(), probability);
    if (ln_bounds_) m = bounded_to_model(std::move(m), *ln_bounds_, layers);
    return exp_of(std::move(m), layers);
  };
  set_bands(out, band);
  if (out.shift_std) out.shift_std = deviation_of_last(chain.kept, chain.m.size());
  constexpr std::size_t least = 4;  // draws
  if (chain.kept.size() >= least * chain.m.size()) {
    out.r_hat = mixing_of({chain.kept}, chain.m.size()).r_hat;
    out.r_hat.resize(layers);
  }
  out.acceptance = static_cast<double>(chain.accepted) / static_cast<double>(sampler_->steps());
}

}  // namespace tessera::inversion
