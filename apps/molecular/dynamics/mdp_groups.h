// SPDX-License-Identifier: Apache-2.0
// Groups of atoms as mdp files name them: those of an index file (.ndx), else the ones that GROMACS
// makes by itself (GROMACS reference manual, "Default groups"), as selections
// (docs/reference/selections.md).
#pragma once
#include "tessera/data/text_file.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tessera::apps::dynamics {

/// Lower case, with '-' for '_': so mdp compares keys and names.
std::string plain(std::string_view name);

struct MdpGroups {
  std::map<std::string, std::string> index;  ///< of an index file: its names, plain, and selections
  std::set<std::string> residues;            ///< names in the structure, each of which is a group
  std::string file;  ///< of the index; empty: none, and the usual names hold

  /// The selection of a name, case and '_' aside; empty where there is no such group.
  std::optional<std::string> find(std::string_view name) const;
  /// What there is, for people.
  std::string known() const;
};

/// "[ name ]" and numbers of atoms from 1. Throws InputError: E0701 numbers before a name, no
/// atoms; E0303 numbers; E0702 below 1.
std::map<std::string, std::string> read_index(const data::TextFile& text);

}  // namespace tessera::apps::dynamics
