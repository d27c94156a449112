// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/joined_frames.h"

#include "error_text.h"
#include "input_error.h"
#include "temp_folder.h"
#include "trajectory_cases.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

/// Two atoms, which say by their place in what file a frame stands.
class JoinedTrajectories : public ::testing::Test {
 protected:
  tessera::testing::TempFolder folder;

  fs::path file(const std::string& name, const std::vector<double>& times_ps) const {
    System system;
    system.atoms.mass_amu.assign(2, 1);
    const auto writer = create_trajectory(folder / name, system);
    Snapshot s;
    s.frame.box = rectangular_box({3, 3, 3});
    s.frame.x_nm.assign(2, {0.001 * name.front(), 1, 1});
    for (const double t : times_ps) {
      s.frame.time_ps = t;
      writer->write(s);
    }
    return folder / name;
  }
  /// Frames of a format that has no place for times.
  fs::path models(const std::string& name, int frames) const {
    std::string text;
    for (int k = 1; k <= frames; ++k)
      text += "MODEL     " + std::to_string(k) +
              "\nATOM      1  AR  AR  A   1       1.000   0.000   0.000  1.00  0.00          AR"
              "\nATOM      2  AR  AR  A   2       5.000   0.000   0.000  1.00  0.00          AR"
              "\nENDMDL\n";
    folder.write(name, text + "END\n");
    return folder / name;
  }
  static std::vector<double> times(JoinedFrames& frames) {
    std::vector<double> out;
    for (Snapshot s; frames.read(s);) out.push_back(s.frame.time_ps);
    return out;
  }
  static std::vector<double> times(std::vector<fs::path> files, const JoinOptions& options = {}) {
    JoinedFrames frames(join_files(std::move(files), options));
    return times(frames);
  }
  /// The fault of what `work` throws, and its words.
  static std::pair<JoinFault, std::string> fault(auto&& work) {
    try {
      work();
    } catch (const JoinError& e) {
      EXPECT_EQ(e.what(), "[join] " + e.message);
      return {e.fault, e.message};
    }
    ADD_FAILURE() << "nothing is thrown";
    return {};
  }
};

using Told = std::pair<JoinFault, std::string>;
using Times = std::vector<double>;

TEST_F(JoinedTrajectories, FramesThatComeAgainAreLeftOutAndCounted) {
  const JoinedFiles files = join_files(
      {file("a.trr", {0, 1, 2, 3}), file("b.trr", {2, 3, 4, 5}), file("c.trr", {6, 6, 7})});
  EXPECT_FALSE(files.by_number);
  EXPECT_EQ(files.beginnings[1].first_ps, 2);
  EXPECT_EQ(files.beginnings[2].step_ps, 1);
  expect_one_run(files);
  JoinedFrames frames(files);
  Times at;
  std::string from;
  for (Snapshot s; frames.read(s);) {
    at.push_back(s.frame.time_ps);
    from += static_cast<char>(std::lround(1000 * s.frame.x_nm[0][0]));
  }
  EXPECT_EQ(at, (Times{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(from, "aaaabbcc");
  EXPECT_EQ(frames.left_out(), 3);
}

/// The structure that a run began with stands before its trajectory.
TEST_F(JoinedTrajectories, ASingleFrameBeforeAllIsNoBeginning) {
  const JoinedFiles files = join_files({file("a.trr", {0}), file("b.trr", {0, 1, 2})});
  expect_one_run(files);
  JoinedFrames frames(files);
  EXPECT_EQ(times(frames), (Times{0, 1, 2}));
  EXPECT_EQ(frames.left_out(), 1);
}

TEST_F(JoinedTrajectories, AFileThatStartsAgainIsRefusedOrAppended) {
  const std::vector<fs::path> both = {file("a.trr", {0, 2, 4}), file("b.trr", {0, 1, 2})};
  EXPECT_EQ(fault([&] { expect_one_run(join_files(both)); }),
            Told(JoinFault::starts_again, "b.trr starts again, at 0 ps"));
  EXPECT_EQ(
      fault([&] { times(both); }),
      Told(JoinFault::starts_again, "b.trr starts again, at 0 ps; the first frame was at 0 ps"));
  expect_one_run(join_files(both, {.to_ps = 4}));  // its end may come before
  EXPECT_EQ(times(both, {.append = true}), (Times{0, 2, 4, 5, 6, 7}));
  EXPECT_EQ(times(both, {.append = true, .spacing_ps = 0.5}), (Times{0, 2, 4, 4.5, 5.5, 6.5}));
  expect_one_run(join_files(both, {.append = true}));
  // Whenever a file begins: behind a gap, too.
  EXPECT_EQ(times({both[0], file("late.trr", {20, 21, 22})}, {.append = true}),
            (Times{0, 2, 4, 5, 6, 7}));
  EXPECT_EQ(times({both[0], file("next.trr", {6, 8, 20})}, {.append = true}),
            (Times{0, 2, 4, 6, 8, 20}));
  // Files of one frame each may say when it is.
  EXPECT_EQ(times({file("e.trr", {0}), file("f.trr", {1}), file("g.trr", {3})}, {.append = true}),
            (Times{0, 1, 3}));
  EXPECT_EQ(times({folder / "e.trr", folder / "f.trr"}, {.append = true, .spacing_ps = 2}),
            (Times{0, 2}));
  EXPECT_EQ(times({both[0], file("h.trr", {9})}, {.append = true}), (Times{0, 2, 4, 9}));
  // Within a file as well.
  EXPECT_EQ(fault([&] { times({file("c.trr", {0, 1, 0, 1})}); }).first, JoinFault::starts_again);
  EXPECT_EQ(times({folder / "c.trr"}, {.append = true}), (Times{0, 1, 2, 3}));
  EXPECT_EQ(
      fault([&] {
        times({both[0], file("d.trr", {0})}, {.append = true});
      }),
      Told(JoinFault::no_spacing, "d.trr does not say how long after the frames before it begins"));
}

/// No frame comes again where times fall.
TEST_F(JoinedTrajectories, FilesThatRunBackwardsAreRefused) {
  const fs::path back = file("back.trr", {3, 2, 1, 0}), on = file("on.trr", {0, 1, 2});
  for (const bool append : {false, true})
    EXPECT_EQ(fault([&] { times({back}, {.append = append}); }),
              Told(JoinFault::backwards, "back.trr runs backwards, from 3 to 2 ps"));
  EXPECT_EQ(fault([&] {
              times({on, file("late.trr", {9, 8, 7})});
            }),
            Told(JoinFault::backwards, "late.trr runs backwards, from 8 to 7 ps"));
  // Once it may: steps after a restart, none of them new.
  EXPECT_EQ(times({on, file("again.trr", {4, 3, 4, 5})}), (Times{0, 1, 2, 4, 5}));
  // Files in a wrong order.
  const std::vector<fs::path> files = {file("z.trr", {3}), file("y.trr", {2})};
  EXPECT_EQ(
      fault([&] { times(files); }),
      Told(JoinFault::starts_again, "y.trr starts again, at 2 ps; the first frame was at 3 ps"));
  EXPECT_EQ(fault([&] { expect_one_run(join_files(files)); }).first, JoinFault::starts_again);
}

/// XTC holds 100.1 and 100.4 ps as 100.0999985 and 100.4000015 ps.
TEST_F(JoinedTrajectories, BoundsHoldForTimesInSinglePrecision) {
  Times all;
  for (int k = 0; k < 10; ++k) all.push_back(100 + 0.1 * k);
  const fs::path late = file("late.xtc", all);
  Times found = times({late}, {.from_ps = 100.1, .to_ps = 100.4});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_NEAR(found.front(), 100.1, 1e-5);
  EXPECT_NEAR(found.back(), 100.4, 1e-5);
  found = times({late}, {.from_ps = 100.1, .to_ps = 100.5, .every = 2});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found.back(), 100.5, 1e-5);
  EXPECT_TRUE(times({late}, {.from_ps = 101}).empty());
}

/// At 100 ns numbers of single precision are 7.8 fs apart, frames 4 fs.
TEST_F(JoinedTrajectories, TimesInSinglePrecisionAreToldApart) {
  System system;
  system.atoms.mass_amu.assign(2, 1);
  const auto part = [&](const std::string& name, int first, int last, bool steps) {
    const auto writer = create_trajectory(folder / name, system);
    Snapshot s;
    s.frame.box = rectangular_box({3, 3, 3});
    s.frame.x_nm.assign(2, {1, 1, 1});
    for (int k = first; k <= last; ++k) {
      s.frame.time_ps = 1e5 + 0.004 * k;
      s.frame.step = steps ? 10 * k : 0;
      writer->write(s);
    }
    return folder / name;
  };
  for (const std::string ending : {".xtc", ".nc"})
    for (const bool steps : {true, false}) {
      SCOPED_TRACE(ending + (steps ? " with steps" : ""));
      const std::vector<fs::path> files = {part("a" + ending, 0, 700, steps),
                                           part("b" + ending, 700, 1400, steps)};
      const JoinedFiles joined = join_files(files);
      EXPECT_FALSE(joined.by_number);
      EXPECT_NEAR(*joined.beginnings[0].step_ps, 0.004, 1e-3 * 0.004);
      EXPECT_LT(joined.beginnings[0].unknown_ps, 1e-2 * 0.004);
      JoinedFrames frames(joined);
      const Times t = times(frames);
      ASSERT_EQ(t.size(), 1401U);
      EXPECT_EQ(frames.left_out(), 1);
      for (std::size_t k = 1; k < t.size(); ++k) {
        ASSERT_NEAR(t[k], 1e5 + 0.004 * static_cast<double>(k), 0x1p-23 * 1e5);
        if (k != 701) {  // of one file
          ASSERT_NEAR(t[k] - t[k - 1], 0.004, 0.1 * 0.004) << k;
        }
      }
      const FileBeginning& few =
          join_files({part("c" + ending, 0, 2, steps)}).beginnings[0];  // 0 or 8 fs
      EXPECT_GT(few.unknown_ps, 0.5 * *few.step_ps);
      // A restart, of which steps tell.
      if (!steps) continue;
      Times again;
      for (int k = 0; k < 40; ++k) again.push_back(k < 30 ? k : k - 8);
      const auto writer = create_trajectory(folder / ("d" + ending), system);
      Snapshot s;
      s.frame.box = rectangular_box({3, 3, 3});
      s.frame.x_nm.assign(2, {1, 1, 1});
      for (const double k : again) {
        s.frame.time_ps = 1e5 + 0.1 * k;
        s.frame.step = static_cast<std::int64_t>(k);
        writer->write(s);
      }
      JoinedFrames restarted(join_files({folder / ("d" + ending)}));
      EXPECT_EQ(times(restarted).size(), 32U);
      EXPECT_EQ(restarted.left_out(), 8);
    }
}

/// A DCD header has the time step in single precision: 2 fs are 3e-8 off, 1.7e-6 ps after 60 ps.
/// The last frame of a part is the first of the next one whatever the step is, also one that no
/// decimal number tells.
TEST_F(JoinedTrajectories, ARoundedTimeStepIsNoSecondFrame) {
  System system;
  system.atoms.mass_amu.assign(2, 1);
  for (const double dt_ps : {0.002, 0.001 * std::acos(-1.0)}) {
    const auto part = [&](const std::string& name, int first) {
      const auto writer = create_trajectory(folder / name, system);
      Snapshot s;
      s.frame.box = rectangular_box({3, 3, 3});
      s.frame.x_nm.assign(2, {1, 1, 1});
      for (int k = 0; k <= 60; ++k) {
        s.frame.time_ps = 500 * dt_ps * (first + k);
        s.frame.step = 500 * k;
        writer->write(s);
      }
      return folder / name;
    };
    JoinedFrames frames(
        join_files({part("a.dcd", 0), part("b.dcd", 60), part("c.dcd", 120), part("d.trr", 180)}));
    const Times t = times(frames);
    EXPECT_EQ(t.size(), 241U) << dt_ps;
    EXPECT_EQ(frames.left_out(), 3) << dt_ps;
    const double off = dt_ps == 0.002 ? 1e-9 : 0x1p-23 * 60 * 500 * dt_ps;
    for (std::size_t k = 0; k < t.size(); ++k)
      ASSERT_NEAR(t[k], 500 * dt_ps * static_cast<double>(k), off) << k;
  }
}

/// Atoms that go 0.05 nm a frame; the next part begins at t = 0 with the frame that the one before
/// has ended with, in another image and off by what its format rounds. Of N frames of both one
/// configuration counts once, and those behind it follow one step after.
TEST_F(JoinedTrajectories, AFrameThatAnAppendedFileRepeatsCountsOnce) {
  System system;
  system.atoms.mass_amu.assign(2, 1);
  const auto part = [&](const std::string& name, int first, int last, double off, double step_ps) {
    const auto writer = create_trajectory(folder / name, system);
    Snapshot s;
    s.frame.box = rectangular_box({3, 3, 3});
    for (int k = first; k <= last; ++k) {
      s.frame.x_nm = {{1 + 0.05 * k + off, 1, 1}, {2.9, 1 - 0.05 * k, 1 + off}};
      s.frame.time_ps = step_ps * (k - first);
      s.frame.step = k - first;
      writer->write(s);
    }
    return folder / name;
  };
  const fs::path a = part("a.trr", 0, 5, 0, 1);
  for (const double off : {0.0, 0.001, 3.0}) {
    JoinedFrames frames(join_files({a, part("b.trr", 5, 9, off, 1)}, {.append = true}));
    EXPECT_EQ(times(frames), (Times{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << off;
    EXPECT_EQ(frames.left_out(), 1) << off;
  }
  // One that is a step ahead counts, however short its steps are, and one of atoms at rest.
  JoinedFrames ahead(join_files({a, part("c.trr", 6, 8, 0, 1)}, {.append = true}));
  EXPECT_EQ(times(ahead), (Times{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(ahead.left_out(), 0);
  JoinedFrames rest(join_files({file("e.trr", {0, 1}), file("e2.trr", {0, 1})}, {.append = true}));
  EXPECT_EQ(times(rest), (Times{0, 1, 2, 3}));
  // Its own step goes on from there, and bounds and every see the frames that count.
  const fs::path half = part("d.trr", 5, 8, 0, 0.5);
  EXPECT_EQ(times({a, half}, {.append = true}), (Times{0, 1, 2, 3, 4, 5, 5.5, 6, 6.5}));
  EXPECT_EQ(times({a, half}, {.from_ps = 4, .every = 2, .append = true}), (Times{4, 5.5, 6.5}));
}

TEST_F(JoinedTrajectories, FramesWithoutTimesAllCount) {
  const fs::path m = models("m.pdb", 3), one = models("n.pdb", 1), timed = file("t.trr", {0, 1});
  EXPECT_TRUE(join_files({m}).by_number);
  EXPECT_FALSE(join_files({one}).by_number);
  EXPECT_TRUE(join_files({one, one}).by_number);
  expect_one_run(join_files({m, m}));
  EXPECT_EQ(times({m, one}), (Times{0, 1, 2, 3}));
  EXPECT_EQ(times({m, m}, {.from_ps = 1, .spacing_ps = 0.5}), (Times{1, 1.5, 2, 2.5}));
  EXPECT_EQ(fault([&] { join_files({m}, {.to_ps = 1}); }),
            Told(JoinFault::bounds, "the frames have no times"));
  EXPECT_EQ(
      fault([&] {
        join_files({timed, m});
      }),
      Told(JoinFault::mixed_times, "the frames of t.trr have times, those of m.pdb have none"));
  EXPECT_EQ(fault([&] { join_files({timed}, {.spacing_ps = 1}); }),
            Told(JoinFault::spacing, "the frames have times of their own"));
}

/// GROMACS writes velocities to .trr at steps of their own (nstvout).
TEST_F(JoinedTrajectories, VelocitiesBetweenPositionsAreNotPassedOver) {
  constexpr std::size_t atoms = 6, sizes_at = 52, header = 92, box = 72;
  {
    TrajectoryOptions o;
    o.velocities = true;
    const auto writer =
        create_trajectory(folder / "v.trr", testing::waters(atoms / 3, 0.4, 0.3, 0.6), o);
    for (const Snapshot& s : testing::moving_waters(atoms / 3, 3)) writer->write(s);
  }
  std::string bytes = tessera::testing::read_bytes(folder / "v.trr");
  const std::size_t frame = bytes.size() / 3;
  bytes.replace(frame + sizes_at, 4, 4, '\0');
  bytes.erase(frame + header + box, 24 * atoms);
  folder.write("v.trr", bytes);
  EXPECT_EQ(times({folder / "v.trr"}), (Times{0, 0.04}));
  EXPECT_EQ(times({folder / "v.trr"}, {.positions = false, .velocities = true}).size(), 3U);
  EXPECT_EQ(fault([&] { times({folder / "v.trr"}, {.velocities = true}); }),
            Told(JoinFault::lone_velocities, "v.trr has velocities at 0.02 ps, but no positions"));
}

TEST_F(JoinedTrajectories, WhatCannotBeJoinedIsRefused) {
  using tessera::testing::message_of;
  EXPECT_EQ(message_of([&] { join_files({}); }), "[join] expected a file");
  const fs::path a = file("a.trr", {0, 1}), b = file("b.trr", {2, 3});
  EXPECT_EQ(message_of([&] { join_files({a}, {.every = 0}); }),
            "[join] expected every >= 1, got 0");
  folder.write("one.pdb",
               "ATOM      1  AR  AR  A   1       1.000   0.000   0.000  1.00  0.00          AR\n");
  tessera::testing::expect_input_error(
      [&] {
        join_files({a, folder / "one.pdb"});
      },
      data::ExitCode::input_invalid, 704);
  fs::resize_file(a, fs::file_size(a) - 4);
  tessera::testing::expect_input_error([&] { times({a, b}); }, data::ExitCode::input_invalid, 740);
  JoinedFrames cut(join_files({a, b}, {.accept_cut_end = true}));
  EXPECT_EQ(times(cut), (Times{0, 2, 3}));
  ASSERT_EQ(cut.remarks().size(), 1U);
  EXPECT_EQ(cut.remarks()[0].number, 740);
}

}  // namespace
}  // namespace tessera::molecular
