// SPDX-License-Identifier: Apache-2.0
//
// The models of a PDB file as frames: places and the one cell, no times.
#include "formats.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/structure_file.h"

namespace tessera::molecular {
namespace {

/// Records MODEL before END; a file without any is one frame.
int models_of(const data::TextFile& text) {
  int n = 0;
  for (std::size_t k = 1; k <= text.n_lines(); ++k) {
    const std::string_view line = text.line(k);
    if (line.starts_with("MODEL ") || line == "MODEL") ++n;
    if (line.substr(0, 6) == "END" || line.substr(0, 6) == "END   ") break;
  }
  return n;
}

class PdbReader final : public TrajectoryReader {
 public:
  explicit PdbReader(const std::filesystem::path& path) : text_(data::read_text_file(path)), models_(models_of(text_)), first_(model(1)) {}
  std::size_t n_atoms() const override { return first_.x_nm.size(); }

 protected:
  bool next(Snapshot& s) override {
    if (at_ == std::max(models_, 1)) return false;
    s = {};
    s.frame = at_ == 0 ? first_ : model(at_ + 1);
    s.frame.step = at_++;
    if (s.frame.x_nm.size() != n_atoms())
      throw data::InputError(data::Diagnostic{.number = 704, .place = {text_.path}, .message = "model " + std::to_string(at_) + " has " + std::to_string(s.frame.x_nm.size()) + " atoms, the first " + std::to_string(n_atoms())});
    return true;
  }

 private:
  Frame model(int k) const {
    Structure s = read_pdb(text_, {.model = k, .standard_bonds = false}).structure;
    return {.x_nm = std::move(s.x_nm), .v_nm_ps = {}, .box = s.box};
  }

  data::TextFile text_;
  int models_, at_ = 0;
  Frame first_;
};

}  // namespace

std::unique_ptr<TrajectoryReader> read_pdb_frames(const std::filesystem::path& path) { return std::make_unique<PdbReader>(path); }

}  // namespace tessera::molecular
