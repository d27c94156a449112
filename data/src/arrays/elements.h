// SPDX-License-Identifier: Apache-2.0
// Elements as files keep them, widened to the types that a Tensor has.
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/data/arrays.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

enum class Stored : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  c64,
  c128
};

std::size_t stored_bytes(Stored type);  ///< of one element
/// The narrowest type of a Tensor that holds all values; i64 for u64, which it does not hold all.
Dtype widened(Stored type);
/// That of a Tensor's elements.
Stored stored_as(Dtype dtype);

/// Where elements come from.
struct ElementSource {
  /// The next n bytes; throws where there are none.
  std::function<void(void* to, std::size_t n)> next;
  /// Throws InputError.
  std::function<void(const std::string& what)> refuse;
};

struct Layout {
  bool big_endian = false;
  bool first_index_fastest = false;
};

/// A tensor of what the source has. A byte of a boolean that is not 0 is true. Refuses more than
/// eight axes, and numbers above 2^63 - 1.
Tensor read_elements(Stored type, std::span<const std::uint64_t> shape, const ElementSource& source,
                     Layout layout = {});
/// Bytes that the tensor will take.
std::uint64_t widened_bytes(Stored type, std::span<const std::uint64_t> shape);

/// A concrete row-major tensor of these values. Throws Error, naming `op` and the tensor, where
/// they are not known yet.
Tensor values_to_write(std::string_view op, const NamedTensor& tensor);
inline std::span<const std::byte> bytes_of(const Tensor& row_major) {
  return {static_cast<const std::byte*>(row_major.view().data),
          static_cast<std::size_t>(row_major.size()) * size_of(row_major.dtype())};
}
/// Throws Error, naming `op`, unless every tensor has a name of its own.
void check_names(std::string_view op, std::span<const NamedTensor> tensors);

/// Places of the wanted names among those there are; of no names, all. Throws InputError E0440,
/// naming what there is.
std::vector<std::size_t> places_of(std::span<const std::string> wanted,
                                   const std::vector<std::string>& known, const std::string& file);
/// "images, labels and 12 more".
std::string list_of(const std::vector<std::string>& names);
/// Throws InputError E0403 where these many bytes are more than half of the memory.
void check_memory(std::uint64_t bytes, const std::string& file);

}  // namespace tessera::data
