// SPDX-License-Identifier: Apache-2.0
// Tables of optical constants: any bytes either give a table in order, without gain, or an
// InputError.
#include "processor_limit.h"
#include "tessera/electromagnetics/index_table.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  using namespace tessera;
  try {
    const auto table = electromagnetics::parse_index_table(
        data::make_text_file("fuzz", std::string(reinterpret_cast<const char*>(data), size)));
    if (table.f_hz.empty() || table.f_hz.size() != table.eps.size()) std::abort();
    for (std::size_t k = 0; k < table.f_hz.size(); ++k)
      if (!(table.f_hz[k] > 0) || (k > 0 && !(table.f_hz[k - 1] < table.f_hz[k])) ||
          !std::isfinite(std::abs(table.eps[k])))
        std::abort();
  } catch (const data::InputError& e) {
    if (e.findings().empty() || e.findings()[0].number == 0) std::abort();
  }
  return 0;
}
