// SPDX-License-Identifier: Apache-2.0
//
// A case of molecular.dynamics, written key by key from the entries of an mdp file.
#pragma once
#include "molecular/dynamics/mdp_entries.h"
#include "molecular/dynamics/mdp_groups.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::apps::dynamics {

class MdpCase {
 public:
  MdpCase(const data::TextFile& text, MdpGroups groups) : in_(text), groups_(std::move(groups)) {}

  // Sections of the case, each a file of this folder.
  void files(const std::string& topology, const std::string& structure);
  void interactions();
  void output();
  void run(const std::string& stage);

  /// Throws InputError with all that was wrong.
  std::string text();
  MdpEntries& entries() { return in_; }

 private:
  void preprocessor();
  void coulomb();
  void lennard_jones();
  void box();
  void frozen();
  void slow_forces();
  void thermostat(bool langevin);
  void annealing(std::size_t groups);
  void since_start(std::vector<double>& time, std::vector<double>& temperature) const;
  void barostat();

  void heading(const char* text);
  void line(std::string_view key, std::string_view value);
  /// A value by its name, under our key.
  std::string choice(const MdpChoice& c, std::string_view ours);
  /// A quantity in mdp's own unit; only where it is given.
  void quantity(std::string_view key, std::string_view ours, const char* unit);
  static std::string quantities(const std::vector<double>& v, const char* unit);
  std::string cut_off(std::string_view key);
  /// The selection of a group.
  std::string group(const data::Token& t);
  static void join(std::string& to, const std::string& selection);

  MdpEntries in_;
  MdpGroups groups_;
  double start_ps_ = 0;
  std::string out_;
};

}  // namespace tessera::apps::dynamics
