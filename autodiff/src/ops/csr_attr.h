// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/ops/sparse.h"

#include <tuple>

namespace tessera {

/// Attributes of csr_matmul and csr_sddmm.
struct CsrAttr {
  CsrPatternPtr pattern;
  bool transposed = false;
  TESSERA_ATTRIBUTES(pattern, transposed)
};

}  // namespace tessera
