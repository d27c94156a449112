// SPDX-License-Identifier: Apache-2.0
// Meshes of Gmsh (.msh): any bytes either are one or give an InputError with a place.
#include "processor_limit.h"
#include "tessera/data/diagnostic.h"
#include "tessera/inversion/gmsh_2d.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera::inversion;
  const tessera::testing::ProcessorLimit limit;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    (void)read_msh(text, {.medium = [](tessera::Index group) {
                     return group == 1 ? air() : Medium2d{.parameter = group % 1000};
                   }});
  } catch (const tessera::data::InputError& e) {
    if (e.findings().empty()) std::abort();
  }
  return 0;
}
