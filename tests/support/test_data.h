// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "test_paths.h"

#include <cstdlib>
#include <filesystem>

namespace tessera::testing {

/// Where the real inputs and reference values lie that are not part of the project:
/// TESSERA_TEST_DATA.
inline std::filesystem::path test_data() {
  const char* set = std::getenv("TESSERA_TEST_DATA");
  return set && *set ? set : TESSERA_DEFAULT_TEST_DATA;
}

}  // namespace tessera::testing
