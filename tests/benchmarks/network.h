// SPDX-License-Identifier: Apache-2.0
//
// The tanh network that several benchmarks differentiate.
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/tree.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace bench {

struct Net {
  std::vector<tessera::Tensor> w, b;
  TESSERA_TREE(w, b)
  /// [points, widths.front()] -> [points, widths.back()].
  tessera::Tensor operator()(tessera::Tensor u) const {
    for (std::size_t k = 0; k < w.size(); ++k) {
      u = matmul(u, w[k]) + b[k];
      if (k + 1 < w.size()) u = tanh(u);
    }
    return u;
  }
};

/// Normal weights of variance 1 / width, biases of `bias`.
inline Net network(const std::vector<tessera::Index>& widths, double bias = 0) {
  Net net;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    net.w.push_back(tessera::normal(tessera::random_key(k), {widths[k], widths[k + 1]}) /
                    std::sqrt(double(widths[k])));
    net.b.push_back(bias * tessera::normal(tessera::random_key(100 + k), {widths[k + 1]}));
  }
  return net;
}

/// w0, b0, w1, ... and the points x, for a peer.
inline std::map<std::string, tessera::Tensor> arrays(const Net& net, const tessera::Tensor& x) {
  std::map<std::string, tessera::Tensor> out{{"x", x}};
  for (std::size_t k = 0; k < net.w.size(); ++k)
    out["w" + std::to_string(k)] = net.w[k], out["b" + std::to_string(k)] = net.b[k];
  return out;
}
/// Its arrays in the order w0, b0, w1, ...
inline std::vector<tessera::Tensor> in_order(const Net& net) {
  std::vector<tessera::Tensor> out;
  for (std::size_t k = 0; k < net.w.size(); ++k) out.push_back(net.w[k]), out.push_back(net.b[k]);
  return out;
}

}  // namespace bench
