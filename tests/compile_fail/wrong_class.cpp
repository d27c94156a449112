// SPDX-License-Identifier: Apache-2.0
// A rule that the class of a primitive already gives, or rules out, is refused.
// expect: bilinear primitive: its jvp is the product rule
// expect: elementwise primitive: its jvp follows from .d.
// expect: zero-derivative primitive: wrong class, it has a derivative rule
// expect: wrong class: .d. belongs to the class Elementwise
#include "primitive_parts.h"

using namespace parts;

struct RightZero : Zero<RightZero>, Base, Batch {};
TESSERA_REGISTER(RightZero);
struct RightBilinear : Bilinear<RightBilinear>, Base, Flops, Transpose, Batch {};
TESSERA_REGISTER(RightBilinear);

#ifdef MUST_NOT_COMPILE
struct BilinearWithJvp : Bilinear<BilinearWithJvp>, Base, Flops, Jvp, Transpose, Batch {};
TESSERA_REGISTER(BilinearWithJvp);
struct ElementwiseWithJvp : Elementwise<ElementwiseWithJvp, 1>, Name, Kernel, Derivative, Jvp {
  static constexpr DtypeSet dtypes = kReal;
};
TESSERA_REGISTER(ElementwiseWithJvp);
struct ZeroWithJvp : Zero<ZeroWithJvp>, Base, Jvp, Batch {};
TESSERA_REGISTER(ZeroWithJvp);
struct HandWithDerivative : Hand<HandWithDerivative>, Base, Flops, Jvp, Derivative, Batch {
  static constexpr None transpose{"it is not linear"};
};
TESSERA_REGISTER(HandWithDerivative);
#endif
