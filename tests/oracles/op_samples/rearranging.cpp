// SPDX-License-Identifier: Apache-2.0
//
// Elements moved, repeated, bordered and put on diagonals.
#include "compose.h"

#include <algorithm>

namespace tessera::oracle {
namespace {

Tensor flipped(const Tensor& x, const Shape& axes) {
  return axes.empty() || x.ndim() == 0 ? x : reverse(x, axes);
}
Tensor rolled(const Tensor& x, int axis, Index by) {
  const Index n = x.dim(axis);
  if (n == 0) return x;
  const Index cut = ((n - by) % n + n) % n;
  return concatenate({slice(x, axis, cut, n), slice(x, axis, 0, cut)}, axis);
}
Tensor roll_of(const Call& c) {
  const Tensor x = c[0];
  const Shape shifts = c.sizes(1, "shifts"), axes = c.sizes(2, "dims");
  if (x.ndim() == 0) return x;
  if (axes.empty()) return reshape(rolled(flatten(x), 0, shifts[0]), x.shape());
  Tensor y = x;
  for (int k = 0; k < axes.size(); ++k) y = rolled(y, axis_of(axes[k], x.ndim()), shifts[k]);
  return y;
}
Tensor turned_by_90(const Call& c) {
  const Tensor x = c[0];
  Shape axes = c.sizes(2, "dims");
  if (axes.empty()) axes = {0, 1};
  const int a = axis_of(axes[0], x.ndim()), b = axis_of(axes[1], x.ndim());
  Shape p;
  for (int k = 0; k < x.ndim(); ++k) p.push_back(k);
  std::swap(p[a], p[b]);
  switch (((c.integer(1, "k", 1) % 4) + 4) % 4) {
    case 1:
      return transpose(reverse(x, {b}), p);
    case 2:
      return reverse(x, {a, b});
    case 3:
      return transpose(reverse(x, {a}), p);
    default:
      return x;
  }
}
Tensor tiled(const Tensor& x, Shape times) {
  while (times.size() < x.ndim()) times.insert(0, 1);
  Tensor y = x;
  while (y.ndim() < times.size()) y = expand_dims(y, 0);
  for (int k = 0; k < times.size(); ++k) {
    if (times[k] == 0)
      y = slice(y, k, 0, 0);
    else if (times[k] > 1)
      y = concatenate(std::vector<Tensor>(static_cast<std::size_t>(times[k]), y), k);
  }
  return y;
}
Tensor repeated_each(const Call& c) {
  Tensor x = c[0];
  const bool flat = !c.has(2, "dim");
  if (flat) x = flatten(x);
  const int axis = flat || x.ndim() == 0 ? 0 : axis_of(c.integer(2, "dim", 0), x.ndim());
  if (x.ndim() == 0) x = reshape(x, {1});
  const Value& v = *c.find(1, "repeats");
  std::vector<std::int64_t> index;
  for (Index k = 0; k < x.dim(axis); ++k) {
    const Index n = v.kind != Value::Kind::tensor ? v.integer : [&] {
      const Tensor r = cast(flatten(c.tensor(v)), Dtype::i64);
      return r.to_vector<std::int64_t>()[static_cast<std::size_t>(r.size() == 1 ? 0 : k)];
    }();
    for (Index j = 0; j < n; ++j) index.push_back(k);
  }
  return take(x, tensor(index), axis);
}

/// Sizes of borders from the last axis on, pairs (before, after); negative ones cut.
Tensor bordered(const Call& c, double value) {
  Tensor x = c[0];
  const Shape sizes = c.sizes(1, "pad");
  for (int k = 0; 2 * k < sizes.size(); ++k) {
    const int axis = x.ndim() - 1 - k;
    const Index low = sizes[2 * k], high = sizes[2 * k + 1];
    if (low < 0 || high < 0)
      x = slice(x, axis, std::max<Index>(0, -low), x.dim(axis) - std::max<Index>(0, -high));
    Shape before = Shape::filled(x.ndim(), 0), after = before;
    before[axis] = std::max<Index>(0, low);
    after[axis] = std::max<Index>(0, high);
    x = pad(x, before, after, {}, value);
  }
  return x;
}
/// Borders whose elements are those of x at `source(position)`; negative ones cut, before or after
/// that.
template <class F>
Tensor bordered_by(const Call& c, F source, bool cut_first = false) {
  Tensor x = c[0];
  Shape sizes = c.sizes(1, "pad");
  for (int k = 0; 2 * k < sizes.size(); ++k) {
    const int axis = x.ndim() - 1 - k;
    if (cut_first) {
      x = slice(x, axis, std::max<Index>(0, -sizes[2 * k]),
                x.dim(axis) - std::max<Index>(0, -sizes[2 * k + 1]));
      sizes[2 * k] = std::max<Index>(0, sizes[2 * k]);
      sizes[2 * k + 1] = std::max<Index>(0, sizes[2 * k + 1]);
    }
    const Index n = x.dim(axis);
    std::vector<std::int64_t> index;
    for (Index i = -sizes[2 * k]; i < n + sizes[2 * k + 1]; ++i) index.push_back(source(i, n));
    x = take(x, tensor(index), axis);
  }
  return x;
}

Tensor diagonal_of(const Tensor& x, Index offset, int axis1, int axis2) {
  Shape front;
  for (int k = 0; k < x.ndim(); ++k)
    if (k != axis1 && k != axis2) front.push_back(k);
  front.push_back(axis1);
  front.push_back(axis2);
  Tensor y = transpose(x, front);
  const int n = y.ndim();
  if (offset > 0) y = slice(y, n - 1, std::min(offset, y.dim(n - 1)), y.dim(n - 1));
  if (offset < 0) y = slice(y, n - 2, std::min(-offset, y.dim(n - 2)), y.dim(n - 2));
  return diagonal(y);
}
Tensor diagonal_call(const Call& c) {
  const int n = c[0].ndim();
  return diagonal_of(c[0], c.integer(1, "offset", 0), axis_of(c.integer(2, "dim1", 0), n),
                     axis_of(c.integer(3, "dim2", 1), n));
}
Tensor onto_diagonal(const Tensor& x, Index offset, int axis1, int axis2) {
  Tensor y = diag(x);
  const Index more = std::abs(offset);
  if (more) {
    Shape low = Shape::filled(y.ndim(), 0), high = low;
    (offset > 0 ? low : high)[y.ndim() - 1] = more;
    (offset > 0 ? high : low)[y.ndim() - 2] = more;
    y = pad(y, low, high);
  }
  // The last two axes go to axis1 and axis2.
  Shape p = Shape::filled(y.ndim(), -1);
  p[axis1] = y.ndim() - 2;
  p[axis2] = y.ndim() - 1;
  int next = 0;
  for (Index& a : p)
    if (a < 0) a = next++;
  return transpose(y, p);
}
Tensor embedded(const Call& c) {
  const int n = c[0].ndim() + 1;
  return onto_diagonal(c[0], c.integer(1, "offset", 0), axis_of(c.integer(2, "dim1", -2), n),
                       axis_of(c.integer(3, "dim2", -1), n));
}
Tensor shuffled(const Call& c, bool up) {
  const Tensor x = c[0];
  const Index r = c.integer(1, up ? "upscale_factor" : "downscale_factor", 1);
  Shape s;
  for (int k = 0; k < x.ndim() - 3; ++k) s.push_back(x.dim(k));
  const int b = s.size();
  const Index channels = x.dim(b), h = x.dim(b + 1), w = x.dim(b + 2);
  Shape split = s, order, out = s;
  for (int k = 0; k < b; ++k) order.push_back(k);
  const auto append = [](Shape& to, std::initializer_list<Index> v) {
    for (Index i : v) to.push_back(i);
  };
  if (up) {
    append(split, {channels / (r * r), r, r, h, w});
    append(order, {b, b + 3, b + 1, b + 4, b + 2});
    append(out, {channels / (r * r), h * r, w * r});
  } else {
    append(split, {channels, h / r, r, w / r, r});
    append(order, {b, b + 2, b + 4, b + 1, b + 3});
    append(out, {channels * r * r, h / r, w / r});
  }
  return reshape(transpose(reshape(x, split), order), out);
}
Tensor blocks_on_diagonal(const Call& c) {
  Outputs parts;
  Index rows = 0, columns = 0;
  for (Tensor x : c.tensors_from(0)) {
    x = x.ndim() == 0 ? reshape(x, {1, 1}) : x.ndim() == 1 ? reshape(x, {1, x.dim(0)}) : x;
    parts.push_back(x);
    rows += x.dim(0);
    columns += x.dim(1);
  }
  Index at = 0;
  for (Tensor& x : parts) {
    const Index n = x.dim(1);
    x = pad(x, {0, at}, {0, columns - at - n});
    at += n;
  }
  return concatenate(parts, 0);
}
Outputs meshes(const Call& c) {
  Outputs r = c.tensors_from(0);
  Shape s;
  for (const Tensor& x : r) s.push_back(x.size());
  const bool xy = c.text(-1, "indexing", "ij") == "xy" && s.size() > 1;
  for (int k = 0; k < s.size(); ++k) {
    Shape one = Shape::filled(s.size(), 1);
    one[k] = s[k];
    Tensor& y = r[static_cast<std::size_t>(k)];
    y = broadcast_to(reshape(y, one), s);
    if (xy) y = moveaxis(y, 0, 1);
  }
  return r;
}

}  // namespace

void rearranging_rows(Table& t) {
  t["flip"] = [](const Call& c) { return flipped(c[0], c.sizes_from(1, "dims")); };
  t["fliplr"] = [](const Call& c) { return flipped(c[0], {1}); };
  t["flipud"] = [](const Call& c) { return flipped(c[0], {0}); };
  t["roll"] = roll_of;
  t["rot90"] = turned_by_90;
  t["tile"] = [](const Call& c) { return tiled(c[0], c.sizes_from(1, "dims")); };
  t["repeat"] = [](const Call& c) { return tiled(c[0], c.sizes_from(1, "repeats")); };
  t["repeat_interleave"] = repeated_each;
  t["constant_pad_nd"] = t["nn.functional.pad.constant"] = [](const Call& c) {
    return bordered(c, c.real(c.has(2) && c.find(2)->is_number() ? 2 : 3, "value", 0));
  };
  t["nn.functional.pad.reflect"] = [](const Call& c) {
    return bordered_by(c, [](Index i, Index n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; });
  };
  for (const char* name : {"nn.functional.pad.replicate", "nn.functional.pad.replicate_negative"})
    t[name] = [](const Call& c) {
      return bordered_by(c, [](Index i, Index n) { return std::clamp<Index>(i, 0, n - 1); });
    };
  t["nn.functional.pad.circular"] = [](const Call& c) {  // what is cut does not come round
    return bordered_by(
        c, [](Index i, Index n) { return (i % n + n) % n; }, true);
  };
  for (const char* name : {"diagonal", "diagonal_copy"}) t[name] = diagonal_call;
  t["linalg.diagonal"] = [](const Call& c) {
    const int n = c[0].ndim();
    return diagonal_of(c[0], c.integer(1, "offset", 0), axis_of(c.integer(2, "dim1", -2), n),
                       axis_of(c.integer(3, "dim2", -1), n));
  };
  t["diag_embed"] = embedded;
  t["diagflat"] = [](const Call& c) {
    return onto_diagonal(flatten(c[0]), c.integer(1, "offset", 0), 0, 1);
  };
  t["diag"] = [](const Call& c) {
    const Index k = c.integer(1, "diagonal", 0);
    return c[0].ndim() == 1 ? onto_diagonal(c[0], k, 0, 1) : diagonal_of(c[0], k, 0, 1);
  };
  t["tril"] = [](const Call& c) { return tril(c[0], c.integer(1, "diagonal", 0)); };
  t["triu"] = [](const Call& c) { return triu(c[0], c.integer(1, "diagonal", 0)); };
  t["trace"] = [](const Call& c) {
    return is_inexact(c[0].dtype()) ? trace(c[0]) : sum(cast(diagonal(c[0]), Dtype::i64), {-1});
  };
  t["nn.functional.pixel_shuffle"] = [](const Call& c) { return shuffled(c, true); };
  t["nn.functional.pixel_unshuffle"] = [](const Call& c) { return shuffled(c, false); };
  t["nn.functional.channel_shuffle"] = [](const Call& c) {
    const Tensor x = c[0];
    Shape s = x.shape();
    const Index g = c.integer(1, "groups", 1);
    s[1] = s[1] / g;
    s.insert(1, g);
    Shape p;
    for (int k = 0; k < s.size(); ++k) p.push_back(k);
    std::swap(p[1], p[2]);
    return reshape(transpose(reshape(x, s), p), x.shape());
  };
  t["block_diag"] = blocks_on_diagonal;
  for (const char* name : {"meshgrid.variadic_tensors", "meshgrid.list_of_tensors"})
    t[name] = meshes;
  t["cartesian_prod"] = [](const Call& c) {
    Outputs r = meshes(c);
    if (r.size() == 1) return r[0];
    for (Tensor& x : r) x = flatten(x);
    return stack(r, 1);
  };
}

}  // namespace tessera::oracle
