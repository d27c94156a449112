// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/system.h"

#include "error_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

/// A chain of n atoms, and an ion.
System chain(int n) {
  System s;
  s.residues = {{"CHN", "1", "A", ""}};
  for (int i = 0; i <= n; ++i) {
    s.atoms.name.push_back("C");
    s.atoms.type.push_back("c");
    s.atoms.element.push_back(6);
    s.atoms.mass_amu.push_back(12);
    s.atoms.charge_e.push_back(i == n ? 1 : 0);
    s.atoms.lj_type.push_back(0);
    s.atoms.residue.push_back(0);
    if (i + 1 < n) s.connectivity.push_back({i, i + 1});
  }
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.5});
  return s;
}

TEST(System, NeighboursAlongBonds) {
  const System s = chain(6);
  EXPECT_NO_THROW(validate(s));
  EXPECT_EQ(within_bonds(s, 1), s.connectivity);
  EXPECT_EQ(within_bonds(s, 3).size(), 5U + 4U + 3U);
  EXPECT_EQ(molecules(s), (std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(net_charge_e(s), 1);
}

TEST(System, RingsAreCountedOnce) {
  System s = chain(3);
  s.connectivity = {{0, 1}, {0, 2}, {1, 2}};
  EXPECT_EQ(within_bonds(s, 3).size(), 3U);
}

TEST(System, MixingRules) {
  const LennardJones lb = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3, 0.4}, {0.5, 0.8});
  EXPECT_NEAR(lb.c6[1], 4 * std::sqrt(0.4) * std::pow(0.35, 6), 1e-18);
  EXPECT_NEAR(lb.c12[1] / (lb.c6[1] * lb.c6[1]), 1 / (4 * std::sqrt(0.4)), 1e-12);
  EXPECT_EQ(lb.c6[1], lb.c6[2]);
  const LennardJones geometric = mixed(LennardJones::Mixing::geometric, {0.3, 0.4}, {0.5, 0.8});
  EXPECT_NEAR(geometric.c6[1], std::sqrt(geometric.c6[0] * geometric.c6[3]), 1e-18);
}

TEST(System, FaultsAreNamed) {
  const auto message = [](const System& s) {
    return tessera::testing::message_of([&] { validate(s); });
  };
  System s = chain(3);
  s.bonds = {{{0, 9}}, {0}, {{0.1, 1000}}};
  EXPECT_NE(message(s).find("bonds: term 0 names atom 9 of 4"), std::string::npos) << message(s);
  s = chain(3);
  s.exclusions = {{0, 2}, {0, 1}};
  EXPECT_NE(message(s).find("exclusions: pairs must be sorted"), std::string::npos) << message(s);
  s = chain(3);
  s.virtual_sites = {{VirtualSite::Kind::linear2, 3, {0, 1, -1, -1}, {0.5}}};
  EXPECT_NE(message(s).find("virtual site 3 has a mass"), std::string::npos) << message(s);
  s = chain(3);
  s.angles = {{{0, 1, 0}}, {0}, {{2, 300}}};
  EXPECT_NE(message(s).find("angles: term 0 names atom 0 twice"), std::string::npos) << message(s);
}

}  // namespace
}  // namespace tessera::molecular
