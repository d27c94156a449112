// SPDX-License-Identifier: Apache-2.0
// Any bytes are arrays, which are written and read again as the same, or an InputError with the
// place. Checksums would turn most mutations away: `tessera info` looks at headers without them.
#include "processor_limit.h"
#include "tessera/data/arrays.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"
#include "tessera/data/info.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  using namespace tessera::data;
  static const std::string stem =
      (std::filesystem::temp_directory_path() / ("tessera_fuzz_" + std::to_string(::getpid())))
          .string();
  const std::filesystem::path path = stem + ".npz", written = stem + ".2.npz";
  replace_file(path, {reinterpret_cast<const char*>(data), size});
  const auto must_have_place = [&](const InputError& e) {
    const Diagnostic& d = e.findings().at(0);
    if (d.number != 403 && (!d.place.byte || *d.place.byte > size)) std::abort();
  };
  try {
    (void)to_text(info(path));
  } catch (const InputError& e) {
    if (e.findings().at(0).number == 437) must_have_place(e);
  }
  try {
    const std::vector<NamedTensor> arrays = read_npz(path);
    write_npz(written, arrays, size % 2 ? NpzPacking::deflated : NpzPacking::stored);
    const std::vector<NamedTensor> again = read_npz(written);
    if (again.size() != arrays.size()) std::abort();
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (again[i].name != arrays[i].name || !(again[i].values.type() == arrays[i].values.type()))
        std::abort();
  } catch (const InputError& e) {
    must_have_place(e);
  }
  std::filesystem::remove(path);
  std::filesystem::remove(written);
  return 0;
}
