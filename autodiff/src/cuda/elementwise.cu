// SPDX-License-Identifier: Apache-2.0
#include "elementwise.h"
#include "table.cuh"
#include "tessera/autodiff/error.h"

#include <string>

namespace tessera::device {

void need_launched() {
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw Error(std::string("[cuda] a kernel was not launched: ") + cudaGetErrorString(status));
}

Elementwise elementwise(std::string_view primitive, Dtype dtype) {
  for (std::span<const Row> rows :
       {arithmetic_rows(), real_function_rows(), complex_function_rows()})
    for (const Row& r : rows)
      if (const Elementwise f = r.launch[static_cast<int>(dtype)]; f && r.primitive == primitive)
        return f;
  return nullptr;
}

}  // namespace tessera::device
