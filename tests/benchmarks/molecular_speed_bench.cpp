// SPDX-License-Identifier: Apache-2.0
//
// Time of a molecular dynamics step without energies, and of its forces:
//   molecular_speed_bench [--case water|jac|melt] [--threads N] [--steps N] [--buffer nm]
//                         [--inner nm]
// The systems are those of molecular_cases.h.
#include "measure.h"
#include "molecular_cases.h"
#include "tessera/autodiff/forall.h"

#include <cstring>

using namespace tessera;
using namespace tessera::benchmarks;

int main(int argc, char** argv) {
  std::string name = "water";
  int threads = 1, steps = 200;
  double buffer = 0, inner = -1;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (!std::strcmp(argv[k], "--case")) name = argv[k + 1];
    if (!std::strcmp(argv[k], "--threads")) threads = std::atoi(argv[k + 1]);
    if (!std::strcmp(argv[k], "--steps")) steps = std::atoi(argv[k + 1]);
    if (!std::strcmp(argv[k], "--buffer")) buffer = std::atof(argv[k + 1]);
    if (!std::strcmp(argv[k], "--inner")) inner = std::atof(argv[k + 1]);
  }
  set_num_threads(threads);
  const MolecularCase c = name == "jac" ? jac_case() : name == "melt" ? melt_case() : water_case();
  ForceOptions run;
  if (buffer > 0) run.buffer_nm = buffer;
  if (inner > -1) run.inner_buffer_nm = inner;
  const ForceEvaluator forces(c.system, c.nonbonded, run);
  double inside = 0;
  const Integrator integrator(
      c.system,
      [&](const std::vector<Vec3>& x, const Box& box, Forces& out) {
        out.wants_energies = false;
        inside += seconds_of([&] { forces(x, box, out); });
      },
      {.scheme = Dynamics::Scheme::leap_frog, .dt_ps = c.dt_ps, .temperature_k = c.temperature_k});
  State m = integrator.begin(c.frame);
  integrator.step(m, 20);
  inside = 0;
  const double time = seconds_of([&] { integrator.step(m, steps); });
  print_figure(name + "_step_ms", 1e3 * time / steps, "ms");
  print_figure(name + "_forces_ms", 1e3 * inside / steps, "ms");
  print_figure(name + "_ns_per_day", 86.4 * c.dt_ps * steps / time, "ns/day");
}
