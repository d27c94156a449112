// SPDX-License-Identifier: Apache-2.0
//
// Rows of Fourier, cosine and sine transforms against their sums, term by term in long double.
#include "op_table.h"
#include "tessera/autodiff/ops/fft.h"

#include <cmath>
#include <numbers>

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;
using LD = long double;

Wide turn(LD fraction) {
  const LD angle = 2 * std::numbers::pi_v<LD> * fraction;
  return {std::cos(angle), std::sin(angle)};
}
/// sum_j x_j e^{sign 2 pi i j k / n}, k = 0 ... count - 1, along the last axis.
Array dft(const Array& x, int sign, Index count) {
  const Index n = x.shape.back();
  Shape s = x.shape;
  s[s.size() - 1] = count;
  Array y(s);
  for (Index r = 0; r < x.size() / n; ++r)
    for (Index k = 0; k < count; ++k)
      for (Index j = 0; j < n; ++j)
        y[r * count + k] +=
            x[r * n + j] * turn(static_cast<LD>(sign * (j * k % n)) / static_cast<LD>(n));
  return y;
}
Array transposed(const Array& a) {
  Shape s = a.shape;
  std::swap(s[s.size() - 1], s[s.size() - 2]);
  Array y(s);
  for (Index q = 0; q < a.batch(); ++q)
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j) y.at(q, j, i) = a.at(q, i, j);
  return y;
}
/// The matrix of the type, as the header writes it.
LD basis(bool sine, int type, Index j, Index k, Index n) {
  const LD pi = std::numbers::pi_v<LD>, J = static_cast<LD>(j), K = static_cast<LD>(k),
           N = static_cast<LD>(n);
  if (!sine) {
    if (type == 1) return (j == 0 || j == n - 1 ? 1 : 2) * std::cos(pi * J * K / (N - 1));
    if (type == 2) return 2 * std::cos(pi * (J + 0.5L) * K / N);
    if (type == 3) return (j == 0 ? 1 : 2) * std::cos(pi * J * (K + 0.5L) / N);
    return 2 * std::cos(pi * (J + 0.5L) * (K + 0.5L) / N);
  }
  if (type == 1) return 2 * std::sin(pi * (J + 1) * (K + 1) / (N + 1));
  if (type == 2) return 2 * std::sin(pi * (J + 0.5L) * (K + 1) / N);
  if (type == 3) return (j == n - 1 ? 1 : 2) * std::sin(pi * (J + 1) * (K + 0.5L) / N);
  return 2 * std::sin(pi * (J + 0.5L) * (K + 0.5L) / N);
}

}  // namespace

void fft_rows(std::vector<Row>& rows) {
  const auto shaped = [](Index extra) {
    return [extra](Dtype t, Index n, Rng& rng) {
      return Tensors{uniform_tensor(t, {2, 3, n + extra}, rng)};
    };
  };
  for (bool inverse : {false, true}) {
    rows.push_back(
        {.primitive = "fft",
         .variant = inverse ? "inverse" : "forward",
         .dtypes = kComplex,
         .inputs = shaped(2),
         .f = [inverse](const Tensors& x) { return Tensors{inverse ? ifft(x[0]) : fft(x[0])}; },
         .oracle =
             [inverse](const Arrays& in) {
               Array y = dft(in[0], inverse ? 1 : -1, in[0].cols());
               if (inverse)
                 for (Wide& z : y.v) z /= static_cast<LD>(in[0].cols());
               return Arrays{y};
             },
         .large = 30000});
    rows.push_back({.primitive = "fft",
                    .variant = inverse ? "inverse, two axes" : "forward, two axes",
                    .dtypes = kComplex,
                    .inputs = shaped(0),
                    .f =
                        [inverse](const Tensors& x) {
                          return Tensors{inverse ? ifftn(x[0], {-1, 1}, {}, Norm::forward)
                                                 : fftn(x[0], {1, 2})};
                        },
                    .oracle =
                        [inverse](const Arrays& in) {
                          const int sign = inverse ? 1 : -1;
                          const Array y = transposed(dft(in[0], sign, in[0].cols()));
                          return Arrays{transposed(dft(y, sign, y.cols()))};
                        },
                    .large = 500});
  }
  for (Index extra : {1, 2}) {  // odd and even lengths
    const std::string variant = extra % 2 ? "n + 1 points" : "n + 2 points";
    rows.push_back(
        {.primitive = "rfft",
         .variant = variant,
         .dtypes = kReal,
         .inputs = shaped(extra),
         .f = [](const Tensors& x) { return Tensors{rfft(x[0])}; },
         .oracle = [](const Arrays& in) { return Arrays{dft(in[0], -1, in[0].cols() / 2 + 1)}; },
         .large = 30000});
    rows.push_back({.primitive = "irfft",
                    .variant = variant,
                    .dtypes = kComplex,
                    .inputs =
                        [extra](Dtype t, Index n, Rng& rng) {
                          return Tensors{uniform_tensor(t, {2, 3, (n + extra) / 2 + 1}, rng)};
                        },
                    .f =
                        [extra](const Tensors& x) {
                          return Tensors{irfft(x[0], 2 * (x[0].dim(-1) - 1) + extra % 2)};
                        },
                    .oracle =
                        [extra](const Arrays& in) {
                          const Index half = in[0].cols(), n = 2 * (half - 1) + extra % 2;
                          Array y(Shape{2, 3, n});
                          for (Index r = 0; r < 6; ++r)
                            for (Index j = 0; j < n; ++j)
                              for (Index k = 0; k < half; ++k) {
                                const LD weight = k == 0 || 2 * k == n ? 1 : 2;
                                y[r * n + j] +=
                                    weight *
                                    (in[0][r * half + k] *
                                     turn(static_cast<LD>(j * k % n) / static_cast<LD>(n)))
                                        .real() /
                                    static_cast<LD>(n);
                              }
                          return Arrays{y};
                        },
                    .large = 30000});
  }
  for (bool sine : {false, true})
    for (int type = 1; type <= 4; ++type)
      rows.push_back(
          {.primitive = "dct_dst",
           .variant = std::string(sine ? "sine " : "cosine ") + std::to_string(type),
           .dtypes = kReal,
           .inputs = shaped(1),
           .f = [sine, type](
                    const Tensors& x) { return Tensors{sine ? dst(x[0], type) : dct(x[0], type)}; },
           .oracle =
               [sine, type](const Arrays& in) {
                 Array y(in[0].shape);
                 const Index n = y.cols();
                 for (Index r = 0; r < 6; ++r)
                   for (Index k = 0; k < n; ++k)
                     for (Index j = 0; j < n; ++j)
                       y[r * n + k] += basis(sine, type, j, k, n) * in[0][r * n + j];
                 return Arrays{y};
               },
           .tolerance = 16,
           .large = 30000});
}

}  // namespace tessera::table
