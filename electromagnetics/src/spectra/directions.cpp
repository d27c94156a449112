// SPDX-License-Identifier: Apache-2.0
#include "spectra/directions.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::electromagnetics::detail {
namespace {

double length_of(const Point& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

}  // namespace

Point normalised(const Point& a, const char* operation, const char* what) {
  const double length = length_of(a);
  if (!(length > 0) || !std::isfinite(length))
    throw Error(fmt::format("[{}] the {} ({}, {}, {}) must be a vector of finite length", operation,
                            what, a[0], a[1], a[2]));
  Point out = a;
  for (double& x : out) x = std::abs(x) < 1e-12 * length ? 0 : x / length;
  return out;
}

Point transverse(const Point& polarization, const Point& u, const char* operation) {
  Point p = normalised(polarization, operation, "polarization");
  const double along = u[0] * p[0] + u[1] * p[1] + u[2] * p[2];
  for (int d = 0; d < 3; ++d) p[d] -= along * u[d];
  if (length_of(p) < 1e-6)
    throw Error(fmt::format(
        "[{}] the polarization points along the direction: the wave has no field", operation));
  return normalised(p, operation, "polarization");
}

}  // namespace tessera::electromagnetics::detail
