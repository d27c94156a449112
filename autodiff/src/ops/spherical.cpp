// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/spherical.h"

#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <cmath>
#include <numbers>

namespace tessera {
namespace {

Tensor vectors(const char* op, int l_max, const Arg& r) {
  const Tensor t = detail::to_tensor(op, r);
  if (t.ndim() == 0 || t.dim(-1) != 3 || !is_float(t.dtype()) || l_max < 0)
    fail(op,
         "needs real vectors [..., 3] and l_max >= 0, got " + to_string(t.type()) + " and " +
             std::to_string(l_max),
         r.line);
  return t;
}
Tensor constants(const std::vector<double>& v, Dtype t) { return cast(tensor(v), t); }

/// For l = 0 ... l_max the arrays [..., l + 1] of r^(l-m) N_lm P_l^m(cos theta) / sin^m theta, m =
/// 0 ... l:
///   Q_mm = sqrt((2m+1)/(2m)) Q_{m-1,m-1},
///   Q_lm = a (z Q_{l-1,m} - b r^2 Q_{l-2,m}),
///   a^2 = (4l^2-1)/(l^2-m^2),  b^2 = ((l-1)^2-m^2)/(4(l-1)^2-1).
std::vector<Tensor> polar_factors(int l_max, const Tensor& z, const Tensor& r2) {
  const Dtype type = z.dtype();
  Shape one = z.shape();
  one[one.size() - 1] = 1;
  double diagonal = 0.5 * std::numbers::inv_sqrtpi;
  std::vector<Tensor> q{full(one, diagonal, type)};
  for (int l = 1; l <= l_max; ++l) {
    diagonal *= std::sqrt((2 * l + 1.0) / (2 * l));
    std::vector<double> a, ab;
    for (int m = 0; m < l; ++m) {
      a.push_back(std::sqrt((4.0 * l * l - 1) / (double(l - m) * (l + m))));
      const double k = l - 1;
      if (m < l - 1) ab.push_back(a.back() * std::sqrt((k - m) * (k + m) / (4 * k * k - 1)));
    }
    Tensor next = constants(a, type) * (z * q.back());
    if (l > 1) {
      const Tensor down = constants(ab, type) * (r2 * q[q.size() - 2]);
      next = concatenate({slice(next, -1, 0, l - 1) - down, slice(next, -1, l - 1, l)}, -1);
    }
    q.push_back(concatenate({next, full(one, diagonal, type)}, -1));
  }
  return q;
}

/// The parts of r^l Y_lm: polar factors, and powers 0 ... l_max of x + i y, [..., l_max + 1], by
/// doubling.
struct Factors {
  std::vector<Tensor> polar;
  Tensor powers;
};
Factors factors(int l_max, const Tensor& r) {
  const auto part = [&](Index k) { return slice(r, -1, k, k + 1); };
  Tensor w = complex(part(0), part(1)), p = full(w.shape(), 1.0, w.dtype());
  for (Index n = 1; n <= l_max; n *= 2) {
    p = concatenate({p, p * w}, -1);
    w = w * w;
  }
  return {polar_factors(l_max, part(2), sum(square(r), {-1}, true)), slice(p, -1, 0, l_max + 1)};
}

/// (-1)^m, m = 1 ... l.
Tensor signs(int l, Dtype t) {
  std::vector<double> s;
  for (int m = 1; m <= l; ++m) s.push_back(m % 2 ? -1 : 1);
  return constants(s, t);
}

Tensor real_harmonics(int l_max, const Tensor& r) {
  const Factors f = factors(l_max, r);
  const Tensor c = std::numbers::sqrt2 * real(f.powers), s = std::numbers::sqrt2 * imag(f.powers);
  std::vector<Tensor> y;
  for (int l = 0; l <= l_max; ++l) {
    const Tensor& q = f.polar[static_cast<std::size_t>(l)];
    const Tensor high = slice(q, -1, 1, l + 1);
    if (l) y.push_back(reverse(high * slice(s, -1, 1, l + 1), {r.ndim() - 1}));
    y.push_back(slice(q, -1, 0, 1));
    if (l) y.push_back(high * slice(c, -1, 1, l + 1));
  }
  return concatenate(y, -1);
}
Tensor complex_harmonics(int l_max, const Tensor& r) {
  const Factors f = factors(l_max, r);
  const Dtype type = f.powers.dtype();
  std::vector<Tensor> y;
  for (int l = 0; l <= l_max; ++l) {
    const Tensor positive =
        cast(f.polar[static_cast<std::size_t>(l)], type) * slice(f.powers, -1, 0, l + 1);
    const Tensor high = slice(positive, -1, 1, l + 1);
    if (l) y.push_back(reverse(conj(high), {r.ndim() - 1}));
    y.push_back(slice(positive, -1, 0, 1));
    if (l) y.push_back(signs(l, type) * high);
  }
  return concatenate(y, -1);
}
Tensor direction(const Tensor& r) { return r / norm(r, {-1}, true); }

}  // namespace

Tensor solid_harmonics(int l_max, Arg r) {
  return real_harmonics(l_max, vectors("solid_harmonics", l_max, r));
}
Tensor spherical_harmonics(int l_max, Arg r) {
  return real_harmonics(l_max, direction(vectors("spherical_harmonics", l_max, r)));
}
Tensor complex_solid_harmonics(int l_max, Arg r) {
  return complex_harmonics(l_max, vectors("complex_solid_harmonics", l_max, r));
}
Tensor complex_spherical_harmonics(int l_max, Arg r) {
  return complex_harmonics(l_max, direction(vectors("complex_spherical_harmonics", l_max, r)));
}

}  // namespace tessera
