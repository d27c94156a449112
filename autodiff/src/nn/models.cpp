// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/models.h"

#include "../base/context.h"
#include "keys.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera::nn {
namespace {

/// Hands out keys one after the other.
struct Keys {
  Tensor all;
  Index next = 0;
  Tensor operator()() { return select(all, 0, next++); }
};
Keys keys_of(const char* model, const Tensor& key, std::size_t n) {
  return {split_key(one_key(model, key), static_cast<Index>(n))};
}

Initializer small_normal(double deviation) {
  return [deviation](const Tensor& key, const Shape& shape, Fans, Dtype dtype) {
    return normal(key, shape, dtype) * deviation;
  };
}

ConvPair conv_pair(const Tensor& key, Index in, Index out, const UNetOptions& o) {
  Keys keys = keys_of("unet", key, 2);
  const Shape window = Shape::filled(o.axes, 3);
  const ConvOptions c{.dtype = o.dtype};
  Conv first = conv(keys(), window, in, out, c);
  return {std::move(first), group_norm(o.groups, out, o.dtype), conv(keys(), window, out, out, c),
          group_norm(o.groups, out, o.dtype)};
}

}  // namespace

// ---- Gpt ----

Tensor Gpt::operator()(Arg w) const {
  const detail::CalledAt called(w.line);
  Tensor x = positions(words(w));
  for (const TransformerBlock& block : blocks) x = block(x, {.causal = true});
  return logits(last(x));
}

Tensor Gpt::train(Arg w, const Tensor& key) const {
  const detail::CalledAt called(w.line);
  if (blocks.empty()) return (*this)(w);
  Keys keys = keys_of("gpt", key, blocks.size());
  Tensor x = positions(words(w));
  for (const TransformerBlock& block : blocks) x = block.train(x, keys(), {.causal = true});
  return logits(last(x));
}

Gpt gpt(const Tensor& key, const GptOptions& o) {
  if (o.words < 1 || o.width < 1 || o.blocks < 0 || o.tokens < 1)
    fail("gpt", "takes words, width and tokens from 1, and blocks from 0");
  Keys keys = keys_of("gpt", key, static_cast<std::size_t>(o.blocks) + 3);
  const Initializer first = small_normal(0.02);
  const LinearOptions l{.weights = first, .biases = constant(0), .dtype = o.dtype};
  Gpt g{{first(keys(), {o.words, o.width}, {}, o.dtype)},
        {first(keys(), {o.tokens, o.width}, {}, o.dtype)},
        {},
        layer_norm(o.width, o.dtype),
        {first(keys(), {o.width, o.words}, {}, o.dtype), std::nullopt}};
  const double share = 1 / std::sqrt(2 * static_cast<double>(o.blocks));
  for (Index k = 0; k < o.blocks; ++k) {
    TransformerBlock b = transformer_block(keys(), o.width, o.heads, o.dropout, l);
    b.attention.out.w = b.attention.out.w * share;
    b.mlp.layers.back().w = b.mlp.layers.back().w * share;
    g.blocks.push_back(std::move(b));
  }
  return g;
}

// ---- UNet ----

Tensor ConvPair::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  return silu(second_norm(second(silu(first_norm(first(x))))));
}

Tensor UNet::operator()(Arg x) const {
  const detail::CalledAt called(x.line);
  const int axes = last.w.ndim() - 2;
  const Index unit = Index(1) << (down.size() - 1);
  if (!x.tensor || x.tensor->ndim() != axes + 2)
    fail("unet", "takes [samples, ..., channels] with axes between: " + std::to_string(axes),
         x.line);
  for (int k = 1; k <= axes; ++k)
    if (x.tensor->dim(k) % unit != 0)
      fail("unet",
           "axes are multiples of " + std::to_string(unit) + ", got " + to_string(x.tensor->type()),
           x.line);
  const Shape half = Shape::filled(axes, 2);
  std::vector<Tensor> given;
  Tensor y = *x.tensor;
  for (std::size_t l = 0; l < down.size(); ++l) {
    if (l > 0) y = max_pool(y, half);
    given.push_back(y = down[l](y));
  }
  for (std::size_t l = merge.size(); l-- > 0;) y = merge[l](concatenate({given[l], up[l](y)}, -1));
  return last(y);
}

UNet unet(const Tensor& key, Index in, Index out, const UNetOptions& o) {
  if (o.widths.empty()) fail("unet", "has no level");
  const std::size_t levels = o.widths.size();
  Keys keys = keys_of("unet", key, 3 * levels);
  UNet u;
  for (std::size_t l = 0; l < levels; ++l)
    u.down.push_back(conv_pair(keys(), l ? o.widths[l - 1] : in, o.widths[l], o));
  const Shape half = Shape::filled(o.axes, 2);
  for (std::size_t l = 0; l + 1 < levels; ++l) {
    const Index width = o.widths[l];
    u.up.push_back(
        conv_transpose(keys(), half, o.widths[l + 1], width, {.stride = half, .dtype = o.dtype}));
    u.merge.push_back(conv_pair(keys(), 2 * width, width, o));
  }
  u.last = conv(keys(), Shape::filled(o.axes, 1), o.widths[0], out, {.dtype = o.dtype});
  return u;
}

// ---- ConvVae ----

namespace {

/// Batch norms one after the other, with the batch's own statistics or the running ones.
struct Norms {
  const ConvVae::Statistics& running;
  bool train;
  ConvVae::Statistics seen = {};
  std::size_t next = 0;
  Tensor operator()(const NormedConv& l, const Tensor& x) {
    const BatchStatistics& r = running.at(next++);
    const Tensor y = l.conv(x);
    if (!train) return silu(l.norm(y, r));
    auto [normed, moved] = l.norm.train(y, r);
    seen.push_back(std::move(moved));
    return silu(normed);
  }
};

/// [samples, extents...]
Shape samples_of(Index n, const Shape& extents) {
  Shape s{n};
  for (const Index e : extents) s.push_back(e);
  return s;
}
Tensor must_be_samples(const char* what, const Arg& x, const Shape& extents) {
  if (!x.tensor || x.tensor->ndim() < 1 ||
      x.tensor->shape() != samples_of(x.tensor->dim(0), extents))
    fail("conv_vae", std::string(what) + " are [samples, " + to_string(extents).substr(1), x.line);
  return *x.tensor;
}
void must_match(const ConvVae& v, const ConvVae::Statistics& s) {
  if (s.size() != v.encoder.size() + v.decoder.size())
    fail("conv_vae", "has statistics of " + std::to_string(v.encoder.size() + v.decoder.size()) +
                         " layers, got " + std::to_string(s.size()));
}

NormalCode encoded(const ConvVae& v, const Arg& x, Norms& norm) {
  Tensor y = expand_dims(must_be_samples("arrays", x, v.lengths), -1);
  for (std::size_t k = 0; k < v.encoder.size(); ++k) {
    y = norm(v.encoder[k], y);
    if (k % 2 == 1) y = max_pool(y, Shape::filled(v.lengths.size(), 2));
  }
  y = reshape(y, {y.dim(0), v.mean.w.dim(0)});
  return {v.mean(y), v.log_variance(y)};
}
Tensor decoded(const ConvVae& v, const Arg& code, Norms& norm) {
  const Tensor z = must_be_samples("codes", code, {v.grow.w.dim(0)});
  Shape small = samples_of(z.dim(0), v.lengths);
  for (int d = 1; d < small.size(); ++d) small[d] >>= v.encoder.size() / 2;
  small.push_back(v.encoder.back().norm.gain.size());
  Tensor y = reshape(v.grow(z), small);
  for (const NormedConv& l : v.decoder) y = norm(l, y);
  return squeeze(v.last(y), -1);
}

}  // namespace

Tensor NormalCode::sample(const Tensor& key) const {
  const Dtype type = mean.dtype();
  const bool one = key.ndim() == 1;
  if (!one && (mean.ndim() != 2 || key.shape() != Shape{mean.dim(0), 2}))
    fail("normal_code", "takes one key, u32[2], or a key for each sample of " +
                            to_string(mean.type()) + ", got " + to_string(key.type()));
  const Tensor noise = one ? normal(key, mean.shape(), type) : normal(key, {mean.dim(-1)}, type);
  return mean + exp(0.5 * log_variance) * noise;
}

NormalCode ConvVae::encode(Arg x, const Statistics& statistics) const {
  const detail::CalledAt called(x.line);
  must_match(*this, statistics);
  Norms norm{statistics, false};
  return encoded(*this, x, norm);
}
Tensor ConvVae::decode(Arg code, const Statistics& statistics) const {
  const detail::CalledAt called(code.line);
  must_match(*this, statistics);
  Norms norm{statistics, false};
  norm.next = encoder.size();
  return decoded(*this, code, norm);
}

ConvVae::Trained ConvVae::train(Arg x, const Tensor& key, const Statistics& statistics) const {
  const detail::CalledAt called(x.line);
  must_match(*this, statistics);
  Norms norm{statistics, true};
  NormalCode code = encoded(*this, x, norm);
  Tensor y = decoded(*this, code.sample(key), norm);
  return {std::move(code), std::move(y), std::move(norm.seen)};
}

ConvVae::Statistics ConvVae::statistics_of(Arg x) const {
  const detail::CalledAt called(x.line);
  ConvVae now = *this;
  Statistics none;
  for (std::vector<NormedConv>* part : {&now.encoder, &now.decoder})
    for (NormedConv& l : *part) {
      l.norm.momentum = 1;
      const Tensor nothing = zeros(l.norm.gain.shape(), l.norm.gain.dtype());
      none.push_back({nothing, nothing});
    }
  Norms norm{none, true};
  decoded(now, encoded(now, x, norm).mean, norm);
  return norm.seen;
}

std::pair<ConvVae, ConvVae::Statistics> conv_vae(const Tensor& key, const ConvVaeOptions& o) {
  const std::size_t levels = o.widths.size();
  const int axes = o.lengths.size();
  const bool halves = std::all_of(o.lengths.begin(), o.lengths.end(),
                                  [&](Index n) { return n >= 1 && n % (Index{1} << levels) == 0; });
  if (levels < 1 || o.codes < 1 || axes < 1 || axes > 3 || !halves)
    fail("conv_vae",
         "takes a level, a code, and one to three axes whose lengths are multiples of 2^levels, "
         "got " +
             to_string(o.lengths) + " for " + std::to_string(levels) + " levels");
  Keys keys = keys_of("conv_vae", key, 3 * levels + 3);
  ConvVae v;
  ConvVae::Statistics statistics;
  const auto normed = [&](Conv c, Index channels) {
    auto [norm, s] = batch_norm(channels, o.dtype);
    statistics.push_back(std::move(s));
    return NormedConv{std::move(c), std::move(norm)};
  };
  for (std::size_t k = 0; k < 2 * levels; ++k) {
    const Index width = o.widths[k / 2], in = k == 0 ? 1 : o.widths[(k - 1) / 2];
    v.encoder.push_back(normed(
        conv(keys(), Shape::filled(axes, 3), in, width, {.bias = false, .dtype = o.dtype}), width));
  }
  const LinearOptions l{.dtype = o.dtype};
  v.lengths = o.lengths;
  Index features = o.widths.back();
  for (const Index n : o.lengths) features *= n >> levels;
  v.mean = linear(keys(), features, o.codes, l);
  v.log_variance = linear(keys(), features, o.codes, l);
  v.grow = linear(keys(), o.codes, features, l);
  const Shape window = Shape::filled(axes, 6);
  ConvOptions doubled{.stride = Shape::filled(axes, 2), .bias = false, .dtype = o.dtype};
  for (std::size_t k = levels; k-- > 1;)
    v.decoder.push_back(normed(
        conv_transpose(keys(), window, o.widths[k], o.widths[k - 1], doubled), o.widths[k - 1]));
  doubled.bias = true;
  v.last = conv_transpose(keys(), window, o.widths[0], 1, doubled);
  return {std::move(v), std::move(statistics)};
}

}  // namespace tessera::nn
