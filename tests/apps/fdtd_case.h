// SPDX-License-Identifier: Apache-2.0
// What tests of electromagnetics.fdtd ask of runs, and a case with a bit of everything.
#pragma once
#include "app_test.h"
#include "case_text.h"
#include "csv_columns.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace tessera::testing {

/// The app in a folder of its own.
class Fdtd : public AppTest {
 protected:
  /// `text` with `by` in place of the first `what`.
  static std::string changed(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
  }
  std::string table(const std::string& run, const std::string& monitor) const {
    return read(run + "/tables/" + monitor + ".csv");
  }
  std::vector<std::vector<double>> rows(const std::string& run, const std::string& monitor) const {
    return csv_rows(table(run, monitor));
  }
  std::vector<double> column(const std::string& run, const std::string& monitor,
                             const std::string& quantity) const {
    return csv_column(table(run, monitor), quantity);
  }
  /// Runs `file` into the folder `name`, which may be there, each of `settings` by --set.
  Outcome run_case(const std::string& file, const std::string& name,
                   const std::vector<std::string>& settings = {}) {
    std::vector<std::string> arguments{"run", file, "--output", name, "--force"};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    return tessera(arguments);
  }
};

/// A conductor, a metal film, glass and a lossy body in two dimensions, with a monitor of nearly
/// every kind.
inline std::string fdtd_case() { return case_text("fdtd.toml"); }

}  // namespace tessera::testing
