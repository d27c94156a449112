// SPDX-License-Identifier: Apache-2.0
// Functions of complex numbers.
#include "../kernels/functions.h"
#include "table.cuh"

namespace tessera::device {

std::span<const Row> complex_function_rows() {
#define TESSERA_DEVICE_ROW(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) \
  TESSERA_DEVICE_ROW_OF(kComplex, KIND, TYPE)
  static const Row rows[] = {TESSERA_FUNCTION_ROWS(TESSERA_DEVICE_ROW)};
  return rows;
}

}  // namespace tessera::device
