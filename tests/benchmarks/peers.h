// SPDX-License-Identifier: Apache-2.0
//
// A Python library that does the same, in a process of its own which stays alive, so that it may be
// timed in turn with ours: it tells its own seconds, and memory over what it held before. The
// interpreter is that of the virtual environment $TESSERA_PEERS, which ./bootstrap.sh bench makes;
// without it there are no peers and no ratios.
#pragma once
#include "interleave.h"
#include "peer_vectors.h"
#include "temp_folder.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/npy.h"
#include "tessera/autodiff/ops.h"

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

namespace bench {

class Peer {
 public:
  /// Starts peers/<script> with a library, "jax" or "torch", on arrays by name.
  Peer(const std::string& script, const std::string& library,
       const std::map<std::string, tessera::Tensor>& arrays, int threads)
      : library_(library) {
    for (const auto& [name, t] : arrays) tessera::save_npy(folder_.path() / (name + ".npy"), t);
    hold_peers_to_our_vectors();
    start({(environment() / "bin" / "python").string(), TESSERA_BENCHMARK_PEERS "/" + script,
           library, folder_.path().string(), std::to_string(threads)});
    const std::string version = answer();
    if (version.empty())
      std::printf("# no %s in %s: not compared with it\n", library.c_str(), environment().c_str());
    else
      std::printf("# %s, %d threads\n", version.c_str(), threads);
    alive_ = !version.empty();
  }
  Peer(const Peer&) = delete;
  ~Peer() {
    if (pid_ < 0) return;
    std::fclose(to_), std::fclose(from_);
    ::waitpid(pid_, nullptr, 0);
  }
  bool there() const { return alive_; }
  /// Where it looks for arrays, and writes its own.
  const std::filesystem::path& folder() const { return folder_.path(); }
  const std::string& library() const { return library_; }
  /// Compiles and warms up; the peak of one more run, in bytes over what was held before the first.
  double warm(const std::string& name) { return number("warm " + name); }
  /// Runs it, compiling what is compiled; why it cannot, empty where it can.
  std::string cannot(const std::string& name) {
    const std::string said = text("try " + name);
    return said == "ok" ? "" : said;
  }
  double seconds(const std::string& name, int repeats = 1) {
    return number("run " + name + " " + std::to_string(repeats));
  }
  std::vector<tessera::Tensor> result(const std::string& name) {
    std::vector<tessera::Tensor> out;
    const int count = static_cast<int>(number("save " + name));
    for (int k = 0; k < count; ++k)
      out.push_back(tessera::load_npy(folder_.path() / (name + "." + std::to_string(k) + ".npy")));
    return out;
  }

 private:
  static std::filesystem::path environment() {
    if (const char* s = std::getenv("TESSERA_PEERS")) return s;
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    return (cache ? std::filesystem::path(cache)
                  : std::filesystem::path(home ? home : ".") / ".cache") /
           "tessera" / "peers" / "python";
  }
  void start(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    int in[2], out[2];
    if (!std::filesystem::exists(arguments[0]) || ::pipe2(in, O_CLOEXEC) || ::pipe2(out, O_CLOEXEC))
      return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]), ::close(out[1]);
    to_ = ::fdopen(in[1], "w"), from_ = ::fdopen(out[0], "r");
    std::signal(SIGPIPE, SIG_IGN);
  }
  std::string answer() {
    char line[256];
    if (pid_ < 0 || !std::fgets(line, sizeof line, from_)) return "";
    return std::string(line).substr(0, std::string(line).find('\n'));
  }
  std::string text(const std::string& command) {
    std::fprintf(to_, "%s\n", command.c_str());
    std::fflush(to_);
    const std::string s = answer();
    if (s.empty()) {
      std::fprintf(stderr, "%s died at '%s'\n", library_.c_str(), command.c_str());
      std::exit(1);
    }
    return s;
  }
  double number(const std::string& command) { return std::stod(text(command)); }

  tessera::testing::TempFolder folder_;
  std::string library_;
  pid_t pid_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
  bool alive_ = false;
};

/// A field of /proc/self/status in bytes: VmRSS (now), VmHWM (highest since it was reset).
inline double status_bytes(const std::string& field) {
  std::ifstream text("/proc/self/status");
  for (std::string line; std::getline(text, line);)
    if (line.starts_with(field + ":")) return 1024 * std::stod(line.substr(field.size() + 1));
  return 0;
}
/// What was freed goes back to the system first, so that it counts neither as held nor as peak.
inline void reset_peak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5)
}

struct Memory {
  double engine = 0;   ///< peak of the engine's own count over what it held before
  double process = 0;  ///< peak of the process over what it held before
};
/// Runs it twice, the first time ever, then once more with its peak memory: what plans keep counts.
inline Memory warm(const std::function<void()>& ours) {
  tessera::release_cached_memory();
  reset_peak();
  const double engine = double(tessera::memory_stats().in_use), process = status_bytes("VmRSS");
  ours(), ours();
  tessera::reset_peak_memory();
  reset_peak();
  ours();
  return {double(tessera::memory_stats().peak) - engine, status_bytes("VmHWM") - process};
}

/// Ours beside what each peer calls `theirs`, `repeats` calls at a time: medians, the ratio to the
/// faster peer with its quartiles, peak memory of all. Ratios above 1: ours is faster.
inline void compare(const std::string& name, int rounds, int repeats,
                    const std::function<void()>& ours, const std::vector<Peer*>& peers,
                    const std::string& theirs) {
  constexpr double mib = 1048576;
  const Memory m = warm(ours);
  print(name + "_engine_peak_mib", m.engine / mib, "MiB");
  print(name + "_peak_mib", m.process / mib, "MiB");
  std::vector<Peer*> there;
  std::vector<double> memory;
  for (Peer* p : peers) {
    if (!p->there()) continue;
    there.push_back(p);
    memory.push_back(p->warm(theirs));
    print(name + "_" + p->library() + "_peak_mib", memory.back() / mib, "MiB");
  }
  std::vector<double> a, least;
  std::vector<std::vector<double>> b(there.size());
  for (int k = 0; k < rounds + 1; ++k) {
    const double t = seconds_of([&] {
                       for (int r = 0; r < repeats; ++r) ours();
                     }) /
                     repeats;
    std::vector<double> seconds;
    for (Peer* p : there) seconds.push_back(p->seconds(theirs, repeats));
    if (k == 0) continue;
    a.push_back(t);
    for (std::size_t i = 0; i < there.size(); ++i) b[i].push_back(seconds[i]);
    if (!there.empty()) least.push_back(*std::min_element(seconds.begin(), seconds.end()) / t);
  }
  print(name + "_seconds", median(a), "s");
  print(name + "_spread", spread(a), "1");
  if (there.empty()) return;
  std::size_t fastest = 0;
  for (std::size_t i = 0; i < there.size(); ++i) {
    print(name + "_" + there[i]->library() + "_seconds", median(b[i]), "s");
    print(name + "_" + there[i]->library() + "_spread", spread(b[i]), "1");
    print(name + "_" + there[i]->library() + "_ratio", median(b[i]) / median(a), "x");
    if (median(b[i]) < median(b[fastest])) fastest = i;
  }
  print(name + "_ratio_low_quartile", quantile(least, 0.25), "x");
  print(name + "_ratio_high_quartile", quantile(least, 0.75), "x");
  print(name + "_ratio", median(least), "x");
  print(name + "_memory_share", m.process / memory[fastest], "1");
}

/// Largest difference, relative to the largest entry.
inline double distance(const tessera::Tensor& a, const tessera::Tensor& b) {
  using namespace tessera;
  return (max(abs(reshape(a, {a.size()}) - reshape(b, {b.size()}))) / max(abs(b))).item();
}
/// Ends the program where the results differ.
inline void must_agree(const char* what, const std::vector<tessera::Tensor>& ours,
                       const std::vector<tessera::Tensor>& theirs, double tolerance) {
  double worst = 0;
  for (std::size_t k = 0; k < ours.size(); ++k)
    worst = std::max(worst, distance(ours[k], theirs.at(k)));
  std::printf("# %s: largest difference %.1e of the largest entry\n", what, worst);
  if (!(worst <= tolerance)) std::exit(1);
}

}  // namespace bench
