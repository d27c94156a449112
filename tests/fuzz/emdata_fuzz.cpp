// SPDX-License-Identifier: Apache-2.0
// Data of MARE2DEM: any bytes either give soundings or an InputError. Seeds: corpus/emdata and the
// real file of the test data.
#include "processor_limit.h"
#include "sounding_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  return tessera::testing::fuzz_sounding(data, size, "MARE2DEM");
}
