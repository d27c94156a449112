// SPDX-License-Identifier: Apache-2.0
#include "comparison.h"

#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tessera {
namespace detail {

Smooth smooth(const char* check, const FlatFunction& f, const Tensors& x) {
  Smooth s;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!is_inexact(x[k].dtype())) continue;
    s.leaf.push_back(k);
    s.x.push_back(x[k]);
  }
  if (s.x.empty())
    fail(check, "no argument is floating or complex: there is nothing to differentiate");
  s.f = [f, x, leaf = s.leaf](const Tensors& live) {
    Tensors all = x;
    for (std::size_t k = 0; k < leaf.size(); ++k) all[leaf[k]] = live[k];
    Tensors y;
    for (Tensor& t : f(all))
      if (is_inexact(t.dtype())) y.push_back(std::move(t));
    return y;
  };
  return s;
}

Tensors random_like(std::span<const Type> like, std::mt19937_64& rng) {
  const auto draw = [&](const Shape& s) {
    std::vector<double> v(static_cast<std::size_t>(s.count()));
    for (double& u : v) u = static_cast<double>(rng() >> 11) * 0x1p-52 - 1;
    return from_span<double>(v, s);
  };
  Tensors t;
  for (const Type& k : like) {
    if (is_complex(k.dtype)) {
      const Tensor re = draw(k.shape), im = draw(k.shape);
      t.push_back(cast(complex(re, im), k.dtype));
    } else {
      t.push_back(cast(draw(k.shape), k.dtype));
    }
  }
  return t;
}
Tensors random_like(const Tensors& like, std::mt19937_64& rng) {
  std::vector<Type> types;
  for (const Tensor& t : like) types.push_back(t.type());
  return random_like(std::span<const Type>(types), rng);
}

Numbers numbers(const Tensor& t) { return cast(t, Dtype::c128).to_vector<c128>(); }
double inner(const Tensors& a, const Tensors& b) {
  long double s = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Numbers x = numbers(a[k]), y = numbers(b[k]);
    for (std::size_t i = 0; i < x.size(); ++i)
      s += static_cast<long double>(x[i].real()) * y[i].real() +
           static_cast<long double>(x[i].imag()) * y[i].imag();
  }
  return static_cast<double>(s);
}
double magnitude(const Tensors& a, const Tensors& b) {
  double s = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Numbers x = numbers(a[k]), y = numbers(b[k]);
    for (std::size_t i = 0; i < x.size(); ++i) s += std::abs(x[i]) * std::abs(y[i]);
  }
  return s;
}
double largest(const Numbers& v) {
  double m = 0;
  for (const c128& z : v)
    if (const double size = std::abs(z); std::isfinite(size)) m = std::max(m, size);
  return m;
}
Tensors moved(const Tensors& x, const Tensors& t, double h) {
  Tensors y;
  for (std::size_t k = 0; k < x.size(); ++k) y.push_back(x[k] + t[k] * h);
  return y;
}
bool single_precision(const Tensors& x) {
  return std::any_of(x.begin(), x.end(),
                     [](const Tensor& t) { return size_of(real_of(t.dtype())) == 4; });
}
double epsilon(const Tensors& x) {
  return single_precision(x) ? std::numeric_limits<float>::epsilon()
                             : std::numeric_limits<double>::epsilon();
}
std::string position(const Shape& s, Index i) {
  Shape at = s;
  for (int k = s.size() - 1; k >= 0; --k) {
    at[k] = i % s[k];
    i /= s[k];
  }
  return to_string(at);
}

FlatFunction derivative_of(const FlatFunction& f, const Tensors& t) {
  return [f, t](const Tensors& x) { return jvp_flat(f, x, t).second; };
}
FlatFunction pullback_of(const FlatFunction& f, const Tensors& c) {
  return [f, c](const Tensors& x) { return pull(linearize_flat("vjp", f, x), c); };
}

void Comparison::number(c128 got, c128 expected, double tolerance, const std::string& what,
                        const std::function<std::string()>& where, const std::string& note) {
  // Infinities fit where they are equal alone: a tolerance that follows them would take anything.
  const double difference = got == expected ? 0 : std::abs(got - expected);
  const bool settled = std::isfinite(difference), fits = settled && difference <= tolerance;
  const double ratio = fits      ? (tolerance > 0 ? difference / tolerance : 0)
                       : settled ? std::max(difference / tolerance, 1.0)
                                 : INFINITY;
  ++report_.comparisons;
  if (!(ratio > worst_) && (fits || !report_.passed)) return;
  worst_ = ratio;
  report_.passed = fits;
  report_.what = what;
  report_.where = where();
  report_.note = note;
  report_.expected = expected, report_.got = got;
  report_.difference = difference, report_.tolerance = tolerance;
}

void Comparison::tensors(const Tensors& got, const Tensors& expected, double rtol, double atol,
                         const std::string& what, const std::string& along) {
  if (got.size() != expected.size())
    fail(report_.check.c_str(), what + ": " + std::to_string(got.size()) + " results for " +
                                    std::to_string(expected.size()));
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k].type() != expected[k].type())
      fail(report_.check.c_str(), what + ": result " + std::to_string(k) + " is a " +
                                      to_string(got[k].type()) + ", expected a " +
                                      to_string(expected[k].type()));
    const Numbers x = numbers(got[k]), y = numbers(expected[k]);
    const bool exact = !is_inexact(got[k].dtype());
    const double tolerance = exact ? 0 : rtol * std::max(largest(x), largest(y)) + atol;
    for (std::size_t i = 0; i < x.size(); ++i)
      number(x[i], y[i], tolerance, what, [&] {
        return "result " + std::to_string(k) + " at " +
               position(got[k].shape(), static_cast<Index>(i)) + along;
      });
    if (exact)  // doubles do not hold all 64-bit integers
      number(sum(cast(not_equal(got[k], expected[k]), Dtype::f64)).item(), 0, 0, what,
             [&] { return "elements that differ in result " + std::to_string(k) + along; });
  }
}

void for_orders(const FlatFunction& f, const Tensors& x, int orders, std::mt19937_64& rng,
                const std::function<void(const std::string&, const FlatFunction&)>& test) {
  std::vector<std::pair<std::string, FlatFunction>> level{{"", f}};
  for (int order = 1; order <= orders; ++order) {
    std::vector<std::pair<std::string, FlatFunction>> next;
    for (const auto& [name, g] : level) {
      test(name, g);
      if (order == orders) continue;
      next.emplace_back("derivative of jvp: " + name, derivative_of(g, random_like(x, rng)));
      next.emplace_back("derivative of vjp: " + name, pullback_of(g, random_like(g(x), rng)));
    }
    level = std::move(next);
  }
}

}  // namespace detail

std::string to_string(const CheckReport& r) {
  const auto show = [](c128 z) {
    char text[80];
    if (z.imag() == 0)
      std::snprintf(text, sizeof text, "%.10g", z.real());
    else
      std::snprintf(text, sizeof text, "%.10g%+.10gi", z.real(), z.imag());
    return std::string(text);
  };
  std::string s = r.check + (r.passed ? " passed" : " failed") + " (" +
                  std::to_string(r.comparisons) + " comparisons)";
  if (r.comparisons == 0) return s;
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, " (difference %.3g, tolerance %.3g)", r.difference,
                r.tolerance);
  s += std::string(r.passed ? "; nearest to its tolerance: " : ": ") + r.what + ", " + r.where +
       ": expected " + show(r.expected) + ", got " + show(r.got) + numbers;
  if (!r.note.empty()) s += "\n  " + r.note;
  return s;
}

}  // namespace tessera
