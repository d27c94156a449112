// SPDX-License-Identifier: Apache-2.0
// MARE2DEM's models (.resistivity): any bytes either are one or give an InputError with a place.
#include "processor_limit.h"
#include "tessera/data/diagnostic.h"
#include "tessera/inversion/mare2dem_model.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera::inversion;
  const tessera::testing::ProcessorLimit limit;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    (void)media_of(read_mare2dem_model(text, "fuzz"));
  } catch (const tessera::data::InputError& e) {
    if (e.findings().empty()) std::abort();
  }
  return 0;
}
