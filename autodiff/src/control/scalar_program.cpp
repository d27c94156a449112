// SPDX-License-Identifier: Apache-2.0
//
// Register code for graphs whose values are single numbers. Each value has a register of eight
// bytes. Equal operations that do not depend on each other are done together: their results lie
// side by side, their operands are gathered, and one loop of the kernels' own scalar functions,
// vectorised as there, computes them: the bits are those of the kernels. A switch chooses the loop;
// its cases are the rows of the table in kernels/body.h that say so, others go through their
// kernel.
//
// Cost: 1 to 2 ns for a simple operation alone, down to 0.3 ns in a group of sixty.
#include "../base/context.h"
#include "../core/graph_passes.h"
#include "../core/own_primitive.h"
#include "../kernels/arithmetic.h"
#include "../kernels/functions.h"
#include "program.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace tessera::detail {
namespace {

constexpr std::uint32_t kNone = ~0u;
using Register = std::uint32_t;

// The rows of the table of element-wise operations (kernels/body.h) that have an instruction.
#define TESSERA_ROWS(ROW) TESSERA_ARITHMETIC_ROWS(ROW) TESSERA_FUNCTION_ROWS(ROW)
#define TESSERA_IF_scalar(...) __VA_ARGS__
#define TESSERA_IF_kernel(...)

#define TESSERA_OP(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) TESSERA_IF_##SCALAR(TYPE, )
enum class Op : std::uint8_t { TESSERA_ROWS(TESSERA_OP) kernel };
#undef TESSERA_OP

/// The operation of the switch that a primitive on f64 is, or `kernel`.
Op op_of(const Primitive& p, Dtype first, Dtype last) {
#define TESSERA_OP(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) \
  TESSERA_IF_##SCALAR({NAME, Op::TYPE}, )
  static constexpr std::pair<const char*, Op> names[] = {TESSERA_ROWS(TESSERA_OP)};
#undef TESSERA_OP
  static const std::unordered_map<const Primitive*, Op> known = [] {
    std::unordered_map<const Primitive*, Op> by_primitive;
    for (const auto& [name, op] : names) by_primitive.emplace(&own_primitive(name), op);
    return by_primitive;
  }();
  const auto it = known.find(&p);
  if (last != Dtype::f64 || it == known.end()) return Op::kernel;
  return first == Dtype::f64 || it->second == Op::Select ? it->second : Op::kernel;
}

/// `n` applications of one operation; results in registers out ... out+n-1.
struct Instruction {
  Op op = Op::kernel;
  std::uint32_t n = 0, out = 0;
  std::uint32_t in[3] = {};  ///< first register of each operand, side by side
  std::uint32_t gather[3] = {kNone, kNone, kNone};  ///< or where its registers are listed
  std::uint32_t call = kNone;                       ///< of `kernel`
};
/// What an application through its kernel needs.
struct Call {
  KernelFn kernel;
  AttributesPtr attr;
  SourceLine line;
  std::vector<Type> in, out;                ///< of one application
  std::vector<std::vector<Register>> from;  ///< registers of each operand, for each application
  std::uint32_t n, result;
};
struct Port {
  Register reg;
  std::uint32_t bytes;
};

bool is_scalar(const Type& t) { return t.shape.count() == 1 && !is_complex(t.dtype); }

class ScalarRun;

class ScalarProgram : public Program {
 public:
  explicit ScalarProgram(const Graph& g);
  ~ScalarProgram() override;
  std::unique_ptr<Run> start() const override;
  void give_back(std::unique_ptr<ScalarRun> run) const;

  std::vector<Instruction> code;
  std::vector<Register> lists;  ///< registers of gathered operands
  std::vector<Call> calls;
  std::vector<Port> inputs, outputs;
  std::vector<std::pair<Register, Tensor>> constants;
  Register registers = 0;
  std::uint32_t widest = 1;
  bool all_wide = true;  ///< every input and output has eight bytes

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<ScalarRun>> idle_;
};

/// Equations that are done together.
struct Together {
  const Graph::Equation* first;
  Op op;
  std::vector<const Graph::Equation*> members;
};

bool joins(const Graph& g, const Together& t, const Graph::Equation& e) {
  const Graph::Equation& f = *t.first;
  if (f.primitive != e.primitive || !e.primitive->elementwise || f.in_count != e.in_count)
    return false;
  for (Graph::Id k = 0; k < e.in_count; ++k)
    if (g.types[g.in(f)[k]].dtype != g.types[g.in(e)[k]].dtype) return false;
  return f.attr == e.attr || (f.attr && e.attr && f.attr->equal(*e.attr));
}

ScalarProgram::ScalarProgram(const Graph& g) {
  std::vector<Register> reg(g.types.size(), kNone);
  std::vector<std::uint32_t> level(g.types.size(), 0);
  for (Graph::Id id : g.inputs) {
    reg[id] = registers++;
    inputs.push_back({reg[id], static_cast<std::uint32_t>(size_of(g.types[id].dtype))});
  }
  for (const auto& [id, t] : g.captures) {
    reg[id] = registers++;
    constants.emplace_back(reg[id], t);
  }
  // A value's level is the longest chain of operations before it; equal operations of one level go
  // together.
  std::vector<std::vector<Together>> levels;
  std::vector<std::pair<Graph::Id, Graph::Id>> views;
  std::vector<Graph::Id> same_as(g.types.size());
  for (Graph::Id id = 0; id < same_as.size(); ++id) same_as[id] = id;
  for (const Graph::Equation& e : g.equations) {
    std::uint32_t at = 0;
    for (Graph::Id id : g.in(e)) at = std::max(at, level[same_as[id]]);
    if (e.primitive->view) {
      same_as[e.out_begin] = same_as[g.in(e)[0]];
      continue;
    }
    for (Graph::Id k = 0; k < e.out_count; ++k) level[e.out_begin + k] = at + 1;
    if (levels.size() <= at) levels.resize(at + 1);
    auto together = std::find_if(levels[at].begin(), levels[at].end(),
                                 [&](const Together& t) { return joins(g, t, e); });
    if (together != levels[at].end()) {
      together->members.push_back(&e);
      continue;
    }
    levels[at].push_back({&e,
                          e.in_count ? op_of(*e.primitive, g.types[g.in(e)[0]].dtype,
                                             g.types[g.in(e)[e.in_count - 1]].dtype)
                                     : Op::kernel,
                          {&e}});
  }
  const auto reg_of = [&](const Graph::Equation& e, Graph::Id k) {
    return reg[same_as[g.in(e)[k]]];
  };
  for (std::vector<Together>& all : levels)
    for (Together& t : all) {
      const Graph::Equation& f = *t.first;
      if (t.members.size() >
          1)  // in the order of their first operands, which then more often lie side by side
        std::stable_sort(t.members.begin(), t.members.end(),
                         [&](auto* a, auto* b) { return reg_of(*a, 0) < reg_of(*b, 0); });
      Instruction i;
      i.op = t.op;
      i.n = static_cast<std::uint32_t>(t.members.size());
      i.out = registers;
      widest = std::max(widest, i.n);
      for (const Graph::Equation* e : t.members)
        for (Graph::Id k = 0; k < e->out_count; ++k) reg[e->out_begin + k] = registers++;
      if (i.op != Op::kernel) {
        for (Graph::Id k = 0; k < f.in_count; ++k) {
          i.in[k] = reg_of(f, k);
          bool side_by_side = true;
          for (std::uint32_t m = 0; m < i.n; ++m)
            side_by_side = side_by_side && reg_of(*t.members[m], k) == reg_of(*t.members[0], k) + m;
          if (side_by_side) {
            i.in[k] = reg_of(*t.members[0], k);
            continue;
          }
          i.gather[k] = static_cast<std::uint32_t>(lists.size());
          for (const Graph::Equation* e : t.members) lists.push_back(reg_of(*e, k));
        }
      } else {
        Call c{nullptr, f.attr, f.line, {}, {}, {}, i.n, i.out};
        std::vector<Dtype> dtypes;
        for (Graph::Id k = 0; k < f.in_count; ++k) {
          c.in.push_back(g.types[g.in(f)[k]]);
          dtypes.push_back(c.in.back().dtype);
          c.from.emplace_back();
          for (const Graph::Equation* e : t.members) c.from.back().push_back(reg_of(*e, k));
        }
        for (Graph::Id k = 0; k < f.out_count; ++k) c.out.push_back(g.types[f.out_begin + k]);
        c.kernel = f.primitive->kernel(dtypes, f.attr.get());
        if (!c.kernel) fail(f.primitive->name, "not defined for " + to_string(c.in[0]), f.line);
        i.call = static_cast<std::uint32_t>(calls.size());
        calls.push_back(std::move(c));
      }
      code.push_back(i);
    }
  for (Graph::Id id : g.outputs)
    outputs.push_back({reg[same_as[id]], static_cast<std::uint32_t>(size_of(g.types[id].dtype))});
  for (const Port& p : inputs) all_wide = all_wide && p.bytes == 8;
  for (const Port& p : outputs) all_wide = all_wide && p.bytes == 8;
}

bool truth(const double* r) {
  bool b;
  std::memcpy(&b, r, 1);
  return b;
}
void put(double* r, bool b) { std::memcpy(r, &b, 1); }
void put(double* r, double x) { *r = x; }

class ScalarRun {
 public:
  explicit ScalarRun(const ScalarProgram& p)
      : p_(p), r_(p.registers, 0.0), gathered_(3 * static_cast<std::size_t>(p.widest)) {
    for (const auto& [reg, t] : p.constants)
      std::memcpy(&r_[reg], t.view().data, size_of(t.dtype()));
    for (const Call& c : p.calls) ready_.push_back(prepare(c));
  }
  void operator()(const std::byte* const* in, std::byte* const* out) {
    double* r = r_.data();
    const std::size_t n_in = p_.inputs.size(), n_out = p_.outputs.size();
    if (p_.all_wide)
      for (std::size_t k = 0; k < n_in; ++k)
        std::memcpy(r + k, in[k], 8);  // inputs take the first registers
    else
      for (std::size_t k = 0; k < n_in; ++k) move(r + k, in[k], p_.inputs[k].bytes);
    for (const Instruction& i : p_.code) {
      if (i.op == Op::kernel)
        call(p_.calls[i.call], ready_[i.call]);
      else if (i.n == 1)
        one(i, r);
      else
        many(i, r);
    }
    if (p_.all_wide)
      for (std::size_t k = 0; k < n_out; ++k) std::memcpy(out[k], r + p_.outputs[k].reg, 8);
    else
      for (std::size_t k = 0; k < n_out; ++k)
        move(out[k], r + p_.outputs[k].reg, p_.outputs[k].bytes);
  }

 private:
  static void move(void* to, const void* from, std::uint32_t bytes) {
    if (bytes == 8)
      std::memcpy(to, from, 8);
    else if (bytes == 1)
      std::memcpy(to, from, 1);
    else
      std::memcpy(to, from, 4);
  }

  static void one(const Instruction& i, double* r) {
    const double *a = r + i.in[0], *b = r + i.in[1], *c = r + i.in[2];
    double* o = r + i.out;
#define TESSERA_ONE_unary(BODY) put(o, BODY::eval(*a))
#define TESSERA_ONE_periodic(BODY) TESSERA_ONE_unary(BODY)
#define TESSERA_ONE_complex_periodic(BODY) TESSERA_ONE_unary(BODY)
#define TESSERA_ONE_binary(BODY) put(o, BODY::eval(*a, *b))
#define TESSERA_ONE_select(BODY) put(o, BODY::eval(truth(a), *b, *c))
#define TESSERA_ONE(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) \
  TESSERA_IF_##SCALAR(case Op::TYPE : TESSERA_ONE_##KIND(kernels::body::TYPE); break;)
    switch (i.op) {
      TESSERA_ROWS(TESSERA_ONE)
      case Op::kernel:
        break;
    }
#undef TESSERA_ONE
  }

  const double* operand(const Instruction& i, int k, const double* r) {
    if (i.gather[k] == kNone) return r + i.in[k];
    double* to = gathered_.data() + static_cast<std::size_t>(k) * p_.widest;
    const Register* from = p_.lists.data() + i.gather[k];
    for (std::uint32_t j = 0; j < i.n; ++j) std::memcpy(to + j, r + from[j], 8);
    return to;
  }
  template <class F>
  static void map1(std::uint32_t n, const double* a, double* o, F f) {
#pragma GCC ivdep
    for (std::uint32_t j = 0; j < n; ++j) o[j] = f(a[j]);
  }
  template <class Body>
  static void unary(std::uint32_t n, const double* a, double* o) {
    map1(n, a, o, [](double x) TESSERA_INLINE { return Body::eval(x); });
  }
  template <class Body>
  static void complex_periodic(std::uint32_t n, const double* a, double* o) {
    unary<Body>(n, a, o);
  }
  /// The vectorising form holds for arguments that are not far from 0.
  template <class Body>
  static void periodic(std::uint32_t n, const double* a, double* o) {
    bool near = true;
    for (std::uint32_t j = 0; j < n; ++j) near = near && Body::is_near(a[j]);
    if (near) return map1(n, a, o, [](double x) TESSERA_INLINE { return Body::near(x); });
    for (std::uint32_t j = 0; j < n; ++j) o[j] = Body::eval(a[j]);
  }
  template <class Body>
  static void binary(std::uint32_t n, const double* a, const double* b, double* o) {
    if constexpr (std::is_same_v<decltype(Body::eval(0.0, 0.0)), bool>) {
      for (std::uint32_t j = 0; j < n; ++j) put(o + j, Body::eval(a[j], b[j]));
    } else {
#pragma GCC ivdep
      for (std::uint32_t j = 0; j < n; ++j) o[j] = Body::eval(a[j], b[j]);
    }
  }
  template <class Body>
  static void select(std::uint32_t n, const double* a, const double* b, const double* c,
                     double* o) {
    for (std::uint32_t j = 0; j < n; ++j) o[j] = Body::eval(truth(a + j), b[j], c[j]);
  }
  void many(const Instruction& i, double* r) {
    const std::uint32_t n = i.n;
    const double* a = operand(i, 0, r);
    double* o = r + i.out;
    const auto b = [&] { return operand(i, 1, r); };
    const auto c = [&] { return operand(i, 2, r); };
#define TESSERA_OPERANDS_unary n, a, o
#define TESSERA_OPERANDS_periodic n, a, o
#define TESSERA_OPERANDS_complex_periodic n, a, o
#define TESSERA_OPERANDS_binary n, a, b(), o
#define TESSERA_OPERANDS_select n, a, b(), c(), o
#define TESSERA_MANY(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) \
  TESSERA_IF_##SCALAR(case Op::TYPE : return KIND<kernels::body::TYPE>(TESSERA_OPERANDS_##KIND);)
    switch (i.op) {
      TESSERA_ROWS(TESSERA_MANY)
      case Op::kernel:
        return;
    }
#undef TESSERA_MANY
  }

  /// Views of a call's operands and results: registers themselves for one application, packed
  /// copies for several.
  struct Ready {
    std::vector<std::vector<double>> packed;
    std::vector<View> views;
    std::vector<const View*> in;
    std::vector<View*> out;
  };
  Ready prepare(const Call& c) {
    Ready y;
    const auto view = [&](const Type& t, Register reg) {
      if (c.n == 1) return View{&r_[reg], t.dtype, t.shape, row_major(t.shape)};
      y.packed.emplace_back(c.n);
      return View{y.packed.back().data(), t.dtype, {static_cast<Index>(c.n)}, {1}};
    };
    for (std::size_t k = 0; k < c.in.size(); ++k) y.views.push_back(view(c.in[k], c.from[k][0]));
    for (std::size_t k = 0; k < c.out.size(); ++k)
      y.views.push_back(view(c.out[k], c.result + static_cast<Register>(k)));
    for (std::size_t k = 0; k < y.views.size(); ++k) {
      if (k < c.in.size())
        y.in.push_back(&y.views[k]);
      else
        y.out.push_back(&y.views[k]);
    }
    return y;
  }
  void call(const Call& c, Ready& y) {
    const AtLine at(context(), c.line);
    if (c.n == 1) return c.kernel(y.in, y.out, c.attr.get());
    for (std::size_t k = 0; k < c.in.size(); ++k) {
      const auto bytes = static_cast<std::uint32_t>(size_of(c.in[k].dtype));
      auto* to = static_cast<std::byte*>(y.views[k].data);
      for (std::uint32_t j = 0; j < c.n; ++j) move(to + j * bytes, &r_[c.from[k][j]], bytes);
    }
    c.kernel(y.in, y.out, c.attr.get());
    const auto bytes = static_cast<std::uint32_t>(size_of(c.out[0].dtype));
    const auto* from = static_cast<const std::byte*>(y.views.back().data);
    for (std::uint32_t j = 0; j < c.n; ++j) move(&r_[c.result + j], from + j * bytes, bytes);
  }

  const ScalarProgram& p_;
  std::vector<double> r_, gathered_;
  std::vector<Ready> ready_;
};

/// Registers on loan from the program: loops and branches inside of a loop start often.
class Lease : public Program::Run {
 public:
  Lease(const ScalarProgram& p, std::unique_ptr<ScalarRun> run) : p_(p), run_(std::move(run)) {}
  ~Lease() override { p_.give_back(std::move(run_)); }
  void operator()(const std::byte* const* in, std::byte* const* out) override { (*run_)(in, out); }

 private:
  const ScalarProgram& p_;
  std::unique_ptr<ScalarRun> run_;
};

ScalarProgram::~ScalarProgram() = default;
void ScalarProgram::give_back(std::unique_ptr<ScalarRun> run) const {
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(run));
}
std::unique_ptr<Program::Run> ScalarProgram::start() const {
  std::unique_ptr<ScalarRun> run;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      run = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!run) run = std::make_unique<ScalarRun>(*this);
  return std::make_unique<Lease>(*this, std::move(run));
}

}  // namespace

std::unique_ptr<const Program> compile_scalar(const Graph& g) {
  for (const Type& t : g.types)
    if (!is_scalar(t)) return nullptr;
  if (order_of(g) != Ordering::free) return nullptr;
  return std::make_unique<ScalarProgram>(g);
}

}  // namespace tessera::detail
