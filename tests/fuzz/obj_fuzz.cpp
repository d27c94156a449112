// SPDX-License-Identifier: Apache-2.0
// OBJ files: any bytes either are triangles, of which a solid is made or refused, or give an
// InputError with a place.
#include "solid_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return tessera::testing::fuzz_triangles(bytes, size, tessera::data::parse_obj);
}
