// SPDX-License-Identifier: Apache-2.0
//
// Arrays in files by boxes: what NumPy's and HDF5's readers find is what was written, whatever the
// boxes; files that are not what they say are refused.
#include "tessera/data/windows.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/npy_format.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/plugin.h"
#include "tessera/data/arrays.h"
#include "tessera/data/diagnostic.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

class Windows : public ::testing::Test {
 protected:
  Windows() : folder_(fs::path(::testing::TempDir()) / ("windows-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Windows() override { fs::remove_all(folder_); }
  fs::path at(const std::string& name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

Tensor numbered(const Shape& s, Dtype t) { return cast(reshape(arange(s.count()), s), t); }
bool same_bytes(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  const Tensor x = contiguous(a), y = contiguous(b);
  return x.size() == 0 || std::memcmp(x.view().data, y.view().data,
                                      static_cast<std::size_t>(x.size()) * size_of(x.dtype())) == 0;
}
Tensor cut_out(const Tensor& x, const Box& b) {
  return x.ndim() == 0 ? x : contiguous(slice(x, b.begin, b.end));
}
int error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.findings().front().number;
  }
  return 0;
}

Box by_chance(const Shape& s, std::mt19937& chance) {
  Box b = whole_box(s);
  for (int d = 0; d < s.size(); ++d) {
    if (chance() % 3 == 0) continue;  // all of the axis
    b.begin[d] = static_cast<Index>(chance() % static_cast<unsigned>(s[d] + 1));
    b.end[d] =
        b.begin[d] + static_cast<Index>(chance() % static_cast<unsigned>(s[d] - b.begin[d] + 1));
  }
  return b;
}
void expect_boxes_of(const BoxSource& source, const Tensor& x) {
  ASSERT_EQ(source.type, x.type());
  std::mt19937 chance(5);
  for (int k = 0; k < 40; ++k) {
    const Box b = by_chance(x.shape(), chance);
    EXPECT_TRUE(same_bytes(source.read(b), cut_out(x, b))) << to_string(b);
  }
}

TEST_F(Windows, ANumpyFileIsReadByBoxes) {
  for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::u8, Dtype::c64, Dtype::boolean})
    for (const Shape& s : {Shape{5, 7, 3}, Shape{11}, Shape{}, Shape{2, 3, 4, 5}}) {
      const Tensor x = numbered(s, t);
      write_npy(at("x.npy"), x);
      expect_boxes_of(open_boxes(at("x.npy")), x);
    }
}

TEST_F(Windows, OtherOrdersAndWidthsOfANumpyFileAreRead) {
  // >i2, first index fastest: 0 1 2 / 10 11 12.
  const std::string head =
      npy_header_bytes({.dtype = ">i2", .shape = {2, 3}, .fortran_order = true});
  std::ofstream(at("x.npy"), std::ios::binary)
      << head << std::string("\0\x00\0\x0a\0\x01\0\x0b\0\x02\0\x0c", 12);
  expect_boxes_of(open_boxes(at("x.npy")), tensor<std::int32_t>({0, 1, 2, 10, 11, 12}, {2, 3}));
}

TEST_F(Windows, ADatasetIsReadByBoxesWhateverItsLayout) {
  // Small ones lie in one piece, larger ones in chunks that are packed.
  for (const Shape& s : {Shape{3, 40, 50}, Shape{3, 90, 70}, Shape{6}}) {
    const Tensor x = numbered(s, Dtype::f64), k = numbered(s, Dtype::i64);
    H5Writer w(at("x.h5"));
    const std::vector<std::uint64_t> shape(s.begin(), s.end());
    w.write("a/x", x.to_vector(), shape);
    w.write("k", k.to_vector<std::int64_t>(), shape);
    w.commit();
    expect_boxes_of(open_boxes(at("x.h5"), "a/x"), x);
    expect_boxes_of(open_boxes(at("x.h5"), "k"), k);
  }
  EXPECT_EQ(error_of([&] { open_boxes(at("x.h5"), "none"); }), 428);
  EXPECT_EQ(error_of([&] { open_boxes(at("x.h5")); }), 440);
}

TEST_F(Windows, WhatIsWrittenByBoxesIsAValidFile) {
  for (const char* name : {"x.h5", "x.npy"})
    for (const Dtype t : {Dtype::f32, Dtype::f64, Dtype::u8, Dtype::i64, Dtype::c128})
      for (const Shape& s : {Shape{3, 17, 29}, Shape{5}, Shape{4, 0}}) {
        const std::string dataset = name == std::string("x.h5") ? "deep/down/image" : "";
        const Tensor x = numbered(s, t);
        create_boxes(at(name), x.type(), dataset, {});
        EXPECT_FALSE(fs::exists(at(name)));
        {
          BoxFile out(at(name), dataset), second(at(name), dataset);  // two processes, say
          EXPECT_EQ(out.type(), x.type());
          const Index half = s[0] / 2;
          Box upper = whole_box(s), lower = upper;
          upper.end[0] = lower.begin[0] = half;
          second.write(lower, cut_out(x, lower));
          out.write(upper, cut_out(x, upper));
          out.sync(), second.sync();
        }
        commit_boxes(at(name));
        EXPECT_TRUE(same_bytes(read_array(at(name), dataset), x))
            << name << " " << to_string(x.type());
        expect_boxes_of(open_boxes(at(name), dataset), x);
        fs::remove(at(name));
      }
}

/// Runs of megabytes, which go past the cache, beside others on the same blocks of the disk.
TEST_F(Windows, LongRunsMeetShortOnes) {
  const Tensor x = normal(random_key(3), {5, 700'001}, Dtype::f32);
  for (const char* name : {"long.npy", "long.h5"}) {
    const fs::path path = at(name);
    const std::string dataset = path.extension() == ".h5" ? "x" : "";
    create_boxes(path, x.type(), dataset);
    {
      BoxFile out(path, dataset);
      const auto put = [&](const Box& b) { out.write(b, contiguous(slice(x, b.begin, b.end))); };
      std::vector<std::jthread> threads;
      for (const Box& b :
           {Box{{0, 0}, {1, 700'001}}, Box{{1, 0}, {3, 700'001}}, Box{{3, 0}, {5, 300'000}},
            Box{{3, 300'000}, {5, 300'003}}, Box{{3, 300'003}, {5, 700'001}}})
        threads.emplace_back([&put, b] { put(b); });
      threads.clear();
      out.sync();
    }
    commit_boxes(path);
    const BoxSource again = open_boxes(path, dataset);
    EXPECT_EQ(again.read(whole_box(x.shape())).to_vector<float>(), x.to_vector<float>()) << name;
  }
}

TEST_F(Windows, UnitsAreKeptAndNothingOfTheClock) {
  const auto make = [&](const char* name) {
    create_boxes(at(name), {Dtype::f32, {3, 4}}, "g/image", {"counts", "what was seen"});
    commit_boxes(at(name));
    std::ifstream in(at(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string first = make("a.h5");
  const auto arrays = read_h5(at("a.h5"));
  EXPECT_EQ(arrays.at("/g/image").attributes.units, "counts");
  EXPECT_EQ(arrays.at("/g/image").attributes.long_name, "what was seen");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // stamps count seconds
  EXPECT_EQ(make("b.h5"), first);
}

TEST_F(Windows, WhatDoesNotFitIsRefused) {
  const Tensor x = numbered({4, 6}, Dtype::f32);
  write_npy(at("x.npy"), x);
  const BoxSource s = open_boxes(at("x.npy"));
  EXPECT_THROW(s.read({{0, 0}, {5, 6}}), Error);
  EXPECT_THROW(s.read({{2, 0}, {1, 6}}), Error);
  EXPECT_THROW(s.read({{0}, {4}}), Error);
  EXPECT_EQ(error_of([&] { open_boxes(at("x.npy"), "name"); }), 440);
  EXPECT_EQ(error_of([&] { open_boxes(at("x.png")); }), 430);
  EXPECT_EQ(error_of([&] { open_boxes(at("none.npy")); }), 401);
  create_boxes(at("y.npy"), x.type());
  BoxFile out(at("y.npy"));
  EXPECT_THROW(out.write({{0, 0}, {2, 6}}, x), Error);
  EXPECT_THROW(out.write({{0, 0}, {4, 6}}, cast(x, Dtype::f64)), Error);
  EXPECT_THROW(create_boxes(at("y.h5"), {Dtype::i32, {3}}, "y"), Error);
  EXPECT_THROW(create_boxes(at("y.h5"), {Dtype::f32, {3}}), Error);
  EXPECT_EQ(error_of([&] { create_boxes(at("none/y.npy"), x.type()); }), 502);
  EXPECT_EQ(error_of([&] { create_boxes(at("none/y.h5"), x.type(), "y"); }), 502);
  EXPECT_EQ(error_of([&] { create_boxes(at("y.npy"), {Dtype::f64, {Index{1} << 45}}); }), 501);
  EXPECT_FALSE(fs::exists(at("y.npy.partial")));
  // A file that shrinks while it is read.
  fs::resize_file(at("x.npy"), fs::file_size(at("x.npy")) - 4);
  EXPECT_EQ(error_of([&] { s.read(whole_box({4, 6})); }), 401);
}

void append_number(std::string& to, std::uint64_t v, int bytes) {
  for (int k = 0; k < bytes; ++k) to.push_back(static_cast<char>(v >> (8 * k)));
}
/// What a pixel of a TIFF image has; `format` 2: integers with a sign, 3: floating.
struct TiffSamples {
  std::uint32_t count = 2, bits = 32, format = 3;
};
/// An image of a TIFF file from byte `begin` on, pixel by pixel, in strips of three rows (TIFF 6.0,
/// little endian).
std::string tiff_image(std::uint32_t begin, bool last, Index rows, Index columns,
                       const TiffSamples& samples, const std::string& pixels) {
  std::string out;
  const auto number = [&](std::uint64_t v, int bytes) { append_number(out, v, bytes); };
  const auto strips = static_cast<std::uint32_t>((rows + 2) / 3);
  constexpr std::uint32_t kEntries = 10;
  const std::uint32_t behind = begin + 2 + 12 * kEntries + 4, offsets = behind,
                      counts = offsets + 4 * strips, data = counts + 4 * strips;
  const auto of_strip = [&](std::uint32_t k) {
    return static_cast<std::uint32_t>(std::min<Index>(3, rows - 3 * k) * columns) * samples.count *
           samples.bits / 8;
  };
  number(kEntries, 2);
  const auto entry = [&](int tag, int type, std::uint32_t n, std::uint32_t value) {
    number(static_cast<std::uint64_t>(tag), 2), number(static_cast<std::uint64_t>(type), 2);
    number(n, 4), number(value, 4);
  };
  const auto each = [&](std::uint32_t v) { return samples.count == 2 ? v | v << 16 : v; };
  constexpr int kShort = 3, kLong = 4;
  entry(256, kLong, 1, static_cast<std::uint32_t>(columns));
  entry(257, kLong, 1, static_cast<std::uint32_t>(rows));
  entry(258, kShort, samples.count, each(samples.bits));
  entry(259, kShort, 1, 1);  // not packed
  entry(262, kShort, 1, 1);  // black is zero
  entry(273, kLong, strips, strips == 1 ? data : offsets);
  entry(277, kShort, 1, samples.count);
  entry(278, kLong, 1, 3);
  entry(279, kLong, strips, strips == 1 ? of_strip(0) : counts);
  entry(339, kShort, samples.count, each(samples.format));
  number(last ? 0 : data + pixels.size(), 4);  // where the next image is
  std::uint32_t at = data;
  for (std::uint32_t k = 0; k < strips; ++k) number(at, 4), at += of_strip(k);
  for (std::uint32_t k = 0; k < strips; ++k) number(of_strip(k), 4);
  return out + pixels;
}
constexpr std::uint32_t kTiffHead = 8;
std::string tiff_head() {
  std::string out("II*\0", 4);
  append_number(out, kTiffHead, 4);
  return out;
}
/// Of two bands of f32.
std::string tiff(Index rows, Index columns, const std::vector<float>& pixels) {
  std::string bytes;
  for (const float p : pixels) append_number(bytes, std::bit_cast<std::uint32_t>(p), 4);
  return tiff_head() + tiff_image(kTiffHead, true, rows, columns, {}, bytes);
}

TEST_F(Windows, AGeoTiffIsReadByBoxes) {
  std::string why;
  if (!plugin_available("gdal", &why)) GTEST_SKIP() << why;
  const Tensor x = numbered({2, 11, 7}, Dtype::f32);  // [bands, rows, columns]
  const std::string bytes = tiff(11, 7, contiguous(moveaxis(x, 0, 2)).to_vector<float>());
  std::ofstream(at("x.tif"), std::ios::binary) << bytes;
  expect_boxes_of(open_boxes(at("x.tif")), x);
  EXPECT_EQ(error_of([&] { open_boxes(at("x.tif"), "band"); }), 440);
  EXPECT_EQ(error_of([&] { open_boxes(at("none.tif")); }), 401);
  std::ofstream(at("y.tif"), std::ios::binary) << "no image";
  EXPECT_EQ(error_of([&] { open_boxes(at("y.tif")); }), 444);
  std::ofstream(at("z.tif"), std::ios::binary) << bytes.substr(0, bytes.size() - 100);
  EXPECT_EQ(error_of([&] { open_boxes(at("z.tif")).read(whole_box({2, 11, 7})); }), 444);
}

TEST_F(Windows, BytesOfATiffImageKeepTheirSign) {
  std::string why;
  if (!plugin_available("gdal", &why)) GTEST_SKIP() << why;
  std::vector<std::int32_t> x;
  std::string bytes;
  for (const int v : {-128, -127, -1, 0, 1, 126, 127, -64, 64, 5, -5, 100}) {
    x.push_back(v);
    bytes.push_back(static_cast<char>(v));
  }
  std::ofstream(at("x.tif"), std::ios::binary)
      << tiff_head() + tiff_image(kTiffHead, true, 4, 3, {1, 8, 2}, bytes);
  expect_boxes_of(open_boxes(at("x.tif")), tensor<std::int32_t>(x, {1, 4, 3}));
}

TEST_F(Windows, ATiffFileOfSeveralImagesIsRefused) {
  std::string why;
  if (!plugin_available("gdal", &why)) GTEST_SKIP() << why;
  const TiffSamples bytes{1, 8, 1};
  const std::string pixels(12, '\7');
  std::ofstream(at("x.tif"), std::ios::binary)
      << tiff_head() + tiff_image(kTiffHead, true, 4, 3, bytes, pixels);
  EXPECT_EQ(open_boxes(at("x.tif")).type, (Type{Dtype::u8, {1, 4, 3}}));
  const std::string first = tiff_image(kTiffHead, false, 4, 3, bytes, pixels);
  const auto second = kTiffHead + static_cast<std::uint32_t>(first.size());
  std::ofstream(at("two.tif"), std::ios::binary)
      << tiff_head() + first + tiff_image(second, true, 4, 3, bytes, pixels);
  EXPECT_EQ(error_of([&] { open_boxes(at("two.tif")); }), 444);
}

TEST_F(Windows, ADatasetThatIsAlmostAllZerosIsOpened) {
  // 96 MB, which is more than four times the file and 64 MiB.
  const std::vector<float> zeros(24'000'000);
  {
    H5Writer w(at("x.h5"));
    w.write("x", zeros, {24'000, 1000});
    w.commit();
  }
  ASSERT_LT(fs::file_size(at("x.h5")), 1u << 20);
  const BoxSource x = open_boxes(at("x.h5"));  // by the list of its arrays
  EXPECT_EQ(x.type, (Type{Dtype::f32, {24'000, 1000}}));
  EXPECT_EQ(x.read({{23'999, 998}, {24'000, 1000}}).to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST_F(Windows, ADatasetThatEndsBehindTheFileIsRefused) {
  const Tensor x = numbered({40, 50}, Dtype::f32);
  H5Writer w(at("x.h5"));
  w.write("x", x.to_vector<float>(), {40, 50});
  w.commit();
  fs::resize_file(at("x.h5"), fs::file_size(at("x.h5")) - 4000);
  EXPECT_EQ(error_of([&] { open_boxes(at("x.h5"), "x").read(whole_box({40, 50})); }), 421);
}

}  // namespace
}  // namespace tessera::data
