// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace tessera::test {

/// Prints a number that a test found and notes it in the test report, where acceptance rows read
/// it.
inline void measured(const std::string& name, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  std::printf("  measured %s %s\n", name.c_str(), text);
  ::testing::Test::RecordProperty(name, text);
}

}  // namespace tessera::test
