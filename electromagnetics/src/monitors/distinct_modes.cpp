// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/monitors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tessera::electromagnetics {

std::vector<std::size_t> distinct_modes(std::span<const Mode> modes,
                                        std::span<const int> components) {
  // A short record of a component in which a mode is weak moves it by more than its error says.
  constexpr double kErrors = 3, kOfWidth = 0.01, kRounding = 1e-13;
  if (modes.size() != components.size())
    throw Error(fmt::format("[distinct_modes] {} modes have {} components", modes.size(),
                            components.size()));
  std::vector<std::size_t> exactest(modes.size()), out;
  std::iota(exactest.begin(), exactest.end(), std::size_t{0});
  std::stable_sort(exactest.begin(), exactest.end(), [&](std::size_t a, std::size_t b) {
    return modes[a].error_hz < modes[b].error_hz;
  });
  std::vector<std::vector<int>> seen;  // components of each
  for (const std::size_t r : exactest) {
    std::size_t nearest = out.size();
    double least = INFINITY;
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (std::find(seen[k].begin(), seen[k].end(), components[r]) != seen[k].end())
        continue;  // one component tells two modes apart
      const Mode &a = modes[out[k]], &b = modes[r];
      const double off =
          std::hypot(a.frequency_hz - b.frequency_hz, (a.decay - b.decay) / (2 * std::numbers::pi));
      const double width =
          std::min(std::abs(a.decay), std::abs(b.decay)) / std::numbers::pi;  // f/Q
      if (off > std::max(kErrors * (a.error_hz + b.error_hz), kOfWidth * width) +
                    kRounding * std::abs(a.frequency_hz) ||
          off >= least)
        continue;
      least = off, nearest = k;
    }
    if (nearest == out.size()) out.push_back(r), seen.emplace_back();
    seen[nearest].push_back(components[r]);
  }
  return out;
}

}  // namespace tessera::electromagnetics
