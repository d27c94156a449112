// SPDX-License-Identifier: Apache-2.0
//
// Cells per second of the Yee scheme in the cases of fdtd_cases.h, to look at one setting at a
// time.
//   fdtd_bench [--case vacuum|dielectric|drude] [--cells N] [--type f32|f64] [--threads N] [--steps
//   T] [--rows R] [--repeat N]
#include "fdtd_cases.h"
#include "interleave.h"
#include "tessera/autodiff/forall.h"

#include <cstdlib>

int main(int argc, char** argv) {
  std::string kind = "vacuum", type = "f64";
  int cells = 200, threads = 1, repeat = 5;
  tessera::electromagnetics::Blocking blocking;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--case")
      kind = value;
    else if (key == "--type")
      type = value;
    else if (key == "--cells")
      cells = std::atoi(argv[i + 1]);
    else if (key == "--threads")
      threads = std::atoi(argv[i + 1]);
    else if (key == "--steps")
      blocking.steps = std::atoi(argv[i + 1]);
    else if (key == "--rows")
      blocking.rows = std::atoi(argv[i + 1]);
    else if (key == "--repeat")
      repeat = std::atoi(argv[i + 1]);
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  tessera::set_num_threads(threads);
  constexpr int block = 20;
  bench::Stepper ours(
      bench::sphere_in_cube(kind, cells, type == "f32" ? tessera::Dtype::f32 : tessera::Dtype::f64),
      block, blocking);
  const auto traffic = ours.scheme().traffic();
  std::printf(
      "# %s %d^3 %s, %d threads, blocking %d x %d, %.0f B a cell unfused, %.0f fused, blocks of %d "
      "steps:",
      kind.c_str(), cells, type.c_str(), threads, blocking.steps, blocking.rows,
      traffic.unfused_bytes_per_cell, traffic.fused_bytes_per_cell, block);
  std::vector<double> rates;
  ours();
  for (int r = 0; r < repeat; ++r) {
    rates.push_back(std::pow(cells, 3) * block / bench::seconds_of(ours) / 1e6);
    std::printf(" %.1f", rates.back());
  }
  std::printf("\n");
  bench::print("rate", bench::median(rates), "Mcells/s");
  bench::print("rate_spread", bench::spread(rates), "x");
}
