// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/own_signals.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace tessera {
namespace {

volatile sig_atomic_t g_own_sigterms = 0, g_sigterms_of_the_library = 0;

/// While it lives SIGTERM has a handler with SA_RESTART, as a guard of stops gives it.
class CountedSigterm {
 public:
  CountedSigterm() {
    g_own_sigterms = 0;
    g_sigterms_of_the_library = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { g_own_sigterms = g_own_sigterms + 1; };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, &before_);
  }
  ~CountedSigterm() { ::sigaction(SIGTERM, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

/// What METIS does with SIGTERM, which comes in the first `interrupted` calls: -4, else 1.
struct Library {
  int interrupted = 0, calls = 0;
  int operator()() {
    const auto before = ::sysv_signal(
        SIGTERM, [](int) { g_sigterms_of_the_library = g_sigterms_of_the_library + 1; });
    const bool comes = calls++ < interrupted;
    if (comes) ::raise(SIGTERM);
    ::sysv_signal(SIGTERM, before);
    return comes ? -4 : 1;
  }
};

TEST(OwnSignals, ASigtermWithinACallComesToTheProcessAndTheWorkIsDone) {
  const CountedSigterm counted;
  Library library{.interrupted = 1};
  EXPECT_EQ(with_own_signals(-4, [&] { return library(); }), 1);
  EXPECT_EQ(g_sigterms_of_the_library, 1);
  EXPECT_EQ(g_own_sigterms, 1);
  EXPECT_EQ(library.calls, 2);
  // The handler stays for more than one signal, and calls of the system go on behind it.
  struct sigaction now {};
  ::sigaction(SIGTERM, nullptr, &now);
  EXPECT_EQ(now.sa_flags & (SA_RESTART | static_cast<int>(SA_RESETHAND)), SA_RESTART);
  ::raise(SIGTERM);
  ::raise(SIGTERM);
  EXPECT_EQ(g_own_sigterms, 3);
}

TEST(OwnSignals, ACallThatAlwaysGivesUpIsNotMadeForEver) {
  const CountedSigterm counted;
  Library library{.interrupted = 100};
  EXPECT_EQ(with_own_signals(-4, [&] { return library(); }), -4);
  EXPECT_EQ(library.calls, 3);
  EXPECT_EQ(g_own_sigterms, 2);
}

TEST(OwnSignals, WhatIsRefusedIsNotTriedAgain) {
  const CountedSigterm counted;
  int calls = 0;
  EXPECT_EQ(with_own_signals(-4, [&] { return ++calls, -2; }), -2);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(g_own_sigterms, 0);
}

}  // namespace
}  // namespace tessera
