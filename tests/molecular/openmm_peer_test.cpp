// SPDX-License-Identifier: Apache-2.0
//
// The same structure and force-field files through OpenMM itself, where the Python environment of
// the peers has it
// (`./bootstrap.sh bench`).
#include "duplex.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/minimize.h"
#include "tessera/molecular/openmm_xml.h"
#include "tessera/molecular/parameters.h"
#include "tessera/molecular/virtual_sites.h"
#include "test_paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

fs::path peers() {
  if (const char* set = std::getenv("TESSERA_PEERS"); set && *set) return set;
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  return (cache && *cache ? fs::path(cache) : fs::path(home ? home : "") / ".cache") /
         "tessera/peers/python";
}
/// OpenMM's folder of structures and force fields; empty: not there.
fs::path openmm_data() {
  if (!fs::exists(peers() / "lib")) return {};
  for (const auto& python : fs::directory_iterator(peers() / "lib"))
    if (const fs::path d = python.path() / "site-packages/openmm/app/data"; fs::exists(d)) return d;
  return {};
}
std::map<std::string, double> run(const std::string& command) {
  std::map<std::string, double> out;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return out;
  char name[100];
  for (double value = 0; std::fscanf(pipe, "%99s %lf", name, &value) == 2;) out[name] += value;
  pclose(pipe);
  return out;
}

class OpenmmPeer : public ::testing::TestWithParam<std::vector<std::string>> {};
INSTANTIATE_TEST_SUITE_P(
    ForceFields, OpenmmPeer,
    ::testing::Values(
        std::vector<std::string>{"test.pdb", "amber19/protein.ff19SB.xml",
                                 "amber14/tip3p.xml"},  // correction maps
        std::vector<std::string>{"test.pdb", "charmm36.xml",
                                 "charmm36/water.xml"},  // patches, maps, impropers of CHARMM
        std::vector<std::string>{"test.pdb", "amber14/protein.ff14SB.xml",
                                 "amber14/tip3p.xml"},  // ordering of impropers: amber
        std::vector<std::string>{"test.pdb", "amber03.xml", "tip3p.xml"},  // default
        std::vector<std::string>{"tip4pew.pdb", "amber14/tip4pew.xml"},
        std::vector<std::string>{"tip5p.pdb", "tip5p.xml"}),
    [](const auto& i) {
      std::string s = i.param[1];
      std::ranges::replace_if(
          s, [](unsigned char c) { return !std::isalnum(c); }, '_');
      return s;
    });

/// Structure and force-field files, of OpenMM's own where they are not absolute, through both
/// programs.
void compare(const std::vector<std::string>& given) {
  const fs::path own = openmm_data(), python = peers() / "bin/python";
  const fs::path forces =
      fs::temp_directory_path() / ("openmm_forces_" + std::to_string(::getpid()) + ".txt");
  std::string command = "'" + python.string() +
                        "' '" TESSERA_SOURCE_DIR "/tests/molecular/peers/openmm_energies.py' '" +
                        forces.string() + "'";
  for (const std::string& f : given) command += " " + f;
  std::map<std::string, double> theirs = run(command);
  ASSERT_FALSE(theirs.empty());

  std::vector<data::TextFile> files;
  for (std::size_t k = 1; k < given.size(); ++k)
    files.push_back(data::read_text_file(own / given[k]));
  const Structure structure = read_structure(own / given[0]).structure;
  const System s = apply(read_openmm_xml(files), structure, {.rigid_water = false}).system;
  Nonbonded o;
  o.coulomb = Nonbonded::Coulomb::reaction_field;
  o.coulomb_modifier = o.lj_modifier = Nonbonded::Modifier::none;
  o.cutoff_coulomb_nm = o.cutoff_lj_nm = 0.9;
  o.epsilon_rf = 78.3;
  o.reaction_field_of_excluded = false;
  Forces f;
  ForceEvaluator(s, o, {.precision = Precision::f64})(structure.x_nm, structure.box, f);
  const auto sum = [&](std::initializer_list<Term> terms) {
    double e = 0;
    for (const Term t : terms) e += f.energy[static_cast<std::size_t>(t)];
    return e;
  };
  EXPECT_NEAR(sum({Term::bonds, Term::urey_bradley}), theirs["HarmonicBondForce"], 1e-5);
  EXPECT_NEAR(sum({Term::angles}), theirs["HarmonicAngleForce"], 1e-5);
  EXPECT_NEAR(sum({Term::dihedrals, Term::impropers}), theirs["PeriodicTorsionForce"], 1e-5);
  EXPECT_NEAR(sum({Term::ryckaert_bellemans}), theirs["RBTorsionForce"], 1e-5);
  EXPECT_NEAR(sum({Term::harmonic_impropers}), theirs["CustomTorsionForce"], 1e-5);
  const double maps = s.cmap.size() == 0
                          ? 0
                          : evaluate(bonded_energy(s, Term::cmap),
                                     {positions_of(structure.x_nm), edges_of(structure.box),
                                      table_of(s, Term::cmap)})
                                .item<double>();
  EXPECT_NEAR(maps, theirs["CMAPTorsionForce"], 1e-10 * std::abs(maps));
  EXPECT_NEAR(sum({Term::cmap}), maps, 1e-6);  // rounded to 2^-32 a term
  std::array<Vec3, 3> virial{};
  spread_virtual_forces(s, structure.x_nm, structure.box, f.f, virial);
  std::ifstream in(forces);
  double worst = 0;
  std::size_t n = 0;
  for (Vec3 g; in >> g[0] >> g[1] >> g[2]; ++n) {
    ASSERT_LT(n, f.f.size());
    // What OpenMM reports at sites is given to their parents as well.
    for (std::size_t c = 0; c < 3 && s.atoms.mass_amu[n] > 0; ++c)
      worst = std::max(worst, std::abs(f.f[n][c] - g[c]));
  }
  fs::remove(forces);
  EXPECT_EQ(n, s.n_atoms());
  // Positions are read as Angstrom and scaled by either program; the steepest pairs make 1e-8 of
  // that.
  EXPECT_LT(worst, 1e-6);
}

TEST_P(OpenmmPeer, EnergiesByTermAndForces) {
  if (openmm_data().empty() || !fs::exists(peers() / "bin/python"))
    GTEST_SKIP() << "no OpenMM in " << peers();
  compare(GetParam());
}

/// A double helix from its heavy atoms: hydrogens by the templates, a way down, then a file for
/// both programs.
TEST(OpenmmPeerNucleic, DoubleHelices) {
  if (openmm_data().empty() || !fs::exists(peers() / "bin/python"))
    GTEST_SKIP() << "no OpenMM in " << peers();
  for (const bool rna : {false, true}) {
    const std::string name = rna ? "amber14/RNA.OL3.xml" : "amber14/DNA.OL15.xml";
    const std::vector<data::TextFile> files = {data::read_text_file(openmm_data() / name)};
    const ForceField field = read_openmm_xml(files);
    Structure s = testing::duplex(rna ? "CGAU" : "CGAT", rna);
    add_standard_bonds(s);
    s = with_hydrogens(field, s);
    const ParametrizedSystem made = apply(field, s);
    EXPECT_TRUE(made.remarks.empty());
    EXPECT_NEAR(net_charge_e(made.system), -6, 1e-9);
    const Nonbonded vacuum = {.coulomb = Nonbonded::Coulomb::cutoff,
                              .coulomb_modifier = Nonbonded::Modifier::none,
                              .lj_modifier = Nonbonded::Modifier::none,
                              .cutoff_coulomb_nm = 100,
                              .cutoff_lj_nm = 100};
    const Minimizer down(made.system,
                         ForceEvaluator(made.system, vacuum, {.precision = Precision::f64}), {});
    Frame start;
    start.x_nm = s.x_nm;
    Descent d = down.begin(start);
    EXPECT_LT(d.largest_force, 1e6) << "hydrogens have room";
    down.step(d, 300);
    EXPECT_LT(d.largest_force, 1000);
    s.x_nm = d.frame.x_nm;
    const fs::path file =
        fs::temp_directory_path() / ("duplex_" + std::to_string(::getpid()) + ".pdb");
    std::ofstream(file) << pdb_text(s);
    compare({file.string(), name});
    fs::remove(file);
  }
}

/// Ends of chains are patches in CHARMM's files: a protein without hydrogens gets as many as it
/// had.
TEST(OpenmmFiles, HydrogensOfEndsThatArePatches) {
  const fs::path own = openmm_data();
  if (own.empty()) GTEST_SKIP() << "no OpenMM in " << peers();
  const std::vector<data::TextFile> files = {data::read_text_file(own / "charmm36.xml"),
                                             data::read_text_file(own / "charmm36/water.xml")};
  const ForceField field = read_openmm_xml(files);
  const Structure whole = read_structure(own / "test.pdb").structure;
  Structure bare = whole;
  bare.name.clear(), bare.element.clear(), bare.residue.clear(), bare.x_nm.clear(),
      bare.bonds.clear();
  std::size_t atoms = 0;
  for (std::size_t i = 0; i < whole.n_atoms(); ++i) {
    const bool protein =
        is_amino_acid(whole.residues[static_cast<std::size_t>(whole.residue[i])].name);
    atoms += protein;
    if (!protein || whole.element[i] == 1) continue;
    bare.name.push_back(whole.name[i]), bare.element.push_back(whole.element[i]),
        bare.residue.push_back(whole.residue[i]), bare.x_nm.push_back(whole.x_nm[i]);
  }
  add_standard_bonds(bare);
  const Structure built = with_hydrogens(field, bare);
  EXPECT_EQ(built.n_atoms(), atoms);
  const System made = apply(field, built).system;
  EXPECT_NEAR(net_charge_e(made), std::round(net_charge_e(made)), 1e-9);
  EXPECT_EQ(made.atoms.type[0], "NH3") << "a charged end";
}

/// Every file of OpenMM's AMBER and CHARMM force fields is read, or refused by the name of an
/// element and its line.
TEST(OpenmmFiles, AreReadOrRefusedByName) {
  const fs::path own = openmm_data();
  if (own.empty()) GTEST_SKIP() << "no OpenMM in " << peers();
  std::vector<fs::path> files;
  for (const char* folder : {"amber14", "amber19", "charmm36", "charmm36_2024"})
    for (const auto& f : fs::directory_iterator(own / folder))
      if (f.path().extension() == ".xml") files.push_back(f.path());
  for (const char* name : {"amber14-all.xml", "amber19-all.xml", "charmm36.xml",
                           "charmm36_2024.xml", "amber99_obc.xml"})
    files.push_back(own / name);
  std::ranges::sort(files);
  const std::map<std::string, const char*> refused = {
      {"amber14/GLYCAM_06j-1.xml", "Script"}, {"amber19/lipid21.xml", "Script"},
      {"charmm36_2024.xml", "Script"},        {"amber14-all.xml", "includes"},
      {"amber19-all.xml", "includes"},        {"amber99_obc.xml", "GBSAOBCForce"}};
  for (const fs::path& f : files) {
    const std::string name = fs::relative(f, own).string();
    std::vector<data::TextFile> texts = {data::read_text_file(f)};
    if (name.starts_with("amber14/GLYCAM"))
      texts.push_back(
          data::read_text_file(own / "amber14/protein.ff14SB.xml"));  // whose types it uses
    std::string outcome = "read";
    try {
      const ForceField field = read_openmm_xml(texts);
      EXPECT_GT(field.templates.size(), 0U);
      EXPECT_EQ(refused.count(name), 0U) << name;
    } catch (const data::InputError& e) {
      const data::Diagnostic& d = e.findings().at(0);
      outcome = to_string(d).substr(0, to_string(d).find('\n'));
      ASSERT_EQ(refused.count(name), 1U) << name << ": " << e.what();
      EXPECT_EQ(d.number, 703);
      EXPECT_GT(d.place.line, 0U);
      EXPECT_NE(d.message.find(refused.at(name)), std::string::npos) << d.message;
    }
    if (std::getenv("TESSERA_SHOW")) std::printf("%-32s %s\n", name.c_str(), outcome.c_str());
  }
}

}  // namespace
}  // namespace tessera::molecular
