// SPDX-License-Identifier: Apache-2.0
// What tests of inversion.mt1d run.
#pragma once
#include "app_test.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace tessera::testing {

class Mt1d : public AppTest {
 protected:
  /// The example's soundings, the first `keep` of them, and a case with more lines.
  void make_case(int keep, const std::string& more) {
    ASSERT_EQ(tessera({"new", "inversion.mt1d", "site", "--force"}).code, 0);
    for (int k = keep + 1; k <= 12; ++k)
      std::filesystem::remove(
          here() / "site/soundings" /
          ("syn" + std::string(k < 10 ? "0" : "") + std::to_string(k) + ".edi"));
    write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n" + more);
  }
};

}  // namespace tessera::testing
