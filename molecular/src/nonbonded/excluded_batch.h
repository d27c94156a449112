// SPDX-License-Identifier: Apache-2.0
//
// erf(beta r)/r = beta g(z), z = beta^2 r^2, of excluded pairs, 64 at a time. g is entire
// (series.h): close pairs take series, whose loops the compiler vectorises, others its formula.
// With f = -2 g':
//
//   d/ds (-beta g) = beta^3 f/2,   d2/ds2 (-beta g) = beta^5 f'/2,   s = r^2
//   f' = (2/sqrt(pi) e^{-z} - 3 f/2)/z
#pragma once
#include "tessera/molecular/box.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::molecular {

struct ExcludedBatch {
  static constexpr std::size_t width = 64;
  alignas(64) double d[3][width],
      image[3][width];  ///< d = x_i - x_j - image h, the shortest by fractions
  alignas(64) double value[width],
      derivative[width], second[width];  ///< g, f and f' of the first `many`
};

class ExcludedShapes {
 public:
  explicit ExcludedShapes(double beta);
  double beta() const { return beta_; }
  /// Displacements of up to 64 pairs of atoms at x [n, 3], f, and g and f' where wanted.
  void operator()(const double* x, const Box& box, const std::array<std::int32_t, 2>* pairs,
                  std::size_t many, bool values, bool curves, ExcludedBatch& to) const;

 private:
  double beta_;
  std::vector<double> value_, derivative_, second_;  ///< in 2 z/far - 1
};

}  // namespace tessera::molecular
