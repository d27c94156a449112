// SPDX-License-Identifier: Apache-2.0
//
// Arrays in files, read and written by boxes: images larger than memory.
//
//   const BoxSource image = open_boxes("scan.h5", "image");     // f32[4,30000,30000]
//   create_boxes("restored.h5", image.type, "image");           // one process
//   BoxFile out("restored.h5", "image");                        // any that see the file
//   out.write({{0, 0, 0}, {4, 512, 512}}, values);
//   out.sync();
//   commit_boxes("restored.h5");                                // one, when all have synced
//
// Where elements lie one after the other as this machine has them (.npy, contiguous datasets of
// HDF5) a box is read and written at its place in the file, row by row, without a library. Of
// datasets in chunks or of another element type it is read by HDF5 in a guarded child (hdf5.h), for
// which whole chunks are read.
#pragma once
#include "tessera/autodiff/box.h"
#include "tessera/data/hdf5.h"

#include <filesystem>
#include <memory>
#include <string>

namespace tessera::data {

/// One array of a file that ends in .npy (`name` is empty), .h5 or .hdf5 (the path of a dataset;
/// empty: the only one), .tif or .tiff (one image, [bands, rows, columns], by GDAL's plug-in). The
/// file stays open; `read` throws Error for what is no box of the array. Element types are those of
/// read_array; of TIFF, integers of two bytes and bytes with a sign are i32. Throws InputError as
/// read_array does: E0401, E0402, E0420 ... E0431, E0440; E0444 for TIFF; Error where its plug-in
/// is not there.
BoxSource open_boxes(const std::filesystem::path& path, const std::string& name = {});

/// Makes PATH.partial, in place of any that is there: an array of this type that is still to be
/// written, all of its bytes set aside on the disk. In .npy files any type, in .h5 and .hdf5 f32,
/// f64, i64, u8, c128, under `name`. Throws as AtomicFile: E0501 where there is no room; E0430 for
/// another ending.
void create_boxes(const std::filesystem::path& path, const Type& type, const std::string& name = {},
                  const H5Attributes& attributes = {});

/// PATH.partial, as create_boxes has made it, open for writing.
class BoxFile {
 public:
  /// Throws as open_boxes.
  explicit BoxFile(const std::filesystem::path& path, const std::string& name = {});
  ~BoxFile();
  BoxFile(const BoxFile&) = delete;
  BoxFile& operator=(const BoxFile&) = delete;

  const Type& type() const;
  /// Several threads may write boxes that do not overlap. Throws Error for what is no box of the
  /// array and for values of another type; E0501 ... E0503.
  void write(const Box& b, const Tensor& values);
  /// Returns when the disk has all that was written. Throws E0501 ... E0503.
  void sync();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Moves PATH.partial to PATH. What was never written holds zeros.
void commit_boxes(const std::filesystem::path& path);

}  // namespace tessera::data
