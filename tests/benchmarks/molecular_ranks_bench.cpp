// SPDX-License-Identifier: Apache-2.0
//
// Time of a molecular dynamics step on ranks: started by mpirun each rank has its atoms, alone all
// are on its threads. The systems are those of molecular_cases.h; calls of 100 steps, the median of
// their times.
//   [mpirun -n 2] molecular_ranks_bench [--case water|jac|melt] [--threads N of each rank]
//                                       [--rounds N]
//   molecular_ranks_bench --atoms RANKS     the largest share of a rank of 62,032 waters' atoms,
//                                           with copies, on so many ranks that are threads
#include "measure.h"
#include "molecular_cases.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/divided_dynamics.h"
#include "tessera/parallel/communicator.h"
#include "tessera/parallel/mpi.h"

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace tessera;
using namespace tessera::benchmarks;

namespace {

constexpr int steps = 100;

Dynamics dynamics_of(const MolecularCase& c) {
  return {
      .scheme = Dynamics::Scheme::leap_frog, .dt_ps = c.dt_ps, .temperature_k = c.temperature_k};
}

/// Takes its steps `rounds` times and prints the median.
void measure(int rounds, bool prints, const std::function<void()>& take_steps) {
  take_steps();
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) times.push_back(1e3 / steps * seconds_of(take_steps));
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  if (!prints) return;
  print_figure("step_ms", median, "ms");
  print_figure("spread", (times.back() - times.front()) / median, "1");
}

/// The largest share of eight waters boxes' atoms beside and above each other.
void print_shares(int ranks) {
  const MolecularCase one = water_case();
  MolecularCase c = one;
  for (const Vec3 shift :
       {Vec3{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}) {
    const auto first = static_cast<std::int32_t>(c.system.n_atoms());
    const auto moved = [&](auto atoms) {
      for (std::int32_t& a : atoms) a += first;
      return atoms;
    };
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    Atoms& a = c.system.atoms;
    const Atoms& b = one.system.atoms;
    append(a.name, b.name);
    append(a.type, b.type);
    append(a.element, b.element);
    append(a.mass_amu, b.mass_amu);
    append(a.charge_e, b.charge_e);
    append(a.lj_type, b.lj_type);
    append(a.residue, b.residue);
    for (const auto& e : one.system.exclusions) c.system.exclusions.push_back(moved(e));
    for (std::size_t w = 0; w < one.system.rigid_waters.size(); ++w) {
      c.system.rigid_waters.atoms.push_back(moved(one.system.rigid_waters.atoms[w]));
      c.system.rigid_waters.row.push_back(0);
    }
    for (std::size_t i = 0; i < one.frame.x_nm.size(); ++i) {
      Vec3 x = one.frame.x_nm[i];
      for (std::size_t d = 0; d < 3; ++d) x[d] += shift[d] * one.frame.box.edge[d][d];
      c.frame.x_nm.push_back(x);
      c.frame.v_nm_ps.push_back(one.frame.v_nm_ps[i]);
    }
  }
  for (std::size_t d = 0; d < 3; ++d) c.frame.box.edge[d][d] *= 2;
  std::mutex lock;
  std::size_t most = 0;
  parallel::run_ranks(ranks, [&](parallel::Communicator& of) {
    DividedDynamics run(c.system, c.nonbonded, {}, dynamics_of(c), of);
    run.begin(c.frame);
    run.step(60, false);
    const std::lock_guard hold(lock);
    most = std::max(most, run.atoms_with_copies());
  });
  print_figure("atoms", static_cast<double>(c.system.n_atoms()), "1");
  print_figure("largest_share", static_cast<double>(most) / static_cast<double>(c.system.n_atoms()),
               "1");
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = "water";
  int threads = 1, rounds = 9, shares = 0;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (!std::strcmp(argv[k], "--case")) name = argv[k + 1];
    if (!std::strcmp(argv[k], "--threads")) threads = std::atoi(argv[k + 1]);
    if (!std::strcmp(argv[k], "--rounds")) rounds = std::atoi(argv[k + 1]);
    if (!std::strcmp(argv[k], "--atoms")) shares = std::atoi(argv[k + 1]);
  }
  set_num_threads(threads);
  if (shares > 0) return print_shares(shares), 0;
  const MolecularCase c = name == "jac" ? jac_case() : name == "melt" ? melt_case() : water_case();
  if (parallel::is_mpi_rank()) {
    parallel::Communicator ranks = parallel::mpi_communicator();
    DividedDynamics run(c.system, c.nonbonded, {}, dynamics_of(c), ranks);
    run.begin(c.frame);
    measure(rounds, ranks.rank() == 0, [&] { run.step(steps, false); });
    return 0;
  }
  const Integrator integrator(c.system, ForceEvaluator(c.system, c.nonbonded), dynamics_of(c));
  State m = integrator.begin(c.frame);
  measure(rounds, true, [&] { integrator.step(m, steps, false); });
}
