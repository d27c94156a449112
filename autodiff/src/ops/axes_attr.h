// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/kernel.h"

namespace tessera {

/// Of what works along some axes.
struct AxesAttr {
  Shape axes;  ///< of reductions rising
  TESSERA_ATTRIBUTES(axes)
};

}  // namespace tessera
