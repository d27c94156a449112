// SPDX-License-Identifier: Apache-2.0
//
// Re<c, J t> = Re<J^H c, t>: reverse mode is the adjoint of forward mode. Holds to rounding at any
// point where the derivative exists, and needs no differences; it does not see an error that both
// modes share.
#include "comparison.h"
#include "tessera/autodiff/ops.h"

#include <cmath>

namespace tessera::detail {
namespace {

/// The element of the argument at which c's pullback departs most from the columns of J; by unit
/// vectors.
std::string worst_element(const Linearized& l, const Smooth& s, const Tensors& c,
                          const Tensors& pulled) {
  Index n = 0;
  for (const Tensor& x : s.x) n += x.size();
  if (n > 4096) return "";
  std::string where;
  double worst = 0;
  for (std::size_t k = 0; k < s.x.size(); ++k) {
    const Numbers back = numbers(pulled[k]);
    for (Index i = 0; i < s.x[k].size(); ++i)
      for (const c128 unit : {c128(1), c128(0, 1)}) {
        if (unit.imag() != 0 && !is_complex(s.x[k].dtype())) continue;
        Tensors t;
        for (const Tensor& x : s.x) t.push_back(zeros(x.shape(), x.dtype()));
        Numbers e(back.size());
        e[static_cast<std::size_t>(i)] = unit;
        t[k] = cast(from_span<c128>(e, s.x[k].shape()), s.x[k].dtype());
        const double d = std::abs(inner(c, push(l, t)) -
                                  (std::conj(back[static_cast<std::size_t>(i)]) * unit).real());
        if (d > worst || std::isnan(d)) {
          worst = d;
          where = ", most at argument " + std::to_string(s.leaf[k]) + " at " +
                  position(s.x[k].shape(), i);
        }
      }
  }
  return where;
}

void adjoint(const FlatFunction& f, const Smooth& s, const std::string& prefix,
             const CheckOptions& o, std::mt19937_64& rng, Comparison& found) {
  const bool single = single_precision(s.x);
  const double rtol = chosen(o.rtol, single ? 2e-5 : 1e-12);
  const Linearized l = linearize_flat("transpose_check", f, s.x);
  for (int k = 0; k < (o.directions > 0 ? o.directions : 3); ++k) {
    const Tensors t = random_like(s.x, rng),
                  c = random_like(std::span<const Type>(l.out_types), rng);
    const Tensors forward = push(l, t), back = pull(l, c);
    found.tensors(forward, jvp_flat(f, s.x, t).second, 64 * epsilon(s.x), o.atol,
                  prefix + "linearize against jvp");
    const double scale = std::max(magnitude(c, forward), magnitude(back, t));
    const double got = inner(back, t), expected = inner(c, forward),
                 tolerance = rtol * scale + o.atol;
    const bool fits = std::isfinite(got) && std::abs(got - expected) <= tolerance;
    found.number(got, expected, tolerance, prefix + "Re<J^H c, t> against Re<c, J t>", [&] {
      return "random pair " + std::to_string(k) + (fits ? "" : worst_element(l, s, c, back));
    });
  }
}

}  // namespace

CheckReport transpose_check_flat(const FlatFunction& f, const Tensors& x, const CheckOptions& o) {
  const Smooth s = smooth("transpose_check", f, x);
  Comparison found("transpose_check");
  std::mt19937_64 rng(o.seed);
  for_orders(s.f, s.x, o.order, rng, [&](const std::string& name, const FlatFunction& g) {
    adjoint(g, s, name, o, rng, found);
  });
  return found.take();
}

}  // namespace tessera::detail
