// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/graph.h"

#include "../base/context.h"
#include "../base/small_array.h"
#include "graph_passes.h"
#include "tensor_internal.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace tessera {

namespace {

/// The name of value `id` of `recorder`.
Tensor traced(const std::shared_ptr<Recorder>& recorder, Graph::Id id, const Type& type) {
  detail::TensorImpl* p = detail::new_impl();
  p->view.dtype = type.dtype;
  p->view.shape = type.shape;
  p->id = id;
  p->recorder = recorder;
  return Tensor(p);
}
}  // namespace

Tensor Recorder::input(const std::shared_ptr<Recorder>& self, const Type& type,
                       const Tensor& value) {
  const Graph::Id id = self->graph_.add_value(type);
  self->graph_.inputs.push_back(id);
  if (self->live_) self->values_.push_back(value);
  return traced(self, id, type);
}

Graph::Id Recorder::id_of(const Tensor& t) {
  if (t.impl()->recorder.get() == this) return t.impl()->id;
  const auto [it, fresh] = captured_.try_emplace(t.impl(), 0);
  if (fresh) {
    it->second = graph_.add_value(t.type());
    graph_.captures.emplace_back(it->second, t);
    if (live_) values_.push_back(t);
  }
  return it->second;
}

void Recorder::record(const std::shared_ptr<Recorder>& self, const Primitive& p,
                      std::span<const Tensor* const> in, AttributesPtr attr, SourceLine line,
                      std::span<Tensor> out) {
  Recorder& r = *self;
  Graph& g = r.graph_;
  const auto in_begin = static_cast<Graph::Id>(g.operands.size());
  for (const Tensor* t : in) {
    const Graph::Id id = r.id_of(*t);
    g.operands.push_back(id);
  }
  const auto in_count = static_cast<Graph::Id>(in.size());
  if (r.live_ && out.size() == 1) {  // the usual case allocates nothing of its own
    detail::SmallArray<const Tensor*> values(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) values[k] = &r.values_[g.operands[in_begin + k]];
    // `values_` may grow (and move) only after this call: operations on live values belong to outer
    // scopes.
    Tensor value;
    dispatch(p, values.span(), attr, line, {&value, 1});
    const Graph::Id id = g.add_value(value.type());
    r.values_.push_back(std::move(value));
    out[0] = traced(self, id, g.types[id]);
    g.equations.push_back({&p, in_begin, in_count, id, 1, std::move(attr), line});
    return;
  }
  Types results;
  if (r.live_) {
    detail::SmallArray<const Tensor*> values(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) values[k] = &r.values_[g.operands[in_begin + k]];
    std::vector<Tensor> live_out(out.size());
    dispatch(p, values.span(), attr, line, live_out);
    for (Tensor& v : live_out) {
      results.push_back(v.type());
      r.values_.push_back(std::move(v));
    }
  } else {
    Types types;
    for (const Tensor* t : in) types.push_back(t->type());
    results = p.infer(types, attr.get());
    for (const Type& t : results) checked_bytes(p.name, t);
  }
  const auto out_begin = static_cast<Graph::Id>(g.types.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = traced(self, g.add_value(results[k]), results[k]);
  g.equations.push_back({&p, in_begin, in_count, out_begin, static_cast<Graph::Id>(out.size()),
                         std::move(attr), line});
}

namespace {

/// The same elements, whoever made them.
bool same_constant(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  const View &u = a.view(), &v = b.view();
  const bool alike = std::equal(u.strides.begin(), u.strides.end(), v.strides.begin());
  if (alike && u.data == v.data) return true;
  if (alike && std::all_of(u.strides.begin(), u.strides.end(), [](Index s) { return s == 0; }))
    return std::memcmp(u.data, v.data, size_of(u.dtype)) == 0;
  return u.contiguous() && v.contiguous() &&
         std::memcmp(u.data, v.data, size_of(u.dtype) * static_cast<std::size_t>(a.size())) == 0;
}

/// Rules make their constants anew every time (unit directions, factors). Equal ones become one
/// tensor, so that what is computed of them twice is found out by `simplify`. Single numbers are
/// left as they are: eager derivatives of scalars capture thousands.
void share_constants(Graph& g) {
  std::unordered_multimap<std::size_t, const Tensor*> known;
  for (auto& [id, t] : g.captures) {
    if (t.is_traced() || t.ndim() == 0 || t.size() == 0) continue;
    std::uint64_t first = 0;
    std::memcpy(&first, t.view().data, std::min<std::size_t>(size_of(t.dtype()), sizeof first));
    const std::size_t key =
        std::hash<std::uint64_t>()(first * 31 + static_cast<std::uint64_t>(t.size()));
    const Tensor* found = nullptr;
    for (auto [it, end] = known.equal_range(key); it != end && !found; ++it)
      if (same_constant(*it->second, t)) found = it->second;
    if (found)
      t = *found;
    else
      known.emplace(key, &t);
  }
}

/// Opens a recording on this thread and closes it however the function ends.
class Recorded {
 public:
  Recorded(const char* transform, bool live)
      : name_(transform),
        self_(std::make_shared<Recorder>(transform, live,
                                         static_cast<int>(detail::context().transforms.size()))) {}
  ~Recorded() {
    self_->close();
    detail::context().branch = branch_;
    detail::context().program = program_;
  }
  /// All that is done in this recording belongs to it, or to recordings inside of it.
  void take_all() { detail::context().branch = &self_; }
  /// What must run each time does.
  void take_ordered() { detail::context().program = &self_; }
  const std::shared_ptr<Recorder>& self() { return self_; }
  Recording finish(const std::vector<Tensor>& outputs) {
    for (const Tensor& t : outputs) {
      if (!t.defined()) fail(name_.name, "the function returned an undefined tensor");
      const Graph::Id id = self_->id_of(t);
      self_->graph().outputs.push_back(id);
    }
    return {std::move(self_->graph()), self_->values()};
  }

 private:
  struct Scope : detail::InTransform {
    const char* name;
    explicit Scope(const char* n) : InTransform(n), name(n) {}
  } name_;
  std::shared_ptr<Recorder> self_;
  const std::shared_ptr<Recorder>*branch_ = detail::context().branch,
        *program_ = detail::context().program;
};

enum class Takes { own, ordered, all };
Recording record_types(const char* transform, const FlatFunction& f, std::span<const Type> inputs,
                       Takes what) {
  Recorded scope(transform, false);
  if (what == Takes::all) scope.take_all();
  if (what == Takes::ordered) scope.take_ordered();
  std::vector<Tensor> args;
  for (const Type& t : inputs) args.push_back(Recorder::input(scope.self(), t, {}));
  Recording r = scope.finish(f(args));
  share_constants(r.graph);
  return r;
}

}  // namespace

Recording record_abstract(const char* transform, const FlatFunction& f,
                          std::span<const Type> inputs) {
  return record_types(transform, f, inputs, Takes::own);
}
Recording record_program(const char* transform, const FlatFunction& f,
                         std::span<const Type> inputs) {
  return record_types(transform, f, inputs, Takes::ordered);
}
Recording record_branch(const char* transform, const FlatFunction& f,
                        std::span<const Type> inputs) {
  return record_types(transform, f, inputs, Takes::all);
}

Recording record_live(const char* transform, const FlatFunction& f,
                      std::span<const Tensor> inputs) {
  Recorded scope(transform, true);
  std::vector<Tensor> args;
  for (const Tensor& t : inputs) args.push_back(Recorder::input(scope.self(), t.type(), t));
  return scope.finish(f(args));
}

std::vector<Tensor> evaluate(const Graph& g, std::span<const Tensor> inputs) {
  return detail::evaluate_by(
      g, inputs,
      [](const Graph::Equation& e, std::span<const Tensor* const> in, std::span<Tensor> out) {
        const detail::InRule rule(detail::context(), e.line);
        dispatch(*e.primitive, in, e.attr, e.line, out);
      });
}

std::vector<Tensor> detail::evaluate_by(const Graph& g, std::span<const Tensor> inputs,
                                        const EquationFn& apply) {
  std::vector<Tensor> values(g.types.size());
  for (std::size_t k = 0; k < g.inputs.size(); ++k) values[g.inputs[k]] = inputs[k];
  for (const auto& [id, t] : g.captures) values[id] = t;
  std::vector<std::uint32_t> last_use(g.types.size(), 0);
  for (std::size_t e = 0; e < g.equations.size(); ++e)
    for (Graph::Id id : g.in(g.equations[e])) last_use[id] = static_cast<std::uint32_t>(e);
  for (Graph::Id id : g.outputs) last_use[id] = ~0u;
  std::vector<const Tensor*> in;
  for (std::size_t k = 0; k < g.equations.size(); ++k) {
    const Graph::Equation& e = g.equations[k];
    in.clear();
    for (Graph::Id id : g.in(e)) in.push_back(&values[id]);
    apply(e, in, {values.data() + e.out_begin, e.out_count});
    for (Graph::Id id : g.in(e))
      if (last_use[id] == k) values[id] = Tensor();
  }
  std::vector<Tensor> out;
  for (Graph::Id id : g.outputs) out.push_back(values[id]);
  return out;
}

Graph trace(const FlatFunction& f, std::span<const Type> inputs) {
  return record_program("trace", f, inputs).graph;
}

void verify(const Graph& g) {
  std::vector<bool> defined(g.types.size(), false);
  auto bug = [](const std::string& m) { throw Error("[graph] " + m); };
  for (Graph::Id id : g.inputs) defined.at(id) = true;
  for (const auto& [id, t] : g.captures) {
    defined.at(id) = true;
    if (t.type() != g.types[id])
      bug("capture %" + std::to_string(id) + " has another type than recorded");
  }
  for (const Graph::Equation& e : g.equations) {
    Types in;
    for (Graph::Id id : g.in(e)) {
      if (!defined.at(id))
        bug(std::string(e.primitive->name) + " uses %" + std::to_string(id) +
            " before its definition");
      in.push_back(g.types[id]);
    }
    const Types out = e.primitive->infer(in, e.attr.get());
    if (out.size() != e.out_count) bug(std::string(e.primitive->name) + ": number of results");
    for (Graph::Id k = 0; k < e.out_count; ++k) {
      defined.at(e.out_begin + k) = true;
      if (out[k] != g.types[e.out_begin + k])
        bug(std::string(e.primitive->name) + ": result is " + to_string(out[k]) + ", recorded " +
            to_string(g.types[e.out_begin + k]));
    }
  }
  for (Graph::Id id : g.outputs)
    if (!defined.at(id)) bug("output %" + std::to_string(id) + " is not defined");
}

std::string to_string(const Graph& g) {
  auto value = [&](Graph::Id id) { return "%" + std::to_string(id); };
  auto typed = [&](Graph::Id id) { return value(id) + " " + to_string(g.types[id]); };
  auto list = [&](auto&& ids, auto&& show) {
    std::string s;
    for (Graph::Id id : ids) s += (s.empty() ? "" : ", ") + show(id);
    return s;
  };
  std::string out = "inputs " + list(g.inputs, typed) + "\n";
  for (const auto& [id, t] : g.captures) out += "capture " + typed(id) + "\n";
  for (const Graph::Equation& e : g.equations) {
    std::vector<Graph::Id> results;
    for (Graph::Id k = 0; k < e.out_count; ++k) results.push_back(e.out_begin + k);
    out += list(results, typed) + " = " + e.primitive->name + " " + list(g.in(e), value);
    if (e.attr) out += " {" + e.attr->text() + "}";
    if (is_known(e.line)) out += "  # " + to_string(e.line);
    out += "\n";
  }
  return out + "outputs " + list(g.outputs, value) + "\n";
}

}  // namespace tessera
