// SPDX-License-Identifier: Apache-2.0
// The pages keep their word: links lead somewhere, quoted programs are the ones that are built and
// run, and what a page lists is what there is.
#include "matches.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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
    if (at->is_directory() && (name.starts_with("build") || name.starts_with(".")))
      at.disable_recursion_pending();
    if (at->path().extension() == ".md") found.push_back(at->path());
  }
  return found;
}

/// Whether `text` has `word`, not as the end of a longer one: `linear_solve.h` is not `solve.h`.
bool says(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (!std::isalnum(static_cast<unsigned char>(before)) && before != '_') return true;
  }
  return false;
}

/// The modules of cmake/layers.txt, from the ground up.
std::vector<std::string> modules() {
  std::vector<std::string> found;
  std::ifstream order(kRoot / "cmake/layers.txt");
  for (std::string line; std::getline(order, line);)
    if (!line.empty() && line[0] != '#') found.push_back(line.substr(0, line.find(':')));
  return found;
}

/// Files of a folder that end so, by name.
std::vector<fs::path> files(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// The apps, by their pages of options (tests/apps/reference_pages_test.cpp compares these with the
/// program).
std::vector<std::string> documented_apps() {
  std::vector<std::string> found;
  for (const fs::path& page : files(kRoot / "docs/reference", ".md")) {
    const std::string name = page.stem().string();
    if (name.starts_with("options-")) found.push_back(name.substr(8));
  }
  return found;
}

/// What stands between "```KIND" and "```" in a page.
std::vector<std::string> quoted(const std::string& page, const std::string& kind) {
  std::vector<std::string> found;
  const std::string fence = "```" + kind + "\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    found.push_back(page.substr(at, page.find("```", at) - at));
  }
  return found;
}

/// The new text of each hunk of a patch, file by file: what is added and what stays.
std::vector<std::pair<std::string, std::string>> hunks(const std::string& patch) {
  std::vector<std::pair<std::string, std::string>> found;
  std::istringstream lines(patch.substr(std::min(patch.size(), patch.find("diff --git "))));
  std::string file;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("diff --git ")) {
      inside = false;
    } else if (!inside && line.starts_with("+++ b/")) {
      file = line.substr(6);
    } else if (line.starts_with("@@ ")) {
      inside = true;
      found.emplace_back(file, "");
    } else if (inside && (line.empty() || line[0] == ' ' || line[0] == '+')) {
      found.back().second += line.empty() ? "\n" : line.substr(1) + "\n";
    }
  }
  return found;
}

/// Parts of a text with an empty line between them.
std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> found;
  std::size_t at = 0;
  for (std::size_t end; (end = text.find("\n\n", at)) != std::string::npos; at = end + 2)
    found.push_back(text.substr(at, end + 1 - at));
  found.push_back(text.substr(at));
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
    if (entry.is_directory()) continue;  // parts
    std::string code = slurp(entry.path());
    code.erase(0, code.find('\n') + 1);  // the SPDX line
    const std::vector<fs::path> all = pages();
    const auto quotes = [&](const fs::path& page) {
      return slurp(page).find("```cpp\n" + code + "```") != std::string::npos;
    };
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), quotes))
        << "no page quotes " << entry.path() << " as it is";
  }
}

TEST(Docs, EachPieceOfAProgramIsOneOfAProgramThatRuns) {
  // But for layout. Worked examples quote patches (below); a TEST is for a program of the reader's.
  const auto without_blanks = [](std::string text) {
    std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
    return text;
  };
  std::vector<std::string> programs;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / "docs/snippets"))
    if (entry.path().extension() == ".cpp") programs.push_back(without_blanks(slurp(entry.path())));
  int pieces = 0;
  for (const fs::path& page : pages()) {
    const std::string name = page.filename().string(),
                      folder = page.parent_path().filename().string();
    if (name.starts_with("add-") || folder == "changes" || folder == "decisions") continue;
    for (const std::string& piece : quoted(slurp(page), "cpp")) {
      if (piece.find("TEST(") != std::string::npos) continue;
      const std::string bare = without_blanks(piece);
      EXPECT_TRUE(
          std::any_of(programs.begin(), programs.end(),
                      [&](const std::string& p) { return p.find(bare) != std::string::npos; }))
          << page << " quotes what no program of docs/snippets has:\n"
          << piece;
      ++pieces;
    }
  }
  EXPECT_GT(pieces, 25);
}

TEST(Docs, EveryModuleHasItsPage) {
  for (const std::string& module : modules()) {
    EXPECT_TRUE(fs::exists(kRoot / module / "README.md")) << module;
    EXPECT_NE(slurp(kRoot / "docs/architecture.md").find("`" + module + "`"), std::string::npos)
        << module;
  }
}

TEST(Docs, TheFrontPageListsTheModulesInTheirOrder) {
  std::vector<std::string> listed;
  for (const auto& row : matches(slurp(kRoot / "README.md"), R"(\n\| \[([a-z]+)\]\()"))
    listed.push_back(row[1]);
  std::vector<std::string> there = modules();
  there.push_back("docs");
  EXPECT_EQ(listed, there);
}

TEST(Docs, APageOfAModuleNamesEachOfItsHeaders) {
  int headers = 0;
  for (const std::string& module : modules()) {
    const fs::path include = kRoot / module / "include/tessera" / module;
    if (!fs::exists(include)) continue;
    const std::string page = slurp(kRoot / module / "README.md");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(include)) {
      if (entry.path().extension() != ".h") continue;
      const std::string name = fs::relative(entry.path(), include).generic_string();
      EXPECT_TRUE(says(page, name)) << module << "/README.md does not name " << name;
      ++headers;
    }
  }
  EXPECT_GT(headers, 100);
}

TEST(Docs, APageOfAModuleNamesEachOfItsFolders) {
  int folders = 0;
  for (const std::string& module : modules()) {
    const std::string page = slurp(kRoot / module / "README.md");
    const fs::path src = kRoot / module / "src";
    if (fs::exists(src))
      for (const fs::directory_entry& entry : fs::directory_iterator(src)) {
        if (!entry.is_directory()) continue;
        const std::string name = "`src/" + entry.path().filename().string() + "/`";
        EXPECT_TRUE(says(page, name)) << module << "/README.md does not name " << name;
        ++folders;
      }
    for (const auto& named : matches(page, R"(`(src/[a-z_0-9/]+)/`)"))
      EXPECT_TRUE(fs::is_directory(kRoot / module / named[1])) << module << ": " << named[0];
  }
  EXPECT_GT(folders, 40);
}

TEST(Docs, ApplicationsThatPagesListAreThere) {
  // | `inversion.mt1d` | what it does | ...; all of them are printed by `tessera list apps`
  const std::vector<std::string> apps = documented_apps();
  ASSERT_GE(apps.size(), 5u);
  const auto rows =
      matches(slurp(kRoot / "apps/README.md"), R"(\n\| `([a-z_0-9]+\.[a-z_0-9]+)` \|([^\n]*))");
  EXPECT_GE(rows.size(), 5u);
  for (const auto& row : rows) {
    EXPECT_NE(std::find(apps.begin(), apps.end(), row[1]), apps.end()) << row[1];
    EXPECT_NE(row[2].find("(../docs/how-to/"), std::string::npos) << row[1] << " has no how-to";
  }
  for (const char* page : {"README.md", "docs/index.md", "apps/README.md"})
    EXPECT_TRUE(says(slurp(kRoot / page), "tessera list apps")) << page;
}

TEST(Docs, KeysThatMayChangeWithinARunAreThoseOfTheApplications) {
  // | `domain.app` | `run.stop.time`, `.steps`; `output` |: what a point begins has the table
  // before
  const std::string page = slurp(kRoot / "docs/reference/run-folder.md");
  const std::size_t section = page.find("## What may change");
  ASSERT_NE(section, std::string::npos);
  const auto rows =
      matches(page.substr(section), R"(\n\| `([a-z]+)\.([a-z_0-9]+)` \| ([^\n]*) \|)");
  std::set<std::string> named;
  for (const auto& row : rows) {
    std::set<std::string> listed, known;
    std::string table;
    named.insert(row[1] + "." + row[2]);
    for (const auto& word : matches(row[3], R"(`([a-z_.]+)`)")) {
      const std::string key = word[1].starts_with(".") ? table + word[1] : word[1];
      table = key.substr(0, key.rfind('.'));
      listed.insert(key);
    }
    const std::string app = slurp(kRoot / "apps" / row[1] / row[2] / "app.cpp");
    if (const std::size_t at = app.find(".may_change = {"); at != std::string::npos)
      for (const auto& key :
           matches(app.substr(at, app.find('}', at) - at), R"x("(?:stage\.)?([a-z_.]+)")x"))
        known.insert(key[1]);
    EXPECT_EQ(listed, known) << row[0];
  }
  // One that lets nothing change need not be named.
  for (const std::string& app : documented_apps()) {
    const std::size_t dot = app.find('.');
    if (says(slurp(kRoot / "apps" / app.substr(0, dot) / app.substr(dot + 1) / "app.cpp"),
             ".may_change")) {
      EXPECT_TRUE(named.contains(app)) << app;
    }
  }
}

TEST(Docs, ThePageOfExitCodesHasThoseThatThereAre) {
  std::set<std::string> listed, known;
  for (const auto& row : matches(slurp(kRoot / "docs/reference/exit-codes.md"), R"(\n\| (\d+) \|)"))
    listed.insert(row[1]);
  for (const auto& code :
       matches(slurp(kRoot / "data/include/tessera/data/exit_code.h"), R"([a-z_]+ =\s*(\d+),)"))
    known.insert(code[1]);
  EXPECT_EQ(listed, known);
}

TEST(Docs, TheIndexLeadsToEveryPage) {
  const std::string index = slurp(kRoot / "docs/index.md");
  for (const char* folder : {".", "how-to", "reference"})
    for (const fs::path& page : files(kRoot / "docs" / folder, ".md")) {
      const std::string name = fs::relative(page, kRoot / "docs").generic_string();
      if (name == "index.md") continue;
      EXPECT_NE(index.find("(" + name + ")"), std::string::npos) << "no link to " << name;
    }
}

TEST(Docs, EveryExampleCaseStandsOnThePageOfItsFolder) {
  int cases = 0;
  for (const char* folder : {"apps/examples/electromagnetics", "apps/examples/molecular"})
    for (const fs::path& file : files(kRoot / folder, ".toml")) {
      const std::string page = slurp(kRoot / folder / "README.md");
      EXPECT_TRUE(says(page, "`" + file.filename().string() + "`")) << file;
      ++cases;
    }
  EXPECT_GT(cases, 20);
}

TEST(Docs, TheFrontPageQuotesCasesThatRun) {
  std::vector<std::string> cases;
  for (const char* folder : {"apps/examples/electromagnetics", "apps/examples/molecular"})
    for (const fs::path& file : files(kRoot / folder, ".toml")) cases.push_back(slurp(file));
  const std::vector<std::string> quotes = quoted(slurp(kRoot / "README.md"), "toml");
  EXPECT_GE(quotes.size(), 2u);
  for (const std::string& quote : quotes) {
    const std::vector<std::string> parts = paragraphs(quote);
    const auto holds_all = [&](const std::string& text) {
      return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return text.find(part) != std::string::npos;
      });
    };
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), holds_all)) << "no case has all of\n"
                                                                    << quote;
  }
}

TEST(Docs, TheChangelogBeginsWithThisVersion) {
  // ## [0.2.0] - 2026-11-26, then ## [0.1.0] - 2026-11-21: newest first, the first perhaps undated
  const auto project =
      matches(slurp(kRoot / "CMakeLists.txt"), R"(project\(Tessera VERSION (\S+))");
  ASSERT_EQ(project.size(), 1u);
  const auto versions = matches(slurp(kRoot / "CHANGELOG.md"), R"(\n## ([^\n]*))");
  ASSERT_FALSE(versions.empty());
  std::array<int, 3> newer = {};
  std::string newer_date = "unreleased";  // sorts behind every date
  for (const auto& heading : versions) {
    const auto parts = matches(
        heading[1],
        R"(^\[(\d+)\.(\d+)\.(\d+)\] - (unreleased|\d{4}-(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01]))$)");
    ASSERT_EQ(parts.size(), 1u) << heading[1];
    const std::array<int, 3> number = {std::stoi(parts[0][1]), std::stoi(parts[0][2]),
                                       std::stoi(parts[0][3])};
    const std::string& date = parts[0][4];
    if (&heading == &versions.front()) {
      EXPECT_EQ(heading[1].substr(0, project[0][1].size() + 2), "[" + project[0][1] + "]");
    } else {
      EXPECT_NE(date, "unreleased") << heading[1];
      EXPECT_LT(number, newer) << heading[1];
    }
    EXPECT_LE(date, newer_date) << heading[1];
    newer = number, newer_date = date;
  }
}

TEST(Docs, TheFrontPagesLeadToTheChangelog) {
  for (const auto& [page, link] :
       {std::pair{"README.md", "(CHANGELOG.md)"}, std::pair{"docs/index.md", "(../CHANGELOG.md)"},
        std::pair{"CONTRIBUTING.md", "(docs/changes/README.md)"}})
    EXPECT_NE(slurp(kRoot / page).find(link), std::string::npos) << page << " has no " << link;
}

TEST(Docs, AcceptanceRowsThatPagesNameAreThere) {
  int rows = 0;
  for (const fs::path& page : pages())
    for (const auto& command :
         matches(slurp(page), R"(acceptance/run ([a-z0-9]+)((?: --row [a-z0-9_]+)*))")) {
      const fs::path topic = kRoot / "tests/acceptance/rows" / command[1];
      ASSERT_TRUE(fs::exists(topic)) << page << ": " << command[0];
      const std::vector<fs::path> there = files(topic, ".py");
      for (const auto& row : matches(command[2], R"(--row ([a-z0-9_]+))")) {
        const auto called = [&](const fs::path& file) {
          return file.stem().string().substr(3) == row[1];  // NN_name
        };
        EXPECT_TRUE(std::any_of(there.begin(), there.end(), called)) << page << ": " << command[0];
        ++rows;
      }
    }
  EXPECT_GT(rows, 10);
}

TEST(Docs, EveryTopicOfTheAcceptanceIsNamed) {
  for (const char* page : {"CONTRIBUTING.md", "tests/acceptance/README.md"}) {
    const std::string text = slurp(kRoot / page);
    for (const fs::directory_entry& topic :
         fs::directory_iterator(kRoot / "tests/acceptance/rows")) {
      const std::string name = topic.path().filename().string();
      if (!topic.is_directory() || name.starts_with("_")) continue;
      EXPECT_TRUE(says(text, name)) << page << " does not name " << name;
    }
  }
}

TEST(Docs, EveryPresetIsExplained) {
  const std::string page = slurp(kRoot / "CONTRIBUTING.md");
  const auto presets =
      matches(slurp(kRoot / "CMakePresets.json"), R"x(\{"name": "([a-z]+)", "inherits")x");
  EXPECT_GT(presets.size(), 10u);
  for (const auto& preset : presets)
    EXPECT_NE(page.find("`" + preset[1] + "`"), std::string::npos) << preset[1];
}

TEST(Docs, EveryFolderOfTheTestsIsExplained) {
  const std::string page = slurp(kRoot / "tests/README.md");
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "tests")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name.starts_with(".") || name.starts_with("_")) continue;
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << "tests/README.md has no " << name;
  }
}

TEST(Docs, EachReferenceStandsInTheFilesThatItNames) {
  // - Yee, K. S., 1966, where it appeared: [file](path), [file](path)
  std::ifstream page(kRoot / "docs/bibliography.md");
  int references = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("- ")) continue;
    const auto name = matches(line, R"(^- ([^ ,]+))");
    const auto year = matches(line, R"(, ((?:18|19|20)[0-9][0-9]),)");
    const auto links = matches(line, R"(\]\(([^)]+)\))");
    ASSERT_TRUE(name.size() == 1 && !links.empty()) << line;
    for (const auto& link : links) {
      const std::string text = slurp(kRoot / "docs" / link[1]);
      EXPECT_TRUE(says(text, name[0][1])) << link[1] << " does not name " << name[0][1];
      if (!year.empty()) {
        EXPECT_TRUE(says(text, year[0][1])) << link[1] << " has no " << year[0][1] << ": " << line;
      }
    }
    ++references;
  }
  EXPECT_GT(references, 50);
}

TEST(Docs, WorkedExamplesApplyAndArePassedOnAsTheyAre) {
  // Pages docs/how-to/add-*.md lead to patches/*.patch, which say themselves what they touch.
  // A block behind <!-- from FILE --> is text of that file as the patch leaves it.
  std::string all_pages;
  for (const fs::path& page : files(kRoot / "docs/how-to", ".md")) {
    if (!page.filename().string().starts_with("add-")) continue;
    const std::string text = slurp(page);
    all_pages += text;
    const auto links = matches(text, R"(\]\((patches/[a-z-]+\.patch)\))");
    ASSERT_FALSE(links.empty()) << page << " leads to no patch";
    const auto changes = hunks(slurp(page.parent_path() / links[0][1]));
    const std::string mark = "<!-- from ";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      at += mark.size();
      const std::string file = text.substr(at, text.find(" -->", at) - at);
      const std::size_t begin = text.find('\n', text.find("```", at)) + 1;
      const std::string quote = text.substr(begin, text.find("```", begin) - begin);
      const auto has_it = [&](const auto& hunk) {
        return hunk.first == file && hunk.second.find(quote) != std::string::npos;
      };
      EXPECT_TRUE(std::any_of(changes.begin(), changes.end(), has_it))
          << page << " does not quote " << links[0][1] << " as it is: " << file << "\n"
          << quote;
    }
  }
  const fs::path folder = kRoot / "docs/how-to/patches";
  if (!fs::exists(folder)) return;
  const bool with_git = std::system("git --version > /dev/null 2>&1") == 0;
  for (const fs::path& patch : files(folder, ".patch")) {
    const std::string text = slurp(patch), head = text.substr(0, text.find("\ndiff --git "));
    EXPECT_NE(all_pages.find("(patches/" + patch.filename().string() + ")"), std::string::npos)
        << "no page leads to " << patch;
    EXPECT_EQ(matches(head, R"(\nbuild: )").size(), 1u) << patch;
    EXPECT_GE(matches(head, R"(\ntest: )").size(), 1u) << patch;
    const auto said = matches(head, R"(\nfiles: (\d+))");
    ASSERT_EQ(said.size(), 1u) << patch;
    EXPECT_EQ(matches(text, R"(\ndiff --git )").size(), std::stoul(said[0][1])) << patch;
    const std::string check =
        "cd '" + kRoot.string() + "' && git apply --check '" + patch.string() + "'";
    if (with_git) {
      EXPECT_EQ(std::system(check.c_str()), 0) << patch << " does not apply";
    }
  }
}
