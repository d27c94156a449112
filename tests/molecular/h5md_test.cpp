// SPDX-License-Identifier: Apache-2.0
// Files of H5MD that other programs write, and damaged ones.
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/hdf5.h"
#include "tessera/molecular/joined_frames.h"
#include "tessera/molecular/trajectory.h"
#include "trajectory_cases.h"

#include <gtest/gtest.h>

#include <random>

namespace tessera::molecular {
namespace {

using testing::all_of_it;
using testing::moving_waters;
using testing::read_all;

TEST(H5md, ThatIsCutOrDamagedIsRefused) {
  tessera::testing::TempFolder folder;
  {
    const auto writer =
        create_trajectory(folder / "t.h5md", testing::waters(40, 0.4, 0.3, 0.6), all_of_it());
    for (const Snapshot& s : moving_waters(40, 6)) writer->write(s);
  }
  const std::string bytes = tessera::testing::read_bytes(folder / "t.h5md");
  const auto frames = [&](const std::string& b) {
    folder.write("cut.h5md", b);
    return read_all(*open_trajectory(folder / "cut.h5md", {.accept_cut_end = true})).size();
  };
  EXPECT_EQ(frames(bytes), 6u);
  for (std::size_t part = 1; part < 12; ++part)
    tessera::testing::expect_input_error([&] { frames(bytes.substr(0, part * bytes.size() / 12)); },
                                         data::ExitCode::input_invalid);
  std::mt19937 random(1);
  for (int k = 0; k < 12;
       ++k) {  // what cannot be seen to be wrong is read, the rest refused: nothing else happens
    std::string b = bytes;
    for (int n = 0; n < 40; ++n) b[random() % b.size()] = static_cast<char>(random());
    try {
      frames(b);
    } catch (const data::InputError&) {
    }
  }
  const std::vector<std::string> no_steps = {"particles/all/position/value"};
  data::H5Writer other(folder / "other.h5");
  other.write(no_steps[0], std::vector<double>(9, 1), {1, 3, 3});
  other.commit();
  tessera::testing::expect_input_error([&] { open_trajectory(folder / "other.h5"); },
                                       data::ExitCode::input_invalid, 428);
}

/// Elements of H5MD have steps of their own: rows are joined by them, not by their numbers.
TEST(H5md, ElementsOfOtherSteps) {
  using Steps = std::vector<std::int64_t>;
  const tessera::testing::TempFolder folder;
  // Of one atom: x and v are their times, 0.01 ps a step.
  const auto write = [&](const char* name, const Steps& x, const Steps& v, const Steps& o) {
    data::H5Writer file(folder / name);
    const auto element = [&](const std::string& path, const Steps& steps, std::size_t width) {
      std::vector<double> values, times;
      for (const std::int64_t s : steps) {
        times.push_back(0.01 * static_cast<double>(s));
        for (std::size_t k = 0; k < width; ++k) values.push_back(times.back());
      }
      std::vector<std::uint64_t> shape = {steps.size()};
      if (width == 3) shape = {steps.size(), 1, 3};
      file.write(path + "/value", values, shape);
      file.write(path + "/step", steps);
      file.write(path + "/time", times);
    };
    element("particles/all/position", x, 3);
    if (!v.empty()) element("particles/all/velocity", v, 3);
    if (!o.empty()) element("observables/energy", o, 1);
    file.commit();
    std::vector<std::string> out;
    const auto reader = open_trajectory(folder / name);
    for (Snapshot s; reader->read(s);) {
      const double t = 0.01 * static_cast<double>(s.frame.step);
      EXPECT_NEAR(s.frame.time_ps, t, 1e-12);
      for (const auto* list : {&s.frame.x_nm, &s.frame.v_nm_ps})
        if (!list->empty()) {
          EXPECT_NEAR(list->at(0)[2], t, 1e-12) << name;
        }
      if (!s.observables.empty() && !s.frame.x_nm.empty()) {
        EXPECT_NEAR(s.observables[0], t, 1e-12) << name;
      }
      out.push_back(std::to_string(s.frame.step) + (s.frame.x_nm.empty() ? "" : "x") +
                    (s.frame.v_nm_ps.empty() ? "" : "v") + (s.observables.empty() ? "" : "o"));
    }
    return out;
  };
  using Frames = std::vector<std::string>;
  EXPECT_EQ(write("same.h5", {0, 10, 20}, {0, 10, 20}, {0, 10, 20}),
            (Frames{"0xvo", "10xvo", "20xvo"}));
  EXPECT_EQ(write("rare.h5", {0, 10, 20}, {0, 20, 40}, {0, 20}),
            (Frames{"0xv", "10x", "20xv", "40v"}));
  EXPECT_EQ(write("often.h5", {0, 20}, {0, 10, 20}, {0, 5, 10, 15, 20}),
            (Frames{"0xvo", "10vo", "20xvo"}));
  EXPECT_EQ(write("apart.h5", {0, 20}, {10, 30}, {}), (Frames{"0x", "10v", "20x", "30v"}));
  EXPECT_EQ(write("again.h5", {0, 10, 0, 10}, {0, 10, 0, 10}, {}),
            (Frames{"0xv", "10xv", "0xv", "10xv"}));
  tessera::testing::expect_input_error(
      [&] {
        write("mixed.h5", {0, 10, 0, 10}, {0, 0}, {});
      },
      data::ExitCode::input_invalid, 742);
}

TEST(H5md, OfOtherUnits) {
  tessera::testing::TempFolder folder;
  const std::string all = "particles/all/";
  {
    data::H5Writer file(folder / "fs.h5");
    file.write(all + "position/value", std::vector<double>(6, 10), {2, 1, 3});
    file.write(all + "velocity/value", std::vector<double>(6, 0.02), {2, 1, 3});
    file.write(all + "force/value", std::vector<double>(6, 2), {2, 1, 3});
    file.write(all + "position/step", std::vector<std::int64_t>{0, 5});
    file.write(all + "position/time", std::vector<double>{0, 20});
    for (const auto& [name, unit] : {std::pair{"position/value", "Angstrom"},
                                     {"velocity/value", "Angstrom fs-1"},
                                     {"force/value", "kcal mol-1 Angstrom-1"},
                                     {"position/time", "fs"}})
      file.attribute(all + name, "unit", std::string_view(unit));
    file.commit();
  }
  const Snapshot last = read_all(*open_trajectory(folder / "fs.h5")).at(1);
  EXPECT_NEAR(last.frame.time_ps, 0.02, 1e-12);
  EXPECT_NEAR(last.frame.x_nm.at(0)[2], 1, 1e-12);
  EXPECT_NEAR(last.frame.v_nm_ps.at(0)[2], 2, 1e-12);
  EXPECT_NEAR(last.f.at(0)[2], 83.68, 1e-12);
}

/// H5MD 1.1 has steps, and times where a program knows them.
TEST(H5md, WithoutTimesHasOneTime) {
  const tessera::testing::TempFolder folder;
  const std::string all = "particles/all/";
  const auto write = [&](const std::string& name, const std::vector<std::int64_t>& of_velocities) {
    data::H5Writer file(folder / name);
    file.write(all + "position/value", std::vector<double>(9, 1), {3, 1, 3});
    file.write(all + "position/step", std::vector<std::int64_t>{0, 5, 10});
    if (!of_velocities.empty()) {
      const std::size_t n = of_velocities.size();
      file.write(all + "velocity/value", std::vector<double>(3 * n, 1), {n, 1, 3});
      file.write(all + "velocity/step", of_velocities);
      file.write(all + "velocity/time", std::vector<double>(n, 0.5));
    }
    file.commit();
    return folder / name;
  };
  const auto frames = read_all(*open_trajectory(write("none.h5", {})));
  ASSERT_EQ(frames.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(frames[k].frame.time_ps, 0);
    EXPECT_EQ(frames[k].frame.step, 5 * static_cast<std::int64_t>(k));
  }
  const JoinedFiles joined = join_files({folder / "none.h5"});
  EXPECT_TRUE(joined.by_number) << "all of them count";
  EXPECT_EQ(read_all(*open_trajectory(write("of_v.h5", {0, 5, 10}))).at(1).frame.time_ps, 0.5);
  tessera::testing::expect_input_error(
      [&] {
        read_all(*open_trajectory(write("some.h5", {0, 5})));
      },
      data::ExitCode::input_invalid, 428);
}

/// At 100 ns numbers of single precision are 7.8 fs apart: frames of 200 fs are where the line of
/// their times is.
TEST(H5md, TimesInSinglePrecision) {
  const tessera::testing::TempFolder folder;
  const std::string all = "particles/all/";
  constexpr std::size_t n = 200;
  const auto write = [&](const std::string& name, auto&& write_times) {
    data::H5Writer file(folder / name);
    std::vector<std::int64_t> steps;
    for (std::size_t k = 0; k < n; ++k) steps.push_back(static_cast<std::int64_t>(100 * k));
    file.write(all + "position/value", std::vector<double>(3 * n, 1), {n, 1, 3});
    file.write(all + "position/step", steps);
    write_times(file);
    file.commit();
    return folder / name;
  };
  const auto list = [&]<class T>(T /*of*/) {
    std::vector<T> out;
    for (std::size_t k = 0; k < n; ++k)
      out.push_back(static_cast<T>(1e5 + 0.2 * static_cast<double>(k)));
    return out;
  };
  const std::filesystem::path doubles = write("d.h5",
                                              [&](data::H5Writer&file) {
                                                file.write(all + "position/time", list(0.0));
                                              }),
                              floats = write("f.h5", [&](data::H5Writer&file) {
                                file.write(all + "position/time", list(0.0F));
                              });
  EXPECT_FALSE(open_trajectory(doubles)->rounds_times());
  EXPECT_TRUE(open_trajectory(floats)->rounds_times());
  const FileBeginning b = join_files({floats}).beginnings[0];
  EXPECT_NEAR(b.step_ps.value(), 0.2, 1e-4 * 0.2);  // in the file 0.203 ps
  EXPECT_GT(b.unknown_ps, 0);
  JoinedFrames frames(join_files({floats}));
  std::size_t k = 0;
  double before_ps = 0;
  for (Snapshot s; frames.read(s); ++k) {
    ASSERT_NEAR(s.frame.time_ps, 1e5 + 0.2 * static_cast<double>(k), 0x1p-7) << k;
    if (k > 0) {
      ASSERT_NEAR(s.frame.time_ps - before_ps, 0.2, 1e-3 * 0.2) << k;
    }
    before_ps = s.frame.time_ps;
  }
  EXPECT_EQ(k, n);
}

/// Groups of particles are parts of a system: atoms of one are not all that there are.
TEST(H5md, OfSeveralGroupsIsRefused) {
  const tessera::testing::TempFolder folder;
  const auto write = [&](const std::string& name, const std::vector<std::string>& groups) {
    data::H5Writer file(folder / name);
    std::size_t atoms = 4;
    for (const std::string& group : groups) {
      const std::string at = "particles/" + group + "/";
      file.write(at + "position/value", std::vector<double>(3 * atoms, 1), {1, atoms, 3});
      file.write(at + "position/step", std::vector<std::int64_t>{0});
      atoms += 3;
    }
    file.commit();
    return folder / name;
  };
  EXPECT_EQ(open_trajectory(write("one.h5", {"fluid"}))->n_atoms(), 4U);
  const std::string told = tessera::testing::expect_input_error(
      [&] {
        open_trajectory(write("two.h5", {"fluid", "wall"}));
      },
      data::ExitCode::input_invalid, 742);
  EXPECT_NE(told.find("/particles/fluid and /particles/wall"), std::string::npos) << told;
}

/// Programs write the edges of what atoms lie in where it is no periodic cell, too.
TEST(H5md, OfOpenBoundariesHasNoBox) {
  const tessera::testing::TempFolder folder;
  const auto write = [&](const std::string& name, const std::vector<std::string>& boundary) {
    const std::string all = "particles/all/";
    data::H5Writer file(folder / name);
    file.write(all + "position/value", std::vector<double>(3, 1), {1, 1, 3});
    file.write(all + "position/step", std::vector<std::int64_t>{0});
    file.write(all + "position/time", std::vector<double>{0});
    file.write(all + "box/edges", std::vector<double>(3, 2));
    file.attribute(all + "box", "boundary", std::span<const std::string>(boundary));
    file.commit();
  };
  for (const bool periodic : {true, false}) {
    const std::string boundary = periodic ? "periodic" : "none";
    write(boundary + ".h5", std::vector<std::string>(3, boundary));
    const Snapshot s = read_all(*open_trajectory(folder / (boundary + ".h5"))).at(0);
    EXPECT_EQ(is_periodic(s.frame.box), periodic);
  }
  write("slab.h5", {"periodic", "periodic", "none"});
  tessera::testing::expect_input_error([&] { open_trajectory(folder / "slab.h5"); },
                                       data::ExitCode::input_invalid, 742);
}

}  // namespace
}  // namespace tessera::molecular
