// SPDX-License-Identifier: Apache-2.0
// What molecular.analysis refuses, and what it warns of.
#include "app_test.h"
#include "tessera/molecular/trajectory.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class AnalysisRefusals : public AppTest {
 protected:
  void SetUp() override { ASSERT_EQ(tessera({"new", "molecular.analysis", "."}).code, 0); }
};

TEST_F(AnalysisRefusals, WhatCannotBeAskedOfTheFramesIsRefused) {
  const auto refused = [&](const std::string& more, const std::string& message) {
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = [\"argon.xtc\"]\n" +
              more);
    const Outcome o = tessera({"run", "case.toml", "--output", "REFUSED", "--force"});
    EXPECT_EQ(o.code, 5) << o.err;
    EXPECT_TRUE(holds(o.err, message)) << o.err;
  };
  const std::string density = "[[analysis]]\ntype = \"density\"\n";
  refused("[frames]\nfrom = \"9 ps\"\nto = \"8 ps\"\n" + density,
          "case.toml:6:1: error E0743: frames.to lies before frames.from");
  refused("[[group]]\nname = \"g\"\nrange = [9, 3]\n" + density,
          "error E0743: the range ends at atom 3, before its first, 9");
  refused("[[group]]\nname = \"g\"\nrange = [190, 201]\n" + density,
          "error E0743: the range ends at atom 201, the topology has 200");
  const std::string many(101, 'n');
  refused(density + "name = \"" + many + "\"\n",
          "case.toml:6:1: error E0743: a name has at most 100 letters, this one 101");
  for (const char* name : {".", "..", ".hidden", "a/b", "a\\nb"})
    refused(density + "name = \"" + name + "\"\n",
            "case.toml:6:1: error E0743: a name becomes that of files");
  refused("[[group]]\nname = \"" + many + "\"\n" + density + "group = \"" + many + "\"\n",
          "case.toml:5:1: error E0743: a name has at most 100 letters, this one 101");
}

/// Formats that are written alone, packed files and structures are no trajectories.
TEST_F(AnalysisRefusals, EndingsThatAreNotReadAreToldAtTheirFile) {
  for (const char* name : {"x.foo", "x.rst7", "x.cif", "x.pvd", "x.gro.gz", "x.ENT", "x"}) {
    write(name, "no frames");
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = [\"argon.xtc\",\n"
          "  \"" +
              std::string(name) + "\"]\n[[analysis]]\ntype = \"density\"\n");
    for (const char* verb : {"check", "run"}) {
      const Outcome o = tessera({verb, "case.toml"});
      EXPECT_EQ(o.code, 5) << o.err;
      EXPECT_TRUE(holds(o.err, "case.toml:4:3: error E0743: '" +
                                   fs::path(name).extension().string() +
                                   "' is no ending of a trajectory that is read"))
          << o.err;
      EXPECT_TRUE(holds(o.err, "give .xtc, .trr,") && !holds(o.err, ".csv")) << o.err;
    }
  }
}

/// Atoms at constant velocity v have an msd of v^2 t^2, also where the second part begins at t = 0
/// with the last frame of the first.
TEST_F(AnalysisRefusals, AnAppendedFileMayRepeatAFrame) {
  write("two.pdb",
        "ATOM      1  AR  AR  A   1       1.000   0.000   0.000  1.00  0.00          AR\n"
        "ATOM      2  AR  AR  A   2       5.000   0.000   0.000  1.00  0.00          AR\nEND\n");
  tessera::molecular::System two;
  two.atoms.mass_amu.assign(2, 40);
  for (const int first : {0, 5}) {
    const auto writer =
        tessera::molecular::create_trajectory(here() / (first == 0 ? "a.trr" : "b.trr"), two);
    tessera::molecular::Snapshot s;
    s.frame.box = tessera::molecular::rectangular_box({3, 3, 3});
    for (int k = first; k <= first + 5; ++k) {
      s.frame.x_nm = {{1 + 0.05 * k, 1, 1}, {1, 2 - 0.05 * k, 1}};
      s.frame.step = k - first;
      s.frame.time_ps = k - first;
      writer->write(s);
    }
  }
  write(
      "case.toml",
      "app = \"molecular.analysis\"\ntopology = \"two.pdb\"\ntrajectory = [\"a.trr\", \"b.trr\"]\n"
      "frames = {times = \"append\"}\noutput.pictures = false\n[[analysis]]\ntype = \"msd\"\n"
      "fit_from = \"0 ps\"\nfit_to = \"2 ps\"\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "1 frames are left out: they repeat the frame before them") &&
              holds(o.err, "11 frames"))
      << o.err;
  const std::string curve = read("RUN/tables/msd_all_msd.csv");
  const std::size_t row = curve.find("\n1,");
  ASSERT_NE(row, std::string::npos) << curve;
  EXPECT_NEAR(std::stod(curve.substr(row + 3)), 0.05 * 0.05, 1e-12) << curve;
}

/// Atoms of a residue that a structure file has no bonds of are molecules of their own.
TEST_F(AnalysisRefusals, AtomsWithoutBondsAreToldWhereMoleculesCount) {
  write("lig.pdb",
        "CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n"
        "HETATM    1  O1  LIG A   1       0.000   0.000   0.000  1.00  0.00           O\n"
        "HETATM    2  C1  LIG A   1       1.000   0.000   0.000  1.00  0.00           C\n"
        "END\n");
  const auto told = [&](const std::string& more) {
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"lig.pdb\"\ntrajectory = [\"lig.pdb\"]\n"
          "[[analysis]]\ntype = \"rdf\"\n" +
              more);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return holds(o.out + o.err, "2 atoms of residues of several have no bond in lig.pdb");
  };
  EXPECT_TRUE(told(""));
  EXPECT_FALSE(told("same_molecule = true\n"));
}

/// At 100 ns numbers of single precision are 7.8 fs apart: three frames every 4 fs have two times.
TEST_F(AnalysisRefusals, TimesThatSinglePrecisionDoesNotTell) {
  write("two.pdb",
        "ATOM      1  AR  AR  A   1       1.000   0.000   0.000  1.00  0.00          AR\n"
        "ATOM      2  AR  AR  A   2       5.000   0.000   0.000  1.00  0.00          AR\nEND\n");
  tessera::molecular::System two;
  two.atoms.mass_amu.assign(2, 40);
  const auto checked = [&](const std::string& file, int frames) {
    const auto writer = tessera::molecular::create_trajectory(here() / file, two);
    tessera::molecular::Snapshot s;
    s.frame.x_nm.assign(2, {1, 1, 1});
    for (int k = 0; k < frames; ++k) {
      s.frame.step = k;
      s.frame.time_ps = 1e5 + 0.004 * k;
      writer->write(s);
    }
    writer->sync();
    write("case.toml", "app = \"molecular.analysis\"\ntopology = \"two.pdb\"\ntrajectory = [\"" +
                           file +
                           "\"]\n[[analysis]]\ntype = \"msd\"\nfit_from = \"0 ps\"\n"
                           "fit_to = \"0.008 ps\"\n");
    return tessera({"check", "case.toml"});
  };
  const Outcome few = checked("few.nc", 3);
  EXPECT_EQ(few.code, 5);
  EXPECT_TRUE(holds(few.err,
                    "case.toml:6:1: error E0743: the times of few.nc are in single "
                    "precision, which at 100000 ps does not tell"))
      << few.err;
  for (const Outcome& o : {checked("many.nc", 400), checked("few.trr", 3)}) {
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_FALSE(holds(o.err, "E0743")) << o.err;
    EXPECT_TRUE(holds(o.out, "frames every 0.004") || holds(o.out, "frames every 0.00399"))
        << o.out;
  }
}

/// Lags, ends of lines and bins that no trajectory has or no memory holds are refused where they
/// are asked for, and times between frames are told. Frames of the example are 1 ps apart.
TEST_F(AnalysisRefusals, TimesThatFramesDoNotHave) {
  const auto checked = [&](const std::string& task) {
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = [\"argon.xtc\"]\n"
          "output.pictures = false\n[[analysis]]\n" +
              task);
    return tessera({"check", "case.toml"});
  };
  const auto refused = [&](const std::string& task, const std::string& says) {
    const Outcome o = checked(task);
    EXPECT_EQ(o.code, 5) << task << o.err;
    EXPECT_TRUE(holds(o.err, says)) << task << o.err;
    EXPECT_EQ(tessera({"run", "case.toml", "--output", "REFUSED", "--force"}).code, 5);
  };
  const std::string msd = "type = \"msd\"\nfit_from = \"2 ps\"\n";
  refused(msd + "fit_to = \"1 s\"\n",
          "case.toml:8:1: error E0743: fit_to = 1e+12 ps spans more frames, 1 ps apart");
  // By the size of the file (of 200 atoms), by the times asked for, of a single frame.
  const auto frames = static_cast<double>(fs::file_size(here() / "argon.xtc")) / 200;
  refused(msd + "fit_to = \"" + std::to_string(static_cast<int>(frames) + 2) + " ps\"\n",
          "case.toml:8:1: error E0743: fit_to");
  refused(msd + "fit_to = \"6 ps\"\n[frames]\nfrom = \"1 ps\"\nto = \"6 ps\"\n", "at most 6");
  refused("type = \"vacf\"\nlag = \"6 ps\"\n[frames]\nto = \"0 ps\"\n", "there is one");
  refused("type = \"rdf\"\nbin = \"1e-12 nm\"\n", "expected at most 100000 bins");
  const auto told = [&](const std::string& task, const std::string& says) {
    const Outcome o = checked(task);
    EXPECT_EQ(o.code, 0) << task << o.err;
    EXPECT_EQ(holds(o.out + o.err, "no whole number"), !says.empty()) << task << o.out << o.err;
    EXPECT_TRUE(holds(o.out + o.err, says)) << task << o.out << o.err;
  };
  told(msd + "fit_to = \"10 ps\"\n", "");
  told(msd + "fit_to = \"6 ps\"\n[frames]\nfrom = \"1 ps\"\nto = \"7 ps\"\n", "");
  told(msd + "fit_to = \"10.4 ps\"\n",
       "case.toml:8:1: warning E0743: fit_to = 10.4 ps is no whole number of the 1 ps between "
       "frames: 10 ps is taken");
  told("type = \"msd\"\nfit_from = \"0.4 ps\"\nfit_to = \"10 ps\"\n", "1 ps is taken");
  told("type = \"rdf\"\nr_max = \"1.2 nm\"\nbin = \"0.1 nm\"\n", "");
  told("type = \"rdf\"\nr_max = \"1.25 nm\"\nbin = \"0.1 nm\"\n",
       "case.toml:7:1: warning E0743: r_max = 1.25 nm is no whole number of bins of 0.1 nm: 1.2 nm "
       "is taken");
  const auto short_lag = [&](const std::string& lag) {
    return holds(checked(msd + "fit_to = \"10 ps\"\nlag = \"" + lag + "\"\n").err,
                 "case.toml:9:1: warning E0743: lag is shorter than fit_to");
  };
  EXPECT_TRUE(short_lag("5 ps"));
  EXPECT_FALSE(short_lag("10 ps"));
}

/// Times that are rounded are those of their frames, here 0.334 ps apart; others are told.
TEST_F(AnalysisRefusals, RoundedTimesAreThoseOfTheirFrames) {
  std::string gro;
  for (int k = 0; k < 8; ++k)
    gro += "Argon t= " + std::to_string(0.334 * k) +
           "\n    2\n    1AR      AR    1   0.500   0.500   0.500\n    2AR      AR    2   0.90" +
           std::to_string(k * k % 10) + "   0.500   0.500\n   3.00000   3.00000   3.00000\n";
  write("two.gro", gro);
  write("two.pdb",
        "HETATM    1 AR   AR  A   1       5.000   5.000   5.000  1.00  0.00          AR\n"
        "HETATM    2 AR   AR  A   2       9.000   5.000   5.000  1.00  0.00          AR\nEND\n");
  const auto told = [&](const std::string& ends) {
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"two.pdb\"\ntrajectory = [\"two.gro\"]\n"
          "output.pictures = false\n[[analysis]]\ntype = \"msd\"\nfit_from = \"0 ps\"\n" +
              ends);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const std::string rounded = told("fit_to = \"1 ps\"\n");
  EXPECT_FALSE(holds(rounded, "no whole number")) << rounded;
  const std::string curve = read("RUN/tables/msd_all_msd.csv");
  EXPECT_NEAR(std::stod(curve.substr(curve.rfind('\n', curve.size() - 2) + 1)), 1.002, 1e-6)
      << curve;
  const std::string between = told("fit_to = \"0.99 ps\"\n");
  EXPECT_TRUE(holds(between,
                    "fit_to = 0.99 ps is no whole number of the 0.334 ps between frames: "
                    "0.668 ps is taken"))
      << between;
  const std::string lag = told("fit_to = \"1 ps\"\nlag = \"1.5 ps\"\n");
  EXPECT_TRUE(holds(lag, "lag = 1.5 ps is no whole number") && holds(lag, "1.336 ps is taken"))
      << lag;
}

/// Donors follow from bonds: without them no number is known, not even 0.
TEST_F(AnalysisRefusals, HydrogenBondsNeedBonds) {
  const std::string o = "HETATM    1  O1  LIG A   1       0.000   0.000   0.000  1.00  0.00      "
                        "     O\n",
                    h = "HETATM    2  H1  LIG A   1       1.000   0.000   0.000  1.00  0.00      "
                        "     H\n";
  const auto ran = [&](const std::string& pdb) {
    write("lig.pdb", pdb);
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"lig.pdb\"\ntrajectory = "
          "[\"lig.pdb\"]\noutput.pictures = false\n[[analysis]]\ntype = \"hydrogen_bonds\"\n");
    return tessera({"run", "case.toml", "--output", "BONDS", "--force"});
  };
  const Outcome without = ran(o + h + "END\n");
  EXPECT_EQ(without.code, 5) << without.err;
  EXPECT_TRUE(holds(without.err, "E0743") && holds(without.err, "which say what atom bears"))
      << without.err;
  const Outcome with = ran(o + h + "CONECT    1    2\nEND\n");
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_FALSE(holds(with.err, "have no bond")) << with.err;
  // Water is known by its name, the ligand beside it is not.
  const std::string water =
      "HETATM    3  O   HOH A   2       5.000   0.000   0.000  1.00  0.00           O\n"
      "HETATM    4  H1  HOH A   2       5.960   0.000   0.000  1.00  0.00           H\n"
      "HETATM    5  H2  HOH A   2       4.760   0.930   0.000  1.00  0.00           H\n";
  const Outcome some = ran(o + h + water + "END\n");
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_TRUE(holds(some.err, "warning") && holds(some.err, "1 of 3 hydrogens have no bond") &&
              holds(some.err, "the first is atom 2"))
      << some.err;
}

/// A later frame that one analysis refuses takes nothing from the others.
TEST_F(AnalysisRefusals, ALaterFrameIsRefusedWhenTheOthersAreWritten) {
  const auto frame = [](const char* time, const char* edge) {
    return std::string("Argon t= ") + time +
           "\n    2\n    1AR      AR    1   0.500   0.500   0.500\n    2AR      AR    2   0.900   "
           "0.500   0.500\n   " +
           edge + "   " + edge + "   " + edge + "\n";
  };
  write("two.pdb",
        "HETATM    1 AR   AR  A   1       5.000   5.000   5.000  1.00  0.00          AR\n"
        "HETATM    2 AR   AR  A   2       9.000   5.000   5.000  1.00  0.00          AR\nEND\n");
  write("two.gro", frame("0.0", "3.00000") + frame("1.0", "2.00000") + frame("2.0", "3.00000"));
  const auto ran = [&](const char* r_max) {
    write("case.toml",
          std::string("app = \"molecular.analysis\"\ntopology = \"two.pdb\"\ntrajectory = "
                      "[\"two.gro\"]\noutput.pictures = false\n[[analysis]]\ntype = \"rdf\"\n"
                      "r_max = \"") +
              r_max + "\"\n[[analysis]]\ntype = \"density\"\naxis = \"c\"\nslices = 2\n");
    return tessera({"run", "case.toml", "--output", "RUN", "--force"});
  };
  ASSERT_EQ(ran("0.9 nm").code, 0);
  const auto files = [&] {
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(here() / "RUN/tables"))
      names.push_back(e.path().filename().string());
    std::ranges::sort(names);
    return names;
  };
  std::vector<std::string> all = files();
  std::string density;
  for (const std::string& name : all)
    if (holds(name, "density")) density = name;
  ASSERT_FALSE(density.empty());
  const std::string before = read("RUN/tables/" + density);
  fs::remove_all(here() / "RUN");
  const Outcome o = ran("1.4 nm");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "case.toml:5:1") && holds(o.err, "in the frame at 1 ps")) << o.err;
  EXPECT_EQ(read("RUN/tables/" + density), before);
  std::erase_if(all, [](const std::string& name) { return holds(name, "rdf"); });
  EXPECT_EQ(files(), all);
}

TEST_F(AnalysisRefusals, FaultsAreToldAtTheirPlace) {
  const std::string text = read("brownian.toml");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string t = text;
    t.replace(t.find(from), from.size(), to);
    write("case.toml", t);
    return tessera({"run", "case.toml", "--output", "RUN", "--force"});
  };
  Outcome o = changed("type = \"rdf\"", "type = \"rdf\"\ngroup = \"water\"");
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "E0743") && holds(o.err, "there is no group 'water'")) << o.err;
  o = changed("fit_to = \"10 ps\"", "fit_to = \"1 ps\"");
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "E0743")) << o.err;
  o = changed("argon.pdb", "argon.xtc");
  EXPECT_EQ(o.code, 5) << o.err;
  o = changed("[[analysis]]", "[[group]]\nname = \"none\"\natoms = [\"XX\"]\n[[analysis]]");
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "no atom of argon.pdb belongs to the group 'none'")) << o.err;
  o = changed("[[analysis]]", "[[group]]\nname = \"no_ions\"\nselect = \"not ion\"\n[[analysis]]");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "E0760") && holds(o.err, "'ion' goes by charges")) << o.err;
  o = changed("[[analysis]]",
              "[[expect]]\nquantity = \"msd.diffusion\"\nvalue = 1\ntolerance = "
              "1\n[[analysis]]");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "no analysis finds 'msd.diffusion'") &&
              holds(o.err, "msd_all.diffusion"))
      << o.err;
  EXPECT_FALSE(fs::exists(here() / "RUN/results.h5")) << "before the first frame";
  // What the frames do not hold: distances beyond half of the box, velocities, even times.
  o = changed("r_max = \"1.4 nm\"", "r_max = \"1.6 nm\"");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "case.toml:7:1") && holds(o.err, "E0743") &&
              holds(o.err, "lower r_max") && holds(o.err, "in the frame at 0 ps"))
      << o.err;
  o = changed("type = \"rdf\"\nr_max = \"1.4 nm\"\nbin = \"0.05 nm\"",
              "type = \"vacf\"\nlag = \"2 ps\"");
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "case.toml:7:1") && holds(o.err, "expected velocities")) << o.err;

  fs::resize_file(here() / "argon.xtc", fs::file_size(here() / "argon.xtc") - 100);
  o = tessera({"run", "brownian.toml", "--output", "RUN", "--force"});
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_TRUE(holds(o.err, "E0740") && holds(o.err, "frame 399")) << o.err;
  o = changed("[[analysis]]", "[frames]\naccept_cut_end = true\n[[analysis]]");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "warning") && holds(o.err, "frame 399")) << o.err;
}

/// One frame has no spacing: none is told, and no time is measured by it.
TEST_F(AnalysisRefusals, OneFrameIsToldAsOne) {
  const auto check = [&](const std::string& more) {
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = [\"argon.xtc\"]\n"
          "frames = {to = \"0 ps\"}\n[[analysis]]\ntype = " +
              more);
    return tessera({"check", "case.toml"});
  };
  const Outcome density = check("\"density\"\n");
  EXPECT_EQ(density.code, 0) << density.err;
  EXPECT_TRUE(holds(density.out, "200 atoms, one frame, at 0 ps")) << density.out;
  EXPECT_FALSE(holds(density.out, "frames every"));
  const Outcome msd = check("\"msd\"\nfit_from = \"2.5 ps\"\nfit_to = \"8 ps\"\n");
  EXPECT_EQ(msd.code, 5);
  EXPECT_TRUE(holds(msd.err, "E0743: fit_from = 2.5 ps spans frames, and there is one")) << msd.err;
  EXPECT_FALSE(holds(msd.err, "between frames"));
}

/// What nothing that was found depends on may change in a run that goes on.
TEST_F(AnalysisRefusals, PicturesAndExpectationsMayChangeInAResume) {
  write("case.toml",
        "app = \"molecular.analysis\"\ntopology = \"argon.pdb\"\ntrajectory = [\"argon.xtc\"]\n"
        "[[analysis]]\ntype = \"density\"\nslices = 5\n");
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  for (const char* change : {"output.pictures=false", "title=\"another\""}) {
    const Outcome o = tessera({"resume", "RUN", "--set", change});
    EXPECT_EQ(o.code, 0) << o.err;
  }
  EXPECT_TRUE(holds(tessera({"resume", "RUN", "--set", "frames.every=2"}).err, "E0435"));
}

/// Places are those of the first frame that there is, in whichever file.
TEST_F(AnalysisRefusals, SelectionsByPlacesNeedAFrame) {
  write("pair.pdb",
        "HETATM    1 AR   AR  A   1       5.000   5.000   5.000  1.00  0.00          AR\n"
        "HETATM    2 AR   AR  A   2       9.000   5.000   5.000  1.00  0.00          AR\nEND\n");
  write("pair.gro",
        "Argon t= 1.0\n    2\n    1AR      AR    1   0.500   0.500   0.500\n"
        "    2AR      AR    2   0.900   0.500   0.500\n   3.00000   3.00000   3.00000\n");
  tessera::molecular::System pair;
  pair.atoms.mass_amu.assign(2, 40);
  {
    tessera::molecular::Snapshot s;
    s.frame.x_nm = {{0.5, 0.5, 0.5}, {0.9, 0.5, 0.5}};
    tessera::molecular::create_trajectory(here() / "empty.dcd", pair)->write(s);
  }
  // The header alone: without the frame, three records of two numbers, and with a count of 0.
  std::string bytes = read("empty.dcd");
  bytes.resize(bytes.size() - 3 * (8 + 2 * 4));
  write("empty.dcd", bytes.replace(8, 4, 4, '\0'));
  const auto checked = [&](const std::string& files) {
    write("case.toml",
          "app = \"molecular.analysis\"\ntopology = \"pair.pdb\"\ntrajectory = [" + files +
              "]\noutput.pictures = false\n[[group]]\nname = \"g\"\nselect = \"x < 0.7\"\n"
              "[[analysis]]\ntype = \"density\"\ngroup = \"g\"\n");
    return tessera({"check", "case.toml"});
  };
  const Outcome none = checked("\"empty.dcd\"");
  EXPECT_EQ(none.code, 5) << none.err;
  EXPECT_TRUE(holds(none.err, "case.toml:7:1: error E0743: it asks where atoms are")) << none.err;
  const Outcome second = checked("\"empty.dcd\", \"pair.gro\"");
  EXPECT_EQ(second.code, 0) << second.err;
}

}  // namespace
