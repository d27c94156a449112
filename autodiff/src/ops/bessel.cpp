// SPDX-License-Identifier: Apache-2.0
//
// Six primitives with the order as an attribute; derivatives lead to the neighbouring orders.
#include "tessera/autodiff/ops/bessel.h"

#include "../kernels/bessel.h"
#include "../kernels/map.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <cmath>
#include <numbers>
#include <string>

namespace tessera {
namespace {

using BesselKind = kernels::bessel::Kind;

struct BesselAttr {
  double order;
  bool scaled;
  TESSERA_ATTRIBUTES(order, scaled)
};

template <class P>
Tensor of_order(double order, bool scaled, const Tensor& z, SourceLine line) {
  return apply(primitive<P>(), attributes(BesselAttr{order, scaled}), line, z);
}

/// f_v' = (below f_{v-1} + above f_{v+1}) / 2; for v = 0, where f_{-1} = +-f_1, above f_1.
template <class P, BesselKind K, DtypeSet S, int below, int above>
struct Bessel : Elementwise<P, 1> {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr DtypeSet dtypes = S;
  static constexpr None transpose{"it is not linear"};
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernels::kernel_table<S>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* attr) {
        const BesselAttr& a = get<BesselAttr>(attr);
        using Wide = std::conditional_t<kernels::is_cplx<T>, c128, double>;
        kernels::map1<T>(*in[0], *out[0], [&a](T z) {
          return T(kernels::bessel::value(K, a.order, Wide(z), a.scaled));
        });
      };
    });
    return table[static_cast<int>(in[0])];
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined()) return;
    const auto& [v, scaled] = a.get<BesselAttr>();
    const Tensor &z = a.in[0], &f = a.out[0];
    auto neighbour = [&, scaled = scaled](double order) {
      return of_order<P>(order, scaled, z, {});
    };
    Tensor derivative;
    if (v == 0)
      derivative = static_cast<double>(above) * neighbour(1);
    else if (below * above > 0)
      derivative = (0.5 * below) * (neighbour(v - 1) + neighbour(v + 1));
    else
      derivative = (0.5 * below) * (neighbour(v - 1) - neighbour(v + 1));
    if (!scaled) {
      o[0] = t[0] * derivative;
      return;
    }
    // What the factor's own derivative adds.
    if constexpr (K == BesselKind::k)
      o[0] = t[0] * (derivative + f);
    else if constexpr (K == BesselKind::h1)
      o[0] = t[0] * (derivative - c128(0, 1) * f);
    else if constexpr (K == BesselKind::h2)
      o[0] = t[0] * (derivative + c128(0, 1) * f);
    else if constexpr (K == BesselKind::i)
      o[0] = t[0] * derivative - f * (sign(real(z)) * real(t[0]));
    else
      o[0] = is_complex(z.dtype()) ? t[0] * derivative - f * (sign(imag(z)) * imag(t[0]))
                                   : t[0] * derivative;
  }
};
struct BesselJ : Bessel<BesselJ, BesselKind::j, kInexact, 1, -1> {
  static constexpr const char* name = "bessel_j";
};
struct BesselY : Bessel<BesselY, BesselKind::y, kInexact, 1, -1> {
  static constexpr const char* name = "bessel_y";
};
struct BesselI : Bessel<BesselI, BesselKind::i, kInexact, 1, 1> {
  static constexpr const char* name = "bessel_i";
};
struct BesselK : Bessel<BesselK, BesselKind::k, kInexact, -1, -1> {
  static constexpr const char* name = "bessel_k";
};
struct Hankel1 : Bessel<Hankel1, BesselKind::h1, kComplex, 1, -1> {
  static constexpr const char* name = "hankel1";
};
struct Hankel2 : Bessel<Hankel2, BesselKind::h2, kComplex, 1, -1> {
  static constexpr const char* name = "hankel2";
};
TESSERA_REGISTER(BesselJ);
TESSERA_REGISTER(BesselY);
TESSERA_REGISTER(BesselI);
TESSERA_REGISTER(BesselK);
TESSERA_REGISTER(Hankel1);
TESSERA_REGISTER(Hankel2);

template <class P>
Tensor bessel_function(double order, bool scaled, const Arg& z) {
  Tensor t = detail::to_tensor(P::name, z);
  if (P::dtypes == kComplex && is_float(t.dtype())) t = cast(t, complex_of(t.dtype()));
  return of_order<P>(order, scaled, t, z.line);
}

/// z^n / (2n+1)!! sum_k (-z^2 / 2)^k / (k! (2n+3) ... (2n+2k+1)), to full accuracy for |z| <= 1.
Tensor spherical_series(int n, const Tensor& z) {
  const Tensor u = -0.5 * square(z);
  constexpr int kTerms = 10;
  Tensor sum = ones({}, z.dtype());
  for (int k = kTerms; k > 0; --k) sum = 1.0 + u * sum / static_cast<double>(k * (2 * (n + k) + 1));
  double factorial = 1;
  for (int k = 1; k <= n; ++k) factorial *= 2 * k + 1;
  return pow(z, n) * sum / factorial;
}
Tensor spherical(const char* op, int n, const Arg& z) {
  const Tensor t = detail::to_tensor(op, z);
  if (n < 0) fail(op, "orders are 0, 1, 2, ..., got " + std::to_string(n), z.line);
  return t;
}
/// sqrt(pi / 2z); of complex z by the root whose cut is that of the Bessel functions: the division
/// forgets on which side of it -2 - 0i lies.
Tensor spherical_factor(const Tensor& z) {
  constexpr double c = 0.5 * std::numbers::pi;
  return is_complex(z.dtype()) ? std::sqrt(c) * rsqrt(z) : sqrt(c / z);
}

}  // namespace

Tensor bessel_j(double order, Arg z) { return bessel_function<BesselJ>(order, false, z); }
Tensor bessel_y(double order, Arg z) { return bessel_function<BesselY>(order, false, z); }
Tensor bessel_i(double order, Arg z) { return bessel_function<BesselI>(order, false, z); }
Tensor bessel_k(double order, Arg z) { return bessel_function<BesselK>(order, false, z); }
Tensor hankel1(double order, Arg z) { return bessel_function<Hankel1>(order, false, z); }
Tensor hankel2(double order, Arg z) { return bessel_function<Hankel2>(order, false, z); }
Tensor bessel_je(double order, Arg z) { return bessel_function<BesselJ>(order, true, z); }
Tensor bessel_ye(double order, Arg z) { return bessel_function<BesselY>(order, true, z); }
Tensor bessel_ie(double order, Arg z) { return bessel_function<BesselI>(order, true, z); }
Tensor bessel_ke(double order, Arg z) { return bessel_function<BesselK>(order, true, z); }
Tensor hankel1e(double order, Arg z) { return bessel_function<Hankel1>(order, true, z); }
Tensor hankel2e(double order, Arg z) { return bessel_function<Hankel2>(order, true, z); }

Tensor spherical_j(int n, Arg z) {
  const Tensor t = spherical("spherical_j", n, z);
  // Real x < 0 by parity: the root would be complex.
  const bool complex_z = is_complex(t.dtype());
  const Tensor small = less_equal(abs(t), 1.0), size = complex_z ? t : abs(t);
  const Tensor away = where(small, 2.0, size);
  Tensor far = spherical_factor(away) * bessel_j(n + 0.5, away);
  if (!complex_z && n % 2) far = far * sign(t);
  return where(small, spherical_series(n, where(small, t, 0.0)), far);
}
Tensor spherical_y(int n, Arg z) {
  const Tensor t = spherical("spherical_y", n, z);
  const auto formula = [n](const Tensor& x) { return spherical_factor(x) * bessel_y(n + 0.5, x); };
  if (is_complex(t.dtype())) return formula(t);
  const Tensor left = less(t, 0.0), y = formula(where(left, neg(t), t));  // by parity
  return n % 2 ? y : where(left, neg(y), y);
}

}  // namespace tessera
