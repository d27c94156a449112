// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/jet.h"

#include "../base/context.h"
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "expansion.h"
#include "linear.h"
#include "tessera/autodiff/ops.h"

#include <cmath>
#include <map>
#include <numeric>

namespace tessera::detail {

std::vector<std::vector<Tensor>> jet_flat(const FlatFunction& f,
                                          const std::vector<std::vector<Tensor>>& coefficients,
                                          int order) {
  const std::vector<Tensor>& x = coefficients[0];
  std::vector<Series> in(x.size());
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    if (coefficients[k].size() != x.size())
      fail("jet", "coefficient " + std::to_string(k) + " has " +
                      std::to_string(coefficients[k].size()) + " tensors, the point has " +
                      std::to_string(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Tensor& c = coefficients[k][i];
      if (k > 0 && c.defined() && c.type() != x[i].type())
        fail("jet", "coefficient " + std::to_string(k) + " of a " + to_string(x[i].type()) +
                        " is a " + to_string(c.type()));
      if (static_cast<int>(k) <= order)
        in[i].push_back({k == 0 || is_inexact(x[i].dtype()) ? c : Tensor()});
    }
  }
  const Recording r = record_live("jet", f, x);
  InTransform scope("jet");
  const std::vector<Series> y = jet_graph({.order = order}, r.graph, in, r.values);
  std::vector<std::vector<Tensor>> out(static_cast<std::size_t>(order) + 1);
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k].push_back(k < y[i].size() && y[i][k].value.defined()
                           ? y[i][k].value
                           : zeros_of(r.graph.types[r.graph.outputs[i]]));
  return out;
}

Collapsed collapsed_flat(const FlatFunction& f, const std::vector<Tensor>& x,
                         const std::vector<Tensor>& directions, int order, const Tensor& weights) {
  if (order < 1)
    fail("directional_sum", "the order must be positive, got " + std::to_string(order));
  Index m = -1;
  for (const Tensor& d : directions)
    if (d.defined() && d.ndim() > 0 && m < 0) m = d.dim(0);
  if (m < 0) fail("directional_sum", "needs directions with a leading axis");
  for (std::size_t i = 0; i < x.size(); ++i) {
    Type want = x[i].type();
    want.shape.insert(0, m);
    if (directions[i].defined() && directions[i].type() != want)
      fail("directional_sum", "the directions of a " + to_string(x[i].type()) + " are a " +
                                  to_string(directions[i].type()) + ", want " + to_string(want));
  }
  if (weights.defined() && weights.shape() != Shape{m})
    fail("directional_sum", "needs one weight for each of " + std::to_string(m) +
                                " directions, got " + to_string(weights.type()));
  const Curves curves{order, m, weights};
  const Recording r = record_live("jet", f, x);
  InTransform scope("jet");
  std::vector<Series> in;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Series s{{x[i]}, {}};
    // At order 1 the direction itself is the last coefficient.
    if (directions[i].defined())
      s[1] = order == 1 ? Coefficient{sum_over_directions(curves, directions[i])}
                        : Coefficient{directions[i], true};
    in.push_back(std::move(s));
  }
  const std::vector<Series> y = jet_graph(curves, r.graph, in, r.values);
  Collapsed out;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t k = static_cast<std::size_t>(order);
    out.values.push_back(r.values[r.graph.outputs[i]]);
    const Type& type = r.graph.types[r.graph.outputs[i]];
    out.sums.push_back(k < y[i].size() && y[i][k].value.defined() ? y[i][k].value : zeros_of(type));
    if (order < 2) continue;
    const bool moves = y[i].size() > 1 && y[i][1].value.defined();
    out.first.push_back(
        with_batch(moves ? y[i][1].value : zeros_of(type), moves && y[i][1].batched, m));
  }
  return out;
}

namespace {

void need_points(const char* op, const Tensor& x) {
  if (!is_inexact(x.dtype()))
    fail(op,
         "no derivative with respect to a " + to_string(x.type()) + "; cast it to a floating type");
  if (x.ndim() == 0)
    fail(op,
         "takes points with their coordinates on the last axis, got a scalar; reshape it to {1}");
}

/// Directions with weights. Those along one line are one: of coprime whole numbers, the first of
/// them positive. Their components are multiples of 1/2.
class Directions {
 public:
  explicit Directions(int order) : order_(order) {}
  void add(std::vector<double> v, double weight) {
    long divisor = 0, first = 0;
    for (double d : v) {
      const long whole = std::lround(2 * d);
      divisor = std::gcd(divisor, whole);
      if (first == 0) first = whole;
    }
    if (first == 0) return;
    const double length = (first > 0 ? 0.5 : -0.5) * static_cast<double>(divisor);
    for (double& d : v) d /= length;
    weights_[v] += weight * std::pow(length, order_);
  }
  /// Those with a weight: [m, n] and [m].
  std::pair<std::vector<double>, std::vector<double>> list() const {
    std::vector<double> v, w;
    for (const auto& [direction, weight] : weights_) {
      if (weight == 0) continue;
      v.insert(v.end(), direction.begin(), direction.end());
      w.push_back(weight);
    }
    return {v, w};
  }

 private:
  int order_;
  std::map<std::vector<double>, double> weights_;
};

/// prod_i d_i^a_i = sum_{k <= a} (-1)^|a - k| prod_i C(a_i, k_i) (1/|a|!) ((k - a/2) . d)^|a|.
void polarize(const PartialDerivative& term, std::size_t n, Directions& to) {
  std::vector<int> a = term.orders, k(n, 0);
  a.resize(n, 0);
  while (true) {
    std::vector<double> v(n);
    double weight = term.coefficient;
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = k[i] - a[i] / 2.0;
      double choose = (a[i] - k[i]) % 2 ? -1 : 1;
      for (int j = 0; j < k[i]; ++j) choose = choose * (a[i] - j) / (j + 1);
      weight *= choose;
    }
    to.add(v, weight);
    std::size_t i = 0;
    while (i < n && k[i] == a[i]) k[i++] = 0;
    if (i == n) return;
    ++k[i];
  }
}

/// [m, n] host numbers as directions of all points: [m, x.shape...].
Tensor spread(const std::vector<double>& v, Index m, const Tensor& x) {
  const Index n = x.dim(-1);
  Shape shape = x.shape(), dims{0, x.ndim()};
  shape.insert(0, m);
  return broadcast_in_dim(cast(tensor(v, Shape{m, n}), x.dtype()), shape, dims);
}

}  // namespace

Tensor coordinate_directions(const char* op, const Tensor& x) {
  need_points(op, x);
  Shape shape = x.shape(), dims{0, x.ndim()};
  shape.insert(0, x.dim(-1));
  return broadcast_in_dim(eye(x.dim(-1), x.dtype()), shape, dims);
}

std::vector<Tensor> laplacian_flat(const FlatFunction& f, const Tensor& x) {
  std::vector<Tensor> y =
      collapsed_flat(f, {x}, {coordinate_directions("laplacian", x)}, 2, {}).sums;
  for (Tensor& t : y) t = t * 2.0;
  return y;
}

// Over the 2^(n-1) diagonals s of a cube, sum_s (s . d)^4 = 2^(n-1) (sum_i d_i^4 + 6 sum_{i<j}
// d_i^2 d_j^2), and laplacian^2 = sum_i d_i^4 + 2 sum_{i<j} d_i^2 d_j^2 is a third of their mean
// and two thirds of the axes' sum.
std::vector<Tensor> biharmonic_flat(const FlatFunction& f, const Tensor& x) {
  need_points("biharmonic", x);
  const Index n = x.dim(-1);
  if (n > 3)
    return laplacian_flat([&](const std::vector<Tensor>& y) { return laplacian_flat(f, y[0]); }, x);
  const Index diagonals = Index(1) << std::max<Index>(n - 1, 0);
  Directions directions(4);
  for (Index s = 0; s < diagonals; ++s) {
    std::vector<double> v(static_cast<std::size_t>(n), 1);
    for (Index i = 1; i < n; ++i)
      if (s >> (i - 1) & 1) v[static_cast<std::size_t>(i)] = -1;
    directions.add(v, 1.0 / static_cast<double>(3 * diagonals));
  }
  for (Index i = 0; i < n; ++i) {
    std::vector<double> v(static_cast<std::size_t>(n), 0);
    v[static_cast<std::size_t>(i)] = 1;
    directions.add(v, 2.0 / 3);
  }
  const auto [v, w] = directions.list();
  const Index m = static_cast<Index>(w.size());
  std::vector<Tensor> y =
      collapsed_flat(f, {x}, {spread(v, m, x)}, 4, cast(tensor(w), x.dtype())).sums;
  for (Tensor& t : y) t = t * 24.0;
  return y;
}

std::vector<Tensor> operator_flat(const FlatFunction& f, const Tensor& x,
                                  const std::vector<PartialDerivative>& terms) {
  need_points("differential_operator", x);
  const std::size_t n = static_cast<std::size_t>(x.dim(-1));
  std::map<int, Directions> by_order;
  double constant = 0;
  for (const PartialDerivative& t : terms) {
    int order = 0;
    for (int a : t.orders) {
      if (a < 0) fail("differential_operator", "an order is negative: " + std::to_string(a));
      order += a;
    }
    if (t.orders.size() > n)
      fail("differential_operator", "a term names " + std::to_string(t.orders.size()) +
                                        " coordinates, the points have " + std::to_string(n));
    if (order == 0)
      constant += t.coefficient;
    else
      polarize(t, n, by_order.try_emplace(order, order).first->second);
  }
  std::vector<Tensor> total;
  const auto gather = [&](const std::vector<Tensor>& y, double scale) {
    total.resize(y.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      total[i] = add_tangents(total[i], scale == 1 ? y[i] : y[i] * scale);
  };
  for (const auto& [order, directions] : by_order) {
    const auto [v, w] = directions.list();
    if (w.empty()) continue;
    const Index m = static_cast<Index>(w.size());
    gather(collapsed_flat(f, {x}, {spread(v, m, x)}, order, tensor(w)).sums, 1);
  }
  if (constant != 0 || total.empty()) gather(f({x}), constant);
  return total;
}

Tensor columns_flat(const char* op, const FlatFunction& f, const Tensor& x) {
  const Linearized l = linearize_flat(op, f, {x});
  InTransform scope(op);
  if (l.values.size() != 1) fail(op, "the function must return one tensor");
  const Index n = x.dim(-1);
  const Tensor basis[] = {coordinate_directions(op, x)};
  Shape s = l.out_types[0].shape;
  s.insert(0, n);
  if (!l.out_live[0]) return zeros_of({l.out_types[0].dtype, s});
  std::vector<bool> batched;
  const std::vector<Tensor> y = batch_graph(*l.map, basis, {true}, n, batched);
  return with_batch(y[0], batched[0], n);
}

// First derivatives by pushing each unit vector through f, second ones by pushing it through all of
// that again. What they have in common (f, the first derivatives, the slopes of its functions) is
// said several times and shared by whoever records.
PointDerivatives derivatives_flat(const FlatFunction& f, const Tensor& x) {
  need_points("derivatives", x);
  const int n = static_cast<int>(x.dim(-1));
  std::vector<Tensor> unit;
  for (int i = 0; i < n; ++i)
    unit.push_back(broadcast_to(select(eye(n, x.dtype()), 0, i), x.shape()));
  const auto pushed = [](const Recording& r, const Tensor& direction) {
    std::vector<Tensor> t(r.graph.types.size()), out;
    t[r.graph.inputs[0]] = direction;
    push_tangents(r.graph, r.values, t);
    for (Graph::Id id : r.graph.outputs)
      out.push_back(t[id].defined() ? t[id] : zeros_of(r.graph.types[id]));
    return out;
  };
  const auto first = [&](const std::vector<Tensor>& in) {  // d_0 f, d_1 f, ..., f
    const Recording r = record_live("derivatives", f, in);
    if (r.graph.outputs.size() != 1) fail("derivatives", "the function must return one tensor");
    std::vector<Tensor> out;
    for (const Tensor& e : unit) out.push_back(pushed(r, e)[0]);
    out.push_back(r.values[r.graph.outputs[0]]);
    return out;
  };
  Recording r = record_live("derivatives", first, {&x, 1});
  const std::vector<Graph::Id> outputs = r.graph.outputs;
  std::vector<Tensor> d, second(static_cast<std::size_t>(n * (n + 1) / 2));
  for (int j = n - 1; j >= 0; --j) {
    r.graph.outputs.assign(outputs.begin(), outputs.begin() + j + 1);
    share_repeated_work(r.graph);
    const std::vector<Tensor> column = pushed(r, unit[static_cast<std::size_t>(j)]);
    for (int i = 0; i <= j; ++i)
      second[static_cast<std::size_t>(i * n - i * (i + 1) / 2 + j)] =
          column[static_cast<std::size_t>(i)];
  }
  for (int i = 0; i < n; ++i) d.push_back(r.values[outputs[static_cast<std::size_t>(i)]]);
  return {r.values[outputs.back()], stack(d), stack(second)};
}

Tensor random_directions(const Tensor& key, Index samples, const Tensor& x) {
  need_points("stochastic_laplacian", x);
  if (samples < 1)
    fail("stochastic_laplacian", "needs at least one sample, got " + std::to_string(samples));
  const Tensor signs = where(less(uniform(key, {samples, x.dim(-1)}), 0.5), -1.0, 1.0);
  Shape shape = x.shape(), dims{0, x.ndim()};
  shape.insert(0, samples);
  return broadcast_in_dim(cast(signs, x.dtype()), shape, dims);
}

}  // namespace tessera::detail
