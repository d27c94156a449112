// SPDX-License-Identifier: Apache-2.0
// Weights of networks between programs: the safetensors format.
//
// 8 bytes: length n of the header, little-endian. n bytes: a JSON object, which may end in spaces.
// Then one buffer, little-endian and row-major. The object has an entry for each tensor,
//
//   "NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [BEGIN, END]}
//
// with offsets into the buffer, which the tensors fill without holes or overlap; and, if there is
// any, "__metadata__", an object of texts.
#pragma once
#include "tessera/data/arrays.h"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::data {

struct Safetensors {
  std::vector<NamedTensor> tensors;  ///< in the order of the header
  std::map<std::string, std::string> metadata;
};

/// The named tensors; with no names, all. F64 F32 I64 I32 U32 U8 BOOL C64 are types of a Tensor;
/// F16 and BF16 become f32; I8, I16 and U16 i32; U64 i64. Throws InputError (exit 4): E0401, E0402
/// no such regular file, E0403 more than half of the memory, E0438 anything malformed, with its
/// byte, and numbers of U64 above 2^63 - 1, E0440 no tensor of that name.
Safetensors read_safetensors(const std::filesystem::path& path,
                             std::span<const std::string> names = {});

/// A file that appears whole or not at all (see AtomicFile). The header names the tensors in the
/// order given; the buffer has those of wide elements first, so that each begins at a multiple of
/// its element's size. Throws Error for c128, which the format does not have, values that are not
/// known yet (traced), names that are given twice, not UTF-8 or `__metadata__`, and a header above
/// 100 MB; InputError E0501 to E0503 where the file cannot be written.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace tessera::data
