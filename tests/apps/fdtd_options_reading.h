// SPDX-License-Identifier: Apache-2.0
// Configurations of electromagnetics.fdtd from text, and what is wrong with them.
#pragma once
#include "case_text.h"
#include "electromagnetics/fdtd/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera::testing {

inline const std::string kHead = "app = \"electromagnetics.fdtd\"\n";

inline apps::waves::CaseOptions read_fdtd(const std::string& text,
                                          const std::vector<std::string>& sets = {}) {
  return apps::fdtd::read_options(
      data::parse_config("case.toml", kHead + text, data::ConfigFormat::toml, sets));
}

/// A case that gives every table and most keys, without the line of its application.
inline std::string whole_case() {
  const std::string text = case_text("fdtd_whole.toml");
  EXPECT_TRUE(text.starts_with(kHead));
  return text.substr(kHead.size());
}

inline std::vector<data::Diagnostic> findings(const std::string& text) {
  try {
    read_fdtd(text);
    return {};
  } catch (const data::InputError& e) {
    EXPECT_EQ(e.code(), data::ExitCode::config_invalid);
    return e.findings();
  }
}

}  // namespace tessera::testing
