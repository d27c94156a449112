// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/bounds.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace tessera::inversion {

Tensor bounded(const Tensor& x, const Tensor& lower, const Tensor& upper) {
  return lower + (upper - lower) * logistic(x);
}

std::vector<double> bounded_to_model(std::vector<double> x, const Bounds& bounds,
                                     std::size_t n_bounded) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(n_bounded);
  const auto m = bounded(tensor(std::vector<double>(x.begin(), middle)), full({}, bounds.lower),
                         full({}, bounds.upper))
                     .to_vector();
  std::copy(m.begin(), m.end(), x.begin());
  return x;
}

std::vector<double> model_to_bounded(std::vector<double> m, const Bounds& bounds,
                                     std::size_t n_bounded) {
  const double width = bounds.upper - bounds.lower;
  for (std::size_t j = 0; j < n_bounded; ++j) {
    const double p = std::clamp((m[j] - bounds.lower) / width, 1e-6, 1 - 1e-6);
    m[j] = std::log(p / (1 - p));
  }
  return m;
}

namespace {

using Numbers = std::vector<double>;

/// m of x with dm/dx and d2m/dx2, 1 and 0 of what is not bounded.
struct BoundedModel {
  Numbers m, first, second;
};

BoundedModel bounded_model(const Numbers& x, const Bounds& bounds, std::size_t n_bounded) {
  const auto map = [&](const Tensor& t) {
    return bounded(t, full({}, bounds.lower), full({}, bounds.upper));
  };
  const Tensor at = tensor(Numbers(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n_bounded))),
               one = ones(at.shape(), Dtype::f64);
  const auto slope = [&](const Tensor& t) { return jvp(map, t, one).second; };
  const auto [d1, d2] = jvp(slope, at, one);
  BoundedModel out{x, Numbers(x.size(), 1.0), Numbers(x.size(), 0.0)};
  const auto put = [](const Tensor& t, Numbers& into) {
    const auto v = t.to_vector();
    std::copy(v.begin(), v.end(), into.begin());
  };
  put(map(at), out.m);
  put(d1, out.first);
  put(d2, out.second);
  return out;
}

Numbers times_each(Numbers a, const Numbers& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] *= b[k];
  return a;
}

}  // namespace

ForwardMap with_bounds(ForwardMap forward, const Bounds& bounds, std::size_t n_bounded) {
  if (!(bounds.upper > bounds.lower) || n_bounded > forward.n_parameters)
    throw Error("[with_bounds] needs lower < upper, and no more bounded parameters than there are");
  const auto f = std::make_shared<const ForwardMap>(std::move(forward));
  const auto at = [f, bounds, n_bounded](const Numbers& x) {
    if (x.size() != f->n_parameters) throw Error("[with_bounds] the model has another length");
    return bounded_model(x, bounds, n_bounded);
  };
  ForwardMap out{.n_parameters = f->n_parameters, .n_data = f->n_data};
  out.predict = [f, at](const Numbers& x) { return f->predict(at(x).m); };
  if (f->jacobian)
    out.jacobian = [f, at](const Numbers& x) {
      const BoundedModel b = at(x);
      Matrix j = f->jacobian(b.m);
      for (std::size_t c = 0; c < j.cols; ++c)
        for (std::size_t i = 0; i < j.rows; ++i) j(i, c) *= b.first[c];
      return j;
    };
  out.linearize = [f, at](const Numbers& x) {
    const BoundedModel b = at(x);
    const LinearMap j = linearized(*f, b.m);
    LinearMap r{.rows = f->n_data, .cols = f->n_parameters};
    r.times = [j, b](const Numbers& v) { return j.times(times_each(v, b.first)); };
    r.transposed_times = [j, b](const Numbers& y) {
      return times_each(j.transposed_times(y), b.first);
    };
    return r;
  };
  if (f->hessian || f->curvature)
    out.curvature = [f, at](const Numbers& x, const Numbers& y) {
      const BoundedModel b = at(x);
      const LinearMap c = curvature(*f, b.m, y);
      const Numbers bend = times_each(linearized(*f, b.m).transposed_times(y), b.second);
      LinearMap r{.rows = x.size(), .cols = x.size()};
      r.times = [c, b, bend](const Numbers& v) {
        Numbers h = times_each(c.times(times_each(v, b.first)), b.first);
        for (std::size_t k = 0; k < h.size(); ++k) h[k] += bend[k] * v[k];
        return h;
      };
      r.transposed_times = r.times;
      return r;
    };
  return out;
}

}  // namespace tessera::inversion
