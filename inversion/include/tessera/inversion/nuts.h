// SPDX-License-Identifier: Apache-2.0
//
// Hamiltonian Monte Carlo that finds its own path lengths, for any density with a gradient: the
// no-U-turn sampler (M. Hoffman and A. Gelman 2014, J. Mach. Learn. Res. 15, 1593,
// arXiv:1111.4246), with states drawn from a trajectory by their weights (M. Betancourt 2017,
// arXiv:1701.02434, appendix A). A particle at x with momentum p moves by leapfrog steps under
//   H(x, p) = -log density(x) + 1/2 p^T M^-1 p,
// its trajectory doubles forwards or backwards until its ends approach each other.
//
//   Nuts nuts(posterior, metric_of(laplace), {.warm_up = 300, .steps = 1000, .key = {seed,
//   chain}}); NutsChain chain = nuts.start(optimum); nuts.advance(chain, nuts.total());          //
//   or in pieces: the same bits
#pragma once
#include "tessera/data/random.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tessera::inversion {

/// A density up to a factor. Where it is 0 the logarithm is -inf or NaN, and trajectories end.
struct LogDensity {
  std::size_t size = 0;
  /// ln density(x); writes its gradient, [size].
  std::function<double(const std::vector<double>& x, std::vector<double>& gradient)> value;
};

/// The inverse mass M^-1: best the covariance of the density, or what is known of it.
struct Metric {
  using Product = std::function<std::vector<double>(const std::vector<double>&)>;
  Product times;  ///< M^-1 p: velocities
  Product draw;   ///< A normal momentum, covariance M, of standard normal numbers
};
Metric unit_metric();
Metric diagonal_metric(std::vector<double> variance);

struct NutsOptions {
  std::uint64_t warm_up = 500;   ///< the step size adapts in these
  std::uint64_t steps = 1000;    ///< after them
  std::uint64_t keep_every = 1;  ///< of their states the last of each so many is kept
  double target_acceptance = 0.8;
  int max_doublings = 10;
  double max_energy_error = 1000;  ///< a trajectory that goes wrong by more is divergent
  data::RandomKey key;
};

/// Where a chain stands: everything that is needed to go on with the same bits.
struct NutsChain {
  std::vector<double> x;
  double log_density = 0;
  std::vector<double> gradient;
  std::uint64_t step = 0;
  double log_step = 0;                            ///< ln of the leapfrog step in force
  double log_step_mean = 0, acceptance_lack = 0;  ///< dual averaging: its mean, and H-bar
  double log_step_first = 0;                      ///< towards ten times of which it is drawn
  std::uint64_t gradients = 0;                    ///< computed so far
  std::uint64_t divergent = 0;                    ///< trajectories after the warm-up
  std::uint64_t cut = 0;             ///< those that `max_doublings` ended, after the warm-up
  double acceptance = 0;             ///< its sum over the steps after the warm-up
  std::vector<double> kept;          ///< [samples][size]
  std::vector<double> kept_density;  ///< [samples]
};

class Nuts {
 public:
  Nuts(LogDensity density, Metric metric, NutsOptions options);
  /// At x, with a step size at which one leapfrog step is accepted half of the time. Throws Error
  /// where the density at x is 0 or not finite.
  NutsChain start(std::vector<double> x) const;
  /// Goes on until `chain.step` is `until` or the end; true when the end is reached. All random
  /// numbers are functions of key and step.
  bool advance(NutsChain& chain, std::uint64_t until) const;
  std::uint64_t total() const { return options_.warm_up + options_.steps; }

 private:
  LogDensity density_;
  Metric metric_;
  NutsOptions options_;
};

/// How well chains of one density have mixed (A. Vehtari et al. 2021, doi:10.1214/20-BA1221), for
/// each number x_j: R-hat of ranks and of folded ranks in half chains, the larger of the two, 1
/// where chains agree; and how many independent draws the mean of these is worth.
struct Mixing {
  std::vector<double> r_hat, effective;
};
/// Of chains [samples][size], of equal lengths, at least 4 samples each.
Mixing mixing_of(const std::vector<std::vector<double>>& chains, std::size_t size);

}  // namespace tessera::inversion
