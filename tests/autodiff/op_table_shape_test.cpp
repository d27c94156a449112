// SPDX-License-Identifier: Apache-2.0
//
// Rows of rearrangements and reductions.
#include "op_table.h"

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

/// Element numbers of `s` as positions along its axes.
std::vector<Index> position(Index i, const Shape& s) {
  std::vector<Index> at(static_cast<std::size_t>(s.size()));
  for (int d = s.size() - 1; d >= 0; --d) at[d] = i % s[d], i /= s[d];
  return at;
}
Index number(const std::vector<Index>& at, const Shape& s) {
  Index i = 0;
  for (int d = 0; d < s.size(); ++d) i = i * s[d] + at[d];
  return i;
}
/// out[p] = in[from(p)], or 0 where `from` gives nothing.
Array moved(const Array& in, const Shape& shape,
            const std::function<std::optional<std::vector<Index>>(std::vector<Index>)>& from) {
  Array y(shape);
  for (Index i = 0; i < y.size(); ++i)
    if (const auto at = from(position(i, shape))) y[i] = in[number(*at, in.shape)];
  return y;
}
Inputs block(bool distinct = false) {
  return [=](Dtype t, Index n, Rng& rng) {
    const Shape s = n <= 8 ? Shape{2, n, 4} : Shape{n, 40};
    return Tensors{distinct ? distinct_tensor(t, s, rng) : uniform_tensor(t, s, rng)};
  };
}
/// A reduction over axis 1 of [2, n, 4] (or of [n, 40]) by a loop.
Oracle along_axis1(std::function<Wide(const std::vector<Wide>&)> f) {
  return [f](const Arrays& in) {
    Shape s = in[0].shape;
    const Index n = s[1];
    s.erase(1);
    Array y(s);
    for (Index i = 0; i < y.size(); ++i) {
      std::vector<Index> at = position(i, s);
      at.insert(at.begin() + 1, 0);
      std::vector<Wide> line;
      for (Index k = 0; k < n; ++k) {
        at[1] = k;
        line.push_back(in[0][number(at, in[0].shape)]);
      }
      y[i] = f(line);
    }
    return Arrays{y};
  };
}

}  // namespace

void shape_rows(std::vector<Row>& rows) {
  rows.push_back({.primitive = "reshape",
                  .dtypes = kAny,
                  .inputs = block(),
                  .f = [](const Tensors& x) { return Tensors{reshape(x[0], {-1})}; },
                  .oracle =
                      [](const Arrays& in) {
                        Array y(Shape{in[0].size()});
                        y.v = in[0].v;
                        return Arrays{y};
                      },
                  .tolerance = 0});
  rows.push_back({.primitive = "reshape",
                  .variant = "of a transposed view",
                  .dtypes = kAny,
                  .inputs = block(),
                  .f = [](const Tensors& x) { return Tensors{reshape(transpose(x[0]), {-1})}; },
                  .oracle =
                      [](const Arrays& in) {
                        Array y(Shape{in[0].size()});
                        Index i = 0;
                        for (Index a = 0; a < in[0].batch(); ++a)
                          for (Index c = 0; c < in[0].cols(); ++c)
                            for (Index b = 0; b < in[0].rows(); ++b) y[i++] = in[0].at(a, b, c);
                        return Arrays{y};
                      },
                  .tolerance = 0,
                  .large = 2000});
  rows.push_back({.primitive = "transpose",
                  .dtypes = kAny,
                  .inputs = block(),
                  .f =
                      [](const Tensors& x) {
                        return Tensors{transpose(x[0], {2, 0, 1})};
                      },
                  .oracle =
                      [](const Arrays& in) {
                        const Shape s = in[0].shape;
                        return Arrays{moved(in[0], {s[2], s[0], s[1]}, [](auto p) {
                          return std::vector{p[1], p[2], p[0]};
                        })};
                      },
                  .tolerance = 0});
  rows.push_back({.primitive = "broadcast",
                  .dtypes = kAny,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{uniform_tensor(t, {n, 1}, rng)};
                      },
                  .f =
                      [](const Tensors& x) {
                        return Tensors{broadcast_in_dim(x[0], {2, x[0].dim(0), 3, 4}, {1, 3})};
                      },
                  .oracle =
                      [](const Arrays& in) {
                        return Arrays{moved(in[0], {2, in[0].shape[0], 3, 4}, [](auto p) {
                          return std::vector<Index>{p[1], 0};
                        })};
                      },
                  .tolerance = 0});
  rows.push_back({.primitive = "slice",
                  .dtypes = kAny,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{uniform_tensor(t, {n + 4, 7}, rng)};
                      },
                  .f =
                      [](const Tensors& x) {
                        return Tensors{slice(x[0], {1, 0}, {x[0].dim(0) - 1, 6}, {2, 3})};
                      },
                  .oracle =
                      [](const Arrays& in) {
                        return Arrays{moved(in[0], {(in[0].shape[0] - 1) / 2, 2}, [](auto p) {
                          return std::vector<Index>{1 + 2 * p[0], 3 * p[1]};
                        })};
                      },
                  .tolerance = 0});
  rows.push_back({.primitive = "reverse",
                  .dtypes = kAny,
                  .inputs = block(),
                  .f =
                      [](const Tensors& x) {
                        return Tensors{reverse(x[0], {0, 2})};
                      },
                  .oracle =
                      [](const Arrays& in) {
                        const Shape s = in[0].shape;
                        return Arrays{moved(in[0], s, [s](auto p) {
                          return std::vector{s[0] - 1 - p[0], p[1], s[2] - 1 - p[2]};
                        })};
                      },
                  .tolerance = 0});
  rows.push_back({.primitive = "pad",
                  .dtypes = kAny,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{uniform_tensor(t, {n, 2}, rng)};
                      },
                  .f =
                      [](const Tensors& x) {
                        return Tensors{pad(x[0], {1, 0}, {2, 3}, {1, 2})};
                      },
                  .oracle =
                      [](const Arrays& in) {
                        const Index n = in[0].shape[0];
                        return Arrays{moved(in[0], {3 + n + n - 1, 3 + 2 + 2},
                                            [n](auto p) -> std::optional<std::vector<Index>> {
                                              const Index i = p[0] - 1, j = p[1];
                                              if (i < 0 || i % 2 || i / 2 >= n || j % 3 ||
                                                  j / 3 >= 2)
                                                return std::nullopt;
                                              return std::vector<Index>{i / 2, j / 3};
                                            })};
                      },
                  .tolerance = 0});
  rows.push_back({.primitive = "concatenate",
                  .dtypes = kAny,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{uniform_tensor(t, {2, n}, rng),
                                       uniform_tensor(t, {2, 2}, rng),
                                       uniform_tensor(t, {2, 1}, rng)};
                      },
                  .f = [](const Tensors& x) { return Tensors{concatenate(x, 1)}; },
                  .oracle =
                      [](const Arrays& in) {
                        const Index n = in[0].shape[1];
                        Array y(Shape{2, n + 3});
                        for (Index i = 0; i < 2; ++i)
                          for (Index j = 0; j < n + 3; ++j)
                            y[i * (n + 3) + j] = j < n       ? in[0][i * n + j]
                                                 : j < n + 2 ? in[1][i * 2 + j - n]
                                                             : in[2][i];
                        return Arrays{y};
                      },
                  .tolerance = 0,
                  .large = 40000});
  rows.push_back({.primitive = "copy",
                  .dtypes = kAny,
                  .inputs = block(),
                  .f = [](const Tensors& x) { return Tensors{contiguous(transpose(x[0]))}; },
                  .oracle =
                      [](const Arrays& in) {
                        Shape s = in[0].shape;
                        std::swap(s[s.size() - 1], s[s.size() - 2]);
                        return Arrays{moved(in[0], s, [](auto p) {
                          std::swap(p[p.size() - 1], p[p.size() - 2]);
                          return p;
                        })};
                      },
                  .tolerance = 0,
                  .large = 2000});

  auto axis1 = [](Tensor (*f)(Arg, const Shape&, bool)) {
    return [f](const Tensors& x) { return Tensors{f(x[0], {1}, false)}; };
  };
  rows.push_back({.primitive = "reduce_sum",
                  .dtypes = kNumber,
                  .inputs = block(),
                  .f = axis1(sum),
                  .oracle = along_axis1([](const std::vector<Wide>& v) {
                    Wide s = 0;
                    for (Wide z : v) s += z;
                    return s;
                  }),
                  .large = 3000});
  for (Index axis : {0, 1})
    rows.push_back(
        {.primitive = "sum_product",
         .variant = axis == 0 ? "leading" : "inner",
         .dtypes = kInexact,
         .inputs =
             [](Dtype t, Index n, Rng& rng) {
               return Tensors{uniform_tensor(t, {n + 2, 5}, rng),
                              uniform_tensor(t, {n + 2, 5}, rng)};
             },
         .f = [axis](const Tensors& x) { return Tensors{sum_product(x[0], x[1], {axis})}; },
         .oracle =
             [axis](const Arrays& in) {
               const Index m = in[0].shape[0], n = in[0].shape[1];
               Array y(Shape{axis == 0 ? n : m});
               for (Index i = 0; i < m; ++i)
                 for (Index j = 0; j < n; ++j)
                   y[axis == 0 ? j : i] += in[0][i * n + j] * in[1][i * n + j];
               return Arrays{y};
             },
         .large = 30000});
  rows.push_back({.primitive = "reduce_sum",
                  .variant = "of everything",
                  .dtypes = kNumber,
                  .inputs = elements(1, -1, 1),
                  .f = [](const Tensors& x) { return Tensors{sum(x[0])}; },
                  .oracle =
                      [](const Arrays& in) {
                        Array y;
                        for (Wide z : in[0].v) y[0] += z;
                        return Arrays{y};
                      },
                  .large = 200000});
  // u8 sums wrap: small values only.
  rows.back().inputs = [](Dtype t, Index n, Rng& rng) {
    return Tensors{t == Dtype::u8 ? uniform_tensor(t, {2, n}, rng, 0, 1)
                                  : uniform_tensor(t, {2, n}, rng)};
  };
  auto extreme = [&](const char* name, Tensor (*f)(Arg, const Shape&, bool), bool largest) {
    rows.push_back({.primitive = name,
                    .dtypes = kReal | kInteger | kBool,
                    .inputs = block(true),
                    .f = axis1(f),
                    .oracle = along_axis1([largest](const std::vector<Wide>& v) {
                      Wide m = v[0];
                      for (Wide z : v)
                        if (largest ? z.real() > m.real() : z.real() < m.real()) m = z;
                      return m;
                    }),
                    .tolerance = 0,
                    .large = 3000});
  };
  extreme("reduce_max", max, true);
  extreme("reduce_min", min, false);
  auto arg = [&](const char* name, Tensor (*f)(Arg, int), bool largest) {
    rows.push_back({.primitive = name,
                    .dtypes = kReal | kInteger | kBool,
                    .inputs = block(true),
                    .f = [f](const Tensors& x) { return Tensors{f(x[0], 1)}; },
                    .oracle = along_axis1([largest](const std::vector<Wide>& v) {
                      std::size_t m = 0;
                      for (std::size_t i = 0; i < v.size(); ++i)
                        if (largest ? v[i].real() > v[m].real() : v[i].real() < v[m].real()) m = i;
                      return Wide(static_cast<long double>(m));
                    }),
                    .tolerance = 0,
                    .large = 3000,
                    .differentiable = false});
  };
  arg("argmax", argmax, true);
  arg("argmin", argmin, false);
}

}  // namespace tessera::table
