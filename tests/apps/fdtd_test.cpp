// SPDX-License-Identifier: Apache-2.0
// electromagnetics.fdtd as its users meet it: from the example to results, killed and resumed.
#include "fdtd_case.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

TEST_F(Fdtd, TheExampleMeetsItsExpectations) {
  ASSERT_EQ(tessera({"new", "electromagnetics.fdtd", "ring"}).code, 0);
  const Outcome check = tessera({"check", "ring/ring.toml"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(holds(check.out, "precision f32"));
  EXPECT_EQ(tessera({"estimate", "ring/ring.toml"}).code, 0);
  const Outcome run = tessera({"run", "ring/ring.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(holds(run.err, "precision f32"));
  for (const char* name : {"metrics.csv", "results.h5", "tables/modes.csv", "plots/field_0001.png",
                           "plots/modes.png", "plots/scene.png", "resolved.toml"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  // The pictures drawn anew from results.h5 are the same.
  const std::string before = read("RUN/plots/field_0001.png");
  fs::remove(here() / "RUN/plots/field_0001.png");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/field_0001.png"), before);
  expect_files_known("RUN");
  // An expectation that is not met is exit 6.
  EXPECT_EQ(
      tessera({"run", "ring/ring.toml", "--output", "R2", "--set", "expect[0].value=3.6e13"}).code,
      6);
}

TEST_F(Fdtd, KilledAndResumedItIsTheSameOnAnyNumberOfThreads) {
  write("case.toml", fdtd_case());
  expect_same_after_kill("0.02 s");
  EXPECT_TRUE(results("whole").contains("tables/through.csv"));
}

// The picture of the media is called so, too: each keeps its own.
TEST_F(Fdtd, AMonitorMayBeCalledScene) {
  write("case.toml", changed(fdtd_case(), "name = \"through\"", "name = \"scene\""));
  const Outcome run = run_case("case.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(holds(read("RUN/plots/scene.svg"), ">behind<"));  // the mark of the probe
  EXPECT_TRUE(fs::exists(here() / "RUN/plots/scene_monitor.svg"));
  EXPECT_FALSE(holds(read("RUN/plots/scene_monitor.svg"), ">behind<"));
}

TEST_F(Fdtd, AnEditedCaseIsNotGoneOnWith) {
  write("case.toml", fdtd_case());
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--max-time", "10 ms", "--set",
                     "run.stop.steps=100000000"})
                .code,
            75);
  expect_edit_refused("RUN", "\ncourant = ", "\ncourant = 0.", "run.courant=0.3");
  const Outcome o = tessera({"resume", "RUN", "--set", "run.stop.steps=1"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "error E0436: the run is at step")) << o.err;
}

TEST_F(Fdtd, ALongerRunIsARunOfThatLength) {
  write("case.toml", fdtd_case());
  expect_same_after_extension("run.stop.steps=701", "run.stop.steps=1302");
}

/// Keys beside others that leave them without effect are named, where they say more than their
/// defaults: the case that a run leaves has all of these.
TEST_F(Fdtd, KeysThatDoNothingAreNamed) {
  const auto check = [&](const std::string& text) {
    write("idle.toml", text);
    const Outcome o = tessera({"check", "idle.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const std::string steps = changed(fdtd_case(), "stop.steps = 3000", "stop.steps = 20"),
                    dt = changed(steps, "[run]\n", "[run]\ndt = \"0.05 fs\"\n"),
                    one = changed(steps, "frequencies = [\"200 THz\"]",
                                  "frequencies = [\"200 THz\"]\nfrequency_points = 9"),
                    angles = changed(steps, "name = \"far\"",
                                     "name = \"far\"\nphi = [\"0 deg\"]\nangle_points = [1, 9]");
  EXPECT_FALSE(holds(check(steps), "E0759"));
  EXPECT_FALSE(holds(check(dt), "E0759"));
  EXPECT_TRUE(holds(check(changed(dt, "[run]\n", "[run]\ncourant = 0.5\n")),
                    "idle.toml:6:1: warning E0759: run.courant has no effect beside run.dt"));
  EXPECT_TRUE(holds(check(one), "warning E0759: monitor[2].frequency_points has no effect"));
  EXPECT_TRUE(holds(check(angles), "warning E0759: monitor[4].angle_points has no effect"));
  EXPECT_FALSE(holds(check(changed(dt, "[run]\n", "[run]\ncourant = 0.95\n")), "E0759"));
}

/// The first of several ends counts, however short or long the others are.
TEST_F(Fdtd, ARunEndsAtTheFirstOfItsEnds) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["4 um", "0 um", "0 um"], cell = "50 nm"}
run.stop.steps = 10
[[source]]
kind = "point"
component = "Ey"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "probe"
name = "beside"
position = ["1 um", "0 um", "0 um"]
components = ["Ey"]
)");
  const auto steps = [&](const std::string& stop) {
    const Outcome o = tessera({"run", "line.toml", "--output", "RUN", "--force", "--max-time",
                               "60 s", "--set", "run.stop={" + stop + "}"});
    EXPECT_EQ(o.code, 0) << stop << o.err;
    return rows("RUN", "beside").size();
  };
  EXPECT_EQ(steps("steps=20, time=\"1e6 s\""), 20u);
  EXPECT_EQ(steps("time=\"1e-30 s\""), 1u);
  // Records that the longer one would need are no reason to refuse the run.
  EXPECT_LT(steps("time=\"100 us\", after_sources=\"1 fs\""), 2000u);
}

TEST_F(Fdtd, TheGalleryIsFreeOfErrorsAndDoubts) {
  int files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "apps/examples/electromagnetics")) {
    if (entry.path().extension() != ".toml") continue;
    const Outcome check = tessera({"check", entry.path()});
    if (holds(check.err, "needs SLEPc")) continue;  // a build without it
    EXPECT_EQ(check.code, 0) << entry.path() << check.err;
    EXPECT_FALSE(holds(check.err, "warning")) << entry.path() << check.err;
    ++files;
  }
  EXPECT_GE(files, 9);
}

}  // namespace
