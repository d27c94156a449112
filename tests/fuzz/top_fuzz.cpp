// SPDX-License-Identifier: Apache-2.0
// GROMACS topologies: any bytes either give a system that is in order, or an InputError. There is
// nothing to include.
#include "processor_limit.h"
#include "tessera/molecular/gromacs.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tessera;
  const tessera::testing::ProcessorLimit limit;
  try {
    const molecular::GromacsTopology t =
        molecular::read_top(data::make_text_file("no/such/folder/fuzz.top",
                                                 {reinterpret_cast<const char*>(bytes), size}),
                            {.defines = {"FLEXIBLE", "NUMBER=0.1 2"},
                             .distance_restraint_k = 1000,
                             .most_entries = 1'000'000});
    if (t.system.n_atoms() == 0) std::abort();
    molecular::validate(t.system);
  } catch (const data::InputError& e) {
    if (e.findings().empty() || e.code() != data::ExitCode::input_invalid) std::abort();
  }
  return 0;
}
