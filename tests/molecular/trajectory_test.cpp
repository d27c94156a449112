// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/trajectory.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/info.h"
#include "trajectory_cases.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using testing::all_of_it;
using testing::largest_difference;
using testing::moving_waters;
using testing::read_all;

/// How near a format comes to what was written [nm]; whether it keeps velocities and forces, and
/// observables.
struct Kind {
  const char* ending;
  double positions, box, time_ps;
  bool vectors, observables;
  double digits = 0;  ///< relative: of velocities and forces
};
// XTC: half of 1/1000 nm and the rounding of single precision; DCD: single precision of up to 64 A,
// and of angles that go through cosines.
const std::vector<Kind> trajectory_kinds = {{".xtc", 5.005e-4, 2e-7, 1e-7, false, false},
                                            {".trr", 0, 0, 0, true, false},
                                            {".dcd", 1.95e-7, 1e-12, 1e-7, false, false},
                                            {".nc", 1.95e-7, 1e-12, 1e-8, true, false, 6e-8},
                                            {".h5md", 0, 0, 0, true, true}};

class Trajectories : public ::testing::TestWithParam<Kind> {
 protected:
  tessera::testing::TempFolder folder;
  const std::vector<Snapshot> frames = moving_waters(20, 7);
  const System system = testing::waters(20, 0.4, 0.3, 0.6);
  fs::path path = folder / (std::string("t") + GetParam().ending);

  void expect_same(const Snapshot& came, const Snapshot& written) const {
    const Kind& k = GetParam();
    EXPECT_EQ(came.frame.step, written.frame.step);
    EXPECT_NEAR(came.frame.time_ps, written.frame.time_ps, k.time_ps);
    EXPECT_LE(largest_difference(came.frame.x_nm, written.frame.x_nm), k.positions);
    EXPECT_LE(largest_difference(came.frame.box, written.frame.box), k.box);
    const auto expect_vectors = [&](const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
      EXPECT_LE(largest_difference(a, k.vectors ? b : std::vector<Vec3>{}),
                k.digits * largest_difference(b, std::vector<Vec3>(b.size())));
    };
    expect_vectors(came.frame.v_nm_ps, written.frame.v_nm_ps);
    expect_vectors(came.f, written.f);
    EXPECT_EQ(came.observables, k.observables ? written.observables : std::vector<double>{});
  }
  std::vector<Snapshot> whole(std::string* told = nullptr) const {
    const auto reader = open_trajectory(path, {.accept_cut_end = true});
    std::vector<Snapshot> out = read_all(*reader);
    if (told && reader->cut_end()) *told = data::to_string(*reader->cut_end());
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, Trajectories, ::testing::ValuesIn(trajectory_kinds),
                         [](const auto& k) { return std::string(k.param.ending + 1); });

/// A hexagonal cell is at the limit of the reduced form: its edges stay in every format, and those
/// of a run whose angle varies about it are those of the first frame.
TEST_P(Trajectories, EdgesAtTheLimitStay) {
  for (const double sign : {1.0, -1.0}) {
    std::vector<Snapshot> written = frames;
    const double tilt[] = {0, 1e-9, -1e-9, 2e-3, -2e-3, 5e-6, 0};
    {
      const auto writer = create_trajectory(path, system, all_of_it());
      for (std::size_t f = 0; f < written.size(); ++f) {
        written[f].frame.box = {{{{3, 0, 0}, {sign * (1.5 + tilt[f]), 2.598, 0}, {0, 0, 3}}}};
        writer->write(written[f]);
      }
    }
    const std::vector<Snapshot> came = whole();
    ASSERT_EQ(came.size(), written.size());
    for (std::size_t f = 0; f < written.size(); ++f)
      EXPECT_LE(largest_difference(came[f].frame.box, written[f].frame.box), GetParam().box) << f;
  }
}

TEST_P(Trajectories, ReadBackWhatWasWritten) {
  {
    const auto writer = create_trajectory(path, system, all_of_it());
    for (const Snapshot& s : frames) writer->write(s);
    writer->sync();
  }
  const auto reader = open_trajectory(path);
  EXPECT_EQ(reader->n_atoms(), 60u);
  const std::vector<Snapshot> came = read_all(*reader);
  ASSERT_EQ(came.size(), frames.size());
  for (std::size_t f = 0; f < came.size(); ++f) expect_same(came[f], frames[f]);
  if (GetParam().observables) {
    ASSERT_EQ(reader->observables().size(), 2u);
    EXPECT_EQ(reader->observables()[0].name, "potential_energy");
    EXPECT_EQ(reader->observables()[0].unit, "kJ mol-1");
  }
  tessera::testing::expect_input_error([&] { open_trajectory(path, {.n_atoms = 59}); },
                                       data::ExitCode::input_invalid, 704);
}

TEST_P(Trajectories, AResumedRunDoublesAndLosesNothing) {
  {
    const auto writer = create_trajectory(path, system, all_of_it());
    for (std::size_t f = 0; f < 5; ++f) writer->write(frames[f]);
  }
  {  // the checkpoint was made at step 20: frames 3 and 4 are computed again
    const auto writer = append_trajectory(path, system, 20, all_of_it());
    for (std::size_t f = 3; f < frames.size(); ++f) writer->write(frames[f]);
  }
  const std::vector<Snapshot> came = whole();
  ASSERT_EQ(came.size(), frames.size());
  for (std::size_t f = 0; f < came.size(); ++f) expect_same(came[f], frames[f]);
  EXPECT_ANY_THROW(append_trajectory(path, testing::waters(21, 0.4, 0.3, 0.6), 20, all_of_it())
                       ->write(moving_waters(21, 1)[0]));
}

TEST_P(Trajectories, AFileThatWasNeverBegunIsBegun) {
  append_trajectory(path, system, 20, all_of_it())->write(frames[3]);
  const std::vector<Snapshot> came = whole();
  ASSERT_EQ(came.size(), 1u);
  EXPECT_EQ(came[0].frame.step, 30);
}

TEST_P(Trajectories, NoBoxIsNoBox) {
  std::vector<Snapshot> open = frames;
  {
    const auto writer = create_trajectory(path, system, all_of_it());
    for (Snapshot& s : open) s.frame.box = {}, writer->write(s);
  }
  const std::vector<Snapshot> came = whole();
  ASSERT_EQ(came.size(), open.size());
  for (std::size_t f = 0; f < came.size(); ++f) expect_same(came[f], open[f]);
}

TEST_P(Trajectories, ASnapshotThatDoesNotFitIsRefused) {
  const auto writer = create_trajectory(path, system, all_of_it());
  Snapshot s = frames[0];
  s.frame.x_nm.pop_back();
  EXPECT_THROW(writer->write(s), Error);
  if (!GetParam().vectors) return;
  s = frames[0];
  s.f.clear();
  EXPECT_THROW(writer->write(s), Error);
}

TEST_P(Trajectories, AKillInTheMiddleOfAFrameLeavesTheOnesBefore) {
  // The child says after each frame that it is there; it is killed while it writes another.
  const System many = testing::waters(700, 0.4, 0.3, 0.6);
  const std::vector<Snapshot> some = moving_waters(700, 2);
  for (int round = 0; round < 3; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto writer = create_trajectory(path, many, all_of_it());
      for (std::int64_t f = 0;; ++f) {
        Snapshot s = some[static_cast<std::size_t>(f % 2)];
        s.frame.step = f, s.frame.time_ps = 0.25 * static_cast<double>(f);
        writer->write(s);
        if (::write(pipe_ends[1], "f", 1) != 1) ::_exit(1);
      }
    }
    ::close(pipe_ends[1]);
    char byte;
    std::int64_t told = 0;
    while (told < 4 + round && ::read(pipe_ends[0], &byte, 1) == 1) ++told;
    ::usleep(static_cast<useconds_t>(137 * (1 + round)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe_ends[0], &byte, 1) == 1) ++told;
    ::close(pipe_ends[0]);

    std::vector<Snapshot> came = whole();
    ASSERT_GE(static_cast<std::int64_t>(came.size()), told);
    ASSERT_LE(static_cast<std::int64_t>(came.size()), told + 1);
    {
      const auto writer = append_trajectory(path, many, 2, all_of_it());
      for (std::int64_t f = 3; f < 5; ++f) {
        Snapshot s = some[static_cast<std::size_t>(f % 2)];
        s.frame.step = f, s.frame.time_ps = 0.25 * static_cast<double>(f);
        writer->write(s);
      }
    }
    came = read_all(*open_trajectory(path));
    ASSERT_EQ(came.size(), 5u);
    for (std::size_t f = 0; f < came.size(); ++f) {
      EXPECT_EQ(came[f].frame.step, static_cast<std::int64_t>(f));
      EXPECT_LE(largest_difference(came[f].frame.x_nm, some[f % 2].frame.x_nm),
                10 * GetParam().positions);
    }
  }
}

/// Formats of frames one after the other: any cut is told with frame and byte.
class CutTrajectories : public Trajectories {};
INSTANTIATE_TEST_SUITE_P(Formats, CutTrajectories,
                         ::testing::Values(trajectory_kinds[0], trajectory_kinds[1],
                                           trajectory_kinds[2], trajectory_kinds[3]),
                         [](const auto& k) { return std::string(k.param.ending + 1); });

TEST_P(CutTrajectories, AnyCutIsToldWithFrameAndByte) {
  const System few = testing::waters(4, 0.4, 0.3, 0.6);
  {
    const auto writer = create_trajectory(path, few, all_of_it());
    for (const Snapshot& s : moving_waters(4, 3)) writer->write(s);
  }
  const std::string bytes = tessera::testing::read_bytes(path);
  std::size_t whole_frames = 0;
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    std::size_t n = 0;
    try {
      const auto reader = open_trajectory(data::BinaryInput(path.string(), bytes.substr(0, cut)));
      for (Snapshot s; reader->read(s);) ++n;
      ++whole_frames;
    } catch (const data::InputError& e) {
      const data::Diagnostic& d = e.findings().front();
      ASSERT_EQ(d.number, 740) << e.what();
      ASSERT_TRUE(d.place.byte && *d.place.byte <= cut);
      ASSERT_NE(d.message.find("frame " + std::to_string(n)), std::string::npos) << d.message;
    }
  }
  const std::string ending =
      GetParam()
          .ending;  // a DCD file may end after its header; NetCDF says how many frames there are
  EXPECT_EQ(whole_frames, ending == ".dcd" ? 3u : ending == ".nc" ? 0u : 2u);
}

TEST(Trajectory, XtcTellsWhatIsWrongAndWhere) {
  tessera::testing::TempFolder folder;
  const fs::path path = folder / "t.xtc";
  {
    const auto writer = create_trajectory(path, testing::waters(20, 0.4, 0.3, 0.6));
    for (const Snapshot& s : moving_waters(20, 2)) writer->write(s);
  }
  const std::string bytes = tessera::testing::read_bytes(path);
  const auto with = [&](std::size_t at, std::string_view change) {
    std::string b = bytes;
    b.replace(at, change.size(), change);
    return b;
  };
  const auto told = [&](const std::string& b) {
    return tessera::testing::expect_input_error(
        [&] {
          const auto reader = open_trajectory(data::BinaryInput("t.xtc", b));
          for (Snapshot s; reader->read(s);) {
          }
        },
        data::ExitCode::input_invalid, 741);
  };
  const std::size_t second = bytes.find(std::string("\0\0\x07\xcb", 4), 4);
  ASSERT_NE(second, std::string::npos);
  EXPECT_NE(told(with(second, "\1")).find("frame 1"), std::string::npos);
  EXPECT_NE(told(with(second, "\1")).find("byte " + std::to_string(second)), std::string::npos);
  told(with(second + 7, "\7"));                       // other number of atoms
  told(with(56, "\xff\xff\xff\xff"));                 // precision: not a number
  told(with(60, "\x7f\xff\xff\xff"));                 // least above greatest
  told(with(84, std::string_view("\0\0\0\x50", 4)));  // notch 80
  told(with(96, std::string(40, '\xff')));  // run beyond the last atom or a notch out of range
  EXPECT_THROW(open_trajectory(data::BinaryInput("t.xyz", bytes)), Error);
}

TEST(Trajectory, PositionsThatAreNoNumbersAreTold) {
  tessera::testing::TempFolder folder;
  for (const char* name : {"t.xtc", "t.trr", "t.dcd"}) {
    create_trajectory(folder / name, testing::waters(1, 0.4, 0.3, 0.6))
        ->write(moving_waters(1, 1)[0]);
    std::string bytes = tessera::testing::read_bytes(folder / name);
    const std::size_t last =
        bytes.size() - 8;  // the last numbers; in DCD the last one, before the count of its record
    bytes.replace(last, 8,
                  std::string(name) == "t.dcd"
                      ? std::string("\xff\xff\xff\x7f", 4) + bytes.substr(last + 4, 4)
                      : std::string(8, '\xff'));
    const std::string told = tessera::testing::expect_input_error(
        [&] {
          const auto reader = open_trajectory(data::BinaryInput(name, bytes));
          for (Snapshot s; reader->read(s);) {
          }
        },
        data::ExitCode::input_invalid, 741);
    EXPECT_NE(told.find("no numbers, the first of 2"), std::string::npos) << told;
  }
}

/// GROMACS writes velocities to .trr at steps of their own (nstvout): such frames have no
/// positions.
TEST(Trajectory, FramesWithoutPositionsArePassedOverWhereTheseAreWanted) {
  const tessera::testing::TempFolder folder;
  constexpr std::size_t atoms = 6, sizes_at = 52, header = 92, box = 72;
  {
    TrajectoryOptions o;
    o.velocities = true;
    const auto writer =
        create_trajectory(folder / "t.trr", testing::waters(atoms / 3, 0.4, 0.3, 0.6), o);
    for (const Snapshot& s : moving_waters(atoms / 3, 3)) writer->write(s);
  }
  std::string bytes = tessera::testing::read_bytes(folder / "t.trr");
  const std::size_t frame = bytes.size() / 3;
  bytes.replace(frame + sizes_at, 4, 4, '\0');
  bytes.erase(frame + header + box, 24 * atoms);
  const auto times = [&](bool positions) {
    const auto reader =
        open_trajectory(data::BinaryInput("t.trr", bytes), {.positions = positions});
    std::vector<double> out;
    for (const Snapshot& s : read_all(*reader)) out.push_back(s.frame.time_ps);
    return out;
  };
  EXPECT_EQ(times(false).size(), 3U);
  EXPECT_EQ(times(true), (std::vector<double>{0, 0.04}));
}

/// CHARMM writes the symmetric matrix of a cell's vectors in place of lengths and cosines, and
/// positions in its frame: those of a truncated octahedron of 60 A, S S = L^2 (4 I - J)/3.
TEST(Trajectory, DcdOfCharmmHasAMatrixForItsCell) {
  const tessera::testing::TempFolder folder;
  const double length = 6, second = std::sqrt(4.0 / 3), first = std::sqrt(1.0 / 3),
               off = length * (first - second) / 3, diagonal = length * second + off;
  const std::array<Vec3, 3> edge = {
      {{diagonal, off, off}, {off, diagonal, off}, {off, off, diagonal}}};
  Snapshot s = moving_waters(1, 1)[0];
  s.frame.box = rectangular_box({6, 6, 6});
  for (std::size_t c = 0; c < 3; ++c) {
    s.frame.x_nm[0][c] = 0.1;
    s.frame.x_nm[1][c] = 0.1 + edge[0][c] + 0.1 * edge[1][c];
    s.frame.x_nm[2][c] = 0.1 + edge[2][c] - 0.25 * edge[0][c];
  }
  create_trajectory(folder / "t.dcd", testing::waters(1, 0.4, 0.3, 0.6))->write(s);
  std::string bytes = tessera::testing::read_bytes(folder / "t.dcd");
  constexpr std::size_t cell_at = 200;  // behind the header and the count of its record
  std::size_t k = 0;
  for (const double v : {diagonal, off, diagonal, off, off, diagonal}) {
    const double angstrom = 10 * v;
    std::memcpy(bytes.data() + cell_at + 8 * k++, &angstrom, sizeof angstrom);
  }
  const Frame f = read_all(*open_trajectory(data::BinaryInput("t.dcd", bytes))).at(0).frame;
  EXPECT_NEAR(volume_nm3(f.box), 4.0 / 9 * std::sqrt(3.0) * length * length * length, 1e-10);
  for (const auto& [i, distance] : {std::pair{1U, 0.6}, std::pair{2U, 1.5}}) {
    const Vec3 d = shortest(f.box, {f.x_nm[i][0] - f.x_nm[0][0], f.x_nm[i][1] - f.x_nm[0][1],
                                    f.x_nm[i][2] - f.x_nm[0][2]});
    EXPECT_NEAR(std::hypot(d[0], d[1], d[2]), distance, 1e-5) << "positions turn with the cell";
  }
}

TEST(Trajectory, XtcOfPositionsThatDoNotFit) {
  tessera::testing::TempFolder folder;
  const auto writer = create_trajectory(folder / "t.xtc", testing::waters(4, 0.4, 0.3, 0.6));
  Snapshot s = moving_waters(4, 1)[0];
  s.frame.x_nm[7][1] = 3e6;
  try {
    writer->write(s);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("atom 7"), std::string::npos) << e.what();
  }
  s.frame.x_nm[7][1] = std::nan("");
  EXPECT_THROW(writer->write(s), Error);
  s.frame.x_nm[7][1] = 0, s.frame.step = std::int64_t{1} << 31;
  EXPECT_THROW(writer->write(s), Error);
}

TEST(Trajectory, XtcOfFarAndOfFewAtoms) {
  tessera::testing::TempFolder folder;
  for (std::size_t waters : {1, 3, 4, 50})
    for (double far : {1.0, 30.0, 3000.0, 1e6}) {  // beyond 16,777 nm axes are written one by one
      Snapshot s = moving_waters(waters, 1)[0];
      s.frame.x_nm[0] = {-far, far, 0.5 * far}, s.frame.x_nm.back() = {far, -far, -far};
      create_trajectory(folder / "t.xtc", testing::waters(waters, 0.4, 0.3, 0.6))->write(s);
      const std::vector<Snapshot> came = read_all(*open_trajectory(folder / "t.xtc"));
      ASSERT_EQ(came.size(), 1u);
      // Positions go through single precision.
      EXPECT_LE(largest_difference(came[0].frame.x_nm, s.frame.x_nm),
                (waters > 3 ? 5e-4 : 0) + 1.3e-7 * far);
    }
}

TEST(Trajectory, InfoTellsWhatIsInAFile) {
  tessera::testing::TempFolder folder;
  for (const char* name : {"t.xtc", "t.trr", "t.dcd", "t.h5md"}) {
    const auto writer = create_trajectory(folder / name, testing::waters(3, 0.4, 0.3, 0.6));
    for (const Snapshot& s : moving_waters(3, 4)) writer->write(s);
    writer->sync();
    const std::string told = data::to_text(data::info(folder / name));
    for (const char* line : {"atoms: 9", "frames: 4", "last step: 30", "forces: no"})
      EXPECT_NE(told.find(line), std::string::npos) << name << told;
    // What the first bytes tell is believed whatever the name says.
    if (name == std::string_view("t.h5md")) continue;
    const auto renamed = folder / "t.npz";
    std::filesystem::copy_file(folder / name, renamed,
                               std::filesystem::copy_options::overwrite_existing);
    const std::string again = data::to_text(data::info(renamed));
    EXPECT_NE(again.find("frames: 4"), std::string::npos) << name << again;
  }
}

}  // namespace
}  // namespace tessera::molecular
