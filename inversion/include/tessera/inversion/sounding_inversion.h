// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/bostick.h"
#include "tessera/inversion/bounds.h"
#include "tessera/inversion/depth_of_investigation.h"
#include "tessera/inversion/dplus.h"
#include "tessera/inversion/few_layer.h"
#include "tessera/inversion/layering.h"
#include "tessera/inversion/occam.h"
#include "tessera/inversion/sampler.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::inversion {

enum class Method { occam, gauss_newton, few_layer };
enum class PosteriorMethod { laplace, mcmc, none };

/// A depth range whose resistivity is known: that of the layers whose middle lies in it.
struct FixedRange {
  double top_m = 0, bottom_m = 0, resistivity_ohm_m = 0;
  bool contains(double depth_m) const { return depth_m >= top_m && depth_m < bottom_m; }
};

/// How static shift is made determinable: by a prior on ln of the impedance factor, or by an
/// apparent resistivity known from elsewhere (time-domain soundings, a neighbour) at one period.
struct StaticShift {
  std::optional<double> std_ln_impedance;
  std::optional<double> reference_ohm_m, reference_period_s;
};

struct SoundingInversionOptions {
  Method method = Method::occam;
  Loss loss;
  std::optional<double> target_rms;  ///< none: max(1, 1.15 D+ bound)
  int layers = 48;
  std::optional<double> first_depth_m,
      last_depth_m;  ///< bottoms of first and last layer; none: from the data
  std::optional<double>
      reference_ohm_m;  ///< of the reference model; none: see reference_resistivity
  double prior_std_ln_rho = 2.302585092994046;  ///< of the penalty, too, with bands or without
  int order = 1;
  double mu = 1.0;  ///< of gauss_newton: weight of the roughness of ln rho, bounds or not
  int max_iterations = 120;
  std::vector<FixedRange> fixed;
  std::optional<double> least_ohm_m, greatest_ohm_m;  ///< bounds; both or none
  std::optional<StaticShift> static_shift;
  int few_layers = 0, starts = 6;
  PosteriorMethod posterior = PosteriorMethod::laplace;
  std::uint64_t burn_in = 1000, samples = 10000, keep_every = 10;
  data::RandomKey key;
};

/// A response without the static shift that a reference apparent resistivity tells: what is
/// inverted.
Response without_reference_shift(Response response, const SoundingInversionOptions& options);

/// The layers of the smooth models of such a response. Throws tessera::Error where one depth is
/// given and lies beyond the other one, which the data choose.
Layering choose_layering(const Response& response, const SoundingInversionOptions& options);

/// Resistivity in ohm m of the reference model, which is the start, too: the one given, else the
/// median apparent resistivity. Between bounds this is kept a tenth of their range (of ln rho) away
/// from either: at a bound the data have no hold on the model.
double reference_resistivity(const Response& response, const SoundingInversionOptions& options);

/// Everything that is reported about one sounding. No times: equal input gives equal bits.
struct SoundingInversion {
  Response response;  ///< what was fitted (after a reference static shift)
  DplusResult bound;
  BostickModel bostick;
  double target_rms = 0;
  Reason reason = Reason::iteration_limit;
  std::vector<Iteration> iterations;
  std::vector<double> thickness_m;        ///< [n - 1]
  std::vector<double> resistivity_ohm_m;  ///< [n]
  std::vector<std::complex<double>> predicted_ohm;
  double rms = 0;                ///< plain RMS over the 2n data, whatever the loss
  double loss_rms = 0;           ///< with the loss in force
  double mu = 0, roughness = 0;  ///< SmoothPrior's of ln rho
  DepthOfInvestigation depth;
  /// ohm m, [n]; empty without posterior, or where it is singular (SingularPosterior)
  std::vector<double> q05, q25, q50, q75, q95;
  double error_scale = 1;          ///< the posterior's errors are the stated ones times this
  double correlation_decades = 0;  ///< most probable of the prior
  bool exact_hessian = true;
  double acceptance = 0;      ///< of the sampler
  std::vector<double> r_hat;  ///< [n], of halves of the chain (mixing_of); empty without one
  std::optional<double> shift_ln_impedance, shift_std;  ///< estimated static shift
  int starts_agreeing = 0;                              ///< few_layer
};

/// The deterministic part: bound, model, Laplace posterior. With `PosteriorMethod::mcmc` and a
/// posterior that is not singular the sampler is ready to be advanced in pieces; `finish` then
/// takes the bands from the chain.
class SoundingInverter {
 public:
  /// Throws tessera::Error for unusable options; an inversion that does not reach its aim is a
  /// result.
  SoundingInverter(Response response, SoundingInversionOptions options);
  const SoundingInversion& result() const { return result_; }
  const Sampler* sampler() const { return sampler_.get(); }
  /// Bands from the chain's samples.
  void finish(const Chain& chain);

 private:
  SoundingInversion result_;
  std::unique_ptr<Sampler> sampler_;
  std::optional<Bounds> ln_bounds_;
};

}  // namespace tessera::inversion
