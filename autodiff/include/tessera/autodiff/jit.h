// SPDX-License-Identifier: Apache-2.0
//
// Explicit compilation: `jit(f)` records f once for each combination of argument types and trees,
// removes dead and repeated work, lays all intermediate results out in one block of memory ahead of
// time, and then runs the plan without dispatch. A call allocates its results and lists of handles,
// none for what lies between. Results are the same bits as without jit.
//
//   auto step = jit([&](Tensor x) { return value_and_grad(loss)(x); });
//   auto [y, g] = step(x);      // first call records; later ones run the plan
//
// An argument that is moved in is given away: its memory may hold a result of the same type, if
// nobody else has it. So a step of training needs no second copy of the weights and moments:
//
//   std::tie(params, state, loss) = step(std::move(params), std::move(state), batch);
//
// Where a number goes wrong, or time is lost, `jit(f, {.level = Level::O0, ...})` runs the same
// operations one by one, says which of them gave the first NaN, and what each takes:
//
//   std::vector<OperationTime> times;
//   jit(f, {.level = Level::O0, .trap = Trap::nan, .times = &times})(x);
//
// Numbers and flags are arguments like tensors, scalars of f64, i64 or boolean: another rate needs
// no other plan.
//
//   step(params, state, batch, 1e-3, true);
//
// Tensors that f captures become constants of the plan. Values may not be read while it is
// recorded. Inside another transform jit is transparent: grad(jit(f)) equals grad(f). Calls from
// several threads may overlap.
#pragma once
#include "tessera/autodiff/grad.h"

#include <any>
#include <memory>
#include <mutex>

namespace tessera {

namespace plan {
class Arenas;  // src/exec/arenas.h
}

/// A graph made ready to run. Immutable; `run` may be called from several threads at once.
class Plan {
 public:
  /// Element-wise kernels of `join_from` elements and more go block by block through all that
  /// follow each other; small products and copies that do not wait for each other run side by side
  /// on the threads. Runs of plans that share `arenas` take turns in their memory; without, each
  /// run has its own.
  explicit Plan(const Graph& g, Index join_from = 1024,
                std::shared_ptr<plan::Arenas> arenas = nullptr);
  ~Plan();
  Plan(const Plan&) = delete;
  /// Results may take the memory of inputs that nobody else has: move those in that are given away.
  std::vector<Tensor> run(std::vector<Tensor> inputs) const;
  std::size_t steps()
      const;  ///< per run; element-wise kernels that go block by block together are one
  std::size_t arena_bytes() const;  ///< of intermediate results and of kernels
  std::size_t naive_bytes() const;  ///< the same without reuse
  struct Body;
  class Run;  ///< repeated runs on memory of the caller (src/exec/plan_run.h)

 private:
  std::unique_ptr<Body> body_;
};

/// How a recorded function runs. Results are the same bits.
enum class Level {
  O0,  ///< operation by operation, in the order of the recording; a loop counts as one
  O1   ///< a Plan
};
/// What O0 stops at: a result that has such a number, of operands that have none.
enum class Trap { none, nan, not_finite };
/// What operations of one kind took that are called in one line.
struct OperationTime {
  std::string operation, line;  ///< "matmul", "net.cpp:31"
  std::int64_t calls = 0;
  double seconds = 0;
};
struct JitOptions {
  Level level = Level::O1;
  /// O0: throws Error that names operation and line, the element, and the operands' elements there.
  Trap trap = Trap::none;
  /// O0: each call adds its own; the dearest come first.
  std::vector<OperationTime>* times = nullptr;
  /// Of so many types of arguments the plans are kept, those used last; they share one arena, as
  /// large as the largest of them needs.
  std::size_t keep = 32;
};

namespace detail {
/// The tree that a function returned, without its tensors.
using Prototype = std::shared_ptr<const std::any>;

/// Its address stands for the types of argument trees: a function may do something else for a pair
/// than for an array, though both are two tensors.
template <class... A>
inline constexpr char type_of_trees = 0;

/// The leaves of an argument; taken from it where it was moved in.
template <class X>
void pass_leaves(std::remove_reference_t<X>& x, std::vector<Tensor>& leaves) {
  if constexpr (std::is_lvalue_reference_v<X> || std::is_const_v<std::remove_reference_t<X>>)
    flatten_into(x, leaves);
  else
    take_leaves(x, leaves);
}

/// Plans of one function, by the types and structure of its argument trees and the types of their
/// tensors.
class PlanCache {
 public:
  explicit PlanCache(const JitOptions& o = {});
  /// Runs `f` through its plan; `f` itself where an argument, or something it captures, is traced,
  /// and in a branch that is being recorded, to which it belongs. `like` is the prototype of the
  /// result, which `f` sets whenever it runs.
  std::vector<Tensor> run(const FlatFunction& f, const void* trees, const TreeStructure& structure,
                          std::vector<Tensor> x, Prototype& like);

 private:
  struct Planned {
    const void* trees;
    TreeStructure structure;
    std::vector<Type> types;
    std::shared_ptr<const Plan> plan;    ///< O1
    std::shared_ptr<const Graph> graph;  ///< O0
    Prototype like;
  };
  /// The plan or graph of these arguments, and the prototype of the result; false: not known yet.
  bool find(const void* trees, const TreeStructure& structure, const std::vector<Tensor>& x,
            Planned& found);
  void insert(Planned p);

  JitOptions options_;
  std::mutex mutex_;
  std::vector<Planned> plans_;  ///< the one used last at the end
  std::shared_ptr<plan::Arenas> arenas_;
};
}  // namespace detail

namespace detail {
template <class X>
concept IsNumber = std::is_arithmetic_v<std::remove_cvref_t<X>>;
template <class X>
decltype(auto) as_tree(std::remove_reference_t<X>& x) {
  using N = std::remove_cvref_t<X>;
  if constexpr (!IsNumber<X>)
    return static_cast<X&&>(x);
  else
    return scalar(x, std::is_same_v<N, bool> ? Dtype::boolean
                     : std::is_integral_v<N> ? Dtype::i64
                                             : Dtype::f64);
}
}  // namespace detail

template <class F>
auto jit(F f, const JitOptions& o = {}) {
  auto cache = std::make_shared<detail::PlanCache>(o);
  auto planned = [ f = std::move(f), cache ]<IsTree... X>(X && ... x) {
    using R = detail::result_t<F, std::remove_cvref_t<X>...>;
    static_assert(sizeof...(X) > 0, "jit: the function takes no tensors");
    const TreeStructure structure = structure_of<std::remove_cvref_t<X>...>(x...);
    std::vector<Tensor> given;
    (detail::pass_leaves<X>(x, given), ...);
    detail::Result<R> r;
    detail::Prototype like;
    const auto flat = detail::flat<F, R, std::remove_cvref_t<X>...>(f, r, x...);
    const FlatFunction described = [&](const std::vector<Tensor>& leaves) {
      std::vector<Tensor> out = flat(leaves);
      like = std::make_shared<const std::any>(
          unflatten_tree(*r.like, std::vector<Tensor>(out.size())));
      return out;
    };
    const std::vector<Tensor> y =
        cache->run(described, &detail::type_of_trees<std::remove_cvref_t<X>...>, structure,
                   std::move(given), like);
    return unflatten_tree(std::any_cast<const R&>(*like), y);
  };
  return [planned = std::move(planned)]<class... X>(X && ... x) requires(
      (IsTree<X> || detail::IsNumber<X>)&&...) {
    return planned(detail::as_tree<X>(x)...);
  };
}

}  // namespace tessera
