// SPDX-License-Identifier: Apache-2.0
//
// Optimizers as functions of (parameters, gradients, state). Complex leaves take |g|^2 where real
// ones take g^2. Roots have the derivative 0 at 0, so that unrolled steps keep finite derivatives
// where a gradient vanishes.
#include "tessera/autodiff/lbfgs.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <cmath>
#include <tuple>

namespace tessera {
namespace {

using Leaves = Optimizer::Leaves;

/// `rate` at `step` in the precision of `x`.
Tensor rate_for(const Schedule& rate, const Tensor& step, const Tensor& x) {
  return cast(rate(step), real_of(x.dtype()));
}
Tensor modulus2(const Tensor& g) {
  return is_complex(g.dtype()) ? square(real(g)) + square(imag(g)) : square(g);
}
Tensor root(const Tensor& v) {
  const Tensor zero = equal(v, 0.0);
  return where(zero, 0.0, sqrt(where(zero, 1.0, v)));
}
/// a / b for real b and real or complex a.
Tensor over(const Tensor& a, const Tensor& b) {
  return is_complex(a.dtype()) ? a / complex(b, zeros({}, b.dtype())) : a / b;
}
Leaves zeros_like(const Leaves& x) {
  Leaves z;
  for (const Tensor& t : x) z.push_back(zeros(t.shape(), t.dtype()));
  return z;
}
const char *const kFirst = "first_moment", *const kSecond = "second_moment",
                  *const kMomentum = "momentum";

/// The slot of this name, which holds a tensor of the shape of each of `like`.
const Leaves& slot(const OptimizerSlots& slots, const char* name, const Leaves& like) {
  for (const OptimizerSlot& s : slots) {
    if (s.name != name) continue;
    bool fits = s.leaves.size() == like.size();
    for (std::size_t k = 0; fits && k < like.size(); ++k)
      fits = s.leaves[k].shape() == like[k].shape();
    if (!fits)
      fail("optimizer", std::string("the slot '") + name +
                            "' of the state does not fit: it belongs to other parameters, or to "
                            "an optimizer with another memory");
    return s.leaves;
  }
  fail("optimizer",
       std::string("the state has no slot '") + name + "': it belongs to another optimizer");
}
OptimizerSlots moments_like(const Leaves& x) {
  Leaves second;
  for (const Tensor& t : x) second.push_back(zeros(t.shape(), real_of(t.dtype())));
  return {{kFirst, zeros_like(x)}, {kSecond, second}};
}
OptimizerSlots momentum_like(const Leaves& x) { return {{kMomentum, zeros_like(x)}}; }
/// `with_decay` of what `make` makes.
template <class Options>
auto decaying(Optimizer (*make)(Schedule, Options), const Schedule& rate, Options o) {
  return [=](double weight_decay) {
    Options other = o;
    other.weight_decay = weight_decay;
    return make(rate, other);
  };
}

/// Adam's direction for every leaf, and the new moments.
std::pair<Leaves, OptimizerSlots> adam_direction(const AdamOptions& o, const Leaves& g,
                                                 const OptimizerSlots& slots, const Tensor& step) {
  const Leaves &first = slot(slots, kFirst, g), &second = slot(slots, kSecond, g);
  Leaves direction, first_next, second_next;
  const Tensor t = step + 1.0, unbias1 = 1.0 - pow(o.beta1, t), unbias2 = 1.0 - pow(o.beta2, t);
  for (std::size_t k = 0; k < g.size(); ++k) {
    const Dtype real_type = real_of(g[k].dtype());
    first_next.push_back(o.beta1 * first[k] + (1 - o.beta1) * g[k]);
    second_next.push_back(o.beta2 * second[k] + (1 - o.beta2) * modulus2(g[k]));
    const Tensor m = first_next[k] / cast(unbias1, real_type),
                 v = second_next[k] / cast(unbias2, real_type);
    direction.push_back(over(m, root(v) + o.epsilon));
  }
  return {direction, {{kFirst, first_next}, {kSecond, second_next}}};
}

/// One vector of all leaves, and back.
Tensor packed(const Leaves& x) {
  Leaves flat;
  for (const Tensor& t : x) flat.push_back(reshape(t, {t.size()}));
  return concatenate(flat);
}
Leaves unpacked(const Tensor& v, const Leaves& like) {
  Leaves x;
  Index at = 0;
  for (const Tensor& t : like) {
    x.push_back(reshape(slice(v, 0, at, at + t.size()), t.shape()));
    at += t.size();
  }
  return x;
}

}  // namespace

std::pair<std::vector<Tensor>, OptimizerState> detail::advance(const Optimizer& o, const Leaves& p,
                                                               const Leaves& g,
                                                               const OptimizerState& s) {
  if (p.size() != g.size())
    fail(o.name.c_str(),
         std::to_string(g.size()) + " gradients for " + std::to_string(p.size()) + " parameters");
  for (std::size_t k = 0; k < p.size(); ++k)
    if (p[k].type() != g[k].type())
      fail(o.name.c_str(),
           "the gradient of a " + to_string(p[k].type()) + " is a " + to_string(g[k].type()));
  auto [x, slots] = o.advance(p, g, s.slots, s.step);
  return {std::move(x), {s.step + 1.0, std::move(slots)}};
}

Optimizer sgd(Schedule rate, SgdOptions o) {
  return {
      "sgd", [o](const Leaves& p) { return o.momentum == 0 ? OptimizerSlots{} : momentum_like(p); },
      [rate, o](const Leaves& p, const Leaves& g, const OptimizerSlots& slots, const Tensor& step) {
        Leaves x, next;
        const Leaves momentum = o.momentum != 0 ? slot(slots, kMomentum, p) : Leaves{};
        for (std::size_t k = 0; k < p.size(); ++k) {
          Tensor d = o.weight_decay == 0 ? g[k] : g[k] + o.weight_decay * p[k];
          if (o.momentum != 0) {
            next.push_back(o.momentum * momentum[k] + d);
            d = o.nesterov ? d + o.momentum * next.back() : next.back();
          }
          x.push_back(p[k] - rate_for(rate, step, p[k]) * d);
        }
        return std::pair(x, o.momentum == 0 ? OptimizerSlots{} : OptimizerSlots{{kMomentum, next}});
      },
      decaying(sgd, rate, o)};
}

Optimizer adam(Schedule rate, AdamOptions o) {
  return {
      "adam", moments_like,
      [rate, o](const Leaves& p, const Leaves& g, const OptimizerSlots& slots, const Tensor& step) {
        auto [d, next] = adam_direction(o, g, slots, step);
        Leaves x;
        for (std::size_t k = 0; k < p.size(); ++k)
          x.push_back(p[k] - rate_for(rate, step, p[k]) *
                                 (o.weight_decay == 0 ? d[k] : d[k] + o.weight_decay * p[k]));
        return std::pair(x, next);
      },
      decaying(adam, rate, o)};
}
Optimizer adamw(Schedule rate, AdamwOptions o) {
  Optimizer a = adam(rate, {o.beta1, o.beta2, o.epsilon, o.weight_decay});
  a.name = "adamw";
  a.with_decay = decaying(adamw, rate, o);
  return a;
}

Optimizer lamb(Schedule rate, LambOptions o) {
  return {
      "lamb", moments_like,
      [rate, o](const Leaves& p, const Leaves& g, const OptimizerSlots& slots, const Tensor& step) {
        auto [d, next] = adam_direction({o.beta1, o.beta2, o.epsilon, 0}, g, slots, step);
        Leaves x;
        for (std::size_t k = 0; k < p.size(); ++k) {
          if (o.weight_decay != 0) d[k] = d[k] + o.weight_decay * p[k];
          const Tensor size = norm(p[k]), change = norm(d[k]);
          const Tensor none = logical_or(equal(size, 0.0), equal(change, 0.0));
          const Tensor trust = where(none, 1.0, size / where(none, 1.0, change));
          x.push_back(p[k] - (rate_for(rate, step, p[k]) * trust) * d[k]);
        }
        return std::pair(x, next);
      },
      decaying(lamb, rate, o)};
}

Optimizer lion(Schedule rate, LionOptions o) {
  return {
      "lion", momentum_like,
      [rate, o](const Leaves& p, const Leaves& g, const OptimizerSlots& slots, const Tensor& step) {
        const Leaves& momentum = slot(slots, kMomentum, p);
        Leaves x, next;
        for (std::size_t k = 0; k < p.size(); ++k) {
          const Tensor d = sign(o.beta1 * momentum[k] + (1 - o.beta1) * g[k]);
          x.push_back(p[k] - rate_for(rate, step, p[k]) *
                                 (o.weight_decay == 0 ? d : d + o.weight_decay * p[k]));
          next.push_back(o.beta2 * momentum[k] + (1 - o.beta2) * g[k]);
        }
        return std::pair(x, OptimizerSlots{{kMomentum, next}});
      },
      decaying(lion, rate, o)};
}

// Slots: the changes `s` of x and `y` of g, oldest first and zero before they exist, the last `x`
// and the last `g`, all as vectors. A pair without positive curvature s.y takes no part, as a pair
// that does not exist yet.
Optimizer lbfgs_steps(Schedule rate, int memory) {
  if (memory < 1) fail("lbfgs_steps", "the memory must be positive, got " + std::to_string(memory));
  const auto m = static_cast<std::size_t>(memory);
  return {
      "lbfgs_steps",
      [m](const Leaves& p) {
        for (const Tensor& t : p)
          if (t.dtype() != p[0].dtype() || !is_float(t.dtype()))
            fail("lbfgs_steps", "needs real leaves of one type, got " + to_string(p[0].type()) +
                                    " and " + to_string(t.type()) + "; use as_real or cast");
        const Tensor none = packed(zeros_like(p));
        return OptimizerSlots{
            {"s", Leaves(m, none)}, {"y", Leaves(m, none)}, {"x", {none}}, {"g", {none}}};
      },
      [rate, m](const Leaves& p, const Leaves& g, const OptimizerSlots& slots, const Tensor& step) {
        const Tensor x = packed(p), gradient = packed(g);
        const Tensor begun = step > 0.0;
        const auto later = [&](const char* name, const Tensor& now, const char* before) {
          const Leaves& all = slot(slots, name, Leaves(m, now));
          Leaves next(all.begin() + 1, all.end());
          next.push_back(where(begun, now - slot(slots, before, {now})[0], 0.0));
          return next;
        };
        const Leaves s = later("s", x, "x"), y = later("y", gradient, "g");
        std::vector<Tensor> rho(m);
        Tensor scale = ones({}, x.dtype());
        for (std::size_t k = 0; k < m; ++k) {
          const Tensor sy = dot(s[k], y[k]), curved = sy > 0.0;
          rho[k] = where(curved, 1.0 / where(curved, sy, 1.0), 0.0);
          scale = where(curved, sy / where(curved, dot(y[k], y[k]), 1.0), scale);
        }
        Tensor q = gradient;
        lbfgs_product<Tensor>(
            q, m, [&](std::size_t k) { return std::tie(s[k], y[k], rho[k]); },
            [](const Tensor& a, const Tensor& b) { return dot(a, b); },
            [](Tensor& d, const Tensor& factor, const Tensor& a) { d = d + factor * a; },
            [&](Tensor& d) { d = scale * d; });
        return std::pair(unpacked(x - rate_for(rate, step, x) * q, p),
                         OptimizerSlots{{"s", s}, {"y", y}, {"x", {x}}, {"g", {gradient}}});
      }};
}

Tensor gauss_newton_step(const std::function<Tensor(Tensor)>& residual, const Tensor& x,
                         Arg damping) {
  if (x.ndim() != 1 || !is_float(x.dtype()))
    fail("gauss_newton_step", "needs a real vector, got a " + to_string(x.type()), damping.line);
  const Tensor r = residual(x), j = jacfwd(residual)(x);
  if (r.ndim() != 1)
    fail("gauss_newton_step", "the residual must be a vector, got a " + to_string(r.type()),
         damping.line);
  const Tensor jj = matmul(transpose(j), j),
               share = cast(detail::to_tensor("gauss_newton_step", damping), jj.dtype());
  return x - solve(jj + diag(share * diagonal(jj)), matmul(transpose(j), r));
}

// ---- clipping ----
namespace {
/// 1 up to the limit, be it 0 or infinity, limit / size above.
Tensor share_of(const Tensor& limit, const Tensor& size) {
  const Tensor within = less_equal(size, limit);
  return where(within, 1.0, limit / where(within, 1.0, size));
}
}  // namespace
Tensor detail::norm_of(const Leaves& g) {
  if (g.empty()) return Tensor(0.0);
  Leaves sizes;
  for (const Tensor& t : g) sizes.push_back(cast(norm(t), Dtype::f64));
  return norm(stack(sizes));
}
Leaves detail::clip_norm(const Leaves& g, const Arg& limit) {
  const Tensor most = detail::to_tensor("clip_by_norm", limit), factor = share_of(most, norm_of(g));
  Leaves out;
  for (const Tensor& t : g) out.push_back(t * cast(factor, real_of(t.dtype())));
  return out;
}
Leaves detail::clip_values(const Leaves& g, const Arg& limit) {
  const Tensor most = detail::to_tensor("clip_by_value", limit);
  Leaves out;
  for (const Tensor& t : g) {
    const Tensor m = cast(most, real_of(t.dtype()));
    if (is_complex(t.dtype()))
      out.push_back(t * share_of(m, abs(t)));
    else
      out.push_back(minimum(maximum(t, neg(m)), m));
  }
  return out;
}

}  // namespace tessera
