// SPDX-License-Identifier: Apache-2.0
// The trajectories of a stage: one in each format of the case, of the atoms that it chooses.
#pragma once
#include "molecular/dynamics/case.h"
#include "support/app.h"
#include "tessera/molecular/stage_run.h"
#include "tessera/molecular/trajectory.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace tessera::apps::dynamics {

/// Where a format has no place for what it is to hold these throw E0751 at output.trajectory: no
/// step has failed.
class TrajectoryFiles {
 public:
  TrajectoryFiles(RunContext& context, const Case& c, const Stage& stage, const mol::System& system,
                  std::filesystem::path folder)
      : context_(context), c_(c), stage_(stage), system_(system), folder_(std::move(folder)) {}

  /// New files, where a stage begins, or those up to the step at which it goes on. None where the
  /// stage writes none.
  void create(const mol::StageRun& running) { open(running, true); }
  void append(const mol::StageRun& running) { open(running, false); }
  bool empty() const { return files_.empty(); }
  /// The frame at which the stage is.
  void write(const mol::StageRun& running);
  void sync();
  void close();

 private:
  void open(const mol::StageRun& running, bool fresh);
  /// The chosen atoms alone, for programs that need a structure beside their trajectory.
  void write_structure(const std::filesystem::path& path, const mol::System& shown,
                       const mol::Frame& frame) const;
  std::vector<mol::Vec3> shown(const std::vector<mol::Vec3>& all) const;
  mol::Frame shown(const mol::Frame& frame) const;
  template <class Write>
  void to_files(Write&& write) const;

  RunContext& context_;
  const Case& c_;
  const Stage& stage_;
  const mol::System& system_;
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<mol::TrajectoryWriter>> files_;
};

}  // namespace tessera::apps::dynamics
