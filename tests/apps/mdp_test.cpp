// SPDX-License-Identifier: Apache-2.0
// GROMACS's three files as its users have them: import the run parameters, check and run the case.
#include "tessera/molecular/mdp.h"

#include "app_test.h"
#include "tessera/data/csv.h"
#include "tessera/molecular/stage_run.h"

#include <gtest/gtest.h>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class Mdp : public AppTest {};

const char* const kField =
    "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 1.008 0.0 "
    "A 0 0\n";
const char* const kTopology =
    "#include \"field.itp\"\n[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8476\n2 H 1 SOL "
    "HW1 1 0.4238\n3 H 1 SOL HW2 1 0.4238\n[ settles ]\n1 1 0.1 0.16330\n"
    "#ifdef POSRES\n[ position_restraints ]\n1 1 1000 1000 1000\n#endif\n[ system ]\nTwo waters\n[ "
    "molecules ]\nSOL 2\n";
const char* const kStructure =
    "Two waters\n    6\n"
    "    1SOL     OW    1   0.500   0.500   0.500\n    1SOL    HW1    2   0.600   0.500   0.500\n  "
    "  1SOL    HW2    3   0.467   0.594   0.500\n"
    "    2SOL     OW    4   1.000   1.000   1.000\n    2SOL    HW1    5   1.100   1.000   1.000\n  "
    "  2SOL    HW2    6   0.967   1.094   1.000\n"
    "   2.00000   2.00000   2.00000\n";
const char* const kRun =
    "; production\nintegrator = md ; leap-frog\ndt = 0.001\nnsteps=20\nnstxtcout = 10\nnstenergy = "
    "10\nnstlist = 20\ncoulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\nDispCorr = EnerPres\n"
    "tcoupl = V-rescale\ntc_grps = System\ntau-t = 0.5\nref_t = 298\ngen-vel = yes\ngen-temp = "
    "298\ngen-seed = 5\nld-seed = 5\nconstraints = H-bonds\nfree-energy = no\ndefine = "
    "-DPOSRES\ninclude = -Iff\n";

TEST_F(Mdp, ThreeFilesOfGromacsRun) {
  write("topol.top", kTopology);
  fs::create_directory(here() / "ff");
  write("ff/field.itp", kField);
  write("conf.gro", kStructure);
  write("md.mdp", kRun);
  const Outcome made = tessera({"import", "md.mdp", "-o", "md.toml"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.err.find("E0727"), std::string::npos) << "nstxtcout has a new name: " << made.err;
  const std::string text = read("md.toml");
  for (const char* line :
       {"topology = \"topol.top\"", "structure = \"conf.gro\"", "define = [\"POSRES\"]",
        "coulombtype = \"pme\"", "rvdw = \"0.9 nm\"", "pme_order = 4", "DispCorr = \"EnerPres\"",
        "constraints = \"h-bonds\"", "nstxout = 10", "dt = \"0.001 ps\"", "nsteps = 20",
        "tcoupl = \"v-rescale\"", "ref_t = \"298 K\"", "gen_temp = \"298 K\""})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  EXPECT_EQ(tessera({"import", "md.mdp"}).out, text);
  EXPECT_EQ(tessera({"import", "md.mdp", "-o", "md.toml"}).code, 2)
      << "a file is not replaced unasked";
  const Outcome checked = tessera({"check", "md.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.out.find("2 rigid waters, 2 atoms held"), std::string::npos) << checked.out;
  EXPECT_EQ((text + checked.err).find("rigid_water"), std::string::npos) << "no water is flexible";
  const Outcome ran = tessera({"run", "md.toml", "-o", "R"});
  EXPECT_EQ(ran.code, 0) << ran.err;
}

/// Waters that the topology leaves flexible stay so beside rigid bonds, as in GROMACS; where it is
/// not there, it may have some.
TEST_F(Mdp, FlexibleWatersStayFlexible) {
  std::string topology = kTopology;
  topology.erase(topology.find("#ifdef"));
  write(
      "topol.top",
      topology +
          "[ moleculetype ]\nFLX 2\n[ atoms ]\n1 O 1 FLX OW 1 -0.8476\n2 H 1 FLX HW1 1 0.4238\n3 H "
          "1 FLX HW2 1 0.4238\n[ bonds ]\n1 2 1 0.1 345000\n1 3 1 0.1 345000\n[ angles ]\n2 1 3 1 "
          "109.47 383\n[ system ]\nOne of each\n[ molecules ]\nSOL 1\nFLX 1\n");
  fs::create_directory(here() / "ff");
  write("ff/field.itp", kField);
  write("conf.gro", kStructure);
  write("md.mdp", kRun);
  ASSERT_EQ(tessera({"import", "md.mdp", "-o", "md.toml"}).code, 0);
  const std::string text = read("md.toml");
  EXPECT_NE(text.find("rigid_water = false"), std::string::npos) << text;
  const Outcome checked = tessera({"check", "md.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.out.find("2 constraints, 1 rigid waters"), std::string::npos) << checked.out;
  EXPECT_EQ(checked.err.find("changes nothing"), std::string::npos) << checked.err;
  write("topol.top", kTopology);
  EXPECT_EQ(tessera({"import", "md.mdp"}).out.find("rigid_water"), std::string::npos);
  fs::remove(here() / "topol.top");
  EXPECT_EQ(tessera({"import", "md.mdp"}).out, text);
}

/// A case that is written elsewhere names the files beside the .mdp from where it lies: a topology
/// of the same name beside the case is another one.
TEST_F(Mdp, TheCaseMayLieElsewhere) {
  for (const char* folder : {"gmx", "gmx/ff", "cases"}) fs::create_directory(here() / folder);
  write("gmx/topol.top", kTopology);
  write("gmx/ff/field.itp", kField);
  write("gmx/conf.gro", kStructure);
  write("gmx/md.mdp", kRun);
  write("topol.top", "of another system");
  const auto holds_all = [](const std::string& text, std::vector<std::string> lines) {
    for (const std::string& line : lines)
      EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  };
  ASSERT_EQ(tessera({"import", "gmx/md.mdp", "-o", "cases/md.toml"}).code, 0);
  holds_all(read("cases/md.toml"),
            {"topology = \"../gmx/topol.top\"", "structure = \"../gmx/conf.gro\"",
             "include_folders = [\"../gmx/ff\"]"});
  const Outcome checked = tessera({"check", "cases/md.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  // What goes to stdout is for the folder where one stands.
  holds_all(tessera({"import", "gmx/md.mdp"}).out,
            {"topology = \"gmx/topol.top\"", "include_folders = [\"gmx/ff\"]"});
  ASSERT_EQ(tessera({"import", "gmx/md.mdp", "-o", "gmx/md.toml"}).code, 0);
  holds_all(read("gmx/md.toml"), {"topology = \"topol.top\"", "include_folders = [\"ff\"]"});
}

// The names that CHARMM-GUI gives have a point; the name of a stage is one of a folder.
TEST_F(Mdp, AStageIsNamedAfterItsFile) {
  write("topol.top", kTopology);
  fs::create_directory(here() / "ff");
  write("ff/field.itp", kField);
  write("conf.gro", kStructure);
  write("step6.1_equilibration.mdp", kRun);
  ASSERT_EQ(tessera({"import", "step6.1_equilibration.mdp", "-o", "md.toml"}).code, 0);
  EXPECT_NE(read("md.toml").find("name = \"step6_1_equilibration\""), std::string::npos);
  const Outcome checked = tessera({"check", "md.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  write("title.mdp", kRun);
  ASSERT_EQ(tessera({"import", "title.mdp", "-o", "title.toml"}).code, 0);
  EXPECT_EQ(tessera({"check", "title.toml"}).code, 0) << "no stage can be called title";
}

TEST_F(Mdp, TheFileThatIsImportedIsNotReplaced) {
  write("topol.top", kTopology);
  fs::create_directory(here() / "ff");
  write("ff/field.itp", kField);
  write("conf.gro", kStructure);
  write("md.mdp", kRun);
  const Outcome o = tessera({"import", "md.mdp", "-o", "./md.mdp", "--force"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_NE(o.err.find("is the file that is imported"), std::string::npos) << o.err;
  EXPECT_EQ(read("md.mdp"), kRun);
  EXPECT_EQ(tessera({"import", "md.mdp", "-o", std::string(300, 'x')}).code, 2);
}

/// The case that is imported and a program on the library read one file, and take the same steps.
TEST_F(Mdp, AProgramOnTheLibraryFindsTheNumbersOfTheCommand) {
  namespace mol = tessera::molecular;
  namespace data = tessera::data;
  write("topol.top", kTopology);
  fs::create_directory(here() / "ff");
  write("ff/field.itp", kField);
  write("conf.gro", kStructure);
  write("md.mdp", kRun);
  ASSERT_EQ(tessera({"import", "md.mdp", "-o", "md.toml"}).code, 0);
  ASSERT_EQ(tessera({"run", "md.toml", "-o", "R"}).code, 0);
  mol::Mdp mdp = mol::read_mdp(data::read_text_file(here() / "md.mdp"));
  for (std::string& folder : mdp.include_folders) folder = (here() / folder).string();
  const mol::GroFile gro = mol::read_gro(data::read_text_file(here() / "conf.gro"));
  const mol::Frame& start = gro.frames[0];
  const mol::System topology = mol::read_top(here() / "topol.top", mdp.topology(start)).system;
  const mol::StageStart at = mol::stage_start(mdp.stage, topology, start, start);
  const auto run = mol::begin_stage(mdp.stage, at, start);
  while (!run->done()) run->advance(run->step() + 10);
  const std::string table = read("R/1_md/energies.csv");
  data::CsvTable last(run->columns());
  for (const double v : run->row()) last.add(v);
  last.end_row();
  EXPECT_TRUE(table.ends_with(last.text().substr(last.text().find('\n')))) << table << "\n"
                                                                           << last.text();
}

TEST_F(Mdp, GroupsBecomeSelections) {
  const auto line = [&](const std::string& text, const char* expected) {
    write("g.mdp", "integrator = md\nnsteps = 10\n" + text);
    const Outcome o = tessera({"import", "g.mdp"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find(expected), std::string::npos) << expected << "\n" << o.out;
  };
  line("freezegrps = Protein Water_and_ions\nfreezedim = Y Y Y N N Y\n",
       "freeze_z = \"(water or ion)\"\nfreeze = \"(protein)\"");
  line("freezegrps = C-alpha Backbone\nfreezedim = Y N N Y N N\n",
       "freeze_x = \"(protein and name CA) or (protein and name N CA C)\"");
  line("tcoupl = v-rescale\ntc-grps = Protein Non-Protein\ntau-t = 0.1 0.2\nref-t = 300 310\n",
       "tc_grps = [\"protein\", \"non-protein\"]");
  line("tcoupl = v-rescale\ntc-grps = Water_and_ions Other\ntau-t = 0.1 0.2\nref-t = 300 310\n",
       "tc_grps = [\"water_and_ions\", \"not (protein or nucleic and not resname ADE GUA CYT THY "
       "URA or water or ion)\"]");
  line("nstxout-compressed = 5\ncompressed-x-grps = Protein Ion\n",
       "output.select = \"(protein) or (ion)\"");
  // Names of residues are groups, and an index file takes the place of all of them.
  write("conf.gro", kStructure);
  line("freezegrps = SOL\nfreezedim = Y Y Y\n", "freeze = \"(water)\"");
  write("index.ndx", "[ First ] ; water\n1 2\n3\n[ Ends ]\n 6 1 \n");
  line("freezegrps = first\nfreezedim = Y Y Y\n", "freeze = \"(serial 1 to 3)\"");
  line("nstxout-compressed = 5\ncompressed-x-grps = Ends\n", "output.select = \"(serial 6 1)\"");
  write("g.mdp", "freezegrps = Water\nfreezedim = Y Y Y\n");
  const Outcome gone = tessera({"import", "g.mdp"});
  EXPECT_EQ(gone.code, 4);
  EXPECT_NE(gone.err.find("of index.ndx: ends, first"), std::string::npos) << gone.err;
  for (const char* bad : {"1 2\n", "[ a ]\n1 x\n", "[ a ]\n0\n", "[ a ]\n[ b ]\n1\n", "[ ]\n1\n"}) {
    write("index.ndx", bad);
    const Outcome o = tessera({"import", "g.mdp"});
    EXPECT_EQ(o.code, 4) << bad;
    EXPECT_NE(o.err.find("index.ndx:"), std::string::npos) << bad << o.err;
  }
}

TEST_F(Mdp, NamesAreThoseOfGromacsWhateverTheirHyphens) {
  const auto has = [&](const std::string& text, std::initializer_list<const char*> expected) {
    write("g.mdp", text);
    const Outcome o = tessera({"import", "g.mdp"});
    EXPECT_EQ(o.code, 0) << o.err;
    for (const char* line : expected)
      EXPECT_NE(o.out.find(line), std::string::npos) << line << " of " << text << "\n" << o.out;
  };
  // A shifted cut-off shifts excluded pairs, too, as the reaction field does; one that is not
  // shifted leaves them alone.
  has("coulombtype = cutoff\n", {"coulombtype = \"reaction-field\"", "epsilon_rf = 1"});
  has("coulombtype = Cut-Off\ncoulomb_modifier = None\n",
      {"coulombtype = \"cut-off\"", "coulomb_modifier = \"none\""});
  has("CoulombType = ReactionField\nvdw_modifier = forceswitch\nrvdwswitch = 0.8\nepsilonrf = 78\n",
      {"coulombtype = \"reaction-field\"", "epsilon_rf = 78", "vdw_modifier = \"force-switch\"",
       "rvdw_switch = \"0.8 nm\""});
  write("g.mdp", "coulombtype = reaction-field\ncoulomb-modifier = none\n");
  EXPECT_FALSE(holds(tessera({"import", "g.mdp"}).out, "coulomb_modifier")) << "it has no effect";
  has("tcoupl = vrescale\ntcgrps = System\ntaut = 0.1\nref_t = 300\nconstraints = hbonds\n",
      {"tcoupl = \"v-rescale\"", "tau_t = \"0.1 ps\"", "constraints = \"h-bonds\""});
  has("nstxtcout = 5\nxtc_grps = Protein\n", {"output.select = \"(protein)\""});
  has("nstcomm = 0\n", {"comm_mode = \"none\""});
  has("comm-mode = None\ncomm-grps = Protein Water\n", {"comm_mode = \"none\""});
  has("mass-repartition-factor = 1.0\n", {"integrator = \"md\""});
}

/// GROMACS removes the motion of the whole with sd, too, and couples a piston every nstpcouple
/// steps: what a case does otherwise is told, and the case does not say what it does not do.
TEST_F(Mdp, KeysThatDoSomethingElseThanInGromacsAreTold) {
  const auto made = [&](const std::string& text, const char* told) {
    write("g.mdp", "nsteps = 10\n" + text);
    const Outcome o = tessera({"import", "g.mdp"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(holds(o.err, "E0727") && holds(o.err, told)) << text << o.err;
    return o.out;
  };
  for (const auto& [text, why] :
       {std::pair{"integrator = sd\nref-t = 300\ntau-t = 1\ntc-grps = System\n", "integrator = sd"},
        {"tcoupl = andersen\nref-t = 300\ntau-t = 1\ntc-grps = System\n", "tcoupl = andersen"},
        {"freezegrps = Water\nfreezedim = N N Y\n", "freezegrps"}}) {
    const std::string words =
        std::string("with ") + why + " the motion of the centre of mass stays";
    for (const std::string mode : {"", "comm-mode = Linear\nnstcomm = 10\n"}) {
      const std::string out = made(text + mode, words.c_str());
      EXPECT_TRUE(holds(out, "comm_mode = \"none\"") && !holds(out, "nstcomm")) << out;
    }
    write("g.mdp", std::string("nsteps = 10\ncomm-mode = none\n") + text);
    EXPECT_FALSE(holds(tessera({"import", "g.mdp"}).err, "stays")) << text;
  }
  const std::string piston =
      made("pcoupl = Parrinello-Rahman\ncompressibility = 4.5e-5\nref-p = 1\nnstpcouple = 10\n",
           "moves in every step");
  EXPECT_FALSE(holds(piston, "nstpcouple")) << piston;
  // readir.cpp: "nstcomm is modified to its absolute value".
  EXPECT_TRUE(holds(made("nstcomm = -10\n", "nstcomm = -10 means 10"), "nstcomm = 10\n"));
  EXPECT_TRUE(holds(made("pbc = no\nDispCorr = EnerPres\n", "DispCorr has no effect with pbc = no"),
                    "DispCorr = \"no\"\n"));
  // readir.cpp: "proceeding assuming old format and exchanging epsilon-r and epsilon-rf".
  const std::string field = "coulombtype = reaction-field\nepsilon-rf = 1\n",
                    old = made(field + "epsilon-r = 4\n", "GROMACS exchanges the two");
  EXPECT_TRUE(holds(old, "epsilon_r = 1\nepsilon_rf = 4\n")) << old;
  write("g.mdp", "nsteps = 10\n" + field);
  const Outcome same = tessera({"import", "g.mdp"});
  EXPECT_TRUE(holds(same.out, "epsilon_r = 1\nepsilon_rf = 1\n") && !holds(same.err, "exchanges"));
}

/// gmx grompp writes all keys with the values that it took (mdout.mdp); those of versions up to
/// 2024 say nothing that is not had.
TEST_F(Mdp, WhatGromppWritesIsRead) {
  write("mdout.mdp",
        "include = \nintegrator = md\nnsteps = 10\nmass-repartition-factor = 1\ncomm-grps = \n"
        "niter = 20\nrtpi = 0.05\nvdw-type = Cut-off\nfourier-nx = 0\nQMMM = no\nQMMM-grps = \n"
        "nstcheckpoint = 1000\nnwall = 0\nwall-type = 9-3\npull = no\nawh = no\nIMD-group = \n"
        "free-energy = no\nsc-function = beutler\ndh_hist_size = 0\ndeform = \n"
        "deform-init-flow = no\nelectric-field-x = 0 0 0 0\nE-xt = \n"
        "density-guided-simulation-active = false\nqmmm-cp2k-active = false\n"
        "colvars-active = false\ncolvars-seed = -1\nadress_type = off\n");
  const Outcome o = tessera({"import", "mdout.mdp"});
  EXPECT_EQ(o.code, 0) << o.err;
  write("old.mdp", "nsteps = 10\nverlet-buffer-drift = 0.01\ngb-obc-alpha = 1\ndihre-tau = 0\n");
  EXPECT_EQ(tessera({"import", "old.mdp"}).code, 0);
}

/// FFT grids: "when a value is 0 fourierspacing will be used", for each edge.
TEST_F(Mdp, NumbersOfGridPointsHoldForTheirEdges) {
  const auto made = [&](const std::string& text) {
    write("g.mdp", "nsteps = 10\ncoulombtype = PME\n" + text);
    const Outcome o = tessera({"import", "g.mdp"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  };
  EXPECT_NE(made("fourier-nz = 64\n").find("fourier_grid = [0, 0, 64]"), std::string::npos);
  EXPECT_NE(made("fourier_nx = 32\nfourier_ny = 32\n").find("fourier_grid = [32, 32, 0]"),
            std::string::npos);
  const std::string one = made("fourier-nx = 10\nfourierspacing = 0.3\n");
  EXPECT_NE(one.find("fourier_grid = [10, 0, 0]"), std::string::npos);
  EXPECT_NE(one.find("fourierspacing = \"0.3 nm\""), std::string::npos) << one;
  EXPECT_EQ(made("fourier-nx = 64\nfourier-ny = 64\nfourier-nz = 64\n").find("fourierspacing"),
            std::string::npos);
  EXPECT_EQ(made("fourier-nx = 0\n").find("fourier_grid"), std::string::npos);
}

/// There is one number of steps between frames, and it is told where the file has several.
TEST_F(Mdp, FramesAtOtherStepsAreTold) {
  const auto told = [&](const std::string& text) {
    write("f.mdp", "nsteps = 10\n" + text);
    const Outcome o = tessera({"import", "f.mdp"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_NE(told("nstxout = 1000\nnstvout = 100\n").find("a frame every 1000 steps"),
            std::string::npos);
  EXPECT_NE(told("nstvout = 100\nnstfout = 1000\n").find("a frame every 1000 steps"),
            std::string::npos);
  EXPECT_NE(told("nstxout-compressed = 50\nnstxout = 1000\n").find("a frame every 50 steps"),
            std::string::npos);
  EXPECT_EQ(told("nstxout = 100\nnstvout = 100\n").find("a frame every"), std::string::npos);
}

/// What GROMACS says without a box: no box whatever the structure has, and cut-offs of 0 are none
/// at all.
TEST_F(Mdp, NoPeriodicityAndNoCutOffs) {
  std::string top = kTopology;
  write("topol.top", top.replace(top.find("#include \"field.itp\"\n"), 21, kField));
  write("conf.gro", kStructure);
  write(
      "v.mdp",
      "integrator = md\nnsteps = 5\ndt = 0.001\npbc = no\ncoulombtype = cut-off\nrcoulomb = "
      "0\nrvdw = 0\nrlist = 0\nnstlist = 0\ncomm-mode = angular\ngen-vel = yes\ngen-temp = 100\n");
  const Outcome o = tessera({"import", "v.mdp", "-o", "v.toml"});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string text = read("v.toml");
  for (const char* line : {"box = \"none\"", "rcoulomb = \"inf\"", "rvdw = \"inf\""})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  const Outcome checked = tessera({"check", "v.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.out.find("no box: vacuum"), std::string::npos) << checked.out;
  EXPECT_EQ(tessera({"run", "v.toml", "-o", "V"}).code, 0);
}

TEST_F(Mdp, RunsBeginAtTheirTime) {
  const auto made = [&](const std::string& text) {
    write("t.mdp", "nsteps = 10\ndt = 0.002\n" + text);
    const Outcome o = tessera({"import", "t.mdp"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  };
  EXPECT_NE(made("tinit = 100\ninit-step = 500\n").find("start_time = \"101 ps\""),
            std::string::npos);
  // Whatever time the structure has in its title.
  for (const char* text : {"", "tinit = 0\n"})
    EXPECT_NE(made(text).find("start_time = \"0 ps\""), std::string::npos);
  const std::string bath =
      "tcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\nannealing = single\n";
  // Times of annealing are those of the run; ours are those of the stage: 100 ps is half of the way
  // from 200 to 300 K.
  const std::string ramp = made(bath +
                                "tinit = 100\nannealing-npoints = 3\nannealing-time = 0 50 "
                                "150\nannealing-temp = 100 200 300\n");
  EXPECT_NE(
      ramp.find("annealing_time = [\"0 ps\", \"50 ps\"]\nannealing_temp = [\"250 K\", \"300 K\"]"),
      std::string::npos)
      << ramp;
  std::string top = kTopology;
  write("topol.top", top.replace(top.find("#include \"field.itp\"\n"), 21, kField));
  write("conf.gro", kStructure);
  write("t.mdp",
        "nsteps = 10\ndt = 0.002\ntinit = 100\nnstenergy = 5\ncoulombtype = "
        "reaction-field\nrcoulomb = 0.9\nrvdw = 0.9\n");
  ASSERT_EQ(tessera({"import", "t.mdp", "-o", "t.toml"}).code, 0);
  ASSERT_EQ(tessera({"run", "t.toml", "-o", "T"}).code, 0);
  EXPECT_NE(read("T/1_t/energies.csv").find("\n0,100,"), std::string::npos)
      << read("T/1_t/energies.csv");
}

TEST_F(Mdp, MultipleTimeSteps) {
  write("m.mdp",
        "nsteps = 10\nmts = yes\nmts-levels = 2\nmts-level2-forces = "
        "longrange-nonbonded\nmts-level2-factor = 4\n");
  const Outcome o = tessera({"import", "m.mdp"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("mts = true\nmts_level2_factor = 4\n"), std::string::npos) << o.out;
}

/// Keys of lists and of constraint solvers mean nothing here, and each kind is told in a line.
TEST_F(Mdp, ExactListsAndConvergedConstraintsAreTold) {
  write("m.mdp",
        "nsteps = 10\nnstlist = 20\nverlet-buffer-tolerance = 0.005\nrlist = 1.2\nlincs_order = "
        "4\nlincs_iter = 2\nconstraint_algorithm = LINCS\nnstcalcenergy = 100\n");
  const Outcome o = tessera({"import", "m.mdp"});
  EXPECT_EQ(o.code, 0) << o.err;
  const auto told = [&](const char* why, const char* keys) {
    const std::size_t at = o.err.find(why);
    ASSERT_NE(at, std::string::npos) << why << o.err;
    EXPECT_NE(o.err.substr(at, o.err.find('\n', at) - at).find(keys), std::string::npos) << o.err;
  };
  told("pair lists are exact here", "nstlist, verlet-buffer-tolerance, rlist");
  told("constraints are solved until they hold to 1e-10",
       "lincs-order, lincs-iter, constraint-algorithm");
  told("not asked for here", "nstcalcenergy");
  EXPECT_NE(o.err.find("docs/decisions/0102"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("docs/decisions/0101"), std::string::npos) << o.err;
}

TEST_F(Mdp, WhatCannotBeHadIsRefusedWithTheWayOut) {
  const auto fails = [&](const char* text, const char* number, const char* part) {
    write("bad.mdp", text);
    const Outcome o = tessera({"import", "bad.mdp"});
    EXPECT_EQ(o.code, 4) << text << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find(std::string("error ") + number), std::string::npos) << text << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << text << o.err;
  };
  fails("rcolomb = 1\n", "E0725", "did you mean 'rcoulomb'?");
  fails("nonsense\n", "E0725", "KEY = VALUE");
  fails("dt = 1\ndt = 2\n", "E0725", "given twice");
  fails("dt = 0,002\n", "E0303", "decimal point");
  fails("integrator = cg\n", "E0726", "l-bfgs");
  fails("comm-grps = Protein Water\n", "E0726",
        "each of several comm-grps cannot be removed by itself");
  fails("comm-grps = Protein\n", "E0726", "comm-grps = System");
  fails("nsteps = -1\n", "E0726", "how many steps");
  fails("mts = yes\nmts-levels = 3\n", "E0726", "mts-levels = 3");
  fails("mts = yes\nmts-level2-forces = nonbonded\n", "E0726", "longrange-nonbonded");
  fails("mts = yes\nmts-level2-factor = 1\n", "E0726", "2 or more");
  fails("pull = yes\n", "E0726", "write pull = no");
  fails("colvars-active = yes\n", "E0726", "write colvars-active = no");
  fails("vdwtype = PME\n", "E0726", "DispCorr");
  fails("pcoupl = MTTK\n", "E0726", "c-rescale");
  fails("tcoupl = v-rescale\ntc-grps = A B\ntau-t = 1 1\nref-t = 300 300\n", "E0726",
        "no group 'A'");
  fails("freezegrps = Protein\nfreezedim = Y Y\n", "E0726", "Y or N for x, y and z");
  fails("freezegrps = Protein\nfreezedim = Y Y perhaps\n", "E0726", "expected Y or N");
  fails("pcoupl = Berendsen\nref-p = 1\ncompressibility = 1 2\n", "E0726", "2 numbers");
  fails("annealing = periodic\ntcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\n",
        "E0726", "single");
  const std::string ramp =
      "annealing = single\nannealing-time = 0 10 20\nannealing-temp = 0 100 300\ntcoupl = "
      "v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\nannealing-npoints = ";
  fails((ramp + "2\n").c_str(), "E0726", "annealing-npoints = 2, and 3 annealing-time are given");
  fails((ramp + "abc\n").c_str(), "E0303", "annealing-npoints is a whole number");
  for (const char* key :
       {"nstlog", "nstenergy", "nstxout", "nstvout", "nstfout", "nstxout-compressed"})
    fails((std::string(key) + " = -1\n").c_str(), "E0726", "or 0 for never");
  for (const char* text :
       {"dt = 0\n", "integrator = steep\nemtol = -1\n", "integrator = steep\nemstep = 0\n",
        "epsilon-r = 0\n", "nstxout-compressed = 5\ncompressed-x-precision = 0\n"})
    fails(text, "E0726", "a number above 0");
  EXPECT_EQ(tessera({"import", "case.in"}).code, 2);
  // dt is asked for more than once, and told once.
  write("bad.mdp", "dt = 2 fs\n");
  const std::string told = tessera({"import", "bad.mdp"}).err;
  EXPECT_EQ(told.find("E0303"), told.rfind("E0303")) << told;
}

}  // namespace
