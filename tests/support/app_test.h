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
    const std::set<std::string> kinds{".csv", ".h5", ".png", ".svg", ".vtu", ".vtr"};
    for (const auto& e : std::filesystem::recursive_directory_iterator(here() / run))
      if (kinds.contains(e.path().extension())) names.insert(std::filesystem::relative(e.path(), here() / run));
    return names;
  }
  /// `tessera info` knows what a run has left behind: a file of each extension.
  void expect_files_known(const std::filesystem::path& run) {
    std::set<std::string> seen;
    for (const auto& e : std::filesystem::recursive_directory_iterator(here() / run)) {
      if (!e.is_regular_file() || e.file_size() == 0 || !seen.insert(e.path().extension()).second) continue;
      const Outcome o = tessera({"info", e.path()});
      EXPECT_EQ(o.code, 0) << e.path() << "\n" << o.err;
    }
    EXPECT_GE(seen.size(), 5U);
  }
  /// Runs `case.toml` to its end on one thread, and again killed after its first checkpoint and resumed on two: the same bytes.
  void expect_same_after_kill(const std::string& checkpoint_every) {
    namespace fs = std::filesystem;
    const Outcome whole = tessera({"run", "case.toml", "--output", "whole", "--threads", "1"});
    ASSERT_EQ(whole.code, 0) << whole.err;
    {
      RunningProgram process(program({"run", "case.toml", "--output", "killed", "--threads", "1", "--checkpoint-every", checkpoint_every}), here());
      const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!fs::exists(here() / "killed/ckpt/LATEST") && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ASSERT_EQ(::kill(process.pid(), SIGKILL), 0);
      process.wait();
    }
    ASSERT_FALSE(fs::exists(here() / "killed/results.h5"));
    const Outcome resumed = tessera({"resume", "killed", "--threads", "2"});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("going on from"), std::string::npos) << resumed.err;
    const auto names = results("whole");
    EXPECT_FALSE(names.empty());
    EXPECT_EQ(results("killed"), names);
    for (const std::string& name : names) EXPECT_EQ(read("killed/" + name), read("whole/" + name)) << name;
  }

 private:
  TempFolder folder_;
};

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tessera::testing
