// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "run_program.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tessera::testing {

/// The command `tessera` in a folder of its own.
class AppTest : public ::testing::Test {
 protected:
  Outcome tessera(std::vector<std::string> arguments) {
    return RunningProgram(program(std::move(arguments)), here()).wait();
  }
  static std::vector<std::string> program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TESSERA_PROGRAM);
    return arguments;
  }
  const std::filesystem::path& here() const { return folder_.path(); }
  std::string read(const std::filesystem::path& name) const {
    std::ostringstream all;
    all << std::ifstream(here() / name, std::ios::binary).rdbuf();
    return all.str();
  }
  void write(const std::filesystem::path& name, const std::string& text) const {
    std::ofstream(here() / name) << text;
  }
  /// Tables, results, pictures and fields of a run, by their names in it.
  std::set<std::string> results(const std::filesystem::path& run) const {
    std::set<std::string> names;
    const std::set<std::string> kinds{".csv", ".h5",  ".png",        ".svg",
                                      ".vtu", ".vtr", ".safetensors"};
    for (const auto& e : std::filesystem::recursive_directory_iterator(here() / run))
      if (kinds.contains(e.path().extension()))
        names.insert(std::filesystem::relative(e.path(), here() / run));
    return names;
  }
  /// `tessera info` knows what a run has left behind: a file of each extension.
  void expect_files_known(const std::filesystem::path& run) {
    std::set<std::string> seen;
    for (const auto& e : std::filesystem::recursive_directory_iterator(here() / run)) {
      if (!e.is_regular_file() || e.file_size() == 0 || !seen.insert(e.path().extension()).second)
        continue;
      const Outcome o = tessera({"info", e.path()});
      EXPECT_EQ(o.code, 0) << e.path() << "\n" << o.err;
    }
    EXPECT_GE(seen.size(), 5U);
  }
  /// Runs `case.toml` to its end on one thread, and again killed after its first checkpoint, or the
  /// first after its log says so, and resumed on two: the same bytes.
  void expect_same_after_kill(const std::string& checkpoint_every, const std::string& said = "") {
    namespace fs = std::filesystem;
    const Outcome whole = tessera({"run", "case.toml", "--output", "whole", "--threads", "1"});
    ASSERT_EQ(whole.code, 0) << whole.err;
    {
      RunningProgram process(program({"run", "case.toml", "--output", "killed", "--threads", "1",
                                      "--checkpoint-every", checkpoint_every}),
                             here());
      const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      const auto wait_until = [&](const auto& there) {
        while (!there() && std::chrono::steady_clock::now() < give_up)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      };
      const auto newest = [&] {
        const bool any = fs::exists(here() / "killed/ckpt/LATEST");
        return any ? read("killed/ckpt/LATEST") : std::string();
      };
      wait_until([&] {
        return said.empty() || (fs::exists(here() / "killed/log.txt") &&
                                read("killed/log.txt").find(said) != std::string::npos);
      });
      const std::string before = said.empty() ? "" : newest();
      wait_until([&] { return newest() != before; });
      ASSERT_EQ(::kill(process.pid(), SIGKILL), 0);
      process.wait();
    }
    ASSERT_FALSE(fs::exists(here() / "killed/results.h5"));
    const Outcome resumed = tessera({"resume", "killed", "--threads", "2"});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("going on from"), std::string::npos) << resumed.err;
    expect_same_results("killed", "whole");
  }

  /// The same names and bytes of tables, results and pictures.
  void expect_same_results(const std::string& run, const std::string& reference) {
    const auto names = results(reference);
    EXPECT_FALSE(names.empty());
    EXPECT_EQ(results(run), names);
    for (const std::string& name : names)
      EXPECT_EQ(read(run + "/" + name), read(reference + "/" + name)) << name;
  }
  /// `resume` runs what was run: an edit of resolved.toml, `from` to `to`, is E0417 before anything
  /// is written; by `--set` the same change, `set`, is E0435.
  void expect_edit_refused(const std::string& run, const std::string& from, const std::string& to,
                           const std::string& set) {
    const std::string text = read(run + "/resolved.toml"), manifest = read(run + "/manifest.json");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    std::string edited = text;
    write(run + "/resolved.toml", edited.replace(at, from.size(), to));
    const Outcome refused = tessera({"resume", run});
    EXPECT_EQ(refused.code, 5) << refused.err;
    EXPECT_NE(refused.err.find(run + "/resolved.toml: error E0417"), std::string::npos)
        << refused.err;
    write(run + "/resolved.toml", text);
    const Outcome by_set = tessera({"resume", run, "--set", set});
    EXPECT_EQ(by_set.code, 5) << by_set.err;
    EXPECT_NE(by_set.err.find("E0435"), std::string::npos) << by_set.err;
    EXPECT_EQ(read(run + "/resolved.toml"), text);
    EXPECT_EQ(read(run + "/manifest.json"), manifest);
  }
  /// A finished run of `case.toml` with the end `first` that goes on to the end `last` is a run to
  /// `last`.
  void expect_same_after_extension(const std::string& first, const std::string& last) {
    ASSERT_EQ(
        tessera({"run", "case.toml", "--output", "longer", "--threads", "1", "--set", first}).code,
        0);
    ASSERT_EQ(
        tessera({"run", "case.toml", "--output", "long", "--threads", "1", "--set", last}).code, 0);
    const Outcome o = tessera({"resume", "longer", "--threads", "2", "--set", last});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(read("longer/manifest.json").find("\"" + last + "\""), std::string::npos)
        << "a change is recorded";
    expect_same_results("longer", "long");
    const Outcome again = tessera({"resume", "longer", "--set", last});
    EXPECT_EQ(again.code, 0);
    EXPECT_NE(again.err.find("nothing is left to do"), std::string::npos) << again.err;
  }

 private:
  TempFolder folder_;
};

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tessera::testing
