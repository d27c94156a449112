// SPDX-License-Identifier: Apache-2.0
// Any bytes are tensors, which are written and read again as the same, or an InputError with the
// place.
#include "processor_limit.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"
#include "tessera/data/safetensors.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  using namespace tessera::data;
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tessera_fuzz_" + std::to_string(::getpid()));
  replace_file(path, {reinterpret_cast<const char*>(data), size});
  try {
    const Safetensors f = read_safetensors(path);
    write_safetensors(path, f.tensors, f.metadata);
    const Safetensors again = read_safetensors(path);
    if (again.metadata != f.metadata || again.tensors.size() != f.tensors.size()) std::abort();
    for (std::size_t i = 0; i < f.tensors.size(); ++i)
      if (again.tensors[i].name != f.tensors[i].name ||
          !(again.tensors[i].values.type() == f.tensors[i].values.type()))
        std::abort();
  } catch (const InputError& e) {
    const Diagnostic& d = e.findings().at(0);
    if (!d.place.byte || *d.place.byte > size) std::abort();
  }
  std::filesystem::remove(path);
  return 0;
}
