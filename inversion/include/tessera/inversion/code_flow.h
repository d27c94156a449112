// SPDX-License-Identifier: Apache-2.0
//
// What codes of an autoencoder are like: an invertible map between them and normal numbers, of
// affine couplings (L. Dinh et al., arXiv:1605.08803). Codes that sections have lie together, far
// from filling N(0, 1); behind the map a prior of N(0, 1) gives codes of sections.
//
//   CodeFlow flow = code_flow(random_key(2), 64);
//   auto state = solvers::begin_fit(flow, options);
//   solvers::fit(flow_loss, flow_loss, state, codes, held_out, options);
//   Tensor z = state.best.codes(normal(random_key(3), {10, 64}));
#pragma once
#include "tessera/autodiff/nn/layers.h"
#include "tessera/autodiff/nn/models.h"
#include "tessera/solvers/fit.h"

#include <utility>
#include <vector>

namespace tessera::inversion {

/// Of numbers v, split into halves a, b by a permutation of its own: b -> b exp(s(a)) + t(a), with
/// s between -2 and 2.
struct Coupling {
  nn::Mlp net;  ///< a -> (s, t)
  TESSERA_TREE(net)
};
struct CodeFlow {
  std::vector<Coupling> couplings;
  Index codes = 0;
  TESSERA_TREE(couplings)
  TESSERA_STATIC(codes)

  /// Codes [B, codes] -> normal numbers [B, codes], and the logarithm of the map's volume [B].
  std::pair<Tensor, Tensor> normals(const Tensor& codes) const;
  /// The way back: normal numbers [B, codes] -> codes [B, codes].
  Tensor codes_of(const Tensor& normals) const;
};
struct CodeFlowOptions {
  Index couplings = 8, width = 128;
  Dtype dtype = Dtype::f32;
};
/// That changes nothing as it stands but for the order of numbers.
CodeFlow code_flow(const Tensor& key, Index codes, const CodeFlowOptions& o = {});

/// Minus the mean logarithm of the density, by code, of a draw of each sample's codes.
Tensor flow_loss(const CodeFlow& f, const solvers::Batch<nn::NormalCode>& b);

}  // namespace tessera::inversion
