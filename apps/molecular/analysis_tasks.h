// SPDX-License-Identifier: Apache-2.0
// From what a case asks for to what its frames tell.
#pragma once
#include "molecular/analysis_options.h"
#include "tessera/data/manifest.h"
#include "tessera/molecular/analysis.h"
#include "tessera/molecular/trajectory.h"

#include <map>
#include <memory>

namespace tessera::apps::analysis {

namespace mol = tessera::molecular;

struct Input {
  mol::System system;
  std::map<std::string, mol::Group> groups;
  std::vector<data::InputFile> files;
  std::vector<data::Diagnostic> remarks;
};
/// The topology and its groups. Throws InputError; E0743 of a group without atoms.
Input read_input(const AnalysisOptions& o, const data::Config& config);

/// A curve with the words of its axes.
struct Chart {
  std::string task;  ///< name of the analysis
  std::string name;  ///< "g", "coordination"
  std::string x_label, x_unit, y_label, y_unit;
  mol::Curve curve;
};
struct Average {
  std::string name;  ///< "msd_water.diffusion"
  std::string unit;
  data::BlockedMean mean;
};
struct Findings {
  std::vector<Chart> charts;
  std::vector<Average> averages;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual void add(const mol::Snapshot& s) = 0;
  virtual void tell(Findings& out) const = 0;
};
/// `frame_ps`: time between frames.
std::unique_ptr<Task> make_task(const TaskOptions& o, const Input& input, double frame_ps);

/// Frames of several files as one, those that count. Times that come again (files that overlap) are left out.
class Frames {
 public:
  Frames(const AnalysisOptions& o, std::size_t n_atoms);
  bool read(mol::Snapshot& s);
  const std::vector<data::Diagnostic>& remarks() const { return remarks_; }

 private:
  const AnalysisOptions& options_;
  std::size_t n_atoms_, file_ = 0;
  std::int64_t seen_ = 0;
  std::optional<double> last_ps_;
  std::unique_ptr<mol::TrajectoryReader> reader_;
  std::vector<data::Diagnostic> remarks_;
};

}  // namespace tessera::apps::analysis
