// SPDX-License-Identifier: Apache-2.0
//
// Topologies beside GROMACS itself: gmx_d (double precision) makes a system from its own force
// fields, and gives the energies of its positions, term by term; ours come from the same files.
// Skipped where there is no gmx_d.
#include "temp_folder.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/gromacs.h"
#include "tessera/molecular/virtual_sites.h"
#include "test_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

/// Where GROMACS keeps its force fields, as it says itself; empty where there is no gmx_d.
const fs::path& force_fields() {
  static const fs::path folder = [] {
    fs::path found;
    std::FILE* pipe = ::popen("gmx_d --version 2>&1", "r");
    std::array<char, 1024> line;
    while (std::fgets(line.data(), line.size(), pipe)) {
      const std::string text = line.data(), mark = "Data prefix:";
      if (!text.starts_with(mark)) continue;
      const std::size_t from = text.find_first_not_of(' ', mark.size());
      found = fs::path(text.substr(from, text.find_last_not_of(" \n") + 1 - from)) /
              "share/gromacs/top";
    }
    ::pclose(pipe);
    return fs::exists(found / "oplsaa.ff") ? found : fs::path();
  }();
  return folder;
}
bool has_gmx() { return !force_fields().empty(); }

/// A folder of its own that goes with the test.
class Folder : public tessera::testing::TempFolder {
 public:
  /// Standard output of a command here; the last lines of its complaints in a failure.
  std::string run(const std::string& command) const {
    const std::string line =
        "cd " + path().string() + " && export GMX_MAXBACKUP=-1 && " + command + " 2>err.txt";
    std::FILE* pipe = ::popen(line.c_str(), "r");
    std::string out;
    std::array<char, 4096> part;
    while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
      out.append(part.data(), n);
    if (::pclose(pipe) != 0) {
      std::stringstream err;
      err << std::ifstream(*this / "err.txt").rdbuf();
      throw std::runtime_error(
          command + "\n" + err.str().substr(err.str().size() > 1500 ? err.str().size() - 1500 : 0));
    }
    return out;
  }
};

/// Alanine between an acetyl and an N-methyl group; pdb2gmx finds the hydrogens.
constexpr const char* alanine_dipeptide =
    "ATOM      1  CH3 ACE A   1       2.000   2.090   0.100\n"
    "ATOM      2  C   ACE A   1       3.427   2.641  -0.000\n"
    "ATOM      3  O   ACE A   1       4.391   1.877  -0.200\n"
    "ATOM      4  N   ALA A   2       3.555   3.970  -0.000\n"
    "ATOM      5  CA  ALA A   2       4.853   4.614  -0.100\n"
    "ATOM      6  CB  ALA A   2       5.661   4.221  -1.232\n"
    "ATOM      7  C   ALA A   2       4.713   6.129   0.300\n"
    "ATOM      8  O   ALA A   2       3.601   6.653   0.500\n"
    "ATOM      9  N   NME A   3       5.846   6.835   0.000\n"
    "ATOM     10  CH3 NME A   3       5.846   8.284   0.200\n";

/// Protein 6MRR without its water and hydrogens; empty where the test data are not there.
std::string protein() {
  const fs::path file = tessera::testing::test_data() / "md/p6mrr/6mrr_equil.pdb.gz";
  if (!fs::exists(file)) return {};
  std::istringstream in(data::read_text_file(file).text);
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("ATOM") && line.substr(17, 3) != "HOH") out += line + "\n";
  return out;
}

struct Setting {
  std::string mdp;
  Nonbonded nonbonded;
  Rigid constraints = Rigid::none;
};
constexpr const char* start =
    "integrator = md\nnsteps = 0\nnstcalcenergy = 1\nnstenergy = 1\ncontinuation = "
    "yes\ncutoff-scheme = Verlet\nverlet-buffer-tolerance = -1\n"
    "rcoulomb = 0.7\nrvdw = 0.7\nrlist = 0.7\n";
Setting reaction_field() {
  Setting s{std::string(start) +
                "coulombtype = reaction-field\nepsilon-rf = 78\nvdw-modifier = none\nDispCorr = "
                "EnerPres\n",
            {}};
  s.nonbonded = {.coulomb = Nonbonded::Coulomb::reaction_field,
                 .coulomb_modifier = Nonbonded::Modifier::none,
                 .lj_modifier = Nonbonded::Modifier::none,
                 .tail = Nonbonded::Tail::c6,
                 .tail_pairs = Nonbonded::TailPairs::not_excluded,
                 .cutoff_coulomb_nm = 0.7,
                 .cutoff_lj_nm = 0.7,
                 .epsilon_rf = 78};
  return s;
}
Setting pme() {
  Setting s{std::string(start) +
                "coulombtype = PME\npme-order = 8\nfourierspacing = 0.05\newald-rtol = "
                "1e-6\nvdw-modifier = potential-shift\nDispCorr = AllEnerPres\n",
            {}};
  s.nonbonded = {.coulomb = Nonbonded::Coulomb::pme,
                 .coulomb_modifier = Nonbonded::Modifier::potential_shift,
                 .lj_modifier = Nonbonded::Modifier::potential_shift,
                 .tail = Nonbonded::Tail::c6_c12,
                 .tail_pairs = Nonbonded::TailPairs::not_excluded,
                 .cutoff_coulomb_nm = 0.7,
                 .cutoff_lj_nm = 0.7,
                 .ewald_rtol = 1e-6,
                 .pme_order = 8,
                 .fourier_spacing_nm = 0.05};
  return s;
}

/// What run.edr holds of its first frame, by GROMACS's own names.
std::map<std::string, double> read_energies(const Folder& f) {
  f.run("seq 1 40 | gmx_d energy -f run.edr -o run.xvg -dp -xvg xmgrace");
  std::ifstream in(f / "run.xvg");
  std::vector<std::string> names;
  std::map<std::string, double> out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("@ s") && line.find("legend \"") != std::string::npos) {
      const std::size_t at = line.find('"') + 1;
      names.push_back(line.substr(at, line.rfind('"') - at));
    } else if (!line.starts_with("#") && !line.starts_with("@") && !line.starts_with("&")) {
      std::istringstream numbers(line);
      double v = 0;
      numbers >> v;
      for (const std::string& n : names)
        if (numbers >> v) out[n] = v;
    }
  }
  EXPECT_FALSE(out.empty());
  return out;
}
/// GROMACS's energies of c.gro [kJ/mol].
std::map<std::string, double> peer_energies(const Folder& f, const Setting& s,
                                            const std::string& more, bool place_sites) {
  f.write("run.mdp", s.mdp + more);
  f.run("gmx_d grompp -f run.mdp -c c.gro -r r.gro -p topol.top -o run.tpr -maxwarn 5");
  f.run(std::string("gmx_d mdrun -s run.tpr -rerun c.gro -deffnm run -nt 1 -pin off") +
        (place_sites ? " -rerunvsite" : ""));
  return read_energies(f);
}

struct Ours {
  System system;
  Frame frame, reference;
};
Ours ours(const Folder& f, std::vector<std::string> defines = {}, Rigid constraints = Rigid::none) {
  Ours o;
  o.frame = read_gro(data::read_text_file(f / "c.gro")).frames.front();
  o.reference = read_gro(data::read_text_file(f / (fs::exists(f / "r.gro") ? "r.gro" : "c.gro")))
                    .frames.front();
  TopologyOptions options;
  options.include_folders = {force_fields()};
  options.defines = std::move(defines);
  options.reference = &o.reference;
  options.constraints = constraints;
  o.system = read_top(f / "topol.top", options).system;
  place_virtual_sites(o.system, o.frame.x_nm, o.frame.box);
  return o;
}

void compare(const Folder& f, const Setting& s, const std::vector<std::string>& defines = {},
             bool place_sites = false) {
  std::string more;
  if (!defines.empty()) {
    more = "define =";
    for (const std::string& d : defines) more += " -D" + d;
  }
  // Reference positions for restraints: somewhat beside the positions, as our own file.
  GroFile reference = read_gro(data::read_text_file(f / "c.gro"));
  for (std::size_t i = 0; i < reference.frames[0].x_nm.size(); ++i)
    reference.frames[0].x_nm[i][i % 3] += 0.01;
  f.write("r.gro", write_gro(reference, 6));
  const std::map<std::string, double> theirs = peer_energies(f, s, more + "\n", place_sites);
  const Ours o = ours(f, defines, s.constraints);
  Forces forces;
  ForceEvaluator(o.system, s.nonbonded)(o.frame.x_nm, o.frame.box, forces);
  struct Row {
    std::vector<const char*> names;
    std::vector<Term> terms;
  };
  const Row rows[] = {
      {{"Bond"}, {Term::bonds}},
      {{"Angle", "U-B"}, {Term::angles, Term::urey_bradley}},
      {{"Proper Dih."}, {Term::dihedrals}},
      {{"Per. Imp. Dih."}, {Term::impropers}},
      {{"Improper Dih."}, {Term::harmonic_impropers}},
      {{"Ryckaert-Bell.", "Fourier Dih."}, {Term::ryckaert_bellemans}},
      {{"CMAP Dih."}, {Term::cmap}},
      {{"LJ-14"}, {Term::pairs_lj}},
      {{"Coulomb-14"}, {Term::pairs_coulomb}},
      {{"LJ (SR)"}, {Term::lj}},
      {{"Disper. corr."}, {Term::lj_tail}},
      {{"Coulomb (SR)", "Coul. recip."}, {Term::coulomb_short, Term::coulomb_reciprocal}},
      {{"Position Rest."}, {Term::position_restraints}},
      {{"Dis. Rest.", "Harmonic Pot."}, {Term::distance_restraints}}};
  for (const Row& row : rows) {
    double value = 0, expected = 0;
    for (const Term t : row.terms) value += forces.energy[static_cast<std::size_t>(t)];
    for (const char* name : row.names) expected += theirs.count(name) ? theirs.at(name) : 0;
    if (std::getenv("TESSERA_SHOW"))
      std::printf("%-16s %24.12f %24.12f %10.2e\n", row.names[0], value, expected,
                  std::abs(value - expected) / std::max(std::abs(expected), 1e-300));
    EXPECT_NEAR(value, expected, 1e-6 * std::abs(expected)) << row.names[0];
  }
  EXPECT_NEAR(forces.potential(), theirs.at("Potential"), 1e-6 * std::abs(theirs.at("Potential")));
}

TEST(GromacsPeer, RigidAndFlexibleSpceWater) {
  if (!has_gmx()) GTEST_SKIP() << "no gmx_d";
  const Folder f;
  f.write("topol.top",
          "#include \"oplsaa.ff/forcefield.itp\"\n#include \"oplsaa.ff/spce.itp\"\n[ system "
          "]\nwater\n[ molecules ]\n");
  f.run("gmx_d solvate -cs spc216.gro -box 1.5 1.6 1.7 -o c.gro -p topol.top");
  compare(f, reaction_field());
  compare(f, pme());
  compare(f, reaction_field(), {"FLEXIBLE"});
}

TEST(GromacsPeer, AlanineDipeptideInWater) {
  if (!has_gmx()) GTEST_SKIP() << "no gmx_d";
  const Folder f;
  f.write("in.pdb", alanine_dipeptide);
  f.run("gmx_d pdb2gmx -f in.pdb -o a.gro -p topol.top -ignh -ff amber99sb-ildn -water tip3p");
  f.run("gmx_d editconf -f a.gro -o b.gro -bt dodecahedron -d 0.6");
  f.run("gmx_d solvate -cp b.gro -cs spc216.gro -o c.gro -p topol.top");
  compare(f, reaction_field());
  compare(f, pme(), {"POSRES"});
  for (const auto& [name, which] : {std::pair{"h-bonds", Rigid::h_bonds},
                                    {"all-bonds", Rigid::all_bonds},
                                    {"h-angles", Rigid::h_angles}}) {
    Setting s = reaction_field();
    s.mdp += std::string("constraints = ") + name + "\n";
    s.constraints = which;
    compare(f, s);
  }
}

/// The correction for dispersion by each modifier, and its pressure, of which reruns say nothing: a
/// run of no steps does.
TEST(GromacsPeer, TailsInEnergyAndPressure) {
  if (!has_gmx()) GTEST_SKIP() << "no gmx_d";
  using Modifier = Nonbonded::Modifier;
  for (const bool twelve : {false, true})
    for (const auto& [word, modifier] : {std::pair{"none", Modifier::none},
                                         {"potential-shift", Modifier::potential_shift},
                                         {"force-switch", Modifier::force_switch},
                                         {"potential-switch", Modifier::potential_switch}}) {
      const Folder f;
      f.write("topol.top",
              "#include \"amber99sb-ildn.ff/forcefield.itp\"\n#include "
              "\"amber99sb-ildn.ff/spce.itp\"\n#include \"amber99sb-ildn.ff/ions.itp\"\n[ system "
              "]\nwater\n[ molecules ]\n");
      f.run("gmx_d solvate -cs spc216.gro -box 1.5 1.6 1.7 -o c.gro -p topol.top");
      f.write("run.mdp",
              std::string(start) + "coulombtype = reaction-field\nrvdw-switch = 0.5\nDispCorr = " +
                  (twelve ? "AllEnerPres" : "EnerPres") + "\nvdw-modifier = " + word + "\n");
      f.run("gmx_d grompp -f run.mdp -c c.gro -p topol.top -o run.tpr -maxwarn 5");
      f.run("gmx_d mdrun -s run.tpr -deffnm run -nt 1 -pin off");
      const std::map<std::string, double> theirs = read_energies(f);
      const Ours o = ours(f);
      Nonbonded n = {.coulomb = Nonbonded::Coulomb::none,
                     .lj_modifier = modifier,
                     .tail = twelve ? Nonbonded::Tail::c6_c12 : Nonbonded::Tail::c6,
                     .tail_pairs = Nonbonded::TailPairs::not_excluded,
                     .cutoff_lj_nm = 0.7,
                     .lj_switch_nm = 0.5};
      Forces with, without;
      ForceEvaluator(o.system, n, {.precision = Precision::f64})(o.frame.x_nm, o.frame.box, with);
      n.tail = Nonbonded::Tail::none;
      ForceEvaluator(o.system, n, {.precision = Precision::f64})(o.frame.x_nm, o.frame.box,
                                                                 without);
      double virial = 0;
      for (std::size_t a = 0; a < 3; ++a) virial += with.virial[a][a] - without.virial[a][a];
      const double energy = with.energy[static_cast<std::size_t>(Term::lj_tail)],
                   pressure = bar_per_pressure_unit * virial / (3 * volume_nm3(o.frame.box));
      if (std::getenv("TESSERA_SHOW"))
        std::printf("%-16s %d %16.9f %16.9f  %16.9f %16.9f\n", word, twelve, energy,
                    theirs.at("Disper. corr."), pressure, theirs.at("Pres. DC"));
      EXPECT_NEAR(energy, theirs.at("Disper. corr."), 1e-6 * std::abs(energy)) << word;
      EXPECT_NEAR(pressure, theirs.at("Pres. DC"), 1e-6 * std::abs(pressure)) << word;
    }
}

class GromacsPeerProtein : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(ForceFields, GromacsPeerProtein,
                         ::testing::Values("amber99sb-ildn", "oplsaa", "charmm27"),
                         [](const auto& i) {
                           std::string s = i.param;
                           std::erase(s, '-');
                           return s;
                         });

TEST_P(GromacsPeerProtein, EnergiesByTerm) {
  if (!has_gmx()) GTEST_SKIP() << "no gmx_d";
  const std::string atoms = protein();
  if (atoms.empty()) GTEST_SKIP() << "no 6MRR in the test data";
  const Folder f;
  f.write("in.pdb", atoms);
  f.run(std::string("gmx_d pdb2gmx -f in.pdb -o a.gro -p topol.top -ignh -water none -ff ") +
        GetParam());
  f.run("gmx_d editconf -f a.gro -o c.gro -d 0.8");
  compare(f, reaction_field(), {"POSRES"});
}

/// A molecule of six atoms and eight sites with every function that is read, by each combination
/// rule; GROMACS does not know better than what its manual says, nor do we.
std::string every_function(int rule) {
  const std::string vw[4] = {
      rule == 1 ? "0.003 3.0e-6" : "0.32 0.5", rule == 1 ? "0.002 1.5e-6" : "0.28 0.3",
      rule == 1 ? "0.0025 2e-6" : "0.30 0.4", rule == 1 ? "0.001 1e-6" : "0.27 0.2"};
  return "#define twist 180 4.5 2\n#define stiff 250000\n[ defaults ]\n1 " + std::to_string(rule) +
         " yes 0.5 0.8333\n"
         "[ atomtypes ]\nA bA 6 12.0 0.0 A " +
         vw[0] + "\nB bB 14.0 0.1 A " + vw[1] + "\nC 8 16.0 -0.2 A " + vw[2] +
         " ; no bonded type\nH 1.0 0.0 A " + vw[3] +
         "\nM 0 0 V 0 0\n"
         "[ nonbond_params ]\nA H 1 " +
         vw[1] + "\n[ pairtypes ]\nB H 1 " + vw[3] +
         "\n"
         "[ bondtypes ]\nbA bB 1 0.15 stiff\nbB C 1 0.14 200000\n[ constrainttypes ]\nC H 1 0.1\n"
         "[ angletypes ]\nbA bB C 1 110 400\nbB C H 5 108 300 0.21 5000\n"
         "[ dihedraltypes ]\nX bB C X 9 0 1.5 3\nX bB C X 9 180 0.7 2\nbA bB C H 9 20 2.5 1\nbA bB "
         "C H 9 40 0.5 4\nbB C 3 1 2 -3 0.5 0.25 -0.1\nbA C 2 35 100\nX X C H 4 180 8 2\n"
         "[ moleculetype ]\nall 2\n[ atoms ]\n1 A 1 ONE A1 1 0.3\n2 B 1 ONE B1 1 -0.2 14.5\n3 C 1 "
         "ONE C1 1\n4 H 2 TWO H1 2 0.25\n5 H 2 TWO H2 2 0.1\n6 A 2 TWO A2 2 -0.25\n"
         "7 M 2 TWO M1 3 0.11\n8 M 2 TWO M2 3 -0.12\n9 M 2 TWO M3 3 0.13\n10 M 2 TWO M4 3 "
         "-0.14\n11 M 2 TWO M5 3 0.15\n12 M 2 TWO M6 3 -0.16\n13 M 2 TWO M7 3 0.17\n14 M 2 TWO M8 "
         "3 -0.18\n"
         "[ bonds ]\n1 2 1\n2 3 1 ; of the types\n4 5 1 0.12 150000\n1 6 6 0.4 500\n5 6 5\n[ "
         "constraints ]\n3 4 1\n2 5 2 0.33\n"
         "[ angles ]\n1 2 3 1\n2 3 4 5\n3 4 5 1 115 350\n4 5 6 5 100 200 0.25 3000\n"
         "[ dihedrals ]\n1 2 3 4 9\n5 2 3 4 9\n1 2 3 4 3\n1 2 3 4 5 1 2 3 4\n2 3 4 5 3 1 -1 0.5 "
         "0.2 0.1 -0.3\n1 6 5 \\\n 3 2\n5 6 3 4 4\n3 4 5 6 1 twist\n3 4 5 6 2 170 60\n6 5 3 1 4 10 "
         "3 1\n"
         "[ pairs ]\n1 4 1\n2 5 1\n2 4 1\n3 6 1 " +
         vw[2] + "\n1 5 2 0.7 0.4 -0.3 " + vw[0] +
         "\n"
         "[ exclusions ]\n1 5 6\n7 8 9 10 11 12 13 14 1 2 3 4 5 6\n8 9 10 11 12 13 14 1 2\n"
         "[ virtual_sites2 ]\n7 1 2 1 0.35\n8 3 4 2 0.11\n[ virtual_sites3 ]\n9 1 2 3 1 0.2 "
         "0.3\n10 2 3 4 2 0.4 0.12\n11 3 4 5 3 120 0.13\n12 4 5 6 4 0.3 -0.2 1.5\n"
         "[ virtual_sites4 ]\n13 3 1 2 4 2 1.1 0.9 0.14\n[ virtual_sitesn ]\n14 3 1 1 2 2 5 0.5\n"
         "[ position_restraints ]\n2 1 1000 2000 500\n[ system ]\nEvery function\n[ molecules "
         "]\nALL 2\n";
}

TEST(GromacsPeer, EveryFunctionByEachCombinationRule) {
  if (!has_gmx()) GTEST_SKIP() << "no gmx_d";
  for (const int rule : {1, 2, 3}) {
    const Folder f;
    f.write("topol.top", every_function(rule));
    GroFile file;
    const Vec3 x[6] = {{1.0, 1.02, 1.04},  {1.13, 1.08, 1.0},  {1.17, 1.21, 1.06},
                       {1.29, 1.24, 1.02}, {1.33, 1.13, 0.93}, {1.22, 1.02, 0.82}};
    file.residues = {
        {"ONE", "1", "", ""}, {"TWO", "2", "", ""}, {"ONE", "3", "", ""}, {"TWO", "4", "", ""}};
    file.frames.resize(1);
    file.frames[0].box = box_of_angles({2.4, 2.5, 2.6}, {80, 85, 75});
    for (int copy = 0; copy < 2; ++copy)
      for (int i = 0; i < 14; ++i) {
        Vec3 p = x[i < 6 ? i : 0];
        if (copy == 1) p = {p[1] + 0.3, p[2] + 0.1, p[0] + 0.25};
        file.frames[0].x_nm.push_back(p);
        file.atom_name.push_back(
            i < 6 ? std::array{"A1", "B1", "C1", "H1", "H2", "A2"}[static_cast<std::size_t>(i)]
                  : "M" + std::to_string(i - 5));
        file.residue.push_back(2 * copy + (i >= 3));
      }
    f.write("c.gro", write_gro(file, 5));
    compare(f, reaction_field(), {}, true);
    Setting medium = reaction_field();  // 1-4 pairs act in it, too
    medium.mdp += "epsilon-r = 2.5\n";
    medium.nonbonded.epsilon_r = 2.5;
    compare(f, medium, {}, true);
  }
}

/// Waters with virtual sites: three parents in the plane, and out of it. GROMACS places sites here
/// only where it runs without domains, so they lie where they belong already.
TEST(GromacsPeer, WatersWithVirtualSites) {
  if (!has_gmx()) GTEST_SKIP() << "no gmx_d";
  for (const std::string water : {"tip4p", "tip5p"}) {
    const Folder f;
    f.write("topol.top", "#include \"oplsaa.ff/forcefield.itp\"\n#include \"oplsaa.ff/" + water +
                             ".itp\"\n[ system ]\nwater\n[ molecules ]\n");
    f.run("gmx_d solvate -cs " + water + ".gro -box 1.5 1.6 1.7 -o c.gro -p topol.top");
    GroFile file = read_gro(data::read_text_file(f / "c.gro"));
    file.frames[0] = ours(f).frame;
    f.write("c.gro", write_gro(file, 9));
    compare(f, pme());
  }
}

}  // namespace
}  // namespace tessera::molecular
