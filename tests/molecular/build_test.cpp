// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/build.h"

#include "tessera/molecular/constraints.h"
#include "tessera/molecular/elements.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/virtual_sites.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <tuple>

namespace tessera::molecular {
namespace {

double distance(const Box& box, const Vec3& a, const Vec3& b) {
  const Vec3 d = shortest(box, {a[0] - b[0], a[1] - b[1], a[2] - b[2]});
  return std::hypot(d[0], d[1], d[2]);
}
/// Least distance between atoms with mass of different molecules, one by one.
double closest(const BuiltSystem& b) {
  const std::vector<std::int32_t> molecule = molecules(b.system);
  double least = 1e9;
  for (std::size_t i = 0; i < b.system.n_atoms(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (molecule[i] != molecule[j] && b.system.atoms.mass_amu[i] > 0 &&
          b.system.atoms.mass_amu[j] > 0)
        least = std::min(least, distance(b.frame.box, b.frame.x_nm[i], b.frame.x_nm[j]));
  return least;
}

TEST(LatticeFluid, MeltOfLammps) {
  // bench/in.lj of LAMMPS: fcc of density 0.8442 (sigma = epsilon = 1), cut off at 2.5. The energy
  // of an atom on the perfect lattice does not depend on the number of cells.
  LatticeFluid o;
  o.cells = {20, 20, 20};
  o.density_per_nm3 = 0.8442;
  o.sigma_nm = o.epsilon = o.mass_amu = 1;
  EXPECT_EQ(lattice_fluid(o).system.n_atoms(), 32000U);
  EXPECT_NEAR(lattice_fluid(o).frame.box.edge[0][0], 33.59192382765015, 1e-12);
  o.cells = {5, 5, 5};
  const BuiltSystem b = lattice_fluid(o);
  Nonbonded n;
  n.coulomb = Nonbonded::Coulomb::none;
  n.lj_modifier = Nonbonded::Modifier::none;
  n.cutoff_lj_nm = n.cutoff_coulomb_nm = 2.5;
  Forces f;
  ForceEvaluator(b.system, n)(b.frame.x_nm, b.frame.box, f);
  EXPECT_NEAR(f.potential() / 500, -6.773368053252956, 1e-8);
}

TEST(LatticeFluid, NearestNeighbours) {
  using Lattice = LatticeFluid::Lattice;
  // Number of nearest neighbours and their distance in edges of the cell.
  const std::vector<std::tuple<Lattice, std::size_t, int, double>> rows = {
      {Lattice::sc, 1, 6, 1.0},
      {Lattice::bcc, 2, 8, std::sqrt(0.75)},
      {Lattice::fcc, 4, 12, std::sqrt(0.5)},
      {Lattice::diamond, 8, 4, std::sqrt(3.0) / 4}};
  for (const auto& [lattice, atoms, neighbours, length] : rows) {
    LatticeFluid o;
    o.lattice = lattice;
    o.cells = {3, 4, 3};
    const BuiltSystem b = lattice_fluid(o);
    ASSERT_EQ(b.system.n_atoms(), 36 * atoms);
    EXPECT_NEAR(static_cast<double>(b.system.n_atoms()) / volume_nm3(b.frame.box),
                o.density_per_nm3, 1e-10);
    const double edge = b.frame.box.edge[0][0] / 3;
    int near = 0;
    for (std::size_t j = 1; j < b.system.n_atoms(); ++j)
      near +=
          std::abs(distance(b.frame.box, b.frame.x_nm[0], b.frame.x_nm[j]) - length * edge) < 1e-9;
    EXPECT_EQ(near, neighbours);
    validate(b.system);
  }
}

TEST(WaterModels, PublishedParameters) {
  // Dipole moments in Debye as published with the models (e nm = 48.0320 D).
  const auto dipole = [](const WaterModel& m) {
    const double bisector = m.oh_nm * std::cos(m.hoh_deg * std::acos(-1.0) / 360);
    return 2 * m.charge_h_e * (bisector - m.om_nm) * 48.03205;
  };
  const std::map<std::string, std::array<double, 2>> expected = {
      // dipole, sigma in nm
      {"spc", {2.27, 0.3166}},    {"spce", {2.35, 0.3166}},     {"tip3p", {2.35, 0.31506}},
      {"tip4p", {2.18, 0.31536}}, {"tip4pew", {2.32, 0.31644}}, {"tip4p2005", {2.305, 0.31589}},
      {"opc", {2.48, 0.31666}},   {"opc3", {2.43, 0.31743}}};
  EXPECT_EQ(water_model_names().size(), expected.size());
  for (const auto& [name, row] : expected) {
    EXPECT_NEAR(dipole(water_model(name)), row[0], 0.006) << name;
    EXPECT_NEAR(water_model(name).sigma_nm, row[1], 6e-6 + (name.starts_with("spc") ? 1e-4 : 0))
        << name;
  }
  EXPECT_NEAR(water_model("spce").epsilon, 78.19743111 * gas_constant,
              1e-6);  // NIST's reference values, whose sigma is rounded
  EXPECT_NEAR(water_model("tip3p").epsilon, 0.1521 * 4.184, 2e-4);
  EXPECT_NEAR(water_model("tip4p").epsilon, 0.1550 * 4.184, 2e-4);
  EXPECT_THROW(water_model("tip9p"), Error);
}

TEST(WaterBox, DensityGeometryAndRoom) {
  for (const char* model : {"spce", "tip4pew"}) {
    const BuiltSystem b = water_box({.model = model, .molecules = 216, .seed = 7});
    validate(b.system);
    const WaterModel& m = water_model(model);
    ASSERT_EQ(b.system.n_atoms(), 216U * static_cast<std::size_t>(m.sites()));
    double mass = 0;
    for (const double v : b.system.atoms.mass_amu) mass += v;
    EXPECT_NEAR(mass * 1.66053907e-3 / volume_nm3(b.frame.box), 0.997, 0.0005) << "g/cm^3";
    EXPECT_NEAR(net_charge_e(b.system), 0, 1e-12);
    EXPECT_LT(Constraints(b.system).largest_error(b.frame.x_nm, b.frame.box), 1e-12);
    EXPECT_GT(closest(b), 0.13);
    std::vector<Vec3> x = b.frame.x_nm;
    place_virtual_sites(b.system, x, b.frame.box);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(distance(b.frame.box, x[i], b.frame.x_nm[i]), 0, 1e-12);
    EXPECT_EQ(water_box({.model = model, .molecules = 216, .seed = 7}).frame.x_nm, b.frame.x_nm);
    EXPECT_NE(water_box({.model = model, .molecules = 216, .seed = 8}).frame.x_nm, b.frame.x_nm);
  }
}

TEST(WaterBox, AnyNumberAndAnyShape) {
  const BuiltSystem odd = water_box({.model = "tip3p", .molecules = 100});
  EXPECT_EQ(odd.system.residues.size(), 100U);
  EXPECT_GT(closest(odd), 0.12);
  const Box slanted = box_of_angles({2.2, 2.0, 2.4}, {60, 60, 90});
  const BuiltSystem filled = water_box({.model = "tip3p", .box = slanted});
  EXPECT_NEAR(static_cast<double>(filled.system.residues.size()),
              volume_nm3(slanted) * water_per_nm3, 0.51);
  EXPECT_GT(closest(filled), 0.1);
  EXPECT_THROW(water_box({}), Error);
}

/// 2^31 - 1 atoms have numbers; what would have more, or no molecule at all, is told before
/// anything is built.
TEST(Built, MoreThanThereAreNumbersForIsRefused) {
  EXPECT_THROW(water_box({.molecules = 1'000'000'000'000}), BuildError);
  EXPECT_THROW(water_box({.box = rectangular_box({1e9, 1e9, 1e9})}), BuildError);
  EXPECT_THROW(water_box({.box = rectangular_box({0.2, 0.2, 0.2})}), BuildError)
      << "0.27 molecules";
  EXPECT_THROW(lattice_fluid({.cells = {1000, 1000, 1000}}), BuildError) << "4e9 atoms";
}

/// A charged rod of three heavy atoms and a hydrogen.
BuiltSystem rod() {
  BuiltSystem b;
  System& s = b.system;
  s.residues = {{"ROD", "1", "", ""}};
  s.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.34}, {0.4});
  for (int k = 0; k < 4; ++k) {
    s.atoms.name.push_back("C" + std::to_string(k));
    s.atoms.type.push_back("C");
    s.atoms.element.push_back(k == 3 ? 1 : 6);
    s.atoms.mass_amu.push_back(k == 3 ? 1 : 12);
    s.atoms.charge_e.push_back(0.5);
    s.atoms.lj_type.push_back(0);
    s.atoms.residue.push_back(0);
    b.frame.x_nm.push_back({5 + 0.15 * k, 5, 5});
  }
  s.connectivity = {{0, 1}, {1, 2}, {2, 3}};
  s.bonds.rows = {{0.15, 1000}};
  s.bonds.atoms = {{0, 1}, {1, 2}, {2, 3}};
  s.bonds.row = {0, 0, 0};
  s.exclusions = within_bonds(s, 3);
  return b;
}

TEST(Solvated, WaterAroundAndNotWithin) {
  const BuiltSystem solute = rod(), b = solvated(solute.system, solute.frame,
                                                 {.model = "tip3p", .padding_nm = 0.9});
  validate(b.system);
  EXPECT_NEAR(b.frame.box.edge[0][0], 0.45 + 1.8, 1e-12);
  EXPECT_NEAR(b.frame.x_nm[0][1], 0.9, 1e-12);
  const std::size_t waters = b.system.rigid_waters.size();
  EXPECT_EQ(b.system.n_atoms(), 4 + 3 * waters);
  // The rod takes the place of a few molecules.
  EXPECT_LT(static_cast<double>(waters), volume_nm3(b.frame.box) * water_per_nm3);
  EXPECT_GT(static_cast<double>(waters), volume_nm3(b.frame.box) * water_per_nm3 - 20);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 4; j < b.system.n_atoms(); ++j)
      EXPECT_GE(distance(b.frame.box, b.frame.x_nm[i], b.frame.x_nm[j]),
                b.system.atoms.element[i] == 1 || b.system.atoms.element[j] == 1 ? 0.18 : 0.26);
}

/// A rod of 0.45 nm stays 0.18 nm away from its own image in 0.63 nm, or the box is refused;
/// through faces that the rod's box had it may go on.
TEST(Solvated, ABoxThatDoesNotHoldAMoleculeIsRefused) {
  BuiltSystem solute = rod();
  const auto in = [&](const Vec3& edges) {
    return solvated(solute.system, solute.frame, {.model = "tip3p", .box = rectangular_box(edges)});
  };
  EXPECT_THROW(in({0.62, 2, 2}), BuildError);
  EXPECT_GT(in({0.64, 2, 2}).system.rigid_waters.size(), 0U);
  EXPECT_THROW(in({1e9, 1e9, 1e9}), BuildError) << "no box of this size is filled";
  solute.frame.box = rectangular_box({0.62, 2, 2});
  for (const double as_written : {0.62, 0.6204})
    EXPECT_GT(in({as_written, 2, 3}).system.rigid_waters.size(), 0U);
}

/// The box of the solute is left behind, and with it the faces that a molecule lies across.
TEST(Solvated, MoleculesAcrossAFaceAreWhole) {
  BuiltSystem solute = rod();
  const Solvation options{.model = "tip3p", .padding_nm = 0.5};
  const BuiltSystem b = solvated(solute.system, solute.frame, options);
  solute.frame.box = rectangular_box({5.2, 6, 6});
  const BuiltSystem same = solvated(solute.system, solute.frame, options);
  for (const std::size_t i : {2U, 3U}) solute.frame.x_nm[i][0] -= 5.2;
  const BuiltSystem cut = solvated(solute.system, solute.frame, options);
  EXPECT_NEAR(cut.frame.box.edge[0][0], 0.45 + 1.0, 1e-12);
  ASSERT_EQ(cut.system.n_atoms(), b.system.n_atoms());
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_EQ(same.frame.x_nm[i][a], b.frame.x_nm[i][a]);
      EXPECT_NEAR(cut.frame.x_nm[i][a], b.frame.x_nm[i][a], 1e-12);
    }
}

/// Two rods side by side, one of them wrapped to the other face: where their box is left behind
/// they come together, and what holds an atom with it; where they touch as they lie they stay, even
/// with a nearer image. Water is put to both.
TEST(Solvated, ComplexesAcrossAFaceAreWhole) {
  const BuiltSystem one = rod();
  const auto two = [&](double apart, double wrapped, const Box& box) {
    BuiltSystem b;
    b.system = joined(one.system, one.system);
    b.frame = one.frame;
    b.frame.box = box;
    for (Vec3 x : one.frame.x_nm) {
      x[1] += apart - wrapped;
      b.frame.x_nm.push_back(x);
    }
    PositionRestraints& r = b.system.position_restraints;
    r.atoms = {{5}};
    r.row = {0};
    r.rows = {{1000, 1000, 1000, b.frame.x_nm[5][0], b.frame.x_nm[5][1], b.frame.x_nm[5][2]}};
    return solvated(b.system, b.frame, {.model = "tip3p", .padding_nm = 0.5});
  };
  const Box wide = rectangular_box({6, 6, 6});
  for (const auto& [apart, wrapped, box, edge] : {std::tuple{0.4, 0.0, wide, 1.4},
                                                  {0.4, 6.0, wide, 1.4},
                                                  {0.9, 6.0, wide, 1.9},
                                                  {0.4, 0.0, rectangular_box({6, 0.7, 6}), 1.4},
                                                  {0.9, 0.0, rectangular_box({6, 1.2, 6}), 1.3}}) {
    const BuiltSystem b = two(apart, wrapped, box);
    EXPECT_NEAR(b.frame.box.edge[1][1], edge, 1e-12) << apart << " " << wrapped;
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR(b.system.position_restraints.rows[0][3 + a], b.frame.x_nm[5][a], 1e-12);
  }
}

/// The solute moves into the middle of the box, and what holds its atoms moves with it.
TEST(Solvated, PositionsOfRestraintsMoveWithTheSolute) {
  BuiltSystem solute = rod();
  for (const std::int32_t i : {0, 3}) {
    const Vec3& x = solute.frame.x_nm[static_cast<std::size_t>(i)];
    PositionRestraints& r = solute.system.position_restraints;
    r.atoms.push_back({i});
    r.row.push_back(static_cast<std::int32_t>(r.rows.size()));
    r.rows.push_back({1000, 1000, 1000, x[0], x[1], x[2] + 0.25});
  }
  const BuiltSystem b =
      solvated(solute.system, solute.frame, {.model = "tip3p", .padding_nm = 0.9});
  const PositionRestraints& r = b.system.position_restraints;
  ASSERT_EQ(r.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR(r.rows[static_cast<std::size_t>(r.row[k])][3 + a],
                  b.frame.x_nm[static_cast<std::size_t>(r.atoms[k][0])][a] + (a == 2 ? 0.25 : 0),
                  1e-14);
}

TEST(Solvated, WaterAndIonsKeepTheTime) {
  BuiltSystem solute = rod();
  solute.frame.time_ps = 500;
  const BuiltSystem wet =
      solvated(solute.system, solute.frame, {.model = "tip3p", .padding_nm = 1.2});
  EXPECT_EQ(wet.frame.time_ps, 500);
  const Ions ions{.cation = ion("NA", "tip3p"), .anion = ion("CL", "tip3p")};
  EXPECT_EQ(with_ions(wet, ions).frame.time_ps, 500);
}

TEST(Ions, NeutralAndOfTheConcentrationAskedFor) {
  const BuiltSystem solute = rod(), wet = solvated(solute.system, solute.frame,
                                                   {.model = "tip3p", .padding_nm = 1.2});
  const Ions o{.cation = ion("NA", "tip3p"),
               .anion = ion("CL", "tip3p"),
               .concentration_mol_per_l = 0.2,
               .seed = 3};
  const BuiltSystem b = with_ions(wet, o);
  validate(b.system);
  EXPECT_NEAR(net_charge_e(b.system), 0, 1e-12);
  std::map<std::string, int> count;
  for (const Residue& r : b.system.residues) ++count[r.name];
  const int pairs = static_cast<int>(std::lround(0.2 * 0.602214076 * volume_nm3(wet.frame.box)));
  EXPECT_EQ(count["NA"], pairs);
  EXPECT_EQ(count["CL"], pairs + 2) << "the rod has two charges";
  EXPECT_EQ(count["HOH"] + count["NA"] + count["CL"],
            static_cast<int>(wet.system.rigid_waters.size()));
  const std::size_t first = b.system.n_atoms() - static_cast<std::size_t>(2 * pairs + 2);
  for (std::size_t i = first; i < b.system.n_atoms(); ++i) {
    EXPECT_NE(b.system.atoms.element[i], 8);
    for (std::size_t j = first; j < i; ++j)
      EXPECT_GT(distance(b.frame.box, b.frame.x_nm[i], b.frame.x_nm[j]), 0.5);
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_GT(distance(b.frame.box, b.frame.x_nm[i], b.frame.x_nm[j]), 0.5);
  }
  EXPECT_EQ(with_ions(wet, o).frame.x_nm, b.frame.x_nm);
  EXPECT_THROW(
      with_ions(wet, {.cation = o.cation, .anion = o.anion, .concentration_mol_per_l = 30}), Error);
  EXPECT_THROW(ion("NA", "tip4p2005"), Error);
}

/// Charges of a solute have three or four digits: what they miss a whole number by stays.
TEST(Ions, NetChargesThatAreWholeButForTheirDigits) {
  const BuiltSystem solute = rod();
  BuiltSystem wet = solvated(solute.system, solute.frame, {.model = "tip3p", .padding_nm = 1.2});
  const double net = net_charge_e(wet.system);
  const auto left = [&](double more) {
    BuiltSystem of = wet;
    of.system.atoms.charge_e[0] += more;
    const BuiltSystem b =
        with_ions(of, {.cation = ion("NA", "tip3p"), .anion = ion("CL", "tip3p")});
    return net_charge_e(b.system);
  };
  for (const double more : {0.0, 0.002, -0.03, 0.049, -net + 0.002, -2 * net - 0.02})
    EXPECT_NEAR(left(more), net + more - std::round(net + more), 1e-12) << more;
  EXPECT_THROW(left(0.06), Error);
  EXPECT_THROW(left(-0.4), Error);
}

/// Every water has its ions, or is refused.
TEST(Ions, ThereAreSomeForTheWatersThatTheManualNames) {
  const std::set<std::string> with = {"tip3p", "spce", "tip4pew", "opc", "opc3"};
  for (const std::string& water : water_model_names())
    for (const char* name : {"NA", "K", "CL"})
      if (with.contains(water))
        EXPECT_EQ(ion(name, water).name, name);
      else
        EXPECT_THROW(ion(name, water), Error);
}

/// Charges of ions need not be whole: a salt is as many of both as are neutral together.
TEST(Ions, ChargesThatAreNotWhole) {
  const BuiltSystem wet = water_box({.model = "spce", .molecules = 800});
  const auto counts = [&](double cation, double anion, double concentration) {
    Ions o{.cation = ion("NA", "spce"),
           .anion = ion("CL", "spce"),
           .concentration_mol_per_l = concentration,
           .distance_nm = 0.3};
    o.cation.charge_e = cation;
    o.anion.charge_e = anion;
    std::array<int, 2> count{};
    for (const Residue& r : with_ions(wet, o).system.residues) {
      count[0] += r.name == "NA";
      count[1] += r.name == "CL";
    }
    return count;
  };
  const int units = static_cast<int>(std::lround(0.5 * 0.602214076 * volume_nm3(wet.frame.box)));
  ASSERT_GE(units, 5);
  using Counts = std::array<int, 2>;
  EXPECT_EQ(counts(0.75, -0.75, 0.5), (Counts{units, units}));
  EXPECT_EQ(counts(0.4, -0.4, 0.5), (Counts{units, units}));
  EXPECT_EQ(counts(1.5, -0.75, 0.5), (Counts{units, 2 * units}));
  EXPECT_EQ(counts(3, -2, 0.5), (Counts{2 * units, 3 * units}));
  EXPECT_EQ(counts(0.4, -0.4, 0), (Counts{0, 0}));
  EXPECT_THROW(counts(1, -std::numbers::pi, 0.5), Error);
  EXPECT_THROW(counts(1, -1, -0.5), Error);
}

TEST(Ions, OfEachWater) {
  // sigma [nm] and epsilon [kJ/mol] as OpenMM's amber14 files have them, converted from AMBER's
  // frcmod files.
  struct Row {
    const char *water, *name;
    double sigma, epsilon;
  };
  constexpr Row rows[] = {{"spce", "NA", 0.21595384927721822, 1.4754532912},
                          {"spce", "K", 0.2838403315995121, 1.7978873936},
                          {"spce", "CL", 0.48304528497569194, 0.05349244},
                          {"tip4pew", "NA", 0.21844836568801118, 0.7047425},
                          {"tip4pew", "K", 0.2833057923686279, 1.1692819784},
                          {"tip4pew", "CL", 0.49177609241346726, 0.048791716},
                          {"opc", "NA", 0.2613896839023756, 0.12386075112},
                          {"opc", "K", 0.3032619236549715, 0.58382766144},
                          {"opc", "CL", 0.4205041949622401, 2.8400519208},
                          {"opc3", "NA", 0.2617460433896317, 0.1260287744},
                          {"opc3", "K", 0.3034401033985996, 0.58667223752},
                          {"opc3", "CL", 0.4108824888063245, 2.68724395648}};
  for (const Row& r : rows) {
    const Ion i = ion(r.name, r.water);
    EXPECT_NEAR(i.sigma_nm, r.sigma, 1e-9) << r.water << " " << r.name;
    EXPECT_NEAR(i.epsilon, r.epsilon, 1e-7) << r.water << " " << r.name;
    EXPECT_EQ(i.charge_e, r.name[0] == 'C' ? -1 : 1);
  }
}

TEST(Joined, EnergyOfTwoSystemsFarApartIsTheSum) {
  const BuiltSystem solute = rod(), water = water_box({.model = "spce", .molecules = 3});
  const System s = joined(solute.system, water.system);
  validate(s);
  Nonbonded n;
  n.coulomb = Nonbonded::Coulomb::cutoff;
  n.coulomb_modifier = n.lj_modifier = Nonbonded::Modifier::none;
  n.cutoff_lj_nm = n.cutoff_coulomb_nm = 3;
  const auto energy = [&](const System& system, const std::vector<Vec3>& x) {
    Forces f;
    ForceEvaluator(system, n)(x, Box{}, f);
    return f.potential();
  };
  std::vector<Vec3> x = solute.frame.x_nm;
  x.insert(x.end(), water.frame.x_nm.begin(), water.frame.x_nm.end());
  EXPECT_NEAR(energy(s, x),
              energy(solute.system, solute.frame.x_nm) + energy(water.system, water.frame.x_nm),
              1e-8);
  // Between the two: Lorentz and Berthelot.
  const std::size_t k =
      static_cast<std::size_t>(s.atoms.lj_type[0]) * static_cast<std::size_t>(s.lj.types) +
      static_cast<std::size_t>(s.atoms.lj_type[4]);
  const WaterModel& m = water_model("spce");
  EXPECT_NEAR(s.lj.c6[k], 4 * std::sqrt(0.4 * m.epsilon) * std::pow((0.34 + m.sigma_nm) / 2, 6),
              1e-12);
}

TEST(Without, WholeMoleculesGo) {
  const BuiltSystem water = water_box({.model = "tip4p", .molecules = 5});
  std::vector<bool> leave(20, false);
  leave[9] = true;  // a hydrogen of the third
  System four = water_system(water_model("tip4p"), 4), s = without(water.system, leave);
  validate(s);
  four.residues = s.residues;
  EXPECT_EQ(s, four);
}

}  // namespace
}  // namespace tessera::molecular
