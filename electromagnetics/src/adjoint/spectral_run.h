// SPDX-License-Identifier: Apache-2.0
//
// A run, forward or transposed, from spectra to spectra. All are sums over the number of the step,
// in the run's own order: X = sum_n x_n z^{-n}, z = e^{i 2 pi f dt}. Of a run backwards n counts
// backwards.
#pragma once
#include "tessera/electromagnetics/yee_primitive.h"

#include <complex>
#include <vector>

namespace tessera::electromagnetics::adjoint {

struct SpectralPlan {
  YeeOpPtr op;
  std::vector<double> frequencies_hz;
  std::vector<double> pulses;  ///< [2 K, pulse_steps]: for real parts, for imaginary parts
  std::int64_t n_steps = 0, pulse_steps = 0;
  int every = 1;
  std::int64_t n_frequencies() const { return static_cast<std::int64_t>(frequencies_hz.size()); }
};

/// The largest modulus among records and brackets: of the whole run, and of its last twentieth.
struct Swing {
  double ever = 0, at_end = 0;
};
/// records [K, recorded] and traces [K, design] from currents [K, injected] and coefficients
/// [design].
void run_forward(const SpectralPlan& plan, const double* coefficients,
                 const std::complex<double>* currents, std::complex<double>* records,
                 std::complex<double>* traces, Swing* swing = nullptr);
/// currents [K, injected] from records, traces (null: zero) and coefficients: the transpose, not
/// conjugated.
void run_transposed(const SpectralPlan& plan, const double* coefficients,
                    const std::complex<double>* records, const std::complex<double>* traces,
                    std::complex<double>* currents);

}  // namespace tessera::electromagnetics::adjoint
