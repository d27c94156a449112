// SPDX-License-Identifier: Apache-2.0
// GROMACS structures: any bytes either give frames that are written and read back, or an
// InputError.
#include "processor_limit.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/gromacs.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tessera;
  const tessera::testing::ProcessorLimit limit;
  molecular::GroFile file;
  try {
    file = molecular::read_gro(
        data::make_text_file("fuzz.gro", {reinterpret_cast<const char*>(bytes), size}));
  } catch (const data::InputError& e) {
    if (e.findings().empty() || e.code() != data::ExitCode::input_invalid) std::abort();
    return 0;
  }
  if (file.frames.empty() || file.atom_name.empty() || file.residue.size() != file.atom_name.size())
    std::abort();
  for (const molecular::Frame& f : file.frames)
    if (f.x_nm.size() != file.atom_name.size() ||
        (!f.v_nm_ps.empty() && f.v_nm_ps.size() != f.x_nm.size()))
      std::abort();
  std::string text;
  try {
    text = molecular::write_gro(file, 4);
  } catch (const Error&) {
    return 0;  // places beyond the columns
  }
  if (molecular::read_gro(data::make_text_file("again.gro", std::move(text))).frames.size() !=
      file.frames.size())
    std::abort();
  return 0;
}
