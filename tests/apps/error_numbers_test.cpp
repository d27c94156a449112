// SPDX-License-Identifier: Apache-2.0
// docs/reference/errors.md lists every number that the sources use, once and in order.
#include "matches.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

std::vector<std::string> listed_numbers() {
  std::vector<std::string> out;
  const std::string page = text_of(fs::path(TESSERA_SOURCE_DIR) / "docs/reference/errors.md");
  for (const auto& row : matches(page, R"(\n\| (E\d{4}) \| [^|\n]+ \| [^|\n]+ \|)"))
    out.push_back(row[1]);
  return out;
}

}  // namespace

TEST(ErrorNumbers, TheListIsSortedAndHasNoDoubles) {
  const auto numbers = listed_numbers();
  ASSERT_GT(numbers.size(), 30u);
  for (std::size_t i = 1; i < numbers.size(); ++i) EXPECT_LT(numbers[i - 1], numbers[i]);
}

TEST(ErrorNumbers, EveryNumberOfTheHeadersAndSourcesIsListed) {
  const auto numbers = listed_numbers();
  const std::set<std::string> listed(numbers.begin(), numbers.end());
  // Headers and comments name them as E0213; code gives `.number = 213` or the first number of
  // error(213, ...).
  const char *const named = R"(\bE(\d{4})\b)", *const member = R"(\.number = (\d{3})\b)",
                    *const call = R"(\b(?:error|refuse|fail|fail_at|keep)\((\d{3}),)";
  for (const char* folder : {"data", "electromagnetics", "inversion", "molecular", "apps"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(TESSERA_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      const std::string text = text_of(entry.path());
      for (const char* expression : {named, member, call})
        for (const auto& match : matches(text, expression)) {
          const std::string number = "E" + std::string(4 - match[1].size(), '0') + match[1];
          EXPECT_TRUE(listed.contains(number)) << number << " in " << entry.path();
        }
    }
  }
}
