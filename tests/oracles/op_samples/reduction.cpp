// SPDX-License-Identifier: Apache-2.0
#include "compose.h"

namespace tessera::oracle {

Tensor log_of_sum(const Tensor& x, const Shape& axes, bool keep) {
  if (!is_complex(x.dtype())) return logsumexp(x, axes, keep);
  const Tensor largest = stop_gradient(logsumexp(real(x), axes, true));
  const Tensor m = where(is_finite(largest), largest, 0.0);
  const Tensor y = log(sum(exp(x - m), axes, true)) + m;
  return keep ? y : sum(y, axes);
}
Tensor without_turns(const Tensor& z) {
  return is_complex(z.dtype()) ? real(z) + exp(c128(0, 1) * imag(z)) : z;
}
Tensor p_norm(const Tensor& x, double p, const Shape& axes, bool keep) {
  if (x.ndim() == 0) return reshape(p_norm(reshape(x, {1}), p, {0}, false), {});
  Shape all = axes;
  if (all.empty())
    for (int k = 0; k < x.ndim(); ++k) all.push_back(k);
  if (p == 2) return norm(x, all, keep);
  const Tensor size = abs(x);
  if (p == kInf) return max(size, all, keep);
  if (p == -kInf) return min(size, all, keep);
  if (p == 0) return sum(cast(not_equal(x, like(0, x)), size.dtype()), all, keep);
  if (p == 1) return sum(size, all, keep);
  // At 0 the root has no slope; where p > 1 the sum has slope 0 there, and so has its root by
  // convention.
  const Tensor s = sum(pow(size, p), all, keep);
  if (p < 1) return pow(s, 1 / p);
  const Tensor none = equal(s, 0.0);
  return where(none, 0.0, pow(where(none, 1.0, s), 1 / p));
}

namespace {

/// Integers and bools are summed as i64.
Tensor summand(const Call& c, Tensor x) {
  if (c.has(-1, "dtype")) return cast(x, c.dtype(-1, "dtype", Dtype::f64));
  return is_inexact(x.dtype()) ? x : cast(x, Dtype::i64);
}
using Reduction = Tensor (*)(Arg, const Shape&, bool);
Tensor over_axes(const Call& c, const Tensor& x, Reduction f) {
  return f(x, c.axes(1, "dim", x.ndim()), c.flag(2, "keepdim", false));
}
Tensor count(const Tensor& x, const Shape& axes) {
  double n = 1;
  for (Index a : axes) n *= static_cast<double>(x.dim(static_cast<int>(a)));
  return Tensor(n);
}
Tensor moment(const Call& c, bool root, bool biased_by_name = true) {
  Tensor x = floating(c[0]);
  const Value* first = c.find(1, "dim");
  // var(x, unbiased) has a bool where others have the axes.
  const bool unbiased_first = first && first->kind == Value::Kind::boolean;
  const Shape axes = unbiased_first ? c.axes(-1, "dim", x.ndim()) : c.axes(1, "dim", x.ndim());
  double ddof = c.real(-1, "correction", 1);
  if (unbiased_first)
    ddof = c.flag(1, "", true);
  else if (biased_by_name && c.has(2, "unbiased"))
    ddof = c.flag(2, "unbiased", true);
  const bool keep = c.flag(3, "keepdim", false);
  if (x.ndim() == 0) x = reshape(x, {1});
  const Shape over = axes.empty() ? Shape{0} : axes;
  if (ddof != std::floor(ddof)) {
    const Tensor d = x - mean(x, over, true);
    const Tensor v = sum(square(abs(d)), over, keep) / std::max(0.0, count(x, over).item() - ddof);
    return root ? sqrt(v) : v;
  }
  const Tensor r = root ? standard_deviation(x, over, static_cast<int>(ddof), keep)
                        : variance(x, over, static_cast<int>(ddof), keep);
  return c[0].ndim() == 0 ? reshape(r, {}) : r;
}
Tensor mean_of(const Call& c) {
  Tensor x = c[0];
  x = c.has(-1, "dtype") ? cast(x, c.dtype(-1, "dtype", Dtype::f64)) : floating(x);
  const Value* first = c.find(1, "dim");
  const bool flag_first = first && first->kind == Value::Kind::boolean;
  return mean(x, flag_first ? c.axes(-1, "dim", x.ndim()) : c.axes(1, "dim", x.ndim()),
              c.flag(flag_first ? 3 : 2, "keepdim", false));
}
Outputs moment_and_mean(const Call& c, bool root) {
  const Tensor x = floating(c[0]);
  const Value* first = c.find(1, "dim");
  const bool flag_first = first && first->kind == Value::Kind::boolean;
  return {moment(c, root),
          mean(x, flag_first ? c.axes(-1, "dim", x.ndim()) : c.axes(1, "dim", x.ndim()),
               c.flag(3, "keepdim", false))};
}
/// max or min with or without an axis: the value, and along an axis the position.
Outputs extreme(const Call& c, Reduction of_axes, Tensor (*position)(Arg, int)) {
  Tensor x = c[0];
  if (x.dtype() == Dtype::boolean) x = cast(x, Dtype::i32);
  const auto back = [&](const Tensor& y) {
    return c[0].dtype() == Dtype::boolean ? cast(y, Dtype::boolean) : y;
  };
  if (!c.has(1, "dim")) return {back(of_axes(x, c.axes(-1, "", x.ndim()), false))};
  const bool keep = c.flag(2, "keepdim", false);
  if (x.ndim() == 0) return {c[0], zeros({}, Dtype::i64)};
  const int axis = axis_of(c.integer(1, "dim", 0), x.ndim());
  const Tensor p = position(x, axis);
  return {back(of_axes(x, {axis}, keep)), keep ? expand_dims(p, axis) : p};
}
Tensor extreme_of_axes(const Call& c, Reduction of_axes) {
  const bool truths = c[0].dtype() == Dtype::boolean;
  const Tensor y = over_axes(c, truths ? cast(c[0], Dtype::i32) : c[0], of_axes);
  return truths ? cast(y, Dtype::boolean) : y;
}
Tensor position(const Call& c, Tensor (*f)(Arg, int)) {
  Tensor x = c[0];
  if (!c.has(1, "dim")) {
    const Tensor p = f(flatten(x), 0);
    return c.flag(2, "keepdim", false) ? reshape(p, Shape::filled(x.ndim(), 1)) : p;
  }
  if (x.ndim() == 0) return zeros({}, Dtype::i64);
  const int axis = axis_of(c.integer(1, "dim", 0), x.ndim());
  const Tensor p = f(x, axis);
  return c.flag(2, "keepdim", false) ? expand_dims(p, axis) : p;
}
template <class F>
Tensor along(const Call& c, const Tensor& x, F f) {
  return x.ndim() == 0 ? reshape(f(reshape(x, {1}), 0), {})
                       : f(x, axis_of(c.integer(1, "dim", 0), x.ndim()));
}
Tensor matrix_norm(const Tensor& x, const Value* order, Shape axes, bool keep) {
  const int n = x.ndim();
  const int r = axis_of(axes[0], n), k = axis_of(axes[1], n);
  const auto one = [&](bool columns, bool largest) {
    const Tensor s = sum(abs(x), {columns ? r : k}, true);
    if (largest && s.dim(columns ? k : r) == 0)
      return sum(s, {columns ? k : r}, true);  // the norm of nothing
    return (largest ? static_cast<Reduction>(max) : static_cast<Reduction>(min))(
        s, {columns ? k : r}, true);
  };
  Tensor y;
  if (!order || (order->kind == Value::Kind::text && order->text == "fro"))
    return norm(x, {r, k}, keep);
  if (order->kind == Value::Kind::text || std::abs(order->number.real()) == 2) {
    Shape front;
    for (int a = 0; a < n; ++a)
      if (a != r && a != k) front.push_back(a);
    front.push_back(r);
    front.push_back(k);
    const Tensor s = svd(transpose(x, front)).s;
    y = order->kind == Value::Kind::text || s.dim(-1) == 0 ? sum(s, {-1})
        : order->number.real() > 0                         ? max(s, {-1})
                                                           : min(s, {-1});
    if (keep) y = expand_dims(expand_dims(y, std::min(r, k)), std::max(r, k));
    return y;
  }
  const double p = order->number.real();
  y = one(std::abs(p) == 1, p > 0);
  return keep ? y : squeeze(squeeze(y, std::max(r, k)), std::min(r, k));
}
/// torch.linalg.norm: of vectors or of matrices, as axes and order say.
Tensor any_norm(const Call& c) {
  Tensor x = floating(c[0]);
  if (c.has(-1, "dtype")) x = cast(x, c.dtype(-1, "dtype", Dtype::f64));
  const Value* order = c.find(1, "ord");
  if (!order) order = c.find(-1, "p");
  const bool keep = c.flag(3, "keepdim", false);
  Shape axes = c.sizes(2, "dim");
  if (axes.empty() && order && x.ndim() == 2) axes = {0, 1};
  if (axes.size() == 2 && order) return matrix_norm(x, order, axes, keep);
  if (axes.empty())
    for (int k = 0; k < x.ndim(); ++k) axes.push_back(k);
  return p_norm(x, order ? order->number.real() : 2, axes, keep);
}
/// torch.norm: "fro", "nuc" or a p over all axes.
Tensor old_norm(const Call& c) {
  const Tensor x = c[0];
  const Value* p = c.find(1, "p");
  const Shape axes = c.axes(2, "dim", x.ndim());
  if (p && p->kind == Value::Kind::text && p->text == "nuc")
    return matrix_norm(x, p, axes, c.flag(3, "keepdim", false));
  return p_norm(x, p && p->is_number() ? p->number.real() : 2, axes, c.flag(3, "keepdim", false));
}

}  // namespace

void reduction_rows(Table& t) {
  t["sum"] = [](const Call& c) { return over_axes(c, summand(c, c[0]), sum); };
  t["nansum"] = [](const Call& c) {
    const Tensor x = summand(c, c[0]);
    return over_axes(c, is_inexact(x.dtype()) ? where(is_nan(x), like(0, x), x) : x, sum);
  };
  t["prod"] = [](const Call& c) { return over_axes(c, summand(c, c[0]), prod); };
  t["mean"] = mean_of;
  t["nanmean"] = [](const Call& c) {
    Tensor x = c.has(-1, "dtype") ? cast(c[0], c.dtype(-1, "dtype", Dtype::f64)) : floating(c[0]);
    const Tensor there = logical_not(is_nan(x));
    return over_axes(c, where(there, x, like(0, x)), sum) /
           over_axes(c, cast(there, x.dtype()), sum);
  };
  t["amax"] = [](const Call& c) { return extreme_of_axes(c, max); };
  t["amin"] = [](const Call& c) { return extreme_of_axes(c, min); };
  t["aminmax"] = [](const Call& c) -> Outputs {
    const bool truths = c[0].dtype() == Dtype::boolean, keep = c.flag(-1, "keepdim", false);
    const Tensor x = truths ? cast(c[0], Dtype::i32) : c[0];
    const Shape axes = c.axes(-1, "dim", x.ndim());
    const Tensor low = min(x, axes, keep), high = max(x, axes, keep);
    return {truths ? cast(low, Dtype::boolean) : low, truths ? cast(high, Dtype::boolean) : high};
  };
  for (const char* name : {"max.reduction_with_dim", "max.reduction_no_dim"})
    t[name] = [](const Call& c) { return extreme(c, max, argmax); };
  for (const char* name : {"min.reduction_with_dim", "min.reduction_no_dim"})
    t[name] = [](const Call& c) { return extreme(c, min, argmin); };
  t["argmax"] = [](const Call& c) { return position(c, argmax); };
  t["argmin"] = [](const Call& c) { return position(c, argmin); };
  t["all"] = [](const Call& c) { return over_axes(c, truth(c[0]), all); };
  t["any"] = [](const Call& c) { return over_axes(c, truth(c[0]), any); };
  t["count_nonzero"] = [](const Call& c) {
    return sum(cast(truth(c[0]), Dtype::i64), c.axes(1, "dim", c[0].ndim()));
  };
  for (const char* name : {"var", "var.unbiased"})
    t[name] = [](const Call& c) { return moment(c, false); };
  for (const char* name : {"std", "std.unbiased"})
    t[name] = [](const Call& c) { return moment(c, true); };
  for (const char* name : {"var_mean", "var_mean.unbiased"})
    t[name] = [](const Call& c) { return moment_and_mean(c, false); };
  for (const char* name : {"std_mean", "std_mean.unbiased"})
    t[name] = [](const Call& c) { return moment_and_mean(c, true); };
  t["logsumexp"] = [](const Call& c) {
    return without_turns(
        log_of_sum(floating(c[0]), c.axes(1, "dim", c[0].ndim()), c.flag(2, "keepdim", false)));
  };
  t["cumsum"] = [](const Call& c) {
    return along(c, summand(c, c[0]), [](const Tensor& x, int axis) { return cumsum(x, axis); });
  };
  t["cumprod"] = [](const Call& c) {
    return along(c, summand(c, c[0]), [](const Tensor& x, int axis) { return cumprod(x, axis); });
  };
  t["logcumsumexp"] = [](const Call& c) {
    return without_turns(along(c, floating(c[0]), [](const Tensor& x, int axis) {
      if (!is_complex(x.dtype())) return cumlogsumexp(x, axis);
      const Tensor m = stop_gradient(cummax(real(x), axis));  // e^(x_j - m_i) for all pairs i >= j
      const int n = x.ndim();
      const Tensor d =
          expand_dims(moveaxis(x, axis, n - 1), n - 1) - expand_dims(moveaxis(m, axis, n - 1), n);
      const Tensor before = cast(tril(ones({d.dim(-1), d.dim(-1)})), Dtype::boolean);
      return moveaxis(log(sum(where(before, exp(where(before, d, 0.0)), 0.0), {n})), n - 1, axis) +
             m;
    }));
  };
  t["cummax"] = [](const Call& c) {
    const Tensor x = c[0].dtype() == Dtype::boolean ? cast(c[0], Dtype::i32) : c[0];
    return cast(along(c, x, [](const Tensor& v, int axis) { return cummax(v, axis); }),
                c[0].dtype());
  };
  t["cummin"] = [](const Call& c) {
    const Tensor x = c[0].dtype() == Dtype::boolean ? cast(c[0], Dtype::i32) : c[0];
    return cast(along(c, x, [](const Tensor& v, int axis) { return cummin(v, axis); }),
                c[0].dtype());
  };
  t["linalg.vector_norm"] = [](const Call& c) {
    Tensor x = floating(c[0]);
    if (c.has(-1, "dtype")) x = cast(x, c.dtype(-1, "dtype", Dtype::f64));
    return p_norm(x, c.real(1, "ord", 2), c.axes(2, "dim", x.ndim()), c.flag(3, "keepdim", false));
  };
  for (const char* name : {"linalg.norm", "linalg.norm.subgradients_at_zero"}) t[name] = any_norm;
  t["linalg.matrix_norm"] = [](const Call& c) {
    const Shape axes = c.sizes(2, "dim");
    return matrix_norm(c[0], c.find(1, "ord"), axes.empty() ? Shape{-2, -1} : axes,
                       c.flag(3, "keepdim", false));
  };
  for (const char* name : {"norm", "norm.nuc", "norm.fro", "norm.inf"}) t[name] = old_norm;
}

}  // namespace tessera::oracle
