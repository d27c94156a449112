// SPDX-License-Identifier: Apache-2.0
// The pages keep their word: links lead somewhere, quoted programs are the ones that are built and run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "matches.h"
#include "test_paths.h"

namespace fs = std::filesystem;
namespace {

const fs::path kRoot = TESSERA_SOURCE_DIR;

std::string slurp(const fs::path& p) {
  std::ifstream in(p);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator at(kRoot), end; at != end; ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && (name.starts_with("build") || name.starts_with("."))) at.disable_recursion_pending();
    if (at->path().extension() == ".md") found.push_back(at->path());
  }
  return found;
}

}  // namespace

TEST(Docs, NoLinkIsDead) {
  int checked = 0;
  for (const fs::path& page : pages()) {
    const std::string text = slurp(page);
    for (const auto& link : matches(text, R"(\]\(([^)#\s]+)(#[^)]*)?\))")) {
      const std::string& target = link[1];
      if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " links to " << target;
      ++checked;
    }
  }
  EXPECT_GT(checked, 30);
}

TEST(Docs, EachSnippetIsQuotedWordForWord) {
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "docs/snippets")) {
    std::string code = slurp(entry.path());
    code.erase(0, code.find('\n') + 1);  // the SPDX line
    const std::vector<fs::path> all = pages();
    const auto quotes = [&](const fs::path& page) { return slurp(page).find("```cpp\n" + code + "```") != std::string::npos; };
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), quotes)) << "no page quotes " << entry.path() << " as it is";
  }
}

TEST(Docs, EveryModuleHasItsPage) {
  std::ifstream order(kRoot / "cmake/layers.txt");
  for (std::string line; std::getline(order, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string module = line.substr(0, line.find(':'));
    EXPECT_TRUE(fs::exists(kRoot / module / "README.md")) << module;
    EXPECT_NE(slurp(kRoot / "docs/architecture.md").find("`" + module + "`"), std::string::npos) << module;
  }
}
