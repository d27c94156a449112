// SPDX-License-Identifier: Apache-2.0
//
// Idioms: branches, loops, maps, plans.
#include "generator.h"

namespace nesting {

/// cond(x > a, singular(x), smooth(x)); or the other way round.
void Generator::guarded(Body& b) {
  const Var x = scalar(b);
  Vars in = {x};
  if (one_in(2)) in.push_back(pick(b));
  const double a = number(0.25, 0.5);
  const bool swapped = one_in(3);
  const FunctionPtr inside = function(b, types_of(in), [&](Body& i, const Vars& v) {
    const Var y = singular(i, one_in(3) ? x : v[0]);  // captured, or as an argument
    if (one_in(3)) idioms(i, 1);
    return Vars{mix(i, like(i, y, {}), scalar_of(i, v.back()))};
  });
  const FunctionPtr outside =
      function(b, types_of(in), [&](Body& i, const Vars& v) { return anything(i, v, {{}}); });
  const Var p = swapped ? less(b, x, a) : greater(b, x, a);
  in.insert(in.begin(), p);
  emit(b, Op::cond, in, {{}},
       swapped ? std::vector{outside, inside} : std::vector{inside, outside});
}

/// The same for each element of a vector.
void Generator::element_wise_guard(Body& b) {
  const Var v = vector(b);
  Vars in = {v};
  if (one_in(2)) in.push_back(pick(b));
  std::vector<Type> types = types_of(in);
  types[0].dims.clear();
  const FunctionPtr f = function(b, types, [&](Body& i, const Vars&) {
    guarded(i);
    return Vars{i.visible.back()};
  });
  emit(b, Op::vmap, in, {type(v)}, {f}, {1});
}

/// while (c > a) { acc = f(acc, singular(c)); c = c / 2 - ...; }
void Generator::threshold_loop(Body& b) {
  const Var c = scalar(b), acc = pick(b);
  const double a = number(0.25, 0.4);
  loop(
      b, {c, smooth(b, acc)}, [&](Body& i, const Vars& v) { return greater(i, v[0], a); },
      [&](Body& i, const Vars& v) {
        const Var y = one_in(2) ? singular(i, v[0]) : anything(i, v, {{}})[0];
        const Var next =
            binary(i, Op::sub, scaled(i, v[0], 0.5),
                   scaled(i, unary(i, Op::square, unary(i, Op::sin, scalar_of(i, v[1]))), 0.1));
        return Vars{next, result(i, binary(i, Op::add, v[1], y), type(v[1]))};
      });
}

/// while (k < n) { acc = f(acc, table[k]); k = k + 1; } with a table of as many entries as the most
/// steps.
void Generator::counted_loop(Body& b) {
  const Var n = steps(b, scalar(b));
  const Var table = one(b, Op::stack, {scalar(b), scalar(b), scalar(b)}, {Kind::real, {3}});
  const Var k = one(b, Op::int_constant, {}, {Kind::integer}, {0});
  Vars init = {k, smooth(b, pick(b))};
  const bool carried = one_in(2);
  if (carried) init.push_back(n);
  loop(
      b, init,
      [&](Body& i, const Vars& v) {
        return one(i, Op::int_less, {v[0], carried ? v[2] : n}, {Kind::boolean});
      },
      [&](Body& i, const Vars& v) {
        const Var entry = one(i, Op::gather, {table, v[0]}, {});
        const Var y = one_in(2) ? entry : anything(i, {entry, v[1]}, {{}})[0];
        Vars next = {one(i, Op::int_shift, {v[0]}, {Kind::integer}, {1}),
                     result(i, binary(i, Op::mul, shifted(i, v[1], 0.5), y), type(v[1]))};
        if (carried) next.push_back(v[2]);
        return next;
      });
}

/// while (c > 1/4) { acc = f(acc, singular(c)); c = c - 1/2; } from 1/2, 1 or 3/2: c ends at 0, and
/// has the derivative of x.
void Generator::loop_to_a_singular_point(Body& b) {
  const Var x = scalar(b);
  const Var start = scaled(b, one(b, Op::to_real, {steps(b, x)}, {}), 0.5);
  const Var c = binary(b, Op::add, start, binary(b, Op::sub, x, unary(b, Op::stop_gradient, x)));
  loop(
      b, {c, smooth(b, pick(b))}, [&](Body& i, const Vars& v) { return greater(i, v[0], 0.25); },
      [&](Body& i, const Vars& v) {
        return Vars{shifted(i, v[0], -0.5),
                    result(i, binary(i, Op::add, v[1], singular(i, v[0])), type(v[1]))};
      });
}

/// cond(x > a, while (c < 2) { c = c + x; ... }, ...): for x <= 0 the loop would not end.
void Generator::loop_that_may_not_end(Body& b) {
  const Var x = scalar(b);
  const FunctionPtr inside = function(b, {{}}, [&](Body& i, const Vars& p) {
    const Var acc = smooth(i, p[0]);
    const Vars end = loop(
        i, {p[0], acc}, [&](Body& j, const Vars& v) { return less(j, v[0], 2); },
        [&](Body& j, const Vars& v) {
          return Vars{binary(j, Op::add, v[0], x), result(j, v[1], {})};
        });
    return Vars{binary(i, Op::sub, unary(i, Op::sin, end[0]), end[1])};
  });
  const FunctionPtr outside =
      function(b, {{}}, [&](Body& i, const Vars& p) { return Vars{smooth(i, p[0])}; });
  emit(b, Op::cond, {greater(b, x, number(0.3, 0.5)), x}, {{}}, {inside, outside});
}

void Generator::scanned(Body& b) {
  const Var xs = vector(b), c = smooth(b, pick(b));
  Vars in = {c, xs};
  std::vector<Type> params = {type(c), {}};
  if (one_in(3)) {  // a second list of slices, of vectors
    const Var row = vector(b);
    in.push_back(one(b, Op::spread, {row}, {Kind::real, {type(xs).dims[0], type(row).dims[0]}},
                     {type(xs).dims[0]}));
    params.push_back(type(row));
  }
  const FunctionPtr f = function(b, params, [&](Body& i, const Vars& v) {
    if (one_in(2)) idioms(i, 1);
    return Vars{result(i, binary(i, Op::add, v[0], v.back()), type(v[0])),
                mix(i, scalar_of(i, v[0]), v[1])};
  });
  const std::vector<int> keep = policy();
  emit(b, Op::scan, in, {type(c), type(xs)}, {f}, {1, keep[0], keep[1], below(2)});
}

void Generator::counted_by_fori(Body& b) {
  const Var c = smooth(b, pick(b)), table = vector(b);
  const int n = type(table).dims[0];
  const FunctionPtr f = function(b, {{Kind::integer}, type(c)}, [&](Body& i, const Vars& v) {
    const Var y = one_in(2) ? one(i, Op::gather, {table, v[0]}, {})
                            : scaled(i, one(i, Op::to_real, {v[0]}, {}), 0.3);
    if (one_in(2)) idioms(i, 1);
    return Vars{result(i, binary(i, Op::add, v[1], y), type(c))};
  });
  const std::vector<int> keep = policy();
  emit(b, Op::fori, {c}, {type(c)}, {f}, {n, keep[0], keep[1]});
}

void Generator::mapped(Body& b) {
  Vars in = {vector(b)};
  std::vector<Type> params = {{}};
  const int n = type(in[0]).dims[0];
  if (one_in(3)) {  // rows of a matrix beside it
    const Var row = vector(b);
    const Var rows = one(b, Op::spread, {row}, {Kind::real, {n, type(row).dims[0]}}, {n});
    in.push_back(rows);
    params.push_back(type(row));
  }
  const int batched = static_cast<int>(in.size());
  if (one_in(2)) {
    in.push_back(pick(b));
    params.push_back(type(in.back()));
  }
  const Type result_type = one_in(3) ? params.back() : Type{};
  const FunctionPtr f = function(b, params, [&](Body& i, const Vars& v) {
    if (one_in(2)) idioms(i, 1);
    return Vars{result(i, v[0], result_type)};
  });
  Type t = result_type;
  t.dims.insert(t.dims.begin(), n);
  const Var y = emit(b, Op::vmap, in, {t}, {f}, {batched})[0];
  if (t.dims.size() == 2) one(b, Op::mean_rows, {y}, {Kind::real, {t.dims[1]}});
}

/// jit, checkpointed or the function itself, of one or two operands, which may be one tensor.
void Generator::called(Body& b) {
  Vars in = {pick(b)};
  if (one_in(2)) in.push_back(one_in(2) ? in[0] : pick(b));
  std::vector<Type> results = {{}};
  if (one_in(2)) results.push_back(type(in[0]));
  const FunctionPtr f =
      function(b, types_of(in), [&](Body& i, const Vars& v) { return anything(i, v, results); });
  emit(b, any_of({Op::jit, Op::jit, Op::checkpointed, Op::checkpointed, Op::call}), in, results,
       {f});
}

/// One jitted function on vectors of different lengths, the first again at the end.
void Generator::planned_for_shapes(Body& b) {
  const Var x = vector(b), w = scalar(b);
  const Var y = one(b, Op::stack, {scalar(b), scalar(b)}, {Kind::real, {2}});
  const Var z = one(b, Op::stack, {scalar(b), w, scalar(b), scalar(b), w}, {Kind::real, {5}});
  const FunctionPtr f = function(b, {type(x)}, [&](Body& i, const Vars& v) {
    const Var u = mix(i, v[0], w);
    return Vars{one_in(2)   ? unary(i, Op::cumsum, u)
                : one_in(2) ? binary(i, Op::mul, u, one(i, Op::sum, {v[0]}, {}))
                            : u};
  });
  f->rows = one_in(2);
  const Vars in = one_in(2) ? Vars{y, z, x, y} : Vars{x, z, x};
  const Vars out = emit(b, Op::jit_shapes, in, types_of(in), {f});
  mix(b, out[0], mix(b, one(b, Op::sum, {out[1]}, {}), one(b, Op::sum, {out[out.size() - 1]}, {})));
}

void Generator::chosen(Body& b) {
  const Var x = pick(b), y = pick(b), p = greater(b, scalar(b), number(-0.2, 0.5));
  const Var u = smooth(b, x), v = type(x) == type(y) ? mix(b, y, x) : smooth(b, x);
  one(b, Op::where, {p, u, like(b, v, type(u))}, type(u));
}

void Generator::arranged(Body& b) {
  const Var v = vector(b);
  switch (below(5)) {
    case 0:
      unary(b, Op::cumsum, v);
      return;
    case 1:
      unary(b, Op::reverse, v);
      return;
    case 2:
      one(b, Op::dot, {v, vector_of(b, pick(b), type(v).dims[0])}, {});
      return;
    case 3: {
      const int n = type(v).dims[0], m = 1 + below(3);
      one(b, Op::matvec, {constant(b, {Kind::real, {m, n}}), v}, {Kind::real, {m}});
      return;
    }
    default: {  // a value twice
      const Var x = pick(b);
      mix(b, x, x);
    }
  }
}

}  // namespace nesting
