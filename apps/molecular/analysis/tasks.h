// SPDX-License-Identifier: Apache-2.0
// From what a case asks for to what its frames tell.
#pragma once
#include "molecular/analysis/options.h"
#include "tessera/data/diagnostic.h"
#include "tessera/molecular/analysis.h"
#include "tessera/molecular/trajectory.h"

#include <map>
#include <memory>

namespace tessera::apps::analysis {

namespace mol = tessera::molecular;

struct Input {
  mol::System system;
  std::map<std::string, mol::Group> groups;
  std::vector<data::Diagnostic> remarks;
  bool by_number = false;  ///< frames are counted: they have no times
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
/// How many frames a vacf looks back: the nearest whole number.
std::size_t lag_frames(double lag_ps, double frame_ps);
/// `frame_ps`: time between frames.
std::unique_ptr<Task> make_task(const TaskOptions& o, const Input& input, double frame_ps);

}  // namespace tessera::apps::analysis
