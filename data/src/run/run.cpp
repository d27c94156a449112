// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/run.h"

#include "run/json_text.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLock = "lock";
constexpr std::chrono::seconds kRenewal(20);  // of the time of a lock that is held
constexpr double kForeignHostSilence =
    120;  // seconds without a renewal before another host's lock is taken over
constexpr const char* kContents[] = {
    "input.toml",  "input.json", "resolved.toml", "manifest.json",  "log.txt",
    "metrics.csv", "results.h5", "view.pvd",      "heartbeat.json", "STOP",
    "ckpt",        "plots",      "points",        "points.csv"};

[[noreturn]] void refuse_run(const fs::path& path, int number, std::string message,
                             std::string hint) {
  throw InputError({.number = number,
                    .place = {path.string()},
                    .message = std::move(message),
                    .hint = std::move(hint)},
                   ExitCode::usage);
}

std::string this_host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// Seconds since a lock was renewed, by the clock of the file system, so that two hosts agree. It
/// leaves the lock as old as it was.
double age_of_lock(int fd) {
  struct stat renewed, now;
  if (::fstat(fd, &renewed) != 0 || ::futimens(fd, nullptr) != 0 || ::fstat(fd, &now) != 0)
    return 0;
  const timespec as_it_was[2] = {renewed.st_atim, renewed.st_mtim};
  ::futimens(fd, as_it_was);
  return static_cast<double>(now.st_mtim.tv_sec - renewed.st_mtim.tv_sec);
}

/// The kernel's lock decides on this host and is given back when a process dies. Its text (pid,
/// host) is for people, and stops a second host where the file system does not carry locks across.
int take_lock(const fs::path& run) {
  const fs::path path = run / kLock;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) throw_io_error(path, "create", errno);
  struct stat opened, named;
  char text[512] = "";
  const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
  const std::string holder(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  const std::string shown = json_quote(holder.substr(0, holder.find('\n')));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int failed = errno;
    ::close(fd);
    if (failed != EWOULDBLOCK) throw_io_error(path, "lock", failed);
    refuse_run(run, 511, "another process works in this run folder: " + shown,
               "wait for it, or `tessera stop` it first");
  }
  // The one who held it may have removed the file between our open and our lock: then begin again
  // with a fresh one.
  if (::fstat(fd, &opened) != 0 || ::stat(path.c_str(), &named) != 0 ||
      opened.st_ino != named.st_ino) {
    ::close(fd);
    return take_lock(run);
  }
  const std::size_t host_at = holder.find(" host ");
  const bool foreign =
      host_at != std::string::npos && holder.substr(host_at + 6) != this_host() + "\n";
  if (foreign && age_of_lock(fd) < kForeignHostSilence) {
    ::close(fd);
    refuse_run(run, 511, "a process on another machine works in this run folder: " + shown,
               "if that process is gone, remove " + path.string());
  }
  const std::string mine = "pid " + std::to_string(::getpid()) + " host " + this_host() + "\n";
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, mine.data(), mine.size(), 0) != static_cast<ssize_t>(mine.size())) {
    const int failed = errno;
    ::close(fd);
    throw_io_error(path, "write", failed);
  }
  return fd;
}

/// Whether something other than an old lock lies in the folder.
bool in_use(const fs::path& path) {
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().filename() != kLock) return true;
  return false;
}

/// Whether a run has made the folder: what it makes first, or leaves in the end, is there.
bool is_run_folder(const fs::path& path) {
  return fs::exists(path / "manifest.json") ||
         (fs::is_directory(path / "ckpt") && fs::is_directory(path / "plots"));
}

/// An empty folder holds nothing to lose: a run that was killed as it began may have left one.
bool holds_something(const fs::path& path) {
  return fs::exists(path) && !(fs::is_directory(path) && fs::is_empty(path));
}

/// What is in a run folder goes; of a folder that is none, nothing.
void clear_run_folder(const fs::path& path) {
  if (!is_run_folder(path))
    for (const char* name : kContents)
      if (holds_something(path / name))
        refuse_run(path, 510,
                   std::string("the folder has ") + name +
                       ", which a run would replace, and no run has made it",
                   std::string("choose another with --output, or move ") + name + " away");
  for (const char* name : kContents) fs::remove_all(path / name);
}

/// Files that writers now dead had begun (file_io.h), in the folder and in those within it.
void clear_unfinished(const fs::path& run) {
  std::error_code none;
  std::vector<fs::path> folders{run}, left;
  for (const auto& entry : fs::directory_iterator(run, none))
    if (entry.is_directory(none) && !entry.is_symlink(none)) folders.push_back(entry.path());
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      constexpr std::string_view mark = ".tmp-";
      const std::string name = entry.path().filename().string();
      const std::size_t at = name.rfind(mark);
      if (at == std::string::npos || !entry.is_regular_file(none)) continue;
      pid_t writer = 0;
      const char* const end = name.data() + name.size();
      const auto read = std::from_chars(name.data() + at + mark.size(), end, writer);
      if (read.ec == std::errc() && read.ptr == end && writer > 0 && ::kill(writer, 0) != 0 &&
          errno == ESRCH)
        left.push_back(entry.path());
    }
  for (const fs::path& file : left) fs::remove(file, none);
}

}  // namespace

/// Held by the kernel for this host; for others a thread keeps its time young, whatever the run
/// does meanwhile.
struct RunFolder::Lock {
  explicit Lock(const fs::path& run) : path(run / kLock), fd(take_lock(run)) {
    renewer = std::thread([this] {
      std::unique_lock hold(mutex);
      while (!ended.wait_for(hold, kRenewal, [this] { return over; })) ::futimens(fd, nullptr);
    });
  }
  ~Lock() {
    {
      const std::lock_guard hold(mutex);
      over = true;
    }
    ended.notify_one();
    renewer.join();
    ::unlink(path.c_str());  // while still held
    ::close(fd);
  }
  Lock(const Lock&) = delete;

  fs::path path;
  int fd;
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::thread renewer;
};

RunFolder::RunFolder(fs::path path) : path_(std::move(path)), lock_(new Lock(path_)) {}
RunFolder::RunFolder(RunFolder&& other) noexcept = default;
RunFolder::~RunFolder() = default;

RunFolder RunFolder::create(const fs::path& path, bool force) {
  make_folder(path);
  RunFolder run(path);
  try {
    if (in_use(path)) {
      if (!force)
        refuse_run(path, 510, "the run folder exists and is not empty",
                   "choose another with --output, or pass --force");
      clear_run_folder(path);
    }
    fs::create_directory(run.checkpoints());
    fs::create_directory(run.plots());
  } catch (const fs::filesystem_error& e) {
    throw_io_error(path, "prepare the run folder", e.code().value());
  }
  return run;
}

RunFolder RunFolder::reopen(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path / "manifest.json", ignored))
    refuse_run(path, 512, "not a run folder (it has no manifest.json)",
               "give the folder that `tessera run` made");
  RunFolder run(path);
  fs::remove(run.stop_file(), ignored);
  clear_unfinished(path);
  return run;
}

void RunFolder::write_text(const std::string& name, std::string_view content) const {
  write_file_atomically(path_ / name, content);
}

Manifest RunFolder::read_manifest() const {
  return manifest_from_json(read_file(manifest_json(), 64 << 20), manifest_json().string());
}

void request_stop(const fs::path& run) {
  std::error_code ignored;
  if (!fs::is_regular_file(run / "manifest.json", ignored))
    refuse_run(run, 512, "not a run folder (it has no manifest.json)",
               "give the folder that `tessera run` made");
  write_file_atomically(run / "STOP", "");
}

}  // namespace tessera::data
