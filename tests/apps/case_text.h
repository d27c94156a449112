// SPDX-License-Identifier: Apache-2.0
// Cases and input files that several tests take, as files in tests/apps/cases.
#pragma once
#include "test_paths.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace tessera::testing {

inline std::string case_text(const std::string& name) {
  const std::string path = TESSERA_SOURCE_DIR "/tests/apps/cases/" + name;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) throw std::runtime_error("cannot read " + path);
  return text.str();
}

}  // namespace tessera::testing
