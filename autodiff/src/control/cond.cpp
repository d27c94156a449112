// SPDX-License-Identifier: Apache-2.0
//
// The primitive `cond`: predicate, x -> then_f(x) or else_f(x). Its derivatives are conds of the
// branches' derivatives; with a predicate that differs between the elements of a batch each branch
// that some element takes runs once for all, on operands of elements that take it (Lender), and the
// results are chosen.
#include "../core/cost.h"
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "loops_internal.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::detail {
namespace {

struct Cond : Hand<Cond> {
  static constexpr const char* name = "cond";
  static constexpr bool runs_programs = true;
  static Ordering order(const Attributes* a) {
    return std::max(branches_of(a).then_f->order(), branches_of(a).else_f->order());
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Branches& b = branches_of(a);
    const Graph& g = b.then_f->graph();
    if (in.size() != g.inputs.size() + 1)
      fail(name, "takes " + std::to_string(g.inputs.size() + 1) + " operands, got " +
                     std::to_string(in.size()));
    for (std::size_t k = 0; k < g.inputs.size(); ++k)
      if (in[k + 1] != g.types[g.inputs[k]])
        fail(name, "operand " + std::to_string(k) + " is " + to_string(in[k + 1]) +
                       ", its branches take " + to_string(g.types[g.inputs[k]]));
    return output_types(g);
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const Branches& b = branches_of(a);
      const Body& taken = *static_cast<const bool*>(in[0]->data) ? *b.then_f : *b.else_f;
      std::vector<const std::byte*> from;
      std::vector<std::byte*> to;
      for (const View* v : in.subspan(1)) from.push_back(static_cast<const std::byte*>(v->data));
      for (const View* v : out) to.push_back(static_cast<std::byte*>(v->data));
      (*taken.program().start())(from.data(), to.data());
    };
  }
  /// The dearer branch's.
  static Cost cost(TypeSpan, TypeSpan, const Attributes* a) {
    const Cost t = cost_of(branches_of(a).then_f->graph()),
               e = cost_of(branches_of(a).else_f->graph());
    return {std::max(t.flops, e.flops), std::max(t.bytes, e.bytes),
            std::max(t.workspace, e.workspace)};
  }

  static Flags moved(const Flags& operands, const Attributes* a) {
    const Branches& b = branches_of(a);
    const Flags x(operands.begin() + 1, operands.end());
    Flags out(b.then_f->graph().outputs.size(), false);
    for (const BodyPtr& f : {b.then_f, b.else_f}) {
      const Flags v = reached(f->graph(), x, Follow::tangents);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = out[k] || v[f->graph().outputs[k]];
    }
    return out;
  }

  /// Tangents of the results, by the branch taken, from those of the operands behind the predicate.
  static std::vector<std::vector<Tensor>> push_forward(const Application& a,
                                                       const Tangents& tangents,
                                                       const std::vector<std::vector<Tensor>>& t) {
    const Branches& b = branches_of(a.attr.get());
    const std::size_t n = a.in.size() - 1;
    Flags operand = {false}, in;
    for (std::size_t k = 0; k < n; ++k) in.push_back(!t[k].empty());
    operand.insert(operand.end(), in.begin(), in.end());
    const Flags out = moved(operand, a.attr.get());
    std::vector<std::vector<Tensor>> result(out.size());
    if (std::find(out.begin(), out.end(), true) == out.end()) return result;
    Closed then_f = joint_graph(b.then_f->graph(), tangents, {{n}}, in, {{out.size(), false}}, out);
    Closed else_f = joint_graph(b.else_f->graph(), tangents, {{n}}, in, {{out.size(), false}}, out);
    std::vector<Tensor> operands(a.in.begin(), a.in.end());
    for (const std::vector<Tensor>& x : t) operands.insert(operands.end(), x.begin(), x.end());
    const std::vector<Tensor> y =
        apply_branches(std::move(then_f), std::move(else_f), operands, context_line());
    std::size_t next = 0;
    for (std::size_t k = 0; k < out.size(); ++k)
      for (std::size_t r = 0; out[k] && r < tangents.count; ++r) result[k].push_back(y[next++]);
    return result;
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    std::vector<std::vector<Tensor>> beside;
    for (const Tensor& x : t.subspan(1))
      beside.push_back(x.defined() ? std::vector<Tensor>{x} : std::vector<Tensor>{});
    const std::vector<std::vector<Tensor>> y = push_forward(a, first_tangents(), beside);
    for (std::size_t k = 0; k < o.size(); ++k)
      if (!y[k].empty()) o[k] = y[k][0];
  }
  static void jet(const Curves& curves, const Application& a, std::span<const Series> x,
                  std::span<Series> o) {
    std::vector<std::vector<Tensor>> beside;
    for (std::size_t k = 1; k < x.size(); ++k)
      beside.push_back(is_inexact(a.in_types[k].dtype) ? tangents_of(curves, x[k], a.in_types[k])
                                                       : std::vector<Tensor>{});
    const std::vector<std::vector<Tensor>> y = push_forward(a, taylor_tangents(curves), beside);
    for (std::size_t k = 0; k < o.size(); ++k) o[k] = series_of(curves, a.out[k], y[k]);
  }

  /// The cotangents of the linear operands, by the branch taken.
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    const Branches& b = branches_of(a.attr.get());
    const std::size_t n = a.in.size() - 1;
    const Flags in(linear.begin() + 1, linear.end());
    std::vector<Tensor> operands = {a.in[0]};
    Types types;
    for (std::size_t k = 0; k < n; ++k)
      if (!in[k]) {
        operands.push_back(a.in[k + 1]);
        types.push_back(a.in_types[k + 1]);
      }
    const std::size_t known = types.size();
    for (const Tensor& c : ct) {
      operands.push_back(c);
      types.push_back(c.type());
    }
    const auto turned = [&](const Graph& g) {
      const Flags v = reached(g, in, Follow::unknown);
      return close(record_branch(
                       "vjp",
                       [&](const std::vector<Tensor>& x) {
                         std::vector<Graph::Id> linear_in, known_in, out;
                         for (std::size_t k = 0; k < n; ++k)
                           (in[k] ? linear_in : known_in).push_back(g.inputs[k]);
                         std::vector<Tensor> cts;
                         for (std::size_t k = 0; k < g.outputs.size(); ++k)
                           if (v[g.outputs[k]]) {
                             out.push_back(g.outputs[k]);
                             cts.push_back(x[known + k]);
                           }
                         const std::vector<Graph::Id> kept = residuals(g, v);
                         const std::vector<Tensor> values =
                             evaluate(extract(g, known_in, kept), std::span(x).first(known));
                         return pull_back(g, linear_in, out, kept, values, cts);
                       },
                       types)
                       .graph);
    };
    const std::vector<Tensor> w = apply_branches(
        turned(b.then_f->graph()), turned(b.else_f->graph()), operands, context_line());
    for (std::size_t k = 0, r = 0; k < n; ++k)
      if (in[k]) o[k + 1] = w[r++];
  }

  static void batch(const Application& a, std::span<const bool> batched, Index size,
                    std::span<Tensor> o) {
    const Branches& b = branches_of(a.attr.get());
    const Flags in(batched.begin() + 1, batched.end());
    const std::vector<Tensor> x(a.in.begin() + 1, a.in.end());
    if (!batched[0]) {
      const Types types = types_of(x);
      std::vector<Tensor> operands(a.in.begin(), a.in.end());
      const std::vector<Tensor> y = apply_branches(
          {batched_graph(b.then_f->graph(), types, in, size), {}},
          {batched_graph(b.else_f->graph(), types, in, size), {}}, operands, context_line());
      std::copy(y.begin(), y.end(), o.begin());
      return;
    }
    if (size == 0) {
      std::vector<Tensor> none =
          zeros_of_all(output_types(batched_graph(b.then_f->graph(), types_of(x), in, 0)));
      std::move(none.begin(), none.end(), o.begin());
      return;
    }
    const Tensor lanes = reshape(a.in[0], {size});
    const std::vector<Tensor> yes = run_for(lanes, b.then_f->graph(), x, in, size),
                              no = run_for(logical_not(lanes), b.else_f->graph(), x, in, size);
    for (std::size_t k = 0; k < o.size(); ++k) o[k] = choose(lanes, yes[k], no[k]);
  }

  /// The branch g over a batch, for those that take it; if none does it is not run, and its results
  /// are zero.
  static std::vector<Tensor> run_for(const Tensor& lanes, const Graph& g,
                                     const std::vector<Tensor>& x, const Flags& batched,
                                     Index size) {
    const Flags read = needed(g, {}, g.outputs);
    const Lender lend(lanes);
    std::vector<Tensor> operands = {any(lanes)};
    bool harmless = true;  // may as well be run for nobody: it cannot fail, and there is no operand
                           // that all share
    for (const Graph::Equation& e : g.equations)
      harmless = harmless && (e.primitive->elementwise || e.primitive->view);
    for (std::size_t k = 0; k < x.size(); ++k) {
      operands.push_back(batched[k] && read[g.inputs[k]] ? lend(x[k]) : x[k]);
      harmless = harmless && (batched[k] || !read[g.inputs[k]] || !is_inexact(x[k].dtype()));
    }
    if (harmless) {
      Flags flags;
      std::vector<Tensor> y = batch_graph(g, std::span(operands).subspan(1), batched, size, flags);
      for (std::size_t k = 0; k < y.size(); ++k) y[k] = with_batch(y[k], flags[k], size);
      return y;
    }
    const Types types = types_of(x);
    Graph taken = batched_graph(g, types, batched, size);
    Graph skipped =
        record_branch(
            "vmap", [&](const std::vector<Tensor>&) { return zeros_of_all(output_types(taken)); },
            types)
            .graph;
    return apply_branches({std::move(taken), {}}, {std::move(skipped), {}}, std::move(operands),
                          context_line());
  }

  /// Both branches on the same operands: each takes what the other captures, too.
  static std::vector<Tensor> apply_branches(Closed then_f, Closed else_f,
                                            std::vector<Tensor> operands, SourceLine line) {
    const auto skip = [](Graph& g, std::size_t at, const std::vector<Tensor>& more) {
      for (const Tensor& t : more) {
        const Graph::Id id = g.add_value(t.type());
        g.inputs.insert(g.inputs.begin() + static_cast<std::ptrdiff_t>(at++), id);
      }
    };
    const std::size_t own = operands.size() - 1;
    skip(else_f.graph, own, then_f.captured);
    skip(then_f.graph, then_f.graph.inputs.size(), else_f.captured);
    operands.insert(operands.end(), then_f.captured.begin(), then_f.captured.end());
    operands.insert(operands.end(), else_f.captured.begin(), else_f.captured.end());
    return apply_cond(std::make_shared<Branches>(Branches{body_of(std::move(then_f.graph)),
                                                          body_of(std::move(else_f.graph))}),
                      operands, line);
  }
};
TESSERA_REGISTER(Cond);

}  // namespace

std::vector<Tensor> apply_cond(std::shared_ptr<const Branches> b,
                               const std::vector<Tensor>& operands, SourceLine line) {
  std::vector<const Tensor*> in;
  for (const Tensor& t : operands) in.push_back(&t);
  std::vector<Tensor> out(b->then_f->graph().outputs.size());
  dispatch(primitive<Cond>(), in, attributes(BranchAttr{std::move(b)}), line, out);
  return out;
}

std::vector<Tensor> cond_flat(const Arg& p, const FlatFunction& then_f, const FlatFunction& else_f,
                              const std::vector<Tensor>& x) {
  const Tensor predicate = to_tensor("cond", p, Dtype::boolean);
  if (predicate.dtype() != Dtype::boolean || predicate.size() != 1)
    fail("cond", "the predicate must be a bool of one element, got " + to_string(predicate.type()),
         p.line);
  const Types types = types_of(x);
  Closed yes = close(record_branch("cond", then_f, types).graph),
         no = close(record_branch("cond", else_f, types).graph);
  const Types a = output_types(yes.graph), b = output_types(no.graph);
  if (a.size() != b.size())
    fail("cond",
         "the branches return " + std::to_string(a.size()) + " and " + std::to_string(b.size()) +
             " tensors",
         p.line);
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != b[k])
      fail("cond",
           "the branches differ in result " + std::to_string(k) + ": " + to_string(a[k]) + " and " +
               to_string(b[k]),
           p.line);
  std::vector<Tensor> operands = {predicate};
  operands.insert(operands.end(), x.begin(), x.end());
  return Cond::apply_branches(std::move(yes), std::move(no), std::move(operands), p.line);
}

}  // namespace tessera::detail
