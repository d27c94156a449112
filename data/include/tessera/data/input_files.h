// SPDX-License-Identifier: Apache-2.0
// Each file that a case is made of is opened once, and named by the hash of the bytes that were
// parsed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tessera::data {

/// A file that a run has read, named by its content.
struct InputFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;
  bool operator==(const InputFile&) const = default;
};

/// The files that this thread reads while the object lives (the innermost one, where several do).
/// `read_text_file`, `BinaryInput`, `list_h5` and `read_h5` leave the file with it: it stays open,
/// and whoever reads it again, by this or another of its names, reads through the same descriptor.
/// HDF5's library opens that descriptor anew (/proc/self/fd), never the name. `read_file` is for
/// files of runs and is not concerned.
class InputFiles {
 public:
  InputFiles();
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;

  /// In the order in which they were opened. The hash of a text is that of the bytes that it was
  /// parsed from; of a file that is read in parts, it is made by a pass through its descriptor, up
  /// to the size that it had when it was opened. Throws InputError E0401 where that pass fails.
  std::vector<InputFile> list() const;
  /// The case is made: these files are still read through their descriptors, others are no inputs
  /// any more.
  void complete();

 private:
  friend struct OpenInputs;
  struct State;
  std::unique_ptr<State> state_;
};

/// `list` of the innermost InputFiles of this thread; nothing without one.
std::vector<InputFile> inputs_read();

/// Opens a file that will be read, so that one that is not there is told now. Throws InputError
/// E0401 (cannot be opened), E0402 (not a regular file).
void open_input(const std::filesystem::path& path);

}  // namespace tessera::data
