// SPDX-License-Identifier: Apache-2.0
//
// Our files as their usual readers see them. The readers are no part of the project: where one is
// missing its test is skipped.
#include "run_program.h"
#include "temp_folder.h"
#include "test_paths.h"
#include "trajectory_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using tessera::testing::Outcome;
using tessera::testing::RunningProgram;

fs::path peer_python() {
  const auto set = [](const char* name) {
    return std::string(std::getenv(name) ? std::getenv(name) : "");
  };
  const std::string cache =
      set("XDG_CACHE_HOME").empty() ? set("HOME") + "/.cache" : set("XDG_CACHE_HOME");
  return fs::path(set("TESSERA_PEERS").empty() ? cache + "/tessera/peers/python"
                                               : set("TESSERA_PEERS")) /
         "bin/python";
}

struct Reader {
  const char *name, *ending;
  double positions, box;  ///< how far from what was written [nm]
  bool time;
};
class PeerReaders : public ::testing::TestWithParam<Reader> {};
INSTANTIATE_TEST_SUITE_P(
    Formats, PeerReaders,
    ::testing::Values(
        Reader{"mdtraj", "xtc", 5.01e-4, 1e-6, true},
        Reader{"MDAnalysis", "xtc", 5.01e-4, 1e-6, true}, Reader{"mdtraj", "trr", 3e-7, 1e-6, true},
        Reader{"MDAnalysis", "trr", 3e-7, 1e-6, true}, Reader{"mdtraj", "dcd", 3e-7, 3e-6, false},
        Reader{"MDAnalysis", "dcd", 3e-7, 3e-6, true}, Reader{"mdtraj", "nc", 3e-7, 3e-6, true},
        Reader{"MDAnalysis", "nc", 3e-7, 3e-6, true}, Reader{"netCDF4", "nc", 3e-7, 3e-6, true},
        Reader{"MDAnalysis", "h5md", 3e-7, 1e-6, true}, Reader{"h5py", "h5md", 0, 0, true}),
    [](const auto& r) { return std::string(r.param.name) + "_" + r.param.ending; });

TEST_P(PeerReaders, SeeWhatWasWritten) {
  const Reader& r = GetParam();
  if (!fs::exists(peer_python()))
    GTEST_SKIP() << "no " << peer_python().string() << "; ./bootstrap.sh bench installs it";
  const tessera::testing::TempFolder folder;
  const fs::path path = folder / (std::string("t.") + r.ending);
  std::vector<Snapshot> frames = testing::moving_waters(50, 4);
  for (Snapshot& s : frames) s.frame.time_ps += 1;  // where a stage begins
  {
    const auto writer =
        create_trajectory(path, testing::waters(50, 0.4, 0.3, 0.6), testing::all_of_it());
    for (const Snapshot& s : frames) writer->write(s);
  }
  RunningProgram program(
      {peer_python().string(), TESSERA_SOURCE_DIR "/tests/molecular/peers/read_trajectory.py",
       r.name, path.string(), "150", (folder / "seen").string()},
      folder.path());
  const Outcome o = program.wait();
  if (o.code == 77) GTEST_SKIP() << r.name << " is not installed: " << o.err;
  ASSERT_EQ(o.code, 0) << o.err;
  std::ifstream in(folder / "seen");
  for (const Snapshot& s : frames) {
    std::string word;
    double time = 0;
    ASSERT_TRUE(in >> word >> time) << word;
    if (r.time) {
      EXPECT_NEAR(time, s.frame.time_ps, 1e-6);
    }
    Box box;
    in >> word;
    for (Vec3& e : box.edge)
      for (double& v : e) in >> v;
    std::vector<Vec3> x(150);
    in >> word;
    for (Vec3& p : x)
      for (double& v : p) in >> v;
    ASSERT_TRUE(in.good());
    EXPECT_LE(testing::largest_difference(box, s.frame.box), r.box);
    EXPECT_LE(testing::largest_difference(x, s.frame.x_nm), r.positions);
  }
}

TEST(PeerReaders, GromacsWritesTheSameBytes) {
  const fs::path gmx = "/usr/bin/gmx";
  if (!fs::exists(gmx)) GTEST_SKIP() << "no " << gmx.string();
  const tessera::testing::TempFolder folder;
  const System system = testing::waters(216, 0.4, 0.3, 0.6);
  const std::vector<Snapshot> frames = testing::moving_waters(216, 3);
  // From our TRR file, in double precision, gmx packs the positions itself.
  {
    const auto xtc = create_trajectory(folder / "ours.xtc", system),
               trr = create_trajectory(folder / "ours.trr", system);
    for (const Snapshot& s : frames) xtc->write(s), trr->write(s);
  }
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), gmx.string());
    const Outcome o = RunningProgram(std::move(arguments), folder.path()).wait();
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out + o.err;
  };
  run({"trjconv", "-f", "ours.trr", "-o", "theirs.xtc"});
  const std::string ours = tessera::testing::read_bytes(folder / "ours.xtc"),
                    theirs = tessera::testing::read_bytes(folder / "theirs.xtc");
  ASSERT_EQ(ours.size(), theirs.size());
  EXPECT_TRUE(ours == theirs);
  // And what gmx wrote, we read.
  EXPECT_EQ(testing::read_all(*open_trajectory(folder / "theirs.xtc")).size(), 3u);
  const std::string told = run({"check", "-f", "ours.xtc"});
  EXPECT_NE(told.find("Coords           3"), std::string::npos) << told;
}

}  // namespace
}  // namespace tessera::molecular
