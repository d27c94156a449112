// SPDX-License-Identifier: Apache-2.0
// Jones J: any bytes either give a sounding or an InputError. Seeds: corpus/jformat and the real
// files of the test data.
#include "processor_limit.h"
#include "sounding_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  return tessera::testing::fuzz_sounding(data, size, "Jones J");
}
