// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/layering.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/median.h"
#include "tessera/inversion/bostick.h"

#include <algorithm>
#include <cmath>

namespace tessera::inversion {

Layering logarithmic_layering(double first_bottom_m, double last_bottom_m, int n_layers) {
  if (!(first_bottom_m > 0) || !(last_bottom_m > first_bottom_m) || n_layers < 3)
    throw Error("[logarithmic_layering] needs 0 < first < last bottom and at least 3 layers");
  Layering out;
  const double a = std::log10(first_bottom_m), b = std::log10(last_bottom_m);
  const double step = (b - a) / (n_layers - 2);
  double top = 0;
  for (int j = 0; j + 1 < n_layers; ++j) {
    const double bottom = std::pow(10.0, a + step * j);
    out.thickness_m.push_back(bottom - top);
    top = bottom;
  }
  for (int j = 0; j < n_layers; ++j) out.log10_depth.push_back(a + step * (j - 0.5));
  return out;
}

Layering layering_from_data(const Response& response, int n_layers) {
  require_valid(response, "layering_from_data");
  const std::vector<double> depth = bostick(response).depth_m;
  double shallow = INFINITY, deep = 0;
  for (std::size_t i = 0; i < depth.size();
       ++i) {  // running median of five: one bad point is harmless
    const std::size_t first = i < 2 ? 0 : i - 2, last = std::min(depth.size(), i + 3);
    const double middle = data::median({depth.begin() + static_cast<std::ptrdiff_t>(first),
                                        depth.begin() + static_cast<std::ptrdiff_t>(last)});
    shallow = std::min(shallow, middle);
    deep = std::max(deep, middle);
  }
  return logarithmic_layering(shallow / 6, 3 * deep, n_layers);
}

std::vector<double> bottoms(const std::vector<double>& thickness_m) {
  std::vector<double> z;
  double sum = 0;
  for (double h : thickness_m) z.push_back(sum += h);
  return z;
}

double typical_resistivity(const Response& response) {
  require_valid(response, "typical_resistivity");
  std::vector<double> rho;
  for (std::size_t i = 0; i < response.size(); ++i)
    rho.push_back(apparent_resistivity(response.frequency_hz[i], response.impedance_ohm[i]));
  return data::median(std::move(rho));
}

}  // namespace tessera::inversion
