// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/checkpoint.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/sha256.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tessera::data;
using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

Checkpoint example(std::uint64_t step) {
  Checkpoint c{.app = "test.app",
               .step = step,
               .config_sha256 = "c0ffee",
               .inputs = {{"a b.edi", 12, "aa"}, {"c", 0, "bb"}}};
  c.put("model", std::vector<double>{1.5, -0.0, std::nan(""), 4, INFINITY, double(step)}, {2, 3});
  c.put("f", std::vector<float>{1e-45f, 2});
  c.put("i", std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX});
  c.put("u", std::uint64_t{UINT64_MAX});
  c.put("b", std::vector<std::uint8_t>{0, 255});
  c.put("z", std::vector<std::complex<double>>{{1, 2}, {3, -4}}, {1, 2});
  c.put("none", std::vector<double>{}, {0, 5});
  c.put("text", std::string("line\0end", 8));
  return c;
}

/// A file with a right digest around changed bytes, so that the structure itself is put to the
/// test.
std::string resealed(std::string bytes) {
  Sha256 h;
  h.update(bytes.data(), bytes.size() - 32);
  const Sha256::Digest d = h.finish();
  std::copy(d.begin(), d.end(), bytes.end() - 32);
  return bytes;
}

}  // namespace

TEST(Checkpoint, RoundTripKeepsEveryBit) {
  const Checkpoint c = example(7);
  const std::string bytes = encode_checkpoint(c);
  const Checkpoint back = decode_checkpoint(bytes, "f");
  EXPECT_EQ(back.app, c.app);
  EXPECT_EQ(back.step, 7u);
  EXPECT_EQ(back.config_sha256, c.config_sha256);
  EXPECT_EQ(back.inputs, c.inputs);
  EXPECT_EQ(back.values.at("model").shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_TRUE(std::signbit(back.array<double>("model")[1]));
  EXPECT_EQ(back.array<std::int64_t>("i"), c.array<std::int64_t>("i"));
  EXPECT_EQ(back.scalar<std::uint64_t>("u"), UINT64_MAX);
  EXPECT_EQ(back.array<std::complex<double>>("z")[1], std::complex<double>(3, -4));
  EXPECT_EQ(back.text("text"), std::string("line\0end", 8));
  EXPECT_EQ(encode_checkpoint(back), bytes);  // NaN and all
}

// Version 1 had no list of shards behind that of the inputs.
TEST(Checkpoint, OfVersionOneIsRead) {
  const Checkpoint c = example(7);
  std::string bytes = encode_checkpoint(c);
  std::size_t at = 32 + 8 + c.app.size() + 8 + 8 + c.config_sha256.size() + 8;
  for (const InputFile& f : c.inputs) at += 24 + f.path.size() + f.sha256.size();
  ASSERT_EQ(bytes.substr(at, 8), std::string(8, '\0'));
  bytes.erase(at, 8);
  bytes[16] = 1;
  bytes[24] = static_cast<char>(bytes[24] - 8);  // of the length
  const Checkpoint back = decode_checkpoint(resealed(bytes), "f");
  EXPECT_EQ(encode_checkpoint(back), encode_checkpoint(c));
}

TEST(Checkpoint, WrongNamesTypesAndShapesAreSaid) {
  const Checkpoint c = example(1);
  expect_input_error([&] { c.array<double>("absent"); }, ExitCode::checkpoint_damaged, 416);
  expect_input_error([&] { c.array<float>("model"); }, ExitCode::checkpoint_damaged, 416);
  expect_input_error([&] { c.scalar<double>("model"); }, ExitCode::checkpoint_damaged, 416);
  expect_input_error([&] { c.text("model"); }, ExitCode::checkpoint_damaged, 416);
  Checkpoint d;
  EXPECT_THROW(d.put("x", std::vector<double>(6), {2, 4}), tessera::Error);
  EXPECT_THROW(
      d.put("x", std::vector<double>(1), {std::uint64_t{1} << 32, std::uint64_t{1} << 32, 1}),
      tessera::Error);
}

TEST(Checkpoint, EverySingleFlippedBitIsDetected) {
  const std::string bytes = encode_checkpoint(example(3));
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = bytes;
    const std::uint64_t bit = random() % (8 * bad.size());
    bad[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    expect_input_error([&] { decode_checkpoint(bad, "f"); }, ExitCode::checkpoint_damaged);
  }
}

TEST(Checkpoint, EveryTruncationIsDetected) {
  const std::string bytes = encode_checkpoint(example(3));
  for (std::size_t n = 0; n < bytes.size(); ++n)
    expect_input_error([&] { decode_checkpoint(bytes.substr(0, n), "f"); },
                       ExitCode::checkpoint_damaged);
  expect_input_error([&] { decode_checkpoint(bytes + "x", "f"); }, ExitCode::checkpoint_damaged,
                     413);
}

// With the digest mended, a changed byte must still end in a value or an error, never in a huge
// allocation or a crash.
TEST(Checkpoint, LyingLengthsUnderARightDigestAreRefused) {
  const std::string bytes = encode_checkpoint(example(3));
  int refused = 0;
  for (std::size_t at = 32; at + 32 + 8 <= bytes.size(); ++at) {
    std::string bad = bytes;
    for (int k = 0; k < 8; ++k) bad[at + k] = '\xff';
    try {
      decode_checkpoint(resealed(bad), "f");
    } catch (const InputError& e) {
      EXPECT_EQ(static_cast<int>(e.code()), 8);
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
  std::string newer = bytes;
  newer[16] = 3;
  expect_input_error([&] { decode_checkpoint(resealed(newer), "f"); }, ExitCode::checkpoint_damaged,
                     412);
}

TEST(Checkpoint, KeepsTheNewestAndPointsAtIt) {
  TempFolder dir;
  for (std::uint64_t step : {1, 2, 9, 10, 11}) write_checkpoint(dir / "ckpt", example(step), 3);
  EXPECT_FALSE(fs::exists(dir / "ckpt/step-2.ckpt"));
  EXPECT_TRUE(fs::exists(dir / "ckpt/step-9.ckpt"));
  EXPECT_EQ(read_bytes(dir / "ckpt/LATEST"), "step-11.ckpt\n");
  EXPECT_EQ(load_newest_checkpoint(dir / "ckpt")->checkpoint.step,
            11u);  // by number, not by letters
}

TEST(Checkpoint, DamagedNewestGivesThePreviousWithAWarning) {
  TempFolder dir;
  for (std::uint64_t step : {1, 2, 3}) write_checkpoint(dir.path(), example(step));
  std::string bytes = read_bytes(dir / "step-3.ckpt");
  bytes[bytes.size() / 2] ^= 4;
  dir.write("step-3.ckpt", bytes);
  fs::remove(dir / "step-2.ckpt");
  fs::create_directory(dir / "step-4.ckpt");  // not even a file
  const auto loaded = load_newest_checkpoint(dir.path());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->checkpoint.step, 1u);
  ASSERT_EQ(loaded->warnings.size(), 2u);
  EXPECT_EQ(loaded->warnings[0].number, 402);
  EXPECT_EQ(loaded->warnings[1].number, 414);
  EXPECT_EQ(loaded->warnings[0].severity, Severity::warning);
  // The run goes on from 1; once its next checkpoint is safe, the damaged ones are gone.
  write_checkpoint(dir.path(), example(2), 3);
  EXPECT_FALSE(fs::exists(dir / "step-3.ckpt"));
  EXPECT_FALSE(fs::exists(dir / "step-4.ckpt"));
}

TEST(Checkpoint, NoneUsableIsExitEightAndNoneAtAllIsAFreshStart) {
  TempFolder dir;
  EXPECT_FALSE(load_newest_checkpoint(dir.path()));
  EXPECT_FALSE(load_newest_checkpoint(dir / "absent"));
  dir.write("step-1.ckpt", "");
  dir.write("step-2.ckpt", "Tessera ckpt");
  const std::string text =
      expect_input_error([&] { load_newest_checkpoint(dir.path()); }, ExitCode::checkpoint_damaged);
  EXPECT_NE(text.find("step-1.ckpt"), std::string::npos);
  EXPECT_NE(text.find("step-2.ckpt"), std::string::npos);
}

TEST(Checkpoint, ResumeChecksAppConfigurationAndInputs) {
  const Checkpoint c = example(1);
  Manifest run{.app = "test.app", .config_sha256 = "c0ffee"};
  check_resumable(c, run, c.inputs);
  // A run that was changed goes on from checkpoints of before; one that was changed from something
  // else does not.
  run = {
      .app = "test.app", .config_sha256 = "tea", .changes = {{"", {}, "milk"}, {"", {}, "c0ffee"}}};
  check_resumable(c, run, c.inputs);
  run.changes.pop_back();
  expect_input_error([&] { check_resumable(c, run, c.inputs); }, ExitCode::config_invalid, 417);
  run = {.app = "test.app", .config_sha256 = "c0ffee"};
  expect_input_error(
      [&] { check_resumable(c, {.app = "other", .config_sha256 = "c0ffee"}, c.inputs); },
      ExitCode::config_invalid, 417);
  expect_input_error(
      [&] { check_resumable(c, {.app = "test.app", .config_sha256 = "tea"}, c.inputs); },
      ExitCode::config_invalid, 417);
  std::vector<InputFile> changed = c.inputs;
  changed[0].sha256 = "ab";
  changed.push_back({"new", 1, "n"});
  const std::string text =
      expect_input_error([&] { check_resumable(c, run, changed); }, ExitCode::input_invalid, 418);
  EXPECT_NE(text.find("a b.edi"), std::string::npos);
  EXPECT_NE(text.find("new"), std::string::npos);
}
