// SPDX-License-Identifier: Apache-2.0
//
// H5MD 1.1 (de Buyl, Colberg & Hoefling, Comput. Phys. Commun. 185 (2014) 1546; nongnu.org/h5md):
//
//   h5md                version, author, creator, modules/units
//   particles/all/box   dimension, boundary; edges/{step, time, value} [frames, 3, 3], rows a, b, c
//   particles/all/{position, velocity, force}/{step, time, value}   [frames, atoms, 3]
//   particles/all/{species, mass, charge}, connectivity/bonds       [bonds, 2]
//   observables/NAME/{step, time, value}                            [frames]
//
// All frames have the same steps: one dataset of steps and one of times, under all names they need.
#include "base/units.h"
#include "formats.h"
#include "tessera/data/build_info.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/hdf5_series.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

const std::string group = "/particles/all", position = group + "/position";

/// The units module of H5MD calls it `unit`; our own files say `units`.
void unit(data::H5Writer& file, const std::string& object, const std::string& text) {
  if (!text.empty()) file.free_text(object, "unit", text), file.attribute(object, "units", text);
}

/// Where a series lies and how it is filled.
struct H5mdElement {
  std::string path;
  std::string unit;
  std::vector<std::uint64_t> row;
};

class H5mdWriter final : public TrajectoryWriter {
 public:
  explicit H5mdWriter(const WriterSetup& w)
      : path_(w.path), options_(w.options), system_(w.system), last_step_(w.last_step) {
    if (!last_step_) fs::remove(path_);
  }

  void write(const Snapshot& s) override {
    check_snapshot("h5md", s, system_.n_atoms(), options_);
    if (!file_) open(is_periodic(s.frame.box));
    if (periodic_ != is_periodic(s.frame.box))
      throw Error("[h5md] expected a box in all frames or in none");
    std::size_t k = 0;
    const auto flat = [](const auto& v) {
      return std::span<const double>(v.data()->data(), 3 * v.size());
    };
    const auto scalar = [](const double& v) { return std::span<const double>(&v, 1); };
    file_->row(k++, std::span<const std::int64_t>(&s.frame.step, 1));
    file_->row(k++, scalar(s.frame.time_ps));
    file_->row(k++, flat(s.frame.x_nm));
    if (periodic_) file_->row(k++, flat(s.frame.box.edge));
    if (options_.velocities) file_->row(k++, flat(s.frame.v_nm_ps));
    if (options_.forces) file_->row(k++, flat(s.f));
    for (std::size_t o = 0; o < options_.observables.size(); ++o)
      file_->row(k++, scalar(s.observables[o]));
    file_->end_row();
  }
  void sync() override {
    if (file_) file_->sync();
  }

 private:
  /// All series but step and time; what they hold depends on whether there is a box, which the
  /// first frame says.
  std::vector<H5mdElement> elements() const {
    const std::uint64_t n = system_.n_atoms();
    std::vector<H5mdElement> out = {{position, "nm", {n, 3}}};
    if (periodic_) out.push_back({group + "/box/edges", "nm", {3, 3}});
    if (options_.velocities) out.push_back({group + "/velocity", "nm ps-1", {n, 3}});
    if (options_.forces) out.push_back({group + "/force", "kJ mol-1 nm-1", {n, 3}});
    for (const Observable& o : options_.observables)
      out.push_back({"/observables/" + o.name, o.unit, {}});
    return out;
  }

  void open(bool periodic) {
    periodic_ = periodic;
    std::uint64_t rows = 0;
    if (last_step_ && fs::exists(path_))
      rows = kept();
    else
      create();
    std::vector<std::string> names = {position + "/step", position + "/time"};
    for (const H5mdElement& e : elements()) names.push_back(e.path + "/value");
    file_ = std::make_unique<data::H5Series>(path_, names, rows);
  }

  void create() const {
    data::H5Writer file(path_, data::H5Growth::rows);
    const std::array<std::int64_t, 2> version = {1, 1}, units_version = {1, 0};
    for (const char* g : {"h5md/author", "h5md/creator", "h5md/modules/units"}) file.group(g);
    file.attribute("h5md", "version", version);
    file.free_text("h5md/author", "name", options_.author);
    file.free_text("h5md/creator", "name", "Tessera");
    file.free_text("h5md/creator", "version", std::string(data::build_info().version));
    file.attribute("h5md/modules/units", "version", units_version);

    file.series<std::int64_t>(position + "/step", {});
    file.series<double>(position + "/time", {});
    unit(file, position + "/time", "ps");
    for (const H5mdElement& e : elements()) {
      file.series<double>(e.path + "/value", e.row);
      unit(file, e.path + "/value", e.unit);
      if (e.path == position) continue;
      for (const char* name : {"/step", "/time"}) file.hard_link(e.path + name, position + name);
    }
    file.group(group + "/box");
    const std::int64_t dimension = 3;
    const std::vector<std::string> boundary(3, periodic_ ? "periodic" : "none");
    file.attribute(group + "/box", "dimension", std::span(&dimension, 1));
    file.attribute(group + "/box", "boundary", std::span<const std::string>(boundary));

    const Atoms& a = system_.atoms;
    const std::vector<std::int64_t> species(a.element.begin(), a.element.end());
    file.write(group + "/species", species, {}, {.long_name = "atomic number"});
    file.write(group + "/mass", a.mass_amu);
    unit(file, group + "/mass", "u");
    file.write(group + "/charge", a.charge_e);
    unit(file, group + "/charge", "e");
    std::vector<std::int64_t> bonds;
    for (const auto& [i, j] : system_.connectivity) bonds.insert(bonds.end(), {i, j});
    if (!bonds.empty()) file.write("/connectivity/bonds", bonds, {bonds.size() / 2, 2});
    file.commit();
  }

  /// Whole frames up to `last_step` of the file that is there.
  std::uint64_t kept() const {
    data::H5Series::mend(path_);
    const data::H5Limits limits{.being_written = true};
    std::map<std::string, std::vector<std::uint64_t>> shapes;
    for (const data::H5Object& o : data::list_h5(path_, limits)) shapes[o.path] = o.shape;
    std::uint64_t rows = UINT64_MAX;
    for (const H5mdElement& e : elements()) {
      std::vector<std::uint64_t> shape = shapes[e.path + "/value"], row = shape;
      if (!row.empty()) row.erase(row.begin());
      if (shape.empty() || row != e.row)
        throw data::InputError(data::Diagnostic{
            .number = shape.empty() ? damaged : 704,
            .place = {path_.string()},
            .message = fmt::format("has no {}/value that could be gone on with", e.path),
            .hint = "give the file another name"});
      rows = std::min(rows, shape[0]);
    }
    const std::vector<std::string> names = {position + "/step", position + "/time"};
    const auto found = data::read_h5(path_, names, limits);
    const auto* steps = std::get_if<std::vector<std::int64_t>>(&found.at(names[0]).data);
    if (!steps)
      throw data::InputError(data::Diagnostic{.number = damaged,
                                              .place = {path_.string()},
                                              .message = "has steps that are no integers"});
    rows = std::min({rows, std::uint64_t{steps->size()}, found.at(names[1]).shape.at(0)});
    std::uint64_t n = 0;
    while (n < rows && (*steps)[n] <= *last_step_) ++n;
    return n;
  }

  fs::path path_;
  TrajectoryOptions options_;
  System system_;
  std::optional<std::int64_t> last_step_;
  bool periodic_ = false;
  std::unique_ptr<data::H5Series> file_;
};

class H5mdReader final : public TrajectoryReader {
 public:
  explicit H5mdReader(const fs::path& path) : path_(path) {
    std::map<std::string, data::H5Object> objects;
    std::string root;
    for (data::H5Object& o : data::list_h5(path_, limits_)) {
      if (root.empty() && o.path.starts_with("/particles/") && o.path.ends_with("/position/value"))
        root = o.path.substr(0, o.path.size() - 15);
      objects.emplace(o.path, std::move(o));
    }
    if (root.empty()) refuse(428, "has no particles/*/position/value: it holds no trajectory");
    const auto add = [&](const std::string& element, Kind kind, double scale) -> bool {
      const auto found = objects.find(element + "/value");
      if (found == objects.end()) return false;
      const auto& shape = found->second.shape;
      const bool right = kind == Kind::scalar ? shape.size() == 1
                         : kind == Kind::box
                             ? shape.size() == 2 || shape.size() == 3
                             : shape.size() == 3 && shape[2] == 3 &&
                                   (kind == Kind::positions || shape[1] == n_atoms_);
      if (!right) refuse(damaged, fmt::format("{}/value has a shape that does not fit", element));
      if (kind == Kind::positions) n_atoms_ = shape[1];
      n_frames_ = std::min(n_frames_, shape[0]);
      n_started_ = std::max(n_started_, shape[0]);
      const double per = kind == Kind::velocities ? time_unit(found->second)
                         : kind == Kind::forces   ? energy_unit(found->second)
                                                  : 1;
      parts_.push_back({element + "/value", kind, scale * length_unit(found->second) / per});
      return true;
    };
    add(root + "/position", Kind::positions, 1);
    add(root + "/velocity", Kind::velocities, 1);
    add(root + "/force", Kind::forces, 1);
    const auto cell = objects.find(root + "/box");
    if ((cell == objects.end() || has_box(attribute(cell->second, "boundary"))) &&
        !add(root + "/box/edges", Kind::box, 1) && objects.count(root + "/box/edges"))
      read_fixed_box(objects.at(root + "/box/edges"));
    for (const auto& [name, o] : objects)
      if (name.starts_with("/observables/") && name.ends_with("/value") && o.shape.size() == 1) {
        const std::string element = name.substr(0, name.size() - 6);
        observables_.push_back({element.substr(13), attribute(o, "unit")});
        add(element, Kind::scalar, 1);
      }
    for (const char* name : {"/step", "/time"}) {
      if (!objects.count(root + "/position" + name))
        refuse(428, "has no position" + std::string(name));
      parts_.push_back({root + "/position" + name, name[1] == 's' ? Kind::step : Kind::time, 1});
    }
    const data::H5Object* time = &objects.at(root + "/position/time");
    for (const auto& [name, o] : objects)  // of several names of it one has its unit
      if (time->kind == data::H5Object::Kind::repeated && name.starts_with(root) &&
          name.ends_with("/time"))
        time = &o;
    parts_.back().scale = time_unit(*time);
    // A step that is written under several names has its shape at one of them; its rows are counted
    // on reading.
  }
  std::size_t n_atoms() const override { return n_atoms_; }
  std::vector<Observable> observables() const override { return observables_; }

 protected:
  bool next(Snapshot& s) override {
    if (at_ == loaded_.first + n_loaded_) load();
    if (at_ >= n_frames_) {
      if (n_started_ > n_frames_)
        throw data::InputError(data::Diagnostic{
            .number = cut_off,
            .place = {path_.string()},
            .message = fmt::format("frame {} is not complete: the file was cut off", at_)});
      return false;
    }
    const std::size_t row = at_ - loaded_.first;
    Snapshot out;
    out.frame.box = fixed_box_;
    for (const Part& p : parts_) {
      const data::H5Array& a = block_.at(p.name);
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
        case Kind::step:
          out.frame.step = std::llround(one(p.name, numbers(a, row)));
          break;
        case Kind::time:
          out.frame.time_ps = one(p.name, numbers(a, row)) * p.scale;
          break;
        case Kind::scalar:
          out.observables.push_back(numbers(a, row)[0]);
          break;
      }
    }
    ++at_;
    s = std::move(out);
    return true;
  }

 private:
  enum class Kind : std::uint8_t { positions, velocities, forces, box, step, time, scalar };
  struct Part {
    std::string name;
    Kind kind;
    double scale;  ///< of lengths, and of times
  };

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
  double one(const std::string& name, const std::vector<double>& v) const {
    if (v.size() != 1 || !(std::abs(v[0]) < 9e18))
      refuse(damaged,
             fmt::format("frame {} of {} is no number that can be a step or time", at_, name));
    return v[0];
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
    loaded_ = {.first = at_,
               .count = std::max<std::uint64_t>(
                   1, block_bytes / (72 * std::max<std::uint64_t>(1, n_atoms_)))};
    std::vector<std::string> names;
    for (const Part& p : parts_) names.push_back(p.name);
    try {
      block_ = data::read_h5(path_, names, limits_, loaded_);
    } catch (const data::InputError& e) {
      data::Diagnostic d = e.findings().front();
      d.message = fmt::format("frames from {} on: {}", at_, d.message);
      throw data::InputError(std::move(d), e.code());
    }
    n_loaded_ = loaded_.count;
    for (const auto& [name, a] : block_)
      if (a.shape.empty())
        refuse(damaged, name + " has no frames");
      else
        n_loaded_ = std::min(n_loaded_, a.shape[0]);
    if (n_loaded_ < loaded_.count) n_frames_ = std::min(n_frames_, at_ + n_loaded_);
  }

  fs::path path_;
  data::H5Limits limits_{.being_written = true};
  std::size_t n_atoms_ = 0;
  std::uint64_t n_frames_ = UINT64_MAX, n_started_ = 0, at_ = 0, n_loaded_ = 0;
  data::H5Rows loaded_{.first = 0, .count = 0};
  std::vector<Part> parts_;
  std::vector<Observable> observables_;
  std::map<std::string, data::H5Array> block_;
  Box fixed_box_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_h5md(const WriterSetup& setup) {
  return std::make_unique<H5mdWriter>(setup);
}
std::unique_ptr<TrajectoryReader> read_h5md(const std::filesystem::path& path) {
  return std::make_unique<H5mdReader>(path);
}

}  // namespace tessera::molecular
