// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/yee_scheme.h"

#include <complex>

namespace tessera::electromagnetics {

/// What a step asks of the bracket of edge i for e = z^n: (z - 1)/inverse + q (z + 1) + (z - 1) sum
/// weight P/e is z^{1/2} times the bracket's amplitude, in the middle of the step, times c dt ds /
/// A*.
inline std::complex<double> row_answer(const MaterialRow& row, int i, std::complex<double> z) {
  const auto at = static_cast<std::size_t>(i);
  std::complex<double> sum = (z - 1.0) / row.inverse[at] + row.loss[at] * (z + 1.0);
  for (const DispersiveRun& run : row.dispersive) {
    const int q = i - run.first;
    if (q < 0 || q >= static_cast<int>(run.weight.size())) continue;
    for (std::size_t p = 0; p < run.alpha.size(); ++p) {
      const std::complex<double> a = run.alpha[p], b = run.beta[p];
      std::complex<double> moved;  // P/e over z + 1
      if (const double shear = run.shear.empty() ? 0 : run.shear[p]; shear != 0)
        moved = (b.real() + shear * b.imag() / (z - a)) / (z - a);
      else if (run.counts_once(p))
        moved = b / (z - a);
      else
        moved = b / (z - a) + std::conj(b) / (z - std::conj(a));
      sum += (z - 1.0) * (z + 1.0) * moved * run.weight[static_cast<std::size_t>(q)];
    }
  }
  return sum;
}

}  // namespace tessera::electromagnetics
