// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/depth_of_investigation.h"

#include "tessera/autodiff/error.h"
#include "tessera/inversion/bostick.h"
#include "tessera/inversion/layering.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

DepthOfInvestigation depth_of_investigation(const Response& response,
                                            const std::vector<double>& thickness_m,
                                            const Matrix& jacobian, double share) {
  require_valid(response, "depth_of_investigation");
  const std::size_t layers = thickness_m.size() + 1;
  if (jacobian.rows != 2 * response.size() || jacobian.cols < layers)
    throw Error("[depth_of_investigation] the Jacobian does not fit data and layers");
  DepthOfInvestigation out;
  const auto longest = std::min_element(response.frequency_hz.begin(), response.frequency_hz.end());
  const auto at = static_cast<std::size_t>(longest - response.frequency_hz.begin());
  out.bostick_m = bostick_depth(*longest, response.impedance_ohm[at]);

  std::vector<double> sensitivity(layers);
  double total = 0;
  for (std::size_t j = 0; j < layers; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < jacobian.rows; ++i) {
      const double v = jacobian(i, j) / response.sigma_ohm[i / 2];
      sum += v * v;
    }
    total += sensitivity[j] = std::sqrt(sum);
  }
  const auto z = bottoms(thickness_m);
  double below = sensitivity[layers - 1];
  if (layers == 1) return out;
  out.sensitivity_m = z.back();
  if (below > share * total) return out;  // the half-space itself is still seen
  for (std::size_t j = layers - 1; j-- > 0;) {
    const double next = below + sensitivity[j];
    if (next > share * total) {
      const double t = (share * total - below) / sensitivity[j];  // part of the layer, from below
      const double top = j == 0 ? 0.0 : z[j - 1];
      out.sensitivity_m = top > 0 ? z[j] * std::pow(top / z[j], t) : z[j] * (1 - t);
      return out;
    }
    below = next;
  }
  return out;
}

}  // namespace tessera::inversion
