// SPDX-License-Identifier: Apache-2.0
#include "../base/context.h"
#include "keys.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/nn/models.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::nn {
namespace {

/// Of all pairs: the Gaussians g [B..., n, n, basis], and f [B..., n, n, 1], 0 for an atom and
/// itself.
struct Pairs {
  Tensor g, f;
};
Pairs pairs_of(const Tensor& x, double cutoff, Index basis) {
  const Tensor apart = expand_dims(x, -3) - expand_dims(x, -2);
  const Tensor r2 = sum(square(apart), {-1}, true);
  const Tensor within = relu(1 - r2 * (1 / (cutoff * cutoff)));
  const Tensor others = expand_dims(1 - eye(x.dim(-2), x.dtype()), -1);
  const Tensor s = sqrt(r2 + cutoff * cutoff * 1e-4);
  const double width = cutoff / static_cast<double>(std::max<Index>(basis - 1, 1));
  const Tensor centres = arange(basis, x.dtype()) * width;
  return {exp(square(s - centres) * (-0.5 / (width * width))), others * pow(within, 3)};
}

}  // namespace

Tensor EdgeNetwork::operator()(Arg kinds, Arg positions) const {
  const detail::CalledAt called(kinds.line);
  if (!positions.tensor || positions.tensor->ndim() < 2 || positions.tensor->dim(-1) != 3)
    fail("edge_network", "positions are [..., atoms, 3]", positions.line);
  const Tensor x = *positions.tensor;
  Tensor h = species(kinds);
  if (h.ndim() < 2 || h.dim(-2) != x.dim(-2))
    fail("edge_network", "species are [..., atoms] as positions " + to_string(x.type()),
         kinds.line);
  const auto [g, f] = pairs_of(x, cutoff, basis);
  for (const MessageBlock& b : blocks) {
    const Tensor messages = b.filter(g) * f * expand_dims(b.send(h), -3);
    h = h + b.update(sum(messages, {-2}));
  }
  return sum(atom_energy(h), {-2, -1});
}

std::pair<Tensor, Tensor> EdgeNetwork::energy_and_forces(Arg kinds, Arg positions) const {
  const detail::CalledAt called(kinds.line);
  if (!positions.tensor) fail("edge_network", "positions are [..., atoms, 3]", positions.line);
  const auto total = [&](const Tensor& x) {
    const Tensor e = (*this)(kinds, x);
    return std::pair(sum(e), e);
  };
  const auto [energies, slope] = value_and_grad(total)(*positions.tensor);
  return {energies.second, -slope};
}

EdgeNetwork edge_network(const Tensor& key, const EdgeNetworkOptions& o) {
  if (o.species < 1 || o.width < 1 || o.blocks < 0 || o.basis < 2 || !(o.cutoff > 0))
    fail("edge_network", "takes species and width from 1, a basis from 2 and a cut-off above 0");
  const Tensor keys = split_key(one_key("edge_network", key), 2 + 3 * o.blocks);
  Index next = 0;
  const auto another = [&] { return select(keys, 0, next++); };
  const MlpOptions m{.activation = Activation::silu, .linear = {.dtype = o.dtype}};
  EdgeNetwork e{embedding(another(), o.species, o.width, o.dtype), {}, {}, o.cutoff, o.basis};
  for (Index k = 0; k < o.blocks; ++k) {
    MessageBlock b;
    b.send = linear(another(), o.width, o.width, {.bias = false, .dtype = o.dtype});
    b.filter = mlp(another(), {o.basis, o.width, o.width}, m);
    b.update = mlp(another(), {o.width, o.width, o.width}, m);
    e.blocks.push_back(std::move(b));
  }
  e.atom_energy = mlp(another(), {o.width, o.width, 1}, m);
  return e;
}

}  // namespace tessera::nn
