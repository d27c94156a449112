// SPDX-License-Identifier: Apache-2.0
//
// GROMACS's run parameters (.mdp) as a stage; GROMACS user guide, "Molecular dynamics parameters
// (.mdp options)". What the file does not say has GROMACS's default wherever that matters. Names of
// keys and values are compared as GROMACS does: case, '-' and '_' make no difference. Units of the
// files are the suite's own: nm, ps, kJ/mol, e, K, bar.
//
//   const Mdp mdp = read_mdp(data::read_text_file("md.mdp"));
//   const GroFile gro = read_gro(data::read_text_file("conf.gro"));
//   const System topology = read_top("topol.top", mdp.topology(gro.frames[0])).system;
//   const StageStart at = stage_start(mdp.stage, topology, gro.frames[0], gro.frames[0]);
//   const auto run = begin_stage(mdp.stage, at, gro.frames[0]);
#pragma once
#include "tessera/data/text_file.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/stage.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::molecular {

/// Groups of atoms as mdp files name them: those of an index file (.ndx), else the ones that
/// GROMACS makes by itself (GROMACS reference manual, "Default groups"), as selections
/// (selection.h).
struct MdpGroups {
  std::map<std::string, std::string> index;  ///< read_index
  std::set<std::string> residues;            ///< names in the structure, each of which is a group
  std::string file;  ///< name of the index, for messages; empty: none, and the usual names hold

  /// The selection of a name, case and '_' aside; none where there is no such group.
  std::optional<std::string> find(std::string_view name) const;
  /// What there is, for people.
  std::string known() const;
};

/// The groups of an index file, "[ name ]" and numbers of atoms from 1: selections by their names
/// in lower case, '-' for '_'. Throws InputError: E0701 numbers before a name, no atoms; E0303
/// numbers; E0702 below 1.
std::map<std::string, std::string> read_index(const data::TextFile& text);

/// What a run writes, and every how many steps; 0: never.
struct MdpOutput {
  std::int64_t log_every = 1000, energies_every = 1000;
  std::int64_t frames_every = 0;          ///< of all trajectories alike
  bool compressed = false, full = false;  ///< which of them: .xtc, .trr
  bool velocities = false, forces = false;
  std::string atoms;            ///< that trajectories hold (groups.h); empty: all
  double xtc_precision = 1000;  ///< 1/nm
};

struct Mdp {
  std::vector<std::string> defines;          ///< "POSRES" of define = -DPOSRES
  std::vector<std::string> include_folders;  ///< of include, as they are written
  double start_ps = 0;                       ///< where the time of the run begins
  bool periodic = true;                      ///< false: without the box of the structure
  /// Of gen-seed and ld-seed, also in stage.dynamics: drawn anew in every reading where the run
  /// uses one that is -1, as in GROMACS; none where neither is given or used.
  std::optional<std::uint64_t> seed;
  Stage stage;
  MdpOutput output;
  std::vector<data::Diagnostic> remarks;  ///< E0727 keys that are obsolete, or that nothing here
                                          ///< asks for; seeds that are not the file's

  /// To read its topology with: names, folders, and `structure`, which has to outlive them, as the
  /// positions that restraints hold to.
  TopologyOptions topology(const Frame& structure) const;
};

/// Throws InputError with all places: E0725 a line or key that is not mdp's, or one given twice,
/// E0726 a value that is not supported (the hint says what is), E0303 numbers.
Mdp read_mdp(const data::TextFile& text, const MdpGroups& groups = {});

}  // namespace tessera::molecular
