// SPDX-License-Identifier: Apache-2.0
//
// Functions that bring their own derivative. The call is one equation that holds the function's
// graph; traced tensors that the function captures are further operands of it.
#include "../base/context.h"
#include "../core/cost.h"
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/copy.h"
#include "subgraph.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {
namespace {

/// The tangents of all results of a call from its inputs, results and input tangents.
using Rule = std::function<std::vector<Tensor>(
    const std::vector<Tensor>& x, const std::vector<Tensor>& y, const std::vector<Tensor>& t)>;

void run_graph(const Graph& g, Inputs in, Outputs out) {
  std::vector<Tensor> x;
  for (const View* v : in) x.push_back(contiguous_copy(*v));
  const std::vector<Tensor> y = evaluate(g, x);
  for (std::size_t k = 0; k < out.size(); ++k) kernels::copy(y[k].view(), *out[k]);
}

// ---- y = f(x) with a given jvp ----

struct Call {
  Graph body;
  Rule rule;
  std::size_t declared;  ///< operands the rule knows; the rest are captures
};
struct CallAttr {
  std::shared_ptr<const Call> call;
  TESSERA_ATTRIBUTES(call)
};

struct CustomCall : Hand<CustomCall> {
  static constexpr const char* name = "custom_call";
  static constexpr bool takes_strides = true;
  static constexpr None transpose{"its derivative is written by its own rule"};
  static Ordering order(const Attributes* a) {
    return order_of(tessera::get<CallAttr>(a).call->body);
  }
  static Types infer(std::span<const Type>, const Attributes* a) {
    return output_types(tessera::get<CallAttr>(a).call->body);
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      run_graph(tessera::get<CallAttr>(a).call->body, in, out);
    };
  }
  static Cost cost(TypeSpan, TypeSpan, const Attributes* a) {
    return cost_of(tessera::get<CallAttr>(a).call->body);
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const Call& c = *a.get<CallAttr>().call;
    for (std::size_t k = c.declared; k < t.size(); ++k)
      if (t[k].defined())
        fail(name,
             "a custom rule cannot give the derivative with respect to a value its function "
             "captures; pass that value as an argument");
    const std::vector<Tensor> x(a.in.begin(),
                                a.in.begin() + static_cast<std::ptrdiff_t>(c.declared)),
        y(a.out.begin(), a.out.end());
    std::vector<Tensor> tangents;
    for (std::size_t k = 0; k < c.declared; ++k)
      tangents.push_back(t[k].defined() ? t[k] : zeros_of(x[k].type()));
    const std::vector<Tensor> r = c.rule(x, y, tangents);
    if (r.size() != o.size())
      fail(name, "the rule gave " + std::to_string(r.size()) + " tangents for " +
                     std::to_string(o.size()) + " results");
    for (std::size_t k = 0; k < o.size(); ++k) {
      if (r[k].defined() && is_inexact(y[k].dtype()) && r[k].type() != y[k].type())
        fail(name, "the rule gave a " + to_string(r[k].type()) + " as the tangent of result " +
                       std::to_string(k) + ", a " + to_string(y[k].type()));
      o[k] = r[k];
    }
  }
  static void batch(const Application& a, std::span<const bool> batched, Index size,
                    std::span<Tensor> o) {
    const auto call = a.get<CallAttr>().call;
    const std::vector<bool> flags(batched.begin(), batched.end());
    auto wide = std::make_shared<Call>();
    wide->declared = call->declared;
    wide->body = batched_graph(call->body, types_of(a.in), flags, size);
    wide->rule = [call, flags, size](const std::vector<Tensor>& x, const std::vector<Tensor>& y,
                                     const std::vector<Tensor>& t) {
      std::vector<Tensor> all = x;
      std::vector<std::optional<int>> axes;
      for (std::size_t k = 0; k < x.size(); ++k)
        axes.push_back(flags[k] ? std::optional<int>(0) : std::nullopt);
      all.insert(all.end(), y.begin(), y.end());
      axes.insert(axes.end(), y.size(), std::optional<int>(0));
      for (std::size_t k = 0; k < t.size(); ++k) {
        all.push_back(t[k]);
        axes.push_back(flags[k] ? std::optional<int>(0) : std::nullopt);
      }
      const std::size_t nx = x.size(), ny = y.size();
      return vmap_flat(
          [&](const std::vector<Tensor>& v) {
            const auto at = [&](std::size_t n) {
              return v.begin() + static_cast<std::ptrdiff_t>(n);
            };
            return call->rule({at(0), at(nx)}, {at(nx), at(nx + ny)}, {at(nx + ny), v.end()});
          },
          all, axes, 0);
    };
    std::vector<const Tensor*> in;
    for (const Tensor& t : a.in) in.push_back(&t);
    dispatch(primitive<CustomCall>(), in, attributes(CallAttr{wide}), context_line(), o);
  }
};

std::vector<Tensor> call(const FlatFunction& f, const Rule& rule, const std::vector<Tensor>& x) {
  bool traced = false;
  for (const Tensor& t : x) traced |= t.is_traced();
  if (!traced) return f(x);
  Closed c = close(record_abstract("custom", f, types_of(x)).graph);
  auto attr = std::make_shared<Call>();
  attr->body = std::move(c.graph);
  attr->rule = rule;
  attr->declared = x.size();
  std::vector<const Tensor*> in;
  for (const Tensor& t : x) in.push_back(&t);
  for (const Tensor& t : c.captured) in.push_back(&t);
  std::vector<Tensor> out(attr->body.outputs.size());
  dispatch(primitive<CustomCall>(), in, attributes(CallAttr{std::move(attr)}), context_line(), out);
  return out;
}

// ---- a linear map and its adjoint ----

struct LinearMap {
  Graph forward, adjoint;  ///< inputs: the linear ones, then the captures of this graph
  std::size_t n_in, n_out;
  std::size_t forward_captures;  ///< the call's operands: linear inputs, forward's captures,
                                 ///< adjoint's captures
};
struct LinearAttr {
  std::shared_ptr<const LinearMap> map;
  TESSERA_ATTRIBUTES(map)
};

struct CustomLinear : Linear<CustomLinear> {
  static constexpr const char* name = "custom_linear";
  static constexpr bool takes_strides = true;
  static bool linear_in(std::size_t operand, const Attributes* a) {
    return operand < tessera::get<LinearAttr>(a).map->n_in;
  }
  static Ordering order(const Attributes* a) {
    return order_of(tessera::get<LinearAttr>(a).map->forward);
  }
  static Types infer(std::span<const Type>, const Attributes* a) {
    return output_types(tessera::get<LinearAttr>(a).map->forward);
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const LinearMap& m = *tessera::get<LinearAttr>(a).map;
      run_graph(m.forward, in.first(m.n_in + m.forward_captures), out);
    };
  }
  static Cost cost(TypeSpan, TypeSpan, const Attributes* a) {
    return cost_of(tessera::get<LinearAttr>(a).map->forward);
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    const LinearMap& m = *a.get<LinearAttr>().map;
    auto back = std::make_shared<LinearMap>(LinearMap{
        m.adjoint, m.forward, m.n_out, m.n_in, a.in_types.size() - m.n_in - m.forward_captures});
    std::vector<const Tensor*> in;
    for (const Tensor& t : ct) in.push_back(&t);
    for (std::size_t k = m.n_in + m.forward_captures; k < a.in.size(); ++k) in.push_back(&a.in[k]);
    for (std::size_t k = m.n_in; k < m.n_in + m.forward_captures; ++k) in.push_back(&a.in[k]);
    dispatch(primitive<CustomLinear>(), in, attributes(LinearAttr{back}), context_line(),
             o.first(m.n_in));
  }
  static void batch(const Application& a, std::span<const bool> batched, Index size,
                    std::span<Tensor> o) {
    const LinearMap& m = *a.get<LinearAttr>().map;
    std::vector<Tensor> in(a.in.begin(), a.in.end());
    std::vector<bool> flags(batched.begin(), batched.end());
    for (std::size_t k = 0; k < m.n_in; ++k) {
      in[k] = with_batch(in[k], flags[k], size);
      flags[k] = true;
    }
    const auto part = [&](std::size_t begin, std::size_t end, auto& from) {
      return std::decay_t<decltype(from)>(from.begin() + static_cast<std::ptrdiff_t>(begin),
                                          from.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const std::size_t f_end = m.n_in + m.forward_captures;
    const Types in_types = types_of(in);
    auto wide = std::make_shared<LinearMap>(m);
    wide->forward = batched_graph(m.forward, part(0, f_end, in_types), part(0, f_end, flags), size);
    Types back_types = output_types(wide->forward);
    std::vector<bool> back_flags(back_types.size(), true);
    for (std::size_t k = f_end; k < in.size(); ++k) {
      back_types.push_back(in_types[k]);
      back_flags.push_back(flags[k]);
    }
    wide->adjoint = batched_graph(m.adjoint, back_types, back_flags, size);
    std::vector<const Tensor*> operands;
    for (const Tensor& t : in) operands.push_back(&t);
    dispatch(primitive<CustomLinear>(), operands, attributes(LinearAttr{wide}), context_line(), o);
  }
};

TESSERA_REGISTER(CustomCall);
TESSERA_REGISTER(CustomLinear);

}  // namespace

const Graph* called_by(const Graph::Equation& e) {
  if (e.primitive == &primitive<CustomCall>())
    return &tessera::get<CallAttr>(e.attr.get()).call->body;
  if (e.primitive == &primitive<CustomLinear>())
    return &tessera::get<LinearAttr>(e.attr.get()).map->forward;
  return nullptr;
}

FlatFunction custom_jvp_flat(FlatFunction f, Rule rule) {
  return [f = std::move(f), rule = std::move(rule)](const std::vector<Tensor>& x) {
    return call(f, rule, x);
  };
}

FlatFunction custom_vjp_flat(
    FlatFunction forward, std::size_t n_out,
    std::function<std::vector<Tensor>(const std::vector<Tensor>&, const std::vector<Tensor>&)>
        backward) {
  // The tangent of the results is the transpose of `backward`, which is linear in the cotangents;
  // residuals have the derivative that `forward` gives them, so that the second derivative sees
  // them move.
  Rule rule = [forward, n_out, backward](const std::vector<Tensor>& x, const std::vector<Tensor>& y,
                                         const std::vector<Tensor>& t) {
    const std::vector<Tensor> residuals(y.begin() + static_cast<std::ptrdiff_t>(n_out), y.end());
    Types ct;
    for (std::size_t k = 0; k < n_out; ++k) ct.push_back(y[k].type());
    const Graph back =
        record_abstract(
            "custom_vjp",
            [&](const std::vector<Tensor>& c) {
              std::vector<Tensor> g = backward(residuals, c);
              if (g.size() != x.size())
                fail("custom_vjp", "backward gave " + std::to_string(g.size()) +
                                       " cotangents for " + std::to_string(x.size()) +
                                       " arguments");
              for (std::size_t k = 0; k < g.size(); ++k)
                if (is_inexact(x[k].dtype()) && (!g[k].defined() || g[k].type() != x[k].type()))
                  fail("custom_vjp", "backward gave " +
                                         (g[k].defined() ? "a " + to_string(g[k].type())
                                                         : std::string("nothing")) +
                                         " as the cotangent of argument " + std::to_string(k) +
                                         ", a " + to_string(x[k].type()));
              for (std::size_t k = 0; k < g.size(); ++k)
                if (!g[k].defined()) g[k] = zeros_of(x[k].type());
              return g;
            },
            ct)
            .graph;
    std::vector<Tensor> out = transpose_graph(back, t);
    bool moving = false;
    for (const Tensor& r : residuals) moving |= is_inexact(r.dtype());
    if (moving) {
      const auto only_residuals = [&](const std::vector<Tensor>& v) {
        std::vector<Tensor> r = forward(v);
        r.erase(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(n_out));
        return r;
      };
      const auto tangents = jvp_flat(only_residuals, x, t).second;
      out.insert(out.end(), tangents.begin(), tangents.end());
    } else {
      for (const Tensor& r : residuals) out.push_back(zeros_of(r.type()));
    }
    return out;
  };
  return
      [forward = std::move(forward), n_out, rule = std::move(rule)](const std::vector<Tensor>& x) {
        std::vector<Tensor> y = call(forward, rule, x);
        y.resize(n_out);
        return y;
      };
}

FlatFunction custom_linear_flat(FlatFunction f, FlatFunction transpose) {
  return [f = std::move(f), transpose = std::move(transpose)](const std::vector<Tensor>& x) {
    bool traced = false;
    for (const Tensor& t : x) traced |= t.is_traced();
    if (!traced) return f(x);
    Closed forward = close(record_abstract("custom_linear", f, types_of(x)).graph);
    Closed adjoint =
        close(record_abstract("custom_linear", transpose, output_types(forward.graph)).graph);
    if (output_types(adjoint.graph) != types_of(x))
      fail("custom_linear", "the transpose does not return what the function takes");
    auto map = std::make_shared<LinearMap>();
    map->n_in = x.size();
    map->n_out = forward.graph.outputs.size();
    map->forward_captures = forward.captured.size();
    map->forward = std::move(forward.graph);
    map->adjoint = std::move(adjoint.graph);
    std::vector<const Tensor*> in;
    for (const Tensor& t : x) in.push_back(&t);
    for (const Tensor& t : forward.captured) in.push_back(&t);
    for (const Tensor& t : adjoint.captured) in.push_back(&t);
    std::vector<Tensor> out(map->n_out);
    dispatch(primitive<CustomLinear>(), in, attributes(LinearAttr{std::move(map)}), context_line(),
             out);
    return out;
  };
}

}  // namespace tessera::detail
