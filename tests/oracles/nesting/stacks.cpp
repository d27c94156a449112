// SPDX-License-Identifier: Apache-2.0
//
// The stacks of transforms: what stands outside of a program is made of the same operations as what
// stands inside. Levels are named from the outermost to the innermost.
#include "program.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace nesting {
namespace {

enum class Level : std::uint8_t {
  jit,
  checkpointed,
  vmap,
  vmap_first,
  jvp,
  linearize,
  vjp,
  grad,
  value_and_grad,
  jet1,
  jet2,
  jet3,
  jet4,
  hessian,
  laplacian,
  value_and_laplacian,
  biharmonic,
  sum2,
  sum3,
  sum4
};
using Levels = std::vector<Level>;

const char* name_of(Level l) {
  static const char* const names[] = {"jit",
                                      "checkpointed",
                                      "vmap",
                                      "vmap (first argument)",
                                      "jvp",
                                      "linearize",
                                      "vjp",
                                      "grad",
                                      "value_and_grad",
                                      "jet(1)",
                                      "jet(2)",
                                      "jet(3)",
                                      "jet(4)",
                                      "hessian",
                                      "laplacian",
                                      "value_and_laplacian",
                                      "biharmonic",
                                      "directional_sum(2)",
                                      "directional_sum(3)",
                                      "directional_sum(4)"};
  return names[static_cast<std::size_t>(l)];
}
int order_of(Level l) {
  static const int orders[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 3, 4, 2, 2, 2, 4, 2, 3, 4};
  return orders[static_cast<std::size_t>(l)];
}

const std::vector<Levels>& stacks() {
  using enum Level;
  static const std::vector<Levels> all = {
      {},
      {jit},
      {checkpointed},
      {vmap},
      {vmap, vmap},
      {jit, vmap},
      {vmap, jit},
      {vmap_first},
      // first order
      {jvp},
      {linearize},
      {vjp},
      {grad},
      {value_and_grad},
      {jit, grad},
      {grad, jit},
      {grad, checkpointed},
      {vmap, jvp},
      {vmap, grad},
      {jit, vmap, grad},
      {grad, vmap},
      {jvp, vmap},
      {vjp, vmap},
      {grad, jit, vmap},
      {grad, vmap, vmap},
      {vmap, grad, vmap_first},
      {jvp, vmap_first},
      // second
      {jet2},
      {jet2, vmap},
      {vmap, jet2},
      {jit, jet2},
      {jet2, jit, vmap},
      {hessian},
      {vmap, hessian},
      {laplacian},
      {vmap, laplacian},
      {value_and_laplacian},
      {sum2},
      {jvp, grad},
      {grad, jvp},
      {grad, grad},
      {jvp, jvp},
      {jvp, grad, vmap},
      {grad, vmap, grad},
      {grad, grad, checkpointed},
      {jit, vmap, jvp, grad},
      {jet1, grad},
      {grad, jet1},
      {vjp, vjp},
      // third
      {jet3},
      {vmap, jet3},
      {sum3},
      {grad, laplacian},
      {jet2, grad},
      {grad, jet2},
      {jvp, hessian},
      {grad, grad, grad},
      {grad, vmap, jet2},
      {jvp, jet2, vmap},
      {laplacian, jvp},
      // fourth
      {jet4},
      {jet4, vmap},
      {sum4},
      {biharmonic},
      {laplacian, laplacian},
      {jet2, jet2},
      {grad, jet3},
      {jet3, grad},
      {jvp, jvp, jvp, jvp},
      {grad, grad, grad, grad},
      {jet2, hessian},
      {vmap, grad, sum3},
  };
  return all;
}

class Stack {
 public:
  Stack(const Subject& s, std::uint64_t seed)
      : rng_(seed), p_(copy(s.program)), f_(std::make_shared<Function>(copy(p_.main))) {
    for (Var v : {s.x, s.y}) {
      params_.push_back(type(v));
      point_.push_back(v);
    }
    for (Var v : f_->results) results_.push_back(type(v));
  }
  void add(Level l, bool outermost);
  Program close() {
    Function main;
    main.body.push_back({fresh(results_), Op::call, point_, {}, {}, {f_}});
    main.results = main.body[0].out;
    p_.main = std::move(main);
    return std::move(p_);
  }

 private:
  Type type(Var v) const { return p_.types[static_cast<std::size_t>(v)]; }
  double number() {
    return std::round(static_cast<double>(static_cast<int>(rng_() % 2601) - 1300)) / 1000;
  }
  std::vector<Var> fresh(const std::vector<Type>& types) {
    std::vector<Var> v;
    for (const Type& t : types) v.push_back(p_.fresh(t));
    return v;
  }
  Var outside(const Type& t) {
    std::vector<double> numbers;
    for (int k = 0; k < t.count(); ++k) numbers.push_back(number());
    p_.world.emplace_back(p_.fresh(t), numbers);
    return p_.world.back().first;
  }
  std::vector<Var> outside(const std::vector<Type>& types) {
    std::vector<Var> v;
    for (const Type& t : types) v.push_back(outside(t));
    return v;
  }
  /// f becomes a function of params_ whose only operation is `op` on functions that hold f.
  void wrap(Op op, const std::vector<Var>& more, std::vector<Type> results,
            std::vector<int> sizes = {}, std::vector<double> numbers = {}) {
    auto g = std::make_shared<Function>();
    g->params = fresh(params_);
    Let l{fresh(results), op, g->params, std::move(numbers), std::move(sizes), {f_}};
    l.in.insert(l.in.end(), more.begin(), more.end());
    g->results = l.out;
    g->body.push_back(std::move(l));
    f_ = std::move(g);
    results_ = std::move(results);
  }
  /// A scalar: a weighted sum of all results.
  void contract() {
    auto g = std::make_shared<Function>();
    g->params = fresh(params_);
    const auto add = [&](Op op, std::vector<Var> in, std::vector<Type> types,
                         std::vector<FunctionPtr> functions = {}) {
      g->body.push_back({fresh(types), op, std::move(in), {}, {}, std::move(functions)});
      return g->body.back().out;
    };
    const std::vector<Var> y = add(Op::call, g->params, results_, {f_});
    Var s = -1;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const Var term =
          add(Op::sum, add(Op::mul, {y[k], outside(results_[k])}, {results_[k]}), {{}})[0];
      s = s < 0 ? term : add(Op::add, {s, term}, {{}})[0];
    }
    g->results = {s};
    f_ = std::move(g);
    results_ = {{}};
  }
  /// The function of the first argument alone; the others are captured.
  void of_first(Op op, std::vector<Type> results, std::vector<int> sizes = {},
                std::vector<double> numbers = {}) {
    auto g = std::make_shared<Function>(), inner = std::make_shared<Function>();
    g->params = fresh(params_);
    inner->params = fresh({params_[0]});
    std::vector<Var> in = g->params;
    in[0] = inner->params[0];
    inner->body.push_back({fresh(results_), Op::call, in, {}, {}, {f_}});
    inner->results = inner->body[0].out;
    g->body.push_back(
        {fresh(results), op, {g->params[0]}, std::move(numbers), std::move(sizes), {inner}});
    g->results = g->body[0].out;
    f_ = std::move(g);
    results_ = std::move(results);
  }
  /// Of the results of the only operation of f, the last n.
  void keep_last(std::size_t n) {
    f_->results.erase(f_->results.begin(), f_->results.end() - static_cast<std::ptrdiff_t>(n));
    results_.erase(results_.begin(), results_.end() - static_cast<std::ptrdiff_t>(n));
  }
  void widen(std::size_t n_batched, int size) {
    const auto wide = [size](Type t) {
      t.dims.insert(t.dims.begin(), size);
      return t;
    };
    std::vector<Type> results;
    for (const Type& t : results_) results.push_back(wide(t));
    for (std::size_t k = 0; k < n_batched; ++k) {
      params_[k] = wide(params_[k]);
      // Some elements of the batch are 0, 1 or -1.
      point_[k] = outside(params_[k]);
      for (double& x : p_.world.back().second)
        if (rng_() % 6 == 0) x = static_cast<double>(static_cast<int>(rng_() % 3) - 1);
    }
    wrap(Op::vmap, {}, results, {static_cast<int>(n_batched)});
  }

  std::mt19937_64 rng_;
  Program p_;
  FunctionPtr f_;
  std::vector<Type> params_, results_;
  std::vector<Var> point_;
};

void Stack::add(Level l, bool outermost) {
  const auto twice = [](std::vector<Type> a, const std::vector<Type>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const std::size_t n_results = results_.size();
  const int n = params_[0].dims.back();
  switch (l) {
    case Level::jit:
      return wrap(Op::jit, {}, results_);
    case Level::checkpointed:
      return wrap(Op::checkpointed, {}, results_);
    case Level::vmap:
      return widen(params_.size(), 3);
    case Level::vmap_first:
      return widen(1, 2);
    case Level::jvp:
    case Level::linearize:
      wrap(l == Level::jvp ? Op::jvp : Op::linearize, outside(params_), twice(results_, results_));
      if (!outermost) keep_last(n_results);
      return;
    case Level::vjp:
      return wrap(Op::vjp, outside(results_), params_, {static_cast<int>(params_.size())});
    case Level::grad:
      contract();
      return wrap(Op::grad, {}, params_);
    case Level::value_and_grad:
      contract();
      return wrap(Op::value_and_grad, {}, twice({{}}, params_));
    case Level::jet1:
    case Level::jet2:
    case Level::jet3:
    case Level::jet4: {
      const int K = order_of(l);
      std::vector<Type> all;
      for (int k = 0; k <= K; ++k) all = twice(all, results_);
      wrap(Op::jet, outside(params_), all, {K});
      if (!outermost) keep_last(n_results);
      return;
    }
    case Level::hessian:
      contract();
      return of_first(Op::hessian, {{Kind::real, {n, n}}});
    case Level::laplacian:
      return of_first(Op::laplacian, results_);
    case Level::biharmonic:
      return of_first(Op::biharmonic, results_);
    case Level::value_and_laplacian:
      contract();
      return of_first(Op::value_and_laplacian, {{}, {Kind::real, {n}}, {}});
    case Level::sum2:
    case Level::sum3:
    case Level::sum4: {
      const int m = 1 + static_cast<int>(rng_() % 3);
      std::vector<double> numbers;
      for (int k = 0; k < m * n + m; ++k) numbers.push_back(number());
      return of_first(Op::directional_sum, results_, {order_of(l), m}, numbers);
    }
  }
}

}  // namespace

int n_stacks() { return static_cast<int>(stacks().size()); }
std::string stack_name(int stack) {
  std::string s;
  for (Level l : stacks()[static_cast<std::size_t>(stack)])
    s += (s.empty() ? "" : " of ") + std::string(name_of(l));
  return s.empty() ? "value" : s;
}
int stack_order(int stack) {
  int n = 0;
  for (Level l : stacks()[static_cast<std::size_t>(stack)]) n += order_of(l);
  return n;
}
std::vector<int> stacks_for(std::uint64_t seed, int count) {
  std::mt19937_64 rng(seed * 104729 + 7);
  std::vector<int> all(stacks().size());
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t k = all.size(); k-- > 1;) std::swap(all[k], all[rng() % (k + 1)]);
  // Reverse mode four times takes as long as fifty others.
  if (rng() % 8 != 0)
    std::erase_if(
        all, [](int s) { return stacks()[static_cast<std::size_t>(s)] == Levels(4, Level::grad); });
  all.resize(std::min(all.size(), static_cast<std::size_t>(count)));
  return all;
}
Program under_stack(const Subject& s, int stack, std::uint64_t seed) {
  const Levels& levels = stacks()[static_cast<std::size_t>(stack)];
  Stack made(s, seed);
  for (std::size_t k = levels.size(); k-- > 0;) made.add(levels[k], k == 0);
  return made.close();
}

}  // namespace nesting
