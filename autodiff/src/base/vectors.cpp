// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/vectors.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tessera {
namespace {

#if defined(__AVX512F__)
constexpr int kBuild = 512;
#elif defined(__AVX2__)
constexpr int kBuild = 256;
#else
constexpr int kBuild = 128;
#endif

int of_processor() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 128;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return wide ? 512 : 256;
#else
  return 128;
#endif
}

int allowed() {
  const char* const set = std::getenv("TESSERA_VECTOR_BITS");
  if (!set || !*set) return 512;
  const std::string_view text = set;
  int bits = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), bits);
  if (error != std::errc() || end != text.end() || (bits != 128 && bits != 256 && bits != 512))
    throw Error("[vectors] TESSERA_VECTOR_BITS is '" + std::string(text) +
                "'; expected 128, 256 or 512");
  if (bits < kBuild)
    throw Error("[vectors] TESSERA_VECTOR_BITS is " + std::to_string(bits) +
                ", but this build computes in vectors of " + std::to_string(kBuild) +
                " bits everywhere; build with a lesser TESSERA_ARCH");
  return bits;
}

}  // namespace

int vector_bits() {
  static const int bits = std::min(of_processor(), allowed());
  return bits;
}

}  // namespace tessera
