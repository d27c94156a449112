// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/code_flow.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tessera::inversion {
namespace {

/// How numbers are put in order before the coupling, and the way back: functions of sizes alone. Of
/// two couplings the second one changes what the first one has left.
std::vector<std::int64_t> order_of(Index codes, std::size_t coupling) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(codes));
  std::iota(order.begin(), order.end(), 0);
  if (coupling % 2 == 1) {
    std::rotate(order.begin(), order.begin() + codes / 2, order.end());
    return order;
  }
  for (std::size_t k = order.size(); k-- > 1;) {
    const double u = data::uniform({0x666c6f77, coupling}, k);
    std::swap(order[k], order[static_cast<std::size_t>(u * static_cast<double>(k + 1))]);
  }
  return order;
}
std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> back(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    back[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
  return back;
}

/// (s, t) of the other half.
std::pair<Tensor, Tensor> affine(const Coupling& c, const Tensor& a) {
  const Tensor y = c.net(a);
  const Index n = y.dim(-1) / 2;
  return {2.0 * tanh(0.5 * slice(y, -1, 0, n)), slice(y, -1, n, 2 * n)};
}

}  // namespace

std::pair<Tensor, Tensor> CodeFlow::normals(const Tensor& z) const {
  Tensor v = z, volume = zeros({z.dim(0)}, z.dtype());
  const Index half = codes / 2;
  for (std::size_t k = 0; k < couplings.size(); ++k) {
    v = take(v, tensor(order_of(codes, k)), -1);
    const Tensor a = slice(v, -1, 0, half), b = slice(v, -1, half, codes);
    const auto [s, t] = affine(couplings[k], a);
    v = concatenate({a, b * exp(s) + t}, -1);
    volume = volume + sum(s, {-1});
  }
  return {v, volume};
}

Tensor CodeFlow::codes_of(const Tensor& normals) const {
  Tensor v = normals;
  const Index half = codes / 2;
  for (std::size_t k = couplings.size(); k-- > 0;) {
    const Tensor a = slice(v, -1, 0, half), b = slice(v, -1, half, codes);
    const auto [s, t] = affine(couplings[k], a);
    v = take(concatenate({a, (b - t) * exp(-s)}, -1), tensor(inverse_of(order_of(codes, k))), -1);
  }
  return v;
}

CodeFlow code_flow(const Tensor& key, Index codes, const CodeFlowOptions& o) {
  if (codes < 2 || o.couplings < 1 || o.width < 1)
    throw Error("[code_flow] takes two codes and a coupling at least");
  CodeFlow f{.codes = codes};
  const Tensor keys = split_key(key, o.couplings);
  const Index half = codes / 2;
  for (Index k = 0; k < o.couplings; ++k) {
    Coupling c{nn::mlp(squeeze(slice(keys, 0, k, k + 1), 0),
                       {half, o.width, o.width, 2 * (codes - half)},
                       {.activation = nn::Activation::silu, .linear = {.dtype = o.dtype}})};
    nn::Linear& last = c.net.layers.back();
    last.w = zeros(last.w.shape(), o.dtype);
    last.b = zeros(last.b->shape(), o.dtype);
    f.couplings.push_back(std::move(c));
  }
  return f;
}

Tensor flow_loss(const CodeFlow& f, const solvers::Batch<nn::NormalCode>& b) {
  const auto [u, volume] = f.normals(b.data.sample(b.keys));
  return 0.5 * mean(square(u)) - mean(volume) / static_cast<double>(f.codes) +
         0.5 * std::log(2 * std::numbers::pi);
}

}  // namespace tessera::inversion
