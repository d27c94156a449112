// SPDX-License-Identifier: Apache-2.0
#include "stream_copy.h"

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace tessera::parallel {

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kVector = sizeof(__m256i), kLine = 64, kStep = 2 * kLine;
  if (bytes < 16 * kStep) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return;
  }
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + kStep <= bytes; at += kStep) {
    __m256i v[kStep / kVector];
    for (std::size_t k = 0; k < kStep / kVector; ++k)
      v[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at + k * kVector));
    for (std::size_t k = 0; k < kStep / kVector; ++k)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at + k * kVector), v[k]);
  }
  std::memcpy(to + at, from + at, bytes - at);
  _mm_sfence();
}

}  // namespace tessera::parallel
