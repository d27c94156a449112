// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/stop.h"

#include "tessera/data/exit_code.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>

namespace tessera::data {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLookEvery = std::chrono::milliseconds(200);

// What a signal handler may touch.
std::atomic<int> g_interrupts{0};
std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void say(const char* text, std::size_t n) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, n);
}

void on_signal(int signal) {
  constexpr char first[] = "\nstopping with a checkpoint (once more: leave at once)\n";
  constexpr char second[] = "\nleft at once; the last checkpoint is kept\n";
  if (signal == SIGINT) {
    if (g_interrupts.fetch_add(1) > 0) {
      say(second, sizeof second - 1);
      ::_exit(static_cast<int>(ExitCode::interrupted));
    }
    say(first, sizeof first - 1);
  }
  g_signal = signal;
}

struct Handled {
  int signal;
  void (*handler)(int);
};
const Handled kHandled[] = {{SIGINT, on_signal},  {SIGTERM, on_signal}, {SIGHUP, on_signal},
                            {SIGXCPU, on_signal}, {SIGPIPE, SIG_IGN},   {SIGXFSZ, SIG_IGN}};
std::array<struct sigaction, std::size(kHandled)> g_before;
std::atomic<int> g_guards{0};

}  // namespace

std::string to_string(StopReason reason) {
  switch (reason) {
    case StopReason::none:
      return "";
    case StopReason::stop_file:
      return "stopped by the STOP file";
    case StopReason::time_limit:
      return "stopped by --max-time";
    case StopReason::signal:
      break;
  }
  const int s = g_signal;
  const char* name = s == SIGINT    ? " (SIGINT)"
                     : s == SIGTERM ? " (SIGTERM)"
                     : s == SIGHUP  ? " (SIGHUP)"
                     : s == SIGXCPU ? " (SIGXCPU, CPU time limit)"
                                    : "";
  return "stopped by signal " + std::to_string(s) + name;
}

StopGuard::StopGuard(StopOptions options)
    : options_(std::move(options)), start_(Clock::now()), next_look_(start_) {
  if (g_guards++ > 0) return;
  g_interrupts = 0, g_signal = 0;
  for (std::size_t i = 0; i < std::size(kHandled); ++i) {
    struct sigaction action {};
    action.sa_handler = kHandled[i].handler;
    action.sa_flags = SA_RESTART;  // a write in progress is finished, not broken off
    ::sigemptyset(&action.sa_mask);
    ::sigaction(kHandled[i].signal, nullptr, &g_before[i]);
    // `nohup` asks that the end of a session leaves the run alone.
    const bool ignored = kHandled[i].signal == SIGHUP && g_before[i].sa_handler == SIG_IGN;
    if (!ignored) ::sigaction(kHandled[i].signal, &action, nullptr);
  }
}

StopGuard::~StopGuard() {
  if (--g_guards > 0) return;
  for (std::size_t i = 0; i < std::size(kHandled); ++i)
    ::sigaction(kHandled[i].signal, &g_before[i], nullptr);
}

StopReason StopGuard::poll() {
  if (reason_ != StopReason::none) return reason_;
  if (g_signal != 0) return reason_ = StopReason::signal;
  const Clock::time_point now = Clock::now();
  if (options_.max_time_s &&
      std::chrono::duration<double>(now - start_).count() >= *options_.max_time_s)
    return reason_ = StopReason::time_limit;
  if (!options_.stop_files.empty() && now >= next_look_) {
    next_look_ = now + kLookEvery;
    for (const auto& file : options_.stop_files)
      if (::access(file.c_str(), F_OK) == 0) return reason_ = StopReason::stop_file;
  }
  return reason_;
}

Periodic::Periodic(double seconds) {
  constexpr double kFar = 1e9;  // about 30 years: for practical purposes never
  const double s = seconds > 0 && seconds < kFar ? seconds : kFar;
  period_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  next_ = Clock::now() + period_;
}

bool Periodic::due() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + period_;
  return true;
}

}  // namespace tessera::data
