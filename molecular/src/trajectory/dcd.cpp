// SPDX-License-Identifier: Apache-2.0
//
// A DCD file is records of Fortran, each between two counts of its bytes:
//
//   "CORD" and 20 integers: frames, first step, steps between frames, ..., [9] time step [t],
//     [10] cell, [19] version (CHARMM)
//   titles
//   number of atoms
//   and for each frame: the cell a, cos(gamma), b, cos(beta), cos(alpha), c (doubles, A; some write
//     angles in degrees, CHARMM the symmetric matrix xx, xy, yy, xz, yz, zz of the vectors), then
//     x, y and z of all atoms (floats, A)
//
// t = sqrt(amu A^2/(kcal/mol)) = 0.0488882 ps. CHARMM has the time step in single precision, X-PLOR
// in double. The number of frames follows from the file's size: that in the header is of
// no use after a kill. The vectors of a cell are those of its lengths and
// angles, a along x: a cell that lies otherwise is turned.
//
// Readers take (first step) (time step) for the time of the first frame. Where a run counts its
// steps from another time, the first step is therefore that time in time steps, rounded, as long as
// these are below 2^31; our title has both as they are.
#include "base/units.h"
#include "base/vec.h"
#include "formats.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>

namespace tessera::molecular {
namespace {

const double time_unit_ps =
    0.1 / std::sqrt(4.184);  // sqrt(amu A^2/(kcal/mol)) in ps: nm sqrt(amu/(kJ/mol)) = 1 ps
constexpr auto dcd_order = std::endian::little;
constexpr std::int32_t header_bytes = 84, title_bytes = 80, cell_bytes = 48;

struct DcdHeader {
  std::endian order = std::endian::little;
  std::int64_t first_step = 0, interval = 1;  ///< as the run counts
  std::int64_t start = 0;  ///< the first step of the header: the first time in time steps
  double delta = 0;        ///< time step in units of t
  bool is_single = true;   ///< in single precision
  double first_time_ps = 0;
  bool has_cell = false;
  std::size_t n_atoms = 0;
  std::uint64_t bytes = 0;  ///< of the header
  double dt_ps() const {
    const double dt = delta * time_unit_ps;
    return is_single ? decimal_of_single(dt) : dt;
  }
  std::uint64_t frame_bytes() const {
    return (has_cell ? cell_bytes + 8 : 0) + 3 * (8 + 4 * static_cast<std::uint64_t>(n_atoms));
  }
};

constexpr const char* title_format = "written by Tessera: from step {} at {} ps";

/// First step and time as our title has them, unless a program has changed what is around it.
void read_title(DcdHeader& h, std::string_view titles) {
  constexpr std::string_view words[] = {"written by Tessera: from step ", " at ", " ps"};
  std::int64_t step = 0;
  double time_ps = 0;
  const auto number = [&](std::string_view before, auto& to) {
    if (!titles.starts_with(before)) return false;
    titles.remove_prefix(before.size());
    const auto [end, fault] = std::from_chars(titles.data(), titles.data() + titles.size(), to);
    titles.remove_prefix(static_cast<std::size_t>(end - titles.data()));
    return fault == std::errc();
  };
  if (!number(words[0], step) || !number(words[1], time_ps) || !titles.starts_with(words[2]))
    return;
  const double dt_ps = h.dt_ps();
  if (!std::isfinite(time_ps)) return;
  const bool agrees = std::abs(h.first_time_ps - time_ps) <= dt_ps + 1e-6 * std::abs(time_ps),
             does_not_fit = std::abs(time_ps) > 0x1p30 * dt_ps && h.start == step;
  if (dt_ps > 0 && !agrees && !does_not_fit) return;
  h.first_step = step;
  h.first_time_ps = time_ps;
}

/// The count before or after a record.
void expect_count(FrameBytes& in, std::uint64_t n) {
  if (const std::int32_t count = in.integer(); static_cast<std::uint64_t>(count) != n)
    in.fail(damaged, in.at() - 4,
            fmt::format("has a record of {} bytes where {} are due", count, n));
}

DcdHeader read_dcd_header(const data::BinaryInput& file) {
  DcdHeader h;
  if (FrameBytes probe(file, 0, 0, std::endian::little); probe.integer() != header_bytes)
    h.order = std::endian::big;
  FrameBytes in(file, 0, 0, h.order);
  expect_count(in, header_bytes);
  const std::string kind(in.take(4), 4);
  if (kind != "CORD")
    in.fail(
        kind == "VELD" ? not_read : damaged, 4,
        "holds '" + (kind == "VELD" ? kind : std::string("?")) + "', expected positions, 'CORD'");
  std::array<std::int32_t, 20> control;
  std::uint64_t delta_at = 0;
  for (std::size_t k = 0; k < control.size(); ++k) {
    if (k == 9) delta_at = in.at();
    control[k] = in.integer();
  }
  expect_count(in, header_bytes);
  const bool charmm = control[19] != 0;
  h.start = h.first_step = control[1];
  h.interval = std::max(1, control[2]);
  FrameBytes again(file, 0, delta_at, h.order);
  h.is_single = charmm;
  h.delta = charmm ? static_cast<double>(again.number<float>()) : again.number<double>();
  if (!std::isfinite(h.delta)) in.fail(damaged, delta_at, "has a time step that is not a number");
  h.first_time_ps = static_cast<double>(h.start) * h.dt_ps();
  h.has_cell = charmm && control[10] != 0;
  if (control[8] != 0)
    in.fail(not_read, 4 + 4 * 9,
            fmt::format("keeps {} atoms fixed, which are written once only", control[8]));
  if (charmm && control[11] != 0) in.fail(not_read, 4 + 4 * 12, "has four dimensions");
  const std::int32_t titles = in.integer();
  if (titles < 4) in.fail(damaged, in.at() - 4, fmt::format("has titles of {} bytes", titles));
  constexpr std::int32_t number_of_titles = 4;
  const char* text = in.take(static_cast<std::uint64_t>(titles));
  read_title(h, {text + number_of_titles, static_cast<std::size_t>(titles - number_of_titles)});
  expect_count(in, static_cast<std::uint64_t>(titles));
  expect_count(in, 4);
  const std::int32_t n = in.integer();
  if (n < 1) in.fail(damaged, in.at() - 4, fmt::format("has {} atoms", n));
  expect_count(in, 4);
  h.n_atoms = static_cast<std::size_t>(n);
  h.bytes = in.at();
  return h;
}

/// `turn` takes positions into the frame of the box, where a matrix of vectors tells the cell:
/// where numbers are neither cosines nor angles.
Box box_of(const std::array<double, 6>& cell, FrameBytes& in, std::uint64_t at,
           std::optional<std::array<Vec3, 3>>& turn) {
  const Vec3 lengths = {cell[0] * angstrom, cell[2] * angstrom, cell[5] * angstrom};
  if (lengths == Vec3{}) return {};
  Vec3 angles = {cell[4], cell[3], cell[1]};
  const bool cosines =
      std::abs(angles[0]) <= 1 && std::abs(angles[1]) <= 1 && std::abs(angles[2]) <= 1;
  if (cosines)
    for (double& a : angles)
      a = 90 - std::asin(a) * 180 / std::numbers::pi;  // 0 is 90 degrees to the last bit
  if (angles == Vec3{90, 90, 90} && lengths[0] > 0 && lengths[1] > 0 && lengths[2] > 0)
    return rectangular_box(lengths);
  try {
    if (!cosines && !std::ranges::all_of(angles, [](double a) { return a > 0 && a < 180; })) {
      std::array<Vec3, 3> edges = {
          {{cell[0], cell[1], cell[3]}, {cell[1], cell[2], cell[4]}, {cell[3], cell[4], cell[5]}}};
      for (Vec3& e : edges)
        for (double& v : e) v *= angstrom;
      const Box box = box_of_vectors(edges, &turn.emplace());
      in.expect_box(box, at);
      return box;
    }
    return box_of_angles(lengths, angles);
  } catch (const Error&) {
    in.fail(damaged, at,
            fmt::format("has a cell of lengths {:.6g}, {:.6g}, {:.6g} A and angles {:.6g}, {:.6g}, "
                        "{:.6g}, which is none",
                        cell[0], cell[2], cell[5], angles[0], angles[1], angles[2]));
  }
}

class DcdReader final : public TrajectoryReader {
 public:
  explicit DcdReader(data::BinaryInput in)
      : in_(std::move(in)),
        header_(read_dcd_header(in_)),
        dt_ps_(header_.dt_ps()),
        at_(header_.bytes) {}
  std::size_t n_atoms() const override { return header_.n_atoms; }
  bool rounds_step() const override { return header_.is_single; }

 protected:
  bool next(Snapshot& s) override {
    FrameBytes in(in_, frame_, at_, header_.order);
    if (in.at_end()) return false;
    in.require(header_.frame_bytes());
    Snapshot out;
    std::optional<std::array<Vec3, 3>> turn;
    const std::int64_t steps = static_cast<std::int64_t>(frame_) * header_.interval;
    out.frame.step = header_.first_step + steps;
    out.frame.time_ps = header_.first_time_ps + static_cast<double>(steps) * dt_ps_;
    if (header_.has_cell) {
      expect_count(in, cell_bytes);
      const std::uint64_t cell_at = in.at();
      std::array<double, 6> cell;
      for (double& v : cell) v = in.number<double>();
      for (double v : cell)
        if (!std::isfinite(v)) in.fail(damaged, cell_at, "has a cell that is not finite");
      expect_count(in, cell_bytes);
      out.frame.box = lattice_.of(box_of(cell, in, cell_at, turn));
    }
    const std::uint64_t at = in.at();
    out.frame.x_nm.resize(header_.n_atoms);
    for (std::size_t d = 0; d < 3; ++d) {
      expect_count(in, 4 * header_.n_atoms);
      for (Vec3& x : out.frame.x_nm) x[d] = static_cast<double>(in.number<float>()) * angstrom;
      expect_count(in, 4 * header_.n_atoms);
    }
    in.expect_finite(out.frame.x_nm, at, "positions");
    if (turn)
      for (Vec3& x : out.frame.x_nm)
        x = {dot((*turn)[0], x), dot((*turn)[1], x), dot((*turn)[2], x)};
    at_ = in.at();
    ++frame_;
    s = std::move(out);
    return true;
  }

 private:
  data::BinaryInput in_;
  DcdHeader header_;
  double dt_ps_;
  std::uint64_t at_;
  std::size_t frame_ = 0;
  OneLattice lattice_;
};

class DcdWriter final : public TrajectoryWriter {
 public:
  explicit DcdWriter(const WriterSetup& w) : n_atoms_(w.system.n_atoms()) {
    if (n_atoms_ > std::numeric_limits<std::int32_t>::max() / 4)
      throw Error(fmt::format("[dcd] {} atoms do not fit; write .h5md", n_atoms_));
    const std::uint64_t keep = w.last_step ? kept(w) : 0;
    file_ = keep ? std::make_unique<data::AppendFile>(w.path, keep)
                 : std::make_unique<data::AppendFile>(w.path);
    if (keep) file_->overwrite(number_at, number(n_frames_));
  }

  void write(const Snapshot& s) override {
    check_snapshot("dcd", s, n_atoms_, {});
    const Frame& f = s.frame;
    if (f.step != static_cast<std::int32_t>(f.step))
      throw Error(fmt::format("[dcd] step {} is beyond 2^31; write .h5md", f.step));
    std::string out;
    if (n_frames_ == 0) {
      header_.has_cell = is_periodic(f.box);
      header_.first_step = header_.start = f.step, header_.first_time_ps = f.time_ps;
      out = header();
    } else if (n_frames_ == 1) {
      header_.interval = f.step - header_.first_step;
      if (header_.interval <= 0)
        throw Error(
            fmt::format("[dcd] expected a step after {}, got {}", header_.first_step, f.step));
      const double dt_ps =
          (f.time_ps - header_.first_time_ps) / static_cast<double>(header_.interval);
      header_.delta = dt_ps / time_unit_ps;
      header_.start = start(dt_ps);
    }
    if (const std::int64_t due = header_.first_step + n_frames_ * header_.interval;
        n_frames_ > 0 && f.step != due)
      throw Error(
          fmt::format("[dcd] expected step {}, for frames follow each other at one distance, got "
                      "{}; write .h5md or .xtc",
                      due, f.step));
    if (header_.has_cell != is_periodic(f.box))
      throw Error("[dcd] expected a box in all frames or in none");
    const auto count = [&](std::size_t n) { put(out, static_cast<std::int32_t>(n), dcd_order); };
    if (header_.has_cell) {
      const Vec3 lengths = lengths_nm(f.box), angles = angles_deg(f.box);
      const auto cosine = [&](std::size_t k) {
        return std::sin((90 - angles[k]) * std::numbers::pi / 180);
      };
      count(cell_bytes);
      for (double v : {lengths[0] / angstrom, cosine(2), lengths[1] / angstrom, cosine(1),
                       cosine(0), lengths[2] / angstrom})
        put(out, v, dcd_order);
      count(cell_bytes);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      count(4 * n_atoms_);
      for (const Vec3& x : f.x_nm) put(out, static_cast<float>(x[d] / angstrom), dcd_order);
      count(4 * n_atoms_);
    }
    file_->append(out);
    ++n_frames_;
    // The header follows the frames: a reader that trusts its count misses the last one after a
    // kill, never more.
    if (n_frames_ == 2)
      file_->overwrite(0, header());
    else
      file_->overwrite(number_at, number(n_frames_));
  }
  void sync() override { file_->sync(); }

 private:
  static constexpr std::uint64_t number_at = 8;  ///< of the control integers

  static std::string number(std::int64_t v) {
    std::string out;
    put(out, static_cast<std::int32_t>(v), dcd_order);
    return out;
  }
  /// The time of the first frame in time steps, where time goes on and they fit.
  std::int64_t start(double dt_ps) const {
    const double steps = std::round(header_.first_time_ps / dt_ps);
    return dt_ps > 0 && std::abs(steps) <= std::numeric_limits<std::int32_t>::max()
               ? static_cast<std::int64_t>(steps)
               : header_.first_step;
  }

  std::string header() const {
    std::string out;
    const auto integer = [&](std::int64_t v) { put(out, static_cast<std::int32_t>(v), dcd_order); };
    integer(header_bytes);
    out += "CORD";
    std::array<std::int32_t, 20> control{};
    control[0] = static_cast<std::int32_t>(std::max<std::int64_t>(1, n_frames_)),
    control[1] = static_cast<std::int32_t>(header_.start),
    control[2] = static_cast<std::int32_t>(header_.interval), control[10] = header_.has_cell,
    control[19] = 24;
    control[9] = std::bit_cast<std::int32_t>(static_cast<float>(header_.delta));
    for (std::int32_t c : control) integer(c);
    integer(header_bytes);
    std::string title = fmt::format(title_format, header_.first_step, header_.first_time_ps);
    title.resize(title_bytes, ' ');
    integer(4 + title_bytes);
    integer(1);
    out += title;
    integer(4 + title_bytes);
    integer(4);
    integer(static_cast<std::int64_t>(n_atoms_));
    integer(4);
    return out;
  }

  /// Bytes up to `last_step`; 0 where no frame is kept.
  std::uint64_t kept(const WriterSetup& w) {
    const data::BinaryInput in(w.path);
    if (in.size() == 0) return 0;
    try {
      header_ = read_dcd_header(in);
    } catch (const data::InputError& e) {
      if (e.findings().front().number == cut_off)
        return 0;  // killed in the middle of its first frame
      throw;
    }
    if (header_.order != dcd_order)
      FrameBytes(in, 0, 0, dcd_order)
          .fail(not_read, 0, "is big-endian, and cannot be gone on with");
    if (header_.n_atoms != n_atoms_)
      FrameBytes(in, 0, 0, dcd_order)
          .fail(704, 0, fmt::format("has {} atoms, the system {}", header_.n_atoms, n_atoms_));
    const auto whole =
        static_cast<std::int64_t>((in.size() - header_.bytes) / header_.frame_bytes());
    const std::int64_t wanted = *w.last_step < header_.first_step
                                    ? 0
                                    : (*w.last_step - header_.first_step) / header_.interval + 1;
    n_frames_ = std::min(whole, wanted);
    return n_frames_ == 0
               ? 0
               : header_.bytes + static_cast<std::uint64_t>(n_frames_) * header_.frame_bytes();
  }

  std::size_t n_atoms_;
  DcdHeader header_;
  std::int64_t n_frames_ = 0;
  std::unique_ptr<data::AppendFile> file_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_dcd(const WriterSetup& setup) {
  return std::make_unique<DcdWriter>(setup);
}
std::unique_ptr<TrajectoryReader> read_dcd(data::BinaryInput in) {
  return std::make_unique<DcdReader>(std::move(in));
}

}  // namespace tessera::molecular
