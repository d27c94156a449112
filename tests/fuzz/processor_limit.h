// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/time.h>

#include <csignal>
#include <cstdlib>

namespace tessera::testing {

/// While it lives, this process may use `seconds` of processor time; then it aborts, which
/// libFuzzer reports as a finding. libFuzzer's own -timeout counts wall seconds and so blames the
/// input for what else the machine does.
class ProcessorLimit {
 public:
  explicit ProcessorLimit(long seconds = 10) {
    std::signal(SIGPROF, [](int) { std::abort(); });
    arm(seconds);
  }
  ~ProcessorLimit() { arm(0); }
  ProcessorLimit(const ProcessorLimit&) = delete;
  ProcessorLimit& operator=(const ProcessorLimit&) = delete;

 private:
  static void arm(long seconds) {
    const itimerval timer{{0, 0}, {seconds, 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

}  // namespace tessera::testing
