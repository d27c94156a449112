// SPDX-License-Identifier: Apache-2.0
//
// Calls of libraries that take signals for themselves while they work. GKlib, with which METIS is
// made, answers SIGABRT (its memory has run out) and SIGTERM by handlers that jump out of the work,
// and puts back those of the process by System V's signal(): for one more signal alone, and without
// SA_RESTART.
#pragma once
#include <signal.h>

#include <array>
#include <cstddef>
#include <mutex>

namespace tessera {

namespace own_signals_detail {
inline std::mutex one_at_a_time;  // or the handlers of one library would be put back by another
}

/// What `call` returns, with SIGTERM and SIGABRT answered afterwards as before. A SIGTERM that ends
/// the call, which then returns `given_up`, is raised again for the process's own handler, and the
/// work is done anew; a call that gives up three times has another reason. Calls wait for each
/// other. A signal of the process comes to its first thread where that takes it: a call by another
/// thread leaves the library's handler to it.
template <class Call>
int with_own_signals(int given_up, Call&& call) {
  constexpr std::array signals{SIGTERM, SIGABRT};
  constexpr int most = 3;
  const std::lock_guard lock(own_signals_detail::one_at_a_time);
  std::array<struct sigaction, signals.size()> own{};
  for (std::size_t k = 0; k < signals.size(); ++k) ::sigaction(signals[k], nullptr, &own[k]);
  for (int calls = 1;; ++calls) {
    const int code = call();
    for (std::size_t k = 0; k < signals.size(); ++k) ::sigaction(signals[k], &own[k], nullptr);
    if (code != given_up || calls == most) return code;
    ::raise(SIGTERM);
  }
}

}  // namespace tessera
