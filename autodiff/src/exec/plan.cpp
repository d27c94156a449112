// SPDX-License-Identifier: Apache-2.0
//
// From a graph to a list of kernel calls on fixed memory. Every value is a view of a *root*: an argument, a
// constant, a block of the arena, or fresh memory for a result. Views (reshape, slice, ...) cost nothing at
// run time; runs of element-wise steps become one (blocks.h); an element-wise step writes over an operand that
// dies there.
#include <algorithm>
#include <map>

#include "../context.h"
#include "../kernels/copy.h"
#include "../memory_internal.h"
#include "../tensor_internal.h"
#include "blocks.h"
#include "plan_run.h"

namespace tessera {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::uint32_t kNone = ~0u;

struct Root {
  enum class Kind : std::uint8_t { argument, constant, arena, result } kind;
  std::uint32_t index = 0;  ///< argument or result number, constant number
  std::size_t bytes = 0;    ///< arena, result
  std::size_t offset = 0;   ///< arena
  Type type;                ///< result
  std::uint32_t last_use = 0;
};
/// A value as a view of a root; `view.data` holds the byte offset.
struct Placed {
  std::uint32_t root = kNone;
  View view;
};
struct Step {
  KernelFn kernel;                  ///< null: `program`
  const blocks::Program* program;
  const Attributes* attr;
  std::uint32_t in_begin, in_count, out_begin, out_count;  ///< ranges of `Body::operands`
  Where where;
};

std::byte* at(void* base, const View& v) { return static_cast<std::byte*>(base) + reinterpret_cast<std::ptrdiff_t>(v.data); }
std::size_t bytes_of(const Type& t) { return static_cast<std::size_t>(t.shape.count()) * size_of(t.dtype); }

/// A step that has no memory yet.
struct Pending {
  const Primitive* primitive;  ///< null: none
  KernelFn kernel;
  const Attributes* attr;
  Where where;
  bool elementwise;
  std::vector<Placed> in;
  std::vector<std::uint32_t> out_roots;
  std::shared_ptr<const blocks::Program> program;  ///< of a run of element-wise steps
};

/// The view is the whole root in its order.
bool is_whole(const Placed& p, const Root& r) {
  return p.view.data == nullptr && p.view.contiguous() && bytes_of(p.view.type()) == r.bytes;
}

/// Steps [begin, end) as one.
Pending joined(std::span<const Pending> steps, std::size_t begin, std::size_t end, const std::vector<std::uint32_t>& last_use,
               const std::vector<Root>& roots) {
  Pending run{nullptr, nullptr, nullptr, steps[begin].where, true, {}, {}, {}};
  std::vector<blocks::Operation> operations;
  std::map<std::uint32_t, std::uint32_t> made;  // root -> operation
  std::vector<View> layouts;
  for (std::size_t n = begin; n < end; ++n) {
    const Pending& s = steps[n];
    const auto at = static_cast<std::uint32_t>(n - begin);
    blocks::Operation o{s.primitive, s.kernel, s.attr, roots[s.out_roots[0]].type.dtype, {}, -1};
    for (const Placed& p : s.in) {
      if (const auto it = made.find(p.root); it != made.end()) {
        o.in.push_back({true, it->second});
        continue;
      }
      std::uint32_t k = 0;
      while (k < run.in.size() && !(run.in[k].root == p.root && run.in[k].view.data == p.view.data && run.in[k].view.dtype == p.view.dtype && run.in[k].view.strides == p.view.strides)) ++k;
      if (k == run.in.size()) {
        run.in.push_back(p);
        layouts.push_back(p.view);
      }
      o.in.push_back({false, k});
    }
    const std::uint32_t root = s.out_roots[0];
    made.emplace(root, at);
    if (roots[root].kind == Root::Kind::result || last_use[root] >= end) {
      o.result = static_cast<int>(run.out_roots.size());
      run.out_roots.push_back(root);
    }
    operations.push_back(std::move(o));
  }
  run.program = std::make_shared<blocks::Program>(std::move(operations), layouts);
  return run;
}

/// Runs of element-wise steps with results of one shape, joined.
std::vector<Pending> join_elementwise(std::vector<Pending> steps, const std::vector<Root>& roots, Index least) {
  std::vector<std::uint32_t> last_use(roots.size(), 0);
  for (std::size_t n = 0; n < steps.size(); ++n)
    for (const Placed& p : steps[n].in) last_use[p.root] = static_cast<std::uint32_t>(n);
  std::vector<Pending> out;
  for (std::size_t begin = 0; begin < steps.size();) {
    const Type& type = roots[steps[begin].out_roots[0]].type;
    std::vector<std::uint32_t> made;
    std::size_t end = begin;
    for (; end < steps.size(); ++end) {
      const Pending& s = steps[end];
      const std::uint32_t root = s.out_roots[0];
      if (!s.elementwise || !(roots[root].type.shape == type.shape)) break;
      // What the run makes itself can only be read as it is made.
      const bool in_order = std::all_of(s.in.begin(), s.in.end(), [&](const Placed& p) { return std::find(made.begin(), made.end(), p.root) == made.end() || is_whole(p, roots[p.root]); });
      if (!in_order) break;
      made.push_back(root);
    }
    if (end - begin > 1 && type.shape.count() >= std::max<Index>(least, 1)) {
      out.push_back(joined(steps, begin, end, last_use, roots));
      begin = end;
    } else {
      for (end = std::max(end, begin + 1); begin < end; ++begin) out.push_back(std::move(steps[begin]));
    }
  }
  return out;
}

/// Blocks of the arena by first fit in time: taken when a value is made, given back after its last use.
class Arena {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t need = std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= need && (best == free_.end() || it->second < best->second)) best = it;
    if (best == free_.end()) {
      // Grow, starting in the last free block if that touches the end.
      std::size_t begin = size_;
      if (!free_.empty() && std::prev(free_.end())->first + std::prev(free_.end())->second == size_) {
        begin = std::prev(free_.end())->first;
        free_.erase(std::prev(free_.end()));
      }
      size_ = begin + need;
      return begin;
    }
    const auto [begin, length] = *best;
    free_.erase(best);
    if (length > need) free_.emplace(begin + need, length - need);
    return begin;
  }
  void give(std::size_t begin, std::size_t bytes) {
    std::size_t length = std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && begin + length == next->first) {
      length += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == begin) {
        before->second += length;
        return;
      }
    }
    free_.emplace(begin, length);
  }
  std::size_t size() const { return size_; }

 private:
  std::map<std::size_t, std::size_t> free_;
  std::size_t size_ = 0;
};

}  // namespace

struct Plan::Body {
  std::vector<Root> roots;
  std::vector<Placed> slots;             ///< one per operand of any step
  std::vector<Step> steps;
  std::vector<Tensor> constants;         ///< contiguous
  std::vector<AttributesPtr> attributes;  ///< kept alive, as are
  std::vector<std::shared_ptr<const blocks::Program>> programs;
  std::vector<Type> argument_types;
  std::vector<Placed> outputs;
  std::size_t arena = 0, naive = 0;

  /// Memory of one run in flight.
  struct Instance {
    std::byte* arena = nullptr;
    std::size_t bytes = 0;
    std::vector<View> views;
    std::vector<const View*> in;
    std::vector<View*> out;
    ~Instance() {
      if (arena) detail::deallocate(arena, bytes);
    }
  };
  static void run_step(const Step& s, const Instance& i) {
    const Inputs in{i.in.data() + s.in_begin, s.in_count};
    const Outputs out{i.out.data() + s.out_begin, s.out_count};
    if (s.kernel) s.kernel(in, out, s.attr);
    else (*s.program)(in, out);
  }

  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Instance>> idle;
  std::vector<std::uint32_t> moving;  ///< slots whose root is an argument or a result

  std::unique_ptr<Instance> instance() const {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto i = std::move(idle.back());
        idle.pop_back();
        return i;
      }
    }
    auto i = std::make_unique<Instance>();
    if (arena) {
      i->arena = static_cast<std::byte*>(detail::allocate(arena));
      i->bytes = arena;
    }
    i->views.reserve(slots.size());
    for (const Placed& s : slots) {
      const Root& r = roots[s.root];
      View v = s.view;
      if (r.kind == Root::Kind::arena) v.data = at(i->arena + r.offset, s.view);
      if (r.kind == Root::Kind::constant) v.data = at(constants[r.index].view().data, s.view);
      i->views.push_back(v);
    }
    for (View& v : i->views) {
      i->in.push_back(&v);
      i->out.push_back(&v);
    }
    return i;
  }
};

Plan::Plan(const Graph& g, Index join_from) : body_(std::make_unique<Body>()) {
  Body& b = *body_;
  std::vector<Placed> placed(g.types.size());
  auto root_of_value = [&](Root::Kind kind, Graph::Id id, std::uint32_t index) {
    b.roots.push_back({kind, index, bytes_of(g.types[id]), 0, g.types[id], 0});
    placed[id] = {static_cast<std::uint32_t>(b.roots.size() - 1),
                  {nullptr, g.types[id].dtype, g.types[id].shape, row_major(g.types[id].shape)}};
  };
  for (Graph::Id id : g.inputs) {
    root_of_value(Root::Kind::argument, id, static_cast<std::uint32_t>(b.argument_types.size()));
    b.argument_types.push_back(g.types[id]);
  }
  for (const auto& [id, t] : g.captures) {
    root_of_value(Root::Kind::constant, id, static_cast<std::uint32_t>(b.constants.size()));
    // A repeated value stays a repeated value: its strides are part of the view.
    b.constants.push_back(t);
    placed[id].view.strides = t.view().strides;
  }

  // First pass: steps with their operands; views resolve to their root, kernels that need it get packed copies.
  std::vector<Pending> pending;
  auto new_arena_root = [&](const Type& t) {
    b.roots.push_back({Root::Kind::arena, 0, bytes_of(t), 0, t, 0});
    b.naive += b.roots.back().bytes;
    return static_cast<std::uint32_t>(b.roots.size() - 1);
  };
  auto packed = [&](const Graph::Equation& e, const Placed& p) {
    const Type t = p.view.type();
    const std::uint32_t root = new_arena_root(t);
    pending.push_back({nullptr, [](Inputs in, Outputs out, const Attributes*) { kernels::copy(*in[0], *out[0]); }, nullptr, e.where, false, {p}, {root}, {}});
    return Placed{root, {nullptr, t.dtype, t.shape, row_major(t.shape)}};
  };
  for (const Graph::Equation& e : g.equations) {
    const Primitive& p = *e.primitive;
    std::vector<Placed> in;
    std::vector<Dtype> dtypes;
    for (Graph::Id id : g.in(e)) {
      in.push_back(placed[id]);
      dtypes.push_back(g.types[id].dtype);
    }
    if (p.view) {
      View v;
      if (!p.view(in[0].view, e.attr.get(), v)) {
        in[0] = packed(e, in[0]);
        if (!p.view(in[0].view, e.attr.get(), v)) fail(p.name, "cannot be planned");
      }
      placed[e.out_begin] = {in[0].root, v};
      continue;
    }
    const KernelFn kernel = p.kernel(dtypes, e.attr.get());
    if (!kernel) fail(p.name, "not defined for " + to_string(g.types[g.in(e)[0]]), e.where);
    if (!p.takes_strides)
      for (Placed& operand : in)
        if (!operand.view.contiguous()) operand = packed(e, operand);
    if (e.attr) b.attributes.push_back(e.attr);
    Pending step{&p, kernel, e.attr.get(), e.where, p.elementwise, std::move(in), {}, {}};
    for (Graph::Id k = 0; k < e.out_count; ++k) {
      const Graph::Id id = e.out_begin + k;
      step.out_roots.push_back(new_arena_root(g.types[id]));
      placed[id] = {step.out_roots.back(), {nullptr, g.types[id].dtype, g.types[id].shape, row_major(g.types[id].shape)}};
    }
    pending.push_back(std::move(step));
  }

  // Results live in fresh memory for every run.
  for (Graph::Id id : g.outputs) {
    Root& r = b.roots[placed[id].root];
    if (r.kind == Root::Kind::arena) {
      r.kind = Root::Kind::result;
      b.naive -= r.bytes;
    }
    b.outputs.push_back(placed[id]);
  }
  std::uint32_t results = 0;
  for (Root& r : b.roots)
    if (r.kind == Root::Kind::result) r.index = results++;

  pending = join_elementwise(std::move(pending), b.roots, join_from);

  // Second pass: memory.
  for (std::uint32_t n = 0; n < pending.size(); ++n) {
    for (const Placed& p : pending[n].in) b.roots[p.root].last_use = n;
    for (std::uint32_t root : pending[n].out_roots) b.roots[root].last_use = std::max(b.roots[root].last_use, n);
  }
  Arena arena;
  for (std::uint32_t n = 0; n < pending.size(); ++n) {
    Pending& step = pending[n];
    // Results of element-wise steps over operands that die here, each over one that is not read after.
    std::vector<std::uint32_t> reused;
    for (std::uint32_t k = 0; k < step.out_roots.size(); ++k) {
      Root& out = b.roots[step.out_roots[k]];
      if (out.kind != Root::Kind::arena) continue;
      const auto over = [&](std::uint32_t root) {
        const Root& r = b.roots[root];
        if (r.kind != Root::Kind::arena || r.last_use != n || r.bytes != out.bytes || std::find(reused.begin(), reused.end(), root) != reused.end()) return false;
        for (std::uint32_t j = 0; j < step.in.size(); ++j)
          if (step.in[j].root == root && !(is_whole(step.in[j], r) && size_of(step.in[j].view.dtype) == size_of(out.type.dtype) && (!step.program || step.program->last_read[j] <= step.program->written[k]))) return false;
        return true;
      };
      const auto found = step.elementwise ? std::find_if(step.in.begin(), step.in.end(), [&](const Placed& p) { return over(p.root); }) : step.in.end();
      if (found != step.in.end()) {
        reused.push_back(found->root);
        out.offset = b.roots[found->root].offset;
      } else {
        out.offset = arena.take(out.bytes);
      }
    }
    std::vector<std::uint32_t> dying;
    for (const Placed& p : step.in) dying.push_back(p.root);
    for (std::uint32_t root : step.out_roots) dying.push_back(root);
    std::sort(dying.begin(), dying.end());
    dying.erase(std::unique(dying.begin(), dying.end()), dying.end());
    for (std::uint32_t root : dying) {
      const Root& r = b.roots[root];
      if (r.kind == Root::Kind::arena && r.last_use == n && std::find(reused.begin(), reused.end(), root) == reused.end()) arena.give(r.offset, r.bytes);
    }
    Step s{step.kernel, step.program.get(), step.attr, static_cast<std::uint32_t>(b.slots.size()), static_cast<std::uint32_t>(step.in.size()), 0,
           static_cast<std::uint32_t>(step.out_roots.size()), step.where};
    if (step.program) b.programs.push_back(step.program);
    for (const Placed& p : step.in) b.slots.push_back(p);
    s.out_begin = static_cast<std::uint32_t>(b.slots.size());
    for (std::uint32_t root : step.out_roots) {
      const Type& t = b.roots[root].type;
      b.slots.push_back({root, {nullptr, t.dtype, t.shape, row_major(t.shape)}});
    }
    b.steps.push_back(s);
  }
  b.arena = arena.size();
  for (std::uint32_t k = 0; k < b.slots.size(); ++k) {
    const Root::Kind kind = b.roots[b.slots[k].root].kind;
    if (kind == Root::Kind::argument || kind == Root::Kind::result) b.moving.push_back(k);
  }
}

Plan::~Plan() = default;
std::size_t Plan::steps() const { return body_->steps.size(); }
std::size_t Plan::arena_bytes() const { return body_->arena; }
std::size_t Plan::naive_bytes() const { return body_->naive; }

std::vector<Tensor> Plan::run(std::span<const Tensor> inputs) const {
  const Body& b = *body_;
  std::vector<Tensor> arguments(inputs.begin(), inputs.end()), results;
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (!arguments[k].view().contiguous()) arguments[k] = detail::contiguous_copy(arguments[k].view());
  for (const Root& r : b.roots)
    if (r.kind == Root::Kind::result) results.push_back(detail::empty_result(r.type.dtype, r.type.shape));
  std::unique_ptr<Body::Instance> i = b.instance();
  for (std::uint32_t k : b.moving) {
    const Placed& p = b.slots[k];
    const Root& r = b.roots[p.root];
    const Tensor& base = r.kind == Root::Kind::argument ? arguments[r.index] : results[r.index];
    i->views[k].data = at(base.view().data, p.view);
  }
  detail::Context& c = detail::context();
  for (const Step& s : b.steps) {
    c.where = s.where;
    Body::run_step(s, *i);
  }
  {
    std::lock_guard lock(b.mutex);
    b.idle.push_back(std::move(i));
  }
  std::vector<Tensor> out;
  for (const Placed& p : b.outputs) {
    const Root& r = b.roots[p.root];
    const Tensor& base = r.kind == Root::Kind::argument ? arguments[r.index] : r.kind == Root::Kind::constant ? b.constants[r.index] : results[r.index];
    View v = p.view;
    v.data = at(base.view().data, p.view);
    out.push_back(v.data == base.view().data && v.shape == base.shape() && v.strides == base.view().strides ? base : detail::view_result(base, v));
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
  std::vector<int> output_of;         ///< of each root: the output that it is, or -1
  std::vector<Tensor> own;            ///< of each root: memory of results that are no output as a whole
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
    const bool whole = r.kind == Root::Kind::result && m.output_of[p.root] < 0 && p.view.data == nullptr && p.view.contiguous() && bytes_of(p.view.type()) == r.bytes;
    if (whole) m.output_of[p.root] = static_cast<int>(k);
    else m.copied.emplace_back(k, p.view);
  }
  for (std::size_t k = 0; k < body_.roots.size(); ++k)
    if (body_.roots[k].kind == Root::Kind::result && m.output_of[k] < 0) m.own[k] = empty(body_.roots[k].type);
  for (std::uint32_t k : body_.moving) m.moving.push_back({k, body_.slots[k].root, reinterpret_cast<std::ptrdiff_t>(body_.slots[k].view.data)});
}

Plan::Run::~Run() {
  std::lock_guard lock(body_.mutex);
  body_.idle.push_back(std::move(memory_->instance));
}

void Plan::Run::operator()(const std::byte* const* in, std::byte* const* out) {
  Memory& m = *memory_;
  Body::Instance& i = *m.instance;
  const auto base = [&](std::uint32_t root) -> std::byte* {
    const Root& r = body_.roots[root];
    if (r.kind == Root::Kind::argument) return const_cast<std::byte*>(in[r.index]);
    if (m.output_of[root] >= 0) return out[m.output_of[root]];
    return static_cast<std::byte*>(r.kind == Root::Kind::constant ? body_.constants[r.index].view().data : m.own[root].view().data);
  };
  for (const Memory::Moving& v : m.moving) i.views[v.slot].data = base(v.root) + v.offset;
  detail::Context& c = detail::context();
  for (const Step& s : body_.steps) {
    c.where = s.where;
    Body::run_step(s, i);
  }
  for (const auto& [k, view] : m.copied) {
    View from = view;
    from.data = at(base(body_.outputs[k].root), view);
    kernels::copy(from, {out[k], view.dtype, view.shape, row_major(view.shape)});
  }
}

namespace detail {

std::vector<Tensor> PlanCache::run(const FlatFunction& f, const std::vector<Tensor>& x) {
  std::vector<Type> types;
  for (const Tensor& t : x) {
    if (t.is_traced()) return f(x);
    types.push_back(t.type());
  }
  std::shared_ptr<const Plan> plan;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [known, p] : plans_)
      if (known == types) plan = p;
  }
  if (!plan) {
    const Recording r = record_abstract("jit", f, types);
    for (const auto& [id, t] : r.graph.captures)
      if (t.is_traced()) return evaluate(r.graph, x);
    plan = std::make_shared<Plan>(optimize(r.graph));
    std::lock_guard lock(mutex_);
    plans_.emplace_back(types, plan);
  }
  return plan->run(x);
}

}  // namespace detail
}  // namespace tessera
