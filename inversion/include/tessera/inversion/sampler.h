// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/random.h"
#include "tessera/inversion/smooth_posterior.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::inversion {

/// Where a chain stands: everything that is needed to go on with the same bits.
struct Chain {
  std::vector<double> m;
  std::uint64_t component = 0;  ///< which roughness weight of the SmoothPosterior is in force
  std::uint64_t step = 0;
  std::uint64_t accepted = 0;
  double log_beta = -0.7;    ///< ln of the step size in (0, 1]; adapted during burn-in only
  std::vector<double> kept;  ///< [samples kept][n_parameters], after burn-in
};

struct SamplerOptions {
  std::uint64_t burn_in = 1000;
  std::uint64_t steps = 10000;  ///< after burn-in
  std::uint64_t keep_every = 10;
  data::RandomKey key;
};

/// Markov chain Monte Carlo for the exact posterior, also over the roughness weight. A step
/// proposes
///   m' = m* + sqrt(1 - beta^2) (m - m*) + beta H^-1/2 xi,
/// which is reversible for the Laplace posterior N(m*, H^-1) (preconditioned Crank-Nicolson; Cotter
/// et al. 2013, Stat. Sci. 28, 424), and accepts by what the true posterior differs from it. Then
/// the roughness weight is drawn from its conditional given m (Gibbs) among the components. All
/// random numbers are functions of key and step.
class Sampler {
 public:
  Sampler(const InverseProblem& problem, const Smoothing& smoothing,
          const SmoothPosterior& posterior, const SamplerOptions& options);
  Chain start() const;
  /// Goes on until `chain.step` is `until` or the end; true when the end is reached.
  bool advance(Chain& chain, std::uint64_t until) const;
  std::uint64_t total() const { return options_.burn_in + options_.steps; }
  std::uint64_t steps() const { return options_.steps; }

 private:
  struct Component;
  double excess(const Component& c, const std::vector<double>& m) const;
  const InverseProblem problem_;
  SamplerOptions options_;
  std::vector<double> first_;
  std::uint64_t first_component_;
  std::vector<std::shared_ptr<const Component>> components_;
};

/// Quantile of every parameter over kept samples [count][n], by linear interpolation of the order
/// statistics.
std::vector<double> sample_quantile(const std::vector<double>& kept, std::size_t n,
                                    double probability);

}  // namespace tessera::inversion
