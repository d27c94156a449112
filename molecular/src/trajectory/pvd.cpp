// SPDX-License-Identifier: Apache-2.0
//
// For ParaView: NAME.pvd lists one file NAME_STEP.vtp of points a frame. A line of the list is
// added when its file is complete.
#include "formats.h"
#include "tessera/data/file_io.h"
#include "tessera/data/vtk_xml.h"

#include <fmt/format.h>

#include <numeric>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::int64_t step;
  double time_ps;
};

class PvdWriter final : public TrajectoryWriter {
 public:
  explicit PvdWriter(const WriterSetup& w)
      : path_(w.path), options_(w.options), n_atoms_(w.system.n_atoms()) {
    options_.observables.clear();
    std::string why;
    if (!data::vtk_xml_available(&why))
      throw Error("[pvd] VTK is not there to write with: " + why + "; write .h5md");
    const Atoms& a = w.system.atoms;
    charge_ = a.charge_e;
    element_.assign(a.element.begin(), a.element.end());
    vertices_.connectivity.resize(n_atoms_);
    std::iota(vertices_.connectivity.begin(), vertices_.connectivity.end(), 0);
    vertices_.offsets.resize(n_atoms_ + 1);
    std::iota(vertices_.offsets.begin(), vertices_.offsets.end(), 0);
    for (const auto& [i, j] : w.system.connectivity) {
      bonds_.connectivity.insert(bonds_.connectivity.end(), {i, j});
      bonds_.offsets.push_back(static_cast<std::int64_t>(bonds_.connectivity.size()));
    }
    if (w.last_step) take_up(*w.last_step);
    write_list();
  }

  void write(const Snapshot& s) override {
    check_snapshot("pvd", s, n_atoms_, options_);
    data::PolyGrid g;
    const auto flat = [](const std::vector<Vec3>& v) {
      std::vector<double> out;
      out.reserve(3 * v.size());
      for (const Vec3& r : v) out.insert(out.end(), r.begin(), r.end());
      return out;
    };
    g.points = flat(s.frame.x_nm);
    g.vertices = vertices_;
    g.lines = bonds_;
    g.fields.points.push_back(
        {.name = "element", .units = "1", .long_name = "atomic number", .values = element_});
    g.fields.points.push_back(
        {.name = "charge", .units = "e", .long_name = "charge", .values = charge_});
    if (options_.velocities)
      g.fields.points.push_back({.name = "velocity",
                                 .units = "nm/ps",
                                 .long_name = "velocity",
                                 .values = flat(s.frame.v_nm_ps),
                                 .components = 3});
    if (options_.forces)
      g.fields.points.push_back({.name = "force",
                                 .units = "kJ/mol/nm",
                                 .long_name = "force",
                                 .values = flat(s.f),
                                 .components = 3});
    data::write_vtk_xml(frame_file(s.frame.step), g);
    entries_.push_back({s.frame.step, s.frame.time_ps});
    write_list();
  }
  void sync() override {}  // every file was synced when it was moved into place

 private:
  fs::path frame_file(std::int64_t step) const {
    return path_.parent_path() / fmt::format("{}_{}.vtp", path_.stem().string(), step);
  }

  void write_list() const {
    std::vector<data::PvdFile> files;
    for (const Entry& e : entries_)
      files.push_back({.time = e.time_ps, .name = frame_file(e.step).filename().string()});
    data::write_pvd(path_, files);
  }

  /// Entries of our own list up to `last_step`; the files of the others are removed.
  void take_up(std::int64_t last_step) {
    const std::string text = data::read_file(path_);
    constexpr std::string_view begin = "<DataSet timestep=\"";
    for (std::size_t at = text.find(begin); at != std::string::npos;
         at = text.find(begin, at + 1)) {
      Entry e{};
      const std::size_t name_end = text.find(".vtp\"", at), number = text.rfind('_', name_end);
      if (name_end == std::string::npos || number < at)
        throw data::InputError(
            data::Diagnostic{.number = damaged,
                             .place = {.file = path_.string(), .byte = at},
                             .message = "expected the name of a frame, NAME_STEP.vtp"});
      e.time_ps = std::strtod(text.c_str() + at + begin.size(), nullptr);
      e.step = std::strtoll(text.c_str() + number + 1, nullptr, 10);
      if (e.step <= last_step)
        entries_.push_back(e);
      else
        fs::remove(frame_file(e.step));
    }
  }

  fs::path path_;
  TrajectoryOptions options_;
  std::size_t n_atoms_;
  std::vector<double> charge_, element_;
  data::CellList vertices_, bonds_;
  std::vector<Entry> entries_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_pvd(const WriterSetup& setup) {
  return std::make_unique<PvdWriter>(setup);
}

}  // namespace tessera::molecular
