// SPDX-License-Identifier: Apache-2.0
//
// Programs read by the engine: each operation is the call of the library that the printed C++ has
// there.
#include "program.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/cumulative.h"
#include "tessera/autodiff/ops/flow.h"

#include <cmath>

namespace nesting {
namespace {

using namespace tessera;
using Tensors = std::vector<Tensor>;
/// What is visible, by variable. A function keeps what it saw where it stands, as [=] does.
using Visible = std::vector<Tensor>;

Tensors call(const Function& f, const Visible& outside, const Tensors& arguments);

FlatFunction closure(const FunctionPtr& f, const Visible& visible) {
  return [f, seen = std::make_shared<const Visible>(visible)](const Tensors& a) {
    return call(*f, *seen, a);
  };
}

Tensors joined(Tensors a, const Tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Tensors part(const Tensors& t, std::size_t begin, std::size_t end) {
  return {t.begin() + static_cast<std::ptrdiff_t>(begin),
          t.begin() + static_cast<std::ptrdiff_t>(end)};
}
Tensors rows_of(const Tensor& t) {
  Tensors rows;
  for (Index i = 0; i < t.dim(0); ++i) rows.push_back(select(t, 0, i));
  return rows;
}
Shape shape_of(const std::vector<int>& dims) {
  Shape s;
  for (int d : dims) s.push_back(d);
  return s;
}
Checkpoint policy(int kind, int parameter) {
  switch (kind) {
    case 1:
      return Checkpoint::none();
    case 2:
      return Checkpoint::every(parameter);
    case 3:
      return Checkpoint::revolve(parameter);
    case 4:
      return Checkpoint::online(parameter);
    default:
      return Checkpoint::all();
  }
}

/// A square root of the host.
Tensor host_root(const Tensor& x) {
  return host_call({.name = "root",
                    .run =
                        [](const Tensors& v) {
                          std::vector<double> y = v[0].to_vector();
                          for (double& e : y) {
                            if (!(e > 0))
                              throw std::runtime_error("the host's root was asked for " +
                                                       std::to_string(e));
                            e = std::sqrt(e);
                          }
                          return Tensors{tensor(y, v[0].shape())};
                        },
                    .jvp = [](const Tensors&, const Tensors& y,
                              const Tensors& t) { return Tensors{0.5 * t[0] / y[0]}; }})({x})[0];
}

Tensor element(const Let& l, const Tensors& in) {
  const Tensor x = in.empty() ? Tensor() : in[0];
  const auto y = [&] { return in.at(1); };
  const auto number = [&] { return l.numbers.at(0); };
  switch (l.op) {
    case Op::sin:
      return sin(x);
    case Op::cos:
      return cos(x);
    case Op::tanh:
      return tanh(x);
    case Op::atan:
      return atan(x);
    case Op::logistic:
      return logistic(x);
    case Op::erf:
      return erf(x);
    case Op::softplus:
      return softplus(x);
    case Op::square:
      return square(x);
    case Op::neg:
      return -x;
    case Op::exp:
      return exp(x);
    case Op::log:
      return log(x);
    case Op::log1p:
      return log1p(x);
    case Op::sqrt:
      return sqrt(x);
    case Op::reciprocal:
      return 1.0 / x;
    case Op::stop_gradient:
      return stop_gradient(x);
    case Op::scale:
      return x * number();
    case Op::shift:
      return x + number();
    case Op::power:
      return pow(x, number());
    case Op::integer_power:
      return pow(x, l.sizes.at(0));
    case Op::host_root:
      return host_root(x);
    case Op::checked:
      return check(x, x > 0.0, "not positive");
    case Op::add:
      return x + y();
    case Op::sub:
      return x - y();
    case Op::mul:
      return x * y();
    case Op::div:
      return x / y();
    case Op::atan2:
      return atan2(x, y());
    case Op::pow:
      return pow(x, y());
    case Op::hypot:
      return hypot(x, y());
    case Op::where:
      return where(x, in.at(1), in.at(2));
    case Op::constant:
      return tensor(l.numbers, shape_of(l.sizes));
    case Op::sum:
      return sum(x);
    case Op::mean_rows:
      return mean(x, {0});
    case Op::cumsum:
      return cumsum(x, 0);
    case Op::reverse:
      return reverse(x, {0});
    case Op::select:
      return select(x, 0, l.sizes.at(0));
    case Op::gather:
      return gather(x, y());
    case Op::stack:
      return stack(in);
    case Op::spread: {
      Shape s = x.shape();
      s.insert(0, l.sizes.at(0));
      return broadcast_to(x, s);
    }
    case Op::matvec:
      return matmul(x, y());
    case Op::dot:
      return sum(x * y());
    case Op::less:
      return x < number();
    case Op::greater:
      return x > number();
    case Op::int_less:
      return x < y();
    case Op::count:
      return cast(x, Dtype::i64);
    case Op::int_constant:
      return scalar(l.sizes.at(0), Dtype::i64);
    case Op::int_add:
      return x + y();
    case Op::int_shift:
      return x + l.sizes.at(0);
    case Op::to_real:
      return cast(x, Dtype::f64);
    default:
      throw std::logic_error("no operation on elements");
  }
}

Tensors apply(const Let& l, const Tensors& in, const Visible& visible) {
  if (l.functions.empty()) return {element(l, in)};
  const FlatFunction f = closure(l.functions[0], visible),
                     g = l.functions.size() > 1 ? closure(l.functions[1], visible) : FlatFunction();
  const auto scalar_f = [&](const Tensors& a) { return f(a)[0]; };
  const auto of_vector = [&](const Tensor& x) { return f({x}); };
  const auto size = [&](std::size_t k) { return static_cast<std::size_t>(l.sizes.at(k)); };
  const std::size_t half = in.size() / 2;
  switch (l.op) {
    case Op::call:
      return f(in);
    case Op::jit: {
      const auto planned = jit(f);
      Tensors other;  // the plan is made for other values of these types
      for (const Tensor& t : in) other.push_back(is_inexact(t.dtype()) ? 0.7 * t + 0.1 : t);
      planned(other);
      return planned(in);
    }
    case Op::jit_shapes: {
      const bool rows = l.functions[0]->rows;
      const auto planned = jit([&](const Tensor& x) { return rows ? rows_of(f({x})[0]) : f({x}); });
      Tensors out;
      for (const Tensor& x : in) {
        const Tensors y = planned(x);
        out.push_back(rows ? stack(y) : y.at(0));
      }
      return out;
    }
    case Op::checkpointed:
      return checkpointed(f)(in);
    case Op::vmap: {
      const std::size_t n = size(0);
      if (n == in.size()) return vmap(f)(in);
      return vmap([&](const Tensors& a, const Tensors& all) { return f(joined(a, all)); },
                  {0, not_mapped})(part(in, 0, n), part(in, n, in.size()));
    }
    case Op::cond:
      return cond(in[0], f, g, part(in, 1, in.size()));
    case Op::while_loop:
      return while_loop(scalar_f, g, in, {policy(l.sizes.at(0), l.sizes.at(1))});
    case Op::scan: {
      const std::size_t n = size(0);
      const auto [carry, ys] = scan(
          [&](const Tensors& c, const Tensors& x) {
            const Tensors y = f(joined(c, x));
            return std::pair(part(y, 0, n), part(y, n, y.size()));
          },
          part(in, 0, n), part(in, n, in.size()),
          {.reverse = l.sizes.at(3) != 0, .checkpoint = policy(l.sizes.at(1), l.sizes.at(2))});
      return joined(carry, ys);
    }
    case Op::fori:
      return fori_loop(l.sizes.at(0),
                       [&](const Tensor& i, const Tensors& c) { return f(joined({i}, c)); }, in,
                       {.checkpoint = policy(l.sizes.at(1), l.sizes.at(2))});
    case Op::jvp: {
      const auto [y, t] = jvp(f, part(in, 0, half), part(in, half, in.size()));
      return joined(y, t);
    }
    case Op::linearize: {
      const auto [y, push] = linearize(f, part(in, 0, half));
      return joined(y, push(part(in, half, in.size())));
    }
    case Op::vjp:
      return vjp(f, part(in, 0, size(0))).second(part(in, size(0), in.size()));
    case Op::grad:
      return grad(scalar_f)(in);
    case Op::value_and_grad: {
      const auto [y, g] = value_and_grad(scalar_f)(in);
      return joined({y}, g);
    }
    case Op::jet: {
      Tensors out;
      for (const Tensors& y : jet(f, l.sizes.at(0))(part(in, 0, half), part(in, half, in.size())))
        out = joined(out, y);
      return out;
    }
    case Op::hessian:
      return {hessian([&](const Tensor& x) { return f({x})[0]; })(in[0])};
    case Op::laplacian:
      return laplacian(of_vector)(in[0]);
    case Op::biharmonic:
      return biharmonic(of_vector)(in[0]);
    case Op::value_and_laplacian: {
      const PointLaplacian p =
          value_and_laplacian([&](const Tensor& x) { return f({x})[0]; }, in[0]);
      return {p.value, p.first, p.laplacian};
    }
    case Op::directional_sum: {
      const Index m = l.sizes.at(1), n = in[0].dim(0);
      const auto weights = l.numbers.begin() + m * n;
      return directional_sum(of_vector, in[0],
                             tensor(std::vector<double>(l.numbers.begin(), weights), {m, n}),
                             l.sizes.at(0), tensor(std::vector<double>(weights, l.numbers.end())));
    }
    case Op::custom_jvp:
      return custom_jvp(f, [g](const Tensors& x, const Tensors& y, const Tensors& t) {
        return g(joined(joined(x, y), t));
      })(in);
    case Op::custom_vjp:
      return custom_vjp(f, size(0),
                        [g](const Tensors& r, const Tensors& ct) { return g(joined(r, ct)); })(in);
    case Op::custom_linear:
      return custom_linear(f, g)(in);
    default:
      throw std::logic_error("no operation with functions");
  }
}

Tensors call(const Function& f, const Visible& outside, const Tensors& arguments) {
  Visible visible = outside;
  const auto at = [&](Var v) -> Tensor& { return visible[static_cast<std::size_t>(v)]; };
  for (std::size_t k = 0; k < f.params.size(); ++k) at(f.params[k]) = arguments.at(k);
  for (const Let& l : f.body) {
    Tensors in;
    for (Var v : l.in) in.push_back(at(v));
    const Tensors out = apply(l, in, visible);
    for (std::size_t k = 0; k < l.out.size(); ++k) at(l.out[k]) = out.at(k);
  }
  Tensors results;
  for (Var v : f.results) results.push_back(at(v));
  return results;
}

}  // namespace

Outputs run_engine(const Program& p) {
  Visible world(p.types.size());
  for (const auto& [v, numbers] : p.world) {
    const std::vector<int>& dims = p.types[static_cast<std::size_t>(v)].dims;
    world[static_cast<std::size_t>(v)] = tensor(numbers, shape_of(dims));
  }
  Outputs out;
  for (const Tensor& t : call(p.main, world, {})) {
    Output o;
    for (Index d : t.shape()) o.dims.push_back(static_cast<int>(d));
    o.elements = (t.dtype() == Dtype::f64 ? t : cast(t, Dtype::f64)).to_vector();
    out.push_back(std::move(o));
  }
  return out;
}

}  // namespace nesting
