// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers: one primitive gives bits, all else is arithmetic on them.
#include "tessera/autodiff/ops/random.h"

#include <numbers>

#include "../kernels/map.h"
#include "../kernels/philox.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;

/// `stream` keeps keys made by splitting apart from numbers drawn with the same key.
struct Draw {
  Shape shape;
  int stream;
  auto fields() const { return std::tie(shape, stream); }
};
/// Word i of a draw is word i mod 4 of block i / 4.
struct RandomBits : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::zero;
  static constexpr const char* name = "random_bits";
  static Types infer(std::span<const Type> in, const Attributes* a) {
    if (in[0].dtype != Dtype::u32 || in[0].shape.empty() || in[0].shape.back() != 2)
      fail(name, "a key is u32[2] (random_key(seed)), got " + to_string(in[0]));
    Shape s = in[0].shape;
    s.erase(s.size() - 1);
    for (Index d : get<Draw>(a).shape) {
      if (d < 0) fail(name, "negative size in " + to_string(get<Draw>(a).shape));
      s.push_back(d);
    }
    return {{Dtype::u32, s}};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const auto& [shape, stream] = get<Draw>(a);
      const Index n = shape.count(), blocks = (n + 3) / 4, keys = in[0]->count() / 2;
      const auto* key = static_cast<const std::uint32_t*>(in[0]->data);
      auto* o = static_cast<std::uint32_t*>(out[0]->data);
      for_rows(keys * blocks, 40, [&, n = n, s = static_cast<std::uint32_t>(stream)](Index r) {
        const Index k = r / blocks, b = r % blocks;
        const PhiloxWords w = philox({{static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32), s, 0}}, key[2 * k], key[2 * k + 1]);
        for (Index i = 4 * b; i < std::min(n, 4 * b + 4); ++i) o[k * n + i] = w.w[i - 4 * b];
      });
    };
  }
};
TESSERA_REGISTER(RandomBits);

Tensor draw(const Arg& key, const Shape& shape, int stream) {
  return apply(primitive<RandomBits>(), attributes(Draw{shape, stream}), key.where, detail::to_tensor("random_bits", key));
}
Tensor shifted(const Tensor& bits, int by) { return shift_right(bits, scalar(by, Dtype::u32)); }

}  // namespace

Tensor random_key(std::uint64_t seed) {
  return tensor<std::uint32_t>({static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)});
}
Tensor split_key(Arg key, Index n) { return draw(key, {n, 2}, 1); }
Tensor random_bits(Arg key, const Shape& shape) { return draw(key, shape, 0); }

Tensor uniform(Arg key, const Shape& shape, Dtype dtype) {
  if (dtype == Dtype::f32) return cast(shifted(random_bits(key, shape), 8), Dtype::f32) * 0x1p-24;
  if (dtype != Dtype::f64) fail("uniform", std::string("gives f32 or f64, not ") + name_of(dtype), key.where);
  Shape pairs = shape;
  pairs.push_back(2);
  const Tensor bits = random_bits(key, pairs);
  const Tensor high = shifted(select(bits, -1, 0), 5), low = shifted(select(bits, -1, 1), 6);
  return (cast(high, Dtype::f64) * 0x1p26 + cast(low, Dtype::f64)) * 0x1p-53;
}

Tensor normal(Arg key, const Shape& shape, Dtype dtype) {
  if (!is_inexact(dtype)) fail("normal", std::string("gives floating types, not ") + name_of(dtype), key.where);
  const Dtype real_type = real_of(dtype);
  // A pair of uniform numbers makes a pair of normal ones: both parts of a complex number, or two neighbours.
  Shape pairs = {2};
  pairs.push_back(is_complex(dtype) ? shape.count() : (shape.count() + 1) / 2);
  const Tensor u = uniform(key, pairs, real_type);
  const Tensor r = sqrt(-2.0 * log(1.0 - select(u, -2, 0)));  // 1 - u > 0
  const Tensor angle = (2 * std::numbers::pi) * select(u, -2, 1);
  const Tensor x = r * cos(angle), y = r * sin(angle);
  Shape s = u.shape();  // [B..., 2, pairs] -> [B..., shape...]
  s.erase(s.size() - 1), s.erase(s.size() - 1);
  for (Index d : shape) s.push_back(d);
  if (is_complex(dtype)) return reshape(complex(x, y) * std::sqrt(0.5), s);
  return reshape(slice(concatenate({x, y}, -1), -1, 0, shape.count()), s);
}

}  // namespace tessera
