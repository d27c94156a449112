// SPDX-License-Identifier: Apache-2.0
//
// Seconds of a gradient on ranks: started by mpirun each rank has a slab, alone all is on its
// threads. The power of the spectra in a plane, at two frequencies, with respect to the
// permittivity of a block of cells beside the dielectric sphere of fdtd_cases.h; a value and a
// gradient take a run and a transposed run of so many steps: the median and the least of all
// rounds. And the peak memory of a rank.
//   [mpirun -n 2] slab_gradient_bench [--precision f64|f32] [--threads N of each rank]
//                                     [--cells N] [--steps N] [--rounds N]
#include "fdtd_cases.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/response.h"
#include "tessera/parallel/mpi.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace tessera;
  namespace em = electromagnetics;
  Dtype dtype = Dtype::f64;
  int cells = 200, steps = 256, rounds = 3, threads = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--precision")
      dtype = value == "f32" ? Dtype::f32 : Dtype::f64;
    else if (key == "--cells")
      cells = std::atoi(argv[i + 1]);
    else if (key == "--steps")
      steps = std::atoi(argv[i + 1]);
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
  em::YeeModel model = bench::sphere_in_cube("dielectric", cells, dtype);
  const int quarter = cells / 4, middle = cells / 2;
  for (int k = middle - 10; k < middle + 10; ++k)
    for (int j = middle - 10; j < middle + 10; ++j) {
      model.recorded.push_back({em::Ez, 3 * quarter, j, k});
      for (int i = quarter + 2; i < quarter + 6; ++i)
        for (const em::Component c : {em::Ex, em::Ey, em::Ez}) model.traced.push_back({c, i, j, k});
    }
  const em::YeeOpPtr op = em::yee_op(model, em::cut_grid(model.grid, ranks));
  const double f = 0.02 / op->dt_s;
  const em::ResponsePtr response =
      em::response(op, {.frequencies_hz = {f, 1.5 * f}, .n_steps = steps});
  const Tensor w = full({2, 1}, 1.0), c = em::coefficients(op);
  const auto power = [&](const Tensor& x) {
    return sum(square(abs(em::spectra(response, x, cast(w, Dtype::c128)))));
  };
  const auto seconds = [&](auto&& what) {
    std::vector<double> all;
    for (int r = 0; r < rounds; ++r) {
      ranks.barrier();
      const auto begin = std::chrono::steady_clock::now();
      what();
      all.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<double> value = seconds([&] { power(c); }),
                            gradient = seconds([&] { value_and_grad(power)(c); });
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  if (ranks.rank() != 0) return 0;
  const auto print = [](const char* name, const std::vector<double>& all) {
    std::printf("%s %.4g s\n%s_least %.4g s\n", name, all[all.size() / 2], name, all.front());
  };
  print("value", value);
  print("gradient", gradient);
  std::printf("peak %.4g MiB\n", static_cast<double>(used.ru_maxrss) / 1024);
}
