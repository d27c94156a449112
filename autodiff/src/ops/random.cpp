// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/random.h"

#include "../core/cost.h"
#include "../kernels/map.h"
#include "../kernels/philox.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

enum class Law : int { bits, uniform, normal };
/// `stream` keeps keys made by splitting apart from numbers drawn with the same key.
struct Draw {
  Shape shape;
  Dtype dtype;
  int law, stream;
  TESSERA_ATTRIBUTES(shape, dtype, law, stream)
};
/// Key u32 [B..., 2] -> [B..., shape...]; element i of a draw depends on the key and i alone.
struct Random : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::zero;
  static constexpr const char* name = "random";
  static double flops(TypeSpan, TypeSpan out, const Attributes*) {
    return 60 * detail::count(out[0]);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Draw& d = get<Draw>(a);
    if (in[0].dtype != Dtype::u32 || in[0].shape.empty() || in[0].shape.back() != 2)
      fail(name, "a key is u32[2] (random_key(seed)), got " + to_string(in[0]));
    Shape s = in[0].shape;
    s.erase(s.size() - 1);
    for (Index n : d.shape) {
      if (n < 0) fail(name, "negative size in " + to_string(d.shape));
      s.push_back(n);
    }
    return {{d.dtype, s}};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes* a) {
    const Draw& d = get<Draw>(a);
    const bool wide = d.dtype == Dtype::f64;
    switch (static_cast<Law>(d.law)) {
      case Law::bits:
        return run<kernels::BitsU32>;
      case Law::uniform:
        return wide ? run<kernels::UniformF64> : run<kernels::UniformF32>;
      default:
        return wide ? run<kernels::NormalF64> : run<kernels::NormalF32>;
    }
  }
  template <class D>
  static void run(Inputs in, Outputs out, const Attributes* a) {
    const Draw& d = get<Draw>(a);
    constexpr Index kPiece = 1 << 12;
    const Index n = d.shape.count(), pieces = (n + kPiece - 1) / kPiece;
    const auto* key = static_cast<const std::uint32_t*>(in[0]->data);
    auto* o = static_cast<typename D::type*>(out[0]->data);
    kernels::for_rows(in[0]->count() / 2 * pieces, 8 * std::min(n, kPiece), [&](Index r) {
      const Index k = r / pieces, first = r % pieces * kPiece;
      const std::uint64_t seed = key[2 * k] | std::uint64_t{key[2 * k + 1]} << 32;
      kernels::fill_random<D>(
          seed, static_cast<std::uint64_t>(d.stream), static_cast<std::uint64_t>(first),
          static_cast<std::size_t>(std::min(kPiece, n - first)), o + k * n + first);
    });
  }
};
TESSERA_REGISTER(Random);

Tensor draw(const Arg& key, const Shape& shape, Dtype dtype, Law law, int stream = 0) {
  return apply(primitive<Random>(), attributes(Draw{shape, dtype, static_cast<int>(law), stream}),
               key.line, detail::to_tensor("random", key));
}

}  // namespace

Tensor random_key(std::uint64_t seed) {
  return tensor<std::uint32_t>(
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}
Tensor split_key(Arg key, Index n) { return draw(key, {n, 2}, Dtype::u32, Law::bits, 1); }
Tensor random_bits(Arg key, const Shape& shape) { return draw(key, shape, Dtype::u32, Law::bits); }

Tensor uniform(Arg key, const Shape& shape, Dtype dtype) {
  if (!is_float(dtype))
    fail("uniform", std::string("gives f32 or f64, not ") + name_of(dtype), key.line);
  return draw(key, shape, dtype, Law::uniform);
}

Tensor normal(Arg key, const Shape& shape, Dtype dtype) {
  if (!is_inexact(dtype))
    fail("normal", std::string("gives floating types, not ") + name_of(dtype), key.line);
  if (!is_complex(dtype)) return draw(key, shape, dtype, Law::normal);
  checked_bytes("normal", {dtype, shape}, key.line);
  const Tensor parts = draw(key, {2 * shape.count()}, real_of(dtype), Law::normal);  // [B..., 2 n]
  Shape all = parts.shape();
  all.erase(all.size() - 1);
  for (Index n : shape) all.push_back(n);
  const Tensor pairs = reshape(parts, {parts.size() / 2, 2});
  return reshape(complex(select(pairs, 1, 0), select(pairs, 1, 1)) * std::sqrt(0.5), all);
}

}  // namespace tessera
