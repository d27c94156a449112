// SPDX-License-Identifier: Apache-2.0
//
// Maps one behind the other. What stands in front of the physics, bounds, shifts or a generator, is
// itself a map with derivatives, and the chain rule is written once:
//   d = F(G(x)),   dd = J K dx,   y . d2d = K^T (y . d2F) K + (J^T y) . d2G,   J = dF/dm, K =
//   dG/dx.
//
//   const ForwardMap g = engine_map(3, [](const Tensor& x) { return exp(x) + 1.0; });
//   const ForwardMap d = through(physics, g);
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/forward_map.h"

#include <cstddef>
#include <functional>

namespace tessera::inversion {

/// x -> f(g(x)). Its Jacobian has numbers where that of f has, K from the left of them; `linearize`
/// gives products, for a gradient. Second derivatives, where both have them, are products.
/// Throws tessera::Error where g gives another number than f takes.
ForwardMap through(ForwardMap f, ForwardMap g);

/// A function of engine operations, f64 [n] -> f64 [n_data]: the Jacobian by forward mode, all
/// tangents at once, from n_data > n on, else by reverse mode; products by jvp and vjp; second
/// derivatives by forward over reverse. Compiled at the first call of each.
ForwardMap engine_map(std::size_t n, std::function<Tensor(const Tensor& x)> f);

}  // namespace tessera::inversion
