// SPDX-License-Identifier: Apache-2.0
// What the files of trajectory formats share: a row a format, and bytes of frames read with their
// places in mind.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/molecular/trajectory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>

namespace tessera::molecular {

struct WriterSetup {
  std::filesystem::path path;
  const System& system;
  const TrajectoryOptions& options;
  std::optional<std::int64_t> last_step;  ///< set: goes on with the file that is there
};

std::unique_ptr<TrajectoryWriter> write_xtc(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_trr(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_dcd(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_amber_netcdf(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_h5md(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_pvd(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_csv(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_gro_frames(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_rst7(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_ncrst(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_pdb(const WriterSetup& setup);
std::unique_ptr<TrajectoryWriter> write_cif(const WriterSetup& setup);

std::unique_ptr<TrajectoryReader> read_xtc(data::BinaryInput in);
std::unique_ptr<TrajectoryReader> read_trr(data::BinaryInput in);
std::unique_ptr<TrajectoryReader> read_dcd(data::BinaryInput in);
std::unique_ptr<TrajectoryReader> read_amber_netcdf(data::BinaryInput in);
std::unique_ptr<TrajectoryReader> read_h5md(const std::filesystem::path& path);
std::unique_ptr<TrajectoryReader> read_gro_frames(const std::filesystem::path& path);
std::unique_ptr<TrajectoryReader> read_pdb_frames(const std::filesystem::path& path);

inline constexpr int cut_off = 740, damaged = 741, not_read = 742;

/// Edges of a frame are none at all (zeros), or a along x, b in the xy plane, c upward, none longer
/// than a millimetre. What is wrong with them; empty: nothing. Parts of 1e-6 of an edge that point
/// elsewhere are the rounding of other programs.
std::string why_no_box(const Box& box);

/// Edges of frames whose files tell a lattice: those that belong to the edges of the first.
class OneLattice {
 public:
  Box of(const Box& box) {
    if (!is_periodic(first_)) first_ = box;
    return is_periodic(box) ? reduced_like(box, first_) : box;
  }

 private:
  Box first_;
};

/// Throws Error where the snapshot has another number of atoms, or lacks velocities, forces or
/// observables that were promised.
void check_snapshot(const char* format, const Snapshot& snapshot, std::size_t n_atoms,
                    const TrajectoryOptions& options);

/// Numbers of one frame, one after the other. Whatever goes beyond the end of the file is E0740.
class FrameBytes {
 public:
  FrameBytes(const data::BinaryInput& in, std::size_t frame, std::uint64_t at, std::endian order)
      : in_(in), frame_(frame), at_(at), order_(order) {}

  std::uint64_t at() const { return at_; }
  bool at_end() const { return at_ == in_.size(); }
  [[noreturn]] void fail(int number, std::uint64_t byte, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const { fail(damaged, at_, message); }

  template <class T>
  T number() {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), take(sizeof(T)), sizeof(T));
    if (order_ != std::endian::native) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
  }
  std::int32_t integer() { return number<std::int32_t>(); }
  /// The next n bytes, until the next call.
  const char* take(std::uint64_t n);
  /// Throws E0740 unless the file has n more bytes.
  void require(std::uint64_t n) const;
  void skip(std::uint64_t n) { require(n), at_ += n; }
  /// Throws E0741 where a number is none; `byte`: where the list begins.
  void expect_finite(std::span<const Vec3> list, std::uint64_t byte, const char* what) const;
  /// Throws E0741 where edges are no box (see why_no_box); `byte`: where they begin.
  void expect_box(const Box& box, std::uint64_t byte) const;

 private:
  const data::BinaryInput& in_;
  std::size_t frame_;
  std::uint64_t at_;
  std::endian order_;
  std::string window_;
  std::uint64_t window_at_ = 0;
};

/// A time between frames that a file has in single precision: the decimal number of at most six
/// digits that it may have been before, else as it is.
double decimal_of_single(double v);

/// Up to the next multiple of four.
constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }
/// Appends a number in the given order of bytes.
template <class T>
void put(std::string& out, T value, std::endian order) {
  auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
  out.append(raw.data(), raw.size());
}

/// Bytes of the whole frames up to `last_step` at the beginning of a file; `skip_frame(bytes)` goes
/// over one and returns its step and number of atoms. Throws E0704 where that is not `n_atoms`.
struct FrameMark {
  std::int64_t step;
  std::size_t n_atoms;
};
template <class SkipFrame>
std::uint64_t kept_length(const std::filesystem::path& path, std::size_t n_atoms,
                          std::int64_t last_step, SkipFrame&& skip_frame) {
  const data::BinaryInput in(path);
  std::uint64_t at = 0;
  for (std::size_t frame = 0; at < in.size(); ++frame) {
    FrameBytes bytes(in, frame, at, std::endian::big);
    try {
      const FrameMark mark = skip_frame(bytes);
      if (mark.n_atoms != n_atoms)
        bytes.fail(704, at,
                   "has " + std::to_string(mark.n_atoms) + " atoms, the system " +
                       std::to_string(n_atoms));
      if (mark.step > last_step) break;
    } catch (const data::InputError& e) {
      if (e.findings()[0].number == cut_off) break;
      throw;
    }
    at = bytes.at();
  }
  return at;
}

/// A file of frames that are put together in memory and appended whole.
std::unique_ptr<data::AppendFile> open_appended(const WriterSetup& setup,
                                                std::uint64_t (*kept)(const WriterSetup&));

}  // namespace tessera::molecular
