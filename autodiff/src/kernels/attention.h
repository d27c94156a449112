// SPDX-License-Identifier: Apache-2.0
//
// Attention in blocks. Of one head, with q [n, d], k [m, d], v [m, e], scale c = 1 / sqrt(d):
//
//   s_ij = (c q_i) . k_j, or -inf where query i does not see key j
//   L_i  = log sum_j exp(s_ij);  p_ij = exp(s_ij - L_i);  y_i = sum_j p_ij v_j
//
// A query that sees nothing has y_i = 0, L_i = -inf and p_ij = 0. With tangents q', k', v',
//
//   s'_ij = (c q'_i) . k_j + (c q_i) . k'_j;  L'_i = sum_j p_ij s'_ij
//   y'_i  = sum_j p_ij s'_ij v_j + sum_j p_ij v'_j - L'_i y_i
//
// and with cotangents u of y and w of L
//
//   r_ij = p_ij (u_i . v_j - D_i),  D_i = u_i . y_i - w_i
//   gq_i = c sum_j r_ij k_j;  gk_j = sum_i r_ij (c q_i);  gv_j = sum_i p_ij u_i.
//
// A block of scores at a time is made, in memory that does not grow with n and m: T. Dao et al.,
// FlashAttention, arXiv:2205.14135; the running largest score and sum, M. Milakov & N. Gimelshein,
// arXiv:1805.02867.
//
// Order of sums. s and u . v: one chain of fused steps over features. Sums over keys: a chain a
// block of kAttentionKeys keys, from key 0 on; blocks are added in order, while y and its sum of
// exp(s - M) stand for the largest score M so far. Sums over queries: a chain a run of kDepth
// queries, runs added in order. So a row of y follows from its query and all keys and values, and a
// gradient of a key from all queries: not from other heads, the rest of a stack, threads or the
// width of vectors. Of a block of 64 queries and 64 keys of which some see others all are
// multiplied: a value that is no number may show where it is not seen.
#pragma once
#include "tessera/autodiff/kernel.h"

#include <array>

namespace tessera::kernels {

/// Keys of a block.
template <class T>
inline constexpr Index kAttentionKeys = 1024 / sizeof(T);

/// q [B..., n, h, d], k [B..., m, h, d], v [B..., m, h, e] and, if there is one, a mask of booleans
/// [B..., h, n, m], all of any strides; `causal`: query i sees the keys j <= i + m - n.
struct AttentionOperands {
  const View *q, *k, *v, *mask;
  bool causal;
};

// `width`: bytes of vectors, of blocked_widths(), or 0. T is float or double. Results are
// contiguous.

/// y [B..., n, h, e] and L [B..., h, n].
template <class T>
void attention_values(int width, const AttentionOperands& in, T* y, T* l);

/// y' and L' along the tangents of q, k, v; null ones are zero.
template <class T>
void attention_tangents(int width, const AttentionOperands& in, const View& y, const View& l,
                        const std::array<const View*, 3>& tangents, T* ty, T* tl);

/// Those of gq, gk, gv that are not null.
template <class T>
void attention_gradients(int width, const AttentionOperands& in, const View& y, const View& l,
                         const View& u, const View& w, const std::array<T*, 3>& gradients);

}  // namespace tessera::kernels
