// SPDX-License-Identifier: Apache-2.0
#include "figures/scaled.h"
#include "tessera/electromagnetics/figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::electromagnetics {

ReadableUnit readable_unit(const std::vector<double>& values, const std::string& unit) {
  double largest = 0;
  for (const double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  static const std::pair<double, const char*> steps[] = {
      {1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},   {1, ""},
      {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}, {1e-15, "f"}};
  if (unit != "Hz" && unit != "s" && unit != "m") return {1, unit};
  for (const auto& [size, letter] : steps)
    if (largest >= size) return {1 / size, letter + unit};
  return {1, unit};
}

std::vector<double> detail::scaled(std::vector<double> v, double by) {
  for (double& x : v) x *= by;
  return v;
}

}  // namespace tessera::electromagnetics
