// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <optional>

// Attention between queries q, keys k and values v, for each of h heads:
//
//   s_ij = q_i . k_j / sqrt(d), -inf where query i does not see key j
//   L_i = log sum_j exp(s_ij),  y_i = sum_j exp(s_ij - L_i) v_j
//
// A query that sees nothing has y_i = 0 and L_i = -inf, which do not move. Shapes: q [B..., n, h,
// d], k [B..., m, h, d], v [B..., m, h, e], f32 or f64, the widest of the three; leading axes
// broadcast. Heads lie behind tokens, where a projection leaves them.
//
// Scores are made block by block, also in first derivatives, forward and reverse: memory beyond
// operands and results does not grow with n and m. Higher derivatives, Taylor mode and masks of
// numbers hold all n m scores. The order of sums: docs/reference/bits.md.

namespace tessera {

struct AttentionOptions {
  /// A token sees none after it. Where there are more keys than queries, the last ones of both are
  /// the same token: query i sees the keys j <= i + m - n.
  bool causal = false;
  /// Against [B..., h, n, m] by broadcasting: true where query n sees key m; or numbers, which are
  /// added to the scores (-inf: does not see).
  std::optional<Tensor> mask = {};
};

/// y [B..., n, h, e].
Tensor attention(Arg q, Arg k, Arg v, const AttentionOptions& o = {});

/// y and L [B..., h, n], by which results over parts of the keys are joined: their shares of y are
/// exp(L_part - L).
struct AttentionPart {
  Tensor y, log_sum;
};
AttentionPart attention_part(Arg q, Arg k, Arg v, const AttentionOptions& o = {});

}  // namespace tessera
