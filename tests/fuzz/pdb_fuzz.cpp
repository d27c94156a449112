// SPDX-License-Identifier: Apache-2.0
// PDB: any bytes either give a structure or an InputError. Seeds: corpus/pdb.
#include "structure_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tessera::testing::fuzz_structure(
      data, size, "fuzz.pdb",
      [](const tessera::data::TextFile& t) { return tessera::molecular::read_pdb(t); });
}
