// SPDX-License-Identifier: Apache-2.0
// A case is made once by a verb, whatever the verb asks of it: each input file is opened once, and
// the manifest names it by the bytes that were parsed. HDF5's library opens the descriptor of a
// file again, which inotify cannot tell from its name: these files are looked up in the manifest
// alone.
#include "app_test.h"
#include "open_counter.h"
#include "tessera/data/manifest.h"
#include "tessera/data/sha256.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::testing;
namespace data = tessera::data;
namespace fs = std::filesystem;

namespace {

class InputsOnce : public AppTest {
 protected:
  /// `arguments` open each of `files` once.
  void expect_once(const std::vector<std::string>& arguments, const std::vector<std::string>& files,
                   int code = 0) {
    std::vector<fs::path> paths;
    for (const std::string& f : files) paths.push_back(here() / f);
    OpenCounter counter(paths);
    const Outcome o = tessera(arguments);
    EXPECT_EQ(o.code, code) << o.err;
    const std::map<std::string, int> counts = counter.counts();
    for (const fs::path& p : paths) {
      const auto found = counts.find(p.filename());
      EXPECT_EQ(found == counts.end() ? 0 : found->second, 1)
          << p.filename() << " in `" << arguments[0] << "`";
    }
  }
  /// The manifest names these files, in this order, by what is in them.
  void expect_named(const std::string& run, const std::vector<std::string>& files) {
    const data::Manifest m = data::manifest_from_json(read(run + "/manifest.json"), run);
    std::vector<std::string> names;
    for (const data::InputFile& f : m.inputs) {
      names.push_back(fs::path(f.path).lexically_relative(fs::canonical(here())));
      EXPECT_EQ(f.sha256, data::sha256_hex(read(names.back()))) << f.path;
      EXPECT_EQ(f.bytes, fs::file_size(f.path)) << f.path;
    }
    EXPECT_EQ(names, files);
  }
  /// The verbs that make a case, one after the other; the last is a run in RUN.
  void expect_once_by_each_verb(const std::string& file, const std::vector<std::string>& files,
                                std::vector<std::string> verbs) {
    verbs.emplace_back("run");
    for (const std::string& verb : verbs) {
      std::vector<std::string> arguments{verb, file};
      if (verb == "run") arguments.insert(arguments.end(), {"--output", "RUN"});
      expect_once(arguments, files);
    }
  }
  void copy_example(const std::string& name) const {
    fs::copy_file(fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular" / name, here() / name);
  }
};

TEST_F(InputsOnce, WavesInTime) {
  write("nk.csv", "wl,n\n0.8,1.5\n1.2,1.49\n1.6,1.48\n2.0,1.47\n");
  std::string wave;
  for (int n = 0; n <= 100; ++n)
    wave += std::to_string(n) + "e-15 " +
            std::to_string(std::exp(-0.01 * (n - 40) * (n - 40)) * std::sin(0.3 * n)) + "\n";
  write("wave.txt", wave);
  write("case.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["2 um", "2 um", "0 um"], cell = "100 nm", polarization = "Ez"}
run = {stop.steps = 400}
boundary = {pml.cells = 5}
output = {vtk = false}
material = [{name = "one", index_file = "nk.csv"}, {name = "two", index_file = "nk.csv"}]
structure = [{shape = "sphere", radius = "0.2 um", centre = ["0.4 um", "0 um", "0 um"], material = "one"}, {shape = "sphere", radius = "0.2 um", centre = ["0 um", "0.4 um", "0 um"], material = "two"}]
source = [{kind = "point", component = "Ez", position = ["-0.4 um", "0 um", "0 um"], waveform = {kind = "file", file = "wave.txt"}}]
monitor = [{kind = "dft", name = "field", position = ["0.2 um", "0.1 um", "0 um"], size = ["0.3 um", "0.3 um", "0 um"], frequencies = ["190 THz"]}]
)");
  expect_once_by_each_verb("case.toml", {"nk.csv", "wave.txt"}, {"check", "estimate"});
  expect_named("RUN", {"nk.csv", "wave.txt"});
  // The fields of a former run are an input too.
  expect_once({"run", "case.toml", "--output", "less", "--set", "monitor[0].subtract=\"RUN\""},
              {"nk.csv", "wave.txt"});
  expect_named("less", {"nk.csv", "wave.txt", "RUN/results.h5"});
  expect_once({"resume", "RUN", "--set", "run.stop.steps=440"}, {"nk.csv", "wave.txt"});
  expect_named("RUN", {"nk.csv", "wave.txt"});
}

TEST_F(InputsOnce, InverseScattering) {
  std::string table = "time_s,eight,columns\n";
  for (int n = 0; n <= 40; ++n) {
    table += std::to_string(n) + "e-10";
    for (int k = 1; k <= 2; ++k) table += "," + std::to_string(k * std::sin(0.5 * n));
    table += "\n";
  }
  write("fields.csv", table);
  write("nk.csv", "wl_m,n\n0.1,1.2\n0.2,1.21\n0.5,1.22\n1,1.2201\n");
  write("case.toml", R"(app = "electromagnetics.inverse_scattering"
grid = {size = ["0.4 m", "0.4 m", "0 m"], cell = "2 cm", polarization = "Ez"}
run = {precision = "f64", stop.time = "3 ns"}
boundary = {pml.cells = 4}
receivers = {positions = [["-0.08 m", "-0.06 m", "0 m"], ["0.08 m", "0.06 m", "0 m"]]}
region = {low = ["-4 cm", "-4 cm", "0 m"], high = ["4 cm", "4 cm", "0 m"], start = 1.5, least = 1}
optimize = {iterations = 1}
data = {file = "fields.csv"}
output = {vtk = false, pictures = false}
material = [{name = "stone", index_file = "nk.csv"}]
structure = [{shape = "sphere", radius = "2 cm", centre = ["0 m", "0.12 m", "0 m"], material = "stone"}]
truth = [{shape = "sphere", radius = "2 cm", material = "stone"}]
source = [{kind = "point", component = "Ez", position = ["-0.1 m", "0 m", "0 m"], amplitude = 1e-4, waveform = {kind = "baseband", width = "0.2 ns"}}]
)");
  expect_once_by_each_verb("case.toml", {"fields.csv", "nk.csv"}, {"check", "estimate"});
  expect_named("RUN", {"nk.csv", "fields.csv"});
}

TEST_F(InputsOnce, WhatIsWrongWithTheDataOfInverseScatteringIsToldBeforeAnythingIsWritten) {
  ASSERT_EQ(tessera({"new", "electromagnetics.inverse_scattering", "."}).code, 0);
  write("fields.csv", "time_s,one\n0,1\n1e-9,2\n");
  const Outcome o =
      tessera({"run", "two_discs.toml", "--output", "RUN", "--set", "data.file=\"fields.csv\""});
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_TRUE(holds(o.err, "fields.csv:2:1: error E0651")) << o.err;
  EXPECT_FALSE(fs::exists(here() / "RUN"));
}

TEST_F(InputsOnce, MoleculesOfAForceField) {
  copy_example("peptides.xml");
  copy_example("alanine.pdb");
  write("case.toml", R"(app = "molecular.dynamics"
forcefield = ["peptides.xml"]
structure = "alanine.pdb"
add_hydrogens = true
rcoulomb = "inf"
rvdw = "inf"
coulombtype = "cut-off"
vdw_modifier = "none"
constraints = "h-bonds"
dt = "1 fs"
nsteps = 20
nstxout = 10
output.trajectory = ["xtc", "h5md"]
)");
  const std::vector<std::string> files{"peptides.xml", "alanine.pdb"};
  expect_once_by_each_verb("case.toml", files, {"check", "estimate", "gradcheck"});
  expect_named("RUN", files);
  expect_once({"resume", "RUN", "--set", "nsteps=30"}, files);
  expect_named("RUN", files);
  expect_once({"plot", "RUN"}, files);
  fs::create_directory(here() / "case");
  for (const std::string ending : {"xtc", "h5md"}) {
    const std::string frames = "case/frames." + ending;
    std::vector<std::string> all = files;
    for (const auto& e : fs::directory_iterator(here() / "RUN/1_dynamics"))
      if (e.path().extension() == "." + ending) fs::copy_file(e.path(), here() / frames);
    if (ending == "xtc") all.push_back(frames);
    expect_once({"rerun", "case.toml", frames, "--output", "AGAIN_" + ending}, all);
    expect_named("AGAIN_" + ending, {"peptides.xml", "alanine.pdb", frames});
  }
}

TEST_F(InputsOnce, TopologiesWithTheirIncludesForAllStages) {
  write("field.itp",
        "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nO 8 15.9994 0.0 A 0.3166 0.65\nH 1 1.008 "
        "0.0 A 0 0\n");
  write("held.itp", "[ position_restraints ]\n1 1 1000 1000 1000\n");
  write("w.top",
        "#include \"field.itp\"\n[ moleculetype ]\nSOL 2\n[ atoms ]\n1 O 1 SOL OW 1 -0.8476\n2 H 1 "
        "SOL HW1 1 0.4238\n3 H 1 SOL HW2 1 0.4238\n[ settles ]\n1 1 0.1 0.16330\n"
        "#ifdef POSRES\n#include \"held.itp\"\n#endif\n[ system ]\nWater\n[ molecules ]\nSOL 1\n");
  write("w.gro",
        "Water\n    3\n    1SOL     OW    1   0.500   0.500   0.500\n    1SOL    HW1    2   0.600  "
        " 0.500   0.500\n    1SOL    HW2    3   0.467   0.594   0.500\n   2.00000   2.00000   "
        "2.00000\n");
  write("case.toml", R"(app = "molecular.dynamics"
topology = "w.top"
structure = "w.gro"
rcoulomb = "0.9 nm"
rvdw = "0.9 nm"
constraints = "h-bonds"
dt = "1 fs"
gen_temp = "100 K"
nsteps = 10
[[stage]]
name = "free"
[[stage]]
name = "held"
define = ["POSRES"]
)");
  const std::vector<std::string> files{"w.gro", "w.top", "field.itp", "held.itp"};
  expect_once_by_each_verb("case.toml", files, {"check", "estimate"});
  expect_named("RUN", files);
  fs::copy_file(here() / "RUN/2_held/final.rst7", here() / "start.rst7");
  expect_once({"run", "case.toml", "--output", "ON", "--set", "velocities=\"start.rst7\""},
              {"w.gro", "w.top", "field.itp", "held.itp", "start.rst7"});
}

TEST_F(InputsOnce, Trajectories) {
  ASSERT_EQ(tessera({"new", "molecular.analysis", "."}).code, 0);
  expect_once_by_each_verb("brownian.toml", {"argon.pdb", "argon.xtc"}, {"check", "estimate"});
  expect_named("RUN", {"argon.pdb", "argon.xtc"});
  // A file that is topology and trajectory at once, with a group that is selected by the first
  // frame.
  write("both.toml", R"(app = "molecular.analysis"
topology = "argon.pdb"
trajectory = ["argon.pdb", "argon.xtc"]
group = [{name = "half", select = "x < 1.5"}]
analysis = [{type = "rdf", group = "half", r_max = "1 nm"}]
)");
  expect_once({"run", "both.toml", "--output", "BOTH"}, {"argon.pdb", "argon.xtc"});
  expect_named("BOTH", {"argon.pdb", "argon.xtc"});
}

TEST_F(InputsOnce, Soundings) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  for (int k = 4; k <= 12; ++k)
    fs::remove(here() / "site/soundings" /
               ("syn" + std::string(k < 10 ? "0" : "") + std::to_string(k) + ".edi"));
  write("case.toml",
        "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n[model]\nlayers = "
        "12\n[posterior]\nmethod = \"none\"\n");
  const std::vector<std::string> files{"site/soundings/syn01.edi", "site/soundings/syn02.edi",
                                       "site/soundings/syn03.edi"};
  expect_once_by_each_verb("case.toml", files, {"check", "estimate", "gradcheck"});
  expect_named("RUN", files);
  // One that is bad is read once too, and is no input.
  write("site/soundings/syn02.edi", ">HEAD\n");
  expect_once({"run", "case.toml", "--output", "LESS", "--keep-going"}, files);
  expect_named("LESS", {"site/soundings/syn01.edi", "site/soundings/syn03.edi"});
}

/// A run that is killed leaves a manifest that says what it read.
TEST_F(InputsOnce, TheManifestNamesThemBeforeTheRun) {
  copy_example("cluster.xyz");
  copy_example("cluster.toml");
  fs::rename(here() / "cluster.toml", here() / "case.toml");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--max-time", "1 ns"});
  EXPECT_EQ(o.code, 75) << o.err;
  expect_named("RUN", {"cluster.xyz"});
}

}  // namespace
