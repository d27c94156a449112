// SPDX-License-Identifier: Apache-2.0
// A primitive registers only with every rule that its class demands.
// expect: linear primitive: .transpose. is missing
// expect: bilinear primitive: .transpose. is missing
// expect: elementwise primitive: derivative expression .d. is missing
// expect: bilinear or hand-written primitive: .flops. is missing
// expect: hand-written primitive: .jvp. is missing
// expect: hand-written primitive: .transpose. is missing
// expect: primitive: .batch. is missing
// expect: primitive: .infer. is missing
// expect: primitive: .kernel. is missing
#include "primitive_parts.h"

using namespace parts;

struct Complete : Linear<Complete>, Base, Transpose, Batch {};
TESSERA_REGISTER(Complete);
struct CompleteByHand : Hand<CompleteByHand>, Base, Flops, Jvp, Batch {
  static constexpr None transpose{"it is not linear"};
};
TESSERA_REGISTER(CompleteByHand);
struct CompleteElementwise : Elementwise<CompleteElementwise, 1>, Name, Kernel, Derivative {
  static constexpr DtypeSet dtypes = kReal;
};
TESSERA_REGISTER(CompleteElementwise);

#ifdef MUST_NOT_COMPILE
struct LinearWithoutTranspose : Linear<LinearWithoutTranspose>, Base, Batch {};
TESSERA_REGISTER(LinearWithoutTranspose);
struct BilinearWithoutTranspose : Bilinear<BilinearWithoutTranspose>, Base, Flops, Batch {};
TESSERA_REGISTER(BilinearWithoutTranspose);
struct ElementwiseWithoutDerivative : Elementwise<ElementwiseWithoutDerivative, 1>, Name, Kernel {
  static constexpr DtypeSet dtypes = kReal;
};
TESSERA_REGISTER(ElementwiseWithoutDerivative);
struct HandWithoutJvp : Hand<HandWithoutJvp>, Base, Flops, Transpose, Batch {};
TESSERA_REGISTER(HandWithoutJvp);
struct HandWithoutTranspose : Hand<HandWithoutTranspose>, Base, Flops, Jvp, Batch {};
TESSERA_REGISTER(HandWithoutTranspose);
struct WithoutBatch : Linear<WithoutBatch>, Base, Transpose {};
TESSERA_REGISTER(WithoutBatch);
struct BilinearWithoutFlops : Bilinear<BilinearWithoutFlops>, Base, Transpose, Batch {};
TESSERA_REGISTER(BilinearWithoutFlops);
struct WithoutInfer : Linear<WithoutInfer>, Name, Kernel, Transpose, Batch {};
TESSERA_REGISTER(WithoutInfer);
struct WithoutKernel : Linear<WithoutKernel>, Name, Infer, Transpose, Batch {};
TESSERA_REGISTER(WithoutKernel);
#endif
