// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

namespace tessera::data {

/// The grey values of a picture.
struct GreyPicture {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  ///< from the top, each row from the left; 0 black, 1 white
};

struct PngLimits {
  std::size_t most_pixels = std::size_t{1} << 26;
  std::size_t most_bytes = std::size_t{1} << 30;
};

/// Samples of a PNG over their largest value, of 1 to 16 bits; no gamma is applied. Memory stays
/// below 16 bytes a pixel beside the file. Throws InputError: E0401, E0402 no such regular file;
/// E0403 more than `limits`; E0434, with the byte, what is damaged, has colours, or is transparent.
GreyPicture read_grey_png(const std::filesystem::path& path, const PngLimits& limits = {});

}  // namespace tessera::data
