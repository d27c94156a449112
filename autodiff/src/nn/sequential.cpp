// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/nn/sequential.h"

#include "keys.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <span>

namespace tessera::nn {
namespace {

Shape with_samples(Index n, const Shape& sample) {
  Shape s{n};
  for (const Index d : sample) s.push_back(d);
  return s;
}
Shape sample_of(const Tensor& x) {
  Shape s;
  for (int k = 1; k < x.ndim(); ++k) s.push_back(x.dim(k));
  return s;
}

Tensor dropped(const Tensor& x, double rate, const Tensor& keys) {
  const Dtype real = size_of(x.dtype()) == 4 ? Dtype::f32 : Dtype::f64;
  return where(uniform(keys, sample_of(x), real) < rate, 0, x / (1 - rate));
}

struct Forward {
  const std::vector<Tensor>& outputs;  ///< of layers so far, the input first, where still needed
  const Tensor& keys;                  ///< of this layer; undefined without dropout
  bool training;
  BatchStatistics& seen;  ///< set by a batch norm in training

  const Tensor& x() const { return outputs.back(); }
  Tensor operator()(const Linear& l) const { return l(x()); }
  Tensor operator()(const Conv& l) const { return l(x()); }
  Tensor operator()(const Activate& l) const { return activate(l.function, x()); }
  Tensor operator()(const Dropout& l) const {
    return keys.defined() && l.rate > 0 ? dropped(x(), l.rate, keys) : x();
  }
  Tensor operator()(const LayerNorm& l) const { return l(x()); }
  Tensor operator()(const GroupNorm& l) const { return l(x()); }
  Tensor operator()(const RunningNorm& l) const {
    if (!training) return l.norm(x(), l.seen);
    auto [y, moved] = l.norm.train(x(), l.seen);
    seen = std::move(moved);
    return y;
  }
  Tensor operator()(const Embedding& l) const {
    return l(is_float(x().dtype()) ? cast(x(), Dtype::i64) : x());
  }
  Tensor operator()(const Flatten&) const {
    return reshape(x(), {x().dim(0), sample_of(x()).count()});
  }
  Tensor operator()(const Reshape& l) const {
    return reshape(x(), with_samples(x().dim(0), l.shape));
  }
  Tensor operator()(const Resample& l) const {
    switch (l.kind) {
      case Resample::Kind::max_pool:
        return max_pool(x(), l.size);
      case Resample::Kind::mean_pool:
        return mean_pool(x(), l.size);
      case Resample::Kind::global_mean_pool:
        return global_mean_pool(x());
      case Resample::Kind::upsample:
        return upsample_nearest(x(), l.size);
    }
    throw Error("is no kind of resampling");
  }
  Tensor operator()(const Join& l) const {
    const Tensor& other = outputs.at(static_cast<std::size_t>(l.with + 1));
    return l.sum ? x() + other : concatenate({x(), other}, -1);
  }
};

/// What reports and errors call a layer: by the name that its leaves begin with.
std::string part_name(std::size_t k, const Layer& l) {
  static constexpr const char* kinds[] = {"linear",     "conv",       "activation", "dropout",
                                          "layer_norm", "group_norm", "batch_norm", "embedding",
                                          "flatten",    "reshape",    "resample",   "join"};
  static_assert(std::size(kinds) == std::variant_size_v<Layer>);
  return "layers." + std::to_string(k) + " (" + kinds[l.index()] + ")";
}

/// Batch norms of `moved` have seen x where it is given.
Tensor forward(const std::vector<Layer>& layers, const Arg& x, const Tensor& keys,
               std::vector<Layer>* moved = nullptr) {
  if (!x.tensor || x.tensor->ndim() < 1)
    fail("sequential", "takes [samples, ...], not a number", x.line);
  std::vector<Tensor> outputs{*x.tensor};
  std::vector<bool> joined(layers.size() + 1);
  for (const Layer& l : layers)
    if (const auto* j = std::get_if<Join>(&l))
      joined.at(static_cast<std::size_t>(j->with + 1)) = true;
  const auto is_dropout = [](const Layer& l) { return std::holds_alternative<Dropout>(l); };
  const Index draws = std::count_if(layers.begin(), layers.end(), is_dropout);
  Tensor all;
  if (keys.defined() && draws > 0) {
    if (keys.ndim() != 2 || keys.dim(0) != x.tensor->dim(0))
      fail("sequential",
           "takes a key for each sample of " + to_string(x.tensor->type()) + ", got " +
               to_string(keys.type()),
           x.line);
    all = split_key(keys, draws);
  }
  Index draw = 0;
  for (const Layer& l : layers) {
    const Within part(part_name(outputs.size() - 1, l));
    const Tensor own = all.defined() && is_dropout(l) ? select(all, 1, draw++) : Tensor();
    BatchStatistics seen;
    outputs.push_back(std::visit(Forward{outputs, own, keys.defined(), seen}, l));
    const std::size_t k = outputs.size() - 2;
    if (moved && seen.mean.defined()) std::get<RunningNorm>((*moved)[k]).seen = std::move(seen);
    if (!joined[k]) outputs[k] = {};
  }
  return outputs.back();
}

const char* name_of(LayerKind kind) {
  static constexpr const char* names[] = {
      "linear",     "conv",       "conv_transpose", "activation",       "dropout",
      "layer_norm", "group_norm", "batch_norm",     "embedding",        "flatten",
      "reshape",    "max_pool",   "mean_pool",      "global_mean_pool", "upsample",
      "add",        "concat"};
  return names[static_cast<int>(kind)];
}

void need(bool fits, const std::string& what) {
  if (!fits) throw Error(what);
}

/// An axis of n elements behind a convolution, by the stride, dilation and window of that axis.
Index convolved(const LayerSpec& l, Index n, Index stride, Index dilation, Index window) {
  const Index reach = dilation * (window - 1);
  if (l.kind == LayerKind::conv_transpose)
    return l.border == Border::same ? n * stride : stride * (n - 1) + reach + 1;
  if (l.border == Border::same) return (n + stride - 1) / stride;
  return n > reach ? (n - reach - 1) / stride + 1 : 0;
}

Shape after_window(const LayerSpec& l, const Shape& in, const std::string& got) {
  const int d = l.size.size();
  need(d >= 1 && d <= 3 && std::ranges::all_of(l.size, [](Index n) { return n > 0; }),
       "a window of " + to_string(l.size) + ": one to three axes");
  need(in.size() == d + 1, "a window of " + to_string(l.size) + " takes samples of " +
                               std::to_string(d) + " axes and the channels" + got);
  const auto entry = [&](const Shape& s, int k) { return s.empty() ? 1 : s[k]; };
  for (const Shape* s : {&l.stride, &l.dilation})
    need((s->empty() || s->size() == d) && std::ranges::all_of(*s, [](Index n) { return n > 0; }),
         "a stride or dilation of " + to_string(*s) + " beside a window of " + to_string(l.size));
  Shape out = in;
  for (int k = 0; k < d; ++k) {
    if (l.kind == LayerKind::upsample)
      out[k] = in[k] * l.size[k];
    else if (l.kind == LayerKind::conv || l.kind == LayerKind::conv_transpose)
      out[k] = convolved(l, in[k], entry(l.stride, k), entry(l.dilation, k), l.size[k]);
    else
      out[k] = in[k] / l.size[k];
    need(out[k] > 0, "a window of " + to_string(l.size) + " does not fit" + got);
  }
  if (l.kind != LayerKind::conv && l.kind != LayerKind::conv_transpose) return out;
  need(l.width > 0, "a width of " + std::to_string(l.width));
  need(l.groups > 0 && in.back() % l.groups == 0 && l.width % l.groups == 0,
       std::to_string(in.back()) + " channels in and " + std::to_string(l.width) + " out are not " +
           std::to_string(l.groups) + " groups of one size");
  out[d] = l.width;
  return out;
}

/// That of a sample behind a layer, `shapes` being those before it; throws what does not fit.
Shape shape_after(const LayerSpec& l, const std::vector<Shape>& shapes) {
  const Shape& in = shapes.back();
  const std::string got = ", a sample is " + to_string(in);
  const auto last_replaced = [&](Index width) {
    Shape s = in;
    s[s.size() - 1] = width;
    return s;
  };
  switch (l.kind) {
    case LayerKind::linear:
      need(in.size() > 0, "takes [..., features]" + got);
      need(l.width > 0, "a width of " + std::to_string(l.width));
      return last_replaced(l.width);
    case LayerKind::conv:
    case LayerKind::conv_transpose:
    case LayerKind::max_pool:
    case LayerKind::mean_pool:
    case LayerKind::upsample:
      return after_window(l, in, got);
    case LayerKind::global_mean_pool:
      need(in.size() > 0, "takes [..., channels]" + got);
      return {in.back()};
    case LayerKind::activation:
      return in;
    case LayerKind::dropout:
      need(l.rate >= 0 && l.rate < 1, "a rate of " + std::to_string(l.rate) + " is not in [0, 1)");
      return in;
    case LayerKind::layer_norm:
      need(in.size() > 0, "takes [..., features]" + got);
      return in;
    case LayerKind::batch_norm:
      need(in.size() > 0, "takes [..., channels]" + got);
      return in;
    case LayerKind::group_norm:
      need(in.size() > 0, "takes [..., channels]" + got);
      need(l.groups > 0 && in.back() % l.groups == 0,
           std::to_string(in.back()) + " channels are not " + std::to_string(l.groups) +
               " groups of one size");
      return in;
    case LayerKind::embedding: {
      need(l.rows > 0 && l.width > 0,
           std::to_string(l.rows) + " rows of width " + std::to_string(l.width));
      Shape s = in;
      s.push_back(l.width);
      return s;
    }
    case LayerKind::flatten:
      return {in.count()};
    case LayerKind::reshape:
      need(l.shape.count() == in.count(),
           to_string(l.shape) + " has " + std::to_string(l.shape.count()) + " elements" + got);
      return l.shape;
    case LayerKind::add:
    case LayerKind::concat: {
      need(l.with >= -1 && l.with + 1 < static_cast<Index>(shapes.size()),
           "layer " + std::to_string(l.with) + " does not come before it");
      const Shape& other = shapes[static_cast<std::size_t>(l.with + 1)];
      const std::string both = to_string(in) + " and " + to_string(other);
      if (l.kind == LayerKind::add) {
        need(in == other, "samples of one shape are added, not " + both);
        return in;
      }
      bool fits = in.size() > 0 && in.size() == other.size();
      for (int k = 0; fits && k + 1 < in.size(); ++k) fits = in[k] == other[k];
      need(fits, "samples that differ in their last axis alone are joined, not " + both);
      return last_replaced(in.back() + other.back());
    }
  }
  throw Error("is no kind of layer");
}

}  // namespace

Tensor Sequential::operator()(Arg x) const { return forward(layers, x, {}); }
Tensor Sequential::train(Arg x, const Tensor& keys) const { return forward(layers, x, keys); }
std::pair<Tensor, Sequential> Sequential::seeing(Arg x, const Tensor& keys) const {
  Sequential moved = *this;
  Tensor y = forward(layers, x, keys, &moved.layers);
  return {std::move(y), std::move(moved)};
}
bool Sequential::has_running_norms() const {
  return std::ranges::any_of(layers,
                             [](const Layer& l) { return std::holds_alternative<RunningNorm>(l); });
}

std::vector<std::string> part_names(const Sequential& net) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < net.layers.size(); ++k) names.push_back(part_name(k, net.layers[k]));
  return names;
}

namespace {
bool only_rearrange(std::span<const LayerSpec> layers) {
  return std::ranges::all_of(layers, [](const LayerSpec& l) {
    return l.kind == LayerKind::flatten || l.kind == LayerKind::reshape;
  });
}
}  // namespace

std::vector<Shape> shapes_of(const std::vector<LayerSpec>& layers, const Shape& sample) {
  std::vector<Shape> shapes{sample};
  for (std::size_t k = 0; k < layers.size(); ++k) try {
      need(layers[k].kind != LayerKind::embedding || only_rearrange({layers.data(), k}),
           "takes whole numbers: layers before it may be flatten and reshape alone");
      shapes.push_back(shape_after(layers[k], shapes));
    } catch (const Error& e) {
      throw LayerError(
          k, "layer " + std::to_string(k) + " (" + name_of(layers[k].kind) + "): " + e.what());
    }
  return shapes;
}

Sequential sequential(const Tensor& key, const std::vector<LayerSpec>& layers, const Shape& sample,
                      const LinearOptions& o) {
  const std::vector<Shape> shapes = shapes_of(layers, sample);
  const Tensor keys = split_key(one_key("sequential", key), static_cast<Index>(layers.size()));
  Sequential net;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const LayerSpec& l = layers[k];
    const Tensor own = select(keys, 0, static_cast<Index>(k));
    const auto make = [&]() -> Layer {
      switch (l.kind) {
        case LayerKind::linear: {
          LinearOptions with = o;
          with.bias = l.bias;
          return linear(own, shapes[k].back(), l.width, with);
        }
        case LayerKind::conv:
        case LayerKind::conv_transpose: {
          const ConvOptions with{.stride = l.stride,
                                 .dilation = l.dilation,
                                 .border = l.border,
                                 .groups = l.groups,
                                 .bias = l.bias,
                                 .weights = o.weights,
                                 .biases = o.biases,
                                 .dtype = o.dtype};
          const auto maker = l.kind == LayerKind::conv ? conv : conv_transpose;
          return maker(own, l.size, shapes[k].back(), l.width, with);
        }
        case LayerKind::max_pool:
          return Resample{Resample::Kind::max_pool, l.size};
        case LayerKind::mean_pool:
          return Resample{Resample::Kind::mean_pool, l.size};
        case LayerKind::global_mean_pool:
          return Resample{Resample::Kind::global_mean_pool, {}};
        case LayerKind::upsample:
          return Resample{Resample::Kind::upsample, l.size};
        case LayerKind::activation:
          return Activate{l.activation};
        case LayerKind::dropout:
          return Dropout{l.rate};
        case LayerKind::layer_norm:
          return layer_norm(shapes[k].back(), o.dtype);
        case LayerKind::group_norm:
          return group_norm(l.groups, shapes[k].back(), o.dtype);
        case LayerKind::batch_norm: {
          auto [norm, seen] = batch_norm(shapes[k].back(), o.dtype);
          return RunningNorm{std::move(norm), std::move(seen)};
        }
        case LayerKind::embedding:
          return embedding(own, l.rows, l.width, o.dtype);
        case LayerKind::flatten:
          return Flatten{};
        case LayerKind::reshape:
          return Reshape{l.shape};
        default:
          return Join{l.kind == LayerKind::add, l.with};
      }
    };
    net.layers.push_back(make());
  }
  return net;
}

}  // namespace tessera::nn
