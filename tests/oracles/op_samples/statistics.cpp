// SPDX-License-Identifier: Apache-2.0
#include "compose.h"
#include "tessera/autodiff/ops/cumulative.h"

namespace tessera::oracle {

Tensor moved_last(const Tensor& x, int axis) {
  return moveaxis(x, axis_of(axis, x.ndim()), x.ndim() - 1);
}

namespace {

/// Covariance of rows: frequencies and weights of observations as torch has them.
Tensor covariance(const Call& c) {
  Tensor x = c[0];
  if (x.ndim() == 0) x = reshape(x, {1, 1});
  if (x.ndim() == 1) x = reshape(x, {1, x.dim(0)});
  x = floating(x);
  const Index n = x.dim(1);
  const double ddof = c.real(-1, "correction", 1);
  const bool weighted = c.has(-1, "fweights") || c.has(-1, "aweights");
  Tensor w = ones({n}, real_of(x.dtype()));
  if (c.has(-1, "fweights")) w = w * cast(c.tensor(-1, "fweights"), w.dtype());
  if (c.has(-1, "aweights")) w = w * cast(c.tensor(-1, "aweights"), w.dtype());
  const Tensor total = weighted ? sum(w) : Tensor(static_cast<double>(n));
  const Tensor middle = sum(x * w, {1}, true) / cast(total, real_of(x.dtype()));
  Tensor degrees = cast(total, real_of(x.dtype()));
  if (ddof != 0)
    degrees = c.has(-1, "aweights")
                  ? degrees - ddof * sum(w * cast(c.tensor(-1, "aweights"), w.dtype())) / degrees
                  : degrees - ddof;
  const Tensor d = x - middle;
  const Tensor r = matmul(d * w, adjoint(d)) / maximum(degrees, 0.0);
  return x.dim(0) == 1 ? reshape(r, {}) : r;
}
Tensor correlation(const Call& c) {
  const Tensor v = covariance(c);
  if (v.ndim() == 0) return v / v;
  const Tensor s = sqrt(real(diagonal(v)));
  Tensor r = v / reshape(s, {-1, 1}) / s;
  const auto limited = [](const Tensor& x) { return clip(x, -1.0, 1.0); };
  return is_complex(r.dtype()) ? complex(limited(real(r)), limited(imag(r))) : limited(r);
}

Tensor quantiles(const Call& c) {
  Tensor x = c[0];
  const Tensor q = c.tensor(1, "q");
  const bool keep = c.flag(3, "keepdim", false), whole_array = !c.has(2, "dim");
  const int ndim = x.ndim();
  const int axis = whole_array || ndim == 0 ? 0 : axis_of(c.integer(2, "dim", 0), ndim);
  x = whole_array || ndim == 0 ? flatten(x) : moved_last(x, axis);
  const Tensor s = sort(x), rank = flatten(q) * static_cast<double>(s.dim(-1) - 1);
  const auto at = [&](const Tensor& position) {
    return take(s, cast(position, Dtype::i64), s.ndim() - 1);
  };
  const std::string how = c.text(-1, "interpolation", "linear");
  const Tensor low = floor(rank), a = at(low), b = at(ceil(rank));
  Tensor y = how == "lower"      ? a
             : how == "higher"   ? b
             : how == "midpoint" ? (a + b) * 0.5
             : how == "nearest"  ? at(round(rank))
                                 : a + (rank - stop_gradient(low)) * (b - a);
  y = where(any(is_nan(x), {-1}, true), kNan, y);
  y = moveaxis(y, y.ndim() - 1, 0);  // [q, ...]
  if (keep) {
    Shape one = Shape::filled(ndim, 1);
    one.insert(0, y.dim(0));
    y = whole_array || ndim == 0 ? reshape(y, one) : expand_dims(y, axis + 1);
  }
  return q.ndim() == 0 ? squeeze(y, 0) : y;
}

/// k-th smallest along an axis.
Tensor ranked(const Call& c, const Tensor& x, Index k, int place) {
  if (x.ndim() == 0) return x;
  const int axis = axis_of(c.integer(place, "dim", -1), x.ndim());
  const bool keep = c.flag(place + 1, "keepdim", false);
  const Tensor order = slice(argsort(x, axis), axis, k, k + 1);
  const Tensor value = take_along_axis(x, order, axis);
  return keep ? value : squeeze(value, axis);
}
Outputs median_of(const Call& c) {
  const Tensor x = c[0];
  if (x.size() == 0 && !c.has(1, "dim"))
    return {is_inexact(x.dtype())
                ? like(kNan, x)
                : cast(min(tensor({std::numeric_limits<std::int64_t>::min()})), x.dtype())};
  if (!c.has(1, "dim")) return {select(sort(flatten(x)), 0, (x.size() - 1) / 2)};
  const Index n = x.ndim() == 0 ? 1 : x.dim(static_cast<int>(c.integer(1, "dim", 0)));
  return {ranked(c, x, (n - 1) / 2, 1)};
}

/// Sums of trapezoids between neighbours, of width dx or by the points x.
Tensor trapezoids(const Call& c) {
  const Tensor y = floating(c[0]);
  const int axis = axis_of(c.integer(-1, "dim", -1), y.ndim());
  const Index n = y.dim(axis);
  if (n == 0) return y;
  const Tensor pairs =
      slice(y, axis, 0, std::max<Index>(n - 1, 0)) + slice(y, axis, std::min<Index>(1, n), n);
  if (!c.has(1, "x")) return pairs * (c.real(-1, "dx", 1) / 2);
  Tensor x = floating(c.tensor(1, "x"));
  const int own = x.ndim() == 1 ? 0 : axis + x.ndim() - y.ndim();
  Tensor width = slice(x, own, 1, x.dim(own)) - slice(x, own, 0, x.dim(own) - 1);
  if (x.ndim() == 1) {
    Shape s = Shape::filled(y.ndim(), 1);
    s[axis] = width.dim(0);
    width = reshape(width, s);
  }
  return pairs * width / 2.0;
}
Tensor differences(const Call& c) {
  Tensor x = c[0];
  const int axis = axis_of(c.integer(2, "dim", -1), x.ndim());
  std::vector<Tensor> parts;
  if (c.integer(1, "n", 1) == 0) return x;
  if (c.has(3, "prepend")) parts.push_back(c.tensor(3, "prepend"));
  parts.push_back(x);
  if (c.has(4, "append")) parts.push_back(c.tensor(4, "append"));
  x = concatenate(parts, axis);
  for (Index k = 0; k < c.integer(1, "n", 1); ++k) {
    const Index n = x.dim(axis);
    const Tensor a = slice(x, axis, std::min<Index>(1, n), n),
                 b = slice(x, axis, 0, std::max<Index>(n - 1, 0));
    x = x.dtype() == Dtype::boolean ? logical_xor(a, b) : a - b;
  }
  return x;
}

}  // namespace

void statistics_rows(Table& t) {
  t["cov"] = covariance;
  t["corrcoef"] = correlation;
  t["quantile"] = quantiles;
  t["kthvalue"] = [](const Call& c) { return ranked(c, c[0], c.integer(1, "k", 1) - 1, 2); };
  t["median"] = median_of;
  t["trapz"] = t["trapezoid"] = [](const Call& c) {
    return sum(trapezoids(c), {axis_of(c.integer(-1, "dim", -1), c[0].ndim())});
  };
  t["cumulative_trapezoid"] = [](const Call& c) {
    return cumsum(trapezoids(c), axis_of(c.integer(-1, "dim", -1), c[0].ndim()));
  };
  t["diff"] = differences;
  t["linalg.vander"] = [](const Call& c) {
    const Tensor x = c[0].ndim() == 0 ? reshape(c[0], {1}) : c[0];
    const Index n = c.integer(-1, "N", x.dim(-1));
    std::vector<Tensor> powers{x.dtype() == Dtype::boolean ? x : ones(x.shape(), x.dtype())};
    while (static_cast<Index>(powers.size()) < n) powers.push_back(powers.back() * x);
    return stack(powers, x.ndim());
  };
}

}  // namespace tessera::oracle
