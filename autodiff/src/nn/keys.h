// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/source_line.h"
#include "tessera/autodiff/tensor.h"

#include <string>

namespace tessera::nn {

/// The key, which is one, u32 [2]: what a stack of keys [B..., 2] draws has axes B... before those
/// of what it is for.
inline const Tensor& one_key(const char* layer, const Tensor& key) {
  if (key.ndim() != 1)
    fail(layer,
         "takes one key, u32[2], got " + to_string(key.type()) + "; vmap takes them one by one");
  return key;
}

}  // namespace tessera::nn
