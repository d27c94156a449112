// SPDX-License-Identifier: Apache-2.0
//
// A .gro file may hold many frames, each with its own title, which names time and step.
#include "formats.h"
#include "tessera/data/file_io.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/gromacs.h"

#include <charconv>

namespace tessera::molecular {
namespace {

/// Bytes of the whole frames up to `last_step`: title, number of atoms, atoms, box.
std::uint64_t kept_gro(const WriterSetup& w) {
  const std::string text = data::read_file(w.path);
  const std::size_t n = w.system.n_atoms();
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t title_end = text.find('\n', at);
    if (title_end == std::string::npos) break;
    const std::string title = text.substr(at, title_end - at);
    const std::size_t key = title.rfind("step= ");
    std::int64_t step = 0;
    std::size_t atoms = 0, line = title_end + 1;
    const auto read = [&](std::size_t from, auto& to) {
      while (from < text.size() && text[from] == ' ') ++from;
      return std::from_chars(text.data() + from, text.data() + text.size(), to).ec == std::errc{};
    };
    if (key == std::string::npos || !read(at + key + 6, step))
      throw data::InputError(
          data::Diagnostic{.number = damaged,
                           .place = {.file = w.path.string(), .byte = at},
                           .message = "expected a title with a step, as our own files have it"});
    if (read(line, atoms) && atoms != n)
      throw data::InputError(data::Diagnostic{
          .number = 704,
          .place = {.file = w.path.string(), .byte = line},
          .message = "has " + std::to_string(atoms) + " atoms, the system " + std::to_string(n)});
    for (std::size_t k = 0; k < n + 2 && line != 0; ++k)
      line = text.find('\n', line) + 1;  // 0: the file ends before
    if (line == 0 || step > *w.last_step) break;
    at = line;
  }
  return at;
}

class GroWriter final : public TrajectoryWriter {
 public:
  explicit GroWriter(const WriterSetup& w)
      : system_(w.system), velocities_(w.options.velocities), file_(open_appended(w, kept_gro)) {}

  void write(const Snapshot& s) override {
    check_snapshot("gro", s, system_.n_atoms(),
                   {.velocities = velocities_, .forces = false, .observables = {}});
    Frame f = s.frame;
    if (!velocities_) f.v_nm_ps.clear();
    file_->append(write_gro(system_, {std::move(f)}));
  }
  void sync() override { file_->sync(); }

 private:
  System system_;
  bool velocities_;
  std::unique_ptr<data::AppendFile> file_;
};

class GroFramesReader final : public TrajectoryReader {
 public:
  explicit GroFramesReader(const std::filesystem::path& path)
      : file_(read_gro(data::read_text_file(path))) {}
  std::size_t n_atoms() const override { return file_.atom_name.size(); }

 protected:
  bool next(Snapshot& s) override {
    if (at_ == file_.frames.size()) return false;
    s = {};
    s.frame = file_.frames[at_++];
    s.frame.box = lattice_.of(s.frame.box);
    return true;
  }

 private:
  GroFile file_;
  std::size_t at_ = 0;
  OneLattice lattice_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_gro_frames(const WriterSetup& setup) {
  return std::make_unique<GroWriter>(setup);
}
std::unique_ptr<TrajectoryReader> read_gro_frames(const std::filesystem::path& path) {
  return std::make_unique<GroFramesReader>(path);
}

}  // namespace tessera::molecular
