// SPDX-License-Identifier: Apache-2.0
// Frames as text, and files that hold the last frame alone.
#include "matches.h"
#include "temp_folder.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/structure_file.h"
#include "tessera/molecular/trajectory.h"
#include "test_paths.h"
#include "trajectory_cases.h"

#include <gtest/gtest.h>

#include <set>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;
using testing::all_of_it;
using testing::largest_difference;
using testing::moving_waters;
using testing::read_all;

TEST(Trajectory, EnergiesAsCsv) {
  tessera::testing::TempFolder folder;
  const fs::path path = folder / "energies.csv";
  const System system = testing::waters(2, 0.4, 0.3, 0.6);
  std::vector<Snapshot> frames = moving_waters(2, 4);
  for (std::size_t f = 0; f < 4; ++f) frames[f].observables = {-1.5 - static_cast<double>(f), 300};
  {
    const auto writer = create_trajectory(path, system, all_of_it());
    for (std::size_t f = 0; f < 3; ++f) writer->write(frames[f]);
  }
  fs::resize_file(path, fs::file_size(path) - 2);  // killed in the middle of a row
  {
    const auto writer = append_trajectory(path, system, 10, all_of_it());
    writer->write(frames[2]);
    writer->write(frames[3]);
  }
  EXPECT_EQ(tessera::testing::read_bytes(path),
            "step,time [ps],potential_energy [kJ mol-1],temperature "
            "[K]\n0,0,-1.5,300\n10,0.02,-2.5,300\n20,0.04,-3.5,300\n30,0.06,-4.5,300\n");
}

TEST(Trajectory, AnAmberRestartHoldsTheLastFrame) {
  tessera::testing::TempFolder folder;
  const System system = testing::waters(3, 0.4, 0.3, 0.6);
  const std::vector<Snapshot> frames = moving_waters(3, 2);
  const auto writer = create_trajectory(folder / "t.rst7", system, {.velocities = true});
  for (const Snapshot& s : frames) writer->write(s);
  const Frame came = read_amber_restart(data::read_text_file(folder / "t.rst7"), 9);
  EXPECT_NEAR(came.time_ps, 0.02, 1e-12);
  EXPECT_LE(largest_difference(came.x_nm, frames[1].frame.x_nm), 5.1e-9);  // seven decimals of A
  EXPECT_LE(largest_difference(came.v_nm_ps, frames[1].frame.v_nm_ps),
            1.03e-7);  // and of A per 1/20.455 ps
  EXPECT_LE(largest_difference(came.box, frames[1].frame.box), 1e-8);
  Snapshot far = frames[0];
  far.frame.x_nm[0][0] = 1000;
  EXPECT_THROW(writer->write(far), Error);
}

TEST(Trajectory, GroFramesAreAppendedAndCut) {
  tessera::testing::TempFolder folder;
  const fs::path path = folder / "t.gro";
  System system = testing::waters(4, 0.4, 0.3, 0.6);
  system.title = "four waters, step= by step";
  const std::vector<Snapshot> frames = moving_waters(4, 4);
  {
    const auto writer = create_trajectory(path, system, {.velocities = true});
    for (std::size_t f = 0; f < 3; ++f) writer->write(frames[f]);
  }
  fs::resize_file(path, fs::file_size(path) - 2);  // killed in the middle of the last line
  {
    const auto writer = append_trajectory(path, system, 10, {.velocities = true});
    for (std::size_t f = 2; f < 4; ++f) writer->write(frames[f]);
  }
  const std::vector<Snapshot> came = read_all(*open_trajectory(path, {.n_atoms = 12}));
  ASSERT_EQ(came.size(), 4u);
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(came[f].frame.step, frames[f].frame.step);
    EXPECT_LE(largest_difference(came[f].frame.x_nm, frames[f].frame.x_nm), 5.01e-4);
    EXPECT_LE(largest_difference(came[f].frame.v_nm_ps, frames[f].frame.v_nm_ps), 5.01e-5);
    EXPECT_LE(largest_difference(came[f].frame.box, frames[f].frame.box), 5.01e-6);
  }
}

TEST(Trajectory, PdbHoldsTheLastFrame) {
  tessera::testing::TempFolder folder;
  const std::vector<Snapshot> frames = moving_waters(3, 2);
  for (const char* name : {"t.pdb", "t.cif"}) {
    const auto writer = create_trajectory(folder / name, testing::waters(3, 0.4, 0.3, 0.6));
    for (const Snapshot& s : frames) writer->write(s);
    const Structure came = read_structure(folder / name).structure;
    EXPECT_LE(largest_difference(came.x_nm, frames[1].frame.x_nm), 5.01e-5) << name;
    EXPECT_LE(largest_difference(came.box, frames[1].frame.box), 5e-4)
        << name;  // angles to 0.01 degree
  }
}

TEST(Trajectory, FormatsStandOnTheirPage) {
  std::set<std::string> known, listed;
  try {
    create_trajectory("x.none", testing::waters(2, 0.4, 0.3, 0.6));
    ADD_FAILURE() << "there is no such ending";
  } catch (const Error& e) {  // ... expected a name that ends in one of .xtc .trr ...
    const std::string said = e.what();
    const std::size_t list = said.find("one of ");
    ASSERT_NE(list, std::string::npos) << said;
    for (const auto& ending : matches(said.substr(list), R"((\.[a-z0-9]+))"))
      known.insert(ending[1]);
  }
  // | `.nc`, `.ncdf` | what it holds | ...
  const std::string page =
      tessera::testing::read_bytes(fs::path(TESSERA_SOURCE_DIR) / "docs/how-to/trajectories.md");
  for (const auto& row : matches(page, R"(\n\| ((?:`\.[a-z0-9]+`(?:, )?)+) \|)"))
    for (const auto& ending : matches(row[1], R"(`(\.[a-z0-9]+)`)")) listed.insert(ending[1]);
  EXPECT_EQ(listed, known);
}

TEST(Trajectory, SeriesForParaView) {
  std::string why;
  if (!data::vtk_xml_available(&why)) GTEST_SKIP() << why;
  tessera::testing::TempFolder folder;
  const System system = testing::waters(2, 0.4, 0.3, 0.6);
  const std::vector<Snapshot> frames = moving_waters(2, 3);
  {
    const auto writer = create_trajectory(folder / "t.pvd", system, {.velocities = true});
    for (const Snapshot& s : frames) writer->write(s);
  }
  EXPECT_TRUE(fs::exists(folder / "t_20.vtp"));
  append_trajectory(folder / "t.pvd", system, 10, {.velocities = true});
  EXPECT_FALSE(fs::exists(folder / "t_20.vtp"));
  const std::string list = tessera::testing::read_bytes(folder / "t.pvd");
  EXPECT_NE(list.find("<DataSet timestep=\"0.02\" part=\"0\" file=\"t_10.vtp\"/>"),
            std::string::npos)
      << list;
  EXPECT_EQ(list.find("t_20"), std::string::npos);
  const std::string frame = tessera::testing::read_bytes(folder / "t_0.vtp");
  EXPECT_NE(frame.find("NumberOfPoints=\"6\""), std::string::npos);
  for (const char* field : {"element [1]", "charge [e]", "velocity [nm/ps]"})
    EXPECT_NE(frame.find(field), std::string::npos) << field;
  create_trajectory(folder / "a&<b>.pvd", system, {})->write(frames[0]);
  const std::string other = tessera::testing::read_bytes(folder / "a&<b>.pvd");
  EXPECT_NE(other.find("file=\"a&amp;&lt;b&gt;_0.vtp\""), std::string::npos) << other;
}

}  // namespace
}  // namespace tessera::molecular
