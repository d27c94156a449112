// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "app_test.h"

#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::testing {

/// `tessera` on ranks that are processes.
class MpiRanks : public AppTest {
 protected:
  void SetUp() override {
    if (std::string(TESSERA_MPIRUN).empty()) GTEST_SKIP() << "needs MPI with its mpiexec";
    // MPI leaks by design: ranks under the address sanitizer are not asked what they leave behind.
    const char* const given = std::getenv("ASAN_OPTIONS");
    ::setenv("ASAN_OPTIONS", (std::string(given ? given : "") + ":detect_leaks=0").c_str(), 1);
  }
  Outcome on_ranks(int n, std::vector<std::string> arguments,
                   const std::string& program = TESSERA_PROGRAM) {
    std::istringstream words(TESSERA_MPIRUN);
    std::vector<std::string> all(std::istream_iterator<std::string>(words), {});
    all.push_back(std::to_string(n));
    all.push_back(program);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return RunningProgram(all, here()).wait();
  }
  /// Of n ranks the one does `before`, a line of sh, first.
  Outcome with_one(int n, int rank, const std::string& before,
                   const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"-c",
                                 "if [ \"$OMPI_COMM_WORLD_RANK\" = " + std::to_string(rank) +
                                     " ]; then " + before + "; fi; exec \"$0\" \"$@\"",
                                 TESSERA_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return on_ranks(n, all, "/bin/sh");
  }
  static long count(const std::string& text, const std::string& word) {
    long n = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
      ++n;
    return n;
  }
  void make_case(const std::string& more = "") {
    ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
    write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n" + more);
  }
};

inline const std::string chains =
    "[posterior]\nmethod = \"mcmc\"\nsamples = 3000\nburn_in = 500\nkeep_every = 10\n";

/// What may meet in one case: layers, walls, joined faces, a dispersive and a lossy medium across
/// the grid, several monitors.
inline const std::string waves = R"(app = "electromagnetics.fdtd"
[grid]
size = ["1.2 um", "1 um", "0.9 um"]
cell = "50 nm"
[boundary]
x = "periodic"
y = "pec"
z = "pml"
pml.cells = 4
[[material]]
name = "glass"
index = 1.5
[[material]]
name = "metal"
poles = [{kind = "drude", frequency = "500 THz", damping = "20 THz"}]
[[structure]]
shape = "sphere"
centre = ["0 um", "0 um", "0 um"]
radius = "0.23 um"
material = "glass"
[[structure]]
shape = "box"
low = ["-0.3 um", "-0.1 um", "-0.2 um"]
high = ["0.1 um", "0.3 um", "-0.05 um"]
material = "metal"
[[source]]
kind = "point"
name = "dipole"
component = "Ex"
position = ["0.1 um", "0 um", "0.15 um"]
waveform = {kind = "gaussian", frequency = "400 THz", bandwidth = "200 THz"}
[[monitor]]
kind = "flux"
name = "below"
position = ["0 um", "0 um", "-0.15 um"]
size = ["1.2 um", "1 um", "0 um"]
frequencies = ["350 THz", "400 THz"]
[[monitor]]
kind = "probe"
name = "point"
position = ["0.1 um", "0.1 um", "0 um"]
[run]
precision = "f64"
stop.steps = 600
)";

}  // namespace tessera::testing
