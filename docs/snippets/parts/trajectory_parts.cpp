// SPDX-License-Identifier: Apache-2.0
// What docs/how-to/trajectories.md quotes in part, on a trajectory of one frame.
#include <tessera/molecular/analysis.h>
#include <tessera/molecular/build.h>
#include <tessera/molecular/trajectory.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <string>

using namespace tessera::molecular;

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tessera_parts_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  const BuiltSystem fluid = lattice_fluid({});
  const System& system = fluid.system;
  Group oxygen(system.n_atoms());
  std::iota(oxygen.begin(), oxygen.end(), 0);
  create_trajectory("run.xtc", system)->write({.frame = fluid.frame, .f = {}, .observables = {}});

  const auto reader = open_trajectory("run.xtc", {.n_atoms = system.n_atoms()});
  PairDistribution rdf(oxygen, oxygen, {.bin_nm = 0.005});
  for (Snapshot s; reader->read(s);) rdf.add(s.frame);
  const Curve g = rdf.g();  // x, y, error
  std::filesystem::remove_all(folder);
  return !g.x.empty() && g.y.size() == g.x.size() ? 0 : 1;
}
