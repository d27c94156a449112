// SPDX-License-Identifier: Apache-2.0
//
// Rows of indexing, sorting and running sums.
#include "op_table.h"
#include "tessera/autodiff/ops/segment.h"
#include "tessera/autodiff/ops/window.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::table {
namespace {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;

/// x [2, n + 1, 3], indices [2, 4] (or n of them), updates [2, 4, 3].
Inputs scattered(Dtype index, bool updates, bool distinct = false) {
  return [=](Dtype t, Index n, Rng& rng) {
    const Index k = n <= 8 ? 4 : 7 * n;
    Tensors in = {
        distinct ? distinct_tensor(t, {2, n + 1, 3}, rng) : uniform_tensor(t, {2, n + 1, 3}, rng),
        index_tensor({2, k}, n + 1, rng, index)};
    if (updates)
      in.push_back(distinct ? contiguous(slice(distinct_tensor(t, {2, k + n + 1, 3}, rng), 1, 0, k))
                            : uniform_tensor(t, {2, k, 3}, rng));
    if (distinct && is_inexact(t)) in[2] = in[2] + 0.15;  // apart from x too
    return in;
  };
}
Oracle scatter_loop(std::function<Wide(Wide, Wide)> combine) {
  return [combine](const Arrays& in) {
    Array y = in[0];
    const Index k = in[1].shape[1];
    for (Index b = 0; b < 2; ++b)
      for (Index i = 0; i < k; ++i)
        for (Index r = 0; r < 3; ++r) {
          Wide& at = y.at(b, static_cast<Index>(in[1][b * k + i].real()), r);
          at = combine(at, in[2].at(b, i, r));
        }
    return Arrays{y};
  };
}
/// Each line along the last axis by a function of the line.
Oracle lines(std::function<std::vector<Wide>(const std::vector<Wide>&)> f) {
  return [f](const Arrays& in) {
    Array y(in[0].shape);
    const Index n = in[0].shape.back();
    for (Index r = 0; n && r < in[0].size() / n; ++r) {
      const auto out = f({in[0].v.begin() + r * n, in[0].v.begin() + (r + 1) * n});
      std::copy(out.begin(), out.end(), y.v.begin() + r * n);
    }
    return Arrays{y};
  };
}

/// How many windows there are along n elements.
Index windows_of(const Window& w, Index n) {
  const Index room = n + w.low[0] + w.high[0] - (w.size[0] - 1) * w.dilation[0];
  return room <= 0 ? 0 : (room - 1) / w.stride[0] + 1;
}

/// Each window over the last axis of x [2, n] by a fold of its elements.
Oracle windows(Window w, std::function<Wide(Wide, Wide)> combine) {
  return [=](const Arrays& in) {
    const Index n = in[0].shape[1], size = w.size[0], stride = w.stride[0], low = w.low[0],
                dilation = w.dilation[0];
    const Index m = (n + low + w.high[0] - 1 - (size - 1) * dilation) / stride + 1;
    Array y(Shape{2, m});
    for (Index r = 0; r < 2; ++r)
      for (Index o = 0; o < m; ++o) {
        bool first = true;
        for (Index j = 0; j < size; ++j) {
          const Index i = o * stride + j * dilation - low;
          if (i < 0 || i >= n) continue;
          y[r * m + o] = first ? in[0][r * n + i] : combine(y[r * m + o], in[0][r * n + i]);
          first = false;
        }
      }
    return Arrays{y};
  };
}

/// Philox4x32-10 of the counter `block` on 64-bit halves, written from the paper's figure of one
/// round.
std::array<std::uint64_t, 4> philox_words(std::uint64_t key0, std::uint64_t key1,
                                          std::uint64_t block) {
  std::uint64_t l0 = 0, r0 = block, l1 = 0, r1 = 0;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * r0, p1 = 0xCD9E8D57ull * r1;
    const std::uint64_t n0 = (p1 >> 32) ^ l0 ^ key0, n1 = (p0 >> 32) ^ l1 ^ key1;
    r0 = n0, l0 = p1 & 0xffffffff, r1 = n1, l1 = p0 & 0xffffffff;
    key0 = (key0 + 0x9E3779B9) & 0xffffffff, key1 = (key1 + 0xBB67AE85) & 0xffffffff;
  }
  return {r0, l0, r1, l1};
}

}  // namespace

void index_rows(std::vector<Row>& rows) {
  auto gathered = [](const Arrays& in) {
    const Index k = in[1].shape[1];
    Array y(Shape{2, k, 3});
    for (Index b = 0; b < 2; ++b)
      for (Index i = 0; i < k; ++i)
        for (Index r = 0; r < 3; ++r)
          y.at(b, i, r) = in[0].at(b, static_cast<Index>(in[1][b * k + i].real()), r);
    return Arrays{y};
  };
  for (Dtype index : {Dtype::i64, Dtype::i32})
    rows.push_back({.primitive = "gather",
                    .variant = std::string("batched, ") + name_of(index),
                    .dtypes = kAny,
                    .inputs = scattered(index, false),
                    .f = [](const Tensors& x) { return Tensors{gather(x[0], x[1], 1)}; },
                    .oracle = gathered,
                    .tolerance = 0,
                    .large = 3000});
  rows.push_back({.primitive = "gather",
                  .variant = "single elements",
                  .dtypes = kAny,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{uniform_tensor(t, {n}, rng), index_tensor({2, n}, n, rng)};
                      },
                  .f = [](const Tensors& x) { return Tensors{take(x[0], x[1])}; },
                  .oracle =
                      [](const Arrays& in) {
                        Array y(in[1].shape);
                        for (Index i = 0; i < y.size(); ++i)
                          y[i] = in[0][static_cast<Index>(in[1][i].real())];
                        return Arrays{y};
                      },
                  .tolerance = 0,
                  .large = 70000});
  auto row = [&](const char* name, DtypeSet types, Tensor (*f)(Arg, Arg, Arg, int),
                 std::function<Wide(Wide, Wide)> combine, bool distinct) {
    rows.push_back({.primitive = name,
                    .variant = "batched",
                    .dtypes = types,
                    .inputs = scattered(Dtype::i64, true, distinct),
                    .f = [f](const Tensors& x) { return Tensors{f(x[0], x[1], x[2], 1)}; },
                    .oracle = scatter_loop(combine),
                    .large = 3000});
  };
  row(
      "scatter_add", kNumber, scatter_add, [](Wide a, Wide b) { return a + b; }, false);
  row(
      "scatter_set", kAny, scatter_set, [](Wide, Wide b) { return b; }, false);
  row(
      "scatter_max", kReal | kInteger, scatter_max,
      [](Wide a, Wide b) { return a.real() < b.real() ? b : a; }, true);
  row(
      "scatter_min", kReal | kInteger, scatter_min,
      [](Wide a, Wide b) { return b.real() < a.real() ? b : a; }, true);
  rows.push_back({.primitive = "scatter_add",
                  .variant = "many to few",
                  .dtypes = kNumber,
                  .inputs =
                      [](Dtype t, Index n, Rng& rng) {
                        return Tensors{
                            uniform_tensor(t, {5}, rng, 0, 1), index_tensor({n}, 5, rng),
                            t == Dtype::u8 ? zeros({n}, t) : uniform_tensor(t, {n}, rng)};
                      },
                  .f = [](const Tensors& x) { return Tensors{scatter_add(x[0], x[1], x[2])}; },
                  .oracle =
                      [](const Arrays& in) {
                        Array y = in[0];
                        for (Index i = 0; i < in[1].size(); ++i)
                          y[static_cast<Index>(in[1][i].real())] += in[2][i];
                        return Arrays{y};
                      },
                  .large = 300000});
  auto segmented = [&](const char* name, const char* variant, DtypeSet types,
                       Tensor (*f)(Arg, Arg, Index), Wide none,
                       std::function<Wide(Wide, Wide)> combine, bool distinct) {
    rows.push_back(
        {.primitive = name,
         .variant = variant,
         .dtypes = types,
         .inputs =
             [distinct](Dtype t, Index n, Rng& rng) {
               const Shape s = {n <= 8 ? 2 * n + 2 : n, 2};
               // each segment has rows
               const Tensor ids =
                   concatenate({arange(s[0] / 2), index_tensor({s[0] - s[0] / 2}, s[0] / 2, rng)});
               return Tensors{distinct ? distinct_tensor(t, s, rng) : uniform_tensor(t, s, rng),
                              ids};
             },
         .f = [f](const Tensors& x) { return Tensors{f(x[0], x[1], x[0].dim(0) / 2)}; },
         .oracle =
             [none, combine](const Arrays& in) {
               Array y(Shape{in[1].size() / 2, 2});
               std::fill(y.v.begin(), y.v.end(), none);
               for (Index i = 0; i < in[0].size(); ++i) {
                 Wide& at = y[2 * static_cast<Index>(in[1][i / 2].real()) + i % 2];
                 at = combine(at, in[0][i]);
               }
               return Arrays{y};
             },
         .large = 70000});
  };
  const auto larger = [](Wide a, Wide b) { return a.real() < b.real() ? b : a; };
  segmented(
      "scatter_add", "segment_sum", kNumber, segment_sum, 0, [](Wide a, Wide b) { return a + b; },
      false);
  segmented(
      "scatter_set", "segment_prod", kNumber, segment_prod, 1, [](Wide a, Wide b) { return a * b; },
      false);
  segmented("scatter_max", "segment_max", kReal | kInteger, segment_max, -1e30L, larger, true);
  const Window shapes[] = {{.size = {3}, .stride = {1}, .low = {1}, .high = {1}, .dilation = {1}},
                           {.size = {2}, .stride = {2}, .low = {0}, .high = {0}, .dilation = {1}},
                           {.size = {3}, .stride = {2}, .low = {2}, .high = {3}, .dilation = {2}},
                           {.size = {2}, .stride = {3}, .low = {0}, .high = {1}, .dilation = {1}}};
  for (const Window& w : shapes) {
    const std::string variant = "size " + std::to_string(w.size[0]) + ", stride " +
                                std::to_string(w.stride[0]) + ", dilation " +
                                std::to_string(w.dilation[0]);
    auto pooled = [&](const char* name, DtypeSet types, Tensor (*f)(Arg, const Window&),
                      std::function<Wide(Wide, Wide)> combine, bool distinct) {
      rows.push_back({.primitive = name,
                      .variant = variant,
                      .dtypes = types,
                      .inputs =
                          [distinct](Dtype t, Index n, Rng& rng) {
                            const Shape s = {2, n + 6};
                            return Tensors{distinct ? distinct_tensor(t, s, rng)
                                                    : uniform_tensor(t, s, rng)};
                          },
                      .f = [f, w](const Tensors& x) { return Tensors{f(x[0], w)}; },
                      .oracle = windows(w, combine),
                      .large = 50000});
    };
    pooled(
        "window_sum", kNumber, window_sum, [](Wide a, Wide b) { return a + b; }, false);
    pooled("window_argmax", kReal | kInteger, window_max, larger, true);
    pooled(
        "window_argmin", kReal | kInteger, window_min,
        [](Wide a, Wide b) { return b.real() < a.real() ? b : a; }, true);
    pooled("window_pick", kReal | kInteger, window_max, larger, true);
    rows.push_back(
        {.primitive = "window_put",
         .variant = variant,
         .dtypes = kReal,
         .inputs =
             [w](Dtype t, Index n, Rng& rng) {
               return Tensors{uniform_tensor(t, {2, windows_of(w, n + 6)}, rng)};
             },
         .f =
             [w](const Tensors& u) {
               Index n = 0;
               while (windows_of(w, n) < u[0].dim(1)) ++n;
               const Tensor x = broadcast_to(sin(arange(n, u[0].dtype()) * 1.7), {2, n});
               return Tensors{
                   vjp([&](const Tensor& z) { return window_max(z, w); }, x).second(u[0])};
             },
         .oracle =
             [w](const Arrays& in) {
               const Index m = in[0].shape[1];
               Index n = 0;
               while (windows_of(w, n) < m) ++n;
               Array x(Shape{2, n});
               for (Index r = 0; r < 2; ++r)
                 for (Index o = 0; o < m; ++o) {
                   Index best = -1;
                   for (Index j = 0; j < w.size[0]; ++j) {
                     const Index i = o * w.stride[0] + j * w.dilation[0] - w.low[0];
                     if (i >= 0 && i < n &&
                         (best < 0 || std::sin(1.7 * double(i)) > std::sin(1.7 * double(best))))
                       best = i;
                   }
                   x[r * n + best] += in[0][r * m + o];
                 }
               return Arrays{x};
             },
         .large = 50000});
  }
  for (bool right : {false, true})
    rows.push_back(
        {.primitive = "searchsorted",
         .variant = right ? "right" : "left",
         .dtypes = kReal | kInteger,
         .inputs =
             [](Dtype t, Index n, Rng& rng) {
               return Tensors{sort(uniform_tensor(
                                  is_complex(t) || t == Dtype::boolean ? Dtype::f64 : t, {n}, rng)),
                              uniform_tensor(t, {2 * n}, rng)};
             },
         .f = [right](const Tensors& x) { return Tensors{searchsorted(x[0], x[1], right)}; },
         .oracle =
             [right](const Arrays& in) {
               Array y(in[1].shape);
               for (Index i = 0; i < y.size(); ++i)
                 for (const Wide& s : in[0].v)
                   y[i] += right ? s.real() <= in[1][i].real() : s.real() < in[1][i].real();
               return Arrays{y};
             },
         .tolerance = 0,
         .large = 20000,
         .differentiable = false});
  auto random = [&](const char* variant, Tensor (*f)(const Tensor&), int words,
                    std::function<long double(const std::uint64_t*, Index)> g, double tolerance) {
    rows.push_back({.primitive = "random",
                    .variant = variant,
                    .dtypes = set_of(Dtype::u32),
                    .inputs =
                        [](Dtype t, Index n, Rng& rng) {
                          return Tensors{uniform_tensor(t, {n <= 8 ? 3 : n, 2}, rng, 0, 1e5)};
                        },
                    .f = [f](const Tensors& x) { return Tensors{f(x[0])}; },
                    .oracle =
                        [words, g](const Arrays& in) {
                          Array y(Shape{3, 10, 3});
                          for (Index k = 0; k < 3; ++k)
                            for (Index i = 0; i < 30; ++i) {
                              const Index per_block =
                                  4 / words;  // elements one block of words gives
                              const auto w =
                                  philox_words(static_cast<std::uint64_t>(in[0][2 * k].real()),
                                               static_cast<std::uint64_t>(in[0][2 * k + 1].real()),
                                               static_cast<std::uint64_t>(i / per_block));
                              y[k * 30 + i] = g(w.data(), i % per_block);
                            }
                          return Arrays{y};
                        },
                    .tolerance = tolerance,
                    .large = 3000,
                    .differentiable = false});
  };
  auto unit = [](std::uint64_t high, std::uint64_t low) {
    return std::ldexp(static_cast<long double>((high << 32 | low) >> 11), -53);
  };
  random(
      "bits",
      [](const Tensor& k) {
        return random_bits(k, {10, 3});
      },
      1, [](const std::uint64_t* w, Index i) { return static_cast<long double>(w[i]); }, 0);
  random(
      "uniform f64",
      [](const Tensor& k) {
        return uniform(k, {10, 3});
      },
      2, [unit](const std::uint64_t* w, Index i) { return unit(w[2 * i], w[2 * i + 1]); }, 0);
  random(
      "uniform f32",
      [](const Tensor& k) {
        return uniform(k, {10, 3}, Dtype::f32);
      },
      1,
      [](const std::uint64_t* w, Index i) {
        return std::ldexp(static_cast<long double>(w[i] >> 8), -24);
      },
      0);
  for (bool falling : {false, true}) {
    rows.push_back(
        {.primitive = "argsort",
         .variant = falling ? "falling" : "rising",
         .dtypes = kReal | kInteger | kBool,
         .inputs = elements(1, -1, 1),
         .f = [falling](const Tensors& x) { return Tensors{argsort(x[0], -1, falling)}; },
         .oracle = lines([falling](const std::vector<Wide>& v) {
           std::vector<Wide> order(v.size());
           for (std::size_t i = 0; i < v.size(); ++i) {  // rank: how many come before element i
             std::size_t rank = 0;
             for (std::size_t k = 0; k < v.size(); ++k) {
               const bool before = falling ? v[k].real() > v[i].real() : v[k].real() < v[i].real();
               rank += before || (v[k] == v[i] && k < i);
             }
             order[rank] = static_cast<long double>(i);
           }
           return order;
         }),
         .tolerance = 0,
         .differentiable = false});
    rows.push_back({.primitive = "argsort",
                    .variant = falling ? "sorted values, falling" : "sorted values, rising",
                    .dtypes = kReal | kInteger | kBool,
                    .inputs = distinct_elements(1),
                    .f = [falling](const Tensors& x) { return Tensors{sort(x[0], 0, falling)}; },
                    .oracle =
                        [falling](const Arrays& in) {
                          Array y = in[0];
                          const Index m = y.rows(), n = y.cols();
                          for (Index j = 0; j < n; ++j) {
                            std::vector<long double> v;
                            for (Index i = 0; i < m; ++i) v.push_back(in[0].at(0, i, j).real());
                            std::sort(v.begin(), v.end());
                            if (falling) std::reverse(v.begin(), v.end());
                            for (Index i = 0; i < m; ++i)
                              y.at(0, i, j) = v[static_cast<std::size_t>(i)];
                          }
                          return Arrays{y};
                        },
                    .tolerance = 0});
    rows.push_back({.primitive = "cumsum",
                    .variant = falling ? "backwards" : "forwards",
                    .dtypes = kNumber,
                    .inputs = elements(1, 0, 1),
                    .f = [falling](const Tensors& x) { return Tensors{cumsum(x[0], -1, falling)}; },
                    .oracle = lines([falling](const std::vector<Wide>& v) {
                      std::vector<Wide> y(v.size());
                      Wide s = 0;
                      for (std::size_t i = 0; i < v.size(); ++i) {
                        const std::size_t k = falling ? v.size() - 1 - i : i;
                        y[k] = s += v[k];
                      }
                      return y;
                    }),
                    .large = 300000});
  }
}

}  // namespace tessera::table
