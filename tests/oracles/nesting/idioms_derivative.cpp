// SPDX-License-Identifier: Apache-2.0
//
// Idioms: derivatives inside of the program, functions that bring their own.
#include "generator.h"

namespace nesting {

/// A derivative inside of the program, of a function that may use the point it is taken at, or be
/// given it twice.
void Generator::derivative(Body& b) {
  if (orders_left_ == 0) return mapped(b);
  Op op = orders_left_ == 1
              ? any_of({Op::jvp, Op::linearize, Op::vjp, Op::grad, Op::value_and_grad, Op::jet})
              : any_of({Op::jet, Op::jet, Op::hessian, Op::laplacian, Op::value_and_laplacian,
                        Op::directional_sum, Op::grad, Op::jvp});
  const int order = op == Op::jet ? 1 + below(orders_left_) : op >= Op::hessian ? 2 : 1;
  const bool of_vector = op >= Op::hessian;
  const Var x = of_vector ? vector(b) : pick(b);
  Vars in = {x};
  if (!of_vector && one_in(3)) in.push_back(one_in(2) ? x : pick(b));
  const bool scalar_only = op == Op::grad || op == Op::value_and_grad || op == Op::hessian ||
                           op == Op::value_and_laplacian;
  std::vector<Type> results = {{}};
  if (!scalar_only && one_in(2)) results[0] = type(in.back());
  orders_left_ -= order;
  const FunctionPtr f = function(b, types_of(in), [&](Body& i, const Vars& v) {
    const Var captured = one_in(4) ? v[0] : mix(i, v[0], x);
    if (one_in(3)) idioms(i, 1);
    return Vars{result(i, binary(i, Op::add, captured, v.back()), results[0])};
  });
  orders_left_ += order;
  const Type& t = results[0];
  const int n = is_vector(x) ? type(x).dims[0] : 1;
  const auto directions = [&] {
    Vars d;
    for (Var v : in) d.push_back(one_in(2) ? constant(b, type(v)) : like(b, pick(b), type(v)));
    return d;
  };
  const auto with = [&](const Vars& more) {
    Vars all = in;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  switch (op) {
    case Op::jvp:
    case Op::linearize:
      emit(b, op, with(directions()), {t, t}, {f});
      return;
    case Op::vjp:
      emit(b, op, with({like(b, pick(b), t)}), types_of(in), {f}, {static_cast<int>(in.size())});
      return;
    case Op::grad:
      emit(b, op, in, types_of(in), {f});
      return;
    case Op::value_and_grad: {
      std::vector<Type> out = types_of(in);
      out.insert(out.begin(), Type{});
      emit(b, op, in, out, {f});
      return;
    }
    case Op::jet:
      emit(b, op, with(directions()), std::vector<Type>(static_cast<std::size_t>(order) + 1, t),
           {f}, {order});
      return;
    case Op::hessian:
      one(b, Op::mean_rows, emit(b, op, in, {{Kind::real, {n, n}}}, {f}), {Kind::real, {n}});
      return;
    case Op::laplacian:
      emit(b, op, in, {t}, {f});
      return;
    case Op::value_and_laplacian:
      emit(b, op, in, {{}, {Kind::real, {n}}, {}}, {f});
      return;
    default: {
      const int m = 1 + below(3);
      std::vector<double> numbers;
      for (int k = 0; k < m * n + m; ++k) numbers.push_back(number(-1, 1));
      emit(b, Op::directional_sum, in, {t}, {f}, {2, m}, numbers);
    }
  }
}

/// Any function, with the derivative that it has by itself as its rule; or a few lines by hand.
void Generator::custom(Body& b) {
  const Var x = pick(b);
  if (one_in(3)) {  // y = exp(-x^2), y' = -2 x y x'
    const FunctionPtr f = function(
        b, {type(x)},
        [&](Body& i, const Vars& v) {
          return Vars{unary(i, Op::exp, unary(i, Op::neg, unary(i, Op::square, v[0])))};
        },
        Sees::concrete);
    const FunctionPtr rule = function(
        b, {type(x), type(x), type(x)},
        [&](Body& i, const Vars& v) {
          return Vars{binary(i, Op::mul, scaled(i, binary(i, Op::mul, v[0], v[1]), -2), v[2])};
        },
        Sees::concrete);
    emit(b, Op::custom_jvp, {x}, {type(x)}, {f, rule});
    return;
  }
  Vars in = {x};
  if (one_in(2)) in.push_back(one_in(3) ? x : pick(b));
  const Type t = type(in.back());
  const std::vector<Type> types = types_of(in);
  const FunctionPtr f = function(
      b, types, [&](Body& i, const Vars& v) { return anything(i, v, {t}); }, Sees::concrete);
  std::vector<Type> rule_types = types;
  if (one_in(2)) {
    rule_types.push_back(t);
    rule_types.insert(rule_types.end(), types.begin(), types.end());
    const FunctionPtr rule = function(
        b, rule_types,
        [&](Body& i, const Vars& v) {
          Vars primal_and_tangent = v;
          primal_and_tangent.erase(primal_and_tangent.begin() +
                                   static_cast<std::ptrdiff_t>(types.size()));
          return Vars{emit(i, Op::jvp, primal_and_tangent, {t, t}, {f})[1]};
        },
        Sees::concrete);
    emit(b, Op::custom_jvp, in, {t}, {f, rule});
    return;
  }
  const FunctionPtr forward = function(
      b, types,
      [&](Body& i, const Vars& v) {
        Vars out = emit(i, Op::call, v, {t}, {f});
        out.insert(out.end(), v.begin(), v.end());
        return out;
      },
      Sees::concrete);
  rule_types.push_back(t);
  const FunctionPtr backward = function(
      b, rule_types,
      [&](Body& i, const Vars& v) {
        return emit(i, Op::vjp, v, types, {f}, {static_cast<int>(types.size())});
      },
      Sees::concrete);
  emit(b, Op::custom_vjp, in, {t}, {forward, backward}, {1});
}

/// x -> (0.8 w)^n x by a loop, linear in x and its own transpose, where w and n are not
/// differentiated.
void Generator::custom_by_loops(Body& b) {
  const Var x = pick(b), u = one_in(2) ? scalar(b) : like(b, pick(b), type(x));
  const int kind = below(3);
  struct Factor {
    Var w, n;
  };
  const auto factor = [&](Body& i, Var from) {
    const Var w = unary(i, Op::tanh, unary(i, Op::stop_gradient, from));
    return Factor{w, steps(i, scalar_of(i, w))};
  };
  const auto multiplied = [&](Body& i, Var v, const Factor& by) {
    const auto step = [&](Body& j, Var y) {
      return like(j, binary(j, Op::mul, scaled(j, y, 0.8), by.w), type(x));
    };
    if (kind == 0) return step(i, v);
    if (kind == 1) {
      const FunctionPtr f = function(i, {{Kind::integer}, type(x)},
                                     [&](Body& j, const Vars& y) { return Vars{step(j, y[1])}; });
      const std::vector<int> keep = policy();
      return emit(i, Op::fori, {v}, {type(x)}, {f}, {2, keep[0], keep[1]})[0];
    }
    const Var k = one(i, Op::int_constant, {}, {Kind::integer}, {0});
    return loop(
        i, {k, v},
        [&](Body& j, const Vars& y) {
          return one(j, Op::int_less, {y[0], by.n}, {Kind::boolean});
        },
        [&](Body& j, const Vars& y) {
          return Vars{one(j, Op::int_shift, {y[0]}, {Kind::integer}, {1}), step(j, y[1])};
        })[1];
  };
  if (one_in(2)) {  // a linear map may capture them
    const Factor by = factor(b, u);
    fixed_.insert({by.w, by.n});
    const auto map = [&] {
      return function(
          b, {type(x)}, [&](Body& i, const Vars& v) { return Vars{multiplied(i, v[0], by)}; },
          Sees::fixed);
    };
    const FunctionPtr f = map();
    emit(b, Op::custom_linear, {x}, {type(x)}, {f, map()});
    return;
  }
  // A rule gets them as residuals.
  const Type of_u = type(u);
  const FunctionPtr forward = function(
      b, {type(x), of_u},
      [&](Body& i, const Vars& v) {
        const Factor by = factor(i, v[1]);
        return Vars{multiplied(i, v[0], by), by.w, by.n};
      },
      Sees::concrete);
  const FunctionPtr backward = function(
      b, {of_u, {Kind::integer}, type(x)},
      [&](Body& i, const Vars& v) {
        return Vars{multiplied(i, v[2], {v[0], v[1]}),
                    one(i, Op::constant, {}, of_u, of_u.dims,
                        std::vector<double>(static_cast<std::size_t>(of_u.count()), 0.0))};
      },
      Sees::concrete);
  emit(b, Op::custom_vjp, {x, u}, {type(x)}, {forward, backward}, {1});
}

}  // namespace nesting
