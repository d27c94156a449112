// SPDX-License-Identifier: Apache-2.0
// task = "sample": chains over what a learnt prior leaves open.
#pragma once
#include "inversion/mt2d/placed_prior.h"
#include "tessera/inversion/low_rank_posterior.h"
#include "tessera/inversion/nuts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::data {
struct Checkpoint;
}

namespace tessera::apps::mt2d {

/// What chains walk on: x are pixels, static shifts among them, then codes.
struct SampleProblem {
  const InvertProblem* of = nullptr;  ///< outlives it
  PlacedPrior prior;
  inversion::InverseProblem cells;  ///< of ln ohm m, then shifts
  inversion::ForwardMap to_cells;   ///< x -> these
  inversion::InverseProblem codes;  ///< of x

  std::size_t size() const { return prior.prior.size(); }
};
SampleProblem sample_problem(const InvertProblem& p);

/// Where all chains stand between two steps: plain numbers.
struct SampleState {
  inversion::LowRankPosterior mass;  ///< its mean is the optimum; empty: nothing is found yet
  std::string optimum;               ///< a line for the user
  std::string cut;                   ///< another, where the search for it has not ended
  std::vector<std::string> doubts;   ///< of the prior, at the optimum
  std::vector<inversion::NutsChain> chains;

  bool begun() const { return !chains.empty(); }
  std::uint64_t steps() const { return begun() ? chains[0].step : 0; }
};
/// The cheapest section of the prior, Laplace's covariance there and at draws of it as the mass,
/// and the chains' starts: the first at the optimum, the others at draws of Laplace's posterior.
SampleState begin_sample(const SampleProblem& p);
/// Every chain goes one step further, on up to `threads` threads, to the same bits on any number.
void step_sample(const SampleProblem& p, SampleState& state, int threads);
void put(data::Checkpoint& c, const SampleState& state);
SampleState sample_state(const data::Checkpoint& c, const SampleProblem& p);

Result sample_result(const SampleProblem& p, const SampleState& state);

/// A row of metrics.csv: step, mean log density, mean step size, gradients so far, divergent ones.
std::vector<std::string> sample_columns();
std::vector<double> sample_row(const SampleState& state);

/// The largest R-hat of codes, shifts and cells, with the name; NaN where draws are too few.
struct WorstMixing {
  double r_hat = NAN, effective = NAN;
  std::string of;
};
WorstMixing worst_of(const Draws& draws);

/// A gradient of the log density, timed after one that compiles.
double seconds_of_gradient(const SampleProblem& p);
/// Gradients of a step of a chain that an estimate takes: 7 were measured where the prior is right
/// and its codes are few and smooth, 40 to 80 where it is doubted.
inline constexpr double gradients_of_step = 30;
/// What chains keep, and what is made of it at the end.
std::uint64_t bytes_of_draws(const SampleProblem& p);

}  // namespace tessera::apps::mt2d
