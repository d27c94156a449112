// SPDX-License-Identifier: Apache-2.0
// A case is made once by a verb, whatever the verb asks of it: each input file is opened once, and
// the manifest names it by the bytes that were parsed. HDF5's library opens the descriptor of a
// file again, which inotify cannot tell from its name: these files are looked up in the manifest
// alone.
#include "app_test.h"
#include "case_text.h"
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
  /// What the row inputs_once of tests/acceptance runs, too.
  static std::string shared(const std::string& name) { return case_text("inputs_once/" + name); }
  void take(const std::vector<std::string>& names) {
    for (const std::string& name : names) write(name, shared(name));
  }
  void copy_example(const std::string& name) const {
    fs::copy_file(fs::path(TESSERA_SOURCE_DIR) / "apps/examples/molecular" / name, here() / name);
  }
};

TEST_F(InputsOnce, WavesInTime) {
  take({"fdtd.toml", "nk.csv", "wave.txt"});
  expect_once_by_each_verb("fdtd.toml", {"nk.csv", "wave.txt"}, {"check", "estimate"});
  expect_named("RUN", {"nk.csv", "wave.txt"});
  // The fields of a former run are an input too.
  expect_once({"run", "fdtd.toml", "--output", "less", "--set", "monitor[0].subtract=\"RUN\""},
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
  take({"nk_m.csv"});
  write("case.toml", shared("inverse.toml") + "data = {file = \"fields.csv\"}\n");
  expect_once_by_each_verb("case.toml", {"fields.csv", "nk_m.csv"}, {"check", "estimate"});
  expect_named("RUN", {"nk_m.csv", "fields.csv"});
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
  take({"peptide.toml"});
  const std::vector<std::string> files{"peptides.xml", "alanine.pdb"};
  expect_once_by_each_verb("peptide.toml", files, {"check", "estimate", "gradcheck"});
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
    expect_once({"rerun", "peptide.toml", frames, "--output", "AGAIN_" + ending}, all);
    expect_named("AGAIN_" + ending, {"peptides.xml", "alanine.pdb", frames});
  }
}

TEST_F(InputsOnce, TopologiesWithTheirIncludesForAllStages) {
  const std::vector<std::string> files{"w.gro", "w.top", "field.itp", "held.itp"};
  take(files);
  take({"water.toml"});
  expect_once_by_each_verb("water.toml", files, {"check", "estimate"});
  expect_named("RUN", files);
  fs::copy_file(here() / "RUN/2_held/final.rst7", here() / "start.rst7");
  expect_once({"run", "water.toml", "--output", "ON", "--set", "velocities=\"start.rst7\""},
              {"w.gro", "w.top", "field.itp", "held.itp", "start.rst7"});
}

TEST_F(InputsOnce, Trajectories) {
  ASSERT_EQ(tessera({"new", "molecular.analysis", "."}).code, 0);
  expect_once_by_each_verb("brownian.toml", {"argon.pdb", "argon.xtc"}, {"check", "estimate"});
  expect_named("RUN", {"argon.pdb", "argon.xtc"});
  // A file that is topology and trajectory at once, with a group that is selected by the first
  // frame.
  take({"both.toml"});
  expect_once({"run", "both.toml", "--output", "BOTH"}, {"argon.pdb", "argon.xtc"});
  expect_named("BOTH", {"argon.pdb", "argon.xtc"});
}

TEST_F(InputsOnce, Soundings) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  for (int k = 4; k <= 12; ++k)
    fs::remove(here() / "site/soundings" /
               ("syn" + std::string(k < 10 ? "0" : "") + std::to_string(k) + ".edi"));
  take({"soundings.toml"});
  const std::vector<std::string> files{"site/soundings/syn01.edi", "site/soundings/syn02.edi",
                                       "site/soundings/syn03.edi"};
  expect_once_by_each_verb("soundings.toml", files, {"check", "estimate", "gradcheck"});
  expect_named("RUN", files);
  // One that is bad is read once too, and is no input.
  write("site/soundings/syn02.edi", ">HEAD\n");
  expect_once({"run", "soundings.toml", "--output", "LESS", "--keep-going"}, files);
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
