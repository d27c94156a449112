// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/hdf5.h"

#include "input_error.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

using namespace tessera::data;
using namespace tessera::testing;

namespace {

void write_example(const std::filesystem::path& path) {
  H5Writer w(path);
  std::vector<double> wave(20000);
  for (std::size_t i = 0; i < wave.size(); ++i) wave[i] = std::sin(0.001 * double(i));
  w.write("tessera/model/wave", wave, {100, 200}, {"ohm*m", "a wave"}, {.checksum = true});
  w.write("tessera/f", std::vector<float>{1.5f, -0.0f});
  w.write("tessera/i", std::vector<std::int64_t>{INT64_MIN, 0, INT64_MAX});
  w.write("tessera/b", std::vector<std::uint8_t>{0, 255}, {2, 1});
  w.write("tessera/z", std::vector<std::complex<double>>{{1, -2}, {3, 4}});
  w.write("tessera/none", std::vector<double>{}, {0, 3});
  w.write_texts("tessera/names", std::vector<std::string>{"a", "\xc3\xa9t\xc3\xa9", ""});
  w.attribute("", "convention", "e^{+i omega t}");
  w.attribute("tessera", "numbers", std::vector<std::int64_t>{1, 2, 3});
  w.commit();
}

}  // namespace

TEST(Hdf5, RoundTripOfEveryType) {
  TempFolder dir;
  write_example(dir / "a.h5");
  const auto all = read_h5(dir / "a.h5");
  ASSERT_EQ(all.size(), 7u);
  const H5Array& wave = all.at("/tessera/model/wave");
  EXPECT_EQ(wave.shape, (std::vector<std::uint64_t>{100, 200}));
  EXPECT_EQ(wave.attributes.units, "ohm*m");
  EXPECT_EQ(wave.attributes.long_name, "a wave");
  const auto& values = std::get<std::vector<double>>(wave.data);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], std::sin(0.001 * double(i)));
  EXPECT_TRUE(std::signbit(std::get<std::vector<float>>(all.at("/tessera/f").data)[1]));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(all.at("/tessera/i").data),
            (std::vector<std::int64_t>{INT64_MIN, 0, INT64_MAX}));
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(all.at("/tessera/b").data),
            (std::vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(std::get<std::vector<std::complex<double>>>(all.at("/tessera/z").data)[1],
            std::complex<double>(3, 4));
  EXPECT_EQ(std::get<std::vector<std::string>>(all.at("/tessera/names").data),
            (std::vector<std::string>{"a", "\xc3\xa9t\xc3\xa9", ""}));
  EXPECT_EQ(all.at("/tessera/none").shape, (std::vector<std::uint64_t>{0, 3}));
  const std::vector<std::string> one = {"tessera/f"};
  EXPECT_EQ(read_h5(dir / "a.h5", one).size(), 1u);
  const std::vector<std::string> missing = {"tessera/q"};
  expect_input_error([&] { read_h5(dir / "a.h5", missing); }, ExitCode::input_invalid, 428);
}

TEST(Hdf5, ListsTheTree) {
  TempFolder dir;
  write_example(dir / "a.h5");
  const auto objects = list_h5(dir / "a.h5");
  ASSERT_EQ(objects.size(), 10u);  // the root, two groups, seven datasets
  EXPECT_EQ(objects[0].path, "/");
  ASSERT_EQ(objects[0].attributes.size(), 1u);
  EXPECT_EQ(objects[0].attributes[0].second, "e^{+i omega t}");
  const auto z = std::find_if(objects.begin(), objects.end(),
                              [](const H5Object& o) { return o.path == "/tessera/z"; });
  EXPECT_EQ(z->type, "complex128");
  const auto t = std::find_if(objects.begin(), objects.end(),
                              [](const H5Object& o) { return o.path == "/tessera"; });
  EXPECT_EQ(t->attributes[0].second, "1 2 3");
}

TEST(Hdf5, BytesDependOnTheContentOnly) {
  TempFolder dir;
  write_example(dir / "a.h5");
  ::sleep(1);  // a time stamp would tick over
  write_example(dir / "b.h5");
  EXPECT_EQ(read_bytes(dir / "a.h5"), read_bytes(dir / "b.h5"));
}

TEST(Hdf5, AppearsWholeOrNotAtAll) {
  TempFolder dir;
  {
    H5Writer w(dir / "a.h5");
    w.write("x", std::vector<double>{1});
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  EXPECT_THROW(H5Writer(dir / "a.h5").write("x", std::vector<double>(3), {2, 2}), tessera::Error);
  expect_input_error([&] { H5Writer w(dir / "no/such/folder.h5"); }, ExitCode::usage, 502);
}

TEST(Hdf5, TruncatedFilesAreRefused) {
  TempFolder dir;
  write_example(dir / "a.h5");
  const std::string bytes = read_bytes(dir / "a.h5");
  for (int i = 0; i < 20; ++i) {
    const auto bad = dir.write("bad.h5", bytes.substr(0, bytes.size() * i / 20));
    expect_input_error([&] { read_h5(bad); }, ExitCode::input_invalid);
  }
}
