// SPDX-License-Identifier: Apache-2.0
//
// scan, while_loop and fori_loop as the user calls them: bodies are recorded on types, and the
// tensors they use from around them become constants of the loop.
#include "../core/graph_passes.h"
#include "loops_internal.h"
#include "tessera/autodiff/ops.h"

namespace tessera::detail {
namespace {

/// f recorded, with what it captures as its first inputs. What `always` runs leaves outside what no
/// step changes, but for what every step does.
Closed traced(const char* name, const FlatFunction& f, const Types& types, bool always = true) {
  Closed c = close((always ? record_program(name, f, types) : record_branch(name, f, types)).graph);
  std::vector<Graph::Id>& in = c.graph.inputs;
  std::rotate(in.begin(), in.end() - static_cast<std::ptrdiff_t>(c.captured.size()), in.end());
  return c;
}

void check_carry(const char* name, const Graph& g, const Types& carry, SourceLine line) {
  if (g.outputs.size() < carry.size())
    fail(name,
         "the body returns " + std::to_string(g.outputs.size()) + " tensors, the carry has " +
             std::to_string(carry.size()),
         line);
  for (std::size_t k = 0; k < carry.size(); ++k)
    if (g.types[g.outputs[k]] != carry[k])
      fail(name,
           "the body returns a " + to_string(g.types[g.outputs[k]]) + " as number " +
               std::to_string(k) + " of the carry, it took a " + to_string(carry[k]) +
               "; a carry keeps its types (cast or broadcast the first one)",
           line);
}

void append(std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  a.insert(a.end(), b.begin(), b.end());
}

/// What no step changes is taken out of the body and computed before the steps, if there is one.
/// Numbers that are found element by element are not worth it.
void take_out_invariants(Closed& body, const std::function<Tensor()>& steps) {
  const Graph& g = body.graph;
  const std::size_t n = body.captured.size();
  Flags carry(g.inputs.size(), true);
  std::fill_n(carry.begin(), n, false);
  const Flags varies = reached(g, carry, Follow::changes);
  Flags found(g.types.size(), false), seen(g.types.size(), false);
  bool worth_it = false;
  for (const Graph::Equation& e : g.equations) {
    if (varies[e.out_begin]) continue;
    std::fill_n(found.begin() + e.out_begin, e.out_count, true);
    worth_it =
        worth_it || !((e.primitive->elementwise && g.types[e.out_begin].shape.count() <= 64) ||
                      e.primitive->view);
  }
  if (!worth_it) return;
  std::vector<Graph::Id> crossing;
  const auto cross = [&](Graph::Id id) {
    if (found[id] && !seen[id]) crossing.push_back(id);
    seen[id] = true;
  };
  for (const Graph::Equation& e : g.equations)
    if (varies[e.out_begin])
      for (Graph::Id id : g.in(e)) cross(id);
  for (Graph::Id id : g.outputs) cross(id);
  const std::span<const Graph::Id> consts = std::span(g.inputs).first(n),
                                   carries = std::span(g.inputs).subspan(n);
  const std::vector<Tensor> values =
      if_it_steps(steps(), extract(g, consts, crossing), body.captured);
  std::vector<Graph::Id> inputs(consts.begin(), consts.end());
  inputs.insert(inputs.end(), crossing.begin(), crossing.end());
  inputs.insert(inputs.end(), carries.begin(), carries.end());
  body.graph = extract(g, inputs, g.outputs);
  append(body.captured, values);
}

/// The inverse body with operands as the body has them; constants of either are constants of both.
void add_inverse(const char* name, const FlatFunction& inverse, const Types& types,
                 std::size_t n_carry, Closed& body, Loop& loop, SourceLine line) {
  Closed back = traced(name, inverse, types);
  if (back.graph.outputs.size() != n_carry)
    fail(name,
         "the inverse body returns " + std::to_string(back.graph.outputs.size()) +
             " tensors, the carry has " + std::to_string(n_carry),
         line);
  for (std::size_t k = 0; k < n_carry; ++k)
    if (back.graph.types[back.graph.outputs[k]] != types[k])
      fail(name,
           "the inverse body returns a " + to_string(back.graph.types[back.graph.outputs[k]]) +
               " as number " + std::to_string(k) + " of the carry, it took a " +
               to_string(types[k]),
           line);
  const auto widen = [](Graph& g, std::size_t at, const std::vector<Tensor>& more) {
    for (const Tensor& t : more) {
      const Graph::Id id = g.add_value(t.type());
      g.inputs.insert(g.inputs.begin() + static_cast<std::ptrdiff_t>(at++), id);
    }
  };
  const std::size_t own = body.captured.size();
  widen(body.graph, own, back.captured);
  widen(back.graph, 0, body.captured);
  append(body.captured, back.captured);
  loop.inverse = std::make_shared<Body>(std::move(back.graph));
}

}  // namespace

std::vector<Tensor> scan_flat(const FlatFunction& f, const std::vector<Tensor>& init,
                              const std::vector<Tensor>& xs, Index length, const ScanOptions& o,
                              SourceLine line) {
  for (const Tensor& x : xs) {
    if (x.ndim() == 0)
      fail("scan",
           "xs holds a scalar, which has no axis to run over; capture it in the body instead",
           line);
    if (length >= 0 && x.dim(0) != length)
      fail("scan",
           "xs disagree on the number of steps: " + std::to_string(length) + " and " +
               to_string(x.type()),
           line);
    length = x.dim(0);
  }
  if (length < 0)
    fail("scan", "the number of steps is not known: give xs or a length that is not negative",
         line);
  const Types carry = types_of(init);
  Types types = carry;
  for (const Tensor& x : xs) {
    types.push_back(x.type());
    types.back().shape.erase(0);
  }
  Closed body = traced("scan", f, types, length > 0);
  check_carry("scan", body.graph, carry, line);
  auto loop = std::make_shared<Loop>();
  loop->length = length;
  loop->checkpoint = o.checkpoint;
  checkpoint_schedule(o.checkpoint, o.checkpoint.kind == Checkpoint::Kind::schedule
                                        ? length
                                        : std::min<Index>(length, 1));  // throws for a wrong one
  if (o.checkpoint.kind == Checkpoint::Kind::reversible)
    add_inverse("scan", o.checkpoint.inverse, types, init.size(), body, *loop, line);
  Sweep s;
  s.reverse = o.reverse;
  s.n_consts = body.captured.size();
  s.n_carry = init.size();
  s.n_xs = xs.size();
  s.n_ys = body.graph.outputs.size() - init.size();
  s.body = std::make_shared<Body>(std::move(body.graph));
  loop->sweeps.push_back(std::move(s));
  std::vector<Tensor> operands = std::move(body.captured);
  append(operands, init);
  append(operands, xs);
  return apply_loop(std::move(loop), operands, line);
}

std::vector<Tensor> while_flat(const FlatFunction& condition, const FlatFunction& f,
                               const std::vector<Tensor>& init, const WhileOptions& o,
                               SourceLine line) {
  const Types carry = types_of(init);
  Closed ask = traced("while_loop", condition, carry), body = traced("while_loop", f, carry, false);
  const Type& p = ask.graph.types[ask.graph.outputs[0]];
  if (p.dtype != Dtype::boolean || p.shape.count() != 1)
    fail("while_loop",
         "the condition must be a bool of one element, got " + to_string(p) + "; use any or all",
         line);
  check_carry("while_loop", body.graph, carry, line);
  if (body.graph.outputs.size() != carry.size())
    fail("while_loop",
         "the body returns " + std::to_string(body.graph.outputs.size()) +
             " tensors, the carry has " + std::to_string(carry.size()),
         line);
  auto loop = std::make_shared<Loop>();
  loop->checkpoint = o.checkpoint;
  if (o.checkpoint.kind != Checkpoint::Kind::schedule) checkpoint_schedule(o.checkpoint, 1);
  // The condition takes what it reads, no more: a carry that it does not read may be one that the
  // loop is linear in.
  const Flags read = needed(ask.graph, {}, ask.graph.outputs);
  std::vector<Graph::Id> questions;
  std::vector<Tensor> operands;
  for (std::size_t k = 0; k < ask.graph.inputs.size(); ++k) {
    if (!read[ask.graph.inputs[k]]) continue;
    questions.push_back(ask.graph.inputs[k]);
    if (k < ask.captured.size())
      operands.push_back(ask.captured[k]);
    else
      loop->condition_carry.push_back(k - ask.captured.size());
  }
  loop->n_condition_consts = operands.size();
  loop->condition = body_of(extract(ask.graph, questions, ask.graph.outputs));
  // Whether that is worth it depends on sizes: it must not ask others one more time.
  if (loop->condition->order() != Ordering::every)
    take_out_invariants(body, [&] { return first_answer(*loop, operands, init); });
  if (o.checkpoint.kind == Checkpoint::Kind::reversible)
    add_inverse("while_loop", o.checkpoint.inverse, carry, init.size(), body, *loop, line);
  Sweep s;
  s.n_consts = body.captured.size();
  s.n_carry = init.size();
  s.body = std::make_shared<Body>(std::move(body.graph));
  loop->sweeps.push_back(std::move(s));
  append(operands, body.captured);
  append(operands, init);
  return apply_loop(std::move(loop), operands, line);
}

void need_carry(const char* name, std::size_t returned, std::size_t took, SourceLine line) {
  if (returned != took)
    fail(name,
         "the body returns a carry of " + std::to_string(returned) + " tensors, it took one of " +
             std::to_string(took) + "; a carry keeps its structure",
         line);
}

Tensor step_numbers(Index low, Index high) {
  Index n = 0;
  if (high > low && __builtin_sub_overflow(high, low, &n))
    fail("fori_loop",
         "from " + std::to_string(low) + " to " + std::to_string(high) + " are 2^63 steps or more");
  return arange(n) + low;
}

}  // namespace tessera::detail
