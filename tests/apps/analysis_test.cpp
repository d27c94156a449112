// SPDX-License-Identifier: Apache-2.0
// molecular.analysis as its users meet it.
#include "app_test.h"
#include "tessera/data/hdf5.h"
#include "tessera/molecular/trajectory.h"

#include <gtest/gtest.h>

using namespace tessera::testing;
namespace fs = std::filesystem;
namespace mol = tessera::molecular;

namespace {

class MolecularAnalysis : public AppTest {
 protected:
  void SetUp() override { ASSERT_EQ(tessera({"new", "molecular.analysis", "."}).code, 0); }
  static std::vector<std::string> lines(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
};

TEST_F(MolecularAnalysis, TheCaseOfNewFindsWhatItPromises) {
  const Outcome checked = tessera({"check", "brownian.toml"});
  ASSERT_EQ(checked.code, 0) << checked.err;
  EXPECT_TRUE(holds(checked.out, "200 atoms, first frame at 0 ps, frames every 1 ps"))
      << checked.out;
  const Outcome estimated = tessera({"estimate", "brownian.toml"});
  EXPECT_EQ(estimated.code, 0);
  EXPECT_TRUE(holds(estimated.out, "msd_all")) << estimated.out;
  EXPECT_FALSE(holds(estimated.out, "rdf_all")) << "it keeps no frames: " << estimated.out;

  const Outcome ran = tessera({"run", "brownian.toml", "--output", "RUN", "--threads", "1"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(holds(ran.err, "msd_all.diffusion = ")) << ran.err;
  EXPECT_TRUE(holds(ran.err, "is independent")) << ran.err;
  const std::set<std::string> names = results("RUN");
  for (const char* name :
       {"results.h5", "tables/averages.csv", "tables/rdf_all_g.csv", "tables/msd_all_msd.csv",
        "tables/density_all_profile.csv", "plots/rdf_all_g.png", "plots/msd_all_msd.svg"})
    EXPECT_TRUE(names.contains(name)) << name;
  // 200 atoms of 39.95 amu in 27 nm^3
  const auto averages = lines(read("RUN/tables/averages.csv"));
  ASSERT_EQ(averages.size(), 3u);
  EXPECT_TRUE(averages[2].starts_with("density_all.density,kg/m^3,491.3")) << averages[2];
  const auto g = lines(read("RUN/tables/rdf_all_g.csv"));
  ASSERT_EQ(g.size(), 29u);
  double mean = 0;
  for (std::size_t k = 11; k < g.size(); ++k)
    mean += std::stod(g[k].substr(g[k].find(',') + 1)) / static_cast<double>(g.size() - 11);
  EXPECT_NEAR(mean, 1, 0.02);

  const Outcome again = tessera({"run", "brownian.toml", "--output", "TWO", "--threads", "2"});
  ASSERT_EQ(again.code, 0) << again.err;
  for (const std::string& name : names) EXPECT_EQ(read("RUN/" + name), read("TWO/" + name)) << name;
  fs::remove(here() / "RUN/plots/rdf_all_g.png");
  ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/rdf_all_g.png"), read("TWO/plots/rdf_all_g.png"));
}

/// Up to version 0.2 a density profile was drawn over its `place`, which is its `position` now.
TEST_F(MolecularAnalysis, ProfilesOfEarlierVersionsAreDrawnOverTheirPosition) {
  namespace data = tessera::data;
  ASSERT_EQ(tessera({"run", "brownian.toml", "--output", "RUN"}).code, 0);
  const std::string now = read("RUN/plots/density_all_profile.svg");
  const auto results = data::read_h5(here() / "RUN/results.h5");
  const auto objects = data::list_h5(here() / "RUN/results.h5");
  int renamed = 0;
  {
    data::H5Writer former(here() / "RUN/results.h5");
    former.group("tessera");
    for (const data::H5Object& o : objects)
      if (o.path == "/tessera")
        for (const auto& [label, text] : o.attributes) former.attribute("tessera", label, text);
    for (const auto& [name, array] : results) {
      data::H5Attributes attributes = array.attributes;
      if (attributes.long_name == "position") attributes.long_name = "place", ++renamed;
      former.write(name, std::get<std::vector<double>>(array.data), array.shape, attributes);
    }
    former.commit();
  }
  EXPECT_EQ(renamed, 1);
  ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/density_all_profile.svg"), now);
  EXPECT_TRUE(holds(now, "position"));
}

TEST_F(MolecularAnalysis, GroupsFramesAndOtherAnalyses) {
  write("case.toml", R"(app = "molecular.analysis"
topology = "argon.pdb"
trajectory = ["argon.xtc", "argon.xtc"]
frames = {from = "10 ps", to = "60 ps", every = 5}
[[group]]
name = "some"
elements = ["Ar"]
range = [11, 30]
[[group]]
name = "others"
atoms = ["AR"]
select = "serial 31 to 200 and not within 0.01 of serial 31"
[[analysis]]
type = "rdf"
group = "some"
with = "others"
bin = "0.1 nm"
[[analysis]]
type = "rmsd"
group = "some"
[[analysis]]
type = "gyration"
group = "some"
[[analysis]]
type = "hydrogen_bonds"
[[analysis]]
type = "density"
slices = 0
[[expect]]
quantity = "density_all.density"
value = 491.4
tolerance = 0.1
[[expect]]
quantity = "hydrogen_bonds.number"
value = 1
tolerance = 0.5
)");
  const Outcome ran = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(ran.code, 6) << ran.err;
  EXPECT_TRUE(holds(ran.err, "hydrogen_bonds.number is 0, expected 1: NOT MET")) << ran.err;
  EXPECT_FALSE(holds(ran.err, "density_all.density is")) << ran.err;
  EXPECT_EQ(lines(read("RUN/tables/rmsd_some_rmsd.csv")).size(),
            12u);  // 10, 15, ... 60 ps: the second file comes again and is left out
  EXPECT_EQ(lines(read("RUN/tables/rmsd_some_rmsf.csv")).size(), 21u);
  EXPECT_TRUE(fs::exists(here() / "RUN/tables/rdf_some_others_g.csv"));
  write("bad.toml",
        "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = "
        "[\"argon.xtc\"]\nanalysis = [{type = \"rdf\", group = \"a\"}]\n[[group]]\nname = "
        "\"a\"\nselect = \"serail 3\"\n");
  const Outcome bad = tessera({"check", "bad.toml"});
  EXPECT_EQ(bad.code, 5);
  EXPECT_TRUE(holds(bad.err, "bad.toml:7:1: error E0760") && holds(bad.err, "serial")) << bad.err;
}

TEST_F(MolecularAnalysis, TopologiesMayIncludeFilesOfOtherFolders) {
  std::size_t n = 0;
  for (const std::string& line : lines(read("argon.pdb")))
    n += line.starts_with("ATOM") || line.starts_with("HETATM");
  fs::create_directory(here() / "ff");
  fs::create_directory(here() / "case");
  write("ff/argon.itp",
        "[ defaults ]\n1 2 yes 1 1\n[ atomtypes ]\nAR 18 39.948 0 A 0.34 0.99\n[ moleculetype "
        "]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 0\n"
        "[ position_restraints ]\n1 1 1000 1000 1000\n");  // no structure is asked for by them
  write("case/topol.top",
        "#include \"argon.itp\"\n[ system ]\nargon\n[ molecules ]\nAR " + std::to_string(n) + "\n");
  const std::string text =
      "app = \"molecular.analysis\"\ntopology = \"case/topol.top\"\ntrajectory = "
      "[\"argon.xtc\"]\nanalysis = [{type = \"density\", slices = 0}]\n";
  write("without.toml", text);
  const Outcome without = tessera({"check", "without.toml"});
  EXPECT_EQ(without.code, 4);
  EXPECT_TRUE(holds(without.err, "there is no file 'argon.itp'")) << without.err;
  write("with.toml", text +
                         "include_folders = [\"ff\"]\nexpect = [{quantity = "
                         "\"density_all.density\", value = 491.4, tolerance = 0.1}]\n");
  const Outcome with = tessera({"run", "with.toml", "--output", "RUN"});
  EXPECT_EQ(with.code, 0) << with.err;
}

TEST_F(MolecularAnalysis, OfARunOfOurOwn) {
  write("md.toml", R"(app = "molecular.dynamics"
dt = "5 fs"
coulombtype = "none"
rvdw = "0.8 nm"
ref_t = "94.4 K"
nstxout = 10
[lennard_jones]
sigma = "0.3405 nm"
epsilon = "0.996 kJ/mol"
mass = "39.948 amu"
[build]
lattice = "fcc"
cells = 3
edge = "0.5786 nm"
[output]
trajectory = ["h5md"]
[[stage]]
name = "free"
duration = "0.5 ps"
gen_temp = "190 K"
)");
  Outcome o = tessera({"run", "md.toml", "--output", "md"});
  ASSERT_EQ(o.code, 0) << o.err;
  write("case.toml", R"(app = "molecular.analysis"
topology = "md/1_free/trajectory.h5md"
trajectory = ["md/1_free/trajectory.h5md"]
group = [{name = "argon", elements = ["Ar"]}]
analysis = [{type = "rdf", group = "argon", bin = "0.05 nm", r_max = "0.8 nm"}, {type = "density", slices = 0}]
expect = [{quantity = "density_all.density", value = 1369.837, tolerance = 0.01}]
)");
  o = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 0) << o.err;
  const auto g = lines(read("RUN/tables/rdf_argon_g.csv"));
  ASSERT_EQ(g.size(), 17u);
  EXPECT_TRUE(g[5].ends_with(",0,0")) << g[5];  // 0.225 nm: no two atoms are that near
}

/// Four models of a PDB file, at places that differ: frames without times count one by one.
TEST_F(MolecularAnalysis, FramesWithoutTimesAllCount) {
  const std::string pdb = read("argon.pdb");
  std::string atoms, models;
  for (const std::string& line : lines(pdb))
    if (line.starts_with("ATOM") || line.starts_with("HETATM")) atoms += line + "\n";
  const std::string head = pdb.substr(0, pdb.find('\n', pdb.find("CRYST1")) + 1);
  for (int k = 1; k <= 4; ++k)
    models += "MODEL     " + std::to_string(k) + "\n" + atoms + "ENDMDL\n";
  write("models.pdb", head + models + "END\n");
  const auto text = [](const std::string& files, const std::string& frames,
                       const std::string& task) {
    return "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = [" + files +
           "]\n" + task + "\n" + frames;
  };
  const std::string gyration = "analysis = [{type = \"gyration\"}]",
                    msd = "analysis = [{type = \"msd\", fit_from = \"1 ps\", fit_to = \"2 ps\"}]";
  write("case.toml", text("\"models.pdb\"", "", gyration));
  const Outcome ran = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(holds(ran.err, "4 frames, which have no times")) << ran.err;
  const auto table = lines(read("RUN/tables/gyration_all_radius.csv"));
  ASSERT_EQ(table.size(), 5u);
  EXPECT_TRUE(table[0].starts_with("frame") && table[4].starts_with("3,")) << table[0] << table[4];
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).out, "frames without times"));
  // Two files, one after the other; what needs times wants the time between frames.
  write("case.toml", text("\"models.pdb\", \"models.pdb\"", "", gyration));
  EXPECT_TRUE(
      holds(tessera({"run", "case.toml", "--output", "TWO"}).err, "8 frames, which have no times"));
  write("case.toml", text("\"models.pdb\"", "", msd));
  Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "case.toml:4:") && holds(o.err, "E0743") &&
              holds(o.err, "give frames.spacing"))
      << o.err;
  write("case.toml", text("\"models.pdb\"", "frames = {spacing = \"0.5 ps\"}", msd));
  o = tessera({"run", "case.toml", "--output", "SPACED"});
  EXPECT_EQ(o.code, 5) << "no window of 2 ps in 1.5 ps: " << o.err;
  write("case.toml", text("\"models.pdb\"", "frames = {spacing = \"1 ps\", from = \"1 ps\"}", msd));
  o = tessera({"run", "case.toml", "--output", "SPACED", "--force"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "3 frames\n")) << o.err;
  write("case.toml", text("\"argon.xtc\", \"models.pdb\"", "", gyration));
  o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "argon.xtc have times, those of models.pdb have none")) << o.err;
}

/// A second run that begins at 0 ps is no overlap.
TEST_F(MolecularAnalysis, AFileThatBeginsAnewIsRefusedOrAppended) {
  const std::string head =
                        "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = "
                        "[\"argon.xtc\", \"argon.xtc\"]\n",
                    task = "analysis = [{type = \"gyration\"}]\n";
  write("case.toml", head + task);
  for (const char* verb : {"check", "run"}) {
    const Outcome o = tessera({verb, "case.toml"});
    EXPECT_EQ(o.code, 5) << verb;
    EXPECT_TRUE(holds(o.err, "case.toml:3:") && holds(o.err, "E0743") &&
                holds(o.err, "argon.xtc starts again, at 0 ps") &&
                holds(o.err, "frames.times = \"append\""))
        << o.err;
  }
  write("case.toml", head + task + "frames = {times = \"append\"}\n");
  const Outcome ran = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto table = lines(read("RUN/tables/gyration_all_radius.csv"));
  ASSERT_EQ(table.size(), 801u);
  EXPECT_TRUE(table[800].starts_with("799,")) << table[800];
  EXPECT_TRUE(table[401].starts_with("400,")) << table[401];
}

/// Velocities at more times than positions, as nstvout below nstxout of GROMACS writes them: vacf
/// takes all of them, and is not thinned by what another analysis needs.
TEST_F(MolecularAnalysis, VelocitiesBetweenPositionsAreNotPassedOver) {
  constexpr std::size_t n = 200, size_of_positions_at = 52, positions_at = 164;
  mol::System s;
  s.atoms.mass_amu.assign(n, 39.95);
  mol::Snapshot shot;
  shot.frame.box = mol::rectangular_box({3, 3, 3});
  shot.frame.x_nm.assign(n, {1, 1, 1});
  shot.frame.v_nm_ps.assign(n, {0.5, 0, 0});
  std::string frames;
  for (int k = 0; k < 5; ++k) {
    shot.frame.step = k;
    shot.frame.time_ps = k;
    mol::create_trajectory(here() / "one.trr", s,
                           {.velocities = true, .forces = false, .observables = {}})
        ->write(shot);
    std::string one = read("one.trr");
    if (k % 2 == 1) {
      one.replace(size_of_positions_at, 4, 4, '\0');
      one.erase(positions_at, 24 * n);
    }
    frames += one;
  }
  write("often.trr", frames);
  const auto ran = [&](const std::string& more) {
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = "
          "[\"often.trr\"]\n[[analysis]]\ntype = \"vacf\"\nlag = \"2 ps\"\n" +
              more);
    return tessera({"run", "case.toml", "--output", "RUN", "--force"});
  };
  Outcome o = ran("");
  ASSERT_EQ(o.code, 0) << o.err;
  const auto table = lines(read("RUN/tables/vacf_all_vacf.csv"));
  ASSERT_EQ(table.size(), 4u);
  EXPECT_TRUE(table[2].starts_with("1,0.25,")) << table[2];
  // What one analysis cannot tell does not take from what the others have found.
  o =
      ran("[[analysis]]\ntype = \"vacf\"\nname = \"long\"\nlag = \"9 ps\"\n[[expect]]\n"
          "quantity = \"long.diffusion\"\nvalue = 1\ntolerance = 1\n");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "case.toml:7:1") && holds(o.err, "more frames than the lag spans, 9"))
      << o.err;
  EXPECT_EQ(lines(read("RUN/tables/vacf_all_vacf.csv")), table);
  EXPECT_TRUE(fs::exists(here() / "RUN/results.h5"));
  o = ran("[[analysis]]\ntype = \"density\"\nslices = 0\n");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "case.toml:4:1") && holds(o.err, "E0743") &&
              holds(o.err, "velocities at 1 ps, but no positions") &&
              holds(o.err, "in a case of its own"))
      << o.err;
}

/// Files that overlap: what comes again is left out, and counted.
TEST_F(MolecularAnalysis, FramesThatComeAgainAreCounted) {
  const std::string dump =
      "app = \"molecular.dynamics\"\noutput.final = [\"pdb\"]\ndt = \"5 fs\"\ncoulombtype = "
      "\"none\"\nrvdw = \"0.8 nm\"\nnstxout = 1\noutput.trajectory = "
      "[\"trr\"]\n[lennard_jones]\n[build]\ncells = 3\nedge = \"0.58 nm\"\n";
  write("one.toml", dump + "[[stage]]\nnsteps = 6\n");
  write("two.toml", dump +
                        "[[stage]]\nname = \"a\"\nnsteps = 4\nnstxout = 0\n[[stage]]\nname = "
                        "\"b\"\nnsteps = 6\n");
  ASSERT_EQ(tessera({"run", "one.toml", "--output", "one"}).code, 0);
  ASSERT_EQ(tessera({"run", "two.toml", "--output", "two"}).code, 0);
  write("argon108.toml",
        "app = \"molecular.analysis\"\ntopology = \"one/1_dynamics/final.pdb\"\ntrajectory = "
        "[\"one/1_dynamics/trajectory.trr\", \"two/2_b/trajectory.trr\"]\nanalysis = [{type = "
        "\"gyration\"}]\n");
  const Outcome o = tessera({"run", "argon108.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "3 frames are left out: their times overlap with earlier frames") &&
              holds(o.err, "11 frames"))
      << o.err;  // 0 to 6, then 4 to 10 steps
}

/// Two rigid molecules side by side move by 0.3 nm, so that one of them crosses a face of the box:
/// as a file of wrapped molecules has it, and as one of paths.
TEST_F(MolecularAnalysis, ADimerThatCrossesAFaceIsRigid) {
  write("dimer.top",
        "[ defaults ]\n1 2 yes 1 1\n[ atomtypes ]\nC 6 12.0 0 A 0.34 0.4\n[ moleculetype ]\nROD "
        "2\n[ atoms ]\n1 C 1 ROD C1 1 0\n2 C 1 ROD C2 1 0\n3 C 1 ROD C3 1 0\n"
        "[ bonds ]\n1 2 1 0.15 1000\n2 3 1 0.15 1000\n[ system ]\nDimer\n[ molecules ]\nROD 2\n");
  for (const bool wrapped : {true, false}) {
    std::string gro;
    char line[100];
    for (int frame = 0; frame < 5; ++frame) {
      std::snprintf(line, sizeof line, "Dimer t= %d.000\n    6\n", frame);
      gro += line;
      for (int i = 0; i < 6; ++i) {
        double x = (i < 3 ? 1.30 : 1.75) + 0.3 * frame;
        if (wrapped && x >= 2) x -= 2;
        std::snprintf(line, sizeof line, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f\n", i / 3 + 1, "ROD", "C",
                      i + 1, x, 0.5 + 0.15 * (i % 3), i < 3 ? 0.5 : 0.6);
        gro += line;
      }
      gro += "   2.00000   2.00000   2.00000\n";
    }
    write("dimer.gro", gro);
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"dimer.top\"\ntrajectory = "
          "[\"dimer.gro\"]\nanalysis = [{type = \"rmsd\"}, {type = \"gyration\"}]\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--force"});
    ASSERT_EQ(o.code, 0) << o.err;
    for (const char* name : {"rmsd_all_rmsd", "gyration_all_radius"}) {
      const auto table = lines(read(std::string("RUN/tables/") + name + ".csv"));
      ASSERT_EQ(table.size(), 6u);
      const auto value = [&](std::size_t k) {
        return std::stod(table[k].substr(table[k].find(',') + 1));
      };
      for (std::size_t k = 1; k < 6; ++k)
        EXPECT_NEAR(value(k), value(1), 1e-6) << wrapped << " " << name << " " << table[k];
    }
  }
}

}  // namespace
