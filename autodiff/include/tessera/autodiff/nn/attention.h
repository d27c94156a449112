// SPDX-License-Identifier: Apache-2.0
//
// Attention and what transformers are made of: x [B..., tokens, features]. A. Vaswani et al.,
// arXiv:1706.03762; norms before each part, with a path around it that stays clear, R. Xiong et
// al., arXiv:2002.04745.
#pragma once
#include "tessera/autodiff/nn/layers.h"

#include <optional>
#include <vector>

namespace tessera::nn {

struct AttentionOptions {
  /// A token sees none after it. Where there are more keys than queries, the last ones of both are
  /// the same token: query i sees the keys j <= i + m - n.
  bool causal = false;
  /// Against [B..., h, n, m] by broadcasting: true where query n sees key m; or numbers, which are
  /// added to the scores (-inf: does not see).
  std::optional<Tensor> mask = {};
};
/// softmax(q k^T / sqrt(d)) v for each of h heads: q [B..., n, h, d], k [B..., m, h, d],
/// v [B..., m, h, e] -> [B..., n, h, e]. Heads lie behind tokens, where a projection leaves them. A
/// query that sees nothing gives 0.
Tensor attention(Arg q, Arg k, Arg v, const AttentionOptions& o = {});

/// Attention between projections: x [B..., n, width] -> [B..., n, width].
struct MultiHeadAttention {
  Linear qkv;  ///< [width, 3 width]: queries, keys, values side by side, of each the heads
  Linear out;  ///< [width, width]
  Index heads = 1;
  TESSERA_TREE(qkv, out)
  TESSERA_STATIC(heads)
  Tensor operator()(Arg x, const AttentionOptions& o = {}) const;
  /// Queries of x, keys and values of `context` [B..., m, width].
  Tensor operator()(Arg x, Arg context, const AttentionOptions& o = {}) const;
};
/// `heads` divides `width`.
MultiHeadAttention multi_head_attention(const Tensor& key, Index width, Index heads,
                                        const LinearOptions& o = {});

/// y = x + attention(norm(x)); y + mlp(norm(y)).
struct TransformerBlock {
  LayerNorm before_attention;
  MultiHeadAttention attention;
  LayerNorm before_mlp;
  Mlp mlp;             ///< width, 4 width, width, with gelu_tanh
  double dropout = 0;  ///< in training, of what is added to x and y
  TESSERA_TREE(before_attention, attention, before_mlp, mlp)
  TESSERA_STATIC(dropout)
  Tensor operator()(Arg x, const AttentionOptions& o = {}) const;
  Tensor train(Arg x, const Tensor& key, const AttentionOptions& o = {}) const;
};
TransformerBlock transformer_block(const Tensor& key, Index width, Index heads, double dropout = 0,
                                   const LinearOptions& o = {});

/// [n, width] for even widths: sin(i w_k) and cos(i w_k) in columns 2 k and 2 k + 1,
/// w_k = 10000^(-2 k / width).
Tensor sinusoidal_positions(Index n, Index width, Dtype dtype = Dtype::f64);
/// Learnt positions: x [B..., n, width] plus the first n rows of the table.
struct PositionEmbedding {
  Tensor table;
  TESSERA_TREE(table)
  Tensor operator()(Arg x) const;
};

}  // namespace tessera::nn
