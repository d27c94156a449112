// SPDX-License-Identifier: Apache-2.0
// Any bytes are a network, or an InputError with the place.
#include "processor_limit.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"
#include "tessera/data/onnx.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("tessera_fuzz_" + std::to_string(::getpid()) + ".onnx");
  tessera::data::replace_file(path, {reinterpret_cast<const char*>(data), size});
  try {
    tessera::data::read_onnx(path);
  } catch (const tessera::data::InputError& e) {
    const tessera::data::Diagnostic& d = e.findings().at(0);
    if (d.number == 439 && (!d.place.byte || *d.place.byte > size)) std::abort();
  }
  std::filesystem::remove(path);
  return 0;
}
