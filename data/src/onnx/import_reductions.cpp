// SPDX-License-Identifier: Apache-2.0
//
// Operators over axes: sums, extremes, shares.
#include "onnx/program.h"
#include "tessera/autodiff/ops.h"

namespace tessera::data {
namespace {

using C = OnnxCall;
using Out = std::vector<Tensor>;

struct Over {
  Shape axes;
  bool keep = true, nothing = false;
};
/// Axes from an operand or an attribute; of none all, or nothing is done.
Over over(const C& c) {
  Over o;
  const int n = c.x().ndim();
  const std::vector<std::int64_t> axes = c.known_or(1, "axes");
  o.keep = c.integer("keepdims", 1) != 0;
  o.nothing = axes.empty() && c.integer("noop_with_empty_axes", 0) != 0;
  std::uint32_t chosen = axes.empty() ? ~0u : 0u;
  for (const std::int64_t a : axes) chosen |= 1u << c.axis(a, n);
  for (int d = 0; d < n; ++d)
    if (chosen >> d & 1) o.axes.push_back(d);
  return o;
}

/// after(reduction(before(x))); without axes to reduce, reduction is left out.
template <class Before, class Reduce, class After>
Out reduced(const C& c, Before before, Reduce reduce, After after) {
  const Over o = over(c);
  const Tensor x = before(c.x());
  if (o.nothing) return {c.x()};
  return {after(o.axes.empty() ? x : reduce(x, o.axes, o.keep))};
}
constexpr auto same = [](const Tensor& x) { return x; };
constexpr auto add_up = [](const Tensor& x, const Shape& a, bool k) { return sum(x, a, k); };

Out reduce_sum(const C& c) { return reduced(c, same, add_up, same); }
Out reduce_mean(const C& c) {
  if (!is_float(c.x().dtype())) c.refuse("of " + to_string(c.x().type()));
  return reduced(
      c, same, [](const Tensor& x, const Shape& a, bool k) { return mean(x, a, k); }, same);
}
Out reduce_max(const C& c) {
  return reduced(
      c, same, [](const Tensor& x, const Shape& a, bool k) { return max(x, a, k); }, same);
}
Out reduce_min(const C& c) {
  return reduced(
      c, same, [](const Tensor& x, const Shape& a, bool k) { return min(x, a, k); }, same);
}
Out reduce_prod(const C& c) {
  return reduced(
      c, same, [](const Tensor& x, const Shape& a, bool k) { return prod(x, a, k); }, same);
}
Out reduce_l1(const C& c) {
  return reduced(
      c, [](const Tensor& x) { return abs(x); }, add_up, same);
}
Out reduce_l2(const C& c) {
  if (!is_float(c.x().dtype())) c.refuse("of " + to_string(c.x().type()));
  const Over o = over(c);
  if (o.nothing || o.axes.empty()) return {abs(c.x())};
  return {norm(c.x(), o.axes, o.keep)};
}
Out reduce_sum_square(const C& c) {
  return reduced(
      c, [](const Tensor& x) { return square(x); }, add_up, same);
}
Out reduce_log_sum(const C& c) {
  return reduced(c, same, add_up, [](const Tensor& x) { return log(x); });
}
Out reduce_log_sum_exp(const C& c) {
  return reduced(
      c, same, [](const Tensor& x, const Shape& a, bool k) { return logsumexp(x, a, k); }, same);
}

template <Tensor (*F)(Arg, int)>
Out place_of_extreme(const C& c) {
  const int a = c.axis(c.integer("axis", 0), c.x().ndim());
  const bool last = c.integer("select_last_index", 0) != 0;
  Tensor i = last ? c.x().dim(a) - 1 - F(reverse(c.x(), {a}), a) : F(c.x(), a);
  return {c.integer("keepdims", 1) ? expand_dims(i, a) : i};
}

/// f along one axis; before version 13 along all from it on, as if they were one.
template <class F>
Out along(const C& c, F f) {
  const Tensor& x = c.x();
  if (c.opset >= 13) return {f(x, c.axis(c.integer("axis", -1), x.ndim()))};
  const int a = static_cast<int>(c.integer("axis", 1));
  Index rows = 1;
  const int from = a == x.ndim() ? a : c.axis(a, x.ndim());
  for (int d = 0; d < from; ++d) rows *= x.dim(d);
  const Index columns = rows ? x.size() / rows : 1;
  return {reshape(f(reshape(x, {rows, columns}), 1), x.shape())};
}
Out softmax_of(const C& c) {
  return along(c, [](const Tensor& x, int a) { return softmax(x, a); });
}
Out log_softmax_of(const C& c) {
  return along(c, [](const Tensor& x, int a) { return log_softmax(x, a); });
}
Out hardmax(const C& c) {
  return along(c, [](const Tensor& x, int a) {
    return moveaxis(one_hot(argmax(x, a), x.dim(a), x.dtype()), -1, a);
  });
}

Out cumulative_sum(const C& c) {
  const std::vector<std::int64_t> axis = c.known(1);
  if (axis.size() != 1) c.malformed("it has " + std::to_string(axis.size()) + " axes, expected 1");
  const int a = c.axis(axis[0], c.x().ndim());
  const bool back = c.integer("reverse", 0) != 0;
  Tensor x = c.x();
  if (c.integer("exclusive", 0)) {  // a zero ahead in place of the last element
    Shape low = Shape::filled(x.ndim(), 0), high = low;
    (back ? high : low)[a] = 1;
    const Index from = back ? 1 : 0;
    x = slice(pad(x, low, high), a, from, from + c.x().dim(a));
  }
  return {cumsum(x, a, back)};
}

Out mean_variance(const C& c) {
  std::vector<std::int64_t> axes = c.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  Shape a;
  for (const std::int64_t d : axes) a.push_back(c.axis(d, c.x().ndim()));
  const Tensor centred = c.x() - mean(c.x(), a, true);
  return {centred / (sqrt(mean(square(centred), a, true)) + 1e-9)};
}

}  // namespace

void add_reduction_rules(OnnxRules& r) {
  constexpr const char* how = "axes keepdims noop_with_empty_axes";
  r["ReduceSum"] = {reduce_sum, how, 1, 2};
  r["ReduceMean"] = {reduce_mean, how, 1, 2};
  r["ReduceMax"] = {reduce_max, how, 1, 2};
  r["ReduceMin"] = {reduce_min, how, 1, 2};
  r["ReduceProd"] = {reduce_prod, how, 1, 2};
  r["ReduceL1"] = {reduce_l1, how, 1, 2};
  r["ReduceL2"] = {reduce_l2, how, 1, 2};
  r["ReduceSumSquare"] = {reduce_sum_square, how, 1, 2};
  r["ReduceLogSum"] = {reduce_log_sum, how, 1, 2};
  r["ReduceLogSumExp"] = {reduce_log_sum_exp, how, 1, 2};
  r["ArgMax"] = {place_of_extreme<argmax>, "axis keepdims select_last_index"};
  r["ArgMin"] = {place_of_extreme<argmin>, "axis keepdims select_last_index"};
  r["Softmax"] = {softmax_of, "axis"};
  r["LogSoftmax"] = {log_softmax_of, "axis"};
  r["Hardmax"] = {hardmax, "axis"};
  r["CumSum"] = {cumulative_sum, "exclusive reverse", 2, 2};
  r["MeanVarianceNormalization"] = {mean_variance, "axes"};
}

}  // namespace tessera::data
