// SPDX-License-Identifier: Apache-2.0
//
// A run as a differentiable function of permittivities and of the strengths of its sources. Its
// results are what a run keeps of its records: running transforms (RunningDft) and values in time
// (TimeRecord). What is made of these by operations, such as flux, differentiates with them.
//
//   model.traced = region.edges;
//   const ObservedRun run(std::move(model), {source},
//                         {{.edges = samples.edges(), .frequencies_hz = f}}, n_steps);
//   auto power = [&](Tensor inverse_eps) {
//     const Tensor values = sample_values(samples, run.values(inverse_eps, {})[0]);
//     return sum(flux(behind.patches, behind.fields(values)));
//   };
//   Tensor g = grad(power)(inverse_eps);
//
// Steps are taken in blocks, of which reverse mode keeps some states and recomputes the others. It
// differs from response.h in that sources are as they are in time, and that a run may end while its
// fields still ring.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/samples.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// What is kept of some edges: transforms where there are frequencies, else the steps that are
/// `kept`.
struct Observation {
  std::vector<Edge> edges;
  std::vector<double> frequencies_hz = {};
  int every = 1;  ///< transforms take each such step (RunningDft)
  /// [frequency, 2, edge] sums at which transforms begin (SpectralRecord::start); empty: zero.
  std::vector<double> start = {};
  std::vector<std::int64_t> kept = {};  ///< rising; 0 is the step after which t = dt
};

struct ObservedRunOptions {
  double most_bytes = 2e9;                  ///< of what the sources inject in all steps
  GridCut cut = {};                         ///< as of yee_op
  std::function<void()> before_block = {};  ///< what it throws ends `values`; null: nothing
};
/// That it is more.
struct CurrentsTooLarge : Error {
  CurrentsTooLarge(std::int64_t n_edges, std::int64_t n_steps, double n_bytes);
  std::int64_t edges, steps;
  double bytes;
};

class ObservedRun {
 public:
  /// `model.injected` and `model.recorded` are set from the sources and observations;
  /// `model.traced` are the edges whose permittivity is an argument, there may be none. Throws
  /// Error where yee_op does, for a run without steps and for observations that keep none or others
  /// than the run has, CurrentsTooLarge beyond `most_bytes`.
  ObservedRun(YeeModel model, const std::vector<Injection>& sources,
              std::vector<Observation> observations, std::int64_t n_steps,
              const ObservedRunOptions& options = {});

  const YeeOpPtr& op() const { return op_; }
  std::int64_t n_steps() const { return n_steps_; }

  /// Of each observation its transforms, X(f) = dt sum_n x_n e^{-i 2 pi f t_n}, c128 [frequency,
  /// edge], or its records, f64 [step, edge], of fields of two parts [2, step, edge]; from relative
  /// inverse permittivities [traced], or of `mixed` edges their parameters [design K], and
  /// strengths [source], which are factors. Undefined: those of the model (not of mixed edges), 1.
  std::vector<Tensor> values(const Tensor& inverse_eps, const Tensor& strengths) const;

 private:
  /// How an observation comes about: by sums over the steps with weights, or, of many steps, as
  /// these themselves.
  struct Watched {
    Observation what;
    std::int64_t first = 0;  ///< column among the recorded edges
    std::int64_t rows = 0;   ///< of the sums; 0: steps themselves
  };
  Tensor weights_of(const Watched& w) const;
  void inject(const std::vector<Injection>& sources, double most_bytes);
  Tensor transforms_of(const Watched& w, const Tensor& sums) const;

  YeeOpPtr op_;
  std::int64_t n_steps_ = 0, block_ = 0, blocks_ = 0;
  std::vector<Watched> watched_;
  std::vector<Tensor> weights_;  ///< [blocks, rows, block] of each that has sums
  Tensor unit_currents_;         ///< [blocks, (part,) block, driven] of sources of strength 1
  Tensor source_of_;             ///< [driven] i64
};

/// The real part of samples over the edges of records, [step, edge] or [2, step, edge]: f64 [step,
/// size], in V/m and A/m.
Tensor real_sample_values(const SampleList& samples, const Tensor& records);

}  // namespace tessera::electromagnetics
