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
/// `frame_ps`: time between frames.
std::unique_ptr<Task> make_task(const TaskOptions& o, const Input& input, double frame_ps);

/// The beginnings of the files of a case.
class Beginnings {
 public:
  /// Throws InputError E0743 where some files have times and others have none.
  Beginnings(const AnalysisOptions& o, const data::Config& config, std::size_t n_atoms);
  /// Throws InputError E0743 where a file begins no later than the first one.
  void check() const;
  /// Where all frames of a file have one time, times mean nothing: all of them count, by number.
  bool by_number() const { return by_number_; }
  /// Time between the first frames of a file, where they have times.
  std::optional<double> step_ps(std::size_t file) const { return files_[file].step_ps; }

 private:
  struct Beginning {
    std::optional<double> first_ps, step_ps;  ///< step_ps: to the first frame of another time
    bool even = false;                        ///< several frames, all of one time
  };
  Beginning of(const std::filesystem::path& file, std::size_t n_atoms) const;

  const AnalysisOptions& options_;
  const data::Config& config_;
  std::vector<Beginning> files_;
  bool by_number_ = false;
};

/// Frames of several files as one, those that count. Frames whose times overlap with earlier ones
/// are left out.
class Frames {
 public:
  Frames(const AnalysisOptions& o, const data::Config& config, std::size_t n_atoms,
         const Beginnings& beginnings)
      : options_(o), config_(config), n_atoms_(n_atoms), beginnings_(beginnings) {}
  /// Throws InputError E0743 where times start again.
  bool read(mol::Snapshot& s);
  std::int64_t left_out() const { return left_out_; }
  const std::vector<data::Diagnostic>& remarks() const { return remarks_; }

 private:
  std::optional<double> time_of(double file_ps);
  [[noreturn]] void anew(std::size_t file, double at_ps) const;

  const AnalysisOptions& options_;
  const data::Config& config_;
  std::size_t n_atoms_, file_ = 0;
  const Beginnings& beginnings_;
  std::int64_t seen_ = 0, number_ = 0, left_out_ = 0;
  double shift_ps_ = 0;
  std::optional<double> first_ps_, last_ps_,
      file_ps_;  ///< of all frames, of the last one, of the first of this file
  std::unique_ptr<mol::TrajectoryReader> reader_;
  std::vector<data::Diagnostic> remarks_;
};

}  // namespace tessera::apps::analysis
