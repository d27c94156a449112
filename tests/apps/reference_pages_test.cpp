// SPDX-License-Identifier: Apache-2.0
// The pages of docs/reference that are printed by the program are the ones it prints today, and
// they say of each key the version that had it first.
#include "run_program.h"
#include "tessera/data/build_info.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

/// "APP KEY" of every key on the pages of options, with the version that they say.
std::map<std::string, std::string> documented_keys() {
  std::map<std::string, std::string> found;
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "docs/reference")) {
    const std::string name = file.path().stem().string();
    if (!name.starts_with("options-")) continue;
    std::ifstream page(file.path());
    std::string table;
    for (std::string line; std::getline(page, line);) {
      if (line.starts_with("## `[")) {  // ## `[[medium.poles]]`
        const std::size_t begin = line.find_first_not_of("#` [");
        table = line.substr(begin, line.find(']') - begin) + ".";
      } else if (line.starts_with("| `")) {  // | `key` | ... | 0.1 |
        const std::string row = line.substr(0, line.rfind(" |"));
        found[name.substr(8) + " " + table + line.substr(3, line.find('`', 3) - 3)] =
            row.substr(row.rfind(' ') + 1);
      }
    }
  }
  return found;
}

/// "APP KEY" of the keys that came with a version that is out, with that version: the files
/// tests/apps/keys/VERSION.txt, a key a line, which nothing generates.
std::map<std::string, std::string> keys_of_versions() {
  std::map<std::string, std::string> found;
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "tests/apps/keys")) {
    std::ifstream lines(file.path());
    for (std::string key; std::getline(lines, key);)
      EXPECT_TRUE(found.try_emplace(key, file.path().stem().string()).second)
          << key << " came with two versions";
  }
  return found;
}

}  // namespace

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

TEST(ReferencePages, CasesThatHowTosQuoteHaveKeysAndValuesThatThereAre) {
  int cases = 0;
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "docs/how-to")) {
    if (file.path().extension() != ".md") continue;
    const std::string page = read_bytes(file.path()), fence = "```toml\n";
    for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
      at += fence.size();
      const std::string quote = page.substr(at, page.find("```", at) - at);
      if (!quote.starts_with("app = ")) continue;  // a part of a case
      const TempFolder t;
      t.write("case.toml", quote);
      const Outcome o = RunningProgram({TESSERA_PROGRAM, "check", "case.toml"}, t.path()).wait();
      // 4: a file that it names is not here; 5 would be its own fault.
      EXPECT_TRUE(o.code == 0 || o.code == 4) << file.path() << "\n" << quote << o.err;
      ++cases;
    }
  }
  EXPECT_GE(cases, 4);
}

TEST(ReferencePages, AKeyThatNoEarlierVersionHadSaysTheOneInPreparation) {
  const std::string_view version = tessera::data::build_info().version;  // "0.2.0"
  const std::string now(version.substr(0, version.rfind('.')));
  const std::map<std::string, std::string> keys = documented_keys(), earlier = keys_of_versions();
  EXPECT_GE(keys.size(), 649u);
  for (const auto& [key, since] : keys) {
    const auto had = earlier.find(key);
    const bool is_new = had == earlier.end();
    EXPECT_EQ(since, is_new ? now : had->second)
        << key << (is_new ? " is in no file of tests/apps/keys, so it is new: say .since" : "");
  }
  for (const auto& [key, since] : earlier)
    EXPECT_NE(since, now) << key << " is in a list of a version that is not out";
}
