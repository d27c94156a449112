// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/response.h"

#include <vector>

namespace tessera::inversion {

/// Layers from the surface down; the last one is a half-space and has no thickness.
struct LayeredEarth {
  std::vector<double> resistivity_ohm_m;  ///< [n]
  std::vector<double> thickness_m;        ///< [n - 1]
};

struct Layering {
  std::vector<double> thickness_m;  ///< [n - 1]
  std::vector<double> log10_depth;  ///< [n], of the middle of each layer on the logarithmic scale
  std::size_t size() const { return log10_depth.size(); }
};

/// Layer bottoms spaced evenly in the logarithm of depth.
Layering logarithmic_layering(double first_bottom_m, double last_bottom_m, int n_layers);

/// The same, chosen from the data: from a sixth of the smallest Bostick depth to three times the
/// largest, so that thin layers resolve the top and the half-space below is out of reach.
Layering layering_from_data(const Response& response, int n_layers = 70);

/// Depths of the layer bottoms, [n - 1].
std::vector<double> bottoms(const std::vector<double>& thickness_m);

/// Median of the apparent resistivities in ohm m: where an inversion starts.
double typical_resistivity(const Response& response);

}  // namespace tessera::inversion
