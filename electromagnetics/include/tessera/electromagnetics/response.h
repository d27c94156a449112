// SPDX-License-Identifier: Apache-2.0
//
// Spectra of a linear model, as a differentiable operation without any history in time. With w the
// spectra of the currents,
//
//   (x, u) = H(c) w
//   d H / d c . dc w = H(c) [(dc / c) u at the design edges]
//
// with x the spectra of the records and u those of the brackets at the design edges, which is P of
// yee_primitive.h, transformed. H w is one run that is driven by real signals of these spectra
// (pulse_basis.h) and transformed while it goes; H^T is the transposed run, driven at records and
// traces. Both are primitives, each the other's transpose, closed under differentiation of any
// order: a gradient costs two runs, a Hessian-vector product four, whatever the number of design
// edges, frequencies and records; memory is the state and [frequency, edge] sums.
//
//   const ResponsePtr r = response(op, {.frequencies_hz = f, .n_steps = 4000});
//   auto objective = [&](Tensor inverse_eps) {
//     return sum(square(abs(spectra(r, coefficients(op, inverse_eps), currents))));
//   };
//   auto [value, gradient] = value_and_grad(objective)(inverse_eps);
//
// Between faces that are joined with a phase H is that of the complex fields: currents of any
// phase, at +f alone.
//
// Exact as far as the fields have decayed when the run ends (`left_over`): what is left of them
// then is missing in the spectra, and gradients differ from differences by it.
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/samples.h"
#include "tessera/electromagnetics/waveform.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::electromagnetics {

struct ResponseOptions {
  std::vector<double> frequencies_hz;
  std::int64_t n_steps = 0;      ///< of a run: sources first, then the fields die away
  std::int64_t pulse_steps = 0;  ///< during which it is driven; 0: half of them. Close frequencies
                                 ///< need many (pulse_basis.h)
  /// The transforms take each such step (RunningDft); 0: the largest that does not show.
  int every = 0;
};
struct Response;
using ResponsePtr = std::shared_ptr<const Response>;
/// Throws Error where the frequencies are too close for the pulse, or where `every` is too coarse
/// for them: a run is driven by signals whose spectra reach beyond the frequencies, and what they
/// hold near f + m/(every dt) would be counted at f. At most 1e-9 of it is by the own choice, 1e-6
/// is let pass.
ResponsePtr response(const YeeOpPtr& op, const ResponseOptions& options);

/// X(f) = dt sum_n x_n e^{-i 2 pi f t_n} of the records, c128 [frequency, recorded], from the
/// spectra of the currents c128 [frequency, driven], W(f) = dt sum_n w_n e^{-i 2 pi f t_n} at the
/// times of the currents (Injection), and coefficients f64 [design].
Tensor spectra(const ResponsePtr& response, const Tensor& coefficients, const Tensor& currents);

/// What is left when such a run ends: the largest modulus of a recorded field or a bracket at a
/// design edge in the last twentieth of the steps over the largest of all. Spectra were off by less
/// in all tests, by up to a thousand times where signals had only just ended. Costs a run.
double left_over(const ResponsePtr& response, const Tensor& coefficients, const Tensor& currents);

/// Values of samples, complex [frequency, size] in V/m s and A/m s, from the spectra of their edges
/// (samples.edges() being what the model records): all that is made of them, such as flux and far
/// fields, differentiates.
Tensor sample_values(const SampleList& samples, const Tensor& spectra);

/// Spectra of real currents [driven] (the moments of an Injection) that all go as `waveform`: c128
/// [frequency, driven].
Tensor current_spectra(const ResponsePtr& response, const Tensor& moments,
                       const Waveform& waveform);

}  // namespace tessera::electromagnetics
