// SPDX-License-Identifier: Apache-2.0
//
// Steps per second of the Yee scheme: vacuum, a dielectric and a dispersive sphere, each inside absorbing layers of 10 cells.
//   fdtd_bench [--case vacuum|dielectric|drude] [--cells N] [--type f32|f64] [--threads N] [--steps T] [--rows R] [--repeat N]
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::electromagnetics;

namespace {

struct Options {
  std::string kind = "vacuum", type = "f64";
  int cells = 200, threads = 1, steps = 0, rows = 0, repeat = 5, block = 20;
};

YeeModel sphere(const Options& o) {
  const double cell = 0.1;  // 10 cells a unit
  YeeModel m;
  m.grid = uniform_grid({o.cells * cell, o.cells * cell, o.cells * cell}, cell);
  m.dt_s = 0.5 * cell / 299792458.0;
  m.dtype = o.type == "f32" ? Dtype::f32 : Dtype::f64;
  m.injected = {{Ez, o.cells / 4, o.cells / 2, o.cells / 2}};
  if (o.kind == "vacuum") return m;
  const double radius = o.cells * cell / 4;
  const YeeGrid grid = m.grid;
  const double dt = m.dt_s;
  m.material = [=](int c, int j, int k, MaterialRow& row) {
    if (!is_electric(c)) return;
    DispersiveRun run;
    for (int i = 0; i < static_cast<int>(row.inverse.size()) - 1; ++i) {
      const auto p = grid.position({static_cast<std::uint8_t>(c), i, j, k});
      if (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] > radius * radius) continue;
      if (o.kind == "dielectric") {
        row.inverse[i] = 0.25;
      } else {
        if (run.weight.empty()) run.first = i;
        run.weight.push_back(1);
      }
    }
    if (run.weight.empty()) return;
    // Drude f 1, gamma 0.05: chi = w_p^2 / (i w (i w + g)) as poles at 0 and -g.
    const double unit = 299792458.0, wp = 2 * M_PI * unit, g = 2 * M_PI * 0.05 * unit;
    for (const auto& [a, residue] : {std::pair{0.0, wp * wp / g}, std::pair{-g, -wp * wp / g}}) {
      run.alpha.push_back((1 + a * dt / 2) / (1 - a * dt / 2));
      run.beta.push_back(residue * dt / 2 / (1 - a * dt / 2));
    }
    row.dispersive.push_back(run);
  };
  return m;
}

template <class T>
void measure(const YeeScheme& scheme, const Options& o) {
  std::vector<T> state(static_cast<std::size_t>(scheme.state_size()) + 16, 0);
  T* aligned = state.data() + (64 - reinterpret_cast<std::uintptr_t>(state.data()) % 64) / sizeof(T);
  std::vector<T> currents(static_cast<std::size_t>(o.block));
  for (int i = 0; i < o.block; ++i) currents[i] = static_cast<T>(std::sin(0.1 * i));
  for (int r = 0; r <= o.repeat; ++r) {
    const auto start = std::chrono::steady_clock::now();
    scheme.advance(aligned, o.block, currents.data(), nullptr, nullptr, nullptr, {o.steps, o.rows});
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (r > 0) std::printf("%.1f ", std::pow(o.cells, 3) * o.block / s / 1e6);
  }
  std::printf("Mcells/s\n");
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--case") o.kind = value;
    else if (key == "--type") o.type = value;
    else if (key == "--cells") o.cells = std::atoi(argv[i + 1]);
    else if (key == "--threads") o.threads = std::atoi(argv[i + 1]);
    else if (key == "--steps") o.steps = std::atoi(argv[i + 1]);
    else if (key == "--rows") o.rows = std::atoi(argv[i + 1]);
    else if (key == "--repeat") o.repeat = std::atoi(argv[i + 1]);
    else return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  set_num_threads(o.threads);
  const YeeScheme scheme(sphere(o));
  const auto traffic = scheme.traffic();
  std::printf("%s %d^3 %s, %d threads, blocking %d x %d, %.0f B a cell unfused, %.0f fused: ", o.kind.c_str(), o.cells, o.type.c_str(), o.threads, o.steps,
              o.rows, traffic.unfused_bytes_per_cell, traffic.fused_bytes_per_cell);
  if (o.type == "f32") measure<float>(scheme, o);
  else measure<double>(scheme, o);
}
