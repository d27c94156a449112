// SPDX-License-Identifier: Apache-2.0
//
// Times in DCD files, whose header has the first step and the time step alone.
#include "input_error.h"
#include "temp_folder.h"
#include "trajectory_cases.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using testing::read_all;

/// Of a stage that begins at a time of its own.
std::vector<Snapshot> waters_from(double time_ps, std::int64_t step = 0) {
  std::vector<Snapshot> out = testing::moving_waters(4, 6);
  for (Snapshot& s : out) s.frame.time_ps += time_ps, s.frame.step += step;
  return out;
}
const System& four_waters() {
  static const System s = testing::waters(4, 0.4, 0.3, 0.6);
  return s;
}
void write_to(const fs::path& path, const std::vector<Snapshot>& frames, std::size_t n) {
  const auto writer = create_trajectory(path, four_waters());
  for (std::size_t f = 0; f < n; ++f) writer->write(frames[f]);
}
template <class T>
T control(const std::string& bytes, std::size_t k) {
  T out;
  std::memcpy(&out, bytes.data() + 8 + 4 * k, sizeof(T));
  return out;
}

TEST(Dcd, KeepsTheTimeAtWhichAStageBegins) {
  const tessera::testing::TempFolder folder;
  const fs::path path = folder / "t.dcd";
  for (const double begin : {0.0, 100.0, 0.3333, -5.0, 1e6})
    for (const std::int64_t step : {0, 500})
      for (const std::size_t n : {1, 2, 6}) {
        const std::vector<Snapshot> frames = waters_from(begin, step);
        write_to(path, frames, n);
        const std::vector<Snapshot> came = read_all(*open_trajectory(path));
        ASSERT_EQ(came.size(), n);
        for (std::size_t f = 0; f < n; ++f) {
          EXPECT_NEAR(came[f].frame.time_ps, frames[f].frame.time_ps, 1e-8) << begin;
          EXPECT_EQ(came[f].frame.step, frames[f].frame.step);
        }
        // For other programs: ISTART in time steps of 2 fs.
        const std::string bytes = tessera::testing::read_bytes(path);
        if (n > 1) {
          EXPECT_EQ(control<std::int32_t>(bytes, 1), std::llround(begin / 0.002)) << begin;
          EXPECT_NEAR(control<float>(bytes, 9), 0.002 / 0.0488882, 1e-7);
        }
      }
}

/// The header has 2 fs as a float that is 3e-8 below: 1 ns later a frame is where the run had it.
TEST(Dcd, ATimeStepOfAFewDigitsIsExact) {
  const tessera::testing::TempFolder folder;
  std::vector<Snapshot> frames = testing::moving_waters(4, 3);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    frames[f].frame.step = static_cast<std::int64_t>(250000 * f);
    frames[f].frame.time_ps = 500.0 * static_cast<double>(f);
  }
  write_to(folder / "t.dcd", frames, 3);
  const auto reader = open_trajectory(folder / "t.dcd");
  EXPECT_TRUE(reader->rounds_step());
  const std::vector<Snapshot> came = read_all(*reader);
  ASSERT_EQ(came.size(), 3U);
  EXPECT_NEAR(came[2].frame.time_ps, 1000, 1e-9);
}

TEST(Dcd, AResumedRunWritesTheBytesOfAnUndisturbedOne) {
  const tessera::testing::TempFolder folder;
  const fs::path path = folder / "t.dcd", other = folder / "u.dcd";
  for (const std::int64_t step : {0, 500}) {
    const std::vector<Snapshot> frames = waters_from(1234.567, step);
    write_to(path, frames, 6);
    for (std::size_t written = 1; written <= 6; ++written)
      for (std::size_t kept = 1; kept <= written; ++kept) {
        write_to(other, frames, written);
        {
          const auto writer = append_trajectory(other, four_waters(), frames[kept - 1].frame.step);
          for (std::size_t f = kept; f < 6; ++f) writer->write(frames[f]);
        }
        EXPECT_TRUE(tessera::testing::read_bytes(path) == tessera::testing::read_bytes(other))
            << written << " " << kept;
      }
  }
}

/// A title of ours around which another program has put other frames says nothing of them.
TEST(Dcd, ATitleThatContradictsTheHeaderIsNoTitle) {
  const tessera::testing::TempFolder folder;
  const fs::path path = folder / "t.dcd";
  write_to(path, waters_from(100), 6);
  std::string bytes = tessera::testing::read_bytes(path);
  const std::int32_t later = 50100;
  std::memcpy(bytes.data() + 12, &later, sizeof later);
  const auto first = [&] {
    return read_all(*open_trajectory(data::BinaryInput("t.dcd", bytes))).at(0).frame;
  };
  EXPECT_NEAR(first().time_ps, 100.2, 1e-4);
  EXPECT_EQ(first().step, later);
  for (const char* title :
       {"from step 7 at nan ps", "from step x at 100 ps", "from step 7 at 100"}) {
    bytes.replace(bytes.find("from step"), std::strlen(title), title);
    EXPECT_EQ(first().step, later) << title;
  }
}

/// 1e8 ps are 5e10 steps of 2 fs, which ISTART does not hold: our title has them.
TEST(Dcd, BeginsLaterThanItsHeaderCanSay) {
  const tessera::testing::TempFolder folder;
  const fs::path path = folder / "t.dcd", other = folder / "u.dcd";
  for (const std::int64_t step : {0, 500}) {
    const std::vector<Snapshot> frames = waters_from(1e8, step);
    write_to(path, frames, 6);
    const std::vector<Snapshot> came = read_all(*open_trajectory(path));
    ASSERT_EQ(came.size(), 6u);
    for (std::size_t f = 0; f < 6; ++f) {
      EXPECT_NEAR(came[f].frame.time_ps, frames[f].frame.time_ps, 1e-7);
      EXPECT_EQ(came[f].frame.step, frames[f].frame.step);
    }
    const std::string bytes = tessera::testing::read_bytes(path);
    EXPECT_EQ(control<std::int32_t>(bytes, 1), step);
    write_to(other, frames, 3);
    {
      const auto writer = append_trajectory(other, four_waters(), frames[1].frame.step);
      for (std::size_t f = 2; f < 6; ++f) writer->write(frames[f]);
    }
    EXPECT_TRUE(bytes == tessera::testing::read_bytes(other));
  }
}

}  // namespace
}  // namespace tessera::molecular
