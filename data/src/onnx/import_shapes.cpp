// SPDX-License-Identifier: Apache-2.0
//
// Operators that arrange elements. Shapes, axes and positions must be known: constants, or what is
// computed from the shapes of known types.
#include "onnx/program.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::data {
namespace {

using C = OnnxCall;
using Out = std::vector<Tensor>;

Shape shape_from(const C& c, const std::vector<std::int64_t>& v) {
  if (v.size() > static_cast<std::size_t>(kMaxDims))
    c.refuse("a tensor of " + std::to_string(v.size()) + " axes");
  double elements = 1;
  for (const std::int64_t n : v) {
    if (n < 0) c.malformed("an axis of " + std::to_string(n));
    elements *= static_cast<double>(n);
  }
  c.must_fit(elements);
  return Shape(std::span<const Index>(v));
}
Tensor ints(const std::vector<std::int64_t>& v) {
  return tensor(v, {static_cast<Index>(v.size())});
}

Out shape_of(const C& c) {
  const Shape& s = c.x().shape();
  const std::int64_t n = s.size();
  const auto place = [&](std::int64_t k) {
    return std::clamp(k < 0 ? k + n : k, std::int64_t{0}, n);
  };
  const std::int64_t begin = place(c.integer("start", 0)), end = place(c.integer("end", n));
  std::vector<std::int64_t> v;
  for (std::int64_t d = begin; d < end; ++d) v.push_back(s[static_cast<int>(d)]);
  return {ints(v)};
}
Out size_of_all(const C& c) { return {scalar(c.x().size(), Dtype::i64)}; }

Out reshape_to(const C& c) {
  std::vector<std::int64_t> to = c.known(1);
  const Shape& s = c.x().shape();
  if (!c.integer("allowzero", 0))
    for (std::size_t d = 0; d < to.size(); ++d)
      if (to[d] == 0) {
        if (d >= static_cast<std::size_t>(s.size()))
          c.malformed("axis " + std::to_string(d) + " is that of " + to_string(s));
        to[d] = s[static_cast<int>(d)];
      }
  const auto open = std::ranges::find(to, -1);
  if (open != to.end()) {
    *open = 1;
    const Index others = shape_from(c, to).count();
    if (others == 0 || s.count() % others != 0)
      c.malformed("no length makes " + to_string(s) + " of its axes");
    *open = s.count() / others;
  }
  return {reshape(c.x(), shape_from(c, to))};
}
Out flatten_to_two(const C& c) {
  const Tensor& x = c.x();
  const std::int64_t given = c.integer("axis", 1);
  const int a = given == x.ndim() ? x.ndim() : c.axis(given, x.ndim());
  Index rows = 1, columns = 1;
  for (int d = 0; d < x.ndim(); ++d) (d < a ? rows : columns) *= x.dim(d);
  return {reshape(x, {rows, columns})};
}
Out squeeze_axes(const C& c) {
  const Shape& s = c.x().shape();
  const std::vector<std::int64_t> axes = c.known_or(1, "axes");
  std::uint32_t gone = 0;
  for (const std::int64_t a : axes) gone |= 1u << c.axis(a, s.size());
  Shape to;
  for (int d = 0; d < s.size(); ++d) {
    const bool take = axes.empty() ? s[d] == 1 : (gone >> d & 1) != 0;
    if (take && s[d] != 1) c.malformed("axis " + std::to_string(d) + " of " + to_string(s));
    if (!take) to.push_back(s[d]);
  }
  return {reshape(c.x(), to)};
}
Out unsqueeze_axes(const C& c) {
  const Shape& s = c.x().shape();
  const std::vector<std::int64_t> axes = c.known_or(1, "axes");
  const std::size_t n = static_cast<std::size_t>(s.size()) + axes.size();
  if (n > static_cast<std::size_t>(kMaxDims))
    c.refuse("a tensor of " + std::to_string(n) + " axes");
  std::uint32_t fresh = 0;
  for (const std::int64_t a : axes) fresh |= 1u << c.axis(a, static_cast<int>(n));
  Shape to;
  for (int d = 0, k = 0; d < static_cast<int>(n); ++d)
    if (fresh >> d & 1)
      to.push_back(1);
    else if (k < s.size())
      to.push_back(s[k++]);
    else
      c.malformed("an axis is given twice");
  return {reshape(c.x(), to)};
}
Out transpose_axes(const C& c) {
  std::vector<std::int64_t> perm = c.integers("perm");
  if (!c.find("perm"))
    for (int d = c.x().ndim(); d-- > 0;) perm.push_back(d);
  return {transpose(c.x(), shape_from(c, perm))};
}
Out concatenated(const C& c) {
  double elements = 0;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    if (c.x(k).dtype() != c.x().dtype()) c.malformed("parts of two types");
    elements += static_cast<double>(c.x(k).size());
  }
  c.must_fit(elements);
  return {concatenate(c.in, c.axis(c.integer("axis", 1), c.x().ndim()))};
}
Out split_parts(const C& c) {
  const Tensor& x = c.x();
  const int a = c.axis(c.integer("axis", 0), x.ndim());
  std::vector<std::int64_t> sizes = c.known_or(1, "split");
  if (sizes.empty()) {
    const Index n = static_cast<Index>(c.n_out()), part = (x.dim(a) + n - 1) / n;
    if (const std::int64_t said = c.integer("num_outputs", n); said != n)
      c.malformed("num_outputs is " + std::to_string(said) + ", it has " + std::to_string(n));
    for (Index k = 0; k < n; ++k) sizes.push_back(std::min(part, x.dim(a) - k * part));
  }
  if (sizes.size() != c.n_out())
    c.malformed(std::to_string(sizes.size()) + " sizes for " + std::to_string(c.n_out()) +
                " parts");
  Out parts;
  Index at = 0;
  for (const std::int64_t n : sizes) {
    if (n < 0 || n > x.dim(a) - at) c.malformed("parts beyond axis " + std::to_string(a));
    parts.push_back(slice(x, a, at, at + n));
    at += n;
  }
  if (at != x.dim(a)) c.malformed("parts do not fill axis " + std::to_string(a));
  return parts;
}
Out sliced(const C& c) {
  Tensor x = c.x();
  const std::vector<std::int64_t> starts = c.known_or(1, "starts"), ends = c.known_or(2, "ends"),
                                  axes = c.known_or(3, "axes");
  const std::vector<std::int64_t> steps = c.given(4) ? c.known(4) : std::vector<std::int64_t>();
  const auto as_many = [&](const std::vector<std::int64_t>& v) {
    return v.empty() || v.size() == starts.size();
  };
  if (ends.size() != starts.size() || !as_many(axes) || !as_many(steps))
    c.malformed("its starts, ends, axes and steps are not equally many");
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const int a = c.axis(axes.empty() ? static_cast<std::int64_t>(k) : axes[k], x.ndim());
    const Index n = x.dim(a), step = steps.empty() ? 1 : steps[k];
    if (step == 0 || step == std::numeric_limits<Index>::min()) c.malformed("a step of 0");
    // From the front, as far as the axis goes; -1 is before its first element.
    const auto place = [&](Index i) { return i < 0 ? std::max(i, -n - 1) + n : std::min(i, n); };
    if (step > 0) {
      const Index begin = std::max(place(starts[k]), Index{0});
      x = slice(x, a, begin, std::max(place(ends[k]), begin), step);
    } else {  // of the axis turned around, where position i is n - 1 - i
      const Index begin = n - 1 - std::min(place(starts[k]), n - 1);
      const Index end = n - 1 - std::min(place(ends[k]), n - 1);
      x = slice(reverse(x, {a}), a, begin, std::max(end, begin), -step);
    }
  }
  return {x};
}
Out expanded(const C& c) {
  const Shape to = shape_from(c, c.known(1)), &s = c.x().shape();
  const int n = std::max(to.size(), s.size());
  Shape both;
  for (int d = 0; d < n; ++d) {
    const int i = d - (n - s.size()), j = d - (n - to.size());
    const Index p = i < 0 ? 1 : s[i], q = j < 0 ? 1 : to[j];
    if (p != q && p != 1 && q != 1)
      c.malformed(to_string(s) + " does not repeat to " + to_string(to));
    both.push_back(p == 1 ? q : p);
  }
  return {broadcast_to(c.x(), both)};
}
Out tiled(const C& c) {
  const std::vector<std::int64_t> times = c.known(1);
  Tensor x = c.x();
  if (times.size() != static_cast<std::size_t>(x.ndim())) c.malformed("not a number for each axis");
  for (int d = 0; d < x.ndim(); ++d) {
    const Index n = times[static_cast<std::size_t>(d)];
    if (n < 0) c.malformed("it repeats " + std::to_string(n) + " times");
    if (n == 1) continue;
    Shape wide = x.shape(), flat = x.shape();
    wide.insert(d, n);
    c.must_fit(static_cast<double>(x.size()) * static_cast<double>(n));
    flat[d] *= n;
    x = reshape(broadcast_to(expand_dims(x, d), wide), flat);
  }
  return {x};
}

Out padded(const C& c) {
  Tensor x = c.x();
  const int n = x.ndim();
  const std::string mode = c.text("mode", "constant");
  const std::vector<std::int64_t> pads = c.known_or(1, "pads");
  std::vector<std::int64_t> axes = c.given(3) ? c.known(3) : std::vector<std::int64_t>();
  if (!c.given(3))
    for (int d = 0; d < n; ++d) axes.push_back(d);
  if (pads.size() != 2 * axes.size()) c.malformed("not two pads for each axis");
  Shape low = Shape::filled(n, 0), high = low;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int d = c.axis(axes[k], n);
    Index before = pads[k], after = pads[k + axes.size()];
    const Index size = x.dim(d);
    constexpr Index far = Index{1} << 40;
    if (before > far || after > far || -before > size || -after > size || -before - after > size)
      c.malformed("pads of " + std::to_string(before) + " and " + std::to_string(after) +
                  " at an axis of " + std::to_string(size));
    if (before < 0 || after < 0)
      x = slice(x, d, std::max<Index>(-before, 0), size - std::max<Index>(-after, 0));
    low[d] = std::max<Index>(before, 0), high[d] = std::max<Index>(after, 0);
  }
  double elements = 1;
  for (int d = 0; d < n; ++d) elements *= static_cast<double>(x.dim(d) + low[d] + high[d]);
  c.must_fit(elements);
  if (mode == "constant") {
    if (c.given(2) && c.in[2].is_traced()) c.refuse("a value around that is not known");
    const double around = c.given(2) ? cast(c.in[2], Dtype::f64).item() : c.real("value", 0);
    if (x.dtype() == Dtype::boolean) return {pad(x, low, high, {}, around != 0)};
    return {is_float(x.dtype()) ? pad(x, low, high, {}, around)
                                : pad(x, low, high, {}, static_cast<std::int64_t>(around))};
  }
  if (mode != "edge" && mode != "reflect") c.refuse("mode = " + mode);
  for (int d = 0; d < n; ++d) {
    if (low[d] == 0 && high[d] == 0) continue;
    const Index size = x.dim(d), beyond = std::max(low[d], high[d]);
    if (size == 0 || (mode == "reflect" && beyond >= size))
      c.refuse("a border of " + std::to_string(beyond) + " of an axis of " + std::to_string(size));
    std::vector<std::int64_t> at;
    for (Index i = -low[d]; i < size + high[d]; ++i)
      at.push_back(mode == "edge" ? std::clamp(i, Index{0}, size - 1)
                   : i < 0        ? -i
                   : i < size     ? i
                                  : 2 * (size - 1) - i);
    x = take(x, ints(at), d);
  }
  return {x};
}

Out constant(const C& c) {
  if (const OnnxAttribute* v = c.find("value")) {
    if (v->kind != OnnxAttribute::tensor) c.malformed("its value is no tensor");
    return {v->t.values};
  }
  if (c.find("value_float")) return {scalar(c.real("value_float", 0), Dtype::f32)};
  if (c.find("value_int")) return {scalar(c.integer("value_int", 0), Dtype::i64)};
  if (c.find("value_ints")) return {ints(c.integers("value_ints"))};
  if (const OnnxAttribute* v = c.find("value_floats"))
    return {cast(tensor(v->floats, {static_cast<Index>(v->floats.size())}), Dtype::f32)};
  c.malformed("it has no value");
}
Out constant_of_shape(const C& c) {
  const Shape s = shape_from(c, c.known(0));
  const OnnxAttribute* v = c.find("value");
  if (!v) return {zeros(s, Dtype::f32)};
  if (v->kind != OnnxAttribute::tensor || v->t.values.size() != 1)
    c.malformed("its value is not one element");
  return {broadcast_to(reshape(v->t.values, {}), s)};
}
Out identity_like(const C& c) {
  const Tensor& x = c.x();
  if (x.ndim() != 2) c.malformed("of " + to_string(x.type()));
  Dtype to = x.dtype();
  if (c.find("dtype")) {
    const std::optional<Dtype> said = dtype_of_onnx(c.integer("dtype", 0));
    if (!said) c.refuse("of type " + onnx_type_name(c.integer("dtype", 0)));
    to = *said;
  }
  const std::int64_t k = c.integer("k", 0);
  return {cast(equal(expand_dims(arange(x.dim(0)), 1) + k, arange(x.dim(1))), to)};
}
Out range(const C& c) {
  const std::vector<double> first = c.known_reals(0), limit = c.known_reals(1),
                            step = c.known_reals(2);
  if (first.size() != 1 || limit.size() != 1 || step.size() != 1 || step[0] == 0)
    c.malformed("expected three numbers, the last of them not 0");
  const double count = std::ceil((limit[0] - first[0]) / step[0]);
  c.must_fit(count);
  const Index n = count > 0 ? static_cast<Index>(count) : 0;
  return {cast(first[0] + arange(n, Dtype::f64) * step[0], c.x().dtype())};
}
Out triangle(const C& c) {
  const std::vector<std::int64_t> k = c.given(1) ? c.known(1) : std::vector<std::int64_t>{0};
  const Tensor& x = c.x();
  if (x.ndim() < 2 || k.size() != 1) c.malformed("of " + to_string(x.type()));
  const Tensor across = arange(x.dim(-1)) - expand_dims(arange(x.dim(-2)), 1);
  const Tensor kept = c.integer("upper", 1) ? across >= k[0] : across <= k[0];
  return {where(kept, x, scalar(0, x.dtype()))};
}

/// [B, C, H, W] with blocks of b x b pixels from or to channels.
Out depth_to_space(const C& c) {
  const Tensor& x = c.x();
  const Index b = c.integer("blocksize", 0);
  if (x.ndim() != 4 || b < 1 || b > 4096 || x.dim(1) % (b * b) != 0)
    c.malformed("blocks of " + std::to_string(b) + " of " + to_string(x.type()));
  const Index n = x.dim(0), depth = x.dim(1) / (b * b), h = x.dim(2), w = x.dim(3);
  const std::string mode = c.text("mode", "DCR");
  const Tensor y = mode == "DCR"
                       ? transpose(reshape(x, {n, b, b, depth, h, w}), {0, 3, 4, 1, 5, 2})
                       : transpose(reshape(x, {n, depth, b, b, h, w}), {0, 1, 4, 2, 5, 3});
  return {reshape(y, {n, depth, h * b, w * b})};
}
Out space_to_depth(const C& c) {
  const Tensor& x = c.x();
  const Index b = c.integer("blocksize", 0);
  if (x.ndim() != 4 || b < 1 || x.dim(2) % b != 0 || x.dim(3) % b != 0)
    c.malformed("blocks of " + std::to_string(b) + " of " + to_string(x.type()));
  const Index n = x.dim(0), d = x.dim(1), h = x.dim(2) / b, w = x.dim(3) / b;
  return {
      reshape(transpose(reshape(x, {n, d, h, b, w, b}), {0, 3, 5, 1, 2, 4}), {n, d * b * b, h, w})};
}
Out branch(const C& c) { return {c.x()}; }  // OnnxProgram runs them

constexpr std::size_t kMany = 1u << 20;

}  // namespace

void add_shape_rules(OnnxRules& r) {
  r["Shape"] = {shape_of, "start end"};
  r["Size"] = {size_of_all};
  r["Reshape"] = {reshape_to, "allowzero", 2, 2};
  r["Flatten"] = {flatten_to_two, "axis"};
  r["Squeeze"] = {squeeze_axes, "axes", 1, 2};
  r["Unsqueeze"] = {unsqueeze_axes, "axes", 1, 2};
  r["Transpose"] = {transpose_axes, "perm"};
  r["Concat"] = {concatenated, "axis", 1, kMany};
  r["Split"] = {split_parts, "axis split num_outputs", 1, 2, kMany};
  r["Slice"] = {sliced, "starts ends axes", 1, 5};
  r["Expand"] = {expanded, "", 2, 2};
  r["Tile"] = {tiled, "", 2, 2};
  r["Pad"] = {padded, "mode pads value", 1, 4};
  r["Constant"] = {constant, "value value_float value_floats value_int value_ints", 0, 0};
  r["ConstantOfShape"] = {constant_of_shape, "value"};
  r["EyeLike"] = {identity_like, "dtype k"};
  r["Range"] = {range, "", 3, 3};
  r["Trilu"] = {triangle, "upper", 1, 2};
  r["DepthToSpace"] = {depth_to_space, "blocksize mode"};
  r["SpaceToDepth"] = {space_to_depth, "blocksize"};
  r["If"] = {branch, "then_branch else_branch", 1, 1, kMany};
}

}  // namespace tessera::data
