// SPDX-License-Identifier: Apache-2.0
// Settings of a stage that contradict each other, that nothing can be done with, or that do
// nothing: told at the key at fault, in the words of the case rather than those of the library.
#pragma once
#include "molecular/dynamics/case.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::dynamics {

struct Complaint {
  std::string key;  ///< of the stage, or of the case
  std::string message, hint;
  int number = 751;
  bool doubt = false;  ///< a warning: the run is possible
};

/// What a stage asks for, and what its case gives it.
struct Asked {
  const Settings& settings;
  StageType type;
  IntegratorChoice integrator;
  std::int64_t n_steps;
  bool periodic;
  mol::Box box;  ///< where the case begins
  double net_charge_e;
  bool water_stays_rigid;  ///< with rigid_water = false, as it would be without the key
  bool restrained;         ///< springs of the topology hold atoms
  bool has_velocities;     ///< where the stage begins
  std::function<bool(const char*)>
      given;  ///< whether a key stands in the file, for this stage or for all
};
std::vector<Complaint> complaints_of(const Asked& asked);
/// Of an Ewald sum where the case begins: what it leaves out, or its grid gets wrong, doubted above
/// 1e-3 of the force between two charges 0.1 nm apart, or with a barostat 2e-3 of the volume,
/// refused above 0.1 of the force.
std::vector<Complaint> complaints_of_sum(const Asked& asked, const mol::System& system,
                                         const mol::Nonbonded& options, const mol::Frame& begin);
/// Whether a choice of atoms is given and is not "none".
inline bool names_atoms(const std::optional<std::string>& choice) {
  return choice && !choice->empty() && *choice != "none";
}
/// Of a stage of dynamics: doubts of the keys that its steps do not read and that have another
/// value than their default.
std::vector<Complaint> idle_keys(const Asked& asked);
/// Of a minimization: likewise.
std::vector<Complaint> idle_keys_of_minimization(const Asked& asked);
/// Of any stage: likewise, of the keys that its energies do not read.
std::vector<Complaint> idle_keys_of_energies(const Asked& asked);

/// A message of the library without its name.
std::string words_of(const Error& fault);
/// What the library found no system or no steps for, at the setting that asks for it.
Complaint complaint_of_fault(const std::string& words, const Asked& asked);

/// Whether `rigid_water = false` keeps waters flexible that would be rigid without it, beside the
/// rigid bonds of a stage.
bool keeps_waters_flexible(const mol::System& topology, mol::Rigid bonds);

/// Where all atoms that a key holds or freezes are virtual sites, it does nothing.
std::optional<Complaint> complaint_of_sites(const char* key, const mol::System& system,
                                            const std::vector<std::int32_t>& atoms);

/// A doubt of steps that are long for the fastest bond of a stage: two of them or less are no
/// dynamics; GROMACS warns below ten.
std::optional<Complaint> complaint_of_step(const mol::System& system, const std::string& stage,
                                           double dt_ps);

/// Frozen atoms, chosen in the topology, of rigid bodies of a stage's system that are not frozen as
/// a whole.
std::optional<Complaint> complaint_of_rigid(const mol::System& system, const mol::System& topology,
                                            const mol::Frame& frame, const Settings& settings);

}  // namespace tessera::apps::dynamics
