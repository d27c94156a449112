// SPDX-License-Identifier: Apache-2.0
// The parts of a primitive y = 2 x, to be put together rightly and wrongly.
#pragma once
#include "tessera/autodiff/primitive.h"

namespace parts {

using namespace tessera;
using Flags = std::span<const bool>;
using In = std::span<const Tensor>;
using Out = std::span<Tensor>;

struct Name {
  static constexpr const char* name = "twice";
};
struct Infer {
  static Types infer(std::span<const Type> in, const Attributes*) { return {in[0]}; }
};
struct Kernel {
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return nullptr; }
};
struct Jvp {
  static void jvp(const Application&, In t, Out o) { o[0] = t[0]; }
};
struct Transpose {
  static void transpose(const Application&, Flags, In ct, Out o) { o[0] = ct[0]; }
};
struct Batch {
  static void batch(const Application& a, Flags, Index, Out o) { o[0] = a.in[0]; }
};
struct Derivative {
  static Tensor d(int, In, const Tensor& y) { return y; }
};
struct Flops {
  static double flops(TypeSpan, TypeSpan, const Attributes*) { return 1; }
};
struct Base : Name, Infer, Kernel {};

}  // namespace parts
