// SPDX-License-Identifier: Apache-2.0
//
// How an operation tells the engine all that every transform needs. One struct per primitive:
//
//   struct Sin : Elementwise<Sin, 1> {
//     static constexpr const char* name = "sin";
//     static constexpr DtypeSet dtypes = kInexact;
//     static KernelFn kernel(std::span<const Dtype> in);  // the body for these types
//     static Tensor d(int, std::span<const Tensor> x, const Tensor&) { return cos(x[0]); }
//   };
//   Tensor sin(Arg x) { return dispatch1(primitive<Sin>(), ...); }
//
// `primitive<P>()` proves at compile time that P has every rule its class demands. Classes:
//   linear       jvp = apply to the tangent;    `transpose`; `linear_in` if not in all operands
//   bilinear     jvp = product rule;            `transpose`
//   elementwise  jvp = sum_k d(k, x, y) * t_k;  derivative expressions `d`
//   zero         no derivative (integers, comparisons)
//   hand         `jvp` written by hand
// Taylor mode follows from the class and the jvp (src/transform/expansion.h); a primitive that
// solves undo(b, y) = a for y names `undo`, one that holds sub-graphs writes `jet`. Every class but
// elementwise must say `batch`; a primitive whose leading dimensions are already a batch derives
// from LeadingBatch. What an application costs follows from its types; where arithmetic is not one
// operation an element, `flops` tells it (bilinear and hand-written primitives must); `cost` tells
// all at once. A kernel that takes memory of its own (detail::Scratch) tells `workspace`: as many
// bytes as plans set aside for it, in the same block as values; what it takes beyond them is the
// engine's. A rule that cannot exist is said aloud:
// `static constexpr None transpose{"why"}`. What others see or wait for (messages, host calls)
// says `order`; a primitive that holds sub-graphs has theirs (src/core/graph_passes.h).
#pragma once
#include "tessera/autodiff/kernel.h"
#include "tessera/autodiff/tensor.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera {

/// One application of a primitive, as a derivative rule sees it. Where an input is the linear
/// unknown of a transpose it is undefined, but its type is known.
struct Application {
  std::span<const Tensor> in;
  std::span<const Tensor> out;
  std::span<const Type> in_types;
  AttributesPtr attr;
  template <class T>
  const T& get() const {
    return tessera::get<T>(attr.get());
  }
};

/// Taylor mode follows values along curves x(t) = x_0 + x_1 t + ... + x_K t^K: one curve, or many
/// that share x_0 and differ in their directions. Of many, the last coefficient is kept only as its
/// weighted sum over them
/// ("collapsed"): it enters all rules linearly, so that the sum may be taken before.
struct Curves {
  int order = 0;         ///< K
  Index directions = 0;  ///< number of curves; 0: one, without a leading axis
  Tensor weights;  ///< [directions] weights of the sum of the last coefficients; undefined: ones
};
/// x_k; undefined is zero. `batched`: it has a leading axis over the directions.
struct Coefficient {
  Tensor value;
  bool batched = false;
};
using Series = std::vector<Coefficient>;  ///< x_0 ... x_K; shorter is padded with zeros

enum class RuleClass : std::uint8_t { linear, bilinear, elementwise, zero, hand };

/// What stays of the order in which applications were recorded, whatever runs them.
enum class Ordering : std::uint8_t {
  free,  ///< nothing: operands say what is needed; equal ones become one, unread ones go
  kept,  ///< those that run do so in that order, one after the other: they may be seen by others
  /// Each of them runs, in that order, one after the other, on the thread that runs what holds it,
  /// as often as it was recorded or its loop steps: others wait for it. What is recorded as a part
  /// of a jit or a loop runs there, not while it is recorded, were all its operands known. A
  /// derivative asks for those that it needs, in an order that follows from the recording, never
  /// from sizes or values. Which branches are taken and how many steps a loop makes is the user's
  /// affair: it has to be the same for all that wait for each other.
  every,
};

/// What the engine knows of a primitive; built once by `primitive<P>()`.
struct Primitive {
  const char* name;
  RuleClass rule;
  /// Types of the results; throws with the operation, what was expected and what came.
  Types (*infer)(std::span<const Type> in, const Attributes*);
  /// The body for these element types; null where it is not defined.
  KernelFn (*kernel)(std::span<const Dtype> in, const Attributes*);
  /// Makes `out` a view of in[0] instead of computing it; null for primitives that compute.
  bool (*view)(const View& in, const Attributes*, View& out);
  /// How operands laid out so (their memory is not known yet) are taken row by row; gives null
  /// where they are not, and is null where none are.
  const RowKernel* (*row_kernel)(std::span<const View> in, const Attributes*);
  /// Output tangents from input tangents; an undefined tangent is zero.
  void (*jvp)(const Application&, std::span<const Tensor> t_in, std::span<Tensor> t_out);
  /// Cotangents of the inputs whose `linear` flag is set from those of the outputs (undefined =
  /// zero).
  void (*transpose)(const Application&, std::span<const bool> linear,
                    std::span<const Tensor> ct_out, std::span<Tensor> ct_in);
  /// The same application over a leading axis of `size` of those inputs that are flagged; all
  /// results carry it.
  void (*batch)(const Application&, std::span<const bool> batched, Index size,
                std::span<Tensor> out);
  /// Coefficients of the results from those of the operands; null where the class and `jvp` say it
  /// all.
  void (*jet)(const Curves&, const Application&, std::span<const Series> in, std::span<Series> out);
  /// The bilinear map that the primitive inverts: y = p(.., a, .., b, ..) solves undo(b, y) = a,
  /// where `a` is the operand `numerator` and b the other one; null for all others.
  Tensor (*undo)(const Application&, const Tensor& b, const Tensor& y);
  int numerator;
  Dtype (*result)(std::span<const Dtype> in,
                  const Attributes*);  ///< elementwise only: type of the result
  bool elementwise;    ///< output element i depends on input elements i alone, all shapes equal
  bool takes_strides;  ///< kernel accepts any strides; else inputs are made contiguous first
  bool runs_programs;  ///< loops, branches, host calls: may not end, may be seen by others
  Ordering (*order)(const Attributes*);
  /// Which results have a derivative along the flagged operands; null where all that are not
  /// integers have.
  std::vector<bool> (*moved)(const std::vector<bool>& operands, const Attributes*);
  bool (*linear_in)(std::size_t operand,
                    const Attributes*);  ///< linear and bilinear classes: in which operands
  Cost (*cost)(std::span<const Type> in, std::span<const Type> out, const Attributes*);
  /// Bytes that the kernel takes for operands and results laid out so (their memory is not known
  /// yet) with `num_threads()`; null: none.
  std::size_t (*workspace)(std::span<const View> in, std::span<const View> out, const Attributes*);
  const char* no_flops;  ///< why `cost` does not know them; null where it does
  bool is_product;  ///< runs at the rate of products of matrices: bilinear ones, those that say it
};

/// A rule that cannot exist, and why.
struct None {
  const char* reason;
};

// ---- applying a primitive ----
/// Runs `p` at once, or records it in the innermost recording that one of the inputs belongs to.
void dispatch(const Primitive& p, std::span<const Tensor* const> in, AttributesPtr attr,
              SourceLine line, std::span<Tensor> out);
/// The same for one result.
Tensor dispatch1(const Primitive& p, std::span<const Tensor* const> in, AttributesPtr attr = {},
                 SourceLine line = {});
template <class... T>
Tensor apply(const Primitive& p, const AttributesPtr& attr, SourceLine line, const T&... in) {
  const Tensor* list[] = {&in...};
  return dispatch1(p, list, attr, line);
}

namespace detail {
/// The user's line of the operation whose kernel or rule runs on this thread.
SourceLine context_line();
}  // namespace detail

// ---- rule classes ----
template <class P>
struct Linear {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = ~0u;
};
template <class P>
struct Bilinear {
  static constexpr RuleClass rule = RuleClass::bilinear;
  static constexpr std::uint32_t linear_in = 3u;
};
template <class P>
struct Zero {
  static constexpr RuleClass rule = RuleClass::zero;
};
template <class P>
struct Hand {
  static constexpr RuleClass rule = RuleClass::hand;
};
/// N operands of one shape and one type; the result has `result(dtype)`.
template <class P, int N>
struct Elementwise {
  static constexpr RuleClass rule = RuleClass::elementwise;
  static constexpr int operands = N;
  static constexpr bool elementwise = true;
};

namespace detail {
// Defaults, written once in src/core/rules.cpp.
Types infer_elementwise(const char* name, int operands, DtypeSet allowed, std::span<const Type> in,
                        const Attributes*,
                        Dtype (*result)(std::span<const Dtype>, const Attributes*));
void jvp_linear(const Primitive&, const Application&, std::span<const Tensor>, std::span<Tensor>);
void jvp_bilinear(const Primitive&, const Application&, std::span<const Tensor>, std::span<Tensor>);
void jvp_elementwise(Tensor (*d)(int, std::span<const Tensor>, const Tensor&), const Application&,
                     std::span<const Tensor>, std::span<Tensor>);
void batch_elementwise(const Primitive&, const Application&, std::span<const bool>, Index,
                       std::span<Tensor>);
void batch_leading(const Primitive&, const Application&, std::span<const bool>, Index,
                   std::span<Tensor>);
/// Each operand and result once, nothing of views; `flops_each` (src/core/cost.cpp) an element of
/// an element-wise primitive; the workspace of operands and results that lie row-major.
Cost cost_by_types(const Primitive& p, std::span<const Type> in, std::span<const Type> out,
                   const Attributes*);
[[noreturn]] void no_rule(const char* primitive, const char* rule, const char* reason);

template <class P>
concept HasInfer = requires(std::span<const Type> t, const Attributes* a) {
  { P::infer(t, a) } -> std::same_as<Types>;
};
template <class P>
concept HasKernel = requires(std::span<const Dtype> t, const Attributes* a) {
  { P::kernel(t, a) } -> std::same_as<KernelFn>;
};
template <class P>
concept HasJvp = requires(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
  P::jvp(a, t, o);
};
template <class P>
concept HasTranspose = requires(const Application& a, std::span<const bool> l,
                                std::span<const Tensor> c, std::span<Tensor> o) {
  P::transpose(a, l, c, o);
};
template <class P>
concept HasBatch = requires(const Application& a, std::span<const bool> b, Index n,
                            std::span<Tensor> o) {
  P::batch(a, b, n, o);
};
template <class P>
concept HasDerivative = requires(std::span<const Tensor> x, const Tensor& y) {
  { P::d(0, x, y) } -> std::same_as<Tensor>;
};
template <class P>
concept SaysNoTranspose = requires {
  { P::transpose.reason } -> std::convertible_to<const char*>;
};
template <class P>
concept HasView = requires(const View& i, const Attributes* a, View& o) {
  { P::view(i, a, o) } -> std::same_as<bool>;
};
template <class P>
concept HasCost = requires(std::span<const Type> t, const Attributes* a) {
  { P::cost(t, t, a) } -> std::same_as<Cost>;
};
template <class P>
concept HasFlops = requires(std::span<const Type> t, const Attributes* a) {
  { P::flops(t, t, a) } -> std::same_as<double>;
};
template <class P>
concept SaysNoFlops = requires {
  { P::flops.reason } -> std::convertible_to<const char*>;
};
template <class P>
concept HasWorkspace = requires(std::span<const View> v, const Attributes* a) {
  { P::workspace(v, v, a) } -> std::same_as<std::size_t>;
};
template <class P>
concept HasResult = requires(std::span<const Dtype> t) {
  { P::result(t) } -> std::same_as<Dtype>;
};
template <class P>
concept HasResultBy = requires(std::span<const Dtype> t, const Attributes* a) {
  { P::result(t, a) } -> std::same_as<Dtype>;
};
}  // namespace detail

/// Marks a primitive whose kernel treats leading dimensions as a batch, in all operands alike.
struct LeadingBatch {
  static constexpr bool leading_batch = true;
};

/// The engine's record of P; a missing or misplaced rule does not compile.
template <class P>
const Primitive& primitive();

namespace detail {
template <class P>
constexpr bool is_elementwise = requires {
  P::elementwise;
};
template <class P>
constexpr bool is_leading_batch = requires {
  P::leading_batch;
};
template <class P>
bool linear_in([[maybe_unused]] std::size_t operand, [[maybe_unused]] const Attributes* a) {
  if constexpr (requires {
                  { P::linear_in(operand, a) } -> std::same_as<bool>;
                })
    return P::linear_in(operand, a);
  else if constexpr (requires { P::linear_in; })
    return P::linear_in >> std::min<std::size_t>(operand, 31) & 1;
  else
    return false;
}
template <class P>
constexpr bool has_order = requires {
  P::order;
};
template <class P>
Ordering order_of([[maybe_unused]] const Attributes* a) {
  if constexpr (requires {
                  { P::order(a) } -> std::same_as<Ordering>;
                })
    return P::order(a);
  else if constexpr (has_order<P>)
    return P::order;
  else
    return Ordering::free;
}
template <class P>
constexpr bool any_strides = requires {
  P::takes_strides;
}
|| is_elementwise<P> || HasView<P>;

template <class P>
Dtype result_of(std::span<const Dtype> in, [[maybe_unused]] const Attributes* a) {
  if constexpr (HasResultBy<P>)
    return P::result(in, a);
  else if constexpr (HasResult<P>)
    return P::result(in);
  else
    return in[0];
}

template <class P>
void prove_rules() {
  constexpr RuleClass r = P::rule;
  static_assert(HasInfer<P> || is_elementwise<P>, "primitive: `infer` is missing");
  static_assert(HasKernel<P>, "primitive: `kernel` is missing");
  static_assert(r != RuleClass::linear || HasTranspose<P>,
                "linear primitive: `transpose` is missing");
  static_assert(r != RuleClass::bilinear || HasTranspose<P>,
                "bilinear primitive: `transpose` is missing");
  static_assert(
      r != RuleClass::elementwise || !HasJvp<P>,
      "elementwise primitive: its jvp follows from `d`; remove `jvp` or choose the class `Hand`");
  static_assert(
      r != RuleClass::bilinear || !HasJvp<P>,
      "bilinear primitive: its jvp is the product rule; remove `jvp` or choose the class `Hand`");
  static_assert(r != RuleClass::elementwise || HasDerivative<P>,
                "elementwise primitive: derivative expression `d` is missing");
  static_assert(r != RuleClass::hand || HasJvp<P>, "hand-written primitive: `jvp` is missing");
  static_assert(r != RuleClass::hand || HasTranspose<P> || SaysNoTranspose<P>,
                "hand-written primitive: `transpose` is missing; write it or say `static constexpr "
                "None transpose{\"why\"}`");
  static_assert(r != RuleClass::zero || (!HasJvp<P> && !HasDerivative<P>),
                "zero-derivative primitive: wrong class, it has a derivative rule");
  static_assert(r == RuleClass::elementwise || !HasDerivative<P> || HasTranspose<P>,
                "wrong class: `d` belongs to the class Elementwise");
  static_assert((r != RuleClass::bilinear && r != RuleClass::hand) || is_elementwise<P> ||
                    HasCost<P> || HasFlops<P> || SaysNoFlops<P>,
                "bilinear or hand-written primitive: `flops` is missing; write it or say `static "
                "constexpr None flops{\"why\"}`");
  static_assert(!has_order<P> || !(is_elementwise<P> || HasView<P>),
                "primitive: one that is element-wise or a view is computed anywhere, or not at "
                "all: it has no `order`");
  static_assert(HasBatch<P> || is_elementwise<P> || is_leading_batch<P>,
                "primitive: `batch` is missing");
}
}  // namespace detail

template <class P>
const Primitive& primitive() {
  detail::prove_rules<P>();
  static const Primitive self = [] {
    Primitive p{};
    p.name = P::name;
    p.rule = P::rule;
    p.infer = [](std::span<const Type> in, const Attributes* a) -> Types {
      if constexpr (detail::HasInfer<P>)
        return P::infer(in, a);
      else
        return detail::infer_elementwise(P::name, P::operands, P::dtypes, in, a,
                                         detail::result_of<P>);
    };
    if constexpr (detail::is_elementwise<P>) p.result = detail::result_of<P>;
    p.kernel = [](std::span<const Dtype> in, const Attributes* a) -> KernelFn {
      return P::kernel(in, a);
    };
    if constexpr (detail::HasView<P>)
      p.view = [](const View& in, const Attributes* a, View& out) { return P::view(in, a, out); };
    if constexpr (requires { &P::row_kernel; }) p.row_kernel = P::row_kernel;
    p.jvp = [](const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
      if constexpr (detail::HasJvp<P>)
        P::jvp(a, t, o);
      else if constexpr (P::rule == RuleClass::linear)
        detail::jvp_linear(primitive<P>(), a, t, o);
      else if constexpr (P::rule == RuleClass::bilinear)
        detail::jvp_bilinear(primitive<P>(), a, t, o);
      else if constexpr (P::rule == RuleClass::elementwise)
        detail::jvp_elementwise([](int k, std::span<const Tensor> x,
                                   const Tensor& y) -> Tensor { return P::d(k, x, y); },
                                a, t, o);
      else {
        (void)a;
        (void)t;
        (void)o;
      }
    };
    p.transpose = [](const Application& a, std::span<const bool> l, std::span<const Tensor> c,
                     std::span<Tensor> o) {
      if constexpr (detail::HasTranspose<P>)
        P::transpose(a, l, c, o);
      else if constexpr (detail::SaysNoTranspose<P>)
        detail::no_rule(P::name, "transpose", P::transpose.reason);
      else
        detail::no_rule(P::name, "transpose", "it is not linear");
    };
    p.batch = [](const Application& a, std::span<const bool> b, Index n, std::span<Tensor> o) {
      if constexpr (detail::HasBatch<P>)
        P::batch(a, b, n, o);
      else if constexpr (detail::is_elementwise<P>)
        detail::batch_elementwise(primitive<P>(), a, b, n, o);
      else
        detail::batch_leading(primitive<P>(), a, b, n, o);
    };
    if constexpr (requires { &P::jet; }) p.jet = P::jet;
    if constexpr (requires { &P::undo; }) {
      p.undo = P::undo;
      p.numerator = P::numerator;
    }
    p.elementwise = detail::is_elementwise<P>;
    p.takes_strides = detail::any_strides<P>;
    p.runs_programs = requires { P::runs_programs; };
    p.order = detail::order_of<P>;
    if constexpr (requires { &P::moved; }) p.moved = P::moved;
    p.linear_in = detail::linear_in<P>;
    if constexpr (detail::HasWorkspace<P>) p.workspace = P::workspace;
    if constexpr (detail::SaysNoFlops<P>) p.no_flops = P::flops.reason;
    p.is_product = requires { P::is_product; }
    || (P::rule == RuleClass::bilinear && !p.elementwise);
    p.cost = [](std::span<const Type> in, std::span<const Type> out, const Attributes* a) -> Cost {
      if constexpr (detail::HasCost<P>) {
        return P::cost(in, out, a);
      } else {
        Cost c = detail::cost_by_types(primitive<P>(), in, out, a);
        if constexpr (detail::HasFlops<P>) c.flops = P::flops(in, out, a);
        return c;
      }
    };
    return p;
  }();
  return self;
}

/// Every primitive registers itself so that the op table test can prove its own completeness.
std::vector<const Primitive*> registered_primitives();
namespace detail {
bool register_primitive(const Primitive& p);
}
/// Put once per primitive at namespace scope in its .cpp: proves the rules and lists the primitive.
#define TESSERA_REGISTER(P)                           \
  [[maybe_unused]] static const bool registered_##P = \
      ::tessera::detail::register_primitive(::tessera::primitive<P>())

}  // namespace tessera
