// SPDX-License-Identifier: Apache-2.0
//
// Cases with modes of guides under `mpirun`. Rank 0 finds them (SLEPc) before it tells the others
// anything, and in verbs that are its alone it never does: it may not wait for them meanwhile.
#include "mpi_ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

using namespace tessera::testing;

namespace {

/// A hang is a failure: mpirun ends what takes longer than two minutes.
class ModesOnRanks : public MpiRanks {
 protected:
  void SetUp() override {
    MpiRanks::SetUp();
    ::setenv("MPIEXEC_TIMEOUT", "120", 1);
  }
  void TearDown() override { ::unsetenv("MPIEXEC_TIMEOUT"); }
};

/// A plane of 10 x 10 cells, 200 unknowns: too many for a dense matrix.
const std::string silicon_guide = R"(app = "electromagnetics.fdtd"
[grid]
size = ["1.6 um", "1.6 um", "1.6 um"]
cell = "0.1 um"
background = "oxide"
[run]
stop.steps = 24
[boundary.pml]
cells = 3
[[material]]
name = "silicon"
index = 3
[[material]]
name = "oxide"
index = 1.444
[[structure]]
shape = "box"
low = ["-inf", "-0.3 um", "-0.2 um"]
high = ["inf", "0.3 um", "0.2 um"]
material = "silicon"
[[source]]
kind = "mode"
position = ["-0.3 um", "0 um", "0 um"]
size = ["0 um", "1 um", "1 um"]
direction = [1, 0, 0]
waveform = {kind = "gaussian", frequency_min = "180 THz", frequency_max = "210 THz"}
[[monitor]]
kind = "probe"
name = "field"
position = ["0.3 um", "0 um", "0 um"]
components = ["Ey"]
[output]
pictures = false
)";

TEST_F(ModesOnRanks, TheyRunAndGoOnAsThoseOfOneProcess) {
  write("case.toml", silicon_guide);
  const std::string longer = "run.stop.steps=48";
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  ASSERT_EQ(
      tessera({"run", "case.toml", "--output", "long", "--threads", "1", "--set", longer}).code, 0);
  const Outcome run = on_ranks(2, {"run", "case.toml", "--output", "R", "--threads", "1"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(count(run.err, "2 ranks"), 1) << run.err;
  expect_same_results("R", "whole");
  const Outcome resumed = on_ranks(2, {"resume", "R", "--threads", "1", "--set", longer});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_results("R", "long");
}

TEST_F(ModesOnRanks, TheyAreCheckedByTheFirstRankAndVerifiedByAll) {
  write("case.toml", silicon_guide);
  const Outcome alone = tessera({"check", "case.toml"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  const Outcome checked = on_ranks(2, {"check", "case.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out, alone.out);
  const Outcome verified = on_ranks(2, {"gradcheck", "case.toml", "--threads", "1", "-q"});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_EQ(count(verified.out, "the derivatives are right"), 1) << verified.out;
}

}  // namespace
