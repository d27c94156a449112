// SPDX-License-Identifier: Apache-2.0
#include "lower.h"

#include "../core/graph_passes.h"
#include "../core/tensor_internal.h"
#include "../kernels/copy.h"

namespace tessera::plan {
namespace {

class Lowering {
 public:
  Lowering(const Graph& g, bool priced) : g_(g), priced_(priced), placed_(g.types.size()) {
    for (const Graph::Id id : g.inputs) {
      root_of_value(Root::Kind::argument, id,
                    static_cast<std::uint32_t>(low.argument_types.size()));
      low.argument_types.push_back(g.types[id]);
    }
    for (const auto& [id, t] : g.captures) {
      root_of_value(Root::Kind::constant, id, static_cast<std::uint32_t>(low.constants.size()));
      // A repeated value stays a repeated value: its strides are part of the view.
      low.constants.push_back(t);
      placed_[id].view.strides = t.view().strides;
    }
    for (const Graph::Equation& e : g.equations) add(e);
    name_results();
  }

  Lowered low;
  bool keep_order = false;
  std::vector<bool> kept;  ///< arguments that are results themselves

 private:
  static View packed_view(const Type& t) { return {nullptr, t.dtype, t.shape, row_major(t.shape)}; }
  void root_of_value(Root::Kind kind, Graph::Id id, std::uint32_t index) {
    low.roots.push_back({kind, index, bytes_of(g_.types[id]), 0, g_.types[id]});
    placed_[id] = {static_cast<std::uint32_t>(low.roots.size() - 1), packed_view(g_.types[id])};
  }
  std::uint32_t new_arena_root(const Type& t) {
    low.roots.push_back({Root::Kind::arena, 0, bytes_of(t), 0, t});
    low.naive += low.roots.back().bytes;
    return static_cast<std::uint32_t>(low.roots.size() - 1);
  }
  Placed packed(const Graph::Equation& e, const Placed& p) {
    const Type t = p.view.type();
    const std::uint32_t root = new_arena_root(t);
    Step step{
        .kernel = [](Inputs in, Outputs out, const Attributes*) { kernels::copy(*in[0], *out[0]); },
        .line = e.line,
        .in = {p},
        .out_roots = {root}};
    if (priced_) step.parts.push_back({"copy", e.line, false, t.dtype, {}, {root}});
    low.steps.push_back(std::move(step));
    return Placed{root, packed_view(t)};
  }

  /// Views resolve to their root, kernels that need it get packed copies.
  void add(const Graph::Equation& e) {
    const Primitive& p = *e.primitive;
    std::vector<Placed> in;
    std::vector<Dtype> dtypes;
    for (const Graph::Id id : g_.in(e)) {
      in.push_back(placed_[id]);
      dtypes.push_back(g_.types[id].dtype);
    }
    // Barriers are said in the order in which they were recorded.
    keep_order |= p.view && in.size() > 1;
    if (p.view) {
      View v;
      if (!p.view(in[0].view, e.attr.get(), v)) {
        in[0] = packed(e, in[0]);
        if (!p.view(in[0].view, e.attr.get(), v)) fail(p.name, "cannot be planned");
      }
      placed_[e.out_begin] = {in[0].root, v};
      return;
    }
    const KernelFn kernel = p.kernel(dtypes, e.attr.get());
    if (!kernel) fail(p.name, "not defined for " + to_string(g_.types[g_.in(e)[0]]), e.line);
    if (!p.takes_strides)
      for (Placed& operand : in)
        if (!operand.view.contiguous()) operand = packed(e, operand);
    if (e.attr) low.attributes.push_back(e.attr);
    Step step{.primitive = &p,
              .kernel = kernel,
              .attr = e.attr.get(),
              .line = e.line,
              .elementwise = p.elementwise,
              .in = std::move(in)};
    std::vector<std::uint32_t> makes;
    for (Graph::Id id = e.out_begin; id < e.out_begin + e.out_count; ++id) {
      makes.push_back(new_arena_root(g_.types[id]));
      placed_[id] = {makes.back(), packed_view(g_.types[id])};
    }
    if (detail::order_of(e) != Ordering::free) {
      step.after = last_in_order_;
      if (makes.empty())
        keep_order = true;
      else
        last_in_order_ = makes.back();
      step.in_order = true;
    }
    if (priced_) step.parts.push_back(priced(e, makes));
    if (p.workspace) step.workspace = workspace(e, step.in);
    step.out_roots = std::move(makes);
    low.steps.push_back(std::move(step));
  }

  std::size_t workspace(const Graph::Equation& e, const SharedList<Placed>& operands) const {
    std::vector<View> in, out;
    for (const Placed& p : operands) in.push_back(p.view);
    for (Graph::Id id = e.out_begin; id < e.out_begin + e.out_count; ++id)
      out.push_back(packed_view(g_.types[id]));
    for (View& v : in) v.data = nullptr;
    return e.primitive->workspace(in, out, e.attr.get());
  }
  Part priced(const Graph::Equation& e, const std::vector<std::uint32_t>& makes) const {
    const Primitive& p = *e.primitive;
    Types in;
    for (const Graph::Id id : g_.in(e)) in.push_back(g_.types[id]);
    const Cost c = p.cost(in, {g_.types.data() + e.out_begin, e.out_count}, e.attr.get());
    return {p.name, e.line, p.is_product, g_.types[e.out_begin].dtype, c, makes, p.no_flops};
  }

  /// Results live in fresh memory for every run.
  void name_results() {
    for (const Graph::Id id : g_.outputs) {
      Root& r = low.roots[placed_[id].root];
      if (r.kind == Root::Kind::arena) {
        r.kind = Root::Kind::result;
        low.naive -= r.bytes;
      }
      low.outputs.push_back(placed_[id]);
    }
    kept.resize(low.argument_types.size());
    for (const Placed& p : low.outputs)
      if (low.roots[p.root].kind == Root::Kind::argument) kept[low.roots[p.root].index] = true;
    std::uint32_t results = 0;
    for (Root& r : low.roots)
      if (r.kind == Root::Kind::result) r.index = results++;
  }

  const Graph& g_;
  const bool priced_;
  std::vector<Placed> placed_;
  std::uint32_t last_in_order_ = kNone;  ///< a root that the last step which keeps its order makes
};

}  // namespace

Lowered lower(const Graph& g, Index join_from, bool priced) {
  Lowering l(g, priced);
  Layout layout = lay_out(l.low.steps, l.low.roots, l.kept, join_from, l.keep_order);
  l.low.steps = std::move(layout.steps);
  l.low.roots = std::move(layout.roots);
  l.low.arena = layout.arena;
  return std::move(l.low);
}

}  // namespace tessera::plan
