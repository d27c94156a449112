// SPDX-License-Identifier: Apache-2.0
//
// The two loops of L-BFGS (Nocedal & Wright, Numerical Optimization, 2006, algorithm 7.4): d <- H d
// with the inverse Hessian H that the last changes s_k of the position and y_k of the gradient tell
// of,
//
//   H_0 = scale,   H_{k+1} = (1 - rho s y^T) H_k (1 - rho y s^T) + rho s s^T,   rho_k = 1 / s_k.y_k
//
// for vectors of any kind. What is kept, when a pair counts and what a step does with the direction
// is the minimiser's own.
#pragma once
#include <cstddef>
#include <vector>

namespace tessera {

/// `pair(k)` gives s, y and rho of pair k, the oldest first; dot(a, b); add(d, factor, a): d +=
/// factor a; multiply(d): d *= scale.
template <class Scalar, class Vector, class Pair, class Dot, class Add, class Multiply>
void lbfgs_product(Vector& d, std::size_t n_pairs, const Pair& pair, const Dot& dot, const Add& add,
                   const Multiply& multiply) {
  std::vector<Scalar> alpha(n_pairs);
  for (std::size_t k = n_pairs; k-- > 0;) {
    const auto& [s, y, rho] = pair(k);
    alpha[k] = rho * dot(s, d);
    add(d, -alpha[k], y);
  }
  multiply(d);
  for (std::size_t k = 0; k < n_pairs; ++k) {
    const auto& [s, y, rho] = pair(k);
    add(d, alpha[k] - rho * dot(y, d), s);
  }
}

}  // namespace tessera
