// SPDX-License-Identifier: Apache-2.0
//
// The models of a PDB file as frames: positions and each one's cell (that of the last CRYST1 before
// its end), no times.
#include "formats.h"
#include "io/structure_builder.h"
#include "tessera/data/text_file.h"

namespace tessera::molecular {
namespace {

class PdbFramesReader final : public TrajectoryReader {
 public:
  explicit PdbFramesReader(const std::filesystem::path& path)
      : text_(data::read_text_file(path)), models_(pdb_models(text_)) {
    if (models_.empty()) read_pdb(text_);  // says what is missing
    first_ = frame(0);
  }
  std::size_t n_atoms() const override { return first_.x_nm.size(); }

 protected:
  bool next(Snapshot& s) override {
    if (at_ == models_.size()) return false;
    s = {};
    s.frame = at_ == 0 ? first_ : frame(at_);
    if (s.frame.x_nm.size() != n_atoms())
      throw data::InputError(text_.error(704, text_.line_starts[models_[at_].first - 1],
                                         "model " + std::to_string(at_ + 1) + " has " +
                                             std::to_string(s.frame.x_nm.size()) +
                                             " atoms, the first " + std::to_string(n_atoms())));
    s.frame.box = lattice_.of(s.frame.box);
    s.frame.step = static_cast<std::int64_t>(at_++);
    return true;
  }

 private:
  Frame frame(std::size_t k) const {
    Structure s = read_pdb_model(text_, models_[k]);
    return {.x_nm = std::move(s.x_nm), .v_nm_ps = {}, .box = s.box};
  }

  data::TextFile text_;
  std::vector<PdbModel> models_;
  std::size_t at_ = 0;
  Frame first_;
  OneLattice lattice_;
};

}  // namespace

std::unique_ptr<TrajectoryReader> read_pdb_frames(const std::filesystem::path& path) {
  return std::make_unique<PdbFramesReader>(path);
}

}  // namespace tessera::molecular
