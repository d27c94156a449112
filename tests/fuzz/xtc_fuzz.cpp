// SPDX-License-Identifier: Apache-2.0
// GROMACS XTC: seeds in corpus/xtc, of our own writer.
#include "trajectory_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tessera::testing::fuzz_trajectory(data, size, "fuzz.xtc");
}
