// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::data {

/// SHA-256 (FIPS 180-4): names inputs in the manifest and seals checkpoints.
class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;
  /// `by_letters`: of the standard, also where the processor has instructions for it. The same
  /// bits.
  explicit Sha256(bool by_letters = false) : by_letters_(by_letters) {}
  void update(const void* bytes, std::size_t n);
  /// Pads and returns the digest; the object may not be updated afterwards.
  Digest finish();

 private:
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  bool by_letters_;
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

/// 64 lower-case hexadecimal digits.
std::string to_hex(const Sha256::Digest& digest);
std::string sha256_hex(std::string_view bytes);

}  // namespace tessera::data
