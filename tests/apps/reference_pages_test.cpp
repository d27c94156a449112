// SPDX-License-Identifier: Apache-2.0
// The pages of docs/reference that are printed by the program are the ones it prints today.
#include "run_program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace tessera::testing;
namespace fs = std::filesystem;

TEST(ReferencePages, OptionsOfEveryAppAreDocumentedAsTheyAre) {
  const TempFolder t;
  std::istringstream apps(RunningProgram({TESSERA_PROGRAM, "list", "apps"}, t.path()).wait().out);
  int count = 0;
  for (std::string line; std::getline(apps, line); ++count) {
    const std::string app = line.substr(0, line.find(' '));
    const std::string name = "docs/reference/options-" + app + ".md";
    std::ostringstream page;
    page << std::ifstream(fs::path(TESSERA_SOURCE_DIR) / name).rdbuf();
    const Outcome now =
        RunningProgram({TESSERA_PROGRAM, "schema", app, "--markdown"}, t.path()).wait();
    ASSERT_EQ(now.code, 0) << now.err;
    EXPECT_EQ(page.str(), now.out)
        << "renew it: tessera schema " << app << " --markdown > " << name;
  }
  EXPECT_GE(count, 1);
  int pages = 0;
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "docs/reference"))
    if (file.path().filename().string().starts_with("options-")) ++pages;
  EXPECT_EQ(pages, count) << "a page of options without an app";
}
