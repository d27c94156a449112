// SPDX-License-Identifier: Apache-2.0
//
// What a planned function takes, told before it runs: memory by what it is, operations, bytes
// moved, time by the roofline, the dearest lines. Nothing is computed, and nothing of the size of
// its arrays is allocated: a step of training may be asked for that no machine could hold.
//
//   const DryRun d = dryrun(step, given("weights", net), given("moments", state),
//                           named("batch", stand_in({Dtype::f32, {4, 30000, 30000}})));
//   std::cout << to_string(d);
//   d.peak, d.seconds, d.lines[0].line                 // bytes; s; "net.cpp:31"
//
// The function is recorded and planned as `jit` does it; what is said holds for that plan.
#pragma once
#include "tessera/autodiff/grad.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// A tensor that stands for any of its type; it takes the memory of one element.
Tensor stand_in(const Type& t);
/// Its leaves as stand-ins.
template <IsTree T>
T stand_ins(const T& tree) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : flatten_tree(tree)) leaves.push_back(stand_in(t.type()));
  return unflatten_tree(tree, leaves);
}

/// Rates of this machine and the threads in use, measured once (0.2 s).
struct MachineRates {
  double products_f32 = 0, products_f64 = 0;  ///< fused steps of matrix products, flop/s
  double functions = 0;                       ///< element-wise work, flop/s
  double bytes = 0;                           ///< read and written in memory, B/s
};
const MachineRates& machine_rates();

struct DryRun {
  struct Item {
    std::string what;
    double bytes = 0;
  };
  /// What is in memory at its fullest: the arguments by name, constants, results, and of what lies
  /// between `kept values` (of the forward part, read backwards), `gradients` (of the backward
  /// part, read by what follows), `temporaries`, `workspace` of kernels and `gaps` between them.
  /// Kinds that there are none of are left out.
  std::vector<Item> memory;
  double peak = 0;        ///< their sum
  double flops = 0;       ///< operations of reals; a fused step is two
  double products = 0;    ///< of these in matrix products and convolutions
  double bytes = 0;       ///< read and written by kernels
  double seconds = 0;     ///< of each step the larger of its arithmetic's and its memory's, in all
  std::size_t steps = 0;  ///< calls of kernels

  /// After each step what is in memory.
  struct Moment {
    std::string operation, line;
    double seconds = 0;  ///< from the start to the step's end
    double bytes = 0;
  };
  std::vector<Moment> over_time;

  /// A line of the caller with all that was recorded for it, derivatives included; the dearest
  /// first.
  struct Line {
    std::string line, operations;
    std::size_t calls = 0;
    double flops = 0, bytes = 0, seconds = 0;
    double backward = 0;  ///< s, of these in the backward part
    double kept = 0;      ///< bytes of its results that are kept for the backward part
  };
  std::vector<Line> lines;
  /// What could not be counted: loops without a known end, calls of the host.
  std::vector<std::string> notes;
};
/// Tables of the memory, the totals and the ten dearest lines.
std::string to_string(const DryRun& d);

/// An argument by its name in the report; `given` away, as one that is moved into a jitted
/// function: results may take its place.
template <IsTree T>
struct NamedArgument {
  std::string name;
  const T& value;
  bool given;
};
template <IsTree T>
NamedArgument<T> named(std::string name, const T& value) {
  return {std::move(name), value, false};
}
template <IsTree T>
NamedArgument<T> given(std::string name, const T& value) {
  return {std::move(name), value, true};
}

namespace detail {
struct DryArgument {
  std::string name;
  Type type;
  bool given;
};
DryRun dryrun_flat(const FlatFunction& f, const std::vector<DryArgument>& arguments);

template <class T>
NamedArgument<T> as_named(const NamedArgument<T>& a) {
  return a;
}
template <IsTree T>
NamedArgument<T> as_named(const T& a) {
  return {"", a, false};
}
template <class F, class... T>
DryRun dryrun_of(const F& f, const NamedArgument<T>&... a) {
  Result<result_t<F, T...>> r;
  std::vector<DryArgument> leaves;
  auto add = [&, k = 0](const auto& n) mutable {
    const std::string name = n.name.empty() ? "argument " + std::to_string(k) : n.name;
    for (const Tensor& t : flatten_tree(n.value)) leaves.push_back({name, t.type(), n.given});
    ++k;
  };
  (add(a), ...);
  return dryrun_flat(flat(f, r, a.value...), leaves);
}
}  // namespace detail

/// Of f(arguments...); each is a tree, or one with a name. Values of arguments are not looked at.
template <class F, class... A>
DryRun dryrun(const F& f, const A&... arguments) {
  return detail::dryrun_of(f, detail::as_named(arguments)...);
}

}  // namespace tessera
