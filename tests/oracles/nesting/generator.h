// SPDX-License-Identifier: Apache-2.0
//
// What the idioms of generated programs are made of: chance, functions in the making, values of
// order one.
#pragma once
#include "program.h"

#include <cmath>
#include <functional>
#include <random>
#include <set>

namespace nesting {

using Vars = std::vector<Var>;

/// A function in the making and what it sees.
struct Body {
  Function f;
  Vars visible;
  int depth = 0;
};
using Fill = std::function<Vars(Body&, const Vars& params)>;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed * 7919 + 1), orders_left_(below(3)) {}
  Subject make();

 private:
  // ---- chance
  int below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  double number(double low, double high) {  // three decimals: they are printed
    return std::round(1000 * (low + (high - low) * static_cast<double>(below(100001)) / 1e5)) /
           1000;
  }
  template <class T>
  T any_of(std::initializer_list<T> from) {
    return from.begin()[below(static_cast<int>(from.size()))];
  }

  // ---- building
  Type type(Var v) const { return p_.types[static_cast<std::size_t>(v)]; }
  bool is_real(Var v) const { return type(v).kind == Kind::real; }
  bool is_scalar(Var v) const { return is_real(v) && type(v).dims.empty(); }
  bool is_vector(Var v) const { return is_real(v) && type(v).dims.size() == 1; }
  Vars emit(Body& b, Op op, const Vars& in, const std::vector<Type>& types,
            std::vector<FunctionPtr> functions = {}, std::vector<int> sizes = {},
            std::vector<double> numbers = {}) {
    Let l{{}, op, in, std::move(numbers), std::move(sizes), std::move(functions)};
    for (const Type& t : types) l.out.push_back(p_.fresh(t));
    b.visible.insert(b.visible.end(), l.out.begin(), l.out.end());
    b.f.body.push_back(l);
    return l.out;
  }
  Var one(Body& b, Op op, const Vars& in, const Type& t, std::vector<int> sizes = {},
          std::vector<double> numbers = {}) {
    return emit(b, op, in, {t}, {}, std::move(sizes), std::move(numbers))[0];
  }
  Var unary(Body& b, Op op, Var x) { return one(b, op, {x}, type(x)); }
  Var scaled(Body& b, Var x, double by) { return one(b, Op::scale, {x}, type(x), {}, {by}); }
  Var shifted(Body& b, Var x, double by) { return one(b, Op::shift, {x}, type(x), {}, {by}); }
  /// x op y, a scalar or two vectors of one length; where the lengths differ, the sum of y.
  Var binary(Body& b, Op op, Var x, Var y) {
    if (!type(x).dims.empty() && !type(y).dims.empty() && type(x) != type(y)) y = scalar_of(b, y);
    return one(b, op, {x, y}, type(x).dims.empty() ? type(y) : type(x));
  }
  /// What a function sees of what is around it: all; what is not differentiated (linear maps); what
  /// is no transform's (rules, which are called when the transforms around them may have ended).
  enum class Sees { all, fixed, concrete };
  FunctionPtr function(Body& b, const std::vector<Type>& params, const Fill& fill,
                       Sees sees = Sees::all) {
    Body inner;
    inner.depth = b.depth + 1;
    for (Var v : b.visible)
      if (sees == Sees::all || concrete_.count(v) || (sees == Sees::fixed && fixed_.count(v)))
        inner.visible.push_back(v);
    for (const Type& t : params) inner.f.params.push_back(p_.fresh(t));
    inner.visible.insert(inner.visible.end(), inner.f.params.begin(), inner.f.params.end());
    inner.f.results = fill(inner, Vars(inner.f.params));
    return std::make_shared<Function>(std::move(inner.f));
  }
  std::vector<Type> types_of(const Vars& v) const {
    std::vector<Type> t;
    for (Var x : v) t.push_back(type(x));
    return t;
  }

  // ---- choosing
  /// A real variable, most often a recent one.
  Var pick(const Body& b) {
    Vars real;
    for (Var v : b.visible)
      if (is_real(v) && type(v).dims.size() < 2) real.push_back(v);
    const int n = static_cast<int>(real.size());
    return real[static_cast<std::size_t>(one_in(3) ? below(n) : n - 1 - below(std::min(n, 4)))];
  }
  Var scalar_of(Body& b, Var v) {
    if (is_scalar(v)) return v;
    const int n = type(v).dims[0];
    return one_in(2) ? one(b, Op::sum, {v}, {}) : one(b, Op::select, {v}, {}, {below(n)});
  }
  Var scalar(Body& b) { return scalar_of(b, pick(b)); }
  Var vector_of(Body& b, Var v, int n) {
    if (is_vector(v) && type(v).dims[0] == n) return v;
    return binary(b, Op::mul, constant(b, {Kind::real, {n}}), scalar_of(b, v));
  }
  Var vector(Body& b) {
    for (int k = 0; k < 4; ++k)
      if (const Var v = pick(b); is_vector(v)) return v;
    return vector_of(b, scalar(b), 1 + below(3));
  }
  Var constant(Body& b, const Type& t) {
    std::vector<double> numbers;
    for (int k = 0; k < t.count(); ++k) numbers.push_back(number(-1.2, 1.2));
    const Var v = one(b, Op::constant, {}, t, t.dims, numbers);
    concrete_.insert(v);
    return v;
  }
  Var like(Body& b, Var v, const Type& t) {
    return t.dims.empty() ? scalar_of(b, v) : vector_of(b, v, t.dims[0]);
  }

  // ---- values of order one
  Var smooth(Body& b, Var x) {
    switch (below(9)) {
      case 0:
        return unary(b, Op::sin, scaled(b, x, number(0.6, 1.4)));
      case 1:
        return unary(b, Op::cos, x);
      case 2:
        return unary(b, Op::atan, x);
      case 3:
        return unary(b, Op::logistic, x);
      case 4:
        return unary(b, Op::erf, scaled(b, x, 0.7));
      case 5:
        return unary(b, Op::tanh, unary(b, Op::softplus, x));
      case 6:
        return unary(b, Op::exp, unary(b, Op::neg, unary(b, Op::square, unary(b, Op::tanh, x))));
      case 7:
        return one(b, Op::integer_power, {unary(b, Op::tanh, x)}, type(x), {2 + below(2)});
      default:
        return unary(b, Op::tanh, x);
    }
  }
  Var mix(Body& b, Var x, Var y) {
    switch (below(9)) {
      case 0:
        return unary(b, Op::sin, binary(b, Op::mul, x, y));
      case 1:
        return binary(b, Op::mul, unary(b, Op::tanh, x), unary(b, Op::cos, y));
      case 2:
        return binary(b, Op::div, x, shifted(b, unary(b, Op::square, y), 1.5));
      case 3:
        return binary(b, Op::sub, unary(b, Op::sin, x), scaled(b, y, 0.4));
      case 4:
        return binary(b, Op::atan2, x, shifted(b, unary(b, Op::square, y), 1.2));
      case 5:
        return binary(b, Op::pow, shifted(b, unary(b, Op::softplus, x), 0.4),
                      unary(b, Op::tanh, y));
      case 6:
        return unary(b, Op::tanh, binary(b, Op::add, x, y));
      case 7:
        return unary(b, Op::atan, binary(b, Op::hypot, shifted(b, unary(b, Op::cos, x), 2), y));
      default:
        return binary(b, Op::mul, unary(b, Op::atan, x), shifted(b, unary(b, Op::sin, y), 0.5));
    }
  }
  /// A function whose derivative, or value, does not exist for every x > 0.25 below.
  Var singular(Body& b, Var x) {
    switch (below(9)) {
      case 0:
        return unary(b, Op::sqrt, x);
      case 1:
        return unary(b, Op::log, x);
      case 2:
        return scaled(b, unary(b, Op::reciprocal, x), 0.3);
      case 3:
        return one(b, Op::power, {x}, type(x), {}, {any_of({0.5, 1.5, -0.5, 2.5})});
      case 4:
        return binary(b, Op::pow, x, unary(b, Op::tanh, scalar(b)));
      case 5:
        return unary(b, Op::host_root, x);
      case 6:
        return unary(b, Op::sin, unary(b, Op::checked, x));
      case 7:
        return unary(b, Op::log1p, shifted(b, x, -1));
      default:
        return scaled(b, binary(b, Op::div, unary(b, Op::sin, scalar(b)), x), 0.4);
    }
  }
  /// What a body returns for a value of this type: of its parameters and of what it made, bounded.
  Var result(Body& b, Var from, const Type& t) {
    Var v = like(b, from, t);
    v = like(b, mix(b, v, pick(b)), t);
    return one_in(2) ? unary(b, Op::sin, v) : unary(b, Op::tanh, v);
  }

  // ---- idioms
  void idiom(Body& b);
  void idioms(Body& b, int n) {
    for (int k = 0; k < n; ++k) idiom(b);
  }
  /// One or two results of random idioms on the parameters.
  Vars anything(Body& b, const Vars& params, const std::vector<Type>& results) {
    if (b.depth < 3 && !one_in(3)) idioms(b, 1);
    Vars out;
    for (const Type& t : results)
      out.push_back(
          result(b, params[static_cast<std::size_t>(below(static_cast<int>(params.size())))], t));
    return out;
  }
  /// 1 to 3, by the value of x.
  Var steps(Body& b, Var x) {
    const Type integer{Kind::integer};
    Var n = one(b, Op::count, {greater(b, x, number(-0.5, 0.2))}, integer);
    n = one(b, Op::int_add, {n, one(b, Op::count, {greater(b, x, number(0.3, 0.9))}, integer)},
            integer);
    return one(b, Op::int_shift, {n}, integer, {1});
  }
  Var greater(Body& b, Var x, double than) {
    return one(b, Op::greater, {x}, {Kind::boolean}, {}, {than});
  }
  Var less(Body& b, Var x, double than) {
    return one(b, Op::less, {x}, {Kind::boolean}, {}, {than});
  }
  std::vector<int> policy() { return {below(5), 1 + below(3)}; }
  /// A loop over carries in random order: `at` numbers those of `init` as the functions see them.
  struct Carries {
    Vars init;
    std::vector<std::size_t> at;
  };
  Carries shuffled(const Vars& init) {
    Carries c{init, {}};
    for (std::size_t k = 0; k < init.size(); ++k) c.at.push_back(k);
    for (std::size_t k = init.size(); k-- > 1;)
      std::swap(c.at[k], c.at[static_cast<std::size_t>(below(static_cast<int>(k + 1)))]);
    for (std::size_t k = 0; k < init.size(); ++k) c.init[c.at[k]] = init[k];
    return c;
  }
  /// while condition(carry) carry = step(carry), with carries given and returned in the order of
  /// `init`.
  Vars loop(Body& b, const Vars& init, const std::function<Var(Body&, const Vars&)>& condition,
            const Fill& step) {
    const Carries c = shuffled(init);
    const auto ordered = [&c](const Vars& v) {
      Vars o;
      for (std::size_t at : c.at) o.push_back(v[at]);
      return o;
    };
    const std::vector<Type> types = types_of(c.init);
    const FunctionPtr ask =
        function(b, types, [&](Body& i, const Vars& v) { return Vars{condition(i, ordered(v))}; });
    const FunctionPtr body = function(b, types, [&](Body& i, const Vars& v) {
      const Vars next = step(i, ordered(v));
      Vars out(next.size());
      for (std::size_t k = 0; k < next.size(); ++k) out[c.at[k]] = next[k];
      return out;
    });
    return ordered(emit(b, Op::while_loop, c.init, types, {ask, body}, policy()));
  }

  void guarded(Body& b);
  void element_wise_guard(Body& b);
  void threshold_loop(Body& b);
  void counted_loop(Body& b);
  void loop_to_a_singular_point(Body& b);
  void loop_that_may_not_end(Body& b);
  void scanned(Body& b);
  void counted_by_fori(Body& b);
  void mapped(Body& b);
  void called(Body& b);
  void planned_for_shapes(Body& b);
  void chosen(Body& b);
  void arranged(Body& b);
  void derivative(Body& b);
  void custom(Body& b);
  void custom_by_loops(Body& b);

  std::mt19937_64 rng_;
  Program p_;
  std::set<Var> concrete_, fixed_;
  int orders_left_;  ///< of derivatives inside of the program
};

}  // namespace nesting
