// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "tessera/data/diagnostic.h"

namespace tessera::testing {

/// Runs `f`, which must throw InputError with this exit code and (if not 0) this number first; returns its text.
template <class F>
std::string expect_input_error(F&& f, data::ExitCode code, int number = 0) {
  try {
    f();
  } catch (const data::InputError& e) {
    EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(code)) << e.what();
    EXPECT_FALSE(e.findings().empty());
    if (number && !e.findings().empty()) {
      EXPECT_EQ(e.findings()[0].number, number) << e.what();
    }
    return e.what();
  }
  ADD_FAILURE() << "expected an InputError";
  return "";
}

}  // namespace tessera::testing
