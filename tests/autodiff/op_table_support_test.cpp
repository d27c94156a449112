// SPDX-License-Identifier: Apache-2.0
#include "op_table.h"

#include <algorithm>

namespace tessera::table {

Array to_array(const Tensor& t) {
  Array a(t.shape());
  const Dtype d = t.dtype();
  auto fill = [&](const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i) a.v[i] = Wide(values[i]);
  };
  if (is_complex(d)) {
    const auto v = cast(t, Dtype::c128).to_vector<c128>();
    for (std::size_t i = 0; i < v.size(); ++i) a.v[i] = Wide(v[i].real(), v[i].imag());
  } else if (is_float(d))
    fill(cast(t, Dtype::f64).to_vector<double>());
  else {
    const auto v = cast(t, Dtype::i64).to_vector<std::int64_t>();
    for (std::size_t i = 0; i < v.size(); ++i) a.v[i] = static_cast<long double>(v[i]);
  }
  return a;
}

Tensor to_tensor(const Array& a, Dtype dtype) {
  if (is_complex(dtype)) {
    std::vector<c128> v;
    for (const Wide& z : a.v)
      v.emplace_back(static_cast<double>(z.real()), static_cast<double>(z.imag()));
    return cast(from_span<c128>(v, a.shape), dtype);
  }
  std::vector<double> v;
  for (const Wide& z : a.v) v.push_back(static_cast<double>(z.real()));
  return cast(from_span<double>(v, a.shape), dtype);
}

namespace {
/// Large tensors repeat a few thousand elements: they test threads, not values.
constexpr Index kEnough = 4099;
Tensor repeated(const Tensor& x, const Shape& s) {
  return reshape(take(x, rem(arange(s.count()), x.size())), s);
}
}  // namespace

Tensor uniform_tensor(Dtype t, const Shape& s, Rng& rng, double low, double high) {
  if (s.count() > kEnough) return repeated(uniform_tensor(t, {kEnough}, rng, low, high), s);
  Array a(s);
  std::uniform_real_distribution<double> u(low, high);
  for (Wide& z : a.v) {
    if (t == Dtype::boolean)
      z = static_cast<long double>(rng() & 1);
    else if (is_integer(t)) {
      const double scale = low >= 0 ? 10 : 20;  // integers spread over more than two values
      z = std::floor(u(rng) * scale);
      if (t == Dtype::u8 || t == Dtype::u32) z = std::abs(z.real());
    } else
      z = is_complex(t) ? Wide(u(rng), u(rng)) : Wide(u(rng));
  }
  return to_tensor(a, t);
}

Tensor index_tensor(const Shape& s, Index n, Rng& rng, Dtype t) {
  if (s.count() > kEnough) return repeated(index_tensor({kEnough}, n, rng, t), s);
  Array a(s);
  for (Wide& z : a.v) z = static_cast<long double>(rng() % static_cast<std::uint64_t>(n));
  return to_tensor(a, t);
}

Tensor distinct_tensor(Dtype t, const Shape& s, Rng& rng) {
  if (t == Dtype::boolean) return uniform_tensor(t, s, rng);
  if (s.count() > kEnough) return repeated(distinct_tensor(t, {kEnough}, rng), s);
  Array a(s);
  const bool positive = t == Dtype::u8 || t == Dtype::u32, whole = !is_inexact(t);
  for (Index i = 0; i < a.size(); ++i) {
    const long double k = positive ? i : i - a.size() / 2;
    a[i] = whole           ? Wide(k)
           : is_complex(t) ? Wide(0.3L * k + 0.1L, 0.5L - 0.3L * k)
                           : Wide(0.3L * k + 0.1L);
  }
  std::shuffle(a.v.begin(), a.v.end(), rng);
  return to_tensor(a, t);
}
Inputs distinct_elements(int operands) {
  return [=](Dtype t, Index n, Rng& rng) {
    const Shape s = n <= 8 ? Shape{2, n} : Shape{n};
    Shape all = s;
    all.insert(0, operands);
    const Tensor x = distinct_tensor(t, all, rng);
    std::vector<Tensor> out;
    for (int k = 0; k < operands; ++k) out.push_back(contiguous(select(x, 0, k)));
    return out;
  };
}
Oracle loop1(std::function<Wide(Wide)> f) {
  return [f](const std::vector<Array>& in) {
    Array y(in[0].shape);
    for (Index i = 0; i < y.size(); ++i) y[i] = f(in[0][i]);
    return std::vector<Array>{y};
  };
}
Oracle loop2(std::function<Wide(Wide, Wide)> f) {
  return [f](const std::vector<Array>& in) {
    Array y(in[0].shape);
    for (Index i = 0; i < y.size(); ++i) y[i] = f(in[0][i], in[1][i]);
    return std::vector<Array>{y};
  };
}

Inputs elements(int operands, double low, double high) {
  return [=](Dtype t, Index n, Rng& rng) {
    const Shape s = n <= 8 ? Shape{2, n} : Shape{n};
    std::vector<Tensor> x;
    for (int k = 0; k < operands; ++k) x.push_back(uniform_tensor(t, s, rng, low, high));
    return x;
  };
}

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> r;
    elementwise_rows(r);
    shape_rows(r);
    index_rows(r);
    linalg_rows(r);
    attention_rows(r);
    convolution_rows(r);
    fft_rows(r);
    bessel_rows(r);
    eig_rows(r);
    custom_rows(r);
    control_rows(r);
    sparse_rows(r);
    solve_rows(r);
    return r;
  }();
  return rows;
}

}  // namespace tessera::table
