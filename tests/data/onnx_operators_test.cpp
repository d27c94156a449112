// SPDX-License-Identifier: Apache-2.0
#include "onnx_operator_tests.h"

#include <gtest/gtest.h>

using namespace tessera::testing;

TEST(OnnxOperators, OnnxsOwnTestsPassOrAreRefused) {
  const std::filesystem::path folder = "/usr/share/libonnx-testdata/data/node";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "there is no " << folder << " (Debian package libonnx-testdata)";
  int passed = 0, all = 0;
  for (const auto& test : std::filesystem::directory_iterator(folder)) {
    const std::string what = outcome_of_onnx_test(test.path());
    EXPECT_FALSE(what.starts_with("failed")) << test.path().filename() << " " << what;
    ++all, passed += what == "passed";
  }
  RecordProperty("passed", passed);
  EXPECT_GE(passed, 3 * all / 4) << "of " << all;
}
