// SPDX-License-Identifier: Apache-2.0
// What tests of molecular.dynamics share: a small case, and tables by the names of their columns.
#pragma once
#include "app_test.h"
#include "tessera/molecular/trajectory.h"

#include <map>
#include <string>
#include <vector>

namespace tessera::testing {

/// molecular.dynamics, and the tables that it writes.
class Md : public AppTest {
 protected:
  /// The columns of a table by their names.
  std::map<std::string, std::vector<double>> table(const std::filesystem::path& name) const {
    std::istringstream in(read(name));
    std::string line, field;
    std::getline(in, line);
    std::vector<std::string> names;
    for (std::istringstream fields(line); std::getline(fields, field, ',');) names.push_back(field);
    std::map<std::string, std::vector<double>> out;
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      for (const std::string& column : names) {
        std::getline(fields, field, ',');
        out[column].push_back(std::stod(field));
      }
    }
    return out;
  }
  /// All frames of a trajectory.
  std::vector<molecular::Snapshot> frames(const std::filesystem::path& name) const {
    const auto reader = molecular::open_trajectory(here() / name);
    std::vector<molecular::Snapshot> out;
    for (molecular::Snapshot s; reader->read(s);) out.push_back(s);
    return out;
  }
};

/// 64 rigid waters.
inline const char* const kWater = R"(app = "molecular.dynamics"
dt = "2 fs"
rcoulomb = "0.6 nm"
rvdw = "0.6 nm"
constraints = "h-bonds"
nsteps = 20
nstxout = 5
nstenergy = 5
gen_temp = "10 K"
[build]
kind = "water"
model = "spce"
molecules = 64
)";

/// 108 argon atoms: minimized, warmed by a thermostat, then free. The box is exactly twice the
/// cut-off wide.
inline const char* const kArgon = R"(app = "molecular.dynamics"
dt = "4 fs"
coulombtype = "none"
rvdw = "0.87 nm"
rvdw_switch = "0.7 nm"
vdw_modifier = "force-switch"
nstenergy = 10
nstlog = 100
nstxout = 10
output.trajectory = ["xtc", "dcd"]
[lennard_jones]
sigma = "0.3405 nm"
epsilon = "0.996 kJ/mol"
mass = "39.948 amu"
[build]
cells = 3
edge = "0.58 nm"
[[stage]]
type = "minimize"
emtol = "1e-3 kJ/mol/nm"
[[stage]]
name = "warm"
tcoupl = "v-rescale"
tau_t = "0.2 ps"
ref_t = "120 K"
nsteps = 300
[[stage]]
name = "free"
nsteps = 300
)";

}  // namespace tessera::testing
