// SPDX-License-Identifier: Apache-2.0
//
// Cells per second of the Yee scheme on ranks: started by mpirun each rank has a slab, alone all is
// on its threads. The same cubes as beside Meep (fdtd_cases.h), with a current and without records;
// calls of 64 steps, the median of their rates.
//   [mpirun -n 2] fdtd_ranks_bench [--case vacuum|dielectric|drude] [--precision f64|f32]
//                                  [--threads N of each rank] [--cells N] [--rounds N]
#include "fdtd_cases.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/parallel/mpi.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace tessera;
  namespace em = electromagnetics;
  std::string kind = "vacuum";
  Dtype dtype = Dtype::f64;
  int cells = 200, rounds = 9, threads = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--case")
      kind = value;
    else if (key == "--precision")
      dtype = value == "f32" ? Dtype::f32 : Dtype::f64;
    else if (key == "--cells")
      cells = std::atoi(argv[i + 1]);
    else if (key == "--rounds")
      rounds = std::atoi(argv[i + 1]);
    else if (key == "--threads")
      threads = std::atoi(argv[i + 1]);
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  set_num_threads(threads);

  parallel::Communicator ranks =
      parallel::is_mpi_rank() ? parallel::mpi_communicator() : parallel::alone();
  em::YeeModel model = bench::sphere_in_cube(kind, cells, dtype);
  em::Injection current{.edges = model.injected, .end_s = INFINITY};
  current.fill = [](std::int64_t first, std::int64_t steps, double* to) {
    for (std::int64_t n = 0; n < steps; ++n) to[n] = std::sin(0.1 * static_cast<double>(first + n));
  };
  const em::GridCut cut = em::cut_grid(model.grid, ranks);
  em::TimeDomain run(std::move(model), {current}, {}, cut);
  if (ranks.rank() != 0) {
    run.help();
    return 0;
  }
  constexpr int steps = 64;
  std::vector<double> rates;
  run.advance(steps);
  for (int r = 0; r < rounds; ++r) {
    const auto begin = std::chrono::steady_clock::now();
    run.advance(steps);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rates.push_back(steps * std::pow(cells, 3) / seconds / 1e6);
  }
  std::sort(rates.begin(), rates.end());
  const double median = rates[rates.size() / 2];
  std::printf("rate %.5g Mcells/s\n", median);
  std::printf("spread %.3g 1\n", (rates.back() - rates.front()) / median);
}
