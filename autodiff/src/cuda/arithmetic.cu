// SPDX-License-Identifier: Apache-2.0
#include "../kernels/arithmetic.h"
#include "table.cuh"

namespace tessera::device {

std::span<const Row> arithmetic_rows() {
#define TESSERA_DEVICE_ROW(KIND, SCALAR, TYPE, NAME, FUNCTION, TYPES) \
  TESSERA_DEVICE_ROW_OF(kAny, KIND, TYPE)
  static const Row rows[] = {TESSERA_ARITHMETIC_ROWS(TESSERA_DEVICE_ROW)};
  return rows;
}

}  // namespace tessera::device
