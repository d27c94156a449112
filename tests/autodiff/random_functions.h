// SPDX-License-Identifier: Apache-2.0
//
// Functions drawn at random: a few operations of every kind on values drawn so far, loops and
// branches among them. The seed decides all, so that a function may be run again by every
// transform.
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/flow.h"
#include "tessera/autodiff/ops/segment.h"
#include "tessera/autodiff/ops/window.h"

#include <random>

namespace tessera::fuzz {

using Tensors = std::vector<Tensor>;
using Rng = std::mt19937_64;

inline Index below_of(Rng& rng, Index n) {
  return static_cast<Index>(rng() % static_cast<std::uint64_t>(n));
}

inline Tensor random_tensor(const Type& t, Rng& rng) {
  std::uniform_real_distribution<double> u(-1, 1);
  auto draw = [&] {
    std::vector<double> v(static_cast<std::size_t>(t.shape.count()));
    for (double& x : v) x = u(rng);
    return from_span<double>(v, t.shape);
  };
  const Tensor re = draw(), z = is_complex(t.dtype) ? complex(re, draw()) : re;
  return is_inexact(t.dtype) ? cast(z, t.dtype) : z;
}
inline Tensors random_like(const Tensors& like, std::uint64_t seed) {
  Rng rng(seed);
  Tensors t;
  for (const Tensor& x : like) t.push_back(random_tensor(x.type(), rng));
  return t;
}

/// Cases below that do not compare.
inline constexpr Index arrangement[] = {0,  6,  7,  8,  12, 13, 17, 18, 19, 20, 21, 22,
                                        23, 24, 25, 29, 32, 33, 34, 35, 36, 37, 38};

inline Checkpoint random_policy(Rng& rng) {
  const Index k = 1 + below_of(rng, 3);
  switch (below_of(rng, 5)) {
    case 0:
      return Checkpoint::none();
    case 1:
      return Checkpoint::every(k);
    case 2:
      return Checkpoint::revolve(k);
    case 3:
      return Checkpoint::online(k);
    default:
      return Checkpoint::all();
  }
}
/// A scan over axis 0 of x, which captures y.
inline Tensor scanned(const Tensor& x, const Tensor& y, Rng& rng) {
  const Tensor w = cast(mean(tanh(real(y))), real_of(x.dtype()));
  const ScanOptions o{.reverse = below_of(rng, 2) == 1, .checkpoint = random_policy(rng)};
  const auto [last, all] =
      scan([&](Tensor c, Tensor u) { return std::pair(0.5 * sin(c) * w + u, c * u); },
           0.3 * select(x, 0, 0), x, o);
  return below_of(rng, 2) ? last : all;
}
/// Halved, and turned a little, until small: the number of steps is data, and differs between
/// elements of a batch. What is not finite stays as it is.
inline Tensor shrunk(const Tensor& x, const Tensor& y, Rng& rng) {
  const Tensor w = cast(tanh(mean(real(y))), real_of(x.dtype()));
  const auto large = [](const Tensor& c) {
    const Tensor s = sum(real(c * conj(c)));
    return logical_and(s > 0.2, is_finite(s));
  };
  return while_loop(large, [&](const Tensor& c) { return 0.4 * c + 0.05 * sin(c * w); }, x,
                    {random_policy(rng)});
}
inline Tensor branched(const Tensor& x, const Tensor& y) {
  const Tensor w = cast(mean(real(y)), real_of(x.dtype()));
  return cond(
      sum(real(x)) > 0.1, [&](const Tensor& x) { return sin(x) * w; },
      [&](const Tensor& x) { return x * x + square(w); }, x);
}

/// A sine of the host, whose cosine is one too.
inline Tensor hosted(const Tensor& x) {
  const auto slope = [](const Tensor& z) {
    return host_call({.name = "cosine",
                      .run = [](const Tensors& v) { return Tensors{cos(v[0])}; },
                      .jvp = [](const Tensors& v, const Tensors&,
                                const Tensors& t) { return Tensors{-(sin(v[0]) * t[0])}; }})(
        {z})[0];
  };
  return host_call({.name = "sine",
                    .run = [](const Tensors& v) { return Tensors{sin(v[0])}; },
                    .jvp = [slope](const Tensors& v, const Tensors&,
                                   const Tensors& t) { return Tensors{slope(v[0]) * t[0]}; }})(
      {x})[0];
}

/// One more value made of those so far. Which operation is drawn depends on the shapes and the seed
/// alone.
inline Tensor grow(const Tensors& pool, Rng& rng) {
  const Tensor x = pool[static_cast<std::size_t>(below_of(rng, static_cast<Index>(pool.size())))];
  const Tensor y = pool[static_cast<std::size_t>(below_of(rng, static_cast<Index>(pool.size())))];
  const int nd = x.ndim();
  const int axis = nd ? static_cast<int>(below_of(rng, nd)) : 0;
  const Index n = nd ? x.dim(axis) : 0;
  if (is_complex(x.dtype())) {
    // What has no order, and functions without poles near; the rest are arrangements, which all
    // numbers share.
    switch (below_of(rng, 12)) {
      case 0:
        return sin(x);
      case 1:
        return exp(0.3 * x);
      case 2:
        return conj(x) * x;
      case 3:
        return abs(2.0 + x);
      case 4:
        return real(x);
      case 5:
        return complex(imag(x), sin(real(x)));
      case 6:
        return x / (4.0 + x * conj(x));
      case 7:
        return log(5.0 + x) * sqrt(4.0 + conj(x));
      case 8:
        return nd >= 2 ? matmul(0.3 * x, conj(transpose(x))) : sum(x);
      case 9:
        return x.shape() == y.shape() ? x * y : 0.5 * x;
      default:
        break;
    }
  }
  const bool ordered = !is_complex(x.dtype()) && !is_complex(y.dtype());
  const bool meet = x.shape() == y.shape() || x.ndim() == 0 || y.ndim() == 0;
  switch (ordered ? below_of(rng, 41) : arrangement[below_of(rng, std::size(arrangement))]) {
    case 0:
      return sin(x);
    case 1:
      return tanh(x);
    case 2:
      return logistic(x);
    case 3:
      return exp(-square(x));
    case 4:
      return softplus(x);
    case 5:
      return sqrt(1.0 + square(x));
    case 6:
      return meet ? x + y : cos(x);
    case 7:
      return meet ? x * y : x - 0.3;
    case 8:
      return meet ? x - 2.0 * y : x * 0.5;
    case 9:
      return meet ? x / (2.0 + square(y)) : 1.0 / (2.0 + square(x));
    case 10:
      return meet ? maximum(x, y) : abs(x);
    case 11:
      return meet ? where(x < y, x * x, sin(y)) : where(x < 0.1, x * x, sin(x));
    case 12:
      return nd ? sum(x, {axis}) : pow(x, 3);
    case 13:
      return nd && n ? mean(x, {axis}, true) * x : x;
    case 14:
      return nd && n ? max(x, {axis}) : x;
    case 15:
      return nd && n ? prod(tanh(x), {axis}) : x;
    case 16:
      return nd > 1 ? transpose(x) : erf(x);
    case 17:
      return reshape(x, {-1});
    case 18:
      return nd && n > 1 ? slice(x, axis, 1, n) : x;
    case 19:
      return nd ? slice(x, axis, 0, n, 2) : x;
    case 20:
      return nd && nd < 3 && n < 6 ? concatenate({x, sin(x)}, axis) : x;
    case 21:
      return nd ? reverse(x, {axis}) : x;
    case 22:
      return nd < 3 ? broadcast_to(x,
                                   [&] {
                                     Shape s = x.shape();
                                     s.insert(0, 2);
                                     return s;
                                   }())
                    : x;
    case 23: {
      if (!nd || !n) return x;
      std::vector<std::int64_t> at;
      for (int k = 0; k < 3; ++k) at.push_back(below_of(rng, n));
      return take(x, tensor(at), axis);
    }
    case 24: {
      if (!nd || !n || n > 8) return x;
      std::vector<std::int64_t> at;
      for (Index k = 0; k < x.dim(0); ++k) at.push_back(below_of(rng, 3));
      Shape s = x.shape();
      s[0] = 3;
      return scatter_add(zeros(s, x.dtype()), tensor(at), x);
    }
    case 25:
      return nd ? cumsum(x, axis) * 0.5 : x;
    case 26:
      return nd && n ? sort(x, axis) : x;
    case 27:
      return nd >= 2 ? tanh(matmul(x, transpose(x)))
                     : outer(reshape(x, {-1}), sin(reshape(x, {-1})));
    case 28:
      return nd && n ? softmax(x, axis) : x;
    case 29:
      return nd && nd < 3 && n && n < 4 ? pad(x, Shape::filled(nd, 1), Shape::filled(nd, 0)) : x;
    case 30:
      return nd && n ? cumprod(tanh(x), axis) : x;
    case 32:
      return nd && x.size() ? scanned(x, y, rng) : x;
    case 33:
      return shrunk(x, y, rng);
    case 34:
      return branched(x, y);
    case 35:
      return barrier(check(x, equal(real(x), real(x)), "x is NaN"), {y});
    case 36:
      return hosted(x);
    case 37:
      return nd && n > 1 ? moveaxis(window_sum(moveaxis(x, axis, -1),
                                               {.size = {2}, .stride = {2}, .low = {1}}),
                                    -1, axis)
                         : x;
    case 38:
      return nd && n && n < 9 ? segment_prod(sin(moveaxis(x, axis, 0)), rem(arange(n), 2), 2) : x;
    case 39:
      return nd && n > 1 ? moveaxis(window_max(moveaxis(x, axis, -1),
                                               {.size = {3}, .low = {1}, .high = {1}}),
                                    -1, axis)
                         : x;
    case 40:
      return nd && n ? cumlogsumexp(x, axis) : x;
    default: {
      if (nd != 2 || x.size() > 36 || x.dim(0) != x.dim(1) || n == 0)
        return atan2(x, 2.0 + square(x));
      const Tensor spd = matmul(x, transpose(x)) + 3.0 * eye(n);
      return below_of(rng, 2) ? cholesky(spd) : inv(spd);
    }
  }
}

/// A function of inputs like `x`: 3 to 8 operations, and one or two results; what has more than
/// `most` elements is reduced to a mean.
inline FlatFunction random_function(std::uint64_t seed, Index most = 100) {
  return [seed, most](const Tensors& x) {
    Rng rng(seed);
    Tensors pool = x;
    const Index steps = 3 + below_of(rng, 6);
    for (Index k = 0; k < steps; ++k) {
      Tensor y = grow(pool, rng);
      if (y.size() > most) y = mean(y, {0});
      pool.push_back(y);
    }
    Tensors out = {pool.back()};
    if (below_of(rng, 2)) out.push_back(pool[pool.size() - 2]);
    return out;
  };
}

}  // namespace tessera::fuzz
