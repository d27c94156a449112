// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/molecular/parameters.h"

namespace tessera::molecular::testing {

/// What an energy is a function of, as a tree.
struct Operands {
  Tensor x, h;
  Parameters p;
  TESSERA_TREE(x, h, p)
};

}  // namespace tessera::molecular::testing
