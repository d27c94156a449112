// SPDX-License-Identifier: Apache-2.0
//
// Grey pictures of every depth, written here by zlib alone, and files that mean harm.
#include "tessera/data/diagnostic.h"
#include "tessera/data/png.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace tessera::data {
namespace {

std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
          static_cast<char>(v)};
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(::crc32(
             0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()))));
}

/// Lines of samples, each with a filter byte in front.
std::string png(std::uint32_t columns, std::uint32_t rows, int depth, int colour,
                const std::string& lines, const std::string& extra = "") {
  std::string packed(::compressBound(lines.size()), '\0');
  uLongf size = packed.size();
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(lines.data()), lines.size());
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(columns) + big_endian(rows) + static_cast<char>(depth) +
                           static_cast<char>(colour) + std::string(3, '\0')) +
         extra + chunk("IDAT", packed) + chunk("IEND", "");
}

class GreyPng : public ::testing::Test {
 protected:
  GreyPng() {
    file_ = std::filesystem::temp_directory_path() /
            ("tessera_grey_" + std::to_string(::getpid()) + ".png");
  }
  ~GreyPng() override { std::filesystem::remove(file_); }
  GreyPicture read(const std::string& bytes, const PngLimits& limits = {}) {
    std::ofstream(file_, std::ios::binary) << bytes;
    return read_grey_png(file_, limits);
  }
  /// The number of the error and what it says.
  std::string fault(const std::string& bytes, const PngLimits& limits = {}) {
    try {
      read(bytes, limits);
    } catch (const InputError& e) {
      return std::to_string(e.findings().front().number) + " " + e.findings().front().message;
    }
    return "none";
  }
  std::filesystem::path file_;
};

TEST_F(GreyPng, OfEveryDepth) {
  const std::string zero(1, '\0');
  const auto bits = read(png(3, 2, 1, 0, zero + "\xa0" + zero + "\x40"));
  EXPECT_EQ(bits.rows, 2u);
  EXPECT_EQ(bits.columns, 3u);
  EXPECT_EQ(bits.values, (std::vector<double>{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(read(png(2, 1, 2, 0, zero + "\x60")).values, (std::vector<double>{1 / 3.0, 2 / 3.0}));
  EXPECT_EQ(read(png(2, 1, 4, 0, zero + "\x5f")).values, (std::vector<double>{1 / 3.0, 1}));
  EXPECT_EQ(read(png(2, 1, 8, 0, zero + "\x33\xff")).values, (std::vector<double>{0.2, 1}));
  EXPECT_EQ(read(png(2, 1, 16, 0, zero + "\x33\x33" + std::string("\0\1", 2))).values,
            (std::vector<double>{0.2, 1 / 65535.0}));
  // RGB and a palette of greys, opaque alpha.
  EXPECT_EQ(read(png(1, 1, 8, 2, zero + "\x33\x33\x33")).values, std::vector<double>{0.2});
  EXPECT_EQ(read(png(1, 1, 8, 4, zero + "\x33\xff")).values, std::vector<double>{0.2});
  EXPECT_EQ(read(png(2, 1, 8, 3, zero + std::string("\0\1", 2),
                     chunk("PLTE", std::string("\0\0\0", 3) + "\xff\xff\xff")))
                .values,
            (std::vector<double>{0, 1}));
  // A gamma changes nothing: densities are samples.
  EXPECT_EQ(read(png(1, 1, 8, 0, zero + "\x33", chunk("gAMA", big_endian(45455)))).values,
            std::vector<double>{0.2});
}

TEST_F(GreyPng, WhatIsNoGreyPictureIsRefused) {
  const std::string zero(1, '\0');
  EXPECT_EQ(fault("no picture"), "434 Not a PNG file");
  EXPECT_EQ(fault(png(1, 1, 8, 2, zero + "\x33\x34\x33")),
            "434 the picture has colours at row 1, column 1");
  EXPECT_EQ(fault(png(2, 1, 8, 4, zero + "\x33\xff\x33\x7f")),
            "434 the picture is transparent at row 1, column 2");
  const std::string good = png(2, 2, 8, 0, zero + "\x33\xff" + zero + "\x33\xff");
  EXPECT_EQ(fault(good.substr(0, good.size() - 30)).substr(0, 3), "434");
  std::string damaged = good;
  damaged[damaged.size() - 20] ^= 1;
  EXPECT_EQ(fault(damaged).substr(0, 3), "434");
  EXPECT_EQ(fault(png(60000, 60000, 8, 0, "")),
            "403 a picture of 60000 x 60000 pixels; at most 67108864 are read");
  EXPECT_EQ(fault(good, {.most_pixels = 3}).substr(0, 3), "403");
  EXPECT_EQ(fault(good, {.most_bytes = 20}).substr(0, 3), "403");
}

TEST_F(GreyPng, BytesThatMeanHarmAreErrors) {
  std::mt19937_64 random(7);
  const std::string zero(1, '\0'), good = png(4, 2, 8, 0, zero + "\1\2\3\4" + zero + "\5\6\7\x8",
                                              chunk("tEXt", std::string("a\0b", 3)));
  int refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::string bytes = good;
    const std::size_t at = random() % bytes.size();
    switch (trial % 3) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.insert(at, bytes.substr(random() % bytes.size()));
        break;
    }
    refused += fault(bytes) != "none";
  }
  EXPECT_GT(refused, 350);
}

}  // namespace
}  // namespace tessera::data
