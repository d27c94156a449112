// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "run_program.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
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

 private:
  TempFolder folder_;
};

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tessera::testing
