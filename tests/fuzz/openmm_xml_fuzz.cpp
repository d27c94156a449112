// SPDX-License-Identifier: Apache-2.0
// Force fields of OpenMM: any bytes either give a force field that can be applied to a small
// structure, or an InputError or Error. Seeds: corpus/openmm_xml.
#include "processor_limit.h"
#include "tessera/molecular/openmm_xml.h"

#include <array>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera::molecular;
  using tessera::data::InputError;
  const tessera::testing::ProcessorLimit limit;
  Structure s;
  s.residues = {{"CHN", "1", "A", ""}, {"HOH", "2", "W", ""}};
  s.chain = {0, 1};
  s.name = {"B1", "B2", "A1", "A2", "O", "H1", "H2"};
  s.element = {6, 6, 1, 1, 8, 1, 1};
  s.residue = {0, 0, 0, 0, 1, 1, 1};
  s.x_nm = {{0, 0, 0}, {0.15, 0, 0}, {0, 0.1, 0}, {0.15, 0, 0.1},
            {1, 0, 0}, {1, 0.1, 0},  {1.1, 0, 0}};
  s.bonds = {{0, 1}, {0, 2}, {1, 3}, {4, 5}, {4, 6}};
  try {
    const std::array<tessera::data::TextFile, 1> files = {tessera::data::make_text_file(
        "fuzz.xml", std::string(reinterpret_cast<const char*>(data), size))};
    const ForceField ff = read_openmm_xml(files);
    const Structure whole = with_virtual_sites(ff, s);
    validate(apply(ff, whole, {.rigid_water = false}).system);
  } catch (const InputError& e) {
    if (e.findings().empty() || e.code() != tessera::data::ExitCode::input_invalid) std::abort();
  } catch (const tessera::Error&) {  // a system that validate() or constrained() refuses
  }
  return 0;
}
