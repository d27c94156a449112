// SPDX-License-Identifier: Apache-2.0
//
// Trajectories: files of frames, written one at a time and read one at a time; the ending of the
// name says how.
//
//                                                                              written  read
//   .xtc       positions in steps of 1/precision nm, compressed (GROMACS)      x        x
//   .trr       positions, velocities, forces in double precision (GROMACS)     x        x
//   .dcd       positions in single precision (CHARMM, NAMD)                    x        x
//   .nc .ncdf  positions, velocities, forces in single precision (AMBER,       x        x
//              NetCDF)
//   .h5md .h5  all that a Snapshot holds, in double precision (H5MD 1.1,       x        x
//              nongnu.org/h5md)
//   .pvd       a VTK PolyData file for each frame and their list, for          x
//              ParaView
//   .csv       step, time and observables                                      x
//   .gro       positions to 0.001 nm and velocities, as text (GROMACS)         x        x
//   .rst7      the last frame alone, positions and velocities (AMBER)          x
//   .ncrst     the same in double precision (AMBER, NetCDF)                    x        x
//   .pdb       the last frame alone, positions; each model read is a frame     x        x
//   .cif       the last frame alone, positions                                 x
//
// A frame is there as a whole or not at all for those who read, also after a kill in the middle of
// writing it.
#pragma once
#include "tessera/data/binary_file.h"
#include "tessera/data/diagnostic.h"
#include "tessera/molecular/system.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::molecular {

/// A frame and what was computed there.
struct Snapshot {
  Frame frame;
  std::vector<Vec3> f;              ///< kJ/mol/nm; empty: none
  std::vector<double> observables;  ///< as TrajectoryOptions::observables names them
};

struct Observable {
  std::string name;  ///< "potential_energy"
  std::string unit;  ///< "kJ mol-1", "K", "bar"
};

/// What the frames of a file hold. A format leaves out what it has no place for.
struct TrajectoryOptions {
  bool velocities = false, forces = false;
  std::vector<Observable> observables;
  double xtc_precision = 1000;  ///< 1/nm
  std::string author = "unknown";
};

class TrajectoryWriter {
 public:
  virtual ~TrajectoryWriter() = default;
  /// Throws Error where the snapshot lacks what the options promise, has another number of atoms,
  /// or does not fit the format; InputError E0501..E0503 where the disk refuses.
  virtual void write(const Snapshot& snapshot) = 0;
  /// Returns when all that was written would survive a power failure: before a checkpoint that
  /// counts on it.
  virtual void sync() = 0;
};

/// A new file in place of any that is there. Throws Error for an ending that is not written.
std::unique_ptr<TrajectoryWriter> create_trajectory(const std::filesystem::path& path,
                                                    const System& system,
                                                    const TrajectoryOptions& options = {});
/// Goes on with a file: frames beyond `last_step`, and one that was never finished, are cut off. A
/// file that is not there is created. Throws InputError where the file is not one of `system`.
std::unique_ptr<TrajectoryWriter> append_trajectory(const std::filesystem::path& path,
                                                    const System& system, std::int64_t last_step,
                                                    const TrajectoryOptions& options = {});

struct ReadOptions {
  std::size_t n_atoms = 0;  ///< expected (E0704); 0: any
  std::string ending;       ///< ".nc": says how instead of the name's own
  bool accept_cut_end =
      false;  ///< a last frame that was never finished ends the file and is told by `cut_end`
  bool positions = false;   ///< frames without are passed over (.trr of GROMACS may have velocities
                            ///< at other steps)
  bool velocities = false;  ///< behind a frame with velocities, those without are passed over
};

class TrajectoryReader {
 public:
  virtual ~TrajectoryReader() = default;
  /// The next frame; false after the last. Throws InputError naming frame and byte: E0740 the file
  /// ends within a frame, E0741 damaged, E0742 a feature that is not read; E042x of HDF5 files.
  bool read(Snapshot& snapshot);
  virtual std::size_t n_atoms() const = 0;
  /// Whether the file has times in single precision.
  virtual bool rounds_times() const { return false; }
  /// Whether it has the time between frames in single precision: times are off by up to 2^-23 of
  /// what has passed since the first.
  virtual bool rounds_step() const { return false; }
  /// What `Snapshot::observables` are; empty where the format has none.
  virtual std::vector<Observable> observables() const { return {}; }
  /// Where a file was cut off that ReadOptions accepts.
  const std::optional<data::Diagnostic>& cut_end() const { return cut_end_; }

 protected:
  virtual bool next(Snapshot& snapshot) = 0;
  bool accept_cut_end_ = false;

 private:
  friend std::unique_ptr<TrajectoryReader> checked(std::unique_ptr<TrajectoryReader>,
                                                   const std::string&, const ReadOptions&);
  bool positions_ = false, velocities_ = false, had_velocities_ = false;
  std::optional<data::Diagnostic> cut_end_;
};

/// Whether the ending of a name, in letters of either case, is one that is read.
bool is_trajectory(const std::filesystem::path& path);
/// ".xtc, .trr, ...": all of these endings.
std::string trajectory_endings();
/// Throws Error for an ending that is not read, InputError where the file is not of its format.
std::unique_ptr<TrajectoryReader> open_trajectory(const std::filesystem::path& path,
                                                  const ReadOptions& options = {});
/// The same of bytes in memory: .xtc, .trr, .dcd, .nc and .ncrst.
std::unique_ptr<TrajectoryReader> open_trajectory(data::BinaryInput bytes,
                                                  const ReadOptions& options = {});

}  // namespace tessera::molecular
