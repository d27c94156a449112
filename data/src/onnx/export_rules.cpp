// SPDX-License-Identifier: Apache-2.0
//
// The rules. Operators: github.com/onnx/onnx/blob/main/docs/Operators.md, of opset 17.
#include "onnx/exporter.h"
#include "tessera/autodiff/kernel.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::data {
namespace {

using X = OnnxExporter;
using Rule = void (*)(X&);

void plain(X& x, const char* op) { x.result(x.node(op, x.repeating_operands())); }

/// One operator of the same operands, each element by itself.
const std::map<std::string_view, const char*> kSame = {
    {"add", "Add"},           {"sub", "Sub"},     {"mul", "Mul"},
    {"div", "Div"},           {"neg", "Neg"},     {"abs", "Abs"},
    {"sign", "Sign"},         {"sqrt", "Sqrt"},   {"length", "Sqrt"},
    {"exp", "Exp"},           {"log", "Log"},     {"sin", "Sin"},
    {"cos", "Cos"},           {"tan", "Tan"},     {"asin", "Asin"},
    {"acos", "Acos"},         {"atan", "Atan"},   {"sinh", "Sinh"},
    {"cosh", "Cosh"},         {"tanh", "Tanh"},   {"asinh", "Asinh"},
    {"acosh", "Acosh"},       {"atanh", "Atanh"}, {"logistic", "Sigmoid"},
    {"softplus", "Softplus"}, {"erf", "Erf"},     {"floor", "Floor"},
    {"ceil", "Ceil"},         {"round", "Round"}, {"pow", "Pow"},
    {"maximum", "Max"},       {"minimum", "Min"}, {"select", "Where"},
    {"equal", "Equal"},       {"less", "Less"},   {"less_equal", "LessOrEqual"}};

/// Of truth values alone.
const std::map<std::string_view, const char*> kLogic = {
    {"and", "And"}, {"or", "Or"}, {"xor", "Xor"}, {"not", "Not"}};

std::string cast_to(X& x, const std::string& v, Dtype to) {
  return x.node("Cast", {v}, {attribute("to", onnx_type_of(to))});
}
std::string one_minus(X& x, const std::string& v) {
  return x.node("Sub", {x.number(1, x.result().dtype), v});
}

void not_equal(X& x) { x.result(x.node("Not", {x.node("Equal", x.repeating_operands())})); }
void rsqrt(X& x) { x.result(x.node("Reciprocal", {x.node("Sqrt", {x.operand(0)})})); }
void cbrt(X& x) {
  const std::string v = x.operand(0);
  const std::string root = x.node("Pow", {x.node("Abs", {v}), x.number(1.0 / 3, x.result().dtype)});
  x.result(x.node("Mul", {x.node("Sign", {v}), root}));
}
// ONNX has no functions for small differences from 1: their relative accuracy is lost near 0.
void expm1(X& x) {
  x.result(x.node("Sub", {x.node("Exp", {x.operand(0)}), x.number(1, x.result().dtype)}));
}
void log1p(X& x) {
  x.result(x.node("Log", {x.node("Add", {x.operand(0), x.number(1, x.result().dtype)})}));
}
void erfc(X& x) { x.result(one_minus(x, x.node("Erf", {x.operand(0)}))); }
void sech2(X& x) {
  const std::string t = x.node("Tanh", {x.operand(0)});
  x.result(one_minus(x, x.node("Mul", {t, t})));
}
void pow_int(X& x) {
  const Index n = x.r.number(x.equation, "n");
  x.result(x.node("Pow", {x.operand(0), x.number(static_cast<double>(n), x.result().dtype)}));
}
void rem(X& x) { x.result(x.node("Mod", x.repeating_operands(), {attribute("fmod", 1)})); }
void is_finite(X& x) {
  const std::string v = x.operand(0);
  x.result(x.node("Not", {x.node("Or", {x.node("IsInf", {v}), x.node("IsNaN", {v})})}));
}
void identity(X& x) { x.result(x.operand(0)); }
void cast(X& x) { x.result(cast_to(x, x.operand(0), x.result().dtype)); }

void reshape(X& x) { x.result(x.reshaped(x.operand(0), x.result_shape())); }
void transpose(X& x) {
  x.result(x.node("Transpose", {x.operand(0)},
                  {attribute("perm", x.r.numbers(x.equation, "permutation"))}));
}
void broadcast(X& x) {
  const std::vector<Index> dims = x.r.numbers(x.equation, "dims");
  BatchShape narrow(x.result_shape().size(), {1, 0});
  for (std::size_t k = 0; k < dims.size(); ++k)
    narrow[static_cast<std::size_t>(dims[k])] = x.shape(0)[k];
  const std::string v = narrow == x.shape(0) ? x.operand(0) : x.reshaped(x.operand(0), narrow);
  if (narrow == x.result_shape())
    x.result(v);
  else
    x.name_narrow(x.e().out_begin, v, std::move(narrow));
}
void slice(X& x) {
  const BatchShape start = x.r.sizes(x.equation, "start"), stop = x.r.sizes(x.equation, "stop");
  const std::vector<Index> step = x.r.numbers(x.equation, "step");
  BatchShape starts, stops;
  std::vector<Index> axes, steps;
  for (std::size_t d = 0; d < step.size(); ++d) {
    if (start[d] == BatchSize{} && stop[d] == x.shape(0)[d] && step[d] == 1) continue;
    starts.push_back(start[d]), stops.push_back(stop[d]);
    axes.push_back(static_cast<Index>(d)), steps.push_back(step[d]);
  }
  if (axes.empty()) return identity(x);
  x.result(x.node("Slice", {x.operand(0), x.lengths(starts), x.lengths(stops), x.numbers(axes),
                            x.numbers(steps)}));
}
std::string reversed(X& x, const std::string& v, const std::vector<Index>& axes) {
  if (axes.empty()) return v;
  const std::vector<Index> back(axes.size(), -1),
      end(axes.size(), std::numeric_limits<Index>::min() + 1);
  return x.node("Slice", {v, x.numbers(back), x.numbers(end), x.numbers(axes), x.numbers(back)});
}
void reverse(X& x) { x.result(reversed(x, x.operand(0), x.r.numbers(x.equation, "axes"))); }
void pad(X& x) {
  BatchShape pads = x.r.sizes(x.equation, "low");
  for (const BatchSize& n : x.r.sizes(x.equation, "high")) pads.push_back(n);
  for (const Index n : x.r.numbers(x.equation, "interior"))
    if (n != 0) x.refuse("ONNX pads around an axis, not between its elements");
  x.result(x.node("Pad", {x.operand(0), x.lengths(pads), x.operand(1)}));
}
void concatenate(X& x) {
  X::Names all;
  for (std::size_t k = 0; k < x.e().in_count; ++k) all.push_back(x.operand(k));
  x.result(x.node("Concat", all, {attribute("axis", x.r.number(x.equation, "axis"))}));
}

/// It repeats axes before those of the matrices alone.
void matmul(X& x) { x.result(x.node("MatMul", x.repeating_operands(2))); }
void reduce_sum(X& x) {
  const std::vector<Index> axes = x.r.numbers(x.equation, "axes");
  x.result(axes.empty()
               ? x.operand(0)
               : x.node("ReduceSum", {x.operand(0), x.numbers(axes)}, {attribute("keepdims", 0)}));
}
void sum_product(X& x) {
  const std::string product = x.node("Mul", {x.operand(0), x.operand(1)});
  x.result(x.node("ReduceSum", {product, x.numbers(x.r.numbers(x.equation, "axes"))},
                  {attribute("keepdims", 0)}));
}
void extreme(X& x, const char* op) {
  const std::vector<Index> axes = x.r.numbers(x.equation, "axes");
  if (axes.empty()) return identity(x);
  const bool truth = x.result().dtype == Dtype::boolean;
  const std::string v = truth ? cast_to(x, x.operand(0), Dtype::i32) : x.operand(0);
  const std::string y = x.node(op, {v}, {attribute("axes", axes), attribute("keepdims", 0)});
  x.result(truth ? cast_to(x, y, Dtype::boolean) : y);
}
void reduce_max(X& x) { extreme(x, "ReduceMax"); }
void reduce_min(X& x) { extreme(x, "ReduceMin"); }
void place_of_extreme(X& x, const char* op) {
  x.result(x.node(op, {x.operand(0)}, {attribute("axis", -1), attribute("keepdims", 0)}));
}
void argmax(X& x) { place_of_extreme(x, "ArgMax"); }
void argmin(X& x) { place_of_extreme(x, "ArgMin"); }
void cumsum(X& x) {
  const std::int64_t back = x.r.flag(x.equation, "reverse");
  x.result(x.node("CumSum",
                  {x.operand(0), x.constant(scalar(x.result().shape.size() - 1, Dtype::i64))},
                  {attribute("reverse", back)}));
}
void gather(X& x) {
  const Index batch = x.r.number(x.equation, "batch_dims");
  if (batch == 0) {
    x.result(x.node("Gather", {x.operand(0), x.operand(1)}, {attribute("axis", 0)}));
    return;
  }
  // Rows of each sample by its own numbers [B..., K..., 1].
  BatchShape places = x.shape(1);
  places.push_back({1, 0});
  const std::string i = cast_to(x, x.reshaped(x.operand(1), places), Dtype::i64);
  x.result(x.node("GatherND", {x.operand(0), i}, {attribute("batch_dims", batch)}));
}

/// [0, 1, ..., n): channels of [.., n_1, ..., n_d, c] before their axes, or back.
std::vector<Index> channels_first(Index d) {
  std::vector<Index> perm = {0, d + 1};
  for (Index k = 1; k <= d; ++k) perm.push_back(k);
  return perm;
}
std::vector<Index> channels_last(Index d) {
  std::vector<Index> perm = {0};
  for (Index k = 2; k <= d + 1; ++k) perm.push_back(k);
  perm.push_back(1);
  return perm;
}
Index at(const std::vector<Index>& v, std::size_t k, Index otherwise) {
  return v.empty() ? otherwise : v[k];
}

// y[o] = sum x[i] w[j], e i = s o + d j - low along each axis.
void convolution(X& x) {
  if (x.r.number(x.equation, "result") != 0)
    x.refuse("it is part of a derivative of a convolution, which ONNX does not have");
  const std::vector<Index> size = x.r.numbers(x.equation, "size"),
                           s = x.r.numbers(x.equation, "stride"),
                           low = x.r.numbers(x.equation, "low"),
                           d = x.r.numbers(x.equation, "dilation"),
                           e = x.r.numbers(x.equation, "input_dilation");
  const Index groups = x.r.number(x.equation, "groups"), axes = static_cast<Index>(size.size());
  const BatchShape &in = x.shape(0), &window = x.shape(1);
  if (in[0] != BatchSize{1, 0}) x.refuse("several convolutions side by side (vmap over weights)");
  const Shape w = x.type(1).shape;
  std::vector<Index> strides, dilations, before, after, more, kernel;
  const bool up = std::ranges::any_of(e, [](Index k) { return k != 1; });
  for (int k = 0; k < axes; ++k) {
    const std::size_t a = static_cast<std::size_t>(k);
    const BatchSize n = in[a + 2];
    if (n.batches) throw DependsOnBatch{place_of(x.e())};
    const Index l = at(low, a, 0), dilation = at(d, a, 1), stride = at(s, a, 1),
                apart = at(e, a, 1), reach = dilation * (w[k + 1] - 1);
    kernel.push_back(w[k + 1]), dilations.push_back(dilation);
    if (up) {
      // o = e i + d j - begin with the window turned around; what is behind is cut or added.
      if (stride != 1) x.refuse("ONNX has no convolution with strides on both sides");
      const Index begin = reach - l, end = apart * (n.value - 1) + reach + 1 - begin - size[a];
      if (begin < 0) x.refuse("a transposed convolution with a border of its own");
      strides.push_back(apart), before.push_back(begin), after.push_back(std::max<Index>(end, 0));
      more.push_back(std::max<Index>(-end, 0));
    } else {
      strides.push_back(stride), before.push_back(l);
      after.push_back(stride * (size[a] - 1) + reach + 1 - n.value - l);
    }
  }
  // [1, B, n..., c] -> [B, c, n...]; where borders cut off, slices before.
  BatchShape sample(in.begin() + 1, in.end());
  std::string v = x.reshaped(x.operand(0), sample);
  if (!up) {
    BatchShape starts, stops;
    std::vector<Index> cut;
    for (int k = 0; k < axes; ++k) {
      const std::size_t a = static_cast<std::size_t>(k);
      if (before[a] >= 0 && after[a] >= 0) continue;
      cut.push_back(k + 1);
      starts.push_back({std::max<Index>(-before[a], 0), 0});
      stops.push_back({sample[a + 1].value - std::max<Index>(-after[a], 0), 0});
      before[a] = std::max<Index>(before[a], 0), after[a] = std::max<Index>(after[a], 0);
    }
    if (!cut.empty()) v = x.node("Slice", {v, x.lengths(starts), x.lengths(stops), x.numbers(cut)});
  }
  v = x.node("Transpose", {v}, {attribute("perm", channels_first(axes))});
  // [1, k..., in / g, out] -> [out, in / g, k...], of transposed ones [in, out / g, k...].
  BatchShape flat(window.begin() + 1, window.end());
  std::string weights = x.reshaped(x.operand(1), flat);
  const Index of_group = w[static_cast<int>(axes) + 1], out = w.back();
  std::vector<Index> perm;
  if (!up) {
    perm = {axes + 1, axes};
    for (Index k = 0; k < axes; ++k) perm.push_back(k);
    weights = x.node("Transpose", {weights}, {attribute("perm", perm)});
  } else {
    std::vector<Index> turned(static_cast<std::size_t>(axes));
    std::iota(turned.begin(), turned.end(), Index{0});
    weights = reversed(x, weights, turned);
    BatchShape by_group(flat.begin(), flat.end() - 1), joined;
    by_group.push_back({groups, 0}), by_group.push_back({out / groups, 0});
    perm = {axes + 1, axes, axes + 2};
    joined = {{groups * of_group, 0}, {out / groups, 0}};
    for (Index k = 0; k < axes; ++k)
      perm.push_back(k), joined.push_back(flat[static_cast<std::size_t>(k)]);
    weights = x.node("Transpose", {x.reshaped(weights, by_group)}, {attribute("perm", perm)});
    weights = x.reshaped(weights, joined);
  }
  std::vector<Index> pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  std::vector<OnnxAttribute> how = {attribute("strides", strides),
                                    attribute("dilations", dilations), attribute("pads", pads),
                                    attribute("kernel_shape", kernel), attribute("group", groups)};
  if (up) how.push_back(attribute("output_padding", more));
  const std::string y = x.node(up ? "ConvTranspose" : "Conv", {v, weights}, how);
  x.result(x.reshaped(x.node("Transpose", {y}, {attribute("perm", channels_last(axes))}),
                      x.result_shape()));
}

/// [.., a, b] with the axes a and b, counted from the end, for each other.
std::string swapped(X& x, const std::string& v, int axes, int a, int b) {
  std::vector<Index> perm(static_cast<std::size_t>(axes));
  std::iota(perm.begin(), perm.end(), Index{0});
  std::swap(perm[static_cast<std::size_t>(axes - a)], perm[static_cast<std::size_t>(axes - b)]);
  return x.node("Transpose", {v}, {attribute("perm", perm)});
}
// softmax(q k^T / sqrt(d)) v by its scores; a query that sees nothing gives 0.
void attention(X& x) {
  const Shape q = x.type(0).shape, k = x.type(1).shape;
  const int axes = q.size();
  const Dtype type = x.type(0).dtype;
  const bool causal = x.r.flag(x.equation, "causal"), masked = x.r.flag(x.equation, "masked");
  const BatchSize n = x.shape(0)[static_cast<std::size_t>(axes) - 3],
                  m = x.shape(1)[static_cast<std::size_t>(axes) - 3];
  if (causal && (n.batches || m.batches)) throw DependsOnBatch{place_of(x.e())};
  const double scale = 1 / std::sqrt(static_cast<double>(q.back()));
  const std::string queries =
      x.node("Mul", {swapped(x, x.operand(0), axes, 3, 2), x.number(scale, type)});
  // [.., m, h, d] -> [.., h, d, m]
  const std::string keys = swapped(x, swapped(x, x.operand(1), axes, 3, 2), axes, 2, 1);
  std::string s = x.node("MatMul", {queries, keys});
  const std::string never = x.number(-std::numeric_limits<double>::infinity(), type);
  if (masked) s = x.node("Where", {x.operand(x.e().in_count - 1), s, never});
  if (causal) {
    std::vector<double> seen;
    for (Index i = 0; i < n.value; ++i)
      for (Index j = 0; j < m.value; ++j) seen.push_back(j <= i + m.value - n.value);
    s = x.node(
        "Where",
        {x.constant(tessera::cast(tensor(seen, {n.value, m.value}), Dtype::boolean)), s, never});
  }
  std::string shares;
  if (!masked && m.value >= n.value && k[axes - 3] > 0) {
    shares = x.node("Softmax", {s}, {attribute("axis", -1)});
  } else {
    const std::string largest =
        x.node("ReduceMax", {s}, {attribute("axes", std::vector<Index>{-1})});
    const std::string shift =
        x.node("Where", {x.node("Equal", {largest, never}), x.number(0, type), largest});
    const std::string e = x.node("Exp", {x.node("Sub", {s, shift})});
    const std::string total = x.node("ReduceSum", {e, x.numbers({-1})});
    shares = x.node("Div", {e, x.node("Where", {x.node("Equal", {total, x.number(0, type)}),
                                                x.number(1, type), total})});
  }
  const std::string values = swapped(x, x.operand(2), axes, 3, 2);
  x.result(swapped(x, x.node("MatMul", {shares, values}), axes, 3, 2));
}

/// Several axes as one.
BatchSize product(const BatchShape& s, std::size_t from, std::size_t to) {
  BatchSize p{1, 0};
  for (std::size_t d = from; d < to; ++d) {
    if (p.batches && s[d].batches) throw DependsOnBatch{"a product of lengths"};
    p.batches = s[d].batches ? p.value * s[d].batches : p.batches * s[d].value;
    p.value *= s[d].value;
  }
  return p;
}
/// Places by themselves ONNX has in another form; with what they pick they are a pool.
void window_place(X&) {}
// x [B..., n_1, ..., n_k, C...] picked at the places of extremes of windows.
void window_pick(X& x) {
  const std::optional<std::size_t> place = x.made_by(1);
  const std::string_view found =
      place ? x.r.first().equations[*place].primitive->name : std::string_view();
  const bool largest = found == "window_argmax";
  if ((!largest && found != "window_argmin") ||
      x.r.first().in(x.r.first().equations[*place])[0] != x.in(0))
    x.refuse("ONNX has windows with their largest elements alone");
  const std::vector<Index> size = x.r.numbers(x.equation, "size"),
                           stride = x.r.numbers(x.equation, "stride"),
                           high = x.r.numbers(x.equation, "high"),
                           dilation = x.r.numbers(x.equation, "dilation");
  std::vector<Index> pads = x.r.numbers(x.equation, "low");
  pads.insert(pads.end(), high.begin(), high.end());
  const std::size_t axes = size.size(), all = x.shape(0).size(),
                    trailing = static_cast<std::size_t>(x.r.number(x.equation, "trailing")),
                    first = all - trailing - axes;
  const auto flat = [&](const BatchShape& s) {
    BatchShape to{product(s, 0, first)};
    to.insert(to.end(), s.begin() + static_cast<std::ptrdiff_t>(first),
              s.end() - static_cast<std::ptrdiff_t>(trailing));
    to.push_back(product(s, all - trailing, all));
    return to;
  };
  const Index d = static_cast<Index>(axes);
  std::string v = x.node("Transpose", {x.reshaped(x.operand(0), flat(x.shape(0)))},
                         {attribute("perm", channels_first(d))});
  if (!largest) v = x.node("Neg", {v});
  v = x.node("MaxPool", {v},
             {attribute("kernel_shape", size), attribute("strides", stride),
              attribute("pads", pads), attribute("dilations", dilation)});
  if (!largest) v = x.node("Neg", {v});
  x.result(x.reshaped(x.node("Transpose", {v}, {attribute("perm", channels_last(d))}),
                      x.result_shape()));
}

const std::map<std::string_view, Rule> kRules = {{"not_equal", not_equal},
                                                 {"rsqrt", rsqrt},
                                                 {"cbrt", cbrt},
                                                 {"expm1", expm1},
                                                 {"log1p", log1p},
                                                 {"erfc", erfc},
                                                 {"sech2", sech2},
                                                 {"pow_int", pow_int},
                                                 {"rem", rem},
                                                 {"is_finite", is_finite},
                                                 {"stop_gradient", identity},
                                                 {"copy", identity},
                                                 {"barrier", identity},
                                                 {"check", identity},
                                                 {"cast", cast},
                                                 {"reshape", reshape},
                                                 {"transpose", transpose},
                                                 {"broadcast", broadcast},
                                                 {"slice", slice},
                                                 {"reverse", reverse},
                                                 {"pad", pad},
                                                 {"concatenate", concatenate},
                                                 {"reduce_sum", reduce_sum},
                                                 {"matmul", matmul},
                                                 {"sum_product", sum_product},
                                                 {"reduce_max", reduce_max},
                                                 {"reduce_min", reduce_min},
                                                 {"argmax", argmax},
                                                 {"argmin", argmin},
                                                 {"cumsum", cumsum},
                                                 {"gather", gather},
                                                 {"convolution", convolution},
                                                 {"attention", attention},
                                                 {"window_argmax", window_place},
                                                 {"window_argmin", window_place},
                                                 {"window_pick", window_pick}};

}  // namespace

void export_equation(OnnxExporter& x) {
  const std::string_view name = x.e().primitive->name;
  for (std::size_t k = 0; k < x.e().in_count; ++k)
    if (contains(kComplex, x.type(k).dtype)) x.refuse("networks in ONNX have no complex numbers");
  if (const auto same = kSame.find(name); same != kSame.end()) return plain(x, same->second);
  if (const auto logic = kLogic.find(name); logic != kLogic.end()) {
    if (x.result().dtype != Dtype::boolean) x.refuse("ONNX has no logic of the bits of integers");
    return plain(x, logic->second);
  }
  const auto rule = kRules.find(name);
  if (rule == kRules.end()) x.refuse("ONNX has no such operator");
  rule->second(x);
}

}  // namespace tessera::data
