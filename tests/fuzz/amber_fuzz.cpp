// SPDX-License-Identifier: Apache-2.0
// AMBER topologies and restarts: any bytes either give a system or frame that is in order, or an
// InputError.
#include "processor_limit.h"
#include "tessera/molecular/amber.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tessera;
  const tessera::testing::ProcessorLimit limit;
  try {
    const data::TextFile text =
        data::make_text_file("fuzz", {reinterpret_cast<const char*>(bytes), size});
    if (text.text.starts_with("%")) {
      molecular::validate(molecular::read_amber_topology(text).system);
    } else if (molecular::read_amber_restart(text, 2).x_nm.size() != 2) {
      std::abort();
    }
  } catch (const data::InputError& e) {
    if (e.findings().empty() || e.code() != data::ExitCode::input_invalid) std::abort();
  }
  return 0;
}
