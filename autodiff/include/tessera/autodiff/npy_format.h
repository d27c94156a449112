// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The container of NumPy's `.npy` files, versions 1 to 3 (NumPy Enhancement Proposal 1 and
/// `numpy.lib.format`): magic, version, length of the header, header, data. The header is a Python
/// dictionary in text; it is parsed by a grammar of three keys and never evaluated.
namespace tessera {

struct NpyHeader {
  /// Byte order, kind and size as in the file: `<f8`, `>c16`, `|b1`. Kinds: b1 i1 i2 i4 i8 u1 u2 u4
  /// u8 f2 f4 f8 c8 c16.
  std::string dtype;
  std::vector<std::size_t> shape;  ///< empty for a scalar
  bool fortran_order = false;      ///< first index fastest
  std::size_t data_offset =
      0;  ///< bytes before the data; set by the reader, not looked at by the writer

  /// Bytes of one element; a complex number is one element, and so is a text.
  std::size_t item_size() const;
  bool big_endian() const { return !dtype.empty() && dtype[0] == '>'; }
  std::size_t element_count() const;  ///< product of the shape, 1 for a scalar
  std::size_t data_size() const { return element_count() * item_size(); }
};

/// `NAME: byte N: [npy] why`.
struct NpyError : Error {
  NpyError(std::string_view name, std::size_t at, std::string reason);
  std::size_t byte;
  std::string why;
};

enum class NpyTypes : std::uint8_t {
  numbers,  ///< those of NpyHeader::dtype
  plain     ///< texts (S, U), raw bytes (V) and times (M, m) as well, for who tells what a file has
};

/// Reads the header from the first bytes of a file and checks it against the size of the whole
/// file, so that the caller may allocate `data_size()` bytes. At most kNpyMaxHeader + 12 first
/// bytes are looked at; fewer may be given only if the file is no longer. Throws NpyError for: not
/// an npy file, a version that is not 1.0, 2.0 or 3.0, a header longer than the file or
/// kNpyMaxHeader, text that is no header, Python objects, records, other elements than `types`,
/// more than kNpyMaxRank dimensions, a size that overflows, and data that are shorter or longer
/// than the shape says.
NpyHeader parse_npy_header(std::span<const std::byte> first_bytes, std::uint64_t file_size,
                           std::string_view name, NpyTypes types = NpyTypes::numbers);

/// The bytes before the data, as NumPy writes them (a multiple of 64, with room for the first
/// dimension to grow). `version` 1, 2 or 3. Throws tessera::Error for a dtype or rank that
/// parse_npy_header refuses.
std::string npy_header_bytes(const NpyHeader& header, int version = 1);

/// Turns the data from the order of the file into that of this machine, or back; complex numbers
/// part by part. Does nothing where they agree. `data` must hold whole elements.
void swap_to_native(const NpyHeader& header, std::span<std::byte> data);

inline constexpr std::size_t kNpyMaxHeader =
    65535;                                      ///< bytes; honest headers have one or two hundred
inline constexpr std::size_t kNpyMaxRank = 64;  ///< as in NumPy 2

}  // namespace tessera
