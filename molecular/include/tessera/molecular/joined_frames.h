// SPDX-License-Identifier: Apache-2.0
//
// Trajectories of several files (trajectory.h) read as one: the parts of a long run, or runs one
// after the other.
//
//   const JoinedFiles files = join_files({"a.xtc", "b.xtc"}, {.n_atoms = n});
//   JoinedFrames frames(files);
//   for (Snapshot s; frames.read(s);) rdf.add(s.frame);
//
// Times rise: a frame whose time is not above that of all before it (by 1e-6 ps) came again, as
// after a restart from a checkpoint, and is left out. A file that starts again, no later than the
// first frame of all, is another run and refused, as is one that runs backwards. Or every file is
// appended, whenever it begins, shifted to where the one before has ended: one step behind its last
// frame, or, where it begins with that frame once more (no atom is farther from there than a tenth
// of the farthest way from there to the file's next positions, by nearest images), at its time, so
// that the frame is left out. Where frames have no times (.gro, models of .pdb: several frames, all
// of one time; or files of one frame each, all of one time) all of them count, by their number.
//
// Of files that have times in single precision, the line through many of them, over the steps or,
// where these do not rise, the numbers of the frames, says what they were before they were rounded:
// frames 4 fs apart at 100 ns, of which two and three have one number, are told apart.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/data/diagnostic.h"
#include "tessera/molecular/trajectory.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::molecular {

struct JoinOptions {
  std::size_t n_atoms = 0;               ///< expected (E0704); 0: as many as the first file has
  std::optional<double> from_ps, to_ps;  ///< frames at these times count as well, also where a file
                                         ///< has rounded them to single precision
  int every = 1;                         ///< of the frames between them, the first one on
  bool append = false;                   ///< each file goes on where the one before has ended
  /// Between frames that have no times, and before a file that is appended; none: they are counted,
  /// and it is the file's own.
  std::optional<double> spacing_ps;
  bool accept_cut_end = false;  ///< ReadOptions::accept_cut_end, of each file
  bool positions = true;        ///< frames without are passed over
  bool velocities = false;      ///< wanted as well: frames that would be passed over with them are
                                ///< refused, for velocities would be known at fewer times
};

/// Why files do not go together.
enum class JoinFault {
  mixed_times,      ///< frames of one file have times, those of another have none
  spacing,          ///< a spacing is given, but frames have times and nothing is appended
  bounds,           ///< bounds of times are given, but frames have none and there is no spacing
  starts_again,     ///< a file starts again and is not to be appended
  no_spacing,       ///< a file to append does not say how long after the frames before it begins
  backwards,        ///< times of a file fall, and no frame comes again
  lone_velocities,  ///< there are velocities at a time without positions; both are wanted
};
class JoinError : public Error {
 public:
  JoinError(JoinFault why, const std::string& text)
      : Error("[join] " + text), fault(why), message(text) {}
  JoinFault fault;
  std::string message;  ///< what() without the operation
};

/// The line that times in single precision are on.
struct RoundedTimes {
  double first_ps = 0, rate_ps = 0;  ///< time of the first frame; for each step, or frame
  bool by_step = false;
  std::int64_t first_step = 0;
};
/// How a file begins; `step_ps` is to its first frame of another time, or to its second on the line
/// of its times.
struct FileBeginning {
  std::optional<double> first_ps, step_ps;
  bool one_time = false;  ///< there are several frames, and all have one time
  std::optional<RoundedTimes> rounded;
  double unknown_ps = 0;     ///< of step_ps, from the rounding of times
  bool rounds_step = false;  ///< TrajectoryReader::rounds_step
  double move_nm = 0;        ///< farthest way of an atom to its next positions; 0: not known
};
struct JoinedFiles {
  std::vector<std::filesystem::path> files;
  JoinOptions options;
  std::vector<FileBeginning> beginnings;  ///< of each file
  bool by_number = false;                 ///< frames have no times: all of them count
};

/// Reads frames of each file up to the second time; of one with times in single precision until
/// these tell the time between frames to 1e-5 of it, or up to its end. Throws JoinError but for
/// starts_again, no_spacing and backwards, Error where there is no file, and what open_trajectory
/// and its reader throw.
JoinedFiles join_files(std::vector<std::filesystem::path> files, const JoinOptions& options = {});

/// Throws JoinError starts_again where one of the files does, which reading would meet only there.
/// Looks at their beginnings alone, and not at all where times have an end: what lies behind it is
/// never read.
void expect_one_run(const JoinedFiles& files);

/// The frames that count, one after the other, from the first file on.
class JoinedFrames {
 public:
  explicit JoinedFrames(JoinedFiles files) : files_(std::move(files)) {}
  /// The next frame, its time that among all frames: k spacing (or k) of frames without times;
  /// false after the last. Throws JoinError starts_again, no_spacing and backwards, and what the
  /// readers throw.
  bool read(Snapshot& snapshot);
  /// Frames so far that came again, by their times or, where a file is appended, their positions.
  std::int64_t left_out() const { return left_out_; }
  /// Files so far that were cut off, where the options accept it.
  const std::vector<data::Diagnostic>& remarks() const { return remarks_; }

 private:
  /// The time that a file has, without its rounding where others tell it.
  double exact_of(const Frame& frame);
  std::optional<double> time_of(const Frame& frame);
  /// Whether the frame has the positions of the last one.
  bool repeats(const Frame& frame) const;

  JoinedFiles files_;
  std::size_t file_ = 0;
  std::int64_t seen_ = 0, number_ = 0, left_out_ = 0;
  double shift_ps_ = 0;
  std::optional<double> first_ps_, last_ps_,
      file_ps_;                     ///< of all frames, of the last one, of the first of this file
  std::optional<double> read_ps_;   ///< that this file has of its last frame
  int falling_ = 0;                 ///< frames of it in a row that are earlier than those before
  std::optional<double> exact_ps_;  ///< of this file's last frame
  std::int64_t step_ = 0;           ///< its step
  double slack_ps_ = 0;             ///< two times that differ by less are one
  double off_ps_ = 0, last_off_ps_ = 0;  ///< by what a rounded step has changed the time, of this
                                         ///< frame and the last
  std::vector<Vec3> last_x_;             ///< its positions, where files are appended
  std::unique_ptr<TrajectoryReader> reader_;
  std::vector<data::Diagnostic> remarks_;
};

}  // namespace tessera::molecular
