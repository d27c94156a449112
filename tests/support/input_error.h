// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/diagnostic.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::testing {

/// Runs `f`, which must throw InputError with this exit code and (if not 0) this number first;
/// returns its text.
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

/// The first finding of the InputError that `read` throws; empty where it throws none.
data::Diagnostic fault(auto&& read) {
  try {
    read();
  } catch (const data::InputError& e) {
    return e.findings().at(0);
  }
  return {};
}
inline void expect_fault(const data::Diagnostic& d, int number, std::size_t line,
                         std::size_t column, const char* part) {
  EXPECT_EQ(d.number, number) << to_string(d) << " expected: " << part;
  EXPECT_EQ(d.place.line, line) << to_string(d);
  EXPECT_EQ(d.place.column, column) << to_string(d);
  EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
}

}  // namespace tessera::testing
