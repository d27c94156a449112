// SPDX-License-Identifier: Apache-2.0
//
// Functions drawn at random of what networks are made of, beside all that random_functions.h draws:
// reductions over leading and trailing axes, norms, softmax, products with bias and activation,
// rows and columns beside tables, gathers with repeated rows, sums of segments, convolutions.
#pragma once
#include "random_functions.h"
#include "tessera/autodiff/nn.h"

namespace tessera::fuzz {

/// Numbers that depend on their place alone, of the type of x.
inline Tensor waves(const Shape& s, Dtype dtype) {
  return cast(sin(reshape(arange(s.count(), Dtype::f64) + 0.5, s)), dtype);
}

/// Of real x with an axis at least, and elements.
inline Tensor grow_network(const Tensor& x, const Tensor& y, Rng& rng) {
  const int nd = x.ndim(), axis = static_cast<int>(below_of(rng, nd));
  const Index last = x.dim(-1), first = x.dim(0);
  const Dtype type = x.dtype();
  Shape leading, trailing;  // all axes but the last, all but the first
  for (int k = 0; k + 1 < nd; ++k) leading.push_back(k);
  for (int k = 1; k < nd; ++k) trailing.push_back(k);
  const Tensor row = waves({last}, type);
  Shape column = Shape::filled(nd, 1);
  column[0] = first;
  switch (below_of(rng, 26)) {
    case 0:
      return sum(x, leading);
    case 1:
      return mean(x, trailing, true) + x;
    case 2:  // layer norm
      return (x - mean(x, {-1}, true)) /
                 sqrt(mean(square(x - mean(x, {-1}, true)), {-1}, true) + 0.1) * row +
             0.5;
    case 3:  // batch norm
      return leading.empty() ? x : (x - mean(x, leading)) / sqrt(mean(square(x), leading) + 0.1);
    case 4:
      return softmax(x, axis);
    case 5:
      return log_softmax(x, axis);
    case 6:
      return logsumexp(x, {axis});
    case 7:  // product, bias, activation
      return tanh(matmul(reshape(x, {-1, last}), waves({last, 5}, type)) + waves({5}, type));
    case 8:
      return nn::relu(matmul(reshape(x, {-1, last}), waves({last, 3}, type)) - 0.1);
    case 9:  // attention, of one head
      return nd < 2 ? x : matmul(softmax(matmul(x, moveaxis(x, -1, -2)) * 0.3, -1), x);
    case 10:
      return x * row + square(row);
    case 11:
      return x * waves(column, type);
    case 12:
      return expand_dims(x, axis) - expand_dims(x, axis + 1);
    case 13: {  // rows again and again
      std::vector<std::int64_t> at;
      for (int k = 0; k < 6; ++k) at.push_back(below_of(rng, first));
      return gather(x, tensor(at));
    }
    case 14: {
      std::vector<std::int64_t> to;
      for (Index k = 0; k < first; ++k) to.push_back(below_of(rng, 3));
      return segment_sum(x, tensor(to), 3);
    }
    case 15: {  // picked from each row
      std::vector<std::int64_t> at;
      const Index rows = x.size() / last;
      for (Index k = 0; k < rows; ++k) at.push_back(below_of(rng, last));
      return nn::cross_entropy(reshape(x, {rows, last}), tensor(at));
    }
    case 16: {  // samples, length, channels
      const Tensor z = reshape(x, {-1, last, 1});
      return convolution(z, waves({3, 1, 2}, type), {.low = {1}, .high = {1}}) + waves({2}, type);
    }
    case 17: {
      const Tensor z = reshape(x, {1, -1, last});
      return convolution(z, waves({2, last, 3}, type), {.stride = {2}, .low = {1}, .high = {1}});
    }
    case 18:
      return nn::gelu(x) * nn::silu(x);
    case 19:
      return sum(square(x - row));
    case 20:
      return max(x, {axis}, true) - x;
    case 21:
      return where(x > 0.2, x, broadcast_to(row, x.shape()));
    case 22:
      return slice(x, 0, 0, (first + 1) / 2) * 2.0 + sum(slice(x, 0, first / 2, first));
    case 23:
      return sum(x * x, {axis}, true) * x;
    case 24:
      return x.shape() == y.shape() && y.dtype() == type ? sum(exp(-square(x - y)), leading)
                                                         : exp(x - max(x));
    default:
      return concatenate({x, 2.0 * x, square(x)}, -1);
  }
}

/// As random_function, half of what is drawn being of networks.
inline FlatFunction random_network(std::uint64_t seed, Index most = 100) {
  return [seed, most](const Tensors& x) {
    Rng rng(seed);
    Tensors pool = x;
    const Index steps = 3 + below_of(rng, 12);
    for (Index k = 0; k < steps; ++k) {
      const auto drawn = [&] {
        return pool[static_cast<std::size_t>(below_of(rng, static_cast<Index>(pool.size())))];
      };
      const Tensor a = drawn(), b = drawn();
      Tensor y =
          below_of(rng, 2) && is_float(a.dtype()) && a.ndim() > 0 && a.ndim() < 5 && a.size() > 0
              ? grow_network(a, b, rng)
              : grow(pool, rng);
      if (y.size() > most) y = mean(y, {0});
      pool.push_back(y);
    }
    Tensors out = {pool.back()};
    if (below_of(rng, 2)) out.push_back(pool[pool.size() - 2]);
    return out;
  };
}

}  // namespace tessera::fuzz
