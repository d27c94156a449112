// SPDX-License-Identifier: Apache-2.0
// A PNG decoder independent of Cairo and libpng, for 8-bit RGB(A) images without interlacing:
// enough to look at ink.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::tests {

struct Image {
  std::size_t width = 0, height = 0, channels = 0;
  std::vector<unsigned char> bytes;
  const unsigned char* at(std::size_t x, std::size_t y) const {
    return &bytes[(y * width + x) * channels];
  }
  bool white(std::size_t x, std::size_t y) const {
    const unsigned char* p = at(x, y);
    return p[0] == 255 && p[1] == 255 && p[2] == 255;
  }
  /// Fraction of the pixels in [x0, x1) x [y0, y1) (fractions of the image) that are not white.
  double ink(double x0, double y0, double x1, double y1) const {
    std::size_t inked = 0, all = 0;
    for (auto y = static_cast<std::size_t>(y0 * height); y < static_cast<std::size_t>(y1 * height);
         ++y)
      for (auto x = static_cast<std::size_t>(x0 * width); x < static_cast<std::size_t>(x1 * width);
           ++x)
        inked += !white(x, y), ++all;
    return all ? static_cast<double>(inked) / static_cast<double>(all) : 0;
  }
};

inline Image read_png(const std::string& file) {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw std::runtime_error(std::string("PNG: ") + what);
  };
  const auto word = [&](std::size_t i) {
    require(i + 4 <= file.size(), "truncated");
    std::uint32_t v = 0;
    for (std::size_t k = 0; k < 4; ++k) v = v << 8 | static_cast<unsigned char>(file[i + k]);
    return v;
  };
  require(file.substr(0, 8) == "\x89PNG\r\n\x1a\n", "signature");
  Image image;
  std::string packed;
  bool ended = false;
  for (std::size_t i = 8; i < file.size() && !ended;) {
    const std::uint32_t size = word(i);
    const std::string kind = file.substr(i + 4, 4);
    require(i + 12 + size <= file.size(), "chunk beyond the end");
    const auto* body = reinterpret_cast<const Bytef*>(file.data() + i + 4);
    require(crc32(crc32(0, nullptr, 0), body, size + 4) == word(i + 8 + size), "checksum");
    if (kind == "IHDR") {
      image.width = word(i + 8), image.height = word(i + 12);
      require(file[i + 16] == 8 && (file[i + 17] == 2 || file[i + 17] == 6) && file[i + 20] == 0,
              "not 8-bit RGB");
      image.channels = file[i + 17] == 2 ? 3 : 4;
    }
    if (kind == "IDAT") packed += file.substr(i + 8, size);
    ended = kind == "IEND";
    i += 12 + size;
  }
  require(ended, "no end");
  const std::size_t row = image.width * image.channels;
  std::vector<unsigned char> raw(image.height * (row + 1));
  uLongf n = raw.size();
  require(uncompress(raw.data(), &n, reinterpret_cast<const Bytef*>(packed.data()),
                     packed.size()) == Z_OK &&
              n == raw.size(),
          "pixels");
  image.bytes.resize(image.height * row);
  for (std::size_t y = 0; y < image.height; ++y)
    for (std::size_t x = 0; x < row; ++x) {
      const int left = x >= image.channels ? image.bytes[y * row + x - image.channels] : 0;
      const int up = y ? image.bytes[(y - 1) * row + x] : 0;
      const int corner =
          y && x >= image.channels ? image.bytes[(y - 1) * row + x - image.channels] : 0;
      int guess = 0;
      switch (raw[y * (row + 1)]) {
        case 1:
          guess = left;
          break;
        case 2:
          guess = up;
          break;
        case 3:
          guess = (left + up) / 2;
          break;
        case 4: {
          const int p = left + up - corner, a = std::abs(p - left), b = std::abs(p - up),
                    c = std::abs(p - corner);
          guess = a <= b && a <= c ? left : b <= c ? up : corner;
        }
      }
      image.bytes[y * row + x] = static_cast<unsigned char>(raw[y * (row + 1) + 1 + x] + guess);
    }
  return image;
}

}  // namespace tessera::tests
