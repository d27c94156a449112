// SPDX-License-Identifier: Apache-2.0
//
// AMBER's conventions for NetCDF, version 1.0 (ambermd.org/netcdf/nctraj.xhtml): trajectories
// ("AMBER": a record a frame) and restarts ("AMBERRESTART": one frame in double precision, no
// records).
//
//   time                       [ps]
//   coordinates   [atom, 3]    [A]
//   velocities    [atom, 3]    [A/ps] after multiplication by scale_factor (AMBER's own unit of
//                              time is 1/20.455 ps)
//   forces        [atom, 3]    [kcal/(mol A)]
//   cell_lengths, cell_angles  [A], [degree]
//
// The conventions know no steps: ours are a variable of their own, which others pass over; theirs
// are counted from 0.
#include "base/units.h"
#include "formats.h"
#include "netcdf_classic.h"
#include "system/reach.h"
#include "tessera/data/build_info.h"
#include "tessera/molecular/amber.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace tessera::molecular {
namespace {

constexpr double amber_time_ps = 1 / 20.455;

// ---- reading

struct Unit {
  std::string_view name;
  double size;  ///< in nm, ps, kJ/mol, degrees
};

/// What the variables of a file mean.
class AmberNetcdf {
 public:
  explicit AmberNetcdf(const data::BinaryInput& in) : in_(in), layout_(read_netcdf_layout(in)) {
    const auto conventions = layout_.texts.find("Conventions");
    const std::string text = conventions == layout_.texts.end() ? "" : conventions->second;
    restart_ = text.find("AMBERRESTART") != std::string::npos;
    if (!restart_ && (text.find("AMBER") == std::string::npos ||
                      text.find("AMBERENSEMBLE") != std::string::npos))
      refuse(not_read, 0,
             fmt::format("holds NetCDF of the conventions '{}'; AMBER and AMBERRESTART are read",
                         text));
    n_atoms_ = layout_.extent("atom");
    if (n_atoms_ < 1 || layout_.extent("spatial") != 3)
      refuse(damaged, 0,
             fmt::format("has {} atoms in {} dimensions", n_atoms_, layout_.extent("spatial")));
    const std::initializer_list<Unit> lengths = {
        {"angstrom", angstrom}, {"nanometer", 1}, {"nm", 1}};
    time_ = variable("time", 1,
                     {{"picosecond", 1}, {"ps", 1}, {"femtosecond", 1e-3}, {"nanosecond", 1e3}});
    step_ = variable("step", 1, {{"", 1}});
    positions_ = variable("coordinates", 3 * n_atoms_, lengths);
    velocities_ = variable("velocities", 3 * n_atoms_,
                           {{"angstrom/picosecond", angstrom}, {"nanometer/picosecond", 1}});
    forces_ =
        variable("forces", 3 * n_atoms_,
                 {{"kilocalorie/mole/angstrom", kcal / angstrom}, {"kilojoule/mole/nanometer", 1}});
    lengths_ = variable("cell_lengths", 3, lengths);
    angles_ = variable("cell_angles", 3, {{"degree", 1}});
    if (!positions_.in_file) refuse(not_read, 0, "holds no coordinates");
  }
  bool restart() const { return restart_; }
  const NetcdfLayout& layout() const { return layout_; }
  std::size_t n_atoms() const { return static_cast<std::size_t>(n_atoms_); }
  std::uint64_t n_frames() const { return restart_ ? 1 : layout_.n_records; }
  bool rounds_times() const { return time_.in_file && time_.in_file->type == NetcdfType::f32; }

  std::int64_t step(std::uint64_t frame) const {
    if (!step_.in_file) return static_cast<std::int64_t>(frame);
    const double s = numbers(step_, frame)[0];
    if (!(std::abs(s) <= most_exact)) fail(step_, frame, fmt::format("has the step {}", s));
    return std::llround(s);
  }
  Snapshot snapshot(std::uint64_t k) const {
    Snapshot s;
    s.frame.step = step(k);
    if (time_.in_file) s.frame.time_ps = numbers(time_, k)[0];
    if (!std::isfinite(s.frame.time_ps)) fail(time_, k, "has a time that is not a number");
    s.frame.x_nm = vectors(positions_, k, "positions");
    s.frame.v_nm_ps = vectors(velocities_, k, "velocities");
    s.f = vectors(forces_, k, "forces");
    s.frame.box = box(k);
    return s;
  }
  [[noreturn]] void fail_positions(std::uint64_t frame, const std::string& what) const {
    fail(positions_, frame, what);
  }
  [[noreturn]] void refuse(int number, std::uint64_t byte, const std::string& what) const {
    throw data::InputError(data::Diagnostic{.number = number,
                                            .place = {.file = in_.name(), .byte = byte},
                                            .message = "the file " + what});
  }

 private:
  static constexpr double most_exact = 9007199254740992;  // 2^53

  struct Part {
    const NetcdfVariable* in_file = nullptr;
    double unit = 1;  ///< times the scale of the file
  };

  Part variable(const char* name, std::uint64_t count, std::initializer_list<Unit> units) const {
    const NetcdfVariable* v = layout_.find(name);
    if (!v) return {};
    if (v->has_records == restart_ || v->count != count || v->type == NetcdfType::text)
      refuse(damaged, v->defined_at,
             fmt::format("has {} of {} numbers {}, expected {} {}", name, v->count,
                         v->has_records ? "a frame" : "in all", count,
                         restart_ ? "in all" : "a frame"));
    const auto scale = v->numbers.find("scale_factor");
    const double factor = scale == v->numbers.end() ? 1 : scale->second;
    if (!std::isfinite(factor) || factor == 0)
      refuse(damaged, v->defined_at, fmt::format("has {} to be multiplied by {}", name, factor));
    const auto said = v->texts.find("units");
    std::string unit = said == v->texts.end() ? "" : said->second;
    if (unit.size() > 1 && unit.back() == 's' && unit != "ps") unit.pop_back();
    std::string known;
    for (const Unit& u : units) {
      if (unit.empty() || unit == u.name) return {v, factor * u.size};
      known += (known.empty() ? "" : ", ") + std::string(u.name);
    }
    refuse(not_read, v->defined_at,
           fmt::format("has {} in '{}'; {} is read", name, said->second, known));
  }
  std::vector<double> numbers(const Part& p, std::uint64_t frame) const {
    std::vector<double> out = read_netcdf(in_, layout_, *p.in_file, frame);
    for (double& v : out) v *= p.unit;
    return out;
  }
  [[noreturn]] void fail(const Part& p, std::uint64_t frame, const std::string& what) const {
    FrameBytes(in_, frame, 0, netcdf_order).fail(damaged, layout_.offset(*p.in_file, frame), what);
  }
  std::vector<Vec3> vectors(const Part& p, std::uint64_t frame, const char* what) const {
    if (!p.in_file) return {};
    const std::vector<double> flat = numbers(p, frame);
    std::vector<Vec3> out(n_atoms());
    for (std::size_t i = 0; i < flat.size(); ++i) out[i / 3][i % 3] = flat[i];
    FrameBytes(in_, frame, 0, netcdf_order)
        .expect_finite(out, layout_.offset(*p.in_file, frame), what);
    return out;
  }
  Box box(std::uint64_t frame) const {
    if (!lengths_.in_file) return {};
    const std::vector<double> l = numbers(lengths_, frame), a = angles_.in_file
                                                                    ? numbers(angles_, frame)
                                                                    : std::vector<double>(3, 90.0);
    if (l == std::vector<double>(3, 0.0)) return {};
    try {
      return box_of_angles({l[0], l[1], l[2]}, {a[0], a[1], a[2]});
    } catch (const Error& e) {
      fail(lengths_, frame, e.what());
    }
  }

  const data::BinaryInput& in_;
  NetcdfLayout layout_;
  bool restart_ = false;
  std::uint64_t n_atoms_ = 0;
  Part time_, step_, positions_, velocities_, forces_, lengths_, angles_;
};

class AmberNetcdfReader final : public TrajectoryReader {
 public:
  explicit AmberNetcdfReader(data::BinaryInput in) : in_(std::move(in)), file_(in_) {}
  std::size_t n_atoms() const override { return file_.n_atoms(); }
  bool rounds_times() const override { return file_.rounds_times(); }

 protected:
  bool next(Snapshot& s) override {
    if (at_ >= file_.n_frames()) return false;
    s = file_.snapshot(at_);
    s.frame.box = lattice_.of(s.frame.box);
    ++at_;
    return true;
  }

 private:
  data::BinaryInput in_;
  AmberNetcdf file_;
  std::uint64_t at_ = 0;
  OneLattice lattice_;
};

// ---- writing

struct Contents {
  std::size_t n_atoms;
  bool restart, box, velocities, forces;
  std::string title;
};

NetcdfLayout layout_of(const Contents& c) {
  NetcdfLayout l;
  const auto dimension = [&](const char* name, std::uint64_t extent) {
    return l.dimensions.push_back({name, extent}), l.dimensions.size() - 1;
  };
  const std::size_t frame = c.restart ? 0 : dimension("frame", 0),
                    spatial = dimension("spatial", 3), atom = dimension("atom", c.n_atoms);
  const std::size_t cell_spatial = dimension("cell_spatial", 3), label = dimension("label", 5),
                    cell_angular = dimension("cell_angular", 3);
  l.texts = {{"Conventions", c.restart ? "AMBERRESTART" : "AMBER"},
             {"ConventionVersion", "1.0"},
             {"program", "Tessera"},
             {"programVersion", std::string(data::build_info().version)},
             {"title", c.title}};
  const NetcdfType real = c.restart ? NetcdfType::f64 : NetcdfType::f32;
  const auto variable = [&](const char* name, NetcdfType type, std::vector<std::size_t> of,
                            const char* unit) -> NetcdfVariable& {
    l.variables.push_back({.name = name, .dimensions = std::move(of), .type = type});
    if (*unit) l.variables.back().texts["units"] = unit;
    return l.variables.back();
  };
  const auto of_a_frame = [&](const char* name, NetcdfType type, std::vector<std::size_t> of,
                              const char* unit) -> NetcdfVariable& {
    if (!c.restart) of.insert(of.begin(), frame);
    return variable(name, type, std::move(of), unit);
  };
  variable("spatial", NetcdfType::text, {spatial}, "");
  variable("cell_spatial", NetcdfType::text, {cell_spatial}, "");
  variable("cell_angular", NetcdfType::text, {cell_angular, label}, "");
  if (!c.restart) of_a_frame("step", NetcdfType::f64, {}, "");
  of_a_frame("time", real, {}, "picosecond");
  of_a_frame("coordinates", real, {atom, spatial}, "angstrom");
  if (c.box)
    of_a_frame("cell_lengths", NetcdfType::f64, {cell_spatial}, "angstrom"),
        of_a_frame("cell_angles", NetcdfType::f64, {cell_angular}, "degree");
  if (c.velocities)
    of_a_frame("velocities", real, {atom, spatial}, "angstrom/picosecond").numbers["scale_factor"] =
        1 / amber_time_ps;
  if (c.forces) of_a_frame("forces", real, {atom, spatial}, "kilocalorie/mole/angstrom");
  return l;
}

/// The labels of the axes, which lie before the frames.
std::string labels() {
  const auto padded = [](std::string s) { return s.append((4 - s.size() % 4) % 4, '\0'); };
  return padded("xyz") + padded("abc") + padded("alphabeta gamma");
}

/// What layout_of says of a frame, in its order.
std::string frame_bytes(const Contents& c, const Snapshot& s) {
  std::string out;
  const auto real = [&](double v) {
    c.restart ? put(out, v, netcdf_order) : put(out, static_cast<float>(v), netcdf_order);
  };
  const auto vectors = [&](const std::vector<Vec3>& list, double unit) {
    for (const Vec3& r : list)
      for (double v : r) real(v / unit);
  };
  if (!c.restart) put(out, static_cast<double>(s.frame.step), netcdf_order);
  real(s.frame.time_ps);
  vectors(s.frame.x_nm, angstrom);
  if (c.box) {
    for (double v : lengths_nm(s.frame.box)) put(out, v / angstrom, netcdf_order);
    for (double v : angles_deg(s.frame.box)) put(out, v, netcdf_order);
  }
  if (c.velocities) vectors(s.frame.v_nm_ps, angstrom / amber_time_ps);
  if (c.forces) vectors(s.f, kcal / angstrom);
  return out;
}

class AmberNetcdfWriter final : public TrajectoryWriter {
 public:
  explicit AmberNetcdfWriter(const WriterSetup& w)
      : path_(w.path),
        options_(w.options),
        last_step_(w.last_step),
        contents_{.n_atoms = w.system.n_atoms(),
                  .restart = false,
                  .box = false,
                  .velocities = w.options.velocities,
                  .forces = w.options.forces,
                  .title = w.system.title} {
    if (contents_.n_atoms > INT32_MAX / 12)
      throw Error(fmt::format("[netcdf] {} atoms do not fit; write .h5md", contents_.n_atoms));
    options_.observables.clear();
    if (!last_step_) file_ = std::make_unique<data::AppendFile>(path_);
  }

  void write(const Snapshot& s) override {
    check_snapshot("netcdf", s, contents_.n_atoms, options_);
    if (!begun_) begin(is_periodic(s.frame.box));
    if (contents_.box != is_periodic(s.frame.box))
      throw Error("[netcdf] expected a box in all frames or in none");
    file_->append(frame_bytes(contents_, s));
    ++n_frames_;
    count();
  }
  void sync() override {
    if (file_) file_->sync();
  }

 private:
  /// What the file holds depends on whether there is a box, which the first frame says.
  void begin(bool box) {
    contents_.box = box;
    NetcdfLayout layout = layout_of(contents_);
    const std::string head = netcdf_header(layout) + labels();
    const std::uint64_t keep = last_step_ ? kept(layout) : 0;
    if (last_step_) file_ = std::make_unique<data::AppendFile>(path_, keep);
    if (keep == 0) file_->append(head);
    count();
    begun_ = true;
  }
  /// The count follows the frames: those beyond it are not there for readers.
  void count() {
    std::string n;
    put(n, static_cast<std::uint32_t>(n_frames_), netcdf_order);
    file_->overwrite(netcdf_records_at, n);
  }
  /// Bytes up to `last_step`; 0 where no frame is kept.
  std::uint64_t kept(const NetcdfLayout& layout) {
    const data::BinaryInput in(path_);
    if (in.size() == 0) return 0;  // killed before its first frame
    const AmberNetcdf file(in);
    const auto same = [](const NetcdfVariable& a, const NetcdfVariable& b) {
      return a.name == b.name && a.type == b.type && a.has_records == b.has_records &&
             a.count == b.count;
    };
    if (file.n_atoms() != contents_.n_atoms)
      file.refuse(704, 0,
                  fmt::format("has {} atoms, the system {}", file.n_atoms(), contents_.n_atoms));
    if (!std::ranges::equal(file.layout().variables, layout.variables, same))
      file.refuse(704, 0, "does not hold what is to be written: give it another name");
    while (n_frames_ < file.n_frames() && file.step(n_frames_) <= *last_step_) ++n_frames_;
    return n_frames_ == 0 ? 0
                          : file.layout().offset(*file.layout().find("step"),
                                                 n_frames_);  // the first of a frame
  }

  std::filesystem::path path_;
  TrajectoryOptions options_;
  std::optional<std::int64_t> last_step_;
  Contents contents_;
  std::uint64_t n_frames_ = 0;
  bool begun_ = false;
  std::unique_ptr<data::AppendFile> file_;
};

}  // namespace

std::unique_ptr<TrajectoryReader> read_amber_netcdf(data::BinaryInput in) {
  return std::make_unique<AmberNetcdfReader>(std::move(in));
}
std::unique_ptr<TrajectoryWriter> write_amber_netcdf(const WriterSetup& setup) {
  return std::make_unique<AmberNetcdfWriter>(setup);
}

std::string amber_netcdf_restart(const Frame& frame, const std::string& title) {
  const Contents c{.n_atoms = frame.x_nm.size(),
                   .restart = true,
                   .box = is_periodic(frame.box),
                   .velocities = !frame.v_nm_ps.empty(),
                   .forces = false,
                   .title = title};
  NetcdfLayout layout = layout_of(c);
  return netcdf_header(layout) + labels() +
         frame_bytes(c, {.frame = frame, .f = {}, .observables = {}});
}

Frame read_amber_netcdf_restart(const data::BinaryInput& in, std::optional<std::size_t> n_atoms) {
  const AmberNetcdf file(in);
  if (!file.restart())
    file.refuse(not_read, 0, "is a trajectory, expected a restart (conventions 'AMBERRESTART')");
  if (n_atoms && file.n_atoms() != *n_atoms)
    file.refuse(704, 0, fmt::format("has {} atoms, the topology {}", file.n_atoms(), *n_atoms));
  Frame f = file.snapshot(0).frame;
  for (std::size_t i = 0; i < f.x_nm.size(); ++i)
    if (!within_reach(f.x_nm[i]))
      file.fail_positions(0, fmt::format("has atom {} out of reach: it {}", i + 1, out_of_reach));
  return f;
}

}  // namespace tessera::molecular
