// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/through.h"

#include "base/eigen_map.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <memory>
#include <string>
#include <utility>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;

/// An engine's Jacobian [rows, cols], row by row, as ours, column by column.
Matrix by_columns(const Tensor& j) {
  Matrix out(static_cast<std::size_t>(j.dim(0)), static_cast<std::size_t>(j.dim(1)));
  out.values = transpose(j).to_vector();
  return out;
}

/// For few products: no numbers are made where the map has products.
LinearMap by_products(const ForwardMap& f, const Numbers& x) {
  return f.linearize ? f.linearize(x) : linearized(f, x);
}

LinearMap one_behind_the_other(LinearMap a, LinearMap b) {
  LinearMap out{.rows = a.rows, .cols = b.cols};
  out.times = [a = a.times, b = b.times](const Numbers& x) { return a(b(x)); };
  out.transposed_times = [a = a.transposed_times, b = b.transposed_times](const Numbers& y) {
    return b(a(y));
  };
  return out;
}

}  // namespace

ForwardMap through(ForwardMap f, ForwardMap g) {
  if (g.n_data != f.n_parameters)
    throw Error("[through] the inner map gives " + std::to_string(g.n_data) + " numbers, " +
                std::to_string(f.n_parameters) + " are taken");
  const auto outer = std::make_shared<const ForwardMap>(std::move(f)),
             inner = std::make_shared<const ForwardMap>(std::move(g));
  ForwardMap out;
  out.n_parameters = inner->n_parameters;
  out.n_data = outer->n_data;
  out.predict = [=](const Numbers& x) { return outer->predict(inner->predict(x)); };
  if (outer->jacobian)
    out.jacobian = [=](const Numbers& x) {
      return from_left(outer->jacobian(inner->predict(x)), linearized(*inner, x));
    };
  if (outer->jacobian || outer->linearize)
    out.linearize = [=](const Numbers& x) {
      return one_behind_the_other(by_products(*outer, inner->predict(x)), by_products(*inner, x));
    };
  if (outer->pullback)
    out.pullback = [=](const Numbers& x) {
      PulledBack back = outer->pullback(inner->predict(x));
      return PulledBack{
          std::move(back.value),
          [from_outer = std::move(back.pull), from_inner = by_products(*inner, x).transposed_times](
              const Numbers& y) { return from_inner(from_outer(y)); }};
    };
  const auto twice = [](const ForwardMap& h) { return h.hessian || h.curvature; };
  if (twice(*outer) && twice(*inner))
    out.curvature = [=](const Numbers& x, const Numbers& y) {
      const Numbers m = inner->predict(x);
      const LinearMap k = linearized(*inner, x), of_outer = curvature(*outer, m, y);
      const LinearMap of_inner = curvature(*inner, x, by_products(*outer, m).transposed_times(y));
      LinearMap h{.rows = x.size(), .cols = x.size()};
      h.times = [=](const Numbers& v) {
        Numbers sum = k.transposed_times(of_outer.times(k.times(v)));
        view(sum) += view(of_inner.times(v));
        return sum;
      };
      h.transposed_times = h.times;
      return h;
    };
  return out;
}

ForwardMap engine_map(std::size_t n, std::function<Tensor(const Tensor& x)> f) {
  const auto call = [f](const Tensor& x) {
    const Tensor y = f(x);
    if (y.ndim() != 1 || y.dtype() != Dtype::f64)
      throw Error("[engine_map] the function gives " + to_string(y.type()) + ", not f64 [n]");
    return y;
  };
  const auto value = jit(call);
  ForwardMap out;
  out.n_parameters = n;
  out.n_data = static_cast<std::size_t>(
      value(zeros({static_cast<Index>(n)})).size());  // it is said by what it gives
  out.predict = [value](const Numbers& x) { return value(tensor(x)).to_vector(); };
  const auto forward = jit([call](const Tensor& x) { return jacfwd(call)(x); });
  const auto reverse = jit([call](const Tensor& x) { return jacrev(call)(x); });
  out.jacobian = [forward, reverse, by_rows = out.n_data <= n](const Numbers& x) {
    return by_columns(by_rows ? reverse(tensor(x)) : forward(tensor(x)));
  };
  const auto push =
      jit([call](const Tensor& x, const Tensor& t) { return jvp(call, x, t).second; });
  const auto pull = [call](const Tensor& x, const Tensor& y) { return vjp(call, x).second(y); };
  const auto pulled = jit(pull);
  out.linearize = [push, pulled, n, n_data = out.n_data](const Numbers& at) {
    LinearMap l{.rows = n_data, .cols = n};
    const Tensor x = tensor(at);
    l.times = [=](const Numbers& t) { return push(x, tensor(t)).to_vector(); };
    l.transposed_times = [=](const Numbers& y) { return pulled(x, tensor(y)).to_vector(); };
    return l;
  };
  const auto twice = jit([pull](const Tensor& x, const Tensor& y, const Tensor& t) {
    return jvp([&](const Tensor& at) { return pull(at, y); }, x, t).second;
  });
  out.curvature = [twice, n](const Numbers& at, const Numbers& weights) {
    LinearMap h{.rows = n, .cols = n};
    const Tensor x = tensor(at), y = tensor(weights);
    h.times = [=](const Numbers& t) { return twice(x, y, tensor(t)).to_vector(); };
    h.transposed_times = h.times;
    return h;
  };
  return out;
}

}  // namespace tessera::inversion
