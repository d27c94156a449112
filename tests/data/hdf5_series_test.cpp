// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/hdf5_series.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/binary_file.h"
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>

namespace tessera::data {
namespace {

using testing::TempFolder;

const std::vector<std::string> names = {"step", "run/value"};

std::filesystem::path begun(const TempFolder& folder) {
  H5Writer file(folder / "series.h5", H5Growth::rows);
  file.series<std::int64_t>("step", {});
  file.series<double>("run/value", {2, 3}, {.units = "nm"});
  file.hard_link("other/step", "step");
  file.commit();
  return folder / "series.h5";
}

void add(H5Series& series, std::int64_t step) {
  const std::vector<double> value(6, 0.5 * static_cast<double>(step));
  series.row(0, std::span<const std::int64_t>(&step, 1));
  series.row(1, std::span<const double>(value));
  series.end_row();
}

std::vector<std::int64_t> steps(const std::filesystem::path& path, const H5Limits& limits = {},
                                const H5Rows& rows = {}) {
  const std::vector<std::string> name = {"other/step"};
  return std::get<std::vector<std::int64_t>>(
      read_h5(path, name, limits, rows).at("other/step").data);
}

TEST(H5Series, RowsAreAddedAndCut) {
  const TempFolder folder;
  const auto path = begun(folder);
  {
    H5Series series(path, names, 0);
    for (std::int64_t s : {3, 4, 5, 6}) add(series, s);
  }
  EXPECT_EQ(steps(path), (std::vector<std::int64_t>{3, 4, 5, 6}));
  EXPECT_EQ(steps(path, {}, {.first = 1, .count = 2}), (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(steps(path, {}, {.first = 3, .count = 9}), (std::vector<std::int64_t>{6}));
  EXPECT_TRUE(steps(path, {}, {.first = 4, .count = 9}).empty());
  {
    H5Series series(path, names, 2);
    add(series, 9);
    const std::vector<double> short_row(5);
    EXPECT_THROW(series.row(1, std::span<const double>(short_row)), Error);
  }
  EXPECT_EQ(steps(path), (std::vector<std::int64_t>{3, 4, 9}));
  const auto all = read_h5(path, std::vector<std::string>{"run/value"});
  EXPECT_EQ(all.at("run/value").shape, (std::vector<std::uint64_t>{3, 2, 3}));
  EXPECT_EQ(std::get<std::vector<double>>(all.at("run/value").data)[12], 4.5);
  EXPECT_EQ(all.at("run/value").attributes.units, "nm");
  EXPECT_THROW(H5Series(path, names, 4), Error);
}

TEST(H5Series, FilesAreMadeForThem) {
  const TempFolder folder;
  H5Writer file(folder / "whole.h5");
  EXPECT_THROW(file.series<double>("value", {3}), Error);
}

TEST(H5Series, OthersReadMeanwhileAndAfterAKill) {
  const TempFolder folder;
  const auto path = begun(folder);
  H5Series series(path, names, 0);
  for (std::int64_t s = 0; s < 2000; ++s) add(series, s);  // more than one chunk
  testing::expect_input_error([&] { steps(path); }, ExitCode::input_invalid, 422);
  EXPECT_EQ(steps(path, {.being_written = true}).size(), 2000u);
  // What a kill leaves is the file as it is now.
  const auto left = folder / "left.h5";
  std::filesystem::copy_file(path, left);
  {
    H5Series again(left, names, 1500);
    add(again, -1);
  }
  const std::vector<std::int64_t> came = steps(left);
  ASSERT_EQ(came.size(), 1501u);
  EXPECT_EQ(came[1499], 1499);
  EXPECT_EQ(came[1500], -1);
}

TEST(BinaryFile, GrowsIsCutAndRead) {
  const TempFolder folder;
  {
    AppendFile file(folder / "a");
    file.append("hello");
    file.append(" world");
    file.overwrite(0, "J");
    EXPECT_THROW(file.overwrite(10, "ab"), Error);
    file.sync();
  }
  AppendFile(folder / "a", 5).append("!");
  EXPECT_EQ(testing::read_bytes(folder / "a"), "Jello!");
  EXPECT_THROW(AppendFile(folder / "a", 7), Error);
  testing::expect_input_error([&] { AppendFile(folder / "none/a"); }, ExitCode::usage, 502);
  for (const BinaryInput& in : {BinaryInput(folder / "a"), BinaryInput("a", "Jello!")}) {
    char two[2];
    EXPECT_EQ(in.size(), 6u);
    EXPECT_TRUE(in.read(4, two, 2));
    EXPECT_EQ(std::string(two, 2), "o!");
    EXPECT_FALSE(in.read(5, two, 2));
    EXPECT_FALSE(in.read(UINT64_MAX, two, 2));
  }
  testing::expect_input_error([&] { BinaryInput(folder.path()); }, ExitCode::input_invalid, 402);
  testing::expect_input_error([&] { BinaryInput(folder / "none"); }, ExitCode::input_invalid, 401);
}

}  // namespace
}  // namespace tessera::data
