// SPDX-License-Identifier: Apache-2.0
//
// What operations cost, in the terms of which primitives tell it.
#pragma once
#include "tessera/autodiff/graph.h"

#include <cmath>

namespace tessera::detail {

inline double count(const Type& t) { return static_cast<double>(t.shape.count()); }
inline double log2(Index n) { return std::log2(std::max<double>(2, static_cast<double>(n))); }
/// `n` fused steps, of numbers of that type.
inline double multiply_adds(const Type& t, double n) { return n * (is_complex(t.dtype) ? 8 : 2); }
/// f m n min(m, n) for each of the matrices [..., m, n] (Golub and Van Loan, Matrix Computations,
/// sections 3.2, 5.2, 8.3, 8.6); of complex ones four times that.
inline double matrix_flops(const Type& t, double f) {
  const double n = static_cast<double>(std::min(t.shape[t.shape.size() - 2], t.shape.back()));
  return f * count(t) * n * (is_complex(t.dtype) ? 4 : 1);
}
/// 5 n log2 n of each complex transform over the last `axes` axes.
inline double fft_flops(const Type& t, int axes) {
  double n = 1;
  for (int d = t.shape.size() - axes; d < t.shape.size(); ++d) n *= static_cast<double>(t.shape[d]);
  return 5 * count(t) * std::log2(std::max(2.0, n));
}

/// Operations of reals for an element of an element-wise primitive.
double flops_each(std::string_view name, bool complex);
/// One run of the graph: workspace is what lives at once of its values that are neither inputs nor
/// outputs, with the workspace of the equation at work.
Cost cost_of(const Graph& g);

}  // namespace tessera::detail
