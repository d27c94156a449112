// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::testing {

/// The exit status of `f`'s result in a child process; 128 + the signal that ended it.
template <class F>
int in_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tessera::testing
