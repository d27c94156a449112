// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/stop.h"

#include "in_child.h"
#include "temp_folder.h"
#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera::data;
using namespace tessera::testing;

TEST(Stop, SignalsAskForAStop) {
  for (int s : {SIGTERM, SIGINT, SIGHUP, SIGXCPU})
    EXPECT_EQ(in_child([&] {
                ::signal(s, SIG_DFL);  // also where the tests run under nohup
                StopGuard guard;
                if (guard.poll() != StopReason::none) return 1;
                ::raise(s);
                return guard.poll() == StopReason::signal && guard.poll() == StopReason::signal ? 75
                                                                                                : 2;
              }),
              75)
        << s;
  EXPECT_EQ(in_child([] {
              StopGuard guard;
              ::raise(SIGTERM);
              guard.poll();
              return to_string(StopReason::signal) == "stopped by signal 15 (SIGTERM)" ? 75 : 2;
            }),
            75);
}

// nohup starts a program with SIGHUP ignored; a handler of ours would undo what it is for.
TEST(Stop, UnderNohupTheEndOfTheSessionStopsNothing) {
  EXPECT_EQ(in_child([] {
              ::signal(SIGHUP, SIG_IGN);
              {
                StopGuard guard;
                ::raise(SIGHUP);
                if (guard.poll() != StopReason::none) return 1;
                ::raise(SIGTERM);  // the others do what they always do
                if (guard.poll() != StopReason::signal) return 2;
              }
              ::raise(SIGHUP);
              return 75;
            }),
            75);
}

TEST(Stop, TheSecondInterruptLeavesAtOnce) {
  EXPECT_EQ(in_child([] {
              StopGuard guard;
              ::raise(SIGINT);
              ::raise(SIGINT);
              return 0;
            }),
            130);
}

TEST(Stop, ABrokenPipeIsAWriteError) {
  EXPECT_EQ(in_child([] {
              StopGuard guard;
              int ends[2];
              if (::pipe(ends) != 0) return 1;
              ::close(ends[0]);
              return ::write(ends[1], "x", 1) == -1 && errno == EPIPE ? 75 : 2;
            }),
            75);
}

TEST(Stop, FileAndTimeLimit) {
  TempFolder dir;
  {
    StopGuard guard({.stop_files = {dir / "other" / "STOP", dir / "STOP"}});
    EXPECT_EQ(guard.poll(), StopReason::none);
    dir.write("STOP", "");
    ::usleep(300000);  // it is looked for five times a second
    EXPECT_EQ(guard.poll(), StopReason::stop_file);
  }
  EXPECT_EQ(StopGuard({.max_time_s = 0}).poll(), StopReason::time_limit);
  EXPECT_EQ(StopGuard({.max_time_s = 1e6}).poll(), StopReason::none);
}

TEST(Stop, ASignalWithinAnInnerGuardAsksTheOuterOneToo) {
  EXPECT_EQ(in_child([] {
              StopGuard outer;
              {
                const StopGuard inner;
                ::raise(SIGTERM);
              }
              StopGuard next;
              return outer.poll() == StopReason::signal && next.poll() == StopReason::signal ? 75
                                                                                             : 2;
            }),
            75);
}

TEST(Stop, HandlersAreGivenBack) {
  EXPECT_EQ(in_child([] {
              { StopGuard guard; }
              ::raise(SIGTERM);
              return 0;
            }),
            128 + SIGTERM);
}

TEST(Periodic, OncePerPeriodAndNeverForZero) {
  Periodic never(0), soon(1e-9);
  EXPECT_FALSE(never.due());
  ::usleep(1000);
  EXPECT_TRUE(soon.due());
}
