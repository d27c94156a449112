// SPDX-License-Identifier: Apache-2.0
// Arrays in files of NumPy and HDF5, as training data come. Elements that have no Tensor type are
// widened without loss: i1, i2 and u2 become i32, u8 (uint64) i64, f2 f32; b1 is boolean. Both byte
// orders and both memory orders are read; tensors are row-major.
#pragma once
#include "tessera/autodiff/tree.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

struct NamedTensor {
  std::string name;
  Tensor values;
};
/// The leaves of a tree by their names, as a file of weights holds them.
template <IsTree T>
std::vector<NamedTensor> named_leaves(const T& tree) {
  const LeafNames names = leaf_names(tree);
  std::vector<NamedTensor> all;
  for (const Tensor& leaf : flatten_tree(tree)) all.push_back({names[all.size()], leaf});
  return all;
}

/// Throws InputError (exit 4): E0401, E0402 no such regular file, E0403 more than half of the
/// memory, E0431 anything malformed, with its byte; texts, Python objects, records and times;
/// uint64 above 2^63 - 1; more axes than a tensor may have.
Tensor read_npy(const std::filesystem::path& path);

/// The named arrays of an archive of .npy files, in the order of the names; with no names, all in
/// the order of the archive. Names are those of `numpy.load`, without `.npy`. Members that are not
/// asked for are not unpacked. Throws as read_npy, and E0437 where the archive is damaged, packed
/// otherwise than NumPy does (encrypted, by another method, in several parts), asks for more than
/// deflate can give, or has members that overlap, are called alike, lead out of a folder by their
/// names, or are no .npy files; E0440 no array of that name.
std::vector<NamedTensor> read_npz(const std::filesystem::path& path,
                                  std::span<const std::string> names = {});

/// One array of a file, by its ending: .npy (`name` is empty), .npz, .safetensors, .h5 or .hdf5
/// (the path of a dataset). An empty name is that of the only one. Throws as the reader of that
/// format; E0430 another ending; E0440, naming what there is.
Tensor read_array(const std::filesystem::path& path, const std::string& name = {});

/// A file of version 1.0 that appears whole or not at all (see AtomicFile). Throws Error where the
/// values are not known yet (traced), InputError E0501 to E0503 where it cannot be written.
void write_npy(const std::filesystem::path& path, const Tensor& values);

enum class NpzPacking { stored, deflated };  ///< as numpy.savez and numpy.savez_compressed

/// An archive that appears whole or not at all, and whose bytes depend on its content alone. Throws
/// as write_npy; Error for names that are given twice or that read_npz refuses.
void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> arrays,
               NpzPacking packing = NpzPacking::stored);

}  // namespace tessera::data
