// SPDX-License-Identifier: Apache-2.0
#include "compose.h"
#include "tessera/autodiff/ops/bessel.h"

namespace tessera::oracle {
namespace {

template <Tensor (*F)(Arg)>
Tensor of_float(const Call& c) {
  return F(floating(c[0]));
}
template <Tensor (*F)(Arg)>
Tensor of_any(const Call& c) {
  return F(c[0]);
}
template <Tensor (*F)(double, Arg), int Order>
Tensor bessel(const Call& c) {
  return F(Order, floating(c[0]));
}
Tensor unchanged(const Call& c) { return c[0]; }
Tensor rounding(const Call& c, Tensor (*f)(Arg)) {
  return is_integer(c[0].dtype()) ? c[0] : f(c[0]);
}

/// Log of the multivariate gamma function: sum_j lgamma(x - j/2) + p (p - 1)/4 log pi, j = 0 ... p
/// - 1.
Tensor multivariate_lgamma(const Call& c) {
  const int p = static_cast<int>(c.integer(1, "p", 1));
  const Tensor x = floating(c[0]);
  Tensor s = lgamma(x) + p * (p - 1) / 4.0 * std::log(kPi);
  for (int j = 1; j < p; ++j) s = s + lgamma(x - j / 2.0);
  return s;
}

}  // namespace

void unary_rows(Table& t) {
  t["abs"] = of_any<abs>;
  t["acos"] = of_float<acos>;
  t["acosh"] = of_float<acosh>;
  t["asin"] = of_float<asin>;
  t["asinh"] = of_float<asinh>;
  t["atan"] = of_float<atan>;
  t["atanh"] = of_float<atanh>;
  t["ceil"] = [](const Call& c) { return rounding(c, ceil); };
  t["floor"] = [](const Call& c) { return rounding(c, floor); };
  t["round"] = [](const Call& c) { return rounding(c, round); };
  t["trunc"] = [](const Call& c) { return trunc(c[0]); };
  t["frac"] = [](const Call& c) { return c[0] - trunc(c[0]); };
  for (const char* name : {"round.decimals_0", "round.decimals_3", "round.decimals_neg_3"})
    t[name] = [](const Call& c) {
      if (is_integer(c[0].dtype())) return c[0];
      const double power =
          std::pow(10.0, std::abs(static_cast<double>(c.integer(1, "decimals", 0))));
      return c.integer(1, "decimals", 0) < 0 ? round(c[0] / power) * power
                                             : round(c[0] * power) / power;
    };
  for (const char* name :
       {"clone", "contiguous", "positive", "resolve_conj", "resolve_neg", "alias_copy"})
    t[name] = unchanged;
  t["conj"] = t["conj_physical"] = of_any<conj>;
  t["cos"] = of_float<cos>;
  t["cosh"] = of_float<cosh>;
  t["deg2rad"] = [](const Call& c) { return floating(c[0]) * (kPi / 180); };
  t["rad2deg"] = [](const Call& c) { return floating(c[0]) * (180 / kPi); };
  t["exp"] = of_float<exp>;
  t["exp2"] = [](const Call& c) { return pow(2.0, floating(c[0])); };
  t["expm1"] = of_float<expm1>;
  t["log"] = of_float<log>;
  t["log1p"] = of_float<log1p>;
  t["log10"] = [](const Call& c) { return log(floating(c[0])) / std::log(10.0); };
  t["log2"] = [](const Call& c) { return log(floating(c[0])) / std::log(2.0); };
  t["logical_not"] = [](const Call& c) { return logical_not(truth(c[0])); };
  t["neg"] = [](const Call& c) { return -c[0]; };
  t["real"] = of_any<real>;
  t["sin"] = of_float<sin>;
  t["sinh"] = of_float<sinh>;
  t["tan"] = of_float<tan>;
  t["tanh"] = of_float<tanh>;
  t["sinc"] = [](const Call& c) { return spherical_j(0, floating(c[0]) * kPi); };
  t["sign"] = t["sgn"] = [](const Call& c) {
    return of_numbers([](const Tensor& x) { return sign(x); }, c[0]);
  };
  t["reciprocal"] = [](const Call& c) { return 1.0 / floating(c[0]); };
  t["rsqrt"] = of_float<rsqrt>;
  t["sqrt"] = of_float<sqrt>;
  t["square"] = [](const Call& c) {
    return c[0].dtype() == Dtype::boolean ? cast(c[0], Dtype::i64) : square(c[0]);
  };
  t["angle"] = of_float<arg>;
  t["isfinite"] = of_float<is_finite>;
  t["isinf"] = [](const Call& c) {
    const Tensor x = floating(c[0]);
    return is_complex(x.dtype()) ? logical_or(equal(abs(real(x)), kInf), equal(abs(imag(x)), kInf))
                                 : equal(abs(x), kInf);
  };
  t["isposinf"] = [](const Call& c) { return equal(floating(c[0]), kInf); };
  t["isneginf"] = [](const Call& c) { return equal(floating(c[0]), -kInf); };
  t["isnan"] = [](const Call& c) { return is_nan(c[0]); };
  t["isreal"] = [](const Call& c) {
    return is_complex(c[0].dtype()) ? equal(imag(c[0]), 0.0)
                                    : logical_or(equal(c[0], c[0]), is_nan(c[0]));
  };
  t["signbit"] = [](const Call& c) { return negative(c[0]); };
  t["nan_to_num"] = [](const Call& c) {
    const Tensor x = c[0];
    if (!is_inexact(x.dtype())) return x;
    const double largest = x.dtype() == Dtype::f64 || x.dtype() == Dtype::c128
                               ? std::numeric_limits<double>::max()
                               : std::numeric_limits<float>::max();
    const auto part = [&](const Tensor& p) {
      Tensor r = where(is_nan(p), c.real(1, "nan", 0), p);
      r = where(equal(r, kInf), c.real(2, "posinf", largest), r);
      return where(equal(r, -kInf), c.real(3, "neginf", -largest), r);
    };
    return is_complex(x.dtype()) ? complex(part(real(x)), part(imag(x))) : part(x);
  };
  t["sigmoid"] = of_float<logistic>;
  t["digamma"] = of_float<digamma>;
  t["erf"] = of_float<erf>;
  t["erfc"] = of_float<erfc>;
  t["erfinv"] = of_float<erfinv>;
  t["lgamma"] = of_float<lgamma>;
  t["logit"] = [](const Call& c) {
    Tensor x = floating(c[0]);
    if (c.has(1, "eps")) {
      const double low = c.real(1, "eps", 0), high = 1 - low;
      x = where(less(x, low), low, where(greater(x, high), high, x));
    }
    return log(x / (1.0 - x));
  };
  for (int n = 0; n < 5; ++n)
    t["polygamma.polygamma_n_" + std::to_string(n)] = [](const Call& c) {
      return polygamma(static_cast<int>(c.integer(1, "n", 0)), floating(c[0]));
    };
  t["special.polygamma.special_polygamma_n_0"] = t["polygamma.polygamma_n_0"];
  for (const char* name :
       {"mvlgamma.mvlgamma_p_1", "mvlgamma.mvlgamma_p_3", "mvlgamma.mvlgamma_p_5"})
    t[name] = multivariate_lgamma;
  t["i0"] = t["special.modified_bessel_i0"] = bessel<bessel_i, 0>;
  t["special.i1"] = t["special.modified_bessel_i1"] = bessel<bessel_i, 1>;
  t["special.i0e"] = bessel<bessel_ie, 0>;
  t["special.i1e"] = bessel<bessel_ie, 1>;
  t["special.bessel_j0"] = bessel<bessel_j, 0>;
  t["special.bessel_j1"] = bessel<bessel_j, 1>;
  t["special.bessel_y0"] = bessel<bessel_y, 0>;
  t["special.bessel_y1"] = bessel<bessel_y, 1>;
  t["special.modified_bessel_k0"] = bessel<bessel_k, 0>;
  t["special.modified_bessel_k1"] = bessel<bessel_k, 1>;
  t["special.scaled_modified_bessel_k0"] = bessel<bessel_ke, 0>;
  t["special.scaled_modified_bessel_k1"] = bessel<bessel_ke, 1>;
  t["special.spherical_bessel_j0"] = [](const Call& c) { return spherical_j(0, floating(c[0])); };
  t["special.ndtr"] = [](const Call& c) { return erfc(floating(c[0]) * -std::sqrt(0.5)) * 0.5; };
  t["special.ndtri"] = [](const Call& c) {
    return erfinv(2.0 * floating(c[0]) - 1.0) * std::sqrt(2.0);
  };
  t["special.entr"] = [](const Call& c) {
    const Tensor x = floating(c[0]);
    const Tensor inside = greater(x, 0.0), safe = where(inside, x, 1.0);
    return where(logical_or(inside, is_nan(x)), -x * log(safe),
                 where(equal(x, 0.0), 0.0, like(-kInf, x)));
  };
}

}  // namespace tessera::oracle
