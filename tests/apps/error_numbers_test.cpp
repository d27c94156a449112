// SPDX-License-Identifier: Apache-2.0
// docs/reference/errors.md lists every number that the sources use, once and in order.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "test_paths.h"

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
  static const std::regex row(R"(\n\| (E\d{4}) \| [^|\n]+ \| [^|\n]+ \|)");
  for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i)
    out.push_back((*i)[1]);
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
  static const std::regex named(R"(\bE(\d{4})\b)"), member(R"(\.number = (\d{3})\b)"),
      call(R"(\b(?:error|refuse|fail|fail_at|keep)\((\d{3}),)");
  for (const char* folder : {"data", "inversion", "apps"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(TESSERA_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      const std::string text = text_of(entry.path());
      for (const std::regex* pattern : {&named, &member, &call}) {
        for (std::sregex_iterator i(text.begin(), text.end(), *pattern), end; i != end; ++i) {
          const std::string digits = (*i)[1];
          const std::string number = "E" + std::string(4 - digits.size(), '0') + digits;
          EXPECT_TRUE(listed.contains(number)) << number << " in " << entry.path();
        }
      }
    }
  }
}
