// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/per_watt.h"

#include "electromagnetics/fdtd/scattering.h"
#include "electromagnetics/fdtd/spectral.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::apps::fdtd {
namespace {

/// A unit of a transform as it is per watt (per watt and metre in two dimensions), and how it goes
/// with the wave: 0 not at all, 1 as a field, 2 as power.
struct WattUnit {
  int power = 0;
  std::string text;
};
WattUnit unit_per_watt(const std::string& unit, int dimensions) {
  const std::string watt = dimensions == 3   ? "W"
                           : dimensions == 2 ? "W/m"
                                             : "W/m^2",
                    root = dimensions == 3 ? "/sqrt(W)" : "/sqrt(" + watt + ")";
  const auto after = [&](const std::string& begin) { return unit.substr(begin.size()); };
  for (const char first : {'W', 'J'}) {
    const std::string begin = std::string(1, first) + "*s^2",
                      per = dimensions == 3 ? "" : watt.substr(1), own = first == 'W' ? "" : "s";
    if (!unit.starts_with(begin)) continue;
    std::string rest = after(begin);
    if (!per.empty() && rest.starts_with(per)) rest = rest.substr(per.size());
    if (rest == "/(rad*m)") rest = "/rad";
    return {2, own.empty() ? (rest.empty() ? "1" : "1" + rest) : own + rest};
  }
  if (unit.starts_with("sqrt(W")) return {1, "1"};
  for (const char* begin : {"V*s", "A*s"})
    if (unit.starts_with(begin)) return {1, unit.substr(0, 1) + after(begin) + root};
  return {};
}

}  // namespace

Tensor of_a_watt(PerWatt wave, const Tensor& in, const Tensor& all_in, const Tensor& all_out) {
  if (wave == PerWatt::incident) return 1.0 / in;
  const Tensor taken = sqrt(square(abs(all_in)) - square(abs(all_out)));
  return cast(abs(in) / taken, Dtype::c128) / in;
}

void per_watt(const MonitoredCase& made, std::size_t run, Results& results) {
  const Case& c = made.c;
  if (c.options.scattering.per_watt == PerWatt::no) return;
  const auto of_driven = [&](const Tensor& x) {
    return select(select(x, 2, static_cast<Index>(run)), 1,
                  static_cast<Index>(c.excitations[run].channel));
  };
  const PortWaves own = waves_of(made), all = with_images(c, own),
                  seen = seen_waves(c, own, constants_of(made));
  const std::vector<double> known = c.options.scattering.all_frequencies();
  std::vector<std::complex<double>> by = complex_values(of_a_watt(
      c.options.scattering.per_watt, of_driven(seen.in), of_driven(all.in), of_driven(all.out)));
  const std::vector<double> is_told = told_channels(c);
  for (std::size_t k = 0; k < known.size(); ++k)
    if (is_told[k * c.channels.size() + c.excitations[run].channel] == 0) by[k] = c128(NAN, NAN);
  for (MonitorResult& r : results) {
    if (r.axis.name != "frequency" || !r.transform) continue;
    std::vector<std::complex<double>>& factors = r.transform->of_a_watt;
    for (const double f : r.axis.values)
      factors.push_back(by.at(static_cast<std::size_t>(
          std::find_if(known.begin(), known.end(),
                       [&](double x) { return std::abs(x - f) <= 1e-9 * f; }) -
          known.begin())));
    for (Quantity& q : r.quantities) {
      const WattUnit to = unit_per_watt(q.units, c.grid.dimensions());
      if (to.power == 0 || q.name == "sums" || q.shape.empty()) continue;
      const std::size_t each = std::accumulate(q.shape.begin() + 1, q.shape.end(), std::uint64_t{1},
                                               std::multiplies<>());
      for (std::size_t k = 0; k < factors.size(); ++k)
        for (std::size_t i = k * each; i < (k + 1) * each; ++i)
          std::visit(
              [&]<class T>(std::vector<T>& v) {
                if (to.power == 2)
                  v[i] *= std::norm(factors[k]);
                else if constexpr (std::is_same_v<T, double>)
                  v[i] *= std::abs(factors[k]);
                else
                  v[i] *= factors[k];
              },
              q.values);
      q.units = to.text;
    }
  }
}

}  // namespace tessera::apps::fdtd
