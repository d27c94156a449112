// SPDX-License-Identifier: Apache-2.0
//
// A list of kernel calls on fixed memory (lower.h), run again and again.
#include "../base/context.h"
#include "../base/memory_internal.h"
#include "../base/workspace.h"
#include "../core/tensor_internal.h"
#include "../kernels/copy.h"
#include "../transform/subgraph.h"
#include "arenas.h"
#include "lower.h"
#include "plan_run.h"
#include "tessera/autodiff/forall.h"
#include "watched.h"

#include <algorithm>

namespace tessera {
namespace {

using plan::bytes_of, plan::Placed, plan::Root;

struct Step {
  KernelFn kernel;  ///< null: `program`
  const blocks::Program* program;
  std::uint32_t together;   ///< that many from here on may run at once
  std::uint32_t workspace;  ///< which of `Body::workspaces`; kNone: none
  const Attributes* attr;
  std::uint32_t in_begin, in_count, out_begin, out_count;  ///< ranges of `Body::slots`
  SourceLine line;
};

/// Nobody but this handle has the tensor or any of its memory, which holds nothing else.
bool is_sole_owner(const Tensor& t) {
  const detail::TensorImpl* p = t.impl();
  return p->refs.load(std::memory_order_acquire) == 1 && p->buffer && !p->buffer->release &&
         p->buffer->refs.load(std::memory_order_acquire) == 1 && p->view.data == p->buffer->data &&
         p->buffer->bytes == bytes_of(t.type());
}

std::byte* at(void* base, const View& v) {
  return static_cast<std::byte*>(base) + reinterpret_cast<std::ptrdiff_t>(v.data);
}

}  // namespace

struct Plan::Body {
  /// Of the arena.
  struct Region {
    std::size_t offset, bytes;
  };
  std::vector<Root> roots;
  std::vector<Placed> slots;  ///< one per operand of any step
  std::vector<Step> steps;
  std::vector<Region> workspaces;
  std::vector<Tensor> constants;          ///< contiguous
  std::vector<AttributesPtr> attributes;  ///< kept alive, as are
  std::vector<std::shared_ptr<const blocks::Program>> programs;
  std::vector<Type> argument_types;
  std::vector<Placed> outputs;
  std::size_t arena = 0, naive = 0;
  std::shared_ptr<plan::Arenas> arenas;  ///< null: each run has a block of its own

  /// One run in flight: its operands, and while it runs the block that those of the arena lie in.
  struct Instance {
    plan::Lease arena;
    std::byte* base = nullptr;  ///< of the block that the views point into
    std::vector<View> views;
    std::vector<const View*> in;
    std::vector<View*> out;
  };
  void run_step(const Step& s, const Instance& i, detail::Context& c) const {
    c.line = s.line;
    if (s.workspace != plan::kNone) return run_in_workspace(s, i, c);
    run_kernel(s, i);
  }
  static void run_kernel(const Step& s, const Instance& i) {
    const Inputs in{i.in.data() + s.in_begin, s.in_count};
    const Outputs out{i.out.data() + s.out_begin, s.out_count};
    if (s.kernel)
      s.kernel(in, out, s.attr);
    else
      (*s.program)(in, out);
  }
  [[gnu::noinline]] void run_in_workspace(const Step& s, const Instance& i,
                                          detail::Context& c) const {
    const Region& r = workspaces[s.workspace];
    detail::Workspace workspace(i.base + r.offset, r.bytes);
    const detail::WithWorkspace scope(c, &workspace);
    run_kernel(s, i);
  }
  void run_steps(const Instance& i) const {
    detail::Context& c = detail::context();
    const detail::AtLine before(c, c.line);  // lines of steps last as long as the run
    for (std::size_t n = 0; n < steps.size(); n += steps[n].together) {
      if (steps[n].together == 1)
        run_step(steps[n], i, c);
      else
        parallel_chunks(steps[n].together, [&](Index k) {
          run_step(steps[n + static_cast<std::size_t>(k)], i, detail::context());
        });
    }
  }

  struct Resting {
    std::uint32_t slot;
    std::size_t offset;  ///< in the arena
  };
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Instance>> idle;  ///< without a block
  std::vector<std::uint32_t> moving;  ///< slots whose root is an argument or a result
  std::vector<Resting> resting;       ///< slots in the arena

  /// A run that may begin: its views lie in its block.
  std::unique_ptr<Instance> instance() const {
    plan::Lease block(arenas.get(), arena);
    std::unique_ptr<Instance> i = idle_instance();
    if (!i) i = new_instance();
    i->arena = std::move(block);
    if (i->base != i->arena.data()) {
      i->base = i->arena.data();
      for (const Resting& r : resting) i->views[r.slot].data = i->base + r.offset;
    }
    return i;
  }
  void done(std::unique_ptr<Instance> i) const {
    { const plan::Lease block = std::move(i->arena); }
    std::lock_guard lock(mutex);
    idle.push_back(std::move(i));
  }

 private:
  std::unique_ptr<Instance> idle_instance() const {
    std::lock_guard lock(mutex);
    if (idle.empty()) return nullptr;
    auto i = std::move(idle.back());
    idle.pop_back();
    return i;
  }
  std::unique_ptr<Instance> new_instance() const {
    auto i = std::make_unique<Instance>();
    i->views.reserve(slots.size());
    for (const Placed& s : slots) {
      View v = s.view;
      if (roots[s.root].kind == Root::Kind::constant)
        v.data = at(constants[roots[s.root].index].view().data, s.view);
      i->views.push_back(v);
    }
    for (View& v : i->views) {
      i->in.push_back(&v);
      i->out.push_back(&v);
    }
    return i;
  }
};

Plan::Plan(const Graph& g, Index join_from, std::shared_ptr<plan::Arenas> arenas)
    : body_(std::make_unique<Body>()) {
  Body& b = *body_;
  b.arenas = std::move(arenas);
  plan::Lowered low = plan::lower(g, join_from);
  b.roots = std::move(low.roots);
  b.constants = std::move(low.constants);
  b.attributes = std::move(low.attributes);
  b.argument_types = std::move(low.argument_types);
  b.outputs = std::move(low.outputs);
  b.arena = low.arena, b.naive = low.naive;
  std::size_t slots = 0;
  for (const plan::Step& step : low.steps) slots += step.in.size() + step.out_roots.size();
  b.slots.reserve(slots), b.steps.reserve(low.steps.size());
  for (std::size_t n = 0; n < low.steps.size(); ++n) {
    const plan::Step& step = low.steps[n];
    std::uint32_t together = 1;
    while (step.wave && n + together < low.steps.size() &&
           low.steps[n + together].wave == step.wave)
      ++together;
    Step s{step.kernel,
           step.program.get(),
           together,
           plan::kNone,
           step.attr,
           static_cast<std::uint32_t>(b.slots.size()),
           static_cast<std::uint32_t>(step.in.size()),
           0,
           static_cast<std::uint32_t>(step.out_roots.size()),
           step.line};
    if (step.program) b.programs.push_back(step.program);
    if (step.workspace) {
      s.workspace = static_cast<std::uint32_t>(b.workspaces.size());
      b.workspaces.push_back({step.workspace_at, step.workspace});
    }
    for (const Placed& p : step.in) b.slots.push_back(p);
    s.out_begin = static_cast<std::uint32_t>(b.slots.size());
    for (std::uint32_t root : step.out_roots) {
      const Type& t = b.roots[root].type;
      b.slots.push_back({root, {nullptr, t.dtype, t.shape, row_major(t.shape)}});
    }
    b.steps.push_back(s);
  }
  for (std::uint32_t k = 0; k < b.slots.size(); ++k) {
    const Root& r = b.roots[b.slots[k].root];
    if (r.kind == Root::Kind::argument || r.kind == Root::Kind::result) b.moving.push_back(k);
    if (r.kind == Root::Kind::arena)
      b.resting.push_back({k, r.offset + reinterpret_cast<std::size_t>(b.slots[k].view.data)});
  }
}

Plan::~Plan() = default;
std::size_t Plan::steps() const { return body_->steps.size(); }
std::size_t Plan::arena_bytes() const { return body_->arena; }
std::size_t Plan::naive_bytes() const { return body_->naive; }

std::vector<Tensor> Plan::run(std::vector<Tensor> arguments) const {
  const detail::OutsideOfBranch scope;
  const Body& b = *body_;
  if (arguments.size() != b.argument_types.size())
    fail("plan", "takes " + std::to_string(b.argument_types.size()) + " tensors, got " +
                     std::to_string(arguments.size()));
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments[k].type() != b.argument_types[k])
      fail("plan", "argument " + std::to_string(k) + " is " + to_string(arguments[k].type()) +
                       ", the plan was made for " + to_string(b.argument_types[k]));
  std::vector<Tensor> results;
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (!arguments[k].view().contiguous())
      arguments[k] = detail::contiguous_copy(arguments[k].view());
  for (const Root& r : b.roots)
    if (r.kind == Root::Kind::result)
      results.push_back(r.over != plan::kNone && is_sole_owner(arguments[r.over])
                            ? arguments[r.over]
                            : detail::empty_result(r.type.dtype, r.type.shape));
  std::unique_ptr<Body::Instance> i = b.instance();
  for (std::uint32_t k : b.moving) {
    const Placed& p = b.slots[k];
    const Root& r = b.roots[p.root];
    const Tensor& base = r.kind == Root::Kind::argument ? arguments[r.index] : results[r.index];
    i->views[k].data = at(base.view().data, p.view);
  }
  b.run_steps(*i);
  b.done(std::move(i));
  std::vector<Tensor> out;
  for (const Placed& p : b.outputs) {
    const Root& r = b.roots[p.root];
    const Tensor& base = r.kind == Root::Kind::argument   ? arguments[r.index]
                         : r.kind == Root::Kind::constant ? b.constants[r.index]
                                                          : results[r.index];
    View v = p.view;
    v.data = at(base.view().data, p.view);
    out.push_back(v.data == base.view().data && v.shape == base.shape() &&
                          v.strides == base.view().strides
                      ? base
                      : detail::view_result(base, v));
  }
  return out;
}

struct Plan::Run::Memory {
  std::unique_ptr<Body::Instance> instance;
  struct Moving {
    std::uint32_t slot, root;
    std::ptrdiff_t offset;
  };
  std::vector<Moving> moving;
  std::vector<int> output_of;  ///< of each root: the output that it is, or -1
  std::vector<Tensor> own;     ///< of each root: memory of results that are no output as a whole
  std::vector<std::pair<std::size_t, View>> copied;  ///< outputs that are views of something else
};

Plan::Run::Run(const Plan& plan) : body_(*plan.body_), memory_(std::make_unique<Memory>()) {
  Memory& m = *memory_;
  m.instance = body_.instance();
  m.output_of.assign(body_.roots.size(), -1);
  m.own.resize(body_.roots.size());
  for (std::size_t k = 0; k < body_.outputs.size(); ++k) {
    const Placed& p = body_.outputs[k];
    const Root& r = body_.roots[p.root];
    const bool whole = r.kind == Root::Kind::result && m.output_of[p.root] < 0 &&
                       p.view.data == nullptr && p.view.contiguous() &&
                       bytes_of(p.view.type()) == r.bytes;
    if (whole)
      m.output_of[p.root] = static_cast<int>(k);
    else
      m.copied.emplace_back(k, p.view);
  }
  for (std::size_t k = 0; k < body_.roots.size(); ++k)
    if (body_.roots[k].kind == Root::Kind::result && m.output_of[k] < 0)
      m.own[k] = empty(body_.roots[k].type);
  for (std::uint32_t k : body_.moving)
    m.moving.push_back(
        {k, body_.slots[k].root, reinterpret_cast<std::ptrdiff_t>(body_.slots[k].view.data)});
}

Plan::Run::~Run() { body_.done(std::move(memory_->instance)); }

void Plan::Run::operator()(const std::byte* const* in, std::byte* const* out) {
  Memory& m = *memory_;
  Body::Instance& i = *m.instance;
  const auto base = [&](std::uint32_t root) -> std::byte* {
    const Root& r = body_.roots[root];
    if (r.kind == Root::Kind::argument) return const_cast<std::byte*>(in[r.index]);
    if (m.output_of[root] >= 0) return out[m.output_of[root]];
    return static_cast<std::byte*>(r.kind == Root::Kind::constant
                                       ? body_.constants[r.index].view().data
                                       : m.own[root].view().data);
  };
  for (const Memory::Moving& v : m.moving) i.views[v.slot].data = base(v.root) + v.offset;
  body_.run_steps(i);
  for (const auto& [k, view] : m.copied) {
    View from = view;
    from.data = at(base(body_.outputs[k].root), view);
    kernels::copy(from, {out[k], view.dtype, view.shape, row_major(view.shape)});
  }
}

namespace detail {

PlanCache::PlanCache(const JitOptions& o) : options_(o), arenas_(std::make_shared<plan::Arenas>()) {
  if (o.level == Level::O1 && (o.trap != Trap::none || o.times))
    fail("jit", "traps and times are of level O0, operation by operation");
  if (o.keep == 0) fail("jit", "keeps at least one plan, keep = 0");
}

bool PlanCache::find(const void* trees, const TreeStructure& structure,
                     const std::vector<Tensor>& x, Planned& found) {
  const auto fits = [&](const Planned& p) {
    return p.trees == trees && p.structure == structure &&
           std::equal(x.begin(), x.end(), p.types.begin(), p.types.end(),
                      [](const Tensor& t, const Type& type) { return t.type() == type; });
  };
  std::lock_guard lock(mutex_);
  const auto last = std::find_if(plans_.rbegin(), plans_.rend(), fits);
  if (last == plans_.rend()) return false;
  std::rotate(std::prev(last.base()), last.base(), plans_.end());
  found.plan = plans_.back().plan;
  found.graph = plans_.back().graph;
  found.like = plans_.back().like;
  return true;
}

void PlanCache::insert(Planned p) {
  std::vector<Planned> gone;  // what it holds is let go outside of the lock
  std::lock_guard lock(mutex_);
  plans_.push_back(std::move(p));
  if (plans_.size() > options_.keep) {
    gone.push_back(std::move(plans_.front()));
    plans_.erase(plans_.begin());
  }
  std::size_t largest = 0;
  for (const Planned& k : plans_)
    if (k.plan) largest = std::max(largest, k.plan->arena_bytes());
  arenas_->set_largest(largest);
}

std::vector<Tensor> PlanCache::run(const FlatFunction& f, const void* trees,
                                   const TreeStructure& structure, std::vector<Tensor> x,
                                   Prototype& like) {
  // It may fail, or never end, where the branch is taken alone; it may wait for others each time
  // that the program runs.
  if (context().branch || context().program) return f(x);
  for (const Tensor& t : x)
    if (t.is_traced()) return f(x);
  Planned p;
  if (find(trees, structure, x, p)) {
    like = p.like;
  } else {
    p.trees = trees;
    p.structure = structure;
    for (const Tensor& t : x) p.types.push_back(t.type());
    const Recording r = record_program("jit", f, p.types);
    for (const auto& [id, t] : r.graph.captures)
      if (t.is_traced()) return evaluate(r.graph, x);
    if (options_.level == Level::O0)
      p.graph = std::make_shared<Graph>(simplify(with_calls_opened(r.graph)));
    else
      p.plan = std::make_shared<Plan>(simplify(with_calls_opened(r.graph)), 1024, arenas_);
    p.like = like;
    insert(p);
  }
  if (p.plan) return p.plan->run(std::move(x));
  std::vector<OperationTime> times;
  std::vector<Tensor> y =
      evaluate_watched(*p.graph, x, options_.trap, options_.times ? &times : nullptr);
  if (options_.times) {
    std::lock_guard lock(mutex_);
    add_times(times, *options_.times);
  }
  return y;
}

}  // namespace detail
}  // namespace tessera
