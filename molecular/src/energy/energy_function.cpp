// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/energy_function.h"

#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <tuple>

namespace tessera::molecular {
namespace {

/// Bit k: operand k. `along`: those that have a direction; `wanted`: those whose derivative is
/// asked for.
struct EnergyAttr {
  EnergyPtr energy;
  Index along = 0, wanted = 0;
  TESSERA_ATTRIBUTES(energy, along, wanted)
};
bool has(Index set, std::size_t k) { return set >> k & 1; }

void pushed_back(tessera::Shape& s, const tessera::Shape& tail) {
  for (const Index n : tail) s.push_back(n);
}
/// The leading axes that all operands share in front of their own shapes; throws where they do not
/// fit.
tessera::Shape lead_of(const EnergyFunction& u, std::span<const Type> in) {
  const std::vector<tessera::Shape> own = u.shapes();
  if (in.size() < own.size())
    fail(u.name(),
         "takes " + std::to_string(own.size()) + " operands, got " + std::to_string(in.size()));
  tessera::Shape lead;
  for (int d = 0; d + own[0].size() < in[0].shape.size(); ++d) lead.push_back(in[0].shape[d]);
  for (std::size_t k = 0; k < own.size(); ++k) {
    tessera::Shape wanted = lead;
    pushed_back(wanted, own[k]);
    if (in[k] != Type{Dtype::f64, wanted})
      fail(u.name(), "operand " + std::to_string(k) + " should be " +
                         to_string(Type{Dtype::f64, wanted}) + ", got " + to_string(in[k]));
  }
  return lead;
}
Types derivative_types(const EnergyFunction& u, std::span<const Type> in, Index wanted) {
  const tessera::Shape lead = lead_of(u, in);
  const std::vector<tessera::Shape> own = u.shapes();
  Types out;
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (!has(wanted, k)) continue;
    tessera::Shape s = lead;
    pushed_back(s, own[k]);
    out.push_back({Dtype::f64, s});
  }
  return out;
}

/// Arrays of one sample; `views` are those in `set`, the others are null.
template <class T, class V>
std::vector<T*> sample(const V& views, std::size_t first, const std::vector<tessera::Shape>& own,
                       Index set, Index b) {
  std::vector<T*> out(own.size(), nullptr);
  for (std::size_t k = 0, next = first; k < own.size(); ++k)
    if (has(set, k)) out[k] = static_cast<T*>(views[next++]->data) + b * own[k].count();
  return out;
}
Index all_of(const std::vector<tessera::Shape>& own) { return (Index{1} << own.size()) - 1; }
Index samples_of(const View& first, const tessera::Shape& own) {
  return own.count() == 0 ? 0 : first.count() / own.count();
}
void cleared(Outputs out) {
  for (const View* v : out) std::fill_n(static_cast<double*>(v->data), v->count(), 0.0);
}

/// p -> U.
struct EnergyValue : Hand<EnergyValue>, LeadingBatch {
  static constexpr const char* name = "energy_value";
  static constexpr None flops{"an energy does not count its operations"};
  static constexpr None transpose{"an energy is not linear in its operands"};
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return {{Dtype::f64, lead_of(*get<EnergyAttr>(a).energy, in)}};
  }
  static void run(Inputs in, Outputs out, const Attributes* a) {
    const EnergyFunction& u = *get<EnergyAttr>(a).energy;
    const auto own = u.shapes();
    auto* y = static_cast<double*>(out[0]->data);
    for (Index b = 0; b < samples_of(*in[0], own[0]); ++b)
      y[b] = u.value(sample<const double>(in, 0, own, all_of(own), b));
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return run; }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o);
};

/// p -> g_k of the wanted operands.
struct EnergyGradient : Hand<EnergyGradient>, LeadingBatch {
  static constexpr const char* name = "energy_gradient";
  static constexpr None flops{"an energy does not count its operations"};
  static constexpr None transpose{"the gradient of an energy is not linear in its operands"};
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return derivative_types(*get<EnergyAttr>(a).energy, in, get<EnergyAttr>(a).wanted);
  }
  static void run(Inputs in, Outputs out, const Attributes* a) {
    const EnergyAttr& e = get<EnergyAttr>(a);
    const auto own = e.energy->shapes();
    cleared(out);
    for (Index b = 0; b < samples_of(*in[0], own[0]); ++b)
      e.energy->gradient(sample<const double>(in, 0, own, all_of(own), b),
                         sample<double>(out, 0, own, e.wanted, b));
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return run; }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o);
};

/// p, v_j of the operands in `along` -> w_i of the wanted ones.
struct EnergyHessianProduct : Hand<EnergyHessianProduct>, LeadingBatch {
  static constexpr const char* name = "energy_hessian_product";
  static constexpr None flops{"an energy does not count its operations"};
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const EnergyAttr& e = get<EnergyAttr>(a);
    const Types directions = derivative_types(*e.energy, in, e.along);
    const std::size_t n = e.energy->shapes().size();
    for (std::size_t k = 0; k < directions.size(); ++k)
      if (in[n + k] != directions[k])
        fail(name,
             "a direction should be " + to_string(directions[k]) + ", got " + to_string(in[n + k]));
    return derivative_types(*e.energy, in, e.wanted);
  }
  static void run(Inputs in, Outputs out, const Attributes* a) {
    const EnergyAttr& e = get<EnergyAttr>(a);
    const auto own = e.energy->shapes();
    cleared(out);
    for (Index b = 0; b < samples_of(*in[0], own[0]); ++b)
      e.energy->hessian_product(sample<const double>(in, 0, own, all_of(own), b),
                                sample<const double>(in, own.size(), own, e.along, b),
                                sample<double>(out, 0, own, e.wanted, b));
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return run; }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o);
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o);
};

Index count_of(Index set) {
  return static_cast<Index>(std::popcount(static_cast<std::uint64_t>(set)));
}
/// Operands that have a tangent, and these tangents in order.
struct Directions {
  Index set = 0;
  std::vector<Tensor> v;
};
Directions directions_of(std::span<const Tensor> t, std::size_t n) {
  Directions d;
  for (std::size_t k = 0; k < n; ++k)
    if (t[k].defined()) {
      d.set |= Index{1} << k;
      d.v.push_back(t[k]);
    }
  return d;
}
std::vector<Tensor> applied(const Primitive& p, std::span<const Tensor> operands,
                            const std::vector<Tensor>& v, EnergyAttr attr) {
  std::vector<const Tensor*> in;
  for (const Tensor& x : operands) in.push_back(&x);
  for (const Tensor& x : v) in.push_back(&x);
  std::vector<Tensor> out(static_cast<std::size_t>(count_of(attr.wanted)));
  dispatch(p, in, attributes(std::move(attr)), {}, out);
  return out;
}
Tensor zeros_as(const Tensor& x) { return broadcast_to(scalar(0.0, x.dtype()), x.shape()); }
Tensor sum_of(const Tensor& a, const Tensor& b) { return !a.defined() ? b : a + b; }
/// Sum over all axes but the leading ones.
Tensor inner(const Tensor& a, const Tensor& b, int lead) {
  const Tensor product = a * b;
  tessera::Shape axes;
  for (int d = lead; d < product.ndim(); ++d) axes.push_back(d);
  return axes.size() == 0 ? product : sum(product, axes);
}

void EnergyValue::jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
  const EnergyPtr& u = a.get<EnergyAttr>().energy;
  const auto own = u->shapes();
  const Directions d = directions_of(t, own.size());
  const std::vector<Tensor> g = applied(primitive<EnergyGradient>(), a.in, {}, {u, 0, d.set});
  Tensor sum;
  for (std::size_t k = 0; k < g.size(); ++k)
    sum = sum_of(sum, inner(g[k], d.v[k], a.out[0].ndim()));
  o[0] = sum;
}
void EnergyGradient::jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
  const EnergyAttr& e = a.get<EnergyAttr>();
  const Directions d = directions_of(t, e.energy->shapes().size());
  std::ranges::move(
      applied(primitive<EnergyHessianProduct>(), a.in, d.v, {e.energy, d.set, e.wanted}),
      o.begin());
}

/// The Hessian product in engine operations, of operands and directions.
std::vector<Tensor> generic_hessian_product(const EnergyAttr& e, const std::vector<Tensor>& all,
                                            std::size_t n) {
  const std::vector<Tensor> p(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  std::vector<Tensor> v;
  for (std::size_t k = 0, next = n; k < n; ++k)
    v.push_back(has(e.along, k) ? all[next++] : zeros_as(p[k]));
  FlatFunction batched = [&](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{e.energy->generic(x)};
  };
  for (int axis = p[0].ndim() - e.energy->shapes()[0].size(); axis > 0; --axis)
    batched = [f = std::move(batched), n](const std::vector<Tensor>& x) {
      return detail::vmap_flat(f, x, std::vector<std::optional<int>>(n, 0), 0);
    };
  const auto total = [&](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{sum(batched(x)[0])};
  };
  const auto gradient = [&](const std::vector<Tensor>& x) {
    return detail::grad_flat(total, x, n).second;
  };
  const std::vector<Tensor> w = detail::jvp_flat(gradient, p, v).second;
  std::vector<Tensor> out;
  for (std::size_t k = 0; k < n; ++k)
    if (has(e.wanted, k)) out.push_back(w[k]);
  return out;
}
void EnergyHessianProduct::jvp(const Application& a, std::span<const Tensor> t,
                               std::span<Tensor> o) {
  const EnergyAttr& e = a.get<EnergyAttr>();
  const std::size_t n = e.energy->shapes().size();
  bool third = false;
  std::vector<Tensor> dv;
  Index along = 0;
  for (std::size_t k = 0, next = n; k < n; ++k) {
    third = third || t[k].defined();
    if (!has(e.along, k)) continue;
    if (t[next].defined()) {
      along |= Index{1} << k;
      dv.push_back(t[next]);
    }
    ++next;
  }
  std::vector<Tensor> result(o.size());
  if (!dv.empty())
    result =
        applied(primitive<EnergyHessianProduct>(), a.in.first(n), dv, {e.energy, along, e.wanted});
  if (third) {
    const std::vector<Tensor> all(a.in.begin(), a.in.end());
    std::vector<Tensor> tangents;
    for (std::size_t k = 0; k < all.size(); ++k)
      tangents.push_back(k < n && t[k].defined() ? t[k] : zeros_as(all[k]));
    const auto c = [&](const std::vector<Tensor>& x) { return generic_hessian_product(e, x, n); };
    const std::vector<Tensor> moved = detail::jvp_flat(c, all, tangents).second;
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = sum_of(result[k], moved[k]);
  }
  std::ranges::move(result, o.begin());
}
void EnergyHessianProduct::transpose(const Application& a, std::span<const bool> linear,
                                     std::span<const Tensor> ct, std::span<Tensor> o) {
  const EnergyAttr& e = a.get<EnergyAttr>();
  const std::size_t n = e.energy->shapes().size();
  for (std::size_t k = 0; k < n; ++k)
    if (linear[k]) fail(name, "is linear in its directions alone, not in the operands");
  Index along = 0, wanted = 0;
  std::vector<Tensor> v;
  for (std::size_t k = 0, next = 0; k < n; ++k)
    if (has(e.wanted, k)) {
      if (ct[next].defined()) {
        along |= Index{1} << k;
        v.push_back(ct[next]);
      }
      ++next;
    }
  for (std::size_t k = 0, next = n; k < n; ++k)
    if (has(e.along, k) && linear[next++]) wanted |= Index{1} << k;
  if (along == 0 || wanted == 0) return;
  const std::vector<Tensor> w =
      applied(primitive<EnergyHessianProduct>(), a.in.first(n), v, {e.energy, along, wanted});
  for (std::size_t k = 0, next = n, from = 0; k < n; ++k)
    if (has(e.along, k)) {
      if (linear[next]) o[next] = w[from++];
      ++next;
    }
}

TESSERA_REGISTER(EnergyValue);
TESSERA_REGISTER(EnergyGradient);
TESSERA_REGISTER(EnergyHessianProduct);

}  // namespace

Tensor evaluate(const EnergyPtr& energy, const std::vector<Tensor>& p) {
  std::vector<const Tensor*> in;
  for (const Tensor& x : p) in.push_back(&x);
  return dispatch1(primitive<EnergyValue>(), in, attributes(EnergyAttr{energy}));
}

}  // namespace tessera::molecular
