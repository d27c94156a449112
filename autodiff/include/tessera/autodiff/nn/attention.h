// SPDX-License-Identifier: Apache-2.0
//
// Attention and what transformers are made of: x [B..., tokens, features]. A. Vaswani et al.,
// arXiv:1706.03762; norms before each part, with a path around it that stays clear, R. Xiong et
// al., arXiv:2002.04745.
#pragma once
#include "tessera/autodiff/nn/layers.h"
#include "tessera/autodiff/ops/attention.h"

namespace tessera::nn {

/// softmax(q k^T / sqrt(d)) v for each head: q [B..., n, h, d], k [B..., m, h, d], v [B..., m, h,
/// e]
/// -> [B..., n, h, e].
using tessera::attention;
using tessera::AttentionOptions;

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
