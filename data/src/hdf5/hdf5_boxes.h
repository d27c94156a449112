// SPDX-License-Identifier: Apache-2.0
// Datasets read by boxes, and made to be filled by boxes.
#pragma once
#include "tessera/autodiff/shape.h"
#include "tessera/data/hdf5.h"

#include <optional>

namespace tessera::data {

/// What a dataset holds, and where.
struct H5Place {
  std::vector<std::uint64_t> shape;
  std::uint8_t kind = 0;  ///< of H5Array::Data, what a read of it gives
  /// Where its elements lie one after the other, row-major, as this machine has them.
  std::optional<std::uint64_t> offset;
};
struct H5Part {
  std::vector<std::uint64_t> begin, extents;
};

/// In a guarded child; errors as read_h5. The dataset may be larger than any limit.
H5Place locate_h5(const std::filesystem::path& file, const std::string& name);
/// A box of it.
H5Array read_h5_part(const std::filesystem::path& file, const std::string& name,
                     const H5Part& part);

/// A file with one dataset, whose elements lie at `offset`, not yet written: f32, f64, i64, u8,
/// c128. Returns the offset. Throws as AtomicFile, Error for another type.
std::uint64_t create_h5_place(const std::filesystem::path& file, const std::string& name,
                              const Type& type, const H5Attributes& attributes);

}  // namespace tessera::data
