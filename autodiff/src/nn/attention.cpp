// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/attention.h"

#include "../base/context.h"
#include "keys.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera::nn {
namespace {

Tensor with_tokens(const char* layer, const Arg& x, Index width) {
  if (!x.tensor || x.tensor->ndim() < 2 || x.tensor->dim(-1) != width)
    fail(layer, "takes [..., tokens, " + std::to_string(width) + "]", x.line);
  return *x.tensor;
}

/// The k-th third of [..., tokens, 3 width] as [..., tokens, heads, width / heads].
Tensor third(const Tensor& x, int k, int thirds, Index heads) {
  Shape s = x.shape();
  const Index width = s.back() / thirds;
  s[s.size() - 1] = thirds;
  s.push_back(heads), s.push_back(width / heads);
  return select(reshape(x, s), -3, k);
}
Tensor merged(const Tensor& y) {
  Shape s = y.shape();
  s[s.size() - 2] *= s.back();
  s.erase(s.size() - 1);
  return reshape(y, s);
}
/// Columns first ... last of a linear layer.
Linear columns(const Linear& l, Index first, Index last) {
  Linear part{slice(l.w, 1, first, last), std::nullopt};
  if (l.b) part.b = slice(*l.b, 0, first, last);
  return part;
}

}  // namespace

Tensor MultiHeadAttention::operator()(Arg x, const AttentionOptions& o) const {
  const detail::CalledAt called(x.line);
  const Tensor all = qkv(with_tokens("multi_head_attention", x, qkv.w.dim(0)));
  return out(merged(
      nn::attention(third(all, 0, 3, heads), third(all, 1, 3, heads), third(all, 2, 3, heads), o)));
}

Tensor MultiHeadAttention::operator()(Arg x, Arg context, const AttentionOptions& o) const {
  const detail::CalledAt called(x.line);
  const Index width = qkv.w.dim(0);
  const Tensor q = columns(qkv, 0, width)(with_tokens("multi_head_attention", x, width));
  const Tensor kv =
      columns(qkv, width, 3 * width)(with_tokens("multi_head_attention", context, width));
  return out(merged(
      nn::attention(third(q, 0, 1, heads), third(kv, 0, 2, heads), third(kv, 1, 2, heads), o)));
}

MultiHeadAttention multi_head_attention(const Tensor& key, Index width, Index heads,
                                        const LinearOptions& o) {
  if (heads < 1 || width < 1 || width % heads != 0)
    fail("multi_head_attention", std::to_string(width) + " features are not " +
                                     std::to_string(heads) + " heads of one size");
  const Tensor keys = split_key(one_key("multi_head_attention", key), 2);
  return {linear(select(keys, 0, 0), width, 3 * width, o),
          linear(select(keys, 0, 1), width, width, o), heads};
}

Tensor TransformerBlock::operator()(Arg x, const AttentionOptions& o) const {
  const detail::CalledAt called(x.line);
  const Tensor in = with_tokens("transformer_block", x, before_attention.gain.size());
  const Tensor y = in + attention(before_attention(in), o);
  return y + mlp(before_mlp(y));
}

Tensor TransformerBlock::train(Arg x, const Tensor& key, const AttentionOptions& o) const {
  const detail::CalledAt called(x.line);
  const Tensor in = with_tokens("transformer_block", x, before_attention.gain.size());
  const Tensor keys = split_key(one_key("transformer_block", key), 2);
  const Tensor y =
      in + nn::dropout(attention(before_attention(in), o), dropout, select(keys, 0, 0));
  return y + nn::dropout(mlp(before_mlp(y)), dropout, select(keys, 0, 1));
}

TransformerBlock transformer_block(const Tensor& key, Index width, Index heads, double dropout,
                                   const LinearOptions& o) {
  const Tensor keys = split_key(one_key("transformer_block", key), 2);
  return {layer_norm(width, o.dtype), multi_head_attention(select(keys, 0, 0), width, heads, o),
          layer_norm(width, o.dtype),
          mlp(select(keys, 0, 1), {width, 4 * width, width},
              {.activation = Activation::gelu_tanh, .linear = o}),
          dropout};
}

Tensor sinusoidal_positions(Index n, Index width, Dtype dtype) {
  if (n < 0 || width < 0 || width % 2 != 0)
    fail("sinusoidal_positions", "takes an even width, got " + std::to_string(width));
  const Tensor rate =
      exp(arange(width / 2, Dtype::f64) *
          (-2 * std::log(10000.0) / static_cast<double>(std::max<Index>(width, 1))));
  const Tensor angle = expand_dims(arange(n, Dtype::f64), 1) * rate;
  return cast(reshape(stack({sin(angle), cos(angle)}, 2), {n, width}), dtype);
}

Tensor PositionEmbedding::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  const Tensor t = with_tokens("position_embedding", x, table.dim(1));
  if (t.dim(-2) > table.dim(0))
    fail("position_embedding",
         "has " + std::to_string(table.dim(0)) + " positions, got " + to_string(t.type()), x.line);
  return t + slice(table, 0, 0, t.dim(-2));
}

}  // namespace tessera::nn
