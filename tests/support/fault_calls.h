// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stands between the libraries and the system: the calls that change files are defined here, in the
// test program, and so are taken before libc's. The n-th of them can be made to fail with an errno,
// or to be the last before SIGKILL (a write is then torn: in half, or in place where Linux would,
// at the last of its pages' ends). Include in exactly one file of a program.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace tessera::testing {

inline std::atomic<long> g_calls_left{-1};  // -1: no fault planned
inline std::atomic<int> g_fault_errno{0};   // 0: SIGKILL
inline std::atomic<bool> g_fault_done{false};
inline std::atomic<bool> g_only_torn{
    false};  // count only writes in place that a kill can tear within one record
inline constexpr off64_t kPage = 4096;

/// Plans a fault at the n-th call from now (1: the next). `error` 0 kills the process. `only_torn`:
/// counts only writes in place of less than a page across a page's end.
inline void plan_fault(long n, int error, bool only_torn = false) {
  g_only_torn = only_torn;
  g_fault_errno = error;
  g_fault_done = false;
  g_calls_left = n;
}

inline bool fault_is_due(bool can_tear = false) {
  if (g_calls_left < 0 || (g_only_torn && !can_tear)) return false;
  if (--g_calls_left != 0) return false;
  g_calls_left = -1;
  g_fault_done = true;
  return true;
}
/// Does not return when the plan is to kill.
inline int fail_or_die() {
  if (g_fault_errno == 0) ::raise(SIGKILL);
  errno = g_fault_errno;
  return -1;
}

}  // namespace tessera::testing

extern "C" {

inline constexpr int kOpenAt = AT_FDCWD;

__attribute__((used, visibility("default"))) ssize_t write(int fd, const void* p, size_t n) {
  if (fd > 2 && tessera::testing::fault_is_due()) {
    ::syscall(SYS_write, fd, p, n / 2);
    return tessera::testing::fail_or_die();
  }
  return ::syscall(SYS_write, fd, p, n);
}
__attribute__((used, visibility("default"))) ssize_t pwrite64(int fd, const void* p, size_t n,
                                                              off64_t at) {
  using tessera::testing::kPage;
  const off64_t end = at + static_cast<off64_t>(n), last = std::max(at, end / kPage * kPage);
  if (tessera::testing::fault_is_due(n < kPage && last > at && last < end)) {
    ::syscall(SYS_pwrite64, fd, p, static_cast<size_t>(last - at), at);
    return tessera::testing::fail_or_die();
  }
  return ::syscall(SYS_pwrite64, fd, p, n, at);
}
__attribute__((used, visibility("default"))) ssize_t pwrite(int fd, const void* p, size_t n,
                                                            off_t at) {
  return ::pwrite64(fd, p, n, at);
}
__attribute__((used, visibility("default"))) int fsync(int fd) {
  if (tessera::testing::fault_is_due()) return tessera::testing::fail_or_die();
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
__attribute__((used, visibility("default"))) int rename(const char* from, const char* to) noexcept {
  if (tessera::testing::fault_is_due()) return tessera::testing::fail_or_die();
  return static_cast<int>(::syscall(SYS_rename, from, to));
}
__attribute__((used, visibility("default"))) int unlink(const char* path) noexcept {
  if (tessera::testing::fault_is_due()) return tessera::testing::fail_or_die();
  return static_cast<int>(::syscall(SYS_unlink, path));
}
__attribute__((used, visibility("default"))) int ftruncate64(int fd, off64_t n) noexcept {
  if (tessera::testing::fault_is_due()) return tessera::testing::fail_or_die();
  return static_cast<int>(::syscall(SYS_ftruncate, fd, n));
}
__attribute__((used, visibility("default"))) int ftruncate(int fd, off_t n) noexcept {
  return ::ftruncate64(fd, n);
}
__attribute__((used, visibility("default"))) int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
  va_end(list);
  if ((flags & O_ACCMODE) != O_RDONLY && tessera::testing::fault_is_due())
    return tessera::testing::fail_or_die();
  return static_cast<int>(::syscall(SYS_openat, kOpenAt, path, flags, mode));
}
__attribute__((used, visibility("default"))) int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
  va_end(list);
  return ::open64(path, flags, mode);
}

}  // extern "C"
