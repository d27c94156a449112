// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "nonbonded/kernels/pair_kernels.h"

namespace tessera::molecular::pairs {

/// Null on other processors than x86-64, and AVX-512 where clang compiles for less.
const Kernels* avx512_kernels();
const Kernels* avx2_kernels();
const Kernels* portable_kernels();

}  // namespace tessera::molecular::pairs
