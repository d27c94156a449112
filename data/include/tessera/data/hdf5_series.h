// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

/// Adds rows to the series (H5Writer::series) of a file, which others may read meanwhile
/// (`being_written` of H5Limits; h5py: swmr=True). A kill leaves all rows of earlier calls of
/// `end_row` (of up to 8180 chunks: docs/decisions/0112). Throws Error where the library fails,
/// InputError E0501..E0503 where the disk refuses.
class H5Series {
 public:
  /// Takes up the file and cuts every named series to `rows` rows. A file whose writer was killed
  /// is mended first.
  H5Series(std::filesystem::path path, const std::vector<std::string>& names, std::uint64_t rows);
  /// Takes away what a killed writer left behind: the mark of being written, an end of file out of
  /// date. Nothing else may have the file open for writing. Does nothing to files that were closed.
  static void mend(const std::filesystem::path& path);
  ~H5Series();
  H5Series(const H5Series&) = delete;
  H5Series& operator=(const H5Series&) = delete;

  /// The next row of series `k` (in the order of `names`). T: double, float, int64_t; that of the
  /// series.
  template <class T>
  void row(std::size_t k, std::span<const T> values);
  /// Every series has its row: they count from now on.
  void end_row();
  /// Waits for the disk.
  void sync();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::data
