// SPDX-License-Identifier: Apache-2.0
//
// Formats of one frame: each frame takes the place of the one before, in one step.
#include "formats.h"
#include "tessera/data/file_io.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/structure_file.h"

namespace tessera::molecular {
namespace {

class LastFrame final : public TrajectoryWriter {
 public:
  using Text = std::string (*)(const System&, const Frame&);
  LastFrame(const WriterSetup& w, const char* name, bool velocities, Text text)
      : path_(w.path),
        system_(w.system),
        name_(name),
        velocities_(velocities && w.options.velocities),
        text_(text) {}

  void write(const Snapshot& s) override {
    check_snapshot(name_, s, system_.n_atoms(),
                   {.velocities = velocities_, .forces = false, .observables = {}});
    Frame f = s.frame;
    if (!velocities_) f.v_nm_ps.clear();
    data::write_file_atomically(path_, text_(system_, f));
  }
  void sync() override {}  // the file was synced when it was moved into place

 private:
  std::filesystem::path path_;
  System system_;
  const char* name_;
  bool velocities_;
  Text text_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_rst7(const WriterSetup& setup) {
  return std::make_unique<LastFrame>(setup, "rst7", true, [](const System& s, const Frame& f) {
    return amber_restart(f, s.title);
  });
}
std::unique_ptr<TrajectoryWriter> write_ncrst(const WriterSetup& setup) {
  return std::make_unique<LastFrame>(setup, "ncrst", true, [](const System& s, const Frame& f) {
    return amber_netcdf_restart(f, s.title);
  });
}
std::unique_ptr<TrajectoryWriter> write_pdb(const WriterSetup& setup) {
  return std::make_unique<LastFrame>(setup, "pdb", false, [](const System& s, const Frame& f) {
    return pdb_text(structure_of(s, f));
  });
}
std::unique_ptr<TrajectoryWriter> write_cif(const WriterSetup& setup) {
  return std::make_unique<LastFrame>(setup, "cif", false, [](const System& s, const Frame& f) {
    return mmcif_text(structure_of(s, f));
  });
}

}  // namespace tessera::molecular
