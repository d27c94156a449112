// SPDX-License-Identifier: Apache-2.0
//
// Bits at both widths of vectors. The width is chosen once per process: a disabled test of the
// program prints what it computes, and is run in processes of their own under TESSERA_VECTOR_BITS.
#pragma once
#include "run_program.h"
#include "tessera/autodiff/vectors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

namespace tessera::testing {

/// FNV-1a of `bytes` bytes.
inline std::uint64_t hash_of(const void* data, std::size_t bytes,
                             std::uint64_t h = 0xcbf29ce484222325) {
  for (const auto* p = static_cast<const unsigned char*>(data); bytes > 0; --bytes)
    h = (h ^ *p++) * 0x100000001b3;
  return h;
}
inline void print_hash(const std::string& name, std::uint64_t hash) {
  std::printf("bits %s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash));
}

/// The lines `bits NAME HASH` of the disabled test `test` ("Suite.DISABLED_Name") are the same with
/// vectors of 256 and of 512 bits.
inline void expect_same_at_both_widths(const std::string& test) {
  if (vector_bits() < 512)
    GTEST_SKIP() << "no vectors of 512 bits, or held below by TESSERA_VECTOR_BITS";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto lines = [&](const std::string& bits) {
    RunningProgram run({self, "--gtest_filter=" + test, "--gtest_also_run_disabled_tests"},
                       std::filesystem::temp_directory_path(), {"TESSERA_VECTOR_BITS=" + bits});
    const Outcome o = run.wait();
    EXPECT_EQ(o.code, 0) << bits << " bits\n" << o.out << o.err;
    std::vector<std::string> found;
    std::istringstream in(o.out);
    for (std::string line; std::getline(in, line);)
      if (line.rfind("bits ", 0) == 0) found.push_back(line);
    return found;
  };
  const std::vector<std::string> narrow = lines("256"), wide = lines("512");
  ASSERT_EQ(narrow.size(), wide.size());
  EXPECT_FALSE(narrow.empty());
  for (std::size_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(narrow[i], wide[i]);
}

}  // namespace tessera::testing
