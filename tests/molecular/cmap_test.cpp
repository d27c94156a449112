// SPDX-License-Identifier: Apache-2.0
//
// Corrections on two dihedrals: the energy beside the textbook form of a bicubic interpolation
// (derivatives at the nodes from periodic cubic splines, one patch by the cubic polynomials of
// Hermite), and the same map out of three kinds of files.
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/openmm_xml.h"
#include "tessera/molecular/parameters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tessera::molecular {
namespace {

using std::numbers::pi;

/// A chain of five atoms with the dihedrals phi and psi: lengths of 0.1 nm, right angles.
std::vector<Vec3> chain(double phi, double psi) {
  const double c = std::cos(phi), s = std::sin(phi), e = std::cos(psi), g = std::sin(psi);
  // From atom 1 to 2 along x, to 3 turned by phi against atom 0 at +z; atom 4 turned by psi against
  // atom 1.
  const Vec3 x3 = {0.1, -0.1 * s, 0.1 * c}, along = {0, -s, c}, back = {-1, 0, 0};
  const Vec3 side = {along[1] * back[2] - along[2] * back[1],
                     along[2] * back[0] - along[0] * back[2],
                     along[0] * back[1] - along[1] * back[0]};
  std::vector<Vec3> x = {{0, 0, 0.1}, {0, 0, 0}, {0.1, 0, 0}, x3, {}};
  for (std::size_t k = 0; k < 3; ++k) x[4][k] = x3[k] + 0.1 * (e * back[k] + g * side[k]);
  return x;
}

System with_map(int points, std::vector<double> maps) {
  System s;
  s.residues = {{"ANY", "1", "", ""}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.3}, {0.5});
  for (int i = 0; i < 5; ++i) {
    s.atoms.name.push_back("X" + std::to_string(i));
    s.atoms.type.push_back("x");
    s.atoms.element.push_back(6);
    s.atoms.mass_amu.push_back(12);
    s.atoms.charge_e.push_back(0);
    s.atoms.lj_type.push_back(0);
    s.atoms.residue.push_back(0);
  }
  s.cmap = {{{0, 1, 2, 3, 1, 2, 3, 4}}, {0}, points, std::move(maps)};
  validate(s);
  return s;
}
double energy(const System& s, double phi, double psi) {
  const EnergyPtr u = bonded_energy(s, Term::cmap);
  return evaluate(u, {positions_of(chain(phi, psi)), zeros({3, 3}), table_of(s, Term::cmap)})
      .item<double>();
}
std::vector<double> rough_map(int n) {
  std::vector<double> m;
  for (int i = 0; i < n * n; ++i) m.push_back(10 * std::sin(3.7 * i + 0.02 * i * i));
  return m;
}

/// Derivatives at the nodes of the periodic cubic spline of spacing 1 by Gaussian elimination:
/// d_{k-1} + 4 d_k + d_{k+1} = 3 (y_{k+1} - y_{k-1}).
std::vector<double> node_derivatives(const std::vector<double>& y) {
  const std::size_t n = y.size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1, 0.0));
  for (std::size_t k = 0; k < n; ++k) {
    a[k][(k + n - 1) % n] += 1;
    a[k][k] += 4;
    a[k][(k + 1) % n] += 1;
    a[k][n] = 3 * (y[(k + 1) % n] - y[(k + n - 1) % n]);
  }
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t r = 0; r < n; ++r) {
      if (r == p) continue;
      const double f = a[r][p] / a[p][p];
      for (std::size_t c = p; c <= n; ++c) a[r][c] -= f * a[p][c];
    }
  std::vector<double> d(n);
  for (std::size_t k = 0; k < n; ++k) d[k] = a[k][n] / a[k][k];
  return d;
}
/// The bicubic patch from values, derivatives and cross derivatives at its four corners.
double naive(const std::vector<double>& map, std::size_t n, double phi, double psi) {
  using Table = std::vector<std::vector<double>>;
  Table f(n, std::vector<double>(n)), fx = f, fy = f, fxy = f;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) f[i][j] = map[i * n + j];
  const auto along_rows = [n](const Table& in, Table& out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = node_derivatives(in[i]);
  };
  const auto along_columns = [n](const Table& in, Table& out) {
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<double> column;
      for (std::size_t i = 0; i < n; ++i) column.push_back(in[i][j]);
      column = node_derivatives(column);
      for (std::size_t i = 0; i < n; ++i) out[i][j] = column[i];
    }
  };
  along_rows(f, fy);
  along_columns(f, fx);
  along_columns(fy, fxy);
  const auto count = static_cast<double>(n);
  const double s = (phi + pi) / (2 * pi) * count, t = (psi + pi) / (2 * pi) * count;
  const auto i = static_cast<std::size_t>(s), j = static_cast<std::size_t>(t);
  const double u = s - std::floor(s), v = t - std::floor(t);
  const auto hermite = [](double x) {
    return std::array{(1 + 2 * x) * (1 - x) * (1 - x), x * x * (3 - 2 * x), x * (1 - x) * (1 - x),
                      x * x * (x - 1)};
  };
  const auto a = hermite(u), b = hermite(v);
  double sum = 0;
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t q = 0; q < 2; ++q) {
      const std::size_t k = (i + p) % n, l = (j + q) % n;
      sum += a[p] * b[q] * f[k][l] + a[2 + p] * b[q] * fx[k][l] + a[p] * b[2 + q] * fy[k][l] +
             a[2 + p] * b[2 + q] * fxy[k][l];
    }
  return sum;
}

TEST(Cmap, IsTheBicubicInterpolationWithDerivativesOfPeriodicSplines) {
  for (const int n : {4, 7, 24}) {
    const std::vector<double> map = rough_map(n);
    const System s = with_map(n, map);
    for (const auto& [phi, psi] :
         {std::pair{0.3, 1.1}, {-3.1, 3.1}, {-1.2, -2.9}, {3.141, -0.001}, {2.2, -1.3}})
      EXPECT_NEAR(energy(s, phi, psi), naive(map, static_cast<std::size_t>(n), phi, psi),
                  1e-12 * 10)
          << n << " points at " << phi << ", " << psi;
  }
}

TEST(Cmap, HasTheValuesOfTheMapAtItsNodes) {
  const std::vector<double> map = rough_map(24);
  const System s = with_map(24, map);
  for (const auto& [i, j] : {std::pair{0, 0}, {0, 12}, {12, 0}, {23, 5}, {7, 23}})
    EXPECT_NEAR(energy(s, -pi + i * pi / 12, -pi + j * pi / 12),
                map[static_cast<std::size_t>(24 * i + j)],
                1e-11);  // angles have an error of 1e-15, the map derivatives of 1e3
}

TEST(Cmap, IsSmoothAcrossGridLinesAndThroughHalfATurn) {
  const System s = with_map(8, rough_map(8));
  const EnergyPtr u = bonded_energy(s, Term::cmap);
  const Tensor table = table_of(s, Term::cmap), box = zeros({3, 3});
  const auto gradient_of = [&](const Tensor& y) {
    return grad([&](const Tensor& z) { return evaluate(u, {z, box, table}); })(y);
  };
  const double h = 1e-9, line = pi / 4;
  for (const auto& [phi, psi] :
       {std::pair{0.3, line}, {-2 * line, 1.0}, {pi, 0.4}, {0.7, -pi}, {0.0, 0.0}}) {
    const Tensor before = positions_of(chain(phi - h, psi - h)),
                 after = positions_of(chain(phi + h, psi + h));
    const Tensor v = reshape(sin(arange(15, Dtype::f64)), {5, 3});
    // Third derivatives are at most some 1e5 in these units: a step of 2e-9 changes what is
    // continuous by less than 1e-3 of a second derivative.
    const double scale = max(abs(flatten(gradient_of(before)))).item<double>();
    EXPECT_NEAR(evaluate(u, {before, box, table}).item<double>(),
                evaluate(u, {after, box, table}).item<double>(), 1e-6);
    EXPECT_LT(max(abs(flatten(gradient_of(before) - gradient_of(after)))).item<double>(),
              1e-5 * scale);
    const auto second = [&](const Tensor& y) { return jvp(gradient_of, y, v).second; };
    const double curved = max(abs(flatten(second(before)))).item<double>();
    EXPECT_LT(max(abs(flatten(second(before) - second(after)))).item<double>(), 1e-5 * curved);
  }
}

TEST(Cmap, FaultsAreNamed) {
  System s = with_map(4, rough_map(4));
  s.cmap.row = {1};
  EXPECT_THROW(validate(s), Error);
  s = with_map(4, rough_map(4));
  s.cmap.atoms[0][3] = 1;
  EXPECT_THROW(validate(s), Error);
  s = with_map(4, rough_map(4));
  s.cmap.maps.pop_back();
  EXPECT_THROW(validate(s), Error);
}

TEST(Cmap, JoinedSystemsKeepTheirMaps) {
  const System a = with_map(6, rough_map(6)), b = joined(a, a);
  validate(b);
  EXPECT_EQ(b.cmap.atoms[1], (std::array<std::int32_t, 8>{5, 6, 7, 8, 6, 7, 8, 9}));
  EXPECT_EQ(b.cmap.row[1], 1);
  System kept = without(b, {true, true, true, true, true, false, false, false, false, false});
  EXPECT_EQ(kept.cmap.size(), 1U);
  EXPECT_THROW(joined(a, with_map(4, rough_map(4))), Error);
}

// ---- out of files

constexpr int points = 4;
/// Value of the map at (phi, psi) in steps from -180 degrees [kJ/mol].
double value(int i, int j) { return 0.4184 * (10 * i + j); }
const System expected_maps = [] {
  std::vector<double> m;
  for (int i = 0; i < points; ++i)
    for (int j = 0; j < points; ++j) m.push_back(value(i, j));
  return with_map(points, m);
}();
void expect_maps(const System& s) {
  ASSERT_EQ(s.cmap.size(), 1U);
  EXPECT_EQ(s.cmap.atoms, expected_maps.cmap.atoms);
  EXPECT_EQ(s.cmap.points, points);
  ASSERT_EQ(s.cmap.maps.size(), expected_maps.cmap.maps.size());
  for (std::size_t k = 0; k < s.cmap.maps.size(); ++k)
    EXPECT_NEAR(s.cmap.maps[k], expected_maps.cmap.maps[k], 1e-12);
}

std::string topology(const std::string& types, const std::string& cmap) {
  std::string t =
      "[ defaults ]\n1 2 yes 1 1\n[ atomtypes ]\nA 12 0 A 0.3 0.1\nB 12 0 A 0.3 0.1\n[ cmaptypes "
      "]\n" +
      types + "\n[ moleculetype ]\nM 3\n[ atoms ]\n";
  for (int i = 1; i < 6; ++i) t += fmt::format("{} {} 1 M X 1\n", i, i == 1 ? "A" : "B");
  for (int i = 1; i < 5; ++i)
    t += (i == 1 ? "[ bonds ]\n" : "") + fmt::format("{} {} 1 0.1 1000\n", i, i + 1);
  return t + "[ cmap ]\n" + cmap + "\n[ system ]\nx\n[ molecules ]\nM 1\n";
}
std::string gromacs_map() {
  std::string t = "A B B B B 1 4 4";
  for (int i = 0; i < points; ++i) {
    t += "\\\n";
    for (int j = 0; j < points; ++j) t += fmt::format(" {}", value(i, j));
  }
  return t;
}
TEST(CmapFiles, Gromacs) {
  const auto read = [](const std::string& t) {
    return read_top(data::make_text_file("none/t.top", t)).system;
  };
  const std::string other = "B B B B B 1 4 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
  expect_maps(read(topology(other + gromacs_map(), "1 2 3 4 5 1")));
  const auto number = [&](const std::string& types, const std::string& cmap) {
    try {
      read(topology(types, cmap));
    } catch (const data::InputError& e) {
      return e.findings().at(0).number;
    }
    return 0;
  };
  EXPECT_EQ(number(gromacs_map(), "1 2 3 4 5 1"), 0);
  EXPECT_EQ(number(gromacs_map(), "5 4 3 2 1 1"), 723)
      << "GROMACS looks for the types in this order alone";
  EXPECT_EQ(number(gromacs_map(), "1 2 3 4 5 2"), 703);
  EXPECT_EQ(number(gromacs_map(), "1 2 3 4 9 1"), 702);
  EXPECT_EQ(number(gromacs_map(), "1 2 3 4"), 701);
  EXPECT_EQ(number(gromacs_map() + " 1", "1 2 3 4 5 1"), 701);
  EXPECT_EQ(number("A B B B B 1 4 5 1 2 3", "1 2 3 4 5 1"), 703);
  EXPECT_EQ(number("A B B B B 1 24 24 1 2 3", "1 2 3 4 5 1"), 701);
}

/// A prmtop of five bound atoms with one map; with the terms of CHARMM on request.
std::string prmtop(bool chamber) {
  std::string t = "%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/26\n";
  const auto section = [&](const std::string& flag, const char* format, const std::string& body) {
    t += "%FLAG " + flag + "\n%FORMAT(" + format + ")\n" + body + "\n";
  };
  section(chamber ? "CTITLE" : "TITLE", "20a4", "five atoms");
  section(
      "POINTERS", "10I8",
      "       5       1       0       4       0       0       0       1       0       0\n"
      "      11       1       4       0       1       1       0       1       1       0\n"
      "       0       0       0       0       0       0       0       0       5       0\n       0");
  section("ATOM_NAME", "20a4", "A   B   C   D   E   ");
  section("CHARGE", "5E16.8",
          "  0.00000000E+00  0.00000000E+00  0.00000000E+00  0.00000000E+00  0.00000000E+00");
  section("MASS", "5E16.8",
          "  1.20100000E+01  1.20100000E+01  1.20100000E+01  1.20100000E+01  1.20100000E+01");
  section("ATOM_TYPE_INDEX", "10I8", "       1       1       1       1       1");
  section("NUMBER_EXCLUDED_ATOMS", "10I8", "       4       3       2       1       1");
  section("NONBONDED_PARM_INDEX", "10I8", "       1");
  section("RESIDUE_LABEL", "20a4", "ANY ");
  section("RESIDUE_POINTER", "10I8", "       1");
  section("BOND_FORCE_CONSTANT", "5E16.8", "  3.00000000E+02");
  section("BOND_EQUIL_VALUE", "5E16.8", "  1.50000000E+00");
  section("DIHEDRAL_FORCE_CONSTANT", "5E16.8", "  1.00000000E+00");
  section("DIHEDRAL_PERIODICITY", "5E16.8", "  3.00000000E+00");
  section("DIHEDRAL_PHASE", "5E16.8", "  0.00000000E+00");
  section("LENNARD_JONES_ACOEF", "5E16.8", "  6.00000000E+05");
  section("LENNARD_JONES_BCOEF", "5E16.8", "  6.10000000E+02");
  section("BONDS_INC_HYDROGEN", "10I8", "");
  section("BONDS_WITHOUT_HYDROGEN", "10I8",
          "       0       3       1       3       6       1       6       9       1       9\n      "
          "12       1");
  section("DIHEDRALS_WITHOUT_HYDROGEN", "10I8", "       0       3       6       9       1");
  section(
      "EXCLUDED_ATOMS_LIST", "10I8",
      "       2       3       4       5       3       4       5       4       5       5\n       0");
  if (chamber) {
    section("CHARMM_UREY_BRADLEY_COUNT", "2I8", "       1       1");
    section("CHARMM_UREY_BRADLEY", "10I8", "       1       3       1");
    section("CHARMM_UREY_BRADLEY_FORCE_CONSTANT", "5E16.8", "  1.00000000E+01");
    section("CHARMM_UREY_BRADLEY_EQUIL_VALUE", "5E16.8", "  2.50000000E+00");
    section("CHARMM_NUM_IMPROPERS", "10I8", "       1");
    section("CHARMM_IMPROPERS", "10I8", "       1       2       3       5       1");
    section("CHARMM_NUM_IMPR_TYPES", "I8", "       1");
    section("CHARMM_IMPROPER_FORCE_CONSTANT", "5E16.8", "  2.00000000E+01");
    section("CHARMM_IMPROPER_PHASE", "5E16.8", "  1.50000000E-01");
    section("LENNARD_JONES_14_ACOEF", "5E16.8", "  3.00000000E+05");
    section("LENNARD_JONES_14_BCOEF", "5E16.8", "  3.00000000E+02");
  }
  const std::string prefix = chamber ? "CHARMM_" : "";
  section(prefix + "CMAP_COUNT", "2I8", "       1       1");
  section(prefix + "CMAP_RESOLUTION", "20I4", "   4");
  std::string map;
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < points; ++j) map += fmt::format("{:9.5f}", value(i, j) / 4.184);
    if (i % 2 == 1) map += "\n";
  }
  map.pop_back();
  section(prefix + "CMAP_PARAMETER_01", "8F9.5", map);
  section(prefix + "CMAP_INDEX", "6I8", "       1       2       3       4       5       1");
  return t;
}
TEST(CmapFiles, Amber) {
  const auto read = [](const std::string& t) {
    return read_amber_topology(data::make_text_file("five.prmtop", t)).system;
  };
  expect_maps(read(prmtop(false)));
  EXPECT_NEAR(read(prmtop(false)).pairs.rows.at(0)[0], 610 * 4.184e-6 / 2, 1e-15);
  const auto fault = [&](const std::string& from, const std::string& to) {
    std::string t = prmtop(true);
    t.replace(t.find(from), from.size(), to);
    try {
      read(t);
    } catch (const data::InputError& e) {
      return e.findings().at(0).number;
    }
    return 0;
  };
  EXPECT_EQ(fault("       4       5       1\n", "       4       6       1\n"), 702);
  EXPECT_EQ(fault("%FORMAT(20I4)\n   4", "%FORMAT(20I4)\n   2"), 702);
  EXPECT_EQ(fault("%FORMAT(20I4)\n   4", "%FORMAT(20I4)\n   5"), 701);
  EXPECT_EQ(fault("CMAP_COUNT\n%FORMAT(2I8)\n       1       1",
                  "CMAP_COUNT\n%FORMAT(2I8)\n       1-9999999"),
            702);
  EXPECT_EQ(fault("%FLAG CHARMM_IMPROPERS", "%FLAG OTHER"), 701);
  EXPECT_EQ(fault("%FLAG ATOM_TYPE_INDEX", "%FLAG OTHER"), 701)
      << "1-4 pairs of atoms without types";
}
TEST(CmapFiles, ChamberTopologiesHaveTheTermsOfCharmm) {
  const System s = read_amber_topology(data::make_text_file("five.prmtop", prmtop(true))).system;
  expect_maps(s);
  ASSERT_EQ(s.urey_bradley.size(), 1U);
  EXPECT_EQ(s.urey_bradley.atoms[0], (std::array<std::int32_t, 2>{0, 2}));
  EXPECT_NEAR(s.urey_bradley.rows[0][0], 0.25, 1e-15);
  EXPECT_NEAR(s.urey_bradley.rows[0][1], 2 * 10 * 418.4, 1e-9);
  ASSERT_EQ(s.harmonic_impropers.size(), 1U);
  EXPECT_EQ(s.harmonic_impropers.atoms[0], (std::array<std::int32_t, 4>{0, 1, 2, 4}));
  EXPECT_NEAR(s.harmonic_impropers.rows[0][0], 0.15, 1e-15);
  EXPECT_NEAR(s.harmonic_impropers.rows[0][1], 2 * 20 * 4.184, 1e-12);
  std::string degrees = prmtop(true);
  degrees.replace(degrees.find("  1.50000000E-01"), 16, "  1.80000000E+02");
  EXPECT_NEAR(read_amber_topology(data::make_text_file("five.prmtop", degrees))
                  .system.harmonic_impropers.rows[0][0],
              std::numbers::pi, 1e-15)
      << "degrees, as ParmEd once wrote them";
  ASSERT_EQ(s.pairs.size(), 1U);
  EXPECT_NEAR(s.pairs.rows[0][0], 300 * 4.184e-6, 1e-15) << "its own table, not divided";
  EXPECT_EQ(s.pairs.rows[0][2], 1);
}

TEST(CmapFiles, OpenmmXml) {
  std::string t = "<ForceField><AtomTypes>", residue = "<Residues><Residue name=\"ANY\">";
  const char* elements[] = {"C", "N", "O", "S", "P"};
  for (int i = 0; i < 5; ++i) {
    t += fmt::format("<Type name=\"t{0}\" class=\"c{0}\" element=\"{1}\" mass=\"12\"/>", i,
                     elements[i]);
    residue += fmt::format("<Atom name=\"X{0}\" type=\"t{0}\" charge=\"0\"/>", i);
  }
  for (int i = 0; i < 4; ++i) residue += fmt::format("<Bond from=\"{}\" to=\"{}\"/>", i, i + 1);
  t += "</AtomTypes>" + residue + "</Residue></Residues>";
  // phi runs fastest, both angles from 0: half of the circle behind -180 degrees.
  std::string map;
  for (int j = 0; j < points; ++j)
    for (int i = 0; i < points; ++i)
      map += fmt::format(" {}", value((i + points / 2) % points, (j + points / 2) % points));
  const auto element = [&](const std::string& torsion) {
    return "<CMAPTorsionForce><Map>" + map + "</Map>" + torsion + "</CMAPTorsionForce>";
  };
  const std::string
      forward =
          "<Torsion map=\"0\" class1=\"c0\" class2=\"c1\" class3=\"c2\" class4=\"c3\" "
          "class5=\"c4\"/>",
      backward =
          "<Torsion map=\"0\" type1=\"t4\" type2=\"t3\" type3=\"t2\" type4=\"t1\" type5=\"t0\"/>";
  const std::string rest =
      "<AmoebaUreyBradleyForce><UreyBradley type1=\"t2\" type2=\"t1\" type3=\"t0\" d=\"0.2\" "
      "k=\"300\"/></AmoebaUreyBradleyForce>"
      "<NonbondedForce coulomb14scale=\"1\" lj14scale=\"1\"><UseAttributeFromResidue "
      "name=\"charge\"/><Atom class=\"c0\" sigma=\"0.3\" epsilon=\"0\"/><Atom class=\"c1\" "
      "sigma=\"0.3\" epsilon=\"0\"/>"
      "<Atom class=\"c2\" sigma=\"0.3\" epsilon=\"0\"/><Atom class=\"c3\" sigma=\"0.3\" "
      "epsilon=\"0\"/><Atom class=\"c4\" sigma=\"0.3\" "
      "epsilon=\"0\"/></NonbondedForce></ForceField>";
  Structure structure;
  structure.residues = {{"ANY", "1", "", ""}};
  structure.chain = {0};
  structure.name = {"X0", "X1", "X2", "X3", "X4"};
  structure.element = {6, 7, 8, 16, 15};
  structure.residue = {0, 0, 0, 0, 0};
  structure.x_nm = chain(1, 2);
  structure.bonds = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  const auto system = [&](const std::string& text) {
    const std::vector<data::TextFile> files = {data::make_text_file("small.xml", text)};
    return apply(read_openmm_xml(files), structure).system;
  };
  const System s = system(t + element(forward) + rest);
  expect_maps(s);
  ASSERT_EQ(s.urey_bradley.size(), 1U);
  EXPECT_EQ(s.urey_bradley.rows[0], (std::array<double, 2>{0.2, 600}));
  EXPECT_EQ(system(t + element(backward) + rest).cmap.atoms[0],
            (std::array<std::int32_t, 8>{4, 3, 2, 1, 3, 2, 1, 0}))
      << "the direction of the rule";
  const auto number = [&](const std::string& text) {
    try {
      system(text);
    } catch (const data::InputError& e) {
      return e.findings().at(0).number;
    }
    return 0;
  };
  EXPECT_EQ(number(t + "<CMAPTorsionForce><Map>1 2 3</Map></CMAPTorsionForce>" + rest), 702);
  EXPECT_EQ(number(t + "<CMAPTorsionForce><Map>1 2 x</Map></CMAPTorsionForce>" + rest), 303);
  EXPECT_EQ(number(t +
                   element("<Torsion map=\"1\" type1=\"t4\" type2=\"t3\" type3=\"t2\" type4=\"t1\" "
                           "type5=\"t0\"/>") +
                   rest),
            702);
  EXPECT_EQ(number(t + "<GBSAOBCForce/>" + rest), 703);
  EXPECT_EQ(number(t + "<CustomTorsionForce energy=\"k*theta\"/>" + rest), 703);
  EXPECT_EQ(number(t + "<InitializationScript>import os</InitializationScript>" + rest), 703);
  EXPECT_EQ(number(t +
                   "<InitializationScript>\nEXPECTED_VERSION = \"charmm36\"\nif hasattr(self, "
                   "\"_charmm_ff_version\"):\n</InitializationScript>" +
                   rest),
            0);
}

}  // namespace
}  // namespace tessera::molecular
