// SPDX-License-Identifier: Apache-2.0
//
// `mpirun` before the command: one folder, one exit code, the bytes of one process.
#include "fdtd_case.h"
#include "mpi_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

TEST_F(MpiRanks, SoundingsAreThoseOfOneProcess) {
  make_case(chains);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  for (const int n : {1, 2, 3}) {
    const std::string run = "of" + std::to_string(n);
    const Outcome o = on_ranks(n, {"run", "case.toml", "--output", run});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, run + "\n");
    EXPECT_EQ(count(o.err, " periods  RMS "), 12) << o.err;
    EXPECT_EQ(count(o.err, std::to_string(n) + " ranks"), n > 1) << o.err;
    expect_same_results(run, "whole");
  }
}

TEST_F(MpiRanks, StopAndGoOnOnOthers) {
  make_case(chains);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  const Outcome stopped =
      on_ranks(3, {"run", "case.toml", "--output", "again", "--max-time", "0.2s"});
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_FALSE(fs::exists(here() / "again/results.h5"));
  const Outcome o = on_ranks(2, {"resume", "again"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(count(o.err, "going on from"), 1) << o.err;
  expect_same_results("again", "whole");
}

TEST_F(MpiRanks, WavesAreThoseOfOneProcess) {
  write("space.toml", waves);
  write("plane.toml", fdtd_case());
  for (const std::string name : {"space", "plane"}) {
    const Outcome alone =
        tessera({"run", name + ".toml", "--output", name + ".whole", "--threads", "1"});
    ASSERT_EQ(alone.code, 0) << alone.err;
    for (const int n : {2, 3}) {
      const std::string run = name + std::to_string(n);
      const Outcome o = on_ranks(n, {"run", name + ".toml", "--output", run});
      EXPECT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(o.out, run + "\n");
      EXPECT_EQ(count(o.err, std::to_string(n) + " ranks"), 1) << o.err;
      expect_same_results(run, name + ".whole");
    }
  }
}

TEST_F(MpiRanks, WavesGoOnOnOtherRanks) {
  write("case.toml", waves);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1"}).code, 0);
  const Outcome stopped =
      on_ranks(3, {"run", "case.toml", "--output", "again", "--max-time", "0.05s"});
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  const Outcome o = on_ranks(2, {"resume", "again"});
  EXPECT_EQ(o.code, 0) << o.err;
  expect_same_results("again", "whole");
}

TEST_F(MpiRanks, ASignalToOneOfThemStopsAll) {
  write("case.toml", waves);
  const Outcome o =
      with_one(3, 1, "{ (while [ ! -e R/heartbeat.json ]; do sleep 0.1; done; kill -TERM $$) & }",
               {"run", "case.toml", "--output", "R", "--set", "run.stop.steps=9000000"});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_EQ(count(o.err, "go on with: tessera resume R"), 1) << o.err;
  EXPECT_NE(read("R/manifest.json").find("SIGTERM"), std::string::npos);
  EXPECT_TRUE(fs::exists(here() / "R/ckpt/LATEST"));
}

TEST_F(MpiRanks, AFolderThatOneDoesNotSeeIsToldBeforeAnythingIsWritten) {
  if (std::system("unshare -m true 2> /dev/null") != 0)
    GTEST_SKIP() << "needs to hide a folder from a process (unshare -m)";
  make_case();
  fs::create_directory(here() / "shared");
  const std::string hidden = "exec unshare -m sh -c 'mount -t tmpfs none \"" +
                             (here() / "shared").string() +
                             "\" && exec \"$0\" \"$@\"' \"$0\" \"$@\"";
  const std::vector<std::string> run{"run", "case.toml", "--output", "shared/R"};
  const Outcome o = with_one(3, 1, hidden, run);
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_EQ(count(o.err, "tessera: error: "), 1) << o.err;
  EXPECT_NE(o.err.find("E0518: this rank does not see the folder"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("a folder that all machines share"), std::string::npos) << o.err;
  EXPECT_TRUE(fs::is_empty(here() / "shared"));
  // So with a run that is there already.
  ASSERT_EQ(on_ranks(3, {"run", "case.toml", "--output", "shared/R", "--max-time", "0.01s"}).code,
            75);
  const std::string before = read("shared/R/manifest.json");
  const Outcome resumed = with_one(3, 1, hidden, {"resume", "shared/R"});
  EXPECT_EQ(count(resumed.err, "tessera: error: "), 1) << resumed.err;
  EXPECT_NE(resumed.err.find("put them where all see them"), std::string::npos) << resumed.err;
  EXPECT_EQ(on_ranks(2, {"resume", "shared/R"}).code, 0);
}

TEST_F(MpiRanks, WhoeverDoesNotComeEndsTheRunAfterTheTimeThatIsSet) {
  write("case.toml", waves);
  for (const int lost : {2, 0}) {
    const std::string run = "R" + std::to_string(lost);
    const Outcome o = with_one(
        3, lost,
        "{ (while [ ! -e " + run + "/ckpt/LATEST ]; do sleep 0.1; done; kill -STOP $$) & }",
        {"run", "case.toml", "--output", run, "--max-wait", "1s", "--checkpoint-every", "0.2s",
         "--set", "run.stop.steps=9000000"});
    EXPECT_EQ(o.code, 9) << o.err;
    // Whom the end of the others wakes may find its own wait over before it is ended.
    const auto told = count(o.err, "tessera: error: ");
    EXPECT_TRUE(told == 1 || (lost == 0 && told == 2)) << o.err;
    EXPECT_EQ(count(o.err, "not there after 1 s"), told) << o.err;
  }
  EXPECT_NE(read("R2/manifest.json").find("\"exit_code\": 9"), std::string::npos);
  EXPECT_NE(read("R2/log.txt").find("waited in vain for rank"), std::string::npos);
}

TEST_F(MpiRanks, WhatOneOfThemCannotDoIsToldOnce) {
  make_case();
  // A folder that it does not see.
  const Outcome o = with_one(3, 2, "cd /", {"run", "case.toml", "--output", "R"});
  EXPECT_EQ(o.code, tessera({"run", "nowhere.toml"}).code) << o.err;
  EXPECT_EQ(count(o.err, "tessera: error: rank 2: "), 1) << o.err;
  EXPECT_NE(o.err.find("put them where all see them"), std::string::npos) << o.err;
  EXPECT_FALSE(fs::exists(here() / "R"));
}

TEST_F(AppTest, RanksMayBeThreads) {
  write("case.toml", waves);
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  write("soundings.toml",
        "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n" + chains);
  for (const std::string name : {"case", "soundings"}) {
    ASSERT_EQ(tessera({"run", name + ".toml", "--output", name + ".whole", "--threads", "1"}).code,
              0);
    const Outcome o = tessera({"run", name + ".toml", "--output", name + ".of5", "--ranks",
                               "threads:5", "--weights", "1,2,1,3,1"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("5 ranks"), std::string::npos) << o.err;
    expect_same_results(name + ".of5", name + ".whole");
  }
  const Outcome stopped = tessera(
      {"run", "case.toml", "--output", "again", "--ranks", "threads:3", "--max-time", "0.05s"});
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_EQ(tessera({"resume", "again", "--ranks", "threads:2"}).code, 0);
  expect_same_results("again", "case.whole");
}

TEST_F(AppTest, WhatARankSendsIsWhatWasEstimated) {
  const auto number = [](const std::string& text, const std::string& key) {
    const std::size_t at = text.find("\"" + key + "\": ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + key.size() + 4));
  };
  write("waves.toml", waves);
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  write("soundings.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\n");
  for (const std::string name : {"waves", "soundings"}) {
    const Outcome told =
        tessera({"estimate", name + ".toml", "--ranks", "3", "--threads", "1", "--json"});
    EXPECT_EQ(told.code, 0) << told.err;
    EXPECT_EQ(tessera({"run", name + ".toml", "--ranks", "threads:3", "--threads", "1"}).code, 0);
    const std::string manifest = read(name + ".run/manifest.json");
    const double ratio = number(manifest, "sent_bytes_of_a_rank") / number(told.out, "sent_bytes");
    EXPECT_GT(ratio, 0.9) << name;
    EXPECT_LT(ratio, 1.1) << name;
    EXPECT_GT(number(manifest, "messages_of_a_rank"), 0) << name;
    EXPECT_NE(tessera({"estimate", name + ".toml", "--ranks", "3"})
                  .out.find("of 3 ranks, each at most\n  memory "),
              std::string::npos);
  }
  EXPECT_EQ(tessera({"estimate", "waves.toml", "--ranks", "1"}).code, 2);
  const Outcome many = tessera({"estimate", "waves.toml", "--ranks", "30"});
  EXPECT_EQ(many.code, 2);
  EXPECT_NE(many.err.find("what one of 30 ranks takes"), std::string::npos) << many.err;
}

/// Steps of the checkpoints in a run folder, rising.
std::vector<int> steps_of(const fs::path& run) {
  std::vector<int> steps;
  for (const auto& e : fs::directory_iterator(run / "ckpt"))
    if (e.path().extension() == ".ckpt")
      steps.push_back(std::stoi(e.path().filename().string().substr(5)));
  std::sort(steps.begin(), steps.end());
  return steps;
}
std::vector<fs::path> shards_of(const fs::path& run, int step) {
  std::vector<fs::path> files;
  const std::string name = "step-" + std::to_string(step) + ".";
  for (const auto& e : fs::directory_iterator(run / "ckpt"))
    if (e.path().filename().string().starts_with(name) && e.path().extension() == ".shard")
      files.push_back(fs::relative(e.path(), run));
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(AppTest, ADamagedShardIsToldAndTheCheckpointBeforeTaken) {
  write("case.toml", waves);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "--threads", "1", "--set",
                     "run.stop.steps=1200"})
                .code,
            0);
  const Outcome begun =
      tessera({"run", "case.toml", "--output", "begun", "--ranks", "threads:3", "--threads", "1",
               "--checkpoint-every", "1 ms", "--set", "run.stop.steps=900"});
  ASSERT_EQ(begun.code, 0) << begun.err;
  const std::vector<int> steps = steps_of(here() / "begun");
  ASSERT_GE(steps.size(), 2U);
  const int newest = steps.back(), before = steps[steps.size() - 2];
  ASSERT_EQ(shards_of(here() / "begun", newest).size(), 3U);
  ASSERT_EQ(shards_of(here() / "begun", before).size(), 3U);
  const fs::path one = shards_of(here() / "begun", newest)[1],
                 other = shards_of(here() / "begun", before)[1];
  int ranks = 1;
  for (const std::string fault : {"", "E0414", "E0442", "E0413", "mixed"}) {
    fs::remove_all(here() / "again");
    fs::copy(here() / "begun", here() / "again", fs::copy_options::recursive);
    std::string bytes = read(fs::path("again") / one);
    bytes[bytes.size() / 2] ^= 1;
    if (fault == "E0414")
      write(fs::path("again") / one, bytes);
    else if (fault == "E0442")
      fs::remove(here() / "again" / one);
    else if (fault == "E0413")
      write(fs::path("again") / one, bytes.substr(0, bytes.size() / 2));
    else if (fault == "mixed")
      write(fs::path("again") / one, read(fs::path("begun") / other));
    const Outcome o = tessera({"resume", "again", "--ranks", "threads:" + std::to_string(ranks++),
                               "--threads", "1", "--set", "run.stop.steps=1200"});
    EXPECT_EQ(o.code, 0) << fault << o.err;
    EXPECT_NE(o.err.find("going on from step-" + std::to_string(fault.empty() ? newest : before)),
              std::string::npos)
        << fault << o.err;
    if (fault != "mixed") {
      EXPECT_NE(o.err.find(fault), std::string::npos) << o.err;
    }
    EXPECT_EQ(o.err.find("an older checkpoint is used") != std::string::npos, !fault.empty());
    expect_same_results("again", "whole");
  }
}

TEST_F(AppTest, AFullDiskIsToldOnceAndLosesNoCheckpoint) {
  write("case.toml", waves);
  const std::vector<std::string> every{"--threads",
                                       "1",
                                       "--checkpoint-every",
                                       "1 ms",
                                       "--set",
                                       "output.scene=false",  // it is larger
                                       "--set"};
  const auto with = [&](std::vector<std::string> verb, const std::string& steps) {
    verb.insert(verb.end(), every.begin(), every.end());
    verb.push_back("run.stop.steps=" + steps);
    return verb;
  };
  ASSERT_EQ(
      tessera(with({"run", "case.toml", "--output", "R", "--ranks", "threads:3"}, "450")).code, 0);
  const int newest = steps_of(here() / "R").back();
  std::vector<std::string> limited = program(with({"resume", "R", "--ranks", "threads:3"}, "9000"));
  limited.insert(limited.begin(), {"/bin/sh", "-c", "ulimit -f 40; exec \"$0\" \"$@\""});
  const Outcome o = RunningProgram(limited, here()).wait();
  EXPECT_EQ(o.code, 3) << o.err;
  const std::size_t told = o.err.find("E0501");  // of rank 0 or of another, whichever is first
  EXPECT_NE(told, std::string::npos) << o.err;
  EXPECT_EQ(told, o.err.rfind("E0501")) << o.err;
  const Outcome again =
      tessera({"resume", "R", "--ranks", "threads:2", "--set", "run.stop.steps=9100"});
  EXPECT_NE(again.err.find("going on from step-" + std::to_string(newest)), std::string::npos)
      << again.err;
  EXPECT_EQ(again.code, 0) << again.err;
}

/// Of three ranks one has another folder of the same name, as on a machine with its own disk.
TEST_F(MpiRanks, AFolderThatIsNotTheSameIsTold) {
  write("case.toml", waves);
  ASSERT_EQ(on_ranks(3, {"run", "case.toml", "--output", "R", "--set", "run.stop.steps=100"}).code,
            0);
  fs::create_directory(here() / "elsewhere");
  fs::copy(here() / "R", here() / "elsewhere/R", fs::copy_options::recursive);
  const Outcome o =
      with_one(3, 1, "cd elsewhere",
               {"resume", "R", "--checkpoint-every", "1 ms", "--set", "run.stop.steps=9000"});
  EXPECT_EQ(o.code, 2) << o.err;
  EXPECT_NE(o.err.find("error E0443"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("rank 1 has written this file"), std::string::npos) << o.err;
}

TEST_F(AppTest, RanksThatCannotBeAreRefused) {
  write("case.toml", waves);
  for (const char* ranks : {"4", "threads:0", "threads:", "threads:2x", "threads:-1", "mpi:2"}) {
    const Outcome o = tessera({"run", "case.toml", "--ranks", ranks});
    EXPECT_EQ(o.code, 2) << ranks;
    EXPECT_NE(o.err.find("threads:N"), std::string::npos) << o.err;
  }
  const Outcome weights = tessera({"run", "case.toml", "--ranks", "threads:3", "--weights", "1,2"});
  EXPECT_EQ(weights.code, 2) << weights.err;
  EXPECT_NE(weights.err.find("--weights: 2 for 3 ranks"), std::string::npos) << weights.err;
  EXPECT_EQ(tessera({"run", "case.toml", "--ranks", "threads:2", "--weights", "1,-2"}).code, 2);
  EXPECT_FALSE(fs::exists(here() / "case.run"));
  // The list is one word: the case stands behind it.
  const Outcome before =
      tessera({"run", "--weights", "1,2", "case.toml", "--ranks", "threads:2", "--output", "W"});
  EXPECT_EQ(before.code, 0) << before.err;
  // More ranks than cells: one does it, and says so.
  const Outcome many = tessera({"run", "case.toml", "--ranks", "threads:30", "--threads", "1"});
  EXPECT_EQ(many.code, 0) << many.err;
  EXPECT_NE(many.err.find("rank 0 runs it alone"), std::string::npos) << many.err;
}

TEST_F(MpiRanks, EveryVerbPrintsOnce) {
  make_case();
  const Outcome checked = on_ranks(3, {"check", "case.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out, tessera({"check", "case.toml"}).out);
  const Outcome help = on_ranks(2, {"--help"});
  EXPECT_EQ(help.out, tessera({"--help"}).out);
}

TEST_F(MpiRanks, BadInputIsOneMessageAndItsExitCode) {
  write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"site/soundings\"\nflies = 1\n");
  const Outcome o = on_ranks(3, {"run", "case.toml"});
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_EQ(count(o.err, "did you mean"), 1) << o.err;
  EXPECT_FALSE(fs::exists(here() / "case.run"));
  EXPECT_EQ(on_ranks(2, {"run", "nowhere.toml"}).code, tessera({"run", "nowhere.toml"}).code);
}

TEST_F(MpiRanks, WhatIsNotCutRunsOnOneRankAndSaysSo) {
  const Outcome made =
      RunningProgram({TESSERA_SAMPLE_PROGRAM, "new", "demo.sample", "s"}, here()).wait();
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome o = on_ranks(2, {"run", made.out.substr(0, made.out.find('\n')), "--output", "R"},
                             TESSERA_SAMPLE_PROGRAM);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "R\n");
  EXPECT_EQ(count(o.err, "is not cut over ranks: rank 0 of 2 runs it alone"), 1) << o.err;
}

TEST_F(AppTest, RanksThatOurMpiDoesNotKnowAreRefused) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  for (const char* variable : {"SLURM_STEP_NUM_TASKS=4", "PMI_SIZE=4"}) {
    const Outcome o = RunningProgram(program({"run", "site/mt1d.toml"}), here(), {variable}).wait();
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_NE(o.err.find("has started 4 processes"), std::string::npos) << o.err;
    EXPECT_FALSE(fs::exists(here() / "mt1d.run"));
  }
}

}  // namespace
