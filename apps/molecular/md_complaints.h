// SPDX-License-Identifier: Apache-2.0
// Settings of a stage that contradict each other, that nothing can be done with, or that do
// nothing: told at the key at fault, in the words of the case rather than those of the library.
#pragma once
#include "molecular/md_case.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::apps::md {

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
  double net_charge_e;
  std::function<bool(const char*)>
      given;  ///< whether a key stands in the file, for this stage or for all
};
std::vector<Complaint> complaints_of(const Asked& asked);

}  // namespace tessera::apps::md
