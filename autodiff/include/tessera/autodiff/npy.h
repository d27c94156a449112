// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <filesystem>

namespace tessera {

/// Reads a NumPy array file of either byte and memory order. i1, i2, u2, u8 and f2 have no Tensor
/// type and are refused, naming the file; so is anything malformed, with the byte.
Tensor load_npy(const std::filesystem::path& path);
/// Writes version 1.0, row-major, native byte order. The file appears whole or not at all.
void save_npy(const std::filesystem::path& path, const Tensor& t,
              SourceLine line = SourceLine::here());

}  // namespace tessera
