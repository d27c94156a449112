// SPDX-License-Identifier: Apache-2.0
//
// Layers. ONNX has channels first, x [B, c, n_1, ..., n_d]; our convolutions have them last.
#include "onnx/program.h"
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/window.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tessera::data {
namespace {

using C = OnnxCall;
using Out = std::vector<Tensor>;

Out matrix_product(const C& c) {
  if (!is_float(c.x().dtype()) || c.x(1).dtype() != c.x().dtype())
    c.refuse("of " + to_string(c.x().type()) + " and " + to_string(c.x(1).type()));
  // [.., m, k] by [.., k, n]; a vector has no axis of its own in the result.
  Shape rows = c.x(0).shape(), columns = c.x(1).shape();
  if (rows.size() > 1)
    rows[rows.size() - 1] = 1;
  else
    rows = Shape();
  if (columns.size() > 1)
    columns[columns.size() - 2] = 1;
  else
    columns = Shape();
  c.must_fit_together({rows, columns});
  return {matmul(c.x(), c.x(1))};
}
Out gemm_product(const C& c) {
  if (!is_float(c.x().dtype())) c.refuse("of " + to_string(c.x().type()));
  if (c.x(0).ndim() != 2 || c.x(1).ndim() != 2) c.malformed("expected two matrices");
  const double alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  const Tensor a = c.integer("transA", 0) ? transpose(c.x(0)) : c.x(0),
               b = c.integer("transB", 0) ? transpose(c.x(1)) : c.x(1);
  c.must_fit_together({Shape{a.dim(0), b.dim(1)}, c.given(2) ? c.in[2].shape() : Shape{}});
  Tensor y = matmul(a, b);
  if (alpha != 1) y = y * alpha;
  if (!c.given(2)) return {y};
  return {y + (beta == 1 ? c.in[2] : c.in[2] * beta)};
}
Out einsum_of(const C& c) {
  const std::string equation = c.text("equation", "");
  std::vector<Type> types;
  for (std::size_t k = 0; k < c.in.size(); ++k) types.push_back(c.x(k).type());
  // What lies between the products is told by its types; repeated axes take no memory.
  const Graph g =
      trace([&](const std::vector<Tensor>& x) { return std::vector<Tensor>{einsum(equation, x)}; },
            types);
  for (const Graph::Equation& e : g.equations) {
    if (std::string_view(e.primitive->name) == "broadcast") continue;
    for (Graph::Id v = e.out_begin; v < e.out_begin + e.out_count; ++v)
      c.must_fit_together({g.types[v].shape});
  }
  return {einsum(equation, c.in)};
}

// ---- windows ----

/// How windows lie over the axes: one entry each.
struct Windows {
  Shape size, stride, dilation, low, high;
};
Shape lengths(const C& c, const char* name, int axes, Index otherwise) {
  const std::vector<std::int64_t> v = c.integers(name);
  if (v.empty()) return Shape::filled(axes, otherwise);
  if (v.size() != static_cast<std::size_t>(axes))
    c.malformed(std::string(name) + " has " + std::to_string(v.size()) + " numbers for " +
                std::to_string(axes) + " axes");
  for (const std::int64_t n : v)
    if (n < (otherwise ? 1 : 0) || n > (Index{1} << 31))
      c.malformed(std::string(name) + " has " + std::to_string(n));
  return Shape(std::span<const Index>(v));
}
/// Borders from `pads`, or by `auto_pad` such that lengths are n / stride, rounded up.
Windows windows_of(const C& c, const Shape& size) {
  const Tensor& x = c.x();
  const int axes = size.size();
  if (x.ndim() != axes + 2)
    c.malformed("a window of " + to_string(size) + " over " + to_string(x.type()));
  Windows w{size, lengths(c, "strides", axes, 1), lengths(c, "dilations", axes, 1),
            Shape::filled(axes, 0), Shape::filled(axes, 0)};
  const std::string by_itself = c.text("auto_pad", "NOTSET");
  if (by_itself == "NOTSET") {
    const Shape pads = lengths(c, "pads", 2 * axes, 0);
    for (int k = 0; k < axes; ++k) w.low[k] = pads[k], w.high[k] = pads[k + axes];
  } else if (by_itself == "SAME_UPPER" || by_itself == "SAME_LOWER") {
    for (int k = 0; k < axes; ++k) {
      const Index n = x.dim(k + 2), out = (n + w.stride[k] - 1) / w.stride[k];
      const Index all =
          std::max<Index>((out - 1) * w.stride[k] + (size[k] - 1) * w.dilation[k] + 1 - n, 0);
      w.low[k] = by_itself == "SAME_UPPER" ? all / 2 : all - all / 2;
      w.high[k] = all - w.low[k];
    }
  } else if (by_itself != "VALID") {
    c.malformed("auto_pad = " + by_itself);
  }
  return w;
}

Tensor channels_behind(const Tensor& x) { return moveaxis(x, 1, -1); }
Tensor channels_before(const Tensor& y) { return moveaxis(y, -1, 1); }
/// y [B, n_1, ..., n_d, c].
Tensor with_bias(const C& c, const Tensor& y) {
  if (!c.given(2)) return y;
  if (c.in[2].shape() != Shape{y.dim(-1)})
    c.malformed("its bias is " + to_string(c.in[2].type()) + " for " + std::to_string(y.dim(-1)) +
                " channels");
  return y + c.in[2];
}

/// How many windows lie along an axis of n elements that are `apart` from each other.
double windows_along(Index n, Index apart, const Windows& w, int k) {
  const auto f64 = [](Index v) { return static_cast<double>(v); };
  const double between = n > 0 ? f64(n - 1) * f64(apart) + 1 : 0,
               extent = between + f64(w.low[k]) + f64(w.high[k]),
               reach = f64(w.size[k] - 1) * f64(w.dilation[k]) + 1;
  return std::max(0.0, std::floor((extent - reach) / f64(w.stride[k])) + 1);
}
void convolution_must_fit(const C& c, const Windows& w, const Shape& apart, Index channels) {
  double elements = static_cast<double>(c.x().dim(0)) * static_cast<double>(channels);
  for (int k = 0; k < w.size.size(); ++k)
    elements *= windows_along(c.x().dim(k + 2), apart[k], w, k);
  c.must_fit(elements);
}

/// The lengths of a kernel [a, b, k_1, ..., k_d].
Shape window_in(const C& c, const Tensor& w) {
  if (w.ndim() < 3 || w.ndim() > 5) c.refuse("a kernel of " + to_string(w.type()));
  Shape size;
  for (int k = 2; k < w.ndim(); ++k) size.push_back(w.dim(k));
  const std::vector<std::int64_t> said = c.integers("kernel_shape");
  if (!said.empty() && !std::ranges::equal(said, size))
    c.malformed("kernel_shape is not that of its kernel " + to_string(w.type()));
  return size;
}

// w [out, in / g, k...] -> [k..., in / g, out].
Out conv(const C& c) {
  const Tensor& w = c.x(1);
  if (!is_float(c.x().dtype())) c.refuse("of " + to_string(c.x().type()));
  const Windows how = windows_of(c, window_in(c, w));
  convolution_must_fit(c, how, Shape::filled(how.size.size(), 1), w.dim(0));
  const Tensor y = convolution(channels_behind(c.x()), moveaxis(moveaxis(w, 0, -1), 0, -2),
                               {.stride = how.stride,
                                .low = how.low,
                                .high = how.high,
                                .dilation = how.dilation,
                                .groups = c.integer("group", 1)});
  return {channels_before(with_bias(c, y))};
}

// y[o] = sum x[i] w[j] over s i + d j - low = o: a convolution of x with zeros between and the
// window turned around. w [in, out / g, k...] -> [k..., in / g, out].
Out conv_transposed(const C& c) {
  const Tensor &x = c.x(), &w = c.x(1);
  if (!is_float(x.dtype())) c.refuse("of " + to_string(x.type()));
  const Shape size = window_in(c, w);
  const int axes = size.size();
  if (x.ndim() != axes + 2)
    c.malformed("a window of " + to_string(size) + " over " + to_string(x.type()));
  const Index groups = c.integer("group", 1), in = w.dim(0), of_group = w.dim(1);
  if (groups < 1 || in % groups != 0)
    c.malformed(std::to_string(groups) + " groups of " + to_string(w.type()));
  const Shape stride = lengths(c, "strides", axes, 1), dilation = lengths(c, "dilations", axes, 1),
              more = lengths(c, "output_padding", axes, 0);
  Shape pads = lengths(c, "pads", 2 * axes, 0);
  const std::string by_itself = c.text("auto_pad", "NOTSET");
  const Shape wanted = lengths(c, "output_shape", axes, 0);
  const bool shaped = c.find("output_shape") != nullptr;
  if (by_itself == "VALID") pads = Shape::filled(2 * axes, 0);
  const bool same = by_itself.starts_with("SAME_");
  Shape low, high;
  for (int k = 0; k < axes; ++k) {
    const Index reach = (size[k] - 1) * dilation[k];
    Index begin = pads[k], end = pads[k + axes];
    if (shaped || same) {
      const Index all = stride[k] * (x.dim(k + 2) - 1) + more[k] + reach + 1 -
                        (shaped ? wanted[k] : x.dim(k + 2) * stride[k]);
      begin = all < 0 ? 0 : by_itself == "SAME_UPPER" ? all / 2 : all - all / 2;
      end = all - begin;
    }
    low.push_back(reach - begin), high.push_back(reach - end + more[k]);
  }
  const Shape ones_each = Shape::filled(axes, 1);
  convolution_must_fit(c, {size, ones_each, dilation, low, high}, stride, groups * of_group);
  Shape split{groups, in / groups, of_group}, order, turned;
  for (int k = 0; k < axes; ++k)
    split.push_back(size[k]), order.push_back(3 + k), turned.push_back(k);
  for (const Index d : {1, 0, 2}) order.push_back(d);
  Shape joined = size;
  joined.push_back(in / groups), joined.push_back(groups * of_group);
  const Tensor kernel = reverse(reshape(transpose(reshape(w, split), order), joined), turned);
  const Tensor y = convolution(
      channels_behind(x), kernel,
      {.low = low, .high = high, .dilation = dilation, .input_dilation = stride, .groups = groups});
  return {channels_before(with_bias(c, y))};
}

/// With `ceil_mode` a last window may reach beyond the border, if it begins before that.
Windows pooled(const C& c) {
  const std::vector<std::int64_t> size = c.integers("kernel_shape");
  if (size.empty() || size.size() > 3) c.malformed("expected kernel_shape of one to three axes");
  for (const std::int64_t n : size)
    if (n < 1 || n > (Index{1} << 31)) c.malformed("a window of " + std::to_string(n));
  Windows w = windows_of(c, Shape(std::span<const Index>(size)));
  if (c.integer("ceil_mode", 0) && c.text("auto_pad", "NOTSET") == "NOTSET")
    for (int k = 0; k < w.size.size(); ++k) {
      const Index n = c.x().dim(k + 2) + w.low[k] + w.high[k],
                  reach = (w.size[k] - 1) * w.dilation[k] + 1;
      if (n < reach) continue;
      Index out = (n - reach + w.stride[k] - 1) / w.stride[k] + 1;
      if ((out - 1) * w.stride[k] >= c.x().dim(k + 2) + w.low[k]) --out;
      w.high[k] += std::max<Index>((out - 1) * w.stride[k] + reach - n, 0);
    }
  // One axis after the other becomes one of windows.
  double elements = static_cast<double>(c.x().dim(0)) * static_cast<double>(c.x().dim(1));
  for (int k = 0; k < w.size.size(); ++k) {
    const Index n = c.x().dim(k + 2);
    elements *= std::max(static_cast<double>(n), windows_along(n, 1, w, k));
  }
  c.must_fit(elements);
  return w;
}
Window window_from(const Windows& w) { return {w.size, w.stride, w.low, w.high, w.dilation}; }
Out max_pooled(const C& c) { return {window_max(c.x(), window_from(pooled(c)))}; }
Out mean_pooled(const C& c) {
  Windows w = pooled(c);
  if (!c.integer("count_include_pad", 0)) return {window_mean(c.x(), window_from(w))};
  if (c.integer("ceil_mode", 0)) c.refuse("count_include_pad with ceil_mode");
  Shape low{0, 0}, high{0, 0};
  for (int k = 0; k < w.size.size(); ++k) low.push_back(w.low[k]), high.push_back(w.high[k]);
  double elements = 1;
  for (int d = 0; d < c.x().ndim(); ++d)
    elements *= static_cast<double>(c.x().dim(d)) + static_cast<double>(low[d] + high[d]);
  c.must_fit(elements);
  w.low = w.high = Shape::filled(w.size.size(), 0);
  return {window_mean(pad(c.x(), low, high), window_from(w))};
}
Shape places(const C& c, int from) {
  Shape axes;
  for (int d = from; d < c.x().ndim(); ++d) axes.push_back(d);
  if (axes.empty()) c.malformed("of " + to_string(c.x().type()));
  return axes;
}
Out global_mean(const C& c) { return {mean(c.x(), places(c, 2), true)}; }
Out global_max(const C& c) { return {max(c.x(), places(c, 2), true)}; }

// ---- norms ----

/// [c] as [c, 1, ...] beside x [B, c, ...].
Tensor by_channel(const C& c, std::size_t k) {
  const Tensor& t = c.x(k);
  if (c.x().ndim() < 2 || t.shape() != Shape{c.x().dim(1)})
    c.malformed("its operand " + std::to_string(k) + " is " + to_string(t.type()) + " for " +
                to_string(c.x().type()));
  Shape s = Shape::filled(c.x().ndim() - 1, 1);
  s[0] = t.dim(0);
  return reshape(t, s);
}
Tensor normed(const Tensor& x, const Shape& axes, double epsilon) {
  const Tensor centred = x - mean(x, axes, true);
  return centred * rsqrt(mean(square(centred), axes, true) + epsilon);
}
Out batch_normed(const C& c) {
  if (c.integer("training_mode", 0)) c.refuse("in training");
  const Tensor &x = c.x(), scale = rsqrt(by_channel(c, 4) + c.real("epsilon", 1e-5));
  return {(x - by_channel(c, 3)) * (scale * by_channel(c, 1)) + by_channel(c, 2)};
}
Out instance_normed(const C& c) {
  return {normed(c.x(), places(c, 2), c.real("epsilon", 1e-5)) * by_channel(c, 1) +
          by_channel(c, 2)};
}
Out layer_normed(const C& c) {
  const Tensor& x = c.x();
  const Shape axes = places(c, c.axis(c.integer("axis", -1), x.ndim()));
  c.must_fit_together(c.shapes());
  const Tensor middle = mean(x, axes, true), centred = x - middle,
               inverse = rsqrt(mean(square(centred), axes, true) + c.real("epsilon", 1e-5));
  Tensor y = centred * inverse * c.x(1);
  if (c.given(2)) y = y + c.in[2];
  return {y, middle, inverse};
}
/// Gain and bias of the groups (version 18).
Out group_normed(const C& c) {
  const Tensor& x = c.x();
  const Index groups = c.integer("num_groups", 0);
  if (x.ndim() < 3 || groups < 1 || x.dim(1) % groups != 0)
    c.malformed(std::to_string(groups) + " groups of " + to_string(x.type()));
  if (c.x(1).shape() != Shape{groups} || c.x(2).shape() != Shape{groups})
    c.malformed("expected a scale and a bias for each group");
  const Tensor rows = reshape(x, {x.dim(0), groups, x.size() ? x.size() / (x.dim(0) * groups) : 0});
  const Tensor y =
      normed(rows, {2}, c.real("epsilon", 1e-5)) * expand_dims(c.x(1), 1) + expand_dims(c.x(2), 1);
  return {reshape(y, x.shape())};
}
Out local_response(const C& c) {
  const Tensor& x = c.x();
  const Index size = c.integer("size", 0);
  if (x.ndim() < 2 || size < 1) c.malformed("over " + std::to_string(size) + " channels");
  const Tensor last = moveaxis(square(x), 1, -1);
  const Tensor near = moveaxis(
      window_sum(last,
                 {.size = {size}, .low = {(size - 1) / 2}, .high = {size - 1 - (size - 1) / 2}}),
      -1, 1);
  const double share = c.real("alpha", 1e-4) / static_cast<double>(size);
  return {x / pow(c.real("bias", 1) + share * near, c.real("beta", 0.75))};
}

// ---- losses ----

/// -w[t] log_p[n, t, ...] of log_p [N, classes, ...], t [N, ...], and their sum or mean by weight.
Tensor likelihood(const C& c, const Tensor& log_p, const Tensor& t, const Tensor& weights) {
  if (log_p.ndim() < 2 || t.ndim() != log_p.ndim() - 1)
    c.malformed("labels " + to_string(t.type()));
  const Tensor labels = cast(t, Dtype::i64);
  Tensor counted = broadcast_to(scalar(1, log_p.dtype()), t.shape());
  Tensor safe = labels;
  if (c.find("ignore_index")) {
    const Tensor ignored = equal(labels, c.integer("ignore_index", 0));
    safe = where(ignored, 0, labels);
    counted = where(ignored, 0, counted);
  }
  if (weights.defined()) counted = counted * take(weights, safe);
  const Tensor picked = take_along_axis(log_p, expand_dims(safe, 1), 1);
  const Tensor loss = -squeeze(picked, 1) * counted;
  const std::string how = c.text("reduction", "mean");
  if (how == "none") return loss;
  if (how == "sum") return sum(loss);
  if (how != "mean") c.malformed("reduction = " + how);
  return sum(loss) / sum(counted);
}
Out negative_likelihood(const C& c) {
  return {likelihood(c, c.x(), c.x(1), c.given(2) ? c.in[2] : Tensor())};
}
Out cross_entropy(const C& c) {
  const Tensor log_p = log_softmax(c.x(), 1);
  return {likelihood(c, log_p, c.x(1), c.given(2) ? c.in[2] : Tensor()), log_p};
}
Out determinant(const C& c) { return {det(c.x())}; }

}  // namespace

void add_layer_rules(OnnxRules& r) {
  r["MatMul"] = {matrix_product, "", 2, 2};
  r["Gemm"] = {gemm_product, "alpha beta transA transB", 2, 3};
  r["Einsum"] = {einsum_of, "equation", 1, 8};
  r["Det"] = {determinant};
  r["Conv"] = {conv, "auto_pad dilations group kernel_shape pads strides", 2, 3};
  r["ConvTranspose"] = {
      conv_transposed,
      "auto_pad dilations group kernel_shape output_padding output_shape pads strides", 2, 3};
  r["MaxPool"] = {max_pooled,
                  "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"};
  r["AveragePool"] = {mean_pooled,
                      "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"};
  r["GlobalAveragePool"] = {global_mean};
  r["GlobalMaxPool"] = {global_max};
  r["BatchNormalization"] = {batch_normed, "epsilon momentum training_mode", 5, 5};
  r["InstanceNormalization"] = {instance_normed, "epsilon", 3, 3};
  r["LayerNormalization"] = {layer_normed, "axis epsilon stash_type", 2, 3, 3};
  r["GroupNormalization"] = {group_normed, "epsilon num_groups", 3, 3};
  r["LRN"] = {local_response, "alpha beta bias size"};
  r["NegativeLogLikelihoodLoss"] = {negative_likelihood, "ignore_index reduction", 2, 3};
  r["SoftmaxCrossEntropyLoss"] = {cross_entropy, "ignore_index reduction", 2, 3, 2};
}

}  // namespace tessera::data
