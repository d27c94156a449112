// SPDX-License-Identifier: Apache-2.0
//
// Peers in vectors of our width: TESSERA_VECTOR_BITS=256 holds ours (docs/reference/bits.md), and
// here, by variables of their own, what runs beside it.
#pragma once
#include "tessera/autodiff/vectors.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace bench {

/// Whether ours is held to vectors of 256 bits, not by the processor.
inline bool vectors_are_held() {
  return std::getenv("TESSERA_VECTOR_BITS") && tessera::vector_bits() == 256;
}

/// Sets the variables for this process and those that it starts. Returns whether something changed:
/// libraries that are loaded already have read them.
inline bool hold_peers_to_our_vectors() {
  if (!vectors_are_held()) return false;
  bool changed = false;
  for (const auto& [name, value] : {std::pair{"OPENBLAS_CORETYPE", "Haswell"},
                                    {"ATEN_CPU_CAPABILITY", "avx2"},
                                    {"ONEDNN_MAX_CPU_ISA", "AVX2"},
                                    {"DNNL_MAX_CPU_ISA", "AVX2"},
                                    {"MKL_ENABLE_INSTRUCTIONS", "AVX2"},
                                    {"XLA_FLAGS", "--xla_cpu_max_isa=AVX2"}}) {
    const char* const now = std::getenv(name);
    if (now && std::strcmp(now, value) == 0) continue;
    ::setenv(name, value, 1);
    changed = true;
  }
  return changed;
}

}  // namespace bench
