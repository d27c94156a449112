// SPDX-License-Identifier: Apache-2.0
//
// molecular.dynamics on ranks: stages that are divided and such as are not, stops, and steps that
// go wrong, with the bytes of one process.
#include "mpi_ranks.h"

#include <gtest/gtest.h>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class MoleculesOnRanks : public AppTest {
 protected:
  Outcome on(const std::string& ranks, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--ranks", "threads:" + ranks, "--threads", "1"});
    return tessera(arguments);
  }
};

const std::string water = R"(app = "molecular.dynamics"
dt = "2 fs"
rcoulomb = "0.7 nm"
rvdw = "0.7 nm"
constraints = "h-bonds"
tcoupl = "v-rescale"
tau_t = "0.1 ps"
ref_t = "298.15 K"
nstenergy = 10
nstxout = 20
output.forces = true
[build]
kind = "water"
model = "tip4pew"
molecules = 125
[[stage]]
type = "minimize"
emtol = "500 kJ/mol/nm"
nsteps = 40
posres = "index 0 to 2"
refcoord_scaling = "com"
[[stage]]
name = "warm"
nsteps = 60
heat_from = "50 K"
[[stage]]
name = "press"
nsteps = 45
pcoupl = "c-rescale"
tau_p = "1 ps"
[[stage]]
name = "trials"
nsteps = 25
pcoupl = "monte-carlo"
)";

TEST_F(MoleculesOnRanks, HaveTheBytesOfOneProcess) {
  write("case.toml", water);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  for (const std::string n : {"2", "5"}) {
    const Outcome o = on(n, {"run", "case.toml", "--output", "of" + n});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(holds(o.err, "by forces of all: a minimization")) << o.err;
    EXPECT_TRUE(holds(o.err, "by forces of all: trial moves")) << o.err;
    EXPECT_FALSE(holds(o.err, "stage 'warm': rank 0")) << o.err;
    EXPECT_FALSE(holds(o.err, "alone")) << o.err;
    expect_same_results("of" + n, "whole");
  }
}

/// Stages, rows and frames; a stage shorter than the steps that are tried.
TEST_F(MoleculesOnRanks, SendWhatWasEstimated) {
  const auto number = [](const std::string& text, const std::string& key) {
    const std::size_t at = text.find("\"" + key + "\": ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + key.size() + 4));
  };
  std::string longer = water;
  longer.replace(longer.find("nsteps = 60"), 11, "nsteps = 240");
  write("case.toml", longer);
  for (const std::string n : {"2", "5"}) {
    const Outcome told =
        tessera({"estimate", "case.toml", "--ranks", n, "--threads", "1", "--json"});
    ASSERT_EQ(told.code, 0) << told.err;
    ASSERT_EQ(on(n, {"run", "case.toml", "--output", "of" + n}).code, 0);
    const std::string manifest = read("of" + n + "/manifest.json");
    for (const std::string what : {"sent_bytes", "messages"}) {
      const double ratio = number(manifest, what + "_of_a_rank") / number(told.out, what);
      EXPECT_GT(ratio, 0.9) << n << " " << what;
      EXPECT_LT(ratio, 1.1) << n << " " << what;
    }
  }
}

TEST_F(MoleculesOnRanks, LookAtFramesTogether) {
  write("case.toml", water);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  const std::string frames = "whole/3_press/trajectory.xtc";
  ASSERT_EQ(tessera({"rerun", "case.toml", frames, "--output", "alone", "--threads", "1"}).code, 0);
  const Outcome o = on("3", {"rerun", "case.toml", frames, "--output", "of3"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "by forces of all: a rerun")) << o.err;
  expect_same_results("of3", "alone");
}

TEST_F(MoleculesOnRanks, GoOnOnAnyNumber) {
  write("case.toml", water);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  int stopped = 0;
  for (const std::string after : {"0.2s", "0.6s", "1.2s"}) {
    const std::string run = "again" + after;
    const Outcome o = on("3", {"run", "case.toml", "--output", run, "--max-time", after});
    ASSERT_TRUE(o.code == 75 || o.code == 0) << o.err;
    stopped += o.code == 75;
    if (o.code == 75) EXPECT_EQ(on("2", {"resume", run}).code, 0);
    expect_same_results(run, "whole");
  }
  EXPECT_GT(stopped, 0);
}

TEST_F(MoleculesOnRanks, TellOfAStepThatGoesWrongAsOneProcessDoes) {
  std::string wild = water;
  wild.replace(wild.find("dt = \"2 fs\""), 11, "dt = \"60 fs\"");
  write("case.toml", wild);
  const Outcome alone = tessera({"run", "case.toml", "--output", "whole", "--threads", "1"});
  ASSERT_NE(alone.code, 0);
  const Outcome o = on("3", {"run", "case.toml", "--output", "of3"});
  EXPECT_EQ(o.code, alone.code) << o.err;
  const std::string folder = "/2_warm/";
  EXPECT_EQ(read("of3" + folder + "energies.csv"), read("whole" + folder + "energies.csv"));
  EXPECT_EQ(read("of3" + folder + "last_good.rst7"), read("whole" + folder + "last_good.rst7"));
  EXPECT_TRUE(holds(read("of3" + folder + "why.txt"), "last good frame"));
}

/// The first wait in vain ends a stage: no shorter step is tried, and no frame is asked for.
TEST_F(MpiRanks, AStageEndsWhereARankDoesNotCome) {
  const std::string waters = R"(app = "molecular.dynamics"
dt = "2 fs"
rcoulomb = "0.6 nm"
rvdw = "0.6 nm"
constraints = "h-bonds"
nstlog = 0
nstxout = 0
nsteps = 1000000
gen_temp = "10 K"
[build]
kind = "water"
model = "spce"
molecules = 64
[[stage]]
name = "go"
)";
  for (const auto& [more, last_exchange] :
       {std::pair{"type = \"minimize\"\nemtol = \"1e-6 kJ/mol/nm\"\n", "run.cpp"},
        std::pair{"type = \"dynamics\"\n", "rows.h"}}) {
    write("case.toml", waters + more);
    const Outcome o = with_one(
        2, 1, "{ (while [ ! -s R/1_go/energies.csv ]; do sleep 0.1; done; kill -STOP $$) & }",
        {"run", "case.toml", "--output", "R", "--threads", "1", "--max-wait", "1s"});
    EXPECT_EQ(o.code, 9) << o.err;
    // The one that is stopped is woken to be ended, and may find that it waited, too.
    EXPECT_EQ(count(o.err, "rank 0 waited in vain for rank 1"), 1) << o.err;
    EXPECT_FALSE(holds(o.err, last_exchange)) << o.err;
    EXPECT_FALSE(fs::exists(here() / "R/1_go/why.txt"));
    fs::remove_all(here() / "R");
  }
}

}  // namespace
