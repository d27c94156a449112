// SPDX-License-Identifier: Apache-2.0
#include "objective.h"

#include "../transform/subgraph.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace detail {

double dot(const Vector& a, const Vector& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}
double norm2(const Vector& a) { return std::sqrt(dot(a, a)); }
double norm_inf(const Vector& a) {
  double m = 0;
  for (double v : a) m = std::isnan(v) ? v : std::max(m, std::abs(v));
  return m;
}
void axpy(double a, const Vector& x, Vector& y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

Packing::Packing(const char* op, const std::vector<Tensor>& leaves) {
  for (const Tensor& t : leaves) {
    if (!is_inexact(t.dtype()))
      fail(op, "no derivative with respect to a " + to_string(t.type()) +
                   "; let the function capture it");
    if (t.is_traced())
      fail(op,
           "the start is a value of a transform in force. The iteration reads values and has no "
           "derivative: differentiate the steps of an "
           "Optimizer, or call it outside of the transform");
    types_.push_back(t.type());
    size_ += t.size() * (is_complex(t.dtype()) ? 2 : 1);
    single_ |= real_of(t.dtype()) == Dtype::f32;
  }
  if (size_ == 0) fail(op, "there is nothing to vary");
}
Tensor Packing::pack(const std::vector<Tensor>& leaves) {
  std::vector<Tensor> flat;
  for (const Tensor& t : leaves) {
    const Tensor r = is_complex(t.dtype()) ? as_real(t) : t;
    flat.push_back(cast(reshape(r, {r.size()}), Dtype::f64));
  }
  return flat.size() == 1 ? flat[0] : concatenate(flat);
}
std::vector<Tensor> Packing::unpack(const Tensor& v) const {
  std::vector<Tensor> leaves;
  Index at = 0;
  for (const Type& t : types_) {
    Shape s = t.shape;
    if (is_complex(t.dtype)) s.push_back(2);
    const Tensor part = cast(reshape(types_.size() == 1 ? v : slice(v, 0, at, at + s.count()), s),
                             real_of(t.dtype));
    leaves.push_back(is_complex(t.dtype) ? as_complex(part) : part);
    at += s.count();
  }
  return leaves;
}

std::vector<Tensor> VectorFunction::operator()(const std::vector<Tensor>& x) {
  const auto foreign = [&] {
    fail(op_,
         "the function captures a value of a transform in force. The iteration reads values and "
         "has no derivative: differentiate the steps of "
         "an Optimizer, or call it outside of the transform");
  };
  if (jit_ && !plan_) {
    std::vector<Type> types;
    for (const Tensor& t : x) types.push_back(t.type());
    const Graph g = trace(f_, types);
    for (const auto& [id, t] : g.captures)
      if (t.is_traced()) foreign();
    plan_ = std::make_unique<Plan>(simplify(with_calls_opened(g)));
  }
  std::vector<Tensor> y = plan_ ? plan_->run(x) : f_(x);
  for (const Tensor& t : y)
    if (t.is_traced()) foreign();
  return y;
}

namespace {
FlatFunction scalar_of(const FlatFunction& f, const Packing& p) {
  return [f, p](const std::vector<Tensor>& v) {
    const std::vector<Tensor> y = f(p.unpack(v[0]));
    if (y[0].ndim() != 0 || !is_float(y[0].dtype()))
      fail("minimize",
           "the function must return one real scalar, it returned " + to_string(y[0].type()));
    return std::vector<Tensor>{cast(y[0], Dtype::f64)};
  };
}
}  // namespace

Objective::Objective(const FlatFunction& f, const std::vector<Tensor>& x0, bool jit)
    : packing_("minimize", x0),
      start_(Packing::pack(x0).to_vector()),
      value_and_gradient_(
          "minimize",
          [f = scalar_of(f, packing_)](const std::vector<Tensor>& v) {
            auto [y, g] = grad_flat(f, v, 1);
            return std::vector<Tensor>{y[0], g[0]};
          },
          jit),
      product_(
          "minimize",
          [f = scalar_of(f, packing_)](const std::vector<Tensor>& v) {
            return jvp_flat([&](const std::vector<Tensor>& x) { return grad_flat(f, x, 1).second; },
                            {v[0]}, {v[1]})
                .second;
          },
          jit) {}

double Objective::operator()(const Vector& x, Vector& gradient) {
  ++evaluations;
  const std::vector<Tensor> y = value_and_gradient_({tensor(x)});
  gradient = y[1].to_vector();
  return y[0].item();
}
Vector Objective::hessian_times(const Vector& x, const Vector& v) {
  ++products;
  return product_({tensor(x), tensor(v)})[0].to_vector();
}

Residual::Residual(const FlatFunction& r, const std::vector<Tensor>& x0, bool jit)
    : packing_("least_squares", x0),
      start_(Packing::pack(x0).to_vector()),
      packed_([r, p = packing_](Tensor v) {
        const std::vector<Tensor> y = r(p.unpack(v));
        for (const Tensor& t : y)
          if (!is_inexact(t.dtype()))
            fail("least_squares", "the residual holds a " + to_string(t.type()) +
                                      ", which has no derivative; cast what it is made of");
        return Packing::pack(y);
      }),
      value_(
          "least_squares",
          [f = packed_](const std::vector<Tensor>& v) { return std::vector<Tensor>{f(v[0])}; },
          jit),
      by_columns_(
          "least_squares",
          [f = packed_](const std::vector<Tensor>& v) {
            return std::vector<Tensor>{jacfwd(f)(v[0])};
          },
          jit),
      by_rows_(
          "least_squares",
          [f = packed_](const std::vector<Tensor>& v) {
            return std::vector<Tensor>{jacrev(f)(v[0])};
          },
          jit),
      push_(
          "least_squares",
          [f = packed_](const std::vector<Tensor>& v) {
            return std::vector<Tensor>{jvp(f, v[0], v[1]).second};
          },
          jit),
      pull_(
          "least_squares",
          [f = packed_](const std::vector<Tensor>& v) {
            return std::vector<Tensor>{vjp(f, v[0]).second(v[1])};
          },
          jit) {}

Vector Residual::operator()(const Vector& x) {
  ++evaluations;
  Vector r = value_({tensor(x)})[0].to_vector();
  m_ = static_cast<Index>(r.size());
  return r;
}
Tensor Residual::jacobian(const Vector& x) {
  ++products;
  return contiguous((m_ < packing_.size() ? by_rows_ : by_columns_)({tensor(x)})[0]);
}
Vector Residual::times(const Vector& x, const Vector& v) {
  ++products;
  return push_({tensor(x), tensor(v)})[0].to_vector();
}
Vector Residual::transpose_times(const Vector& x, const Vector& u) {
  ++products;
  return pull_({tensor(x), tensor(u)})[0].to_vector();
}

}  // namespace detail

const char* to_string(StopReason r) {
  switch (r) {
    case StopReason::gradient_small:
      return "converged: the gradient is small";
    case StopReason::value_settled:
      return "converged: the value no longer changes";
    case StopReason::step_small:
      return "converged: the steps are small";
    case StopReason::at_rounding:
      return "converged: no step lowers the value by more than its rounding";
    case StopReason::too_many_iterations:
      return "not converged: the limit of iterations is reached";
    case StopReason::too_many_evaluations:
      return "not converged: the limit of evaluations is reached";
    case StopReason::no_descent:
      return "not converged: no step along the direction lowers the value";
    case StopReason::not_finite:
      return "not converged: the value or gradient at the start is not finite";
  }
  return "unknown";
}

}  // namespace tessera
