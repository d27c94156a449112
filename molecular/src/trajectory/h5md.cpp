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
#include "formats.h"
#include "system/joining_bonds.h"
#include "tessera/data/build_info.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/hdf5_series.h"

#include <fmt/format.h>

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
    for (const auto& [i, j] : joining_bonds(system_)) bonds.insert(bonds.end(), {i, j});
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

}  // namespace

std::unique_ptr<TrajectoryWriter> write_h5md(const WriterSetup& setup) {
  return std::make_unique<H5mdWriter>(setup);
}

}  // namespace tessera::molecular
