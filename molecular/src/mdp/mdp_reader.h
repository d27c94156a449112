// SPDX-License-Identifier: Apache-2.0
//
// A stage and what goes with it, section by section from the entries of an mdp file.
#pragma once
#include "mdp/mdp_entries.h"
#include "tessera/molecular/mdp.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::molecular {

class MdpReader {
 public:
  MdpReader(const data::TextFile& text, const MdpGroups& groups) : in_(text), groups_(groups) {}
  Mdp read();

 private:
  // Sections, each a file of this folder.
  void files();
  void interactions();
  void output();
  void run();

  void coulomb();
  void lennard_jones();
  void dynamics();
  void frozen();
  void removal();
  void tell_motion_that_stays();
  void slow_forces();
  void seeds();
  void thermostat(bool langevin);
  void annealing(std::size_t groups);
  void since_start(std::vector<double>& time, std::vector<double>& temperature) const;
  void barostat();
  void ensemble_temperature();

  /// The names behind -D or -I; `what` stands for them in messages.
  std::vector<std::string> behind(std::string_view key, const char* flag, const char* what);
  double cut_off(std::string_view key);
  /// The selection of a group.
  std::string group(const data::Token& t);
  static void join(std::string& to, const std::string& selection);

  MdpEntries in_;
  const MdpGroups& groups_;
  Mdp out_;
  Stage& stage_ = out_.stage;
};

}  // namespace tessera::molecular
