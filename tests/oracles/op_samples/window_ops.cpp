// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pooling over the last axes.
#include "compose.h"
#include "tessera/autodiff/ops/convolution.h"
#include "tessera/autodiff/ops/window.h"

#include <algorithm>

namespace tessera::oracle {

Tensor windows(const Tensor& x, const Shape& size, const Shape& stride, const Shape& dilation) {
  // Positions of all windows in the flattened last axes: [windows, elements of one].
  const int n = size.size(), first = x.ndim() - n;
  Tensor start = zeros({}, Dtype::i64), offset = start;
  Shape front;
  for (int k = 0; k < first; ++k) front.push_back(x.dim(k));
  for (int k = 0; k < n; ++k) {
    const Index length = x.dim(first + k),
                out = (length - 1 - (size[k] - 1) * dilation[k]) / stride[k] + 1;
    start = flatten(expand_dims(start * length, start.ndim()) + arange(out) * stride[k]);
    offset = flatten(expand_dims(offset * length, offset.ndim()) + arange(size[k]) * dilation[k]);
  }
  front.push_back(1);
  for (int k = first; k < x.ndim(); ++k) front[first] *= x.dim(k);
  return take(reshape(x, front), expand_dims(start, 1) + offset, first);
}

namespace {

Shape spread(const Call& c, int place, const char* name, int n, Index otherwise) {
  Shape s = c.has(place, name) && c.find(place, name)->kind != Value::Kind::text
                ? c.sizes(place, name)
                : Shape{};
  if (s.empty()) s = Shape::filled(n, otherwise);
  while (s.size() < n) s.push_back(s[0]);
  return s;
}
/// Zeros before and after the last axes; negative ones cut.
Tensor with_border(Tensor x, const Shape& low, const Shape& high) {
  const int n = low.size(), first = x.ndim() - n;
  Shape before = Shape::filled(x.ndim(), 0), after = before;
  for (int k = 0; k < n; ++k) {
    before[first + k] = std::max<Index>(0, low[k]);
    after[first + k] = std::max<Index>(0, high[k]);
  }
  x = pad(x, before, after);
  for (int k = 0; k < n; ++k)
    x = slice(x, first + k, std::max<Index>(0, -low[k]),
              x.dim(first + k) - std::max<Index>(0, -high[k]));
  return x;
}
/// x [N, C, ...] with weights [size..., C / groups, O]; integers by way of f64.
Tensor convolved(const Tensor& x, const Tensor& w, const Convolution& c) {
  const Dtype t = x.dtype();
  if (!is_inexact(t)) return cast(convolved(cast(x, Dtype::f64), cast(w, Dtype::f64), c), t);
  return moveaxis(convolution(moveaxis(x, 1, -1), w, c), -1, 1);
}
Tensor with_bias(const Tensor& y, const Call& c) {
  if (!c.has(2, "bias")) return y;
  Shape s = Shape::filled(y.ndim(), 1);
  s[1] = c.tensor(2, "bias").size();
  return y + reshape(c.tensor(2, "bias"), s);
}
template <int N>
Tensor convolution(const Call& c) {
  Tensor x = c[0];
  const Tensor w = c.tensor(1, "weight");
  const bool alone = x.ndim() == N + 1;
  if (alone) x = expand_dims(x, 0);
  const Shape stride = spread(c, 3, "stride", N, 1), dilation = spread(c, 5, "dilation", N, 1);
  Shape low = spread(c, 4, "padding", N, 0), high = low;
  if (c.text(4, "padding", "") == "same")
    for (int k = 0; k < N; ++k) {
      const Index total = dilation[k] * (w.dim(2 + k) - 1);
      low[k] = total / 2;
      high[k] = total - total / 2;
    }
  const Tensor y =
      with_bias(convolved(x, moveaxis(moveaxis(w, 0, -1), 0, -2),  // from [O, C / groups, size...]
                          {.stride = stride,
                           .low = low,
                           .high = high,
                           .dilation = dilation,
                           .groups = c.integer(6, "groups", 1)}),
                c);
  return alone ? squeeze(y, 0) : y;
}
/// The transpose of a convolution: x spread out, and the kernel turned around.
template <int N>
Tensor transposed_convolution(const Call& c) {
  Tensor x = c[0];
  const Tensor w = c.tensor(1, "weight");
  const bool alone = x.ndim() == N + 1;
  if (alone) x = expand_dims(x, 0);
  const Shape stride = spread(c, 3, "stride", N, 1), padding = spread(c, 4, "padding", N, 0),
              more = spread(c, 5, "output_padding", N, 0);
  const Shape dilation = spread(c, 7, "dilation", N, 1);
  const Index groups = c.integer(6, "groups", 1), in = w.dim(0) / groups, out = w.dim(1);
  Shape low, high, axes, size, kernel{groups, in, out}, to;
  for (int k = 0; k < N; ++k) {
    const Index reach = dilation[k] * (w.dim(2 + k) - 1);
    low.push_back(reach - padding[k]);
    high.push_back(reach - padding[k] + more[k]);
    axes.push_back(2 + k), to.push_back(3 + k);
    size.push_back(w.dim(2 + k)), kernel.push_back(w.dim(2 + k));
  }
  // [groups C, O / groups, size...] as [size..., C, groups, O / groups].
  for (int axis : {1, 0, 2}) to.push_back(axis);
  size.push_back(in), size.push_back(groups * out);
  const Tensor y =
      with_bias(convolved(x, reshape(transpose(reshape(reverse(w, axes), kernel), to), size),
                          {.low = low,
                           .high = high,
                           .dilation = dilation,
                           .input_dilation = stride,
                           .groups = groups}),
                c);
  return alone ? squeeze(y, 0) : y;
}

/// How many windows torch makes, and how far the border after the last element has to reach for
/// them.
Index outputs(Index n, Index size, Index stride, Index padding, Index dilation, bool ceiling,
              Index& high) {
  const Index room = n + 2 * padding - dilation * (size - 1) - 1;
  Index out = (room + (ceiling ? stride - 1 : 0)) / stride + 1;
  if (ceiling && (out - 1) * stride >= n + padding) --out;
  high = (out - 1) * stride + dilation * (size - 1) + 1 - n - padding;
  return out;
}
template <int N>
Tensor average_pool(const Call& c) {
  const Tensor x = c[0];
  const Shape size = spread(c, 1, "kernel_size", N, 1), padding = spread(c, 3, "padding", N, 0);
  Shape stride = spread(c, 2, "stride", N, 0);
  const bool ceiling = c.flag(4, "ceil_mode", false),
             border_counts = c.flag(5, "count_include_pad", true);
  Window w{.size = size};
  Tensor number = ones({}, x.dtype());
  for (int k = 0; k < N; ++k) {
    if (stride[k] == 0) stride[k] = size[k];
    const Index n = x.dim(x.ndim() - N + k);
    Index high = 0;
    const Index out = outputs(n, size[k], stride[k], padding[k], 1, ceiling, high);
    w.low.push_back(padding[k]);
    w.high.push_back(high);
    std::vector<double> counts;
    for (Index o = 0; o < out; ++o) {
      const Index from = o * stride[k] - padding[k], to = std::min(from + size[k], n + padding[k]);
      counts.push_back(static_cast<double>(
          border_counts ? to - from : std::min(to, n) - std::max<Index>(from, 0)));
    }
    number = expand_dims(number, k) * cast(tensor(counts), x.dtype());
  }
  w.stride = stride;
  Tensor y = with_border(x, w.low, w.high);
  w.low = w.high = Shape::filled(N, 0);
  const Tensor s = window_sum(y, w);
  return s / (c.has(6, "divisor_override") ? like(c.number(6, "divisor_override", 1), s) : number);
}
template <int N>
Tensor max_pool(const Call& c) {
  const Tensor x = c[0];
  const Shape size = spread(c, 1, "kernel_size", N, 1), padding = spread(c, 3, "padding", N, 0),
              dilation = spread(c, 4, "dilation", N, 1);
  Shape stride = spread(c, 2, "stride", N, 0);
  Window w{.size = size, .low = padding, .dilation = dilation};
  for (int k = 0; k < N; ++k) {
    if (stride[k] == 0) stride[k] = size[k];
    Index high = 0;
    outputs(x.dim(x.ndim() - N + k), size[k], stride[k], padding[k], dilation[k],
            c.flag(5, "ceil_mode", false), high);
    w.high.push_back(high);
  }
  w.stride = stride;
  // A window may end before the last element: what it does not reach is cut.
  Tensor y = x;
  for (int k = 0; k < N; ++k) {
    if (w.high[k] >= 0) continue;
    y = slice(y, y.ndim() - N + k, 0, y.dim(y.ndim() - N + k) + w.high[k]);
    w.high[k] = 0;
  }
  return window_max(y, w);
}

/// Rows of weights [out, n], one axis after the other from the last.
Tensor along_axis(const Tensor& x, const std::vector<double>& weights, Index out, int axis) {
  const Tensor w = cast(tensor(weights, {out, x.dim(axis)}), x.dtype());
  return moveaxis(matmul(moveaxis(x, axis, x.ndim() - 1), transpose(w)), x.ndim() - 1, axis);
}
template <int N>
Tensor adaptive_average(const Call& c) {
  Tensor x = c[0];
  const Value& v = *c.find(1, "output_size");
  for (int k = 0; k < N; ++k) {
    const int axis = x.ndim() - N + k;
    const Index n = x.dim(axis);
    const Value& own = v.kind == Value::Kind::list
                           ? v.items[static_cast<std::size_t>(v.items.size() == 1 ? 0 : k)]
                           : v;
    const Index out = own.kind == Value::Kind::none ? n : own.integer;
    if (n == 0) {  // means of nothing
      Shape s = x.shape();
      s[axis] = out;
      x = full(s, kNan, x.dtype());
      continue;
    }
    std::vector<double> w(static_cast<std::size_t>(out * n), 0.0);
    for (Index o = 0; o < out; ++o) {
      const Index from = o * n / out, to = ((o + 1) * n + out - 1) / out;
      for (Index i = from; i < to; ++i)
        w[static_cast<std::size_t>(o * n + i)] = 1.0 / static_cast<double>(to - from);
    }
    x = along_axis(x, w, out, axis);
  }
  return x;
}
double cubic(double d, double a = -0.75) {
  d = std::abs(d);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : d < 2 ? (((d - 5) * d + 8) * d - 4) * a : 0;
}
Tensor interpolated(const Call& c) {
  Tensor x = c[0];
  const std::string mode = c.text(-1, "mode", "nearest");
  const bool align = c.flag(-1, "align_corners", false);
  for (int axis = 2; axis < x.ndim(); ++axis) {
    const Index n = x.dim(axis);
    Index out = 0;
    double step = 0;
    if (c.has(1, "size")) {
      const Shape s = c.sizes(1, "size");
      out = s[s.size() == 1 ? 0 : axis - 2];
      step = static_cast<double>(n) / static_cast<double>(out);
    } else {
      const Value& f = *c.find(2, "scale_factor");
      const double factor =
          (f.kind == Value::Kind::list
               ? f.items[static_cast<std::size_t>(f.items.size() == 1 ? 0 : axis - 2)]
               : f)
              .number.real();
      out = static_cast<Index>(std::floor(static_cast<double>(n) * factor));
      step = c.flag(-1, "recompute_scale_factor", false)
                 ? static_cast<double>(n) / static_cast<double>(out)
                 : 1 / factor;
    }
    if (align) step = out > 1 ? static_cast<double>(n - 1) / static_cast<double>(out - 1) : 0;
    std::vector<double> w(static_cast<std::size_t>(out * n), 0.0);
    const auto put = [&](Index o, Index i, double v) {
      w[static_cast<std::size_t>(o * n + std::clamp<Index>(i, 0, n - 1))] += v;
    };
    for (Index o = 0; o < out; ++o) {
      const double at = static_cast<double>(o);
      if (mode == "nearest")
        put(o, static_cast<Index>(std::floor(at * step)), 1);
      else if (mode == "nearest-exact")
        put(o, static_cast<Index>(std::floor((at + 0.5) * step)), 1);
      else {
        double source = align ? at * step : (at + 0.5) * step - 0.5;
        if (mode != "bicubic") source = std::max(0.0, source);
        const double low = std::floor(source), f = source - low;
        if (mode == "bicubic")
          for (int j = -1; j < 3; ++j) put(o, static_cast<Index>(low) + j, cubic(f - j));
        else {
          put(o, static_cast<Index>(low), 1 - f);
          put(o, static_cast<Index>(low) + 1, f);
        }
      }
    }
    x = along_axis(x, w, out, axis);
  }
  return x;
}

}  // namespace

void window_rows(Table& t) {
  t["nn.functional.conv1d"] = convolution<1>;
  t["nn.functional.conv2d"] = convolution<2>;
  t["nn.functional.conv3d"] = convolution<3>;
  t["nn.functional.conv_transpose1d"] = transposed_convolution<1>;
  t["nn.functional.conv_transpose2d"] = transposed_convolution<2>;
  t["nn.functional.conv_transpose3d"] = transposed_convolution<3>;
  t["nn.functional.avg_pool1d"] = average_pool<1>;
  t["nn.functional.avg_pool2d"] = average_pool<2>;
  t["nn.functional.avg_pool3d"] = average_pool<3>;
  t["nn.functional.max_pool1d"] = max_pool<1>;
  t["nn.functional.max_pool2d"] = max_pool<2>;
  t["nn.functional.max_pool3d"] = max_pool<3>;
  t["nn.functional.adaptive_avg_pool1d"] = adaptive_average<1>;
  t["nn.functional.adaptive_avg_pool2d"] = adaptive_average<2>;
  t["nn.functional.adaptive_avg_pool3d"] = adaptive_average<3>;
  for (const char* mode :
       {"nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear"})
    t[std::string("nn.functional.interpolate.") + mode] = interpolated;
  t["nn.functional.unfold"] = [](const Call& c) {
    Tensor x = c[0];
    const bool alone = x.ndim() == 3;
    if (alone) x = expand_dims(x, 0);
    const Shape size = spread(c, 1, "kernel_size", 2, 1), dilation = spread(c, 2, "dilation", 2, 1);
    const Shape padding = spread(c, 3, "padding", 2, 0), stride = spread(c, 4, "stride", 2, 1);
    const Tensor y = transpose(windows(with_border(x, padding, padding), size, stride,
                                       dilation));  // [N, C, element, window]
    const Tensor z = reshape(y, {y.dim(0), y.dim(1) * y.dim(2), y.dim(3)});
    return alone ? squeeze(z, 0) : z;
  };
}

}  // namespace tessera::oracle
