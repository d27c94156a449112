// SPDX-License-Identifier: Apache-2.0
//
// torch.masked: reductions over the elements where a mask is true.
#include "compose.h"

namespace tessera::oracle {
namespace {

struct Masked {
  Tensor x, mask;
  Shape axes;
  bool keep;
  explicit Masked(const Call& c, int place = 1) : x(c[0]) {
    if (c.has(-1, "dtype")) x = cast(x, c.dtype(-1, "dtype", Dtype::f64));
    mask = broadcast_to(c.has(-1, "mask") ? c.tensor(-1, "mask") : cast(ones({}), Dtype::boolean),
                        x.shape());
    axes = c.axes(place, "dim", x.ndim());
    keep = c.flag(-1, "keepdim", false);
  }
  Tensor filled(double v) const { return where(mask, x, like(v, x)); }
  Tensor count() const { return sum(cast(mask, real_of(floating(x).dtype())), axes, keep); }
};
Tensor masked_mean(const Masked& m) {
  return sum(floating(m.filled(0)), m.axes, m.keep) / m.count();
}
Tensor masked_variance(const Call& c) {
  const Masked m(c);
  const Tensor x = floating(m.filled(0)), n = sum(cast(m.mask, real_of(x.dtype())), m.axes, true);
  const Tensor d = where(m.mask, x - sum(x, m.axes, true) / n, like(0, x));
  const double ddof = c.real(-1, "correction", c.flag(2, "unbiased", true) ? 1 : 0);
  const Tensor square_of = is_complex(d.dtype()) ? square(real(d)) + square(imag(d))
                                                 : square(d);  // |d| has no second derivative at 0
  const Tensor v = sum(square_of, m.axes, m.keep) / maximum(m.count() - ddof, 0.0);
  return cast(v, x.dtype());  // torch has complex zeros beside
}
Tensor smallest(const Tensor& x, bool largest) {
  if (is_inexact(x.dtype())) return like(largest ? kInf : -kInf, x);
  const std::int64_t v =
      largest ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
  return from_span<std::int64_t>(std::span(&v, 1), {});
}
Tensor scaled_softmax(const Call& c, Tensor (*f)(Arg, int), double factor) {
  const Masked m(c, 1);
  if (m.x.ndim() == 0) return reshape(f(reshape(where(m.mask, m.x * factor, -kInf), {1}), 0), {});
  return f(where(m.mask, m.x * factor, -kInf), axis_of(c.integer(1, "dim", -1), m.x.ndim()));
}

}  // namespace

void masked_rows(Table& t) {
  t["masked.sum"] = [](const Call& c) {
    const Masked m(c);
    return sum(
        is_inexact(m.x.dtype()) ? m.filled(0) : cast(where(m.mask, m.x, like(0, m.x)), Dtype::i64),
        m.axes, m.keep);
  };
  t["masked.prod"] = [](const Call& c) {
    const Masked m(c);
    return prod(
        is_inexact(m.x.dtype()) ? m.filled(1) : cast(where(m.mask, m.x, like(1, m.x)), Dtype::i64),
        m.axes, m.keep);
  };
  t["masked.amax"] = [](const Call& c) {
    const Masked m(c);
    return max(where(m.mask, m.x, smallest(m.x, false)), m.axes, m.keep);
  };
  t["masked.amin"] = [](const Call& c) {
    const Masked m(c);
    return min(where(m.mask, m.x, smallest(m.x, true)), m.axes, m.keep);
  };
  t["masked.mean"] = [](const Call& c) { return masked_mean(Masked(c)); };
  t["masked.var"] = masked_variance;
  t["masked.std"] = [](const Call& c) { return sqrt(masked_variance(c)); };
  t["masked.logsumexp"] = [](const Call& c) {
    const Masked m(c);
    return without_turns(log_of_sum(where(m.mask, m.x, like(-kInf, m.x)), m.axes, m.keep));
  };
  t["masked.norm"] = [](const Call& c) {
    const Masked m(c, 2);
    const double p = c.real(1, "ord", 2);
    return p_norm(m.filled(p == -kInf || p < 0 ? kInf : 0), p, m.axes, m.keep);
  };
  t["masked.softmax"] = [](const Call& c) { return scaled_softmax(c, softmax, 1); };
  t["masked.softmin"] = [](const Call& c) { return scaled_softmax(c, softmax, -1); };
  t["masked.log_softmax"] = [](const Call& c) { return scaled_softmax(c, log_softmax, 1); };
  t["masked.cumsum"] = [](const Call& c) {
    const Masked m(c);
    const Tensor x = is_inexact(m.x.dtype()) ? m.filled(0) : cast(m.filled(0), Dtype::i64);
    return x.ndim() == 0 ? x : cumsum(x, axis_of(c.integer(1, "dim", 0), x.ndim()));
  };
  t["masked.cumprod"] = [](const Call& c) {
    const Masked m(c);
    const Tensor x = is_inexact(m.x.dtype()) ? m.filled(1) : cast(m.filled(1), Dtype::i64);
    return x.ndim() == 0 ? x : cumprod(x, axis_of(c.integer(1, "dim", 0), x.ndim()));
  };
}

}  // namespace tessera::oracle
