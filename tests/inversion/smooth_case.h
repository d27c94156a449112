// SPDX-License-Identifier: Apache-2.0
// A sounding with what its smooth inversion needs, by the hand-written layered earth.
#pragma once
#include "oracle_forward.h"
#include "tessera/inversion/layering.h"
#include "tessera/inversion/occam.h"

#include <cmath>

namespace tessera::inversion {

inline Smoothing smoothing_of(const SmoothPrior& smooth) {
  return {[smooth](double mu) { return smooth.at(mu); },
          [smooth](const std::vector<double>& m) { return smooth.roughness(m); }};
}

struct SmoothCase {
  Response response;
  Layering layering;
  SmoothPrior smooth;
  InverseProblem problem;
  Smoothing smoothing() const { return smoothing_of(smooth); }
};

/// On `n` layers, smooth about the typical resistivity.
inline SmoothCase smooth_case(const Response& r, int n) {
  SmoothCase c{.response = r, .layering = layering_from_data(r, n)};
  c.smooth.mean.assign(c.layering.size(), std::log(typical_resistivity(r)));
  c.smooth.log10_depth = c.layering.log10_depth;
  c.problem.forward = oracle::layered_forward(r.frequency_hz, c.layering.thickness_m);
  c.problem.data = to_real(r.impedance_ohm);
  c.problem.sigma = sigma_of_data(r);
  return c;
}

}  // namespace tessera::inversion
