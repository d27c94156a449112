// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "temp_folder.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::testing {

struct Outcome {
  int code = -1;    ///< exit status; -signal if a signal ended the program
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// A program that has been started in `folder`, without a shell, with both outputs going to files
/// there is no name for.
class RunningProgram {
 public:
  RunningProgram(std::vector<std::string> arguments, const std::filesystem::path& folder,
                 const std::vector<std::string>& extra_environment = {})
      : out_(capture_.path() / "out"), err_(capture_.path() / "err") {
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    std::vector<std::string> environment = extra_environment;
    for (char** e = environ; *e; ++e) environment.emplace_back(*e);
    std::vector<char*> envp;
    for (std::string& e : environment) envp.push_back(e.data());
    envp.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out_.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), O_WRONLY | O_CREAT, 0600);
    const int failed = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw std::runtime_error("cannot start " + arguments[0]);
  }

  pid_t pid() const { return pid_; }

  Outcome wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text(out_), text(err_)};
  }

 private:
  static std::string text(const std::filesystem::path& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }

  TempFolder capture_;
  std::filesystem::path out_, err_;
  pid_t pid_ = -1;
};

}  // namespace tessera::testing
