// SPDX-License-Identifier: Apache-2.0
#include "files/guarded_child.h"

#include "files/byte_stream.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>

namespace tessera::data {
namespace {

constexpr char kResult = 'R', kError = 'E', kNoMemory = 'M',
               kFault = 'F';  // first byte of what the child sends

std::string encode_error(const InputError& e) {
  std::string out(1, kError);
  const std::function<void(const void*, std::size_t)> sink = [&](const void* p, std::size_t n) {
    out.append(static_cast<const char*>(p), n);
  };
  ByteWriter w{sink};
  w.u64(static_cast<std::uint64_t>(e.code()));
  w.u64(e.findings().size());
  for (const Diagnostic& d : e.findings()) {
    w.u64(static_cast<std::uint64_t>(d.number));
    w.u64(d.place.byte ? *d.place.byte + 1 : 0);
    w.u64(d.place.line);
    w.text(d.message);
    w.text(d.hint);
  }
  return out;
}

[[noreturn]] void rethrow(const std::filesystem::path& file, std::string_view bytes) {
  ByteReader r(bytes);
  const auto code = static_cast<ExitCode>(r.u64());
  std::vector<Diagnostic> findings;
  for (std::uint64_t n = r.count(40); n > 0; --n) {
    Diagnostic d{.number = static_cast<int>(r.u64()), .place = {.file = file.string()}};
    if (const std::uint64_t byte = r.u64()) d.place.byte = byte - 1;
    d.place.line = r.u64();
    d.message = r.text();
    d.hint = r.text();
    findings.push_back(std::move(d));
  }
  throw InputError(code, std::move(findings));
}

void limit(int resource, std::uint64_t value) {
  rlimit r{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &r);
  if (r.rlim_max != RLIM_INFINITY && value > r.rlim_max) value = r.rlim_max;
  r.rlim_cur = r.rlim_max = value;
  ::setrlimit(static_cast<__rlimit_resource>(resource), &r);
}

/// Bytes of address space in use; /proc is read without the C++ streams, which a forked child may
/// find locked.
std::uint64_t mapped_bytes() {
  char text[64] = "";
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  [[maybe_unused]] const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  std::uint64_t pages = 0;
  for (const char* p = text; *p >= '0' && *p <= '9'; ++p)
    pages = 10 * pages + static_cast<std::uint64_t>(*p - '0');
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

[[noreturn]] void be_the_child(int out, pid_t parent, const ChildLimits& limits,
                               const std::function<std::string()>& work) {
  for (int s : {SIGXCPU, SIGXFSZ, SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::signal(s, SIG_DFL);
  // Requests to stop go to a whole group of processes (a terminal, timeout, batch systems): the
  // parent decides what they mean, and takes the child with it where it ends.
  for (int s : {SIGINT, SIGTERM, SIGHUP}) ::signal(s, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2}) ::dup2(null, fd);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  if (const std::uint64_t mapped = mapped_bytes()) limit(RLIMIT_AS, mapped + limits.memory_bytes);
  std::string answer;
  try {
    answer = kResult + work();
  } catch (const InputError& e) {
    answer = encode_error(e);
  } catch (const std::bad_alloc&) {
    answer = kNoMemory;
  } catch (const std::exception& e) {
    answer = kFault + std::string(e.what());
  }
  std::size_t sent = 0;
  while (sent < answer.size()) {
    const ssize_t n = ::write(out, answer.data() + sent, answer.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) ::_exit(1);
    sent += static_cast<std::size_t>(n);
  }
  ::_exit(0);
}

}  // namespace

std::string run_guarded(const std::filesystem::path& file, const ChildLimits& limits,
                        const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_io_error(file, "make pipe for reading", errno);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) {
    const int failed = errno;
    ::close(ends[0]), ::close(ends[1]);
    throw_io_error(file, "start reader", failed);
  }
  if (child == 0) be_the_child(ends[1], parent, limits, work);
  ::close(ends[1]);
  std::string answer;
  bool too_large = false;
  for (char piece[1 << 16];;) {
    const ssize_t n = ::read(ends[0], piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    too_large = answer.size() + static_cast<std::size_t>(n) > limits.memory_bytes;
    if (too_large) break;
    answer.append(piece, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);  // a child that still writes gets SIGPIPE
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const auto stopped = [&](const std::string& why) {
    return InputError(Diagnostic{.number = 429,
                                 .place = {file.string()},
                                 .message = "reader stopped (" + why + ")",
                                 .hint = "the file is damaged or made to do harm"});
  };
  if (too_large) throw stopped("its answer is larger than the limit");
  if (WIFSIGNALED(status))
    throw stopped(WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL
                      ? "CPU time limit of " + std::to_string(limits.cpu_seconds) + " s or killed"
                      : "signal " + std::to_string(WTERMSIG(status)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty())
    throw stopped("exit " + std::to_string(WEXITSTATUS(status)));
  const std::string_view body = std::string_view(answer).substr(1);
  try {
    if (answer[0] == kError) rethrow(file, body);
  } catch (const BadBytes&) {
    throw stopped("it sent a garbled answer");
  }
  if (answer[0] == kNoMemory)
    throw stopped("memory limit of " + std::to_string(limits.memory_bytes >> 20) + " MiB");
  if (answer[0] != kResult) throw Error("[read] " + file.string() + ": " + std::string(body));
  answer.erase(0, 1);
  return answer;
}

}  // namespace tessera::data
