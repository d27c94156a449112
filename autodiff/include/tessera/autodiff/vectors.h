// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera {

/// Bits of the widest vectors that kernels compute in: 512 where the processor has AVX-512 (F, BW,
/// CD, DQ, VL), 256 with AVX2 and FMA, else 128; no more than the environment variable
/// TESSERA_VECTOR_BITS says. All kernels that choose instructions at run time ask here, and give
/// the same bits in all widths. Read at the first call. Throws Error when the variable is none of
/// 128, 256 and 512, or less than what this build computes in everywhere (`-march`; 256 unless
/// TESSERA_ARCH says otherwise).
int vector_bits();

}  // namespace tessera
