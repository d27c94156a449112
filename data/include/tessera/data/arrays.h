// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <string>

namespace tessera::data {

struct NamedTensor {
  std::string name;
  Tensor values;
};

}  // namespace tessera::data
