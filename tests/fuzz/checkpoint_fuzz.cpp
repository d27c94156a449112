// SPDX-License-Identifier: Apache-2.0
// Untrusted bytes as a checkpoint. The digest would turn every mutation away at the door, so the
// bytes are tried twice: as they are, and with length and digest mended so that the structure
// behind them is put to the test.
#include "processor_limit.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/sha256.h"

#include <cstdint>
#include <cstring>

using namespace tessera::data;

namespace {

void decode(const std::string& bytes) {
  try {
    const Checkpoint c = decode_checkpoint(bytes, "fuzz");
    // What was accepted is written as the same bytes, or two files would mean one state. A text map
    // has one order.
    const Checkpoint again = decode_checkpoint(encode_checkpoint(c), "again");
    if (encode_checkpoint(again) != encode_checkpoint(c)) __builtin_trap();
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  decode(bytes);
  constexpr std::size_t header = 32, digest = 32;
  if (size < header + digest) return 0;
  std::memcpy(bytes.data(), "Tessera ckpt\r\n\x1a\n", 16);
  const std::uint32_t version[2] = {bytes[16] == 1 ? 1U : 2U, 0};
  std::memcpy(bytes.data() + 16, version, sizeof version);
  const std::uint64_t length = size;
  std::memcpy(bytes.data() + 24, &length, sizeof length);
  Sha256 h;
  h.update(bytes.data(), size - digest);
  const Sha256::Digest d = h.finish();
  std::memcpy(bytes.data() + size - digest, d.data(), digest);
  decode(bytes);
  return 0;
}
