// SPDX-License-Identifier: Apache-2.0
//
// Formats of one frame: each frame takes the place of the one before, in one step.
#include "formats.h"
#include "tessera/molecular/amber.h"

namespace tessera::molecular {
namespace {

class Rst7Writer final : public TrajectoryWriter {
 public:
  explicit Rst7Writer(const WriterSetup& w) : path_(w.path), title_(w.system.title), n_atoms_(w.system.n_atoms()), options_(w.options) {
    options_.observables.clear();
    options_.forces = false;
  }

  void write(const Snapshot& s) override {
    check_snapshot("rst7", s, n_atoms_, options_);
    Frame f = s.frame;
    if (!options_.velocities) f.v_nm_ps.clear();
    write_amber_restart(path_, f, title_);
  }
  void sync() override {}  // the file was synced when it was moved into place

 private:
  std::filesystem::path path_;
  std::string title_;
  std::size_t n_atoms_;
  TrajectoryOptions options_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_rst7(const WriterSetup& setup) { return std::make_unique<Rst7Writer>(setup); }

}  // namespace tessera::molecular
