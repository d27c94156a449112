// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/app.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps {

class Ranks;

/// What the user asked for, whatever the verb: each verb reads the members that it declares.
struct CommandLine {
  std::string verb;
  std::filesystem::path path;          ///< CASE, RUN, FILE or DIR
  std::filesystem::path frames;        ///< TRAJECTORY, or inputs of `predict`
  std::string word;                    ///< app, key, shell, kind of list
  std::string stage;                   ///< --stage
  std::filesystem::path output;        ///< -o
  std::filesystem::path sweep;         ///< of a point of a sweep: the folder of all of it
  std::vector<std::string> overrides;  ///< --set, in order
  int processes = 0;                   ///< -n, and below: of launch
  int max_restarts = 3;                ///< --max-restarts
  std::string mpirun = "mpirun";       ///< --mpirun
  std::vector<std::string> mpirun_options;
  std::uint64_t seed = 1;
  bool json = false;
  bool markdown = false;
  RunOptions run;
  std::vector<std::string> arguments;  ///< as typed, for the manifest
  Ranks* ranks = nullptr;              ///< of run, rerun, resume, gradcheck: those that do it
  /// Of a point of a sweep: looks at the files that it has read before it takes a step.
  std::function<void(const std::vector<data::InputFile>&)> look_at_inputs;
};

/// One flag or verb as completion scripts need it.
struct FlagInfo {
  std::string name;  ///< "--set", "-o"
  std::string doc;
  bool takes_value = false;
};
struct VerbInfo {
  std::string name, doc;
  std::vector<FlagInfo> flags;
};

struct ParseResult {
  std::optional<CommandLine> command;  ///< empty: help, version or an error has been printed
  data::ExitCode code = data::ExitCode::ok;
};

/// Reads argv. Prints help and version to stdout, mistakes to stderr (exit 2).
ParseResult parse_command_line(int argc, const char* const* argv);

/// Every verb with its flags, from the same declarations that parse.
std::vector<VerbInfo> all_verbs();

}  // namespace tessera::apps
