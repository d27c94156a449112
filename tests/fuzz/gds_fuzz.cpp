// SPDX-License-Identifier: Apache-2.0
// GDSII streams: any bytes either are a layout, whose layers have rims, or give an InputError with
// a place.
#include "processor_limit.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/gds.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tessera::data;
  const tessera::testing::ProcessorLimit limit;
  try {
    const GdsLibrary g = parse_gds("fuzz", std::string(reinterpret_cast<const char*>(bytes), size));
    for (const std::string& top : top_cells(g))
      for (const auto& [layer, type] : layers_of(g, top)) {
        const std::vector<Outline> polygons = gds_polygons(g, top, layer, type);
        // Of n sides n^2 pairs may meet; `united` ends at 5 10^7 of them.
        std::size_t corners = 0;
        for (const Outline& o : polygons) corners += o.size();
        if (corners > 600) continue;
        std::map<Place2, int> ends;
        try {
          for (const Side& s : united(polygons)) --ends[s.from], ++ends[s.to];
        } catch (const InputError&) {
          std::abort();
        } catch (const tessera::Error&) {  // corners beyond the range of doubles
        }
        for (const auto& [corner, n] : ends)
          if (n != 0) std::abort();
      }
  } catch (const InputError& e) {
    if (e.findings().empty() || e.findings()[0].number == 0) std::abort();
  }
  return 0;
}
