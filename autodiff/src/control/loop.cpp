// SPDX-License-Identifier: Apache-2.0
//
// The primitives `scan` (a known number of steps) and `while` (steps as long as a condition holds):
// lists of sweeps, as loops_internal.h describes them. Their rules: loop_forward.cpp,
// loop_transpose.cpp, loop_batch.cpp.
#include "../core/rules.h"
#include "loop_groups.h"

namespace tessera::detail {
namespace {

Types infer_loop(const char* name, std::span<const Type> in, const Loop& l) {
  std::size_t count = l.n_condition_consts;
  for (const Sweep& s : l.sweeps) count += s.operands();
  if (in.size() != count)
    fail(name, "takes " + std::to_string(count) + " operands, got " + std::to_string(in.size()));
  Cursor<Type> at(in);
  at.take(l.n_condition_consts);
  Types out;
  for (const Sweep& s : l.sweeps) {
    const Graph& g = s.body->graph();
    const auto types = at.take(s.operands());
    for (std::size_t k = 0; k < s.operands(); ++k) {
      Type want = g.types[g.inputs[k]];
      if (k >= s.xs_begin()) want.shape.insert(0, l.length);
      if (types[k] != want)
        fail(name, "operand " + std::to_string(k) + " of a sweep is " + to_string(types[k]) +
                       ", its body takes " + to_string(want));
    }
    for (std::size_t k = 0; k < s.n_carry; ++k) out.push_back(g.types[g.outputs[k]]);
    for (std::size_t k = 0; k < s.n_ys; ++k) {
      Type y = g.types[g.outputs[s.n_carry + s.n_kept + k]];
      y.shape.insert(0, l.length);
      out.push_back(y);
    }
  }
  return out;
}

template <class P>
struct LoopRules : Hand<P> {
  static constexpr bool runs_programs = true;
  static Ordering order(const Attributes* a) { return order_of(loop_of(a)); }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return infer_loop(P::name, in, loop_of(a));
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) { run_loop(loop_of(a), in, out); };
  }
  static std::vector<bool> moved(const std::vector<bool>& operands, const Attributes* a) {
    return moved_by_loop(operands, a);
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    jvp_loop(a, t, o);
  }
  static void jet(const Curves& c, const Application& a, std::span<const Series> in,
                  std::span<Series> out) {
    jet_loop(c, a, in, out);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    transpose_loop(a, linear, ct, o);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index size,
                    std::span<Tensor> o) {
    batch_loop(a, batched, size, o);
  }
  static Cost cost(TypeSpan, TypeSpan, const Attributes* a) { return cost_of_loop(loop_of(a)); }
};
struct Scan : LoopRules<Scan> {
  static constexpr const char* name = "scan";
};
struct While : LoopRules<While> {
  static constexpr const char* name = "while";
  static constexpr None flops{"its steps are not known before it runs: it counts as one"};
};
TESSERA_REGISTER(Scan);
TESSERA_REGISTER(While);

}  // namespace

Ordering order_of(const Loop& loop) {
  Ordering strictest = loop.condition ? loop.condition->order() : Ordering::free;
  if (loop.inverse) strictest = std::max(strictest, loop.inverse->order());
  for (const Sweep& s : loop.sweeps) strictest = std::max(strictest, s.body->order());
  return strictest;
}

Tensor first_answer(const Loop& loop, std::span<const Tensor> condition_consts,
                    std::span<const Tensor> carry) {
  std::vector<Tensor> asked(condition_consts.begin(), condition_consts.end());
  for (std::size_t k : loop.condition_carry) asked.push_back(carry[k]);
  return evaluate(loop.condition->graph(), asked)[0];
}

std::vector<Tensor> if_it_steps(const Tensor& steps, const Graph& g, const std::vector<Tensor>& x) {
  return cond_flat(
      Arg(steps, context_line()), [&](const std::vector<Tensor>& v) { return evaluate(g, v); },
      [&](const std::vector<Tensor>&) { return zeros_of_all(output_types(g)); }, x);
}

bool LoopAttributes::equal(const Attributes& o) const {
  const auto* other = dynamic_cast<const LoopAttributes*>(&o);
  return other && other->loop == loop;
}

std::vector<NamedAttribute> LoopAttributes::named() const { return {{"length", loop->length}}; }

std::string LoopAttributes::text() const {
  std::string s = loop->condition
                      ? "while a condition of " + std::to_string(loop->condition_carry.size()) +
                            " carries holds"
                      : std::to_string(loop->length) + " steps";
  for (const Sweep& w : loop->sweeps) {
    s += std::string("; ") + (w.reverse ? "backwards" : "forwards") + ": consts " +
         std::to_string(w.n_consts) + " carry " + std::to_string(w.n_carry) + " xs " +
         std::to_string(w.n_xs);
    if (!w.from.empty()) s += " from " + std::to_string(w.from.size());
    if (w.n_kept) s += " kept " + std::to_string(w.n_kept);
    if (w.n_ys) s += " ys " + std::to_string(w.n_ys);
    s += ", " + std::to_string(w.body->graph().equations.size()) + " equations";
  }
  return s;
}

std::vector<Tensor> apply_loop(LoopPtr loop, const std::vector<Tensor>& operands, SourceLine line) {
  std::size_t results = 0;
  for (const Sweep& s : loop->sweeps) results += s.results();
  const Primitive& p = loop->condition ? primitive<While>() : primitive<Scan>();
  std::vector<const Tensor*> in;
  for (const Tensor& t : operands) in.push_back(&t);
  std::vector<Tensor> out(results);
  dispatch(p, in, std::make_shared<LoopAttributes>(std::move(loop)), line, out);
  return out;
}

}  // namespace tessera::detail
