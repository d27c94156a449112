// SPDX-License-Identifier: Apache-2.0
// Checkpoints that several writers make: whatever becomes of a file, a set that is whole is found.
#include "tessera/data/checkpoint_shards.h"

#include "input_error.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tessera::data;
using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

constexpr int kSlices = 11;

std::string name_of(int i) { return "slice/" + std::to_string(i); }
std::vector<double> slice(std::uint64_t step, int i) {
  return std::vector<double>(static_cast<std::size_t>(5 + i),
                             static_cast<double>(step) + 0.125 * i);
}

/// Slices 0 .. kSlices - 1 by so many writers.
Checkpoint write_set(const fs::path& dir, std::uint64_t step, int writers, int keep = 3) {
  Checkpoint c{.app = "test.app", .step = step, .config_sha256 = "c0ffee"};
  c.put("small", std::uint64_t{step});
  for (int w = 0; w < writers; ++w) {
    const int begin = kSlices * w / writers, end = kSlices * (w + 1) / writers;
    std::vector<ShardRow> rows;
    for (int at = begin; at < end; ++at) rows.push_back({name_of(at), slice(step, at).size()});
    std::vector<double> numbers;
    c.shards.push_back(write_shard<double>(dir, c, w, rows, [&](std::size_t k) {
      numbers = slice(step, begin + static_cast<int>(k));
      return numbers.data();
    }));
  }
  write_checkpoint(dir, c, keep);
  return c;
}

/// Reads slices first .. end - 1 and says which there were.
std::vector<std::string> read_slices(const fs::path& dir, const Checkpoint& c, int first, int end) {
  std::vector<std::string> wanted, names;
  for (int i = first; i < end; ++i) wanted.push_back(name_of(i));
  for (const Shard& s : c.shards)
    read_shard(
        dir, c, s,
        [&](const std::string& n) {
          return std::find(wanted.begin(), wanted.end(), n) != wanted.end();
        },
        [&](const NamedValue& v) {
          const int i = std::stoi(v.first.substr(6));
          EXPECT_EQ(std::get<std::vector<double>>(v.second.data), slice(c.step, i));
          EXPECT_EQ(v.second.shape, std::vector<std::uint64_t>{slice(c.step, i).size()});
          names.push_back(v.first);
        });
  EXPECT_EQ(names, wanted);
  return names;
}

std::vector<fs::path> shards_in(const fs::path& dir) {
  std::vector<fs::path> all;
  for (const auto& e : fs::directory_iterator(dir))
    if (e.path().extension() == ".shard") all.push_back(e.path());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST(CheckpointShards, AreReadInAnyOtherParts) {
  TempFolder dir;
  for (const int writers : {1, 2, 4, kSlices}) {
    const Checkpoint written =
        write_set(dir.path(), 10 + static_cast<std::uint64_t>(writers), writers);
    const auto loaded = load_newest_checkpoint(dir.path());
    ASSERT_TRUE(loaded);
    const Checkpoint& c = loaded->checkpoint;
    EXPECT_EQ(c.shards, written.shards);
    EXPECT_EQ(c.scalar<std::uint64_t>("small"), c.step);
    EXPECT_FALSE(c.has(name_of(0)));
    for (const Shard& s : c.shards) EXPECT_NO_THROW(check_shard(dir.path(), c, s));
    EXPECT_EQ(read_slices(dir.path(), c, 0, kSlices).size(), kSlices);
    EXPECT_EQ(read_slices(dir.path(), c, 4, 6).size(), 2U);
    EXPECT_EQ(read_slices(dir.path(), c, 6, 6).size(), 0U);
  }
  // A shard is a checkpoint file, too.
  const Checkpoint one = read_checkpoint(shards_in(dir.path()).front());
  EXPECT_EQ(one.app, "test.app");
  EXPECT_TRUE(one.is_shard);
  EXPECT_FALSE(one.values.empty());
}

TEST(CheckpointShards, GoWithTheirCheckpoint) {
  TempFolder dir;
  for (std::uint64_t step : {1, 2, 3, 4}) write_set(dir.path(), step, 3, 2);
  EXPECT_EQ(shards_in(dir.path()).size(), 6U);  // of steps 3 and 4
  // The same step anew, by others: what it had goes, and nothing was written over before.
  write_set(dir.path(), 4, 2, 2);
  EXPECT_EQ(shards_in(dir.path()).size(), 5U);
  // A run that went further back: what was beyond goes. So does what a killed writer left.
  dir.write("step-9.0.tmp-77", "x");
  dir.write("step-9.0123456789abcdef.shard", "x");
  write_set(dir.path(), 3, 1, 2);
  EXPECT_EQ(shards_in(dir.path()).size(), 1U);
  EXPECT_FALSE(fs::exists(dir / "step-9.0.tmp-77"));
  EXPECT_EQ(load_newest_checkpoint(dir.path())->checkpoint.step, 3U);
}

TEST(CheckpointShards, DamagedLostOrMixedOnesAreNoticedAndAnOlderSetLoads) {
  std::mt19937_64 random(29);
  TempFolder dir;
  write_set(dir.path(), 5, 3);
  const Checkpoint newest = write_set(dir.path(), 6, 4);
  std::vector<fs::path> files{dir / "step-6.ckpt"};
  for (const Shard& s : newest.shards) files.push_back(dir / shard_name(6, s));
  const std::vector<fs::path> all = shards_in(dir.path());
  for (int i = 0; i < 1000; ++i) {
    const fs::path& file = files[random() % files.size()];
    const std::string right = read_bytes(file);
    std::string wrong = right;
    switch (random() % 4) {
      case 0: {
        const std::uint64_t bit = random() % (8 * wrong.size());
        wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << (bit % 8)));
        break;
      }
      case 1:
        wrong.resize(random() % wrong.size());
        break;
      case 2:
        wrong += 'x';
        break;
      default:  // another shard, whole in itself
        do wrong = read_bytes(all[random() % all.size()]);
        while (wrong == right);
    }
    dir.write(file.filename().string(), wrong);
    if (i % 5 == 0) fs::remove(file);
    const auto loaded = load_newest_checkpoint(dir.path());
    ASSERT_TRUE(loaded);
    // Without its last file the set never was a checkpoint.
    const bool never = i % 5 == 0 && file == files[0];
    ASSERT_EQ(loaded->checkpoint.step, 5U) << file << " " << i;
    EXPECT_EQ(loaded->warnings.size(), never ? 0U : 1U);
    dir.write(file.filename().string(), right);
  }
  EXPECT_EQ(load_newest_checkpoint(dir.path())->checkpoint.step, 6U);
  read_slices(dir.path(), load_newest_checkpoint(dir.path())->checkpoint, 0, kSlices);
}

TEST(CheckpointShards, WhatIsWrongIsSaid) {
  TempFolder dir;
  const Checkpoint c = write_set(dir.path(), 7, 2);
  const fs::path file = dir / shard_name(7, c.shards[1]);
  const std::string right = read_bytes(file), name = file.filename().string();
  const auto check = [&] { check_shard(dir.path(), c, c.shards[1]); };
  dir.write(name, right + "x");
  expect_input_error(check, ExitCode::checkpoint_damaged, 413);
  dir.write(name, read_bytes(dir / shard_name(7, c.shards[0])));
  expect_input_error(check, ExitCode::checkpoint_damaged);
  std::string flipped = right;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  dir.write(name, flipped);
  expect_input_error(check, ExitCode::checkpoint_damaged, 414);
  fs::remove(file);
  const std::string text = expect_input_error(check, ExitCode::checkpoint_damaged, 442);
  EXPECT_NE(text.find(name), std::string::npos);
  EXPECT_NE(text.find("step 7"), std::string::npos);
  // None is left: exit 8, not a fresh start.
  expect_input_error([&] { load_newest_checkpoint(dir.path()); }, ExitCode::checkpoint_damaged);
  // A file under another step's name, whole in itself.
  write_set(dir.path(), 8, 1);
  fs::copy_file(dir / "step-8.ckpt", dir / "step-9.ckpt");
  const auto loaded = load_newest_checkpoint(dir.path());
  EXPECT_EQ(loaded->checkpoint.step, 8U);
  EXPECT_EQ(loaded->warnings.at(0).number, 415);
}

TEST(CheckpointShards, OtherFaultsThanDamageEndTheSearch) {
  TempFolder dir;
  for (std::uint64_t step : {1, 2}) write_set(dir.path(), step, 1);
  const auto refuse = [](ExitCode code) {
    return [code](const Checkpoint& c) {
      if (c.step == 2) throw InputError({.number = 417, .place = {}, .message = "no"}, code);
    };
  };
  expect_input_error([&] { load_newest_checkpoint(dir.path(), refuse(ExitCode::config_invalid)); },
                     ExitCode::config_invalid, 417);
  EXPECT_EQ(
      load_newest_checkpoint(dir.path(), refuse(ExitCode::checkpoint_damaged))->checkpoint.step,
      1U);
}
