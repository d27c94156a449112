// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/sha256.h"

#include "kernels/sha256_blocks.h"

#include <algorithm>
#include <cstring>

namespace tessera::data {
void Sha256::update(const void* bytes, std::size_t n) {
  static const bool by_instructions = sha256::has_instructions();
  const auto compress = by_instructions && !by_letters_ ? sha256::compress_by_instructions
                                                        : sha256::compress_by_letters;
  const auto* p = static_cast<const std::uint8_t*>(bytes);
  total_ += n;
  while (n > 0) {
    if (filled_ == 0 && n >= 64) {
      compress(state_, p, n / 64);
      p += n / 64 * 64, n %= 64;
      continue;
    }
    const std::size_t take = std::min(n, 64 - filled_);
    std::memcpy(block_.data() + filled_, p, take);
    filled_ += take, p += take, n -= take;
    if (filled_ == 64) compress(state_, block_.data(), 1), filled_ = 0;
  }
}

Sha256::Digest Sha256::finish() {
  const std::uint64_t bits = total_ * 8;
  std::uint8_t tail[72] = {0x80};  // one bit, zeros up to 56 mod 64, the length
  const std::size_t zeros = (filled_ < 56 ? 56 : 120) - filled_;
  for (int i = 0; i < 8; ++i) tail[zeros + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  update(tail, zeros + 8);
  Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string to_hex(const Sha256::Digest& digest) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  for (std::uint8_t b : digest) out += {digits[b >> 4], digits[b & 15]};
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 h;
  h.update(bytes.data(), bytes.size());
  return to_hex(h.finish());
}

}  // namespace tessera::data
