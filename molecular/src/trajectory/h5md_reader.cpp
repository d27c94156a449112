// SPDX-License-Identifier: Apache-2.0
//
// H5MD 1.1 of any program (h5md.cpp has the layout): elements whose steps differ, fixed steps, one
// box for all frames, other units.
#include "base/units.h"
#include "formats.h"
#include "h5md_particles.h"
#include "h5md_rows.h"
#include "tessera/data/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace tessera::molecular {
namespace {

class H5mdReader final : public TrajectoryReader {
 public:
  explicit H5mdReader(const std::filesystem::path& path) : path_(path) {
    std::vector<data::H5Object> all = data::list_h5(path_, limits_);
    const std::string root = h5md_particles(path_, all, "/position/value");
    if (root.empty()) refuse(428, "has no particles/*/position/value: it holds no trajectory");
    for (data::H5Object& o : all) objects_.emplace(o.path, std::move(o));
    if (!objects_.count(root + "/position/step")) refuse(428, "has no position/step");
    add(root + "/position", Kind::positions);
    add(root + "/velocity", Kind::velocities);
    add(root + "/force", Kind::forces);
    const auto cell = objects_.find(root + "/box");
    if ((cell == objects_.end() || has_box(attribute(cell->second, "boundary"))) &&
        !add(root + "/box/edges", Kind::box) && objects_.count(root + "/box/edges"))
      read_fixed_box(objects_.at(root + "/box/edges"));
    for (const auto& [name, o] : objects_)
      if (name.starts_with("/observables/") && name.ends_with("/value") && o.shape.size() == 1)
        add(name.substr(0, name.size() - 6), Kind::scalar);
    join();
    objects_.clear();
  }
  std::size_t n_atoms() const override { return n_atoms_; }
  bool rounds_times() const override {
    const H5mdAxis* t = times();
    return t && t->is_single && !t->list.empty();
  }
  bool rounds_step() const override {
    const H5mdAxis* t = times();
    return t && t->is_single && t->list.empty();
  }
  std::vector<Observable> observables() const override { return observables_; }

 protected:
  bool next(Snapshot& s) override {
    if (at_ >= n_frames_) {
      if (is_cut_)
        throw data::InputError(data::Diagnostic{
            .number = cut_off,
            .place = {path_.string()},
            .message = fmt::format("frame {} is not complete: the file was cut off", at_)});
      return false;
    }
    if (at_ == loaded_end_) load();
    Snapshot out;
    out.frame.box = fixed_box_;
    out.frame.step = std::llround(one("step", frames_.step[at_]));
    std::optional<double> time_ps;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part& p = parts_[k];
      const std::uint64_t at = frames_.row[k][at_];
      if (at == H5mdFrames::none) {
        if (p.kind == Kind::scalar) out.observables.push_back(NAN);
        continue;
      }
      const data::H5Array& a = block_.at(p.name);
      const std::size_t row = at - p.first;
      if (!time_ps && p.time) time_ps = one(p.name + "'s time", p.time->at(at)) * p.time_scale;
      switch (p.kind) {
        case Kind::positions:
          out.frame.x_nm = vectors(p.name, a, row, p.scale);
          break;
        case Kind::velocities:
          out.frame.v_nm_ps = vectors(p.name, a, row, p.scale);
          break;
        case Kind::forces:
          out.f = vectors(p.name, a, row, 1 / p.scale);
          break;
        case Kind::box:
          out.frame.box = box(numbers(a, row), p.scale);
          break;
        case Kind::scalar:
          out.observables.push_back(numbers(a, row)[0]);
          break;
      }
    }
    const auto has_times = [](const Part& p) { return p.time != nullptr; };
    if (!time_ps && std::ranges::any_of(parts_, has_times))
      refuse(428, fmt::format("has no time of frame {}", at_));
    out.frame.time_ps = time_ps.value_or(0);  // times are optional: all frames have one
    ++at_;
    s = std::move(out);
    return true;
  }

 private:
  enum class Kind : std::uint8_t { positions, velocities, forces, box, scalar };
  struct Part {
    std::string name;
    Kind kind;
    double scale;  ///< of lengths
    std::uint64_t rows;
    std::shared_ptr<const H5mdAxis> step, time;
    double time_scale;
    std::uint64_t first = 0;  ///< row, of those that are loaded
  };

  /// Those that frames have: of positions, or of the first that has any.
  const H5mdAxis* times() const {
    for (const Part& p : parts_)
      if (p.time) return p.time.get();
    return nullptr;
  }
  /// An element, where the file has it and it has rows.
  bool add(const std::string& element, Kind kind) {
    const auto found = objects_.find(element + "/value");
    if (found == objects_.end()) return false;
    const auto& shape = found->second.shape;
    const bool right = kind == Kind::scalar ? shape.size() == 1
                       : kind == Kind::box  ? shape.size() == 2 || shape.size() == 3
                                            : shape.size() == 3 && shape[2] == 3 &&
                                                 (kind == Kind::positions || shape[1] == n_atoms_);
    if (!right) refuse(damaged, fmt::format("{}/value has a shape that does not fit", element));
    if (kind == Kind::positions) n_atoms_ = shape[1];
    const double per = kind == Kind::velocities ? time_unit(found->second)
                       : kind == Kind::forces   ? energy_unit(found->second)
                                                : 1;
    Part p{.name = element + "/value",
           .kind = kind,
           .scale = length_unit(found->second) / per,
           .rows = shape[0],
           .step = axis(element + "/step"),
           .time = axis(element + "/time"),
           .time_scale = time_scale(element + "/time")};
    if (!p.step) {  // what does not say when it was has the rows of positions
      if (kind == Kind::scalar && p.rows != parts_[0].rows) return false;
      p.step = parts_[0].step, p.time = parts_[0].time, p.time_scale = parts_[0].time_scale;
    }
    parts_.push_back(std::move(p));
    return true;
  }
  /// Steps or times; none: the file has no such dataset.
  std::shared_ptr<const H5mdAxis> axis(const std::string& name) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return nullptr;
    const std::vector<std::string> names = {name};
    data::H5Array a = data::read_h5(path_, names, limits_).at(name);
    H5mdAxis out;
    out.is_single = std::holds_alternative<std::vector<float>>(a.data);
    const std::size_t dimensions = a.shape.size();
    a.shape.insert(a.shape.begin(), 1);
    std::vector<double> v = numbers(a, 0);
    if (dimensions == 0) {  // fixed
      out.each = one(name, out.is_single ? decimal_of_single(v[0]) : v[0]);
      const std::string offset = attribute(original(name), "offset");
      out.offset = offset.empty() ? 0 : one(name, std::strtod(offset.c_str(), nullptr));
    } else if (dimensions == 1) {
      out.rows = v.size(), out.list = std::move(v);
    } else {
      refuse(damaged, name + " is no list");
    }
    return std::make_shared<const H5mdAxis>(std::move(out));
  }
  /// Of several names of a dataset one has its attributes.
  const data::H5Object& original(const std::string& name) const {
    const data::H5Object* out = &objects_.at(name);
    if (out->kind != data::H5Object::Kind::repeated) return *out;
    const std::string last = name.substr(name.rfind('/'));
    for (const auto& [other, o] : objects_)  // those of particles come after others
      if (o.kind == data::H5Object::Kind::dataset && other.ends_with(last)) out = &o;
    return *out;
  }
  double time_scale(const std::string& name) const {
    return objects_.count(name) ? time_unit(original(name)) : 1;
  }

  /// Those of other steps than positions.
  void leave_out_observables() {
    for (std::size_t k = parts_.size(); k-- > 0 && parts_[k].kind == Kind::scalar;) {
      bool all = true;
      for (std::size_t f = 0; f < frames_.size() && all; ++f)
        all = frames_.row[0][f] == H5mdFrames::none || frames_.row[k][f] != H5mdFrames::none;
      if (!all) {
        frames_.row.erase(frames_.row.begin() + static_cast<std::ptrdiff_t>(k));
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
    for (const Part& p : parts_)
      if (p.kind == Kind::scalar)
        observables_.push_back(
            {p.name.substr(13, p.name.size() - 19), attribute(objects_.at(p.name), "unit")});
  }

  /// Frames from the rows of all elements, as far as they are whole.
  void join() {
    std::vector<H5mdRows> rows;
    for (const Part& p : parts_)
      rows.push_back(
          {p.step.get(), p.rows, p.kind == Kind::positions || p.kind == Kind::velocities});
    std::optional<H5mdFrames> joined = joined_rows(rows);
    if (!joined)
      refuse(not_read, "has steps that do not grow, and other ones for each of its elements");
    frames_ = std::move(*joined);
    n_frames_ = frames_.size();
    leave_out_observables();
    for (std::size_t k = parts_.size(); k-- > 0;) {
      const Part& p = parts_[k];
      const std::vector<std::uint64_t>& row = frames_.row[k];
      const auto lacks = [&](std::size_t f) {
        return frames_.row[0][f] != H5mdFrames::none && row[f] == H5mdFrames::none;
      };
      std::size_t known = row.size();  // what lies behind has no row of it
      while (known > 0 && row[known - 1] == H5mdFrames::none) --known;
      bool gaps = false, short_of = false;
      for (std::size_t f = 0; f < row.size(); ++f) {
        gaps = gaps || (f < known && lacks(f));
        const std::uint64_t whole = std::min(p.rows, p.time ? p.time->rows : UINT64_MAX);
        short_of = (row[f] != H5mdFrames::none && row[f] >= whole) ||
                   (p.kind == Kind::box && f >= known && lacks(f));
        if (!short_of) continue;
        n_frames_ = std::min<std::uint64_t>(n_frames_, f), is_cut_ = true;
        break;
      }
      if (p.kind == Kind::box && gaps)
        refuse(not_read, fmt::format("{} has no row for some frames of positions", p.name));
      is_cut_ = is_cut_ || p.rows > std::min(p.step->rows, p.time ? p.time->rows : UINT64_MAX);
    }
  }

  [[noreturn]] void refuse(int number, const std::string& message) const {
    throw data::InputError(
        data::Diagnostic{.number = number, .place = {path_.string()}, .message = message});
  }
  static std::string attribute(const data::H5Object& o, const char* name) {
    for (const auto& [label, text] : o.attributes)
      if (label == name) return text;
    return {};
  }
  /// nm in the unit of lengths of a dataset; files without units are in nm.
  double length_unit(const data::H5Object& o) const {
    const std::string u = attribute(o, "unit");
    if (u.find("Angstrom") != std::string::npos) return angstrom;
    if (u.find("nm") == std::string::npos && !u.empty() && u != "kJ mol-1" &&
        o.path.starts_with("/particles/"))
      refuse(not_read, fmt::format("{} is in '{}'; nm and Angstrom are read", o.path, u));
    return 1;
  }

  /// ps in the unit of times, or of what is per time; files without units are in ps.
  double time_unit(const data::H5Object& o) const {
    const std::string u = attribute(o, "unit");
    for (const auto& [name, ps] : {std::pair{"fs", 1e-3}, {"ps", 1.0}, {"ns", 1e3}})
      if (u.find(name) != std::string::npos) return ps;
    if (!u.empty())
      refuse(not_read, fmt::format("{} is in '{}'; fs, ps and ns are read", o.path, u));
    return 1;
  }

  /// kJ/mol in the unit of energies of forces; files without units are in kJ/mol.
  double energy_unit(const data::H5Object& o) const {
    const std::string u = attribute(o, "unit");
    if (u.find("kcal") != std::string::npos) return kcal;
    if (u.find("kJ") == std::string::npos && !u.empty())
      refuse(not_read, fmt::format("{} is in '{}'; kJ and kcal are read", o.path, u));
    return 1;
  }

  /// Of what a file says of its three boundaries, "periodic" or "none".
  bool has_box(const std::string& boundary) const {
    const bool open = boundary.find("none") != std::string::npos;
    if (open && boundary.find("periodic") != std::string::npos)
      refuse(not_read, fmt::format("has the boundaries '{}'; a box is periodic in all directions "
                                   "or in none",
                                   boundary));
    return !open;
  }

  void read_fixed_box(const data::H5Object& o) {
    const std::vector<std::string> names = {o.path};
    const auto found = data::read_h5(path_, names, limits_);
    data::H5Array a = found.at(o.path);
    a.shape.insert(a.shape.begin(), 1);
    fixed_box_ = box(numbers(a, 0), length_unit(o));
  }

  std::vector<double> numbers(const data::H5Array& a, std::size_t row) const {
    std::size_t n = 1;
    for (std::size_t d = 1; d < a.shape.size(); ++d) n *= a.shape[d];
    std::vector<double> out;
    const auto copy = [&](const auto& v) {
      using T = typename std::decay_t<decltype(v)>::value_type;
      if constexpr (std::is_arithmetic_v<T>) {
        if (v.size() < (row + 1) * n) refuse(damaged, "has fewer rows than it says");
        for (std::size_t k = row * n; k < (row + 1) * n; ++k)
          out.push_back(static_cast<double>(v[k]));
      } else {
        refuse(damaged, "holds values that are no real numbers");
      }
    };
    std::visit(copy, a.data);
    return out;
  }
  std::vector<Vec3> vectors(const std::string& name, const data::H5Array& a, std::size_t row,
                            double scale) const {
    const std::vector<double> v = numbers(a, row);
    std::vector<Vec3> out(v.size() / 3);
    for (std::size_t k = 0; k < v.size(); ++k) out[k / 3][k % 3] = v[k] * scale;
    for (std::size_t i = 0; i < out.size(); ++i)
      for (const double r : out[i])
        if (!std::isfinite(r))
          refuse(damaged,
                 fmt::format("frame {} of {} has vectors that are no numbers, the first of atom {}",
                             at_, name, i));
    return out;
  }
  /// A step or time; steps of other programs may be floats, and must fit into 64 bits.
  double one(const std::string& name, double v) const {
    if (!(std::abs(v) < 9e18))
      refuse(damaged,
             fmt::format("frame {} of {} is no number that can be a step or time", at_, name));
    return v;
  }
  Box box(const std::vector<double>& v, double scale) const {
    if (v.size() != 3 && v.size() != 9) refuse(damaged, "has a box of other than 3 or 9 numbers");
    Box b = v.size() == 3 ? rectangular_box({v[0] * scale, v[1] * scale, v[2] * scale}) : Box{};
    for (std::size_t k = 0; k < 9 && v.size() == 9; ++k) b.edge[k / 3][k % 3] = v[k] * scale;
    if (const std::string why = why_no_box(b); !why.empty())
      refuse(damaged, fmt::format("frame {} has edges of the box that are none: {}", at_, why));
    return b;
  }

  /// Reads as many frames as take about 32 MiB.
  void load() {
    constexpr std::uint64_t block_bytes = 32 << 20;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, block_bytes / (72 * std::max<std::uint64_t>(1, n_atoms_)));
    loaded_end_ = std::min(n_frames_, at_ + most);
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::string>> of_rows;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const std::vector<std::uint64_t>& row = frames_.row[k];
      std::uint64_t first = H5mdFrames::none, last = 0;
      for (std::uint64_t f = at_; f < loaded_end_; ++f) {
        if (row[f] == H5mdFrames::none) continue;
        if (first == H5mdFrames::none) first = row[f];
        if (row[f] >= first + most) {  // others' rows lie between
          loaded_end_ = f;
          break;
        }
        last = row[f];
      }
      parts_[k].first = first;
      if (first != H5mdFrames::none) of_rows[{first, last - first + 1}].push_back(parts_[k].name);
    }
    block_.clear();
    try {
      for (const auto& [rows, names] : of_rows)
        block_.merge(data::read_h5(path_, names, limits_, {rows.first, rows.second}));
    } catch (const data::InputError& e) {
      data::Diagnostic d = e.findings().front();
      d.message = fmt::format("frames from {} on: {}", at_, d.message);
      throw data::InputError(std::move(d), e.code());
    }
  }

  std::filesystem::path path_;
  data::H5Limits limits_{.being_written = true};
  std::map<std::string, data::H5Object> objects_;  ///< until it is open
  std::size_t n_atoms_ = 0;
  std::vector<Part> parts_;  ///< positions first, observables last
  H5mdFrames frames_;
  std::uint64_t n_frames_ = 0, at_ = 0, loaded_end_ = 0;  ///< whole ones; the next
  bool is_cut_ = false;                                   ///< there is a frame that is not whole
  std::vector<Observable> observables_;
  std::map<std::string, data::H5Array> block_;
  Box fixed_box_;
};

}  // namespace

std::unique_ptr<TrajectoryReader> read_h5md(const std::filesystem::path& path) {
  return std::make_unique<H5mdReader>(path);
}

}  // namespace tessera::molecular
