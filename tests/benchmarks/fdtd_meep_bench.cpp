// SPDX-License-Identifier: Apache-2.0
//
// Cells per second of the Yee scheme beside Meep (A. F. Oskooi et al., Comput. Phys. Commun. 181
// (2010) 687-702), which computes in f64: the same cube, cells, layers and Courant number 0.5, ours
// on as many threads as Meep has ranks. Both are set up once; then blocks of 20 steps of ours in
// f64, of Meep, of ours in f32 follow one another. Without Meep only ours is printed.
//   fdtd_meep_bench [--case vacuum|dielectric|drude] [--threads N] [--cells N] [--rounds N]
// Meep is that of the interpreter $TESSERA_MEEP_PYTHON, by default Debian's python3-meep-openmpi in
// /usr/bin/python3.
#include "fdtd_cases.h"
#include "interleave.h"
#include "temp_folder.h"
#include "tessera/autodiff/forall.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace {

constexpr int kBlock = 20;  // steps

/// peers/meep_peer.py on some ranks.
class Meep {
 public:
  Meep(const std::string& kind, int cells, int ranks) {
    const char* own = std::getenv("TESSERA_MEEP_PYTHON");
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0),
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);  // containers have no one else
    ::setenv("OMP_NUM_THREADS", "1", 1);
    std::vector<std::string> arguments{"mpirun",
                                       "-n",
                                       std::to_string(ranks),
                                       own ? own : "/usr/bin/python3",
                                       TESSERA_BENCHMARK_PEERS "/meep_peer.py",
                                       kind,
                                       std::to_string(cells),
                                       std::to_string(kBlock),
                                       folder_.path().string()};
    for (int r = 0; r < ranks; ++r) {
      const std::string fifo = (folder_.path() / std::to_string(r)).string();
      if (::mkfifo(fifo.c_str(), 0600) != 0) return;
      to_.push_back(
          ::open(fifo.c_str(),
                 O_RDWR | O_CLOEXEC));  // for reading too: opening does not wait for the rank
    }
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    int out[2];
    if (::pipe2(out, O_CLOEXEC)) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, out[1], 2);
    if (::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    from_ = ::fdopen(out[0], "r");
  }
  Meep(const Meep&) = delete;
  ~Meep() {
    for (const int fifo : to_) ::close(fifo);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    if (from_) std::fclose(from_);
  }
  /// What it says next, or nothing when it is gone. Meep's own messages are passed over.
  std::string answer() {
    char line[512];
    const std::string ours = "meep_peer ";
    while (pid_ > 0 && std::fgets(line, sizeof line, from_))
      if (std::string s = line; s.starts_with(ours))
        return s.substr(ours.size(), s.find('\n') - ours.size());
    return "";
  }
  double seconds() {
    for (const int fifo : to_)
      if (::write(fifo, "go\n", 3) != 3) return NAN;
    const std::string s = answer();
    return s.empty() ? NAN : std::stod(s);
  }

 private:
  pid_t pid_ = -1;
  tessera::testing::TempFolder folder_;
  std::vector<int> to_;
  std::FILE* from_ = nullptr;
};

void report(const std::string& name, const std::vector<double>& rates) {
  std::printf("# %s, Mcells/s:", name.c_str());
  for (const double r : rates) std::printf(" %.1f", r);
  std::printf("\n");
  bench::print(name + "_rate", bench::median(rates), "Mcells/s");
  bench::print(name + "_rate_spread", bench::spread(rates), "x");
}
void report_ratio(const std::string& name, const std::vector<double>& ours,
                  const std::vector<double>& peer) {
  std::vector<double> ratio;
  for (std::size_t r = 0; r < ours.size(); ++r) ratio.push_back(ours[r] / peer[r]);
  bench::print(name, bench::median(ratio), "x");
  bench::print(name + "_spread", bench::spread(ratio), "x");
}

}  // namespace

int main(int argc, char** argv) {
  std::string kind = "vacuum";
  int cells = 0, threads = 1, rounds = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--case")
      kind = argv[i + 1];
    else if (key == "--cells")
      cells = std::atoi(argv[i + 1]);
    else if (key == "--threads")
      threads = std::atoi(argv[i + 1]);
    else if (key == "--rounds")
      rounds = std::atoi(argv[i + 1]);
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  if (cells == 0) cells = kind == "drude" ? 160 : 200;
  bench::print_machine();
  Meep meep(kind, cells, threads);
  const std::string version = meep.answer();
  tessera::set_num_threads(threads);
  bench::Stepper f64(bench::sphere_in_cube(kind, cells, tessera::Dtype::f64), kBlock),
      f32(bench::sphere_in_cube(kind, cells, tessera::Dtype::f32), kBlock);
  f64(), f32();
  const auto rate = [&](double seconds) { return std::pow(cells, 3) * kBlock / seconds / 1e6; };
  std::vector<double> ours64, ours32, theirs;
  for (int r = 0; r < rounds; ++r) {
    ours64.push_back(rate(bench::seconds_of(f64)));
    if (!version.empty()) theirs.push_back(rate(meep.seconds()));
    ours32.push_back(rate(bench::seconds_of(f32)));
  }
  std::printf("# %s, %d^3 cells, %d threads or ranks, Meep %s\n", kind.c_str(), cells, threads,
              version.empty() ? "not found" : version.c_str());
  report("f64", ours64);
  report("f32", ours32);
  if (version.empty()) return 0;
  report("meep", theirs);
  report_ratio("f64_ratio", ours64, theirs);
  report_ratio("f32_ratio", ours32, theirs);
}
