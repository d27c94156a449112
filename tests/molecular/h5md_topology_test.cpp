// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/h5md_topology.h"

#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/hdf5.h"
#include "tessera/molecular/groups.h"
#include "tessera/molecular/trajectory.h"

#include <gtest/gtest.h>

namespace tessera::molecular {
namespace {

using Bonds = std::vector<std::array<std::int32_t, 2>>;

/// O-H beside O and a site; each bond may be written from both of its atoms.
System hydroxide(const Bonds& bonds) {
  System s;
  s.atoms.name = s.atoms.type = {"O", "H", "O", "M"};
  s.atoms.element = {8, 1, 8, 0};
  s.atoms.mass_amu = {15.9994, 1.008, 15.9994, 0};
  s.atoms.charge_e = {-0.5, 0.25, 0, 0.25};
  s.atoms.lj_type = {0, 0, 0, 0};
  s.atoms.residue = {0, 0, 1, 1};
  s.residues = {{"OH", "1", "", ""}, {"O", "2", "", ""}};
  s.connectivity = bonds;
  return s;
}

TEST(H5mdTopology, IsThatOfTheTrajectory) {
  const tessera::testing::TempFolder folder;
  const auto written = [&](const std::string& name, const System& system) {
    Snapshot shot;
    shot.frame.x_nm.assign(system.n_atoms(), {1, 1, 1});
    create_trajectory(folder / name, system)->write(shot);
    return read_h5md_topology(folder / name);
  };
  const System s = written("a.h5md", hydroxide({{2, 3}, {1, 0}, {0, 1}}));
  EXPECT_EQ(s.atoms.element, (std::vector<std::uint8_t>{8, 1, 8, 0}));
  EXPECT_EQ(s.atoms.mass_amu, (std::vector<double>{15.9994, 1.008, 15.9994, 0}));
  EXPECT_EQ(s.atoms.charge_e, (std::vector<double>{-0.5, 0.25, 0, 0.25}));
  EXPECT_EQ(s.connectivity, (Bonds{{0, 1}, {2, 3}}));
  ASSERT_EQ(s.residues.size(), 4U);
  EXPECT_EQ(s.atoms.name[1], "H");
  EXPECT_EQ(s.residues[1].name, "H");
  EXPECT_EQ(s.residues[1].number, "2");
  EXPECT_EQ(s.atoms.residue, (std::vector<std::int32_t>{0, 1, 2, 3}));
  const System loose = written("b.h5md", hydroxide({}));
  EXPECT_EQ(loose.connectivity, (Bonds{{2, 3}})) << "a site belongs to the atom before it";
}

/// TIP4P as GROMACS has it: no bonds but rigid distances, sites that follow.
TEST(H5mdTopology, SitesAndRigidWatersAreOfTheirMolecules) {
  const tessera::testing::TempFolder folder;
  System s;
  for (int w = 0; w < 2; ++w) {
    s.residues.push_back({"SOL", std::to_string(w + 1), "", ""});
    for (const auto& [name, element, mass] :
         {std::tuple{"OW", 8, 15.9994}, {"HW1", 1, 1.008}, {"HW2", 1, 1.008}, {"MW", 0, 0.0}}) {
      s.atoms.name.emplace_back(name), s.atoms.type.emplace_back(name);
      s.atoms.element.push_back(static_cast<std::uint8_t>(element));
      s.atoms.mass_amu.push_back(mass), s.atoms.charge_e.push_back(0);
      s.atoms.lj_type.push_back(0), s.atoms.residue.push_back(w);
    }
    const std::int32_t o = 4 * w;
    s.rigid_waters.atoms.push_back({o, o + 1, o + 2}), s.rigid_waters.row.push_back(0);
    s.virtual_sites.push_back({.kind = VirtualSite::Kind::linear3,
                               .site = o + 3,
                               .parents = {o, o + 1, o + 2, -1},
                               .weights = {0.13, 0.13}});
  }
  s.rigid_waters.rows = {{0.09572, 0.15139}};
  const auto read = [&](const System& system) {
    Snapshot shot;
    shot.frame.x_nm.assign(system.n_atoms(), {1, 1, 1});
    create_trajectory(folder / "t.h5md", system)->write(shot);
    return read_h5md_topology(folder / "t.h5md");
  };
  EXPECT_EQ(molecules(read(s)), molecules(s));
  EXPECT_EQ(molecules(read(part_of(s, {0, 3, 4, 7}))), (std::vector<std::int32_t>{0, 0, 1, 1}));
  // Of what binds them nothing is there.
  EXPECT_EQ(molecules(read(part_of(s, {1, 2, 5, 6}))), (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(molecules(read(part_of(s, {2, 3, 6, 7}))), (std::vector<std::int32_t>{0, 0, 1, 1}));
}

/// The sites of all molecules alone.
TEST(H5mdTopology, SitesAreNotOfEachOther) {
  const tessera::testing::TempFolder folder;
  System s;
  for (int k = 0; k < 4; ++k) {
    s.residues.push_back({"SOL", std::to_string(k + 1), "", ""});
    s.atoms.name.emplace_back("MW"), s.atoms.type.emplace_back("MW");
    s.atoms.element.push_back(0), s.atoms.mass_amu.push_back(0), s.atoms.charge_e.push_back(0);
    s.atoms.lj_type.push_back(0), s.atoms.residue.push_back(k);
  }
  Snapshot shot;
  shot.frame.x_nm.assign(4, {1, 1, 1});
  create_trajectory(folder / "t.h5md", s)->write(shot);
  EXPECT_EQ(molecules(read_h5md_topology(folder / "t.h5md")),
            (std::vector<std::int32_t>{0, 1, 2, 3}));
}

/// Names and masses are those of the group that moves; of two that move neither is all atoms.
TEST(H5mdTopology, IsThatOfTheGroupWithPositions) {
  const tessera::testing::TempFolder folder;
  const auto read = [&](bool both_move) {
    data::H5Writer file(folder / "t.h5md");
    for (const auto& [group, element] : {std::pair{"particles/a/", 10}, {"particles/b/", 18}}) {
      const std::string at = group;
      file.write(at + "species", std::vector<std::int64_t>{element, element});
      file.write(at + "mass", std::vector<double>(2, 2.0 * element));
      file.write(at + "charge", std::vector<double>(2, 0));
      if (element == 10 && !both_move) continue;
      file.write(at + "position/value", std::vector<double>(6, 1), {1, 2, 3});
      file.write(at + "position/step", std::vector<std::int64_t>{0});
    }
    file.commit();
    return read_h5md_topology(folder / "t.h5md");
  };
  EXPECT_EQ(read(false).atoms.element, (std::vector<std::uint8_t>{18, 18}));
  tessera::testing::expect_input_error([&] { read(true); }, data::ExitCode::input_invalid, 742);
}

TEST(H5mdTopology, WhatIsNoneIsRefused) {
  const tessera::testing::TempFolder folder;
  const std::string all = "particles/all/";
  const auto refused = [&](auto&& write, int number = 428) {
    data::H5Writer file(folder / "t.h5md");
    write(file);
    file.commit();
    return tessera::testing::expect_input_error([&] { read_h5md_topology(folder / "t.h5md"); },
                                                data::ExitCode::input_invalid, number);
  };
  const auto atoms = [&](data::H5Writer& file, std::size_t masses) {
    file.write(all + "species", std::vector<std::int64_t>{18, 18});
    file.write(all + "mass", std::vector<double>(masses, 40));
    file.write(all + "charge", std::vector<double>(2, 0));
  };
  const auto with_bonds = [&](const std::vector<std::int64_t>& bonds) {
    return refused([&](data::H5Writer& file) {
      atoms(file, 2);
      file.write("connectivity/bonds", bonds, {bonds.size() / 2, 2});
    });
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  holds(refused([&](data::H5Writer& file) { file.write(all + "mass", std::vector<double>{1}); }),
        "t.h5md: error E0428: has no particles/*/species: it cannot serve as a topology");
  holds(refused([&](data::H5Writer& file) { atoms(file, 3); }), "different numbers of atoms");
  holds(refused([&](data::H5Writer& file) {
          file.write(all + "species", std::vector<double>{18});
          file.write(all + "mass", std::vector<double>{40});
          file.write(all + "charge", std::vector<double>{0});
        }),
        "/particles/all/species are no integers");
  holds(refused([&](data::H5Writer& file) {
          file.write(all + "species", std::vector<std::int64_t>{18});
          file.write(all + "mass", std::vector<std::int64_t>{40});
          file.write(all + "charge", std::vector<double>{0});
        }),
        "/particles/all/mass are no float64 numbers");
  holds(refused([&](data::H5Writer& file) {
          file.write(all + "species", std::vector<std::int64_t>{18});
        }),
        "/particles/all/mass");
  for (const std::vector<std::int64_t>& bonds : {std::vector<std::int64_t>{0, 2}, {-1, 0}, {1, 1}})
    holds(with_bonds(bonds), "has bonds of atoms that are not there");
}

}  // namespace
}  // namespace tessera::molecular
