// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers as pairs of reals, and conversion between types. Transposes are adjoints for the
// pairing <c, t> = Re(conj(c) t), so that the gradient of a real loss points along steepest ascent.
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/arithmetic.h"
#include "../kernels/functions.h"
#include "forms.h"
#include "maps.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;

/// Re<c, A t> = Re<A^T c, t>; identity on real input.
template <class P, class Body>
struct Part : Unary<P, Body> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static Dtype result(std::span<const Dtype> in) { return real_of(in[0]); }
};
struct Real : Part<Real, body::Real> {
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = complex(ct[0], zeros({}, ct[0].dtype()));
  }
};
struct Imag : Part<Imag, body::Imag> {
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = complex(zeros({}, ct[0].dtype()), ct[0]);
  }
};
struct Conj : Unary<Conj, body::Conj> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = conj(ct[0]);
  }
};
struct Complex : Binary<Complex, body::Complex> {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 3u;
  static Dtype result(std::span<const Dtype> in) { return complex_of(in[0]); }
  static void transpose(const Application&, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0]) o[0] = real(ct[0]);
    if (linear[1]) o[1] = imag(ct[0]);
  }
};
/// |z|; d|z| = Re(conj(z/|z|) dz), 0 at 0.
struct AbsComplex : Unary<AbsComplex, body::AbsComplex> {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr None transpose{"it is not linear"};
  static Dtype result(std::span<const Dtype> in) { return real_of(in[0]); }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (t[0].defined()) o[0] = real(conj(sign(a.in[0])) * t[0]);
  }
};
/// u = z/|z|, 0 at 0: it turns, du = i u Im(conj(u) dz) / |z|, and NaN at 0.
struct SignComplex : Unary<SignComplex, body::SignComplex> {
  static constexpr RuleClass rule = RuleClass::hand;
  static constexpr None transpose{"it is not linear"};
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (!t[0].defined()) return;
    const Tensor& u = a.out[0];
    o[0] = u * complex(0.0, imag(conj(u) * t[0]) / abs(a.in[0]));
  }
};
/// The value with derivative zero; of the unknown of a linear map nothing comes back.
struct StopGradient : Unary<StopGradient, body::StopGradient> {
  static constexpr RuleClass rule = RuleClass::zero;
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor>,
                        std::span<Tensor>) {}
};

struct CastTo {
  Dtype to;
  TESSERA_ATTRIBUTES(to)
};
/// Conversion of the element type; complex to real keeps the real part, anything to bool asks "not
/// zero?".
struct Cast : Elementwise<Cast, 1>, body::Cast {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static Dtype result(std::span<const Dtype>, const Attributes* a) { return get<CastTo>(a).to; }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes* a) {
    return visit_dtype(in[0], [&](auto from) -> KernelFn {
      return visit_dtype(get<CastTo>(a).to, [&](auto to) -> KernelFn {
        using F = typename decltype(from)::type;
        using T = typename decltype(to)::type;
        return [](Inputs in, Outputs out, const Attributes*) {
          map1<F>(*in[0], *out[0], [](F x) { return body::Cast::eval<T>(x); });
        };
      });
    });
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (t[0].defined() && is_inexact(a.get<CastTo>().to)) o[0] = cast(t[0], a.get<CastTo>().to);
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = cast(ct[0], a.in_types[0].dtype);
  }
};

TESSERA_REGISTER(Real);
TESSERA_REGISTER(Imag);
TESSERA_REGISTER(Conj);
TESSERA_REGISTER(Complex);
TESSERA_REGISTER(AbsComplex);
TESSERA_REGISTER(SignComplex);
TESSERA_REGISTER(StopGradient);
TESSERA_REGISTER(Cast);

}  // namespace

Tensor detail::abs_complex(const Tensor& z, SourceLine w) {
  return apply(primitive<AbsComplex>(), {}, w, z);
}
Tensor detail::sign_complex(const Tensor& z, SourceLine w) {
  return apply(primitive<SignComplex>(), {}, w, z);
}

Tensor real(Arg z) {
  const Tensor t = detail::to_tensor("real", z);
  return is_complex(t.dtype()) ? apply(primitive<Real>(), {}, z.line, t) : t;
}
Tensor imag(Arg z) {
  const Tensor t = detail::to_tensor("imag", z);
  return is_complex(t.dtype()) ? apply(primitive<Imag>(), {}, z.line, t)
                               : detail::zeros_of(t.type());
}
Tensor conj(Arg z) {
  const Tensor t = detail::to_tensor("conj", z);
  return is_complex(t.dtype()) ? apply(primitive<Conj>(), {}, z.line, t) : t;
}
Tensor complex(Arg re, Arg im) {
  const auto [x, y] = detail::meet("complex", re, im);
  return apply(primitive<Complex>(), {}, re.line, x, y);
}
Tensor arg(Arg z) {
  const Tensor t = detail::to_tensor("arg", z);
  return atan2(imag(t), real(t));
}
Tensor as_real(Arg z) {
  const Tensor t = detail::to_tensor("as_real", z);
  if (!is_complex(t.dtype()))
    fail("as_real", "needs a complex tensor, got " + to_string(t.type()), z.line);
  return stack({real(t), imag(t)}, -1, z.line);
}
Tensor as_complex(Arg x) {
  const Tensor t = detail::to_tensor("as_complex", x);
  if (!is_float(t.dtype()) || t.ndim() == 0 || t.dim(-1) != 2)
    fail("as_complex",
         "needs a real tensor whose last axis holds real and imaginary part, got " +
             to_string(t.type()),
         x.line);
  return complex(select(t, -1, 0), select(t, -1, 1));
}
const Primitive& detail::stop_gradient_primitive() { return primitive<StopGradient>(); }
Tensor stop_gradient(Arg x) {
  return apply(primitive<StopGradient>(), {}, x.line, detail::to_tensor("stop_gradient", x));
}
Tensor cast(Arg x, Dtype dtype) {
  if (!x.tensor) return detail::literal("cast", x.literal, dtype, x.line);
  const Tensor t = detail::to_tensor("cast", x);
  if (t.dtype() == dtype) return t;
  return apply(primitive<Cast>(), attributes(CastTo{dtype}), x.line, t);
}

}  // namespace tessera
