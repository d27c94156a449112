// SPDX-License-Identifier: Apache-2.0
//
// Programs drawn at random, decided by the seed alone. What is drawn is not single operations but
// idioms, each one a way in which users meet control flow and derivatives: a branch that guards a
// singular function, a loop whose steps are data, a loop that ends where its body has no
// derivative, a table that ends with the loop, a derivative inside of a function that uses the
// point at which it is taken, ... Values are kept of order one by sines and tangents, and singular
// functions a quarter away from their points, so that fourth derivatives lose few digits.
#include "generator.h"

namespace nesting {

void Generator::idiom(Body& b) {
  if (b.depth >= 3) {
    mix(b, pick(b), pick(b));
    return;
  }
  switch (below(22)) {
    case 0:
    case 1:
      return guarded(b);
    case 2:
      return element_wise_guard(b);
    case 3:
    case 4:
      return threshold_loop(b);
    case 5:
    case 6:
      return counted_loop(b);
    case 7:
      return loop_to_a_singular_point(b);
    case 8:
      return loop_that_may_not_end(b);
    case 9:
    case 10:
      return scanned(b);
    case 11:
      return counted_by_fori(b);
    case 12:
      return mapped(b);
    case 13:
    case 14:
      return called(b);
    case 15:
      return planned_for_shapes(b);
    case 16:
      return chosen(b);
    case 17:
      return arranged(b);
    case 18:
    case 19:
      return derivative(b);
    case 20:
      return custom(b);
    default:
      return custom_by_loops(b);
  }
}

Subject Generator::make() {
  const int n = 1 + below(3);
  const Type t{Kind::real, {n}};
  const auto outside = [&](const Type& type, bool special) {
    const Var v = p_.fresh(type);
    std::vector<double> numbers;
    for (int k = 0; k < type.count(); ++k)
      numbers.push_back(special && one_in(6) ? any_of({0.0, 1.0, -1.0}) : number(-1.3, 1.3));
    p_.world.emplace_back(v, numbers);
    concrete_.insert(v);
    return v;
  };
  const Var x = outside(t, true), y = one_in(3) ? x : outside(t, true);
  Body b;
  b.visible = {outside(t, false), outside({}, false), x};
  b.f.params = {p_.fresh(t), p_.fresh(t)};
  b.visible.insert(b.visible.end(), b.f.params.begin(), b.f.params.end());
  const std::size_t given = b.visible.size();
  idioms(b, 2 + below(4));
  // All that was made is in the result.
  Var s = scaled(b, scalar_of(b, b.f.params[0]), 0.5);
  const Vars made(b.visible.begin() + static_cast<std::ptrdiff_t>(given), b.visible.end());
  int taken = 0;
  for (std::size_t k = made.size(); k-- > 0 && taken < 8;) {
    const Var v = made[k];
    if (!is_real(v) || type(v).dims.size() > 1 || fixed_.count(v) || concrete_.count(v)) continue;
    s = binary(b, Op::add, s,
               scaled(b, one_in(2) ? scalar_of(b, v) : unary(b, Op::sin, scalar_of(b, v)),
                      number(0.3, 1)));
    ++taken;
  }
  b.f.results = {unary(b, Op::sin, s), mix(b, vector_of(b, pick(b), n), b.f.params[1])};
  p_.main = std::move(b.f);
  return {std::move(p_), x, y};
}

Subject generate(std::uint64_t seed) { return Generator(seed).make(); }

}  // namespace nesting
