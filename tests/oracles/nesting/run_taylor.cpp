// SPDX-License-Identifier: Apache-2.0
//
// Programs read in Taylor arithmetic, element by element and along the branches that are taken. A
// derivative opens a direction, adds it to the argument, reads the function and takes the
// coefficient; transforms that change nothing of the value (jit, checkpointed, custom rules that
// are right) are the function itself; vmap is a loop.
#include "program.h"
#include "taylor.h"

namespace nesting {
namespace {

constexpr int kMostSteps = 1000;  // generated loops take a few

/// Numbers of kind R.
template <class R>
class Reader {
 public:
  using Number = nesting::Number<R>;
  struct Value {
    Kind kind = Kind::real;
    std::vector<int> dims;
    std::vector<Number> x;             ///< real
    std::vector<std::int64_t> n = {};  ///< integer, boolean
  };
  using Values = std::vector<Value>;

  explicit Reader(const Program& p) : known_(p.types.size()) {
    for (const auto& [v, numbers] : p.world)
      at(v) = real(p.types[static_cast<std::size_t>(v)].dims, {numbers.begin(), numbers.end()});
  }
  Values call(const Function& f, const Values& arguments) {
    for (std::size_t k = 0; k < f.params.size(); ++k) at(f.params[k]) = arguments.at(k);
    for (const Let& l : f.body) {
      Values in;
      for (Var v : l.in) in.push_back(at(v));
      const Values out = apply(l, in);
      for (std::size_t k = 0; k < l.out.size(); ++k) at(l.out[k]) = out.at(k);
    }
    Values results;
    for (Var v : f.results) results.push_back(at(v));
    return results;
  }

 private:
  Value& at(Var v) { return known_[static_cast<std::size_t>(v)]; }
  Values apply(const Let& l, const Values& in);
  Value element(const Let& l, const Values& in);
  Values derivative(const Let& l, const Values& in);
  /// sum_k ct_k dy_k/dx_i for every element of x.
  Values cotangents(const Function& f, const Values& x, const Values& ct);
  Values control(const Let& l, const Values& in);

  static Value real(std::vector<int> dims, std::vector<Number> x) {
    return {Kind::real, std::move(dims), std::move(x)};
  }
  static Value scalar(Number x) { return real({}, {std::move(x)}); }
  static Value integer(std::int64_t n) { return {Kind::integer, {}, {}, {n}}; }
  static Value boolean(bool b) { return {Kind::boolean, {}, {}, {b}}; }

  /// Slice i along axis 0.
  static Value row(const Value& v, std::size_t i) {
    if (v.dims.empty() || i >= static_cast<std::size_t>(v.dims[0]))
      throw Refused("a position outside of its axis");
    Value r{v.kind, {v.dims.begin() + 1, v.dims.end()}, {}, {}};
    const std::size_t all = v.kind == Kind::real ? v.x.size() : v.n.size(),
                      one = all / static_cast<std::size_t>(v.dims[0]);
    const auto begin = static_cast<std::ptrdiff_t>(one * i),
               end = static_cast<std::ptrdiff_t>(one * (i + 1));
    if (v.kind == Kind::real)
      r.x.assign(v.x.begin() + begin, v.x.begin() + end);
    else
      r.n.assign(v.n.begin() + begin, v.n.begin() + end);
    return r;
  }
  static Value stacked(const Values& rows) {
    Value v{rows.at(0).kind, rows[0].dims, {}, {}};
    v.dims.insert(v.dims.begin(), static_cast<int>(rows.size()));
    for (const Value& r : rows) {
      if (r.dims != rows[0].dims) throw Refused("rows of different shapes");
      v.x.insert(v.x.end(), r.x.begin(), r.x.end());
      v.n.insert(v.n.end(), r.n.begin(), r.n.end());
    }
    return v;
  }

  template <class F>
  static Value map(const F& f, const Value& a) {
    Value r = a;
    for (Number& x : r.x) x = f(x);
    return r;
  }
  template <class F>
  static Value map(const F& f, const Value& a, const Value& b) {
    if (a.dims != b.dims && a.x.size() != 1 && b.x.size() != 1)
      throw Refused("shapes that do not broadcast");
    Value r = a.dims.size() >= b.dims.size() ? a : b;
    for (std::size_t i = 0; i < r.x.size(); ++i)
      r.x[i] = f(a.x[a.x.size() == 1 ? 0 : i], b.x[b.x.size() == 1 ? 0 : i]);
    return r;
  }
  /// A coefficient of the latest direction of every element; integers have the zeroth alone.
  static Value part(const Value& v, int k) {
    if (v.kind != Kind::real) return v;
    return map([k](const Number& x) { return x.part(k); }, v);
  }
  static Number inner(const Values& a, const Values& b) {
    Number s;
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t i = 0; i < a[k].x.size(); ++i) s += a[k].x[i] * b[k].x[i];
    return s;
  }
  static Values slice(const Values& v, std::size_t begin, std::size_t end) {
    return {v.begin() + static_cast<std::ptrdiff_t>(begin),
            v.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  std::vector<Value> known_;
};

/// Operations on numbers, by the formulas of taylor.h.
template <class R>
auto Reader<R>::element(const Let& l, const Values& in) -> Value {
  const auto unary = [&](auto f) { return map(f, in.at(0)); };
  const auto binary = [&](auto f) { return map(f, in.at(0), in.at(1)); };
  const auto number = [&] { return l.numbers.at(0); };
  switch (l.op) {
    case Op::sin:
      return unary([](const Number& x) { return sin(x); });
    case Op::cos:
      return unary([](const Number& x) { return cos(x); });
    case Op::tanh:
      return unary([](const Number& x) { return tanh(x); });
    case Op::atan:
      return unary([](const Number& x) { return atan(x); });
    case Op::logistic:
      return unary([](const Number& x) { return logistic(x); });
    case Op::erf:
      return unary([](const Number& x) { return erf(x); });
    case Op::softplus:
      return unary([](const Number& x) { return softplus(x); });
    case Op::square:
      return unary([](const Number& x) { return x * x; });
    case Op::neg:
      return unary([](const Number& x) { return -x; });
    case Op::exp:
      return unary([](const Number& x) { return exp(x); });
    case Op::log:
      return unary([](const Number& x) { return log(x); });
    case Op::log1p:
      return unary([](const Number& x) { return log1p(x); });
    case Op::sqrt:
      return unary([](const Number& x) { return sqrt(x); });
    case Op::reciprocal:
      return unary([](const Number& x) { return reciprocal(x); });
    case Op::stop_gradient:
      return unary([](const Number& x) { return Number(x.value()); });
    case Op::scale:
      return unary([&](const Number& x) { return x * number(); });
    case Op::shift:
      return unary([&](const Number& x) { return x + number(); });
    case Op::power:
      return unary([&](const Number& x) { return pow(x, number()); });
    case Op::integer_power:
      return unary([&](const Number& x) {
        Number y = 1;
        for (int k = 0; k < l.sizes.at(0); ++k) y = y * x;
        return y;
      });
    case Op::host_root:
    case Op::checked:
      for (const Number& x : in.at(0).x)
        if (!(x.value() > 0)) throw Refused("a guard that was met");
      return l.op == Op::checked ? in[0] : unary([](const Number& x) { return sqrt(x); });
    case Op::add:
      return binary([](const Number& a, const Number& b) { return a + b; });
    case Op::sub:
      return binary([](const Number& a, const Number& b) { return a - b; });
    case Op::mul:
      return binary([](const Number& a, const Number& b) { return a * b; });
    case Op::div:
      return binary([](const Number& a, const Number& b) { return a / b; });
    case Op::atan2:
      return binary([](const Number& a, const Number& b) { return atan2(a, b); });
    case Op::pow:
      return binary([](const Number& a, const Number& b) { return exp(b * log(a)); });
    case Op::hypot:
      return binary([](const Number& a, const Number& b) { return sqrt(a * a + b * b); });
    default:
      throw std::logic_error("no operation on elements");
  }
}

template <class R>
auto Reader<R>::apply(const Let& l, const Values& in) -> Values {
  switch (l.op) {
    case Op::where: {
      Value r = map([](const Number& a, const Number&) { return a; }, in.at(1), in.at(2));
      for (std::size_t i = 0; i < r.x.size(); ++i) {
        const Value& from = in[0].n[in[0].n.size() == 1 ? 0 : i] ? in[1] : in[2];
        r.x[i] = from.x[from.x.size() == 1 ? 0 : i];
      }
      return {r};
    }
    case Op::constant:
      return {real({l.sizes.begin(), l.sizes.end()}, {l.numbers.begin(), l.numbers.end()})};
    case Op::sum: {
      Number s;
      for (const Number& x : in.at(0).x) s += x;
      return {scalar(s)};
    }
    case Op::mean_rows: {
      const int n = in.at(0).dims.at(0);
      Value s = row(in[0], 0);
      for (int i = 1; i < n; ++i)
        s = map([](const Number& a, const Number& b) { return a + b; }, s,
                row(in[0], static_cast<std::size_t>(i)));
      return {map([n](const Number& a) { return a * (R(1) / n); }, s)};
    }
    case Op::cumsum: {
      Value r = in.at(0);
      const std::size_t inner = r.x.size() / static_cast<std::size_t>(r.dims.at(0));
      for (std::size_t i = inner; i < r.x.size(); ++i) r.x[i] += r.x[i - inner];
      return {r};
    }
    case Op::reverse: {
      Values rows;
      for (int i = in.at(0).dims.at(0); i-- > 0;)
        rows.push_back(row(in[0], static_cast<std::size_t>(i)));
      return {stacked(rows)};
    }
    case Op::select:
      return {row(in.at(0), static_cast<std::size_t>(l.sizes.at(0)))};
    case Op::gather:
      return {row(in.at(0), static_cast<std::size_t>(in.at(1).n.at(0)))};
    case Op::stack:
      return {stacked(in)};
    case Op::spread:
      return {stacked(Values(static_cast<std::size_t>(l.sizes.at(0)), in.at(0)))};
    case Op::dot:
      return {scalar(inner({in.at(0)}, {in.at(1)}))};
    case Op::matvec: {
      Values rows;
      for (int i = 0; i < in.at(0).dims.at(0); ++i)
        rows.push_back(scalar(inner({row(in[0], static_cast<std::size_t>(i))}, {in.at(1)})));
      return {stacked(rows)};
    }
    case Op::less:
      return {boolean(in.at(0).x.at(0).value() < l.numbers.at(0))};
    case Op::greater:
      return {boolean(in.at(0).x.at(0).value() > l.numbers.at(0))};
    case Op::int_less:
      return {boolean(in.at(0).n.at(0) < in.at(1).n.at(0))};
    case Op::count:
      return {integer(in.at(0).n.at(0))};
    case Op::int_constant:
      return {integer(l.sizes.at(0))};
    case Op::int_add:
      return {integer(in.at(0).n.at(0) + in.at(1).n.at(0))};
    case Op::int_shift:
      return {integer(in.at(0).n.at(0) + l.sizes.at(0))};
    case Op::to_real:
      return {scalar(static_cast<double>(in.at(0).n.at(0)))};
    default:
      break;
  }
  if (l.functions.empty()) return {element(l, in)};
  return l.op < Op::jvp ? control(l, in) : derivative(l, in);
}

template <class R>
auto Reader<R>::control(const Let& l, const Values& in) -> Values {
  const Function& f = *l.functions.at(0);
  switch (l.op) {
    case Op::call:
    case Op::jit:
    case Op::checkpointed:
      return call(f, in);
    case Op::jit_shapes: {
      Values out;
      for (const Value& x : in)
        out.push_back(call(f, {x})[0]);  // rows that come as a list are stacked again
      return out;
    }
    case Op::vmap: {
      const auto batched = static_cast<std::size_t>(l.sizes.at(0));
      std::vector<Values> columns;
      for (int b = 0; b < in.at(0).dims.at(0); ++b) {
        Values one = in;
        for (std::size_t k = 0; k < batched; ++k) one[k] = row(in[k], static_cast<std::size_t>(b));
        columns.push_back(call(f, one));
      }
      Values out;
      for (std::size_t k = 0; k < l.out.size(); ++k) {
        Values rows;
        for (const Values& c : columns) rows.push_back(c.at(k));
        out.push_back(stacked(rows));
      }
      return out;
    }
    case Op::cond:
      return call(in.at(0).n.at(0) ? f : *l.functions.at(1), slice(in, 1, in.size()));
    case Op::while_loop: {
      Values carry = in;
      for (int steps = 0; call(f, carry).at(0).n.at(0); ++steps) {
        if (steps == kMostSteps) throw Refused("a loop without end");
        carry = call(*l.functions.at(1), carry);
      }
      return carry;
    }
    case Op::scan: {
      const auto n_carry = static_cast<std::size_t>(l.sizes.at(0));
      const int n = in.at(n_carry).dims.at(0);
      const bool backwards = l.sizes.at(3) != 0;
      Values carry = slice(in, 0, n_carry);
      std::vector<Values> ys(l.out.size() - n_carry);
      for (int i = 0; i < n; ++i) {
        Values arguments = carry;
        for (std::size_t k = n_carry; k < in.size(); ++k)
          arguments.push_back(row(in[k], static_cast<std::size_t>(backwards ? n - 1 - i : i)));
        const Values out = call(f, arguments);
        carry = slice(out, 0, n_carry);
        for (std::size_t k = 0; k < ys.size(); ++k)
          ys[k].insert(backwards ? ys[k].begin() : ys[k].end(), out.at(n_carry + k));
      }
      for (const Values& y : ys) carry.push_back(stacked(y));
      return carry;
    }
    case Op::fori: {
      Values carry = in;
      for (int i = 0; i < l.sizes.at(0); ++i) {
        Values arguments = {integer(i)};
        arguments.insert(arguments.end(), carry.begin(), carry.end());
        carry = call(f, arguments);
      }
      return carry;
    }
    default:
      throw std::logic_error("no control operation");
  }
}

template <class R>
auto Reader<R>::cotangents(const Function& f, const Values& x, const Values& ct) -> Values {
  Values out = x;
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t i = 0; i < x[k].x.size(); ++i) {
      const Direction e(1);
      Values moved = x;
      moved[k].x[i] = Number::along(x[k].x[i], 1);
      out[k].x[i] = inner(call(f, moved), ct).part(1);
    }
  return out;
}

template <class R>
auto Reader<R>::derivative(const Let& l, const Values& in) -> Values {
  const Function& f = *l.functions.at(0);
  // f along x + e t.
  const auto along = [&](const Values& x, const Values& t) {
    Values moved = x;
    for (std::size_t k = 0; k < x.size(); ++k)
      for (std::size_t i = 0; i < x[k].x.size(); ++i)
        moved[k].x[i] = Number::along(x[k].x[i], t.at(k).x.at(i));
    return call(f, moved);
  };
  const std::size_t half = in.size() / 2;
  // g along each coordinate of the vector x in turn.
  const auto per_coordinate = [](const Value& x, int order, const auto& g, const auto& take) {
    for (std::size_t i = 0; i < x.x.size(); ++i) {
      const Direction e(order);
      Value moved = x;
      moved.x[i] = Number::along(x.x[i], 1);
      take(g({moved}));
    }
  };
  const auto add = [](Values& sums, const Values& more) {
    if (sums.empty())
      sums = more;
    else
      for (std::size_t k = 0; k < sums.size(); ++k)
        sums[k] = map([](const Number& a, const Number& b) { return a + b; }, sums[k], more[k]);
  };
  const auto parts = [](const Values& y, int k, R factor) {
    Values p;
    for (const Value& v : y)
      p.push_back(map([factor](const Number& x) { return x * factor; }, part(v, k)));
    return p;
  };
  const auto evaluate = [&](const Values& x) { return call(f, x); };
  const auto laplacian = [&](const auto& g, const Values& x) {
    Values sums;
    per_coordinate(x.at(0), 2, g, [&](const Values& y) { add(sums, parts(y, 2, 2)); });
    return sums;
  };
  switch (l.op) {
    case Op::jvp:
    case Op::linearize: {
      const Direction e(1);
      const Values y = along(slice(in, 0, half), slice(in, half, in.size()));
      Values out = parts(y, 0, 1);
      for (const Value& v : parts(y, 1, 1)) out.push_back(v);
      return out;
    }
    case Op::jet: {
      const Direction e(l.sizes.at(0));
      const Values y = along(slice(in, 0, half), slice(in, half, in.size()));
      Values out;
      for (int k = 0; k <= l.sizes[0]; ++k)
        for (const Value& v : parts(y, k, 1)) out.push_back(v);
      return out;
    }
    case Op::vjp: {
      const auto n = static_cast<std::size_t>(l.sizes.at(0));
      return cotangents(f, slice(in, 0, n), slice(in, n, in.size()));
    }
    case Op::grad:
      return cotangents(f, in, {scalar(1)});
    case Op::value_and_grad: {
      Values out = call(f, in);
      for (const Value& v : cotangents(f, in, {scalar(1)})) out.push_back(v);
      return out;
    }
    case Op::hessian: {
      Values rows;
      per_coordinate(
          in.at(0), 1, [&](const Values& x) { return cotangents(f, x, {scalar(1)}); },
          [&](const Values& g) { rows.push_back(part(g[0], 1)); });
      return {stacked(rows)};
    }
    case Op::laplacian:
      return laplacian(evaluate, in);
    case Op::biharmonic:
      return laplacian([&](const Values& x) { return laplacian(evaluate, x); }, in);
    case Op::value_and_laplacian: {
      Values first;
      per_coordinate(in.at(0), 1, evaluate,
                     [&](const Values& y) { first.push_back(part(y[0], 1)); });
      return {evaluate(in)[0], stacked(first), laplacian(evaluate, in)[0]};
    }
    case Op::directional_sum: {
      const int K = l.sizes.at(0);
      const std::size_t m = static_cast<std::size_t>(l.sizes.at(1)), n = in.at(0).x.size();
      R factorial = 1;
      for (int k = 2; k <= K; ++k) factorial *= k;
      Values sums;
      for (std::size_t r = 0; r < m; ++r) {
        const Direction e(K);
        const auto v = l.numbers.begin() + static_cast<std::ptrdiff_t>(r * n);
        add(sums, parts(along(in, {real(in[0].dims, {v, v + static_cast<std::ptrdiff_t>(n)})}), K,
                        factorial * l.numbers.at(m * n + r)));
      }
      return sums;
    }
    case Op::custom_jvp:
    case Op::custom_linear:
      return evaluate(in);
    case Op::custom_vjp:
      return slice(evaluate(in), 0, static_cast<std::size_t>(l.sizes.at(0)));
    default:
      throw std::logic_error("no derivative");
  }
}

template <class R>
Outputs outputs_of(const Program& p) {
  Outputs out;
  for (const auto& v : Reader<R>(p).call(p.main, {})) {
    Output o{v.dims, {}};
    for (const auto& x : v.x) o.elements.push_back(static_cast<double>(x.value()));
    o.elements.insert(o.elements.end(), v.n.begin(), v.n.end());
    out.push_back(std::move(o));
  }
  return out;
}

}  // namespace

Outputs run_taylor(const Program& p) { return outputs_of<double>(p); }
Outputs run_taylor_precise(const Program& p) { return outputs_of<long double>(p); }

}  // namespace nesting
