// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/sounding_inversion.h"

#include "tessera/autodiff/error.h"
#include "three_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

Response sounding_data() { return three_layers::noisy(30); }

SoundingInversionOptions quick() {
  SoundingInversionOptions o;
  o.layers = 24;
  return o;
}

double at_depth(const std::vector<double>& thickness, const std::vector<double>& values,
                double depth) {
  const auto z = bottoms(thickness);
  std::size_t j = 0;
  while (j < z.size() && z[j] < depth) ++j;
  return values[j];
}

TEST(SoundingInversion, OccamWithBands) {
  const SoundingInverter v(sounding_data(), quick());
  const SoundingInversion& r = v.result();
  EXPECT_EQ(r.reason, Reason::target_reached);
  EXPECT_LE(r.rms, r.target_rms);
  EXPECT_GE(r.rms, r.bound.rms);
  EXPECT_DOUBLE_EQ(r.target_rms, std::max(1.0, 1.15 * r.bound.rms));
  for (double z : {150.0, 800.0, 20000.0}) {
    const double q05 = at_depth(r.thickness_m, r.q05, z), q95 = at_depth(r.thickness_m, r.q95, z);
    EXPECT_LT(q05, at_depth(r.thickness_m, r.q50, z));
    const double truth = z < 400 ? 100 : z < 1900 ? 5 : 800;
    EXPECT_LT(q05, truth) << z;
    EXPECT_GT(q95, truth) << z;
  }
  EXPECT_GT(r.depth.bostick_m, 10000);
}

// What the data see of the earth does not depend on bounds that nothing comes near.
TEST(SoundingInversion, BoundsFarAwayLeaveTheDepthOfInvestigation) {
  auto o = quick();
  o.posterior = PosteriorMethod::none;
  const SoundingInverter free(sounding_data(), o);
  o.least_ohm_m = 0.1;  // one is nearer: the slope of the bounded variable differs along the model
  o.greatest_ohm_m = 1e10;
  const SoundingInverter bounded(sounding_data(), o);
  EXPECT_NEAR(bounded.result().depth.sensitivity_m / free.result().depth.sensitivity_m, 1, 0.01);
  o.static_shift = StaticShift{.std_ln_impedance = 0.01};
  EXPECT_NEAR(SoundingInverter(sounding_data(), o).result().depth.sensitivity_m /
                  free.result().depth.sensitivity_m,
              1, 0.01);
}

/// Root mean square of ln of the ratio of their resistivities.
double between(const SoundingInversion& a, const SoundingInversion& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.resistivity_ohm_m.size(); ++j)
    sum += std::pow(std::log(a.resistivity_ohm_m[j] / b.resistivity_ohm_m[j]), 2);
  return std::sqrt(sum / static_cast<double>(a.resistivity_ohm_m.size()));
}

// The weight is one on ln rho, whatever variable stands for it: slope^2 = 48 between these bounds.
TEST(SoundingInversion, BoundsFarAwayLeaveTheSmoothing) {
  auto o = quick();
  o.posterior = PosteriorMethod::none;
  const auto invert = [&](Method method, double mu, bool bounds) {
    o.method = method;
    o.mu = mu;
    o.least_ohm_m.reset(), o.greatest_ohm_m.reset();
    if (bounds) o.least_ohm_m = 1e-4, o.greatest_ohm_m = 1e8;
    return SoundingInverter(sounding_data(), o).result();
  };
  const SoundingInversion free = invert(Method::gauss_newton, 1, false),
                          rough = invert(Method::gauss_newton, 1.0 / 48, false),
                          bounded = invert(Method::gauss_newton, 1, true);
  EXPECT_LT(between(bounded, free), 0.2 * between(rough, free));
  EXPECT_NEAR(bounded.roughness / free.roughness, 1, 0.1);
  EXPECT_EQ(bounded.mu, 1);

  const SoundingInversion smoothest = invert(Method::occam, 1, false),
                          inside = invert(Method::occam, 1, true);
  EXPECT_NEAR(std::log(inside.mu / smoothest.mu), 0, std::log(2));
  EXPECT_NEAR(std::log(inside.roughness / smoothest.roughness), 0, std::log(1.3));
  EXPECT_TRUE(std::any_of(inside.iterations.begin(), inside.iterations.end(),
                          [&](const Iteration& i) { return i.roughness == inside.roughness; }));
}

// Bands or none: the deviation of the prior is one of the penalty.
TEST(SoundingInversion, ThePriorTiesTheModelToItsReference) {
  auto o = quick();
  o.posterior = PosteriorMethod::none;
  o.method = Method::gauss_newton;
  const double reference = reference_resistivity(sounding_data(), o);
  const auto away = [&](double std_ln_rho) {
    o.prior_std_ln_rho = std_ln_rho;
    const SoundingInversion r = SoundingInverter(sounding_data(), o).result();
    double sum = 0;
    for (const double rho : r.resistivity_ohm_m) sum += std::pow(std::log(rho / reference), 2);
    return sum;
  };
  EXPECT_LT(away(0.2), 0.9 * away(2.3));
}

TEST(SoundingInversion, SaysWhenTheTargetIsBelowTheBound) {
  auto o = quick();
  o.target_rms = 0.2;
  o.posterior = PosteriorMethod::none;
  const SoundingInverter v(sounding_data(), o);
  EXPECT_EQ(v.result().reason, Reason::target_below_bound);
  EXPECT_GE(v.result().rms, v.result().bound.rms);
}

// D+ bounds squares; the RMS of another loss may fall below it.
TEST(SoundingInversion, TheBoundBindsNoOtherLoss) {
  auto o = quick();
  o.loss = {Loss::Kind::huber, 1.345};
  o.target_rms = 0.2;
  o.posterior = PosteriorMethod::none;
  EXPECT_NE(SoundingInverter(sounding_data(), o).result().reason, Reason::target_below_bound);
}

// A tenfold impedance is a tenfold Bostick depth.
TEST(SoundingInversion, LayersAreThoseOfTheResponseWithoutItsStaticShift) {
  auto o = quick();
  const Response seen = sounding_data();
  o.static_shift = StaticShift{
      .reference_ohm_m = 100 * apparent_resistivity(seen.frequency_hz[0], seen.impedance_ohm[0])};
  const Response inverted = without_reference_shift(seen, o);
  EXPECT_NEAR(std::abs(inverted.impedance_ohm[5] / seen.impedance_ohm[5]), 10, 1e-12);
  EXPECT_NEAR(inverted.sigma_ohm[5] / seen.sigma_ohm[5], 10, 1e-12);
  EXPECT_NEAR(
      choose_layering(inverted, o).log10_depth.back() - choose_layering(seen, o).log10_depth.back(),
      1, 1e-12);
}

TEST(SoundingInversion, StaticShiftNeedsAPriorOrAReference) {
  auto o = quick();
  o.posterior = PosteriorMethod::none;
  o.static_shift = StaticShift{};
  EXPECT_THROW(SoundingInverter(sounding_data(), o), Error);

  // A reference: the shifted sounding comes back to the unshifted answer, exactly.
  Response shifted = sounding_data();
  for (auto& z : shifted.impedance_ohm) z *= 3.0;
  for (double& s : shifted.sigma_ohm) s *= 3.0;
  o.static_shift->reference_period_s = 1 / shifted.frequency_hz[2];
  o.static_shift->reference_ohm_m =
      apparent_resistivity(sounding_data().frequency_hz[2], sounding_data().impedance_ohm[2]);
  const SoundingInverter with_reference(shifted, o);
  o.static_shift.reset();
  const SoundingInverter plain(sounding_data(), o);
  for (std::size_t j = 0; j < plain.result().resistivity_ohm_m.size(); ++j)
    EXPECT_NEAR(std::log(with_reference.result().resistivity_ohm_m[j] /
                         plain.result().resistivity_ohm_m[j]),
                0, 1e-3);

  // A prior: the factor becomes one more unknown whose uncertainty is about that of the prior,
  // because one sounding alone cannot tell it.
  o.posterior = PosteriorMethod::laplace;
  o.static_shift = StaticShift{.std_ln_impedance = 0.3};
  o.layers = 70;
  const SoundingInverter with_prior(sounding_data(), o);
  ASSERT_TRUE(with_prior.result().shift_std.has_value());
  EXPECT_NEAR(*with_prior.result().shift_std, 0.3, 0.1);
  // The depth is that of the earth, whatever factor is on its impedance.
  const SoundingInversion& r = with_prior.result();
  const auto longest = static_cast<std::size_t>(
      std::min_element(r.response.frequency_hz.begin(), r.response.frequency_hz.end()) -
      r.response.frequency_hz.begin());
  EXPECT_NEAR(r.depth.bostick_m * std::exp(*r.shift_ln_impedance) /
                  bostick_depth(r.response.frequency_hz[longest], r.predicted_ohm[longest]),
              1, 1e-12);
}

TEST(SoundingInversion, TheErrorOfAStaticShiftIsThatOfTheChain) {
  auto o = quick();
  o.layers = 16;
  o.static_shift = StaticShift{.std_ln_impedance = 0.3};
  o.posterior = PosteriorMethod::mcmc;
  SoundingInverter v(sounding_data(), o);
  Chain chain = v.sampler()->start();
  const std::size_t n = chain.m.size();
  for (const double shift : {0.5, 1.5}) {
    chain.m.back() = shift;
    chain.kept.insert(chain.kept.end(), chain.m.begin(), chain.m.end());
  }
  ASSERT_EQ(chain.kept.size(), 2 * n);
  v.finish(chain);
  EXPECT_NEAR(*v.result().shift_std, std::sqrt(0.5), 1e-12);
}

TEST(SoundingInversion, FixedLayersBoundsAndReference) {
  auto o = quick();
  o.posterior = PosteriorMethod::none;
  o.fixed = {{0, 200, 100}};
  const SoundingInverter fixed(sounding_data(), o);
  EXPECT_NEAR(at_depth(fixed.result().thickness_m, fixed.result().resistivity_ohm_m, 50), 100,
              1e-9);
  o.fixed.clear();
  o.least_ohm_m = 4;
  o.greatest_ohm_m = 300;
  const SoundingInverter bounded(sounding_data(), o);
  for (double v : bounded.result().resistivity_ohm_m) {
    EXPECT_GE(v, 4);
    EXPECT_LE(v, 300);
  }
  o.greatest_ohm_m.reset();
  EXPECT_THROW(SoundingInverter(sounding_data(), o), Error);
}

// At a bound the bounded variable has no slope: an inversion that starts there stays there.
TEST(SoundingInversion, StartsBetweenBoundsThatTheMedianLiesUpon) {
  std::mt19937_64 random(1);
  const Response r =
      oracle::synthetic(oracle::log_frequencies(0.1, 1000, 30), {100, 5}, {3000}, 0.05, 0, random);
  auto o = quick();
  o.posterior = PosteriorMethod::none;
  o.least_ohm_m = 1;
  o.greatest_ohm_m = 100;
  ASSERT_NEAR(typical_resistivity(r), 100, 10);
  EXPECT_NEAR(reference_resistivity(r, o), std::pow(10.0, 1.8), 1e-9);
  const SoundingInverter v(r, o);
  EXPECT_EQ(v.result().reason, Reason::target_reached);
  EXPECT_LT(v.result().resistivity_ohm_m.back(), 15);
}

// A minimum at a given weight has no target: errors are those that are stated, whatever is wanted;
// bands alone grow.
TEST(SoundingInversion, ATargetLeavesTheMinimumAtAGivenWeight) {
  auto o = quick();
  o.method = Method::gauss_newton;
  const SoundingInversion plain = SoundingInverter(sounding_data(), o).result();
  o.target_rms = 10;
  const SoundingInversion wanted = SoundingInverter(sounding_data(), o).result();
  EXPECT_EQ(wanted.resistivity_ohm_m, plain.resistivity_ohm_m);
  EXPECT_EQ(wanted.rms, plain.rms);
  EXPECT_DOUBLE_EQ(wanted.iterations.back().rms, plain.rms);
  EXPECT_DOUBLE_EQ(wanted.loss_rms, plain.rms);
  EXPECT_EQ(wanted.error_scale, 10);
  EXPECT_GT(wanted.q95[10] / wanted.q05[10], 1.2 * plain.q95[10] / plain.q05[10]);
}

// Errors ten times as large about the same minimum: the model in the middle, bands ten times as
// wide.
TEST(SoundingInversion, BandsAtAGivenWeightLieAboutTheModel) {
  auto o = quick();
  o.method = Method::gauss_newton;
  o.order = 2;
  const SoundingInversion plain = SoundingInverter(sounding_data(), o).result();
  o.target_rms = 10;
  const SoundingInversion wanted = SoundingInverter(sounding_data(), o).result();
  ASSERT_EQ(wanted.error_scale, 10);
  for (std::size_t j = 0; j < plain.q50.size(); ++j) {
    // Not exactly: that the model is near its reference weighs more beside larger errors.
    const double width = std::log(wanted.q95[j] / wanted.q05[j]);
    EXPECT_LT(std::abs(std::log(wanted.q50[j] / wanted.resistivity_ohm_m[j])), 0.05 * width) << j;
    EXPECT_NEAR(width / std::log(plain.q95[j] / plain.q05[j]), 10 / plain.error_scale, 2) << j;
  }
}

TEST(SoundingInversion, FewLayersTakeNoMoreStepsThanAllowed) {
  auto o = quick();
  o.method = Method::few_layer;
  o.posterior = PosteriorMethod::none;
  o.few_layers = 4;
  o.target_rms = 1e-3;  // the smooth model takes all it has
  o.max_iterations = 2;
  EXPECT_LE(SoundingInverter(sounding_data(), o).result().iterations.size(), 2u);
}

TEST(SoundingInversion, FewLayers) {
  auto o = quick();
  o.method = Method::few_layer;
  const SoundingInverter v(sounding_data(), o);
  ASSERT_EQ(v.result().resistivity_ohm_m.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_LT(v.result().q05[j], three_layers::rho[j] * 1.3) << j;
    EXPECT_GT(v.result().q95[j], three_layers::rho[j] / 1.3) << j;
  }
}

// The data (5 %, some 30 numbers that see a layer) weigh 3e3 where such a prior weighs 1e6: what
// they ask for, 3 of ln rho at most, shows by less than 0.01.
TEST(SoundingInversion, ANarrowPriorKeepsFewLayersAtTheReference) {
  auto o = quick();
  o.method = Method::few_layer;
  o.posterior = PosteriorMethod::none;
  o.few_layers = 3;
  o.starts = 1;
  o.reference_ohm_m = 100;
  o.prior_std_ln_rho = 1e-3;
  const SoundingInverter v(sounding_data(), o);
  ASSERT_EQ(v.result().resistivity_ohm_m.size(), 3u);
  for (const double rho : v.result().resistivity_ohm_m) EXPECT_NEAR(std::log(rho / 100), 0, 0.1);
}

TEST(SoundingInversion, TheChainGoesOnWithTheSameBitsAndAgreesWithTheBands) {
  auto o = quick();
  o.layers = 16;
  o.posterior = PosteriorMethod::mcmc;
  o.burn_in = 300;
  o.samples = 6000;
  o.keep_every = 5;
  o.key = {77, 3};
  SoundingInverter v(sounding_data(), o);
  ASSERT_NE(v.sampler(), nullptr);
  const auto laplace05 = v.result().q05, laplace50 = v.result().q50, laplace95 = v.result().q95;
  Chain whole = v.sampler()->start(), pieces = whole;
  EXPECT_TRUE(v.sampler()->advance(whole, v.sampler()->total()));
  for (std::uint64_t stop : {1u, 100u, 299u, 301u, 2500u})
    EXPECT_FALSE(v.sampler()->advance(pieces, stop));
  EXPECT_TRUE(v.sampler()->advance(pieces, v.sampler()->total()));
  EXPECT_EQ(whole.m, pieces.m);
  EXPECT_EQ(whole.kept, pieces.kept);
  EXPECT_EQ(whole.accepted, pieces.accepted);
  v.finish(whole);
  EXPECT_GT(v.result().acceptance, 0.1);
  // Laplace and sampler describe one posterior: medians within half a band, widths within a factor.
  for (std::size_t j = 0; j < laplace50.size(); ++j) {
    const double half = 0.5 * std::log(laplace95[j] / laplace05[j]);
    EXPECT_NEAR(std::log(v.result().q50[j] / laplace50[j]), 0, 0.6 * half) << j;
    EXPECT_NEAR(std::log(v.result().q95[j] / v.result().q05[j]) / (2 * half), 1, 0.5) << j;
  }
}

/// Without noise, errors of `relative` parts of |Z|; at the middle frequency of `middle` parts.
Response exact_data(double relative, double middle) {
  std::mt19937_64 random(1);
  Response r = oracle::synthetic(oracle::log_frequencies(1e-2, 100, 13), three_layers::rho,
                                 three_layers::h, 0.05, 0.0, random);
  for (std::size_t i = 0; i < r.size(); ++i)
    r.sigma_ohm[i] = std::abs(r.impedance_ohm[i]) * (i == 6 ? middle : relative);
  return r;
}

// Beside errors this small the prior is lost in rounding: a model without bands is the result.
TEST(SoundingInversion, AnImproperPosteriorLeavesTheBandsOut) {
  std::mt19937_64 random(1);
  Response half_space =
      oracle::synthetic(oracle::log_frequencies(1e-2, 100, 13), {100}, {}, 0.05, 0.0, random);
  for (std::size_t i = 0; i < half_space.size(); ++i)
    half_space.sigma_ohm[i] = 1e-11 * std::abs(half_space.impedance_ohm[i]);
  SoundingInversionOptions o;
  o.posterior = PosteriorMethod::mcmc;
  const SoundingInverter v(half_space, o);
  const SoundingInversion& r = v.result();
  EXPECT_EQ(r.resistivity_ohm_m.size(), 48u);
  EXPECT_EQ(r.predicted_ohm.size(), r.response.size());
  EXPECT_TRUE(r.q50.empty());
  EXPECT_EQ(v.sampler(), nullptr);
}

// Where every step is rounding no weight moves the model, and the search for one ends.
TEST(SoundingInversion, ErrorsOfNothingEndTheSearch) {
  SoundingInversionOptions o;
  o.layers = 48;
  for (const auto& [relative, middle] :
       {std::pair{1e-150, 1e-150}, {0.05, 1e-17}, {1e-30, 1e-30}, {0.05, 1e-12}}) {
    const SoundingInverter v(exact_data(relative, middle), o);
    EXPECT_LE(static_cast<int>(v.result().iterations.size()), o.max_iterations);
    EXPECT_NE(v.result().reason, Reason::not_finite);
  }
}

}  // namespace
}  // namespace tessera::inversion
