// SPDX-License-Identifier: Apache-2.0
// Touchstone files: any bytes either are one, which is written and read again, or give an
// InputError with a place. The first byte says what the name tells of the ports.
#include "processor_limit.h"
#include "tessera/data/touchstone.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tessera::data;
  const tessera::testing::ProcessorLimit limit;
  if (size < 1) return 0;
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const int ports = bytes[0] % 8;
  const std::string name = ports == 0   ? "fuzz.ts"
                           : ports == 7 ? "fuzz"
                                        : "fuzz.s" + std::to_string(ports) + "p";
  try {
    const Touchstone t = parse_touchstone(name, text).network;
    try {
      const Touchstone again =
          parse_touchstone("fuzz.ts", touchstone_text(t, {.version = 2})).network;
      if (again.values != t.values || again.reference_ohm != t.reference_ohm) std::abort();
    } catch (const tessera::data::InputError&) {
      std::abort();
    } catch (const tessera::Error&) {  // numbers that a file may not have: beyond the range
    }
  } catch (const InputError& e) {
    if (e.findings().empty()) std::abort();
  }
  return 0;
}
