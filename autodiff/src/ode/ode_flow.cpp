// SPDX-License-Identifier: Apache-2.0
//
// y(t1) of dy/dt = f(t, y, p) from y(t0) as one primitive, whose kernel chooses steps and keeps
// none of them. With d a tangent and l, m cotangents of y and p:
//
//   tangent   dd/dt = f_y d + f_p dp,   d(t0) = dy0 - f(t0) dt0,   dy1 = d(t1) + f(t1) dt1
//   adjoint   dl/dt = -f_y^H l,  dm/dt = -f_p^H l,   from l(t1) = c, m(t1) = 0 back to t0,
//             beside y, which runs back from the y(t1) that was found
//
// Both are this primitive again, of larger systems, whose further leaves enter linearly: the
// adjoint of the tangent is the adjoint, and derivatives go on to any order. L. S. Pontryagin et
// al. 1962; Y. Cao, S. Li, L. Petzold, R. Serban 2003, doi:10.1137/S1064827501380630.
#include "../core/graph_passes.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../transform/subgraph.h"
#include "ode_steps.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::detail {
namespace {

/// f as a graph of t, y..., p.... The leaves of y from `linear` on, and the flagged p, enter
/// linearly, the others of y do not depend on them; the leaves from `integrals` on are integrals,
/// on which nothing depends.
struct OdeSystem {
  Graph f;
  Types state, params;
  Dtype time;
  std::size_t linear, integrals;
  std::vector<bool> linear_params;
  OdeOptions options;

  std::size_t n() const { return state.size(); }
  /// Operands: y0..., t0, t1, p..., and, where something is linear, y(t1) of the leaves before
  /// `linear`.
  std::size_t ends() const { return linear < n() ? linear : 0; }
  std::size_t operands() const { return n() + 2 + params.size() + ends(); }
  Type operand(std::size_t k) const {
    if (k < n()) return state[k];
    if (k < n() + 2) return {time, {}};
    return k < n() + 2 + params.size() ? params[k - n() - 2] : state[k - n() - 2 - params.size()];
  }
};

/// `levels` holds the leading axes, the outermost first: for each its size, then a flag for each
/// operand. States have all of them.
struct FlowAttr {
  std::shared_ptr<const OdeSystem> system;
  std::vector<Index> levels;
  TESSERA_ATTRIBUTES(system, levels)

  std::size_t stride() const { return system->operands() + 1; }
  bool has(std::size_t level, std::size_t operand) const {
    return levels[level + 1 + operand] != 0;
  }
  Type wide(std::size_t operand) const {
    const Type t = system->operand(operand);
    Shape s;
    for (std::size_t l = 0; l < levels.size(); l += stride())
      if (has(l, operand)) s.push_back(levels[l]);
    for (Index d : t.shape) s.push_back(d);
    return {t.dtype, s};
  }
  Shape lead() const {
    Shape s;
    for (std::size_t l = 0; l < levels.size(); l += stride()) s.push_back(levels[l]);
    return s;
  }
  /// The operand over all levels, as states are.
  Type full(std::size_t operand) const {
    Type t = system->operand(operand);
    Shape s = lead();
    for (Index d : t.shape) s.push_back(d);
    return {t.dtype, s};
  }
  /// `f` of arguments batched as operands of this application are, over all levels; one of them is
  /// batched as states are.
  Leaves over(FlatFunction f, const Leaves& v, const std::vector<std::size_t>& as) const {
    for (std::size_t l = levels.size(); l >= stride(); l -= stride()) {
      std::vector<std::optional<int>> axes;
      for (std::size_t k : as)
        axes.push_back(has(l - stride(), k) ? std::optional<int>(0) : std::nullopt);
      f = [inner = std::move(f), axes](const Leaves& u) { return vmap_flat(inner, u, axes, 0); };
    }
    return f(v);
  }
  /// The levels of an application of `s` whose operands are batched as these of the present one
  /// are.
  std::vector<Index> levels_of(const std::vector<std::size_t>& as) const {
    std::vector<Index> out;
    for (std::size_t l = 0; l < levels.size(); l += stride()) {
      out.push_back(levels[l]);
      for (std::size_t k : as) out.push_back(has(l, k));
    }
    return out;
  }
};

/// The error of the first leaves by the user's tolerances, that of each linear one relative to
/// itself (a tangent has no scale of its own): the larger. Integrals follow.
double error_size(const OdeSystem& s, std::vector<double>& largest, const Leaves& e,
                  const Leaves& a, const Leaves& b) {
  double worst = weighted(e, a, b, s.linear, s.options);
  for (std::size_t i = s.linear; i < s.integrals; ++i) {
    const auto rms = [](const Tensor& t) {
      return std::sqrt(cast(sum(square(abs(t))), Dtype::f64).item() /
                       static_cast<double>(std::max<Index>(1, t.size())));
    };
    const double now = std::max(rms(a[i]), rms(b[i]));
    largest[i] = std::max(largest[i], now);
    const double scale = s.options.rtol * std::max(now, 1e-3 * largest[i]);
    if (const double error = rms(e[i]); !std::isfinite(now + error))
      return now + error;
    else if (scale > 0)
      worst = std::max(worst, error / scale);
  }
  return worst;
}

struct Reached {
  Leaves y;
  SolveReason reason = SolveReason::exact;
  Index steps = 0;
};
Reached integrate(const OdeSystem& s, const Plan& plan, const Leaves& y0, double t0, double t1,
                  const Leaves& p) {
  const Field f = [&](const Tensor& t, const Leaves& y) {
    Leaves v{t};
    v.insert(v.end(), y.begin(), y.end());
    v.insert(v.end(), p.begin(), p.end());
    return plan.run(v);
  };
  const auto finite = [](const Leaves& y) {
    return std::all_of(y.begin(), y.end(),
                       [](const Tensor& v) { return tessera::all(is_finite(v)).item<bool>(); });
  };
  Reached r{y0};
  const OdeOptions& o = s.options;
  if (!finite(y0) || !std::isfinite(t0) || !std::isfinite(t1)) {
    r.reason = SolveReason::not_finite;
  } else if (t0 == t1) {
    return r;
  } else if (o.steps > 0) {
    const Tensor h = cast(Tensor((t1 - t0) / static_cast<double>(o.steps)), s.time);
    for (r.steps = 0; r.steps < o.steps; ++r.steps) {
      const Tensor t =
          cast(Tensor(t0 + (t1 - t0) * static_cast<double>(r.steps) / static_cast<double>(o.steps)),
               s.time);
      r.y = o.method == OdeMethod::rk4 ? rk4(f, t, h, r.y)
                                       : dormand_prince(f, t, h, r.y, f(t, r.y)).y;
    }
    if (!finite(r.y)) r.reason = SolveReason::not_finite;
  } else {
    std::vector<double> largest(s.n());
    const Choice c = choose_steps(f, y0, {t0, t1}, s.time, o,
                                  [&](const Leaves& e, const Leaves& a, const Leaves& b) {
                                    return error_size(s, largest, e, a, b);
                                  });
    r = {c.y, c.reason, static_cast<Index>(c.h.size())};
  }
  return r;
}

struct OdeFlow : Hand<OdeFlow> {
  static constexpr const char* name = "ode_flow";
  static constexpr None flops{"its steps are not known before it runs: they are not counted"};
  static Ordering order(const Attributes* a) {
    return detail::order_of(tessera::get<FlowAttr>(a).system->f);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& f = tessera::get<FlowAttr>(a);
    bool ok = in.size() == f.system->operands();
    for (std::size_t k = 0; ok && k < in.size(); ++k) ok = in[k] == f.wide(k);
    if (!ok)
      fail(name, "operands do not fit the system that was recorded, whose state is " +
                     to_string(f.system->state[0]));
    Types out;
    for (std::size_t k = 0; k < f.system->n(); ++k) out.push_back(f.full(k));
    out.push_back({Dtype::i32, f.lead()}), out.push_back({Dtype::i32, f.lead()});
    return out;
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      run(in, out, tessera::get<FlowAttr>(a));
    };
  }
  static void run(Inputs in, Outputs out, const FlowAttr& f) {
    const OdeSystem& s = *f.system;
    const Plan plan(s.f);
    const Index count = f.lead().count();
    for (Index i = 0; i < count; ++i) {
      const auto part = [&](std::size_t operand) {
        const Type t = s.operand(operand);
        Index at = 0, step = 1, flat = i;
        for (std::size_t l = f.levels.size(); l >= f.stride(); l -= f.stride()) {
          const Index size = f.levels[l - f.stride()];
          if (f.has(l - f.stride(), operand)) at += flat % size * step, step *= size;
          flat /= size;
        }
        const View v{static_cast<std::byte*>(in[operand]->data) +
                         static_cast<std::size_t>(at * t.shape.count()) * size_of(t.dtype),
                     t.dtype, t.shape, row_major(t.shape)};
        return contiguous_copy(v);
      };
      Leaves y0, p;
      for (std::size_t k = 0; k < s.n(); ++k) y0.push_back(part(k));
      for (std::size_t k = 0; k < s.params.size(); ++k) p.push_back(part(s.n() + 2 + k));
      const auto time = [&](std::size_t k) { return cast(part(s.n() + k), Dtype::f64).item(); };
      const Reached r = integrate(s, plan, y0, time(0), time(1), p);
      const bool ok = static_cast<int>(r.reason) > 0;
      for (std::size_t k = 0; k < s.n(); ++k) {
        const Type& t = s.state[k];
        const std::size_t bytes = static_cast<std::size_t>(t.shape.count()) * size_of(t.dtype);
        const Tensor y =
            ok ? contiguous(r.y[k])
               : contiguous(full(t.shape, std::numeric_limits<double>::quiet_NaN(), t.dtype));
        if (bytes)
          std::memcpy(static_cast<std::byte*>(out[k]->data) + static_cast<std::size_t>(i) * bytes,
                      y.view().data, bytes);
      }
      static_cast<std::int32_t*>(out[s.n()]->data)[i] = static_cast<std::int32_t>(r.reason);
      static_cast<std::int32_t*>(out[s.n() + 1]->data)[i] = static_cast<std::int32_t>(r.steps);
    }
  }

  static Leaves applied(FlowAttr f, const Leaves& v) {
    std::vector<const Tensor*> in;
    for (const Tensor& t : v) in.push_back(&t);
    Leaves out(f.system->n() + 2);
    dispatch(primitive<OdeFlow>(), in, attributes(std::move(f)), context_line(), out);
    return out;
  }
  /// Operands of another system, each with the operand of the present one that it is batched like.
  struct Operands {
    Leaves v;
    std::vector<std::size_t> as;
    void add(const Tensor& t, std::size_t like) { v.push_back(t), as.push_back(like); }
  };

  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const auto& f = a.get<FlowAttr>();
    const OdeSystem& s = *f.system;
    const std::size_t n = s.n(), first_p = n + 2, np = s.params.size();
    bool others = false, moving = false;
    for (std::size_t k = 0; k < first_p + np; ++k) {
      const bool linear = k < n ? k >= s.linear : k >= first_p && s.linear_params[k - first_p];
      (linear ? moving : others) |= t[k].defined();
    }
    if (!others && !moving) return;
    if (!others) {  // linear in all that moves: the same flow of the tangents
      Leaves v(a.in.begin(), a.in.end());
      for (std::size_t k = 0; k < first_p + np; ++k)
        if (k < n ? k >= s.linear : k >= first_p && s.linear_params[k - first_p])
          v[k] = t[k].defined() ? t[k] : zeros_of(v[k].type());
      const Leaves y = applied(f, v);
      for (std::size_t k = s.linear; k < n; ++k) o[k] = y[k];
      return;
    }
    const auto derivative = [&](const Leaves& y, std::size_t which) {
      Operands in;
      in.add(a.in[n + which], n + which);
      for (std::size_t k = 0; k < n; ++k) in.add(y[k], k);
      for (std::size_t k = 0; k < np; ++k) in.add(a.in[first_p + k], first_p + k);
      return f.over([&s](const Leaves& u) { return evaluate(s.f, u); }, in.v, in.as);
    };
    const auto moved = [&](const Leaves& y, std::size_t which) {  // f dt
      Leaves out = derivative(y, which);
      for (Tensor& k : out)
        k = f.over([](const Leaves& u) { return Leaves{u[0] * like(u[1], u[0])}; },
                   {k, t[n + which]}, {0, n + which})[0];
      return out;
    };
    const Leaves start(a.in.begin(), a.in.begin() + static_cast<std::ptrdiff_t>(n)),
        end(a.out.begin(), a.out.begin() + static_cast<std::ptrdiff_t>(n));
    Leaves d(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(n)), final(n);
    if (t[n].defined()) {
      const Leaves back = moved(start, 0);
      for (std::size_t k = 0; k < n; ++k) d[k] = d[k].defined() ? d[k] - back[k] : neg(back[k]);
    }
    if (t[n + 1].defined()) final = moved(end, 1);
    std::vector<std::size_t> live;
    for (std::size_t k = 0; k < np; ++k)
      if (t[first_p + k].defined()) live.push_back(k);
    if (!live.empty() ||
        std::any_of(d.begin(), d.end(), [](const Tensor& x) { return x.defined(); })) {
      auto wide = std::make_shared<OdeSystem>(tangent_system(s, live));
      Operands in;
      for (std::size_t k = 0; k < n; ++k) in.add(start[k], k);
      for (std::size_t k = 0; k < n; ++k)
        in.add(d[k].defined() ? d[k] : zeros_of(a.in[k].type()), k);
      for (std::size_t k = n; k < first_p + np; ++k) in.add(a.in[k], k);
      for (std::size_t k : live) in.add(t[first_p + k], first_p + k);
      for (std::size_t k = 0; k < n; ++k) in.add(end[k], k);
      const Leaves y = applied({std::move(wide), f.levels_of(in.as)}, in.v);
      for (std::size_t k = 0; k < n; ++k) o[k] = y[n + k];
    }
    for (std::size_t k = 0; k < n; ++k) o[k] = add_tangents(o[k], final[k]);
  }
  /// (y, d) with d' = f_y d + f_p dp.
  static OdeSystem tangent_system(const OdeSystem& s, const std::vector<std::size_t>& live) {
    OdeSystem w{{},
                s.state,
                s.params,
                s.time,
                s.n(),
                2 * s.n(),
                std::vector<bool>(s.params.size(), false),
                s.options};
    w.state.insert(w.state.end(), s.state.begin(), s.state.end());
    for (std::size_t k : live) w.params.push_back(s.params[k]), w.linear_params.push_back(true);
    const std::size_t n = s.n(), np = s.params.size();
    w.f = recorded(w, [&](const Leaves& v) {  // t, y, d, p, dp
      const auto at = [&](std::size_t k) { return v.begin() + static_cast<std::ptrdiff_t>(k); };
      Leaves x{v[0]}, t{Tensor()};
      x.insert(x.end(), at(1), at(1 + n)), t.insert(t.end(), at(1 + n), at(1 + 2 * n));
      x.insert(x.end(), at(1 + 2 * n), at(1 + 2 * n + np)), t.resize(x.size());
      for (std::size_t k = 0; k < live.size(); ++k) t[1 + n + live[k]] = v[1 + 2 * n + np + k];
      auto [y, d] = jvp_flat([&](const Leaves& u) { return evaluate(s.f, u); }, x, t);
      y.insert(y.end(), d.begin(), d.end());
      return y;
    });
    return w;
  }

  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    const auto& f = a.get<FlowAttr>();
    const OdeSystem& s = *f.system;
    const std::size_t n = s.n(), first_p = n + 2, np = s.params.size(), base = s.linear;
    std::vector<std::size_t> through;  // linear parameters
    for (std::size_t k = 0; k < linear.size(); ++k) {
      if (!linear[k]) continue;
      const bool known =
          k < n ? k >= base : k >= first_p && k < first_p + np && s.linear_params[k - first_p];
      if (!known)
        no_rule(name, "transpose", "it is not linear in the state, the times and the parameters");
      if (k >= first_p) through.push_back(k - first_p);
    }
    auto back = std::make_shared<OdeSystem>(adjoint_system(s, through));
    Operands in;
    for (std::size_t k = 0; k < base; ++k) in.add(a.in[first_p + np + k], first_p + np + k);
    for (std::size_t k = base; k < n; ++k) in.add(ct[k], k);
    for (std::size_t k : through) in.add(zeros_of(f.full(first_p + k)), 0);
    in.add(a.in[n + 1], n + 1), in.add(a.in[n], n);
    for (std::size_t k = 0; k < np; ++k)
      if (!s.linear_params[k]) in.add(a.in[first_p + k], first_p + k);
    for (std::size_t k = 0; k < base; ++k) in.add(a.in[k], k);
    const Leaves y = applied({back, f.levels_of(in.as)}, in.v);
    // What was the same for a whole level collects the sum over it.
    const auto collected = [&](Tensor c, std::size_t operand) {
      int axis = 0;
      for (std::size_t l = 0; l < f.levels.size(); l += f.stride()) {
        if (f.has(l, operand))
          ++axis;
        else
          c = sum(c, {axis});
      }
      return c;
    };
    for (std::size_t k = base; k < n; ++k)
      if (linear[k]) o[k] = y[k];
    for (std::size_t k = 0; k < through.size(); ++k)
      o[first_p + through[k]] = collected(y[n + k], first_p + through[k]);
  }
  /// (y, l, m) with l' = -f_d^H l, m' = -f_dp^H l, d and dp being what is linear.
  static OdeSystem adjoint_system(const OdeSystem& s, const std::vector<std::size_t>& through) {
    OdeSystem w{{}, s.state, {}, s.time, s.linear, s.n(), {}, s.options};
    for (std::size_t k : through) w.state.push_back(s.params[k]);
    for (std::size_t k = 0; k < s.params.size(); ++k)
      if (!s.linear_params[k]) w.params.push_back(s.params[k]);
    w.linear_params.assign(w.params.size(), false);
    const std::size_t n = s.n(), base = s.linear;
    w.f = recorded(w, [&](const Leaves& v) {  // t, y, l, m, p
      Types types(s.state.begin() + static_cast<std::ptrdiff_t>(base), s.state.end());
      for (std::size_t k : through) types.push_back(s.params[k]);
      const auto whole = [&](const Leaves& d) {  // operands of f, with d in place of what is linear
        Leaves x(v.begin(), v.begin() + 1 + static_cast<std::ptrdiff_t>(base));
        for (std::size_t k = base; k < n; ++k)
          x.push_back(d.empty() ? zeros_of(s.state[k]) : d[k - base]);
        for (std::size_t k = 0, next = 1 + w.state.size(); k < s.params.size(); ++k) {
          if (!s.linear_params[k]) {
            x.push_back(v[next++]);
            continue;
          }
          const auto at = std::find(through.begin(), through.end(), k);
          x.push_back(d.empty() || at == through.end()
                          ? zeros_of(s.params[k])
                          : d[n - base + static_cast<std::size_t>(at - through.begin())]);
        }
        return evaluate(s.f, x);
      };
      const Graph linear =
          record_abstract(
              name,
              [&](const Leaves& d) {
                const Leaves y = whole(d);
                return Leaves(y.begin() + static_cast<std::ptrdiff_t>(base), y.end());
              },
              types)
              .graph;
      const Leaves l(v.begin() + 1 + static_cast<std::ptrdiff_t>(base),
                     v.begin() + 1 + static_cast<std::ptrdiff_t>(n));
      const Leaves back = transpose_graph(linear, l);
      Leaves y = whole({});
      y.resize(base);
      for (const Tensor& c : back) y.push_back(neg(c));
      return y;
    });
    return w;
  }
  static Graph recorded(const OdeSystem& s, const FlatFunction& f) {
    Types types{{s.time, {}}};
    types.insert(types.end(), s.state.begin(), s.state.end());
    types.insert(types.end(), s.params.begin(), s.params.end());
    return simplify(record_abstract(name, f, types).graph);
  }

  static void batch(const Application& a, std::span<const bool> batched, Index size,
                    std::span<Tensor> o) {
    FlowAttr g = a.get<FlowAttr>();
    std::vector<Index> level{size};
    for (bool b : batched) level.push_back(b ? 1 : 0);
    g.levels.insert(g.levels.begin(), level.begin(), level.end());
    Leaves v(a.in.begin(), a.in.end());
    for (std::size_t k = 0; k < g.system->n(); ++k) {
      v[k] = with_batch(v[k], batched[k], size);
      g.levels[1 + k] = 1;
    }
    const Leaves y = applied(g, v);
    for (std::size_t k = 0; k < y.size(); ++k) o[k] = y[k];
  }
};
TESSERA_REGISTER(OdeFlow);

}  // namespace

Flow ode_flow(const Graph& f, const Leaves& y0, const Tensor& t0, const Tensor& t1, const Leaves& p,
              const OdeOptions& o) {
  auto s =
      std::make_shared<OdeSystem>(OdeSystem{f, types_of(y0), types_of(p), t0.dtype(), y0.size(),
                                            y0.size(), std::vector<bool>(p.size(), false), o});
  Leaves in = y0;
  in.push_back(t0), in.push_back(t1);
  in.insert(in.end(), p.begin(), p.end());
  Leaves y = OdeFlow::applied({std::move(s), {}}, in);
  Flow r{{}, y[y0.size()], y[y0.size() + 1]};
  y.resize(y0.size());
  r.y = std::move(y);
  return r;
}

}  // namespace tessera::detail
