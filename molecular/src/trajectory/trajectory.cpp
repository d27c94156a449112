// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/trajectory.h"

#include "formats.h"
#include "system/reach.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

struct Format {
  std::string_view ending;
  std::unique_ptr<TrajectoryWriter> (*write)(const WriterSetup&);
  std::unique_ptr<TrajectoryReader> (*read)(data::BinaryInput) = nullptr;  // of bytes
  std::unique_ptr<TrajectoryReader> (*read_named)(const std::filesystem::path&) =
      nullptr;  // of a file only
};
constexpr std::array formats = {
    Format{".xtc", write_xtc, read_xtc},
    Format{".trr", write_trr, read_trr},
    Format{".dcd", write_dcd, read_dcd},
    Format{".nc", write_amber_netcdf, read_amber_netcdf},
    Format{".ncdf", write_amber_netcdf, read_amber_netcdf},
    Format{".h5md", write_h5md, nullptr, read_h5md},
    Format{".h5", write_h5md, nullptr, read_h5md},
    Format{".gro", write_gro_frames, nullptr, read_gro_frames},
    Format{".pvd", write_pvd},
    Format{".csv", write_csv},
    Format{".rst7", write_rst7},
    Format{".ncrst", write_ncrst, read_amber_netcdf},
    Format{".pdb", write_pdb, nullptr, read_pdb_frames},
    Format{".cif", write_cif},
};

bool is_written(const Format& f) { return f.write != nullptr; }
bool is_read(const Format& f) { return f.read != nullptr || f.read_named != nullptr; }
bool is_read_of_bytes(const Format& f) { return f.read != nullptr; }

/// The format of an ending, among the possible ones; none: it is that of none.
const Format* find_format(std::string ending, bool (*possible)(const Format&)) {
  for (char& c : ending) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const Format& f : formats)
    if (possible(f) && f.ending == ending) return &f;
  return nullptr;
}
std::string endings_of(bool (*possible)(const Format&), const char* between) {
  std::string all;
  for (const Format& f : formats)
    if (possible(f)) all.append(all.empty() ? "" : between).append(f.ending);
  return all;
}
const Format& format_of(const fs::path& path, const char* action, bool (*possible)(const Format&),
                        const std::string& given = {}) {
  if (const Format* f = find_format(given.empty() ? path.extension().string() : given, possible))
    return *f;
  throw Error(fmt::format("[trajectory] {} {}: expected a name that ends in one of {}", action,
                          path.string(), endings_of(possible, " ")));
}

std::unique_ptr<TrajectoryWriter> open_writer(const fs::path& path, const System& system,
                                              const TrajectoryOptions& options,
                                              std::optional<std::int64_t> last_step) {
  const Format& f = format_of(path, "write", is_written);
  if (last_step && !fs::exists(path)) last_step.reset();
  return f.write({path, system, options, last_step});
}

}  // namespace

void FrameBytes::fail(int number, std::uint64_t byte, const std::string& message) const {
  throw data::InputError(data::Diagnostic{.number = number,
                                          .place = {.file = in_.name(), .byte = byte},
                                          .message = fmt::format("frame {} {}", frame_, message)});
}

void FrameBytes::require(std::uint64_t n) const {
  if (n > in_.size() - at_)
    fail(cut_off, at_,
         fmt::format("needs {} more bytes, the file has {}: it was cut off", n, in_.size() - at_));
}

const char* FrameBytes::take(std::uint64_t n) {
  constexpr std::uint64_t ahead = 4096;
  require(n);
  if (at_ < window_at_ || at_ + n > window_at_ + window_.size()) {
    window_.resize(std::max(n, std::min(ahead, in_.size() - at_)));
    window_at_ = at_;
    if (!in_.read(at_, window_.data(), window_.size()))
      fail(cut_off, at_, "cannot be read: the file shrank meanwhile");
  }
  const char* out = window_.data() + (at_ - window_at_);
  at_ += n;
  return out;
}

void FrameBytes::expect_finite(std::span<const Vec3> list, std::uint64_t byte,
                               const char* what) const {
  for (std::size_t i = 0; i < list.size(); ++i)
    for (double v : list[i])
      if (!std::isfinite(v))
        fail(damaged, byte, fmt::format("has {} that are no numbers, the first of {}", what, i));
}

void FrameBytes::expect_box(const Box& box, std::uint64_t byte) const {
  if (const std::string why = why_no_box(box); !why.empty())
    fail(damaged, byte, "has edges of the box that are none: " + why);
}

double decimal_of_single(double v) {
  constexpr double single = 0x1p-23;
  const double decimal = std::strtod(fmt::format("{:.5e}", v).c_str(), nullptr);
  return std::abs(decimal - v) <= single * std::abs(v) ? decimal : v;
}

std::string why_no_box(const Box& box) {
  constexpr double rounding = 1e-6;
  const auto& e = box.edge;
  double all = 0;
  for (const Vec3& v : e)
    for (const double x : v) {
      if (!(std::abs(x) <= farthest_nm)) return fmt::format("{} nm", x);
      all = std::max(all, std::abs(x));
    }
  if (all == 0) return {};
  for (std::size_t k = 0; k < 3; ++k)
    if (!(e[k][k] > 0))
      return fmt::format("expected positive lengths along x, y and z, got {}, {} and {} nm",
                         e[0][0], e[1][1], e[2][2]);
  for (const auto& [i, k] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 2U}})
    if (std::abs(e[i][k]) > rounding * e[i][i])
      return "expected the first edge along x and the second in the xy plane: turn the system, as "
             "gmx editconf does";
  return {};
}

void check_snapshot(const char* format, const Snapshot& s, std::size_t n_atoms,
                    const TrajectoryOptions& options) {
  const auto expect = [&](const char* what, std::size_t came, std::size_t expected) {
    if (came != expected)
      throw Error(fmt::format("[{}] step {}: expected {} {}, got {}", format, s.frame.step,
                              expected, what, came));
  };
  expect("positions", s.frame.x_nm.size(), n_atoms);
  if (options.velocities) expect("velocities", s.frame.v_nm_ps.size(), n_atoms);
  if (options.forces) expect("forces", s.f.size(), n_atoms);
  expect("observables", options.observables.empty() ? 0 : s.observables.size(),
         options.observables.size());
}

std::unique_ptr<data::AppendFile> open_appended(const WriterSetup& setup,
                                                std::uint64_t (*kept)(const WriterSetup&)) {
  return setup.last_step ? std::make_unique<data::AppendFile>(setup.path, kept(setup))
                         : std::make_unique<data::AppendFile>(setup.path);
}

std::unique_ptr<TrajectoryWriter> create_trajectory(const fs::path& path, const System& system,
                                                    const TrajectoryOptions& options) {
  return open_writer(path, system, options, std::nullopt);
}

std::unique_ptr<TrajectoryWriter> append_trajectory(const fs::path& path, const System& system,
                                                    std::int64_t last_step,
                                                    const TrajectoryOptions& options) {
  return open_writer(path, system, options, last_step);
}

std::unique_ptr<TrajectoryReader> checked(std::unique_ptr<TrajectoryReader> reader,
                                          const std::string& name, const ReadOptions& options) {
  if (options.n_atoms > 0 && reader->n_atoms() != options.n_atoms)
    throw data::InputError(
        data::Diagnostic{.number = 704,
                         .place = {name},
                         .message = fmt::format("the trajectory has {} atoms, the topology {}",
                                                reader->n_atoms(), options.n_atoms)});
  reader->accept_cut_end_ = options.accept_cut_end;
  reader->positions_ = options.positions;
  reader->velocities_ = options.velocities;
  return reader;
}

bool TrajectoryReader::read(Snapshot& snapshot) {
  if (cut_end_) return false;
  try {
    while (next(snapshot)) {
      const bool moves = !snapshot.frame.v_nm_ps.empty();
      had_velocities_ = had_velocities_ || moves;
      if ((!positions_ || !snapshot.frame.x_nm.empty()) &&
          (!velocities_ || !had_velocities_ || moves))
        return true;
    }
    return false;
  } catch (const data::InputError& e) {
    const data::Diagnostic& d = e.findings().front();
    if (!accept_cut_end_ || d.number != cut_off) throw;
    cut_end_ = d;
    cut_end_->severity = data::Severity::warning;
    return false;
  }
}

bool is_trajectory(const fs::path& path) {
  return find_format(path.extension().string(), is_read) != nullptr;
}
std::string trajectory_endings() { return endings_of(is_read, ", "); }

std::unique_ptr<TrajectoryReader> open_trajectory(const fs::path& path,
                                                  const ReadOptions& options) {
  if (const Format& f = format_of(path, "read", is_read, options.ending); f.read_named)
    return checked(f.read_named(path), path.string(), options);
  return open_trajectory(data::BinaryInput(path), options);
}

std::unique_ptr<TrajectoryReader> open_trajectory(data::BinaryInput bytes,
                                                  const ReadOptions& options) {
  const std::string name = bytes.name();
  const Format& f = format_of(name, "read", is_read_of_bytes, options.ending);
  return checked(f.read(std::move(bytes)), name, options);
}

}  // namespace tessera::molecular
