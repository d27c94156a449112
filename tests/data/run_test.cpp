// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/run.h"

#include "in_child.h"
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/file_io.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera::data;
using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

int code_of(auto&& f) {
  try {
    f();
    return 0;
  } catch (const InputError& e) {
    return e.findings()[0].number - 400;  // fits an exit status
  }
}

}  // namespace

TEST(RunFolder, IsMadeWholeAndNeverOverwrittenUnasked) {
  TempFolder dir;
  {
    RunFolder run = RunFolder::create(dir / "a/RUN");
    EXPECT_TRUE(fs::is_directory(run.checkpoints()));
    EXPECT_TRUE(fs::is_directory(run.plots()));
    run.write_text("input.toml", "x = 1\n");
    dir.write("a/RUN/mine.txt", "kept");
    dir.write("a/RUN/ckpt/step-1.ckpt", "old");
  }
  EXPECT_FALSE(fs::exists(dir / "a/RUN/lock"));
  expect_input_error([&] { RunFolder::create(dir / "a/RUN"); }, ExitCode::usage, 510);
  EXPECT_EQ(read_bytes(dir / "a/RUN/input.toml"), "x = 1\n");
  RunFolder again = RunFolder::create(dir / "a/RUN", true);
  EXPECT_FALSE(fs::exists(again.input_toml()));
  EXPECT_TRUE(fs::is_empty(again.checkpoints()));
  EXPECT_EQ(read_bytes(dir / "a/RUN/mine.txt"), "kept");  // force removes only what a run writes
}

TEST(RunFolder, ForceTakesNothingFromAFolderThatNoRunHasMade) {
  TempFolder dir;
  dir.write("mine/notes.txt", "kept");
  dir.write("mine/plots/figure.png", "kept");
  const std::string text =
      expect_input_error([&] { RunFolder::create(dir / "mine", true); }, ExitCode::usage, 510);
  EXPECT_NE(text.find("has plots"), std::string::npos) << text;
  EXPECT_EQ(read_bytes(dir / "mine/plots/figure.png"), "kept");
  EXPECT_FALSE(fs::exists(dir / "mine/lock"));
  // Beside files that no run writes there is room.
  dir.write("other/notes.txt", "kept");
  EXPECT_NO_THROW(RunFolder::create(dir / "other", true));
  EXPECT_EQ(read_bytes(dir / "other/notes.txt"), "kept");
  // An empty folder is what a run leaves that is killed as it begins.
  fs::create_directories(dir / "killed/ckpt");
  EXPECT_NO_THROW(RunFolder::create(dir / "killed", true));
}

TEST(RunFolder, ASecondProcessIsRefused) {
  TempFolder dir;
  RunFolder run = RunFolder::create(dir / "RUN");
  run.write_manifest(begin_manifest("a.b", {}, 1));
  EXPECT_EQ(in_child([&] { return code_of([&] { RunFolder::create(dir / "RUN", true); }); }), 111);
  EXPECT_EQ(in_child([&] { return code_of([&] { RunFolder::reopen(dir / "RUN"); }); }), 111);
  const std::string text =
      expect_input_error([&] { RunFolder::reopen(dir / "RUN"); }, ExitCode::usage, 511);
  EXPECT_NE(text.find("pid " + std::to_string(::getpid())), std::string::npos) << text;
}

TEST(RunFolder, TheLockOfADeadProcessIsTakenOver) {
  TempFolder dir;
  in_child([&] {
    RunFolder run = RunFolder::create(dir / "RUN");
    run.write_manifest(begin_manifest("a.b", {}, 1));
    ::_exit(0);  // no destructor: as after a kill
    return 0;
  });
  EXPECT_TRUE(fs::exists(dir / "RUN/lock"));
  EXPECT_EQ(RunFolder::reopen(dir / "RUN").read_manifest().app, "a.b");
}

TEST(RunFolder, ALiveProcessOnAnotherHostIsRespectedAndASilentOneIsNot) {
  TempFolder dir;
  { RunFolder::create(dir / "RUN").write_manifest(begin_manifest("a.b", {}, 1)); }
  // It says that it lives by the time of its lock, heartbeat or not; whoever asks leaves that time.
  dir.write("RUN/lock", "pid 1 host elsewhere\n");
  const auto aged = [&](std::chrono::seconds by) {
    const auto then = fs::file_time_type::clock::now() - by;
    fs::last_write_time(dir / "RUN/lock", then);
    return then;
  };
  const auto then = aged(std::chrono::seconds(100));
  expect_input_error([&] { RunFolder::reopen(dir / "RUN"); }, ExitCode::usage, 511);
  EXPECT_LT(fs::last_write_time(dir / "RUN/lock") - then, std::chrono::seconds(1));
  aged(std::chrono::hours(1));
  EXPECT_NO_THROW(RunFolder::reopen(dir / "RUN"));
}

TEST(RunFolder, RefusesWhatIsNoRunFolder) {
  TempFolder dir;
  expect_input_error([&] { RunFolder::reopen(dir.path()); }, ExitCode::usage, 512);
  expect_input_error([&] { request_stop(dir.path()); }, ExitCode::usage, 512);
  dir.write("file", "");
  expect_input_error([&] { RunFolder::create(dir / "file"); }, ExitCode::usage, 502);
  expect_input_error([&] { RunFolder::create("/proc/tessera-run"); }, ExitCode::usage, 502);
  expect_input_error([&] { make_folder(dir / "file/tables"); }, ExitCode::usage, 502);
}

TEST(RunFolder, StopIsAskedForByAFileAndForgottenAtResume) {
  TempFolder dir;
  { RunFolder::create(dir / "RUN").write_manifest(begin_manifest("a.b", {}, 1)); }
  request_stop(dir / "RUN");
  EXPECT_TRUE(fs::exists(dir / "RUN/STOP"));
  RunFolder run = RunFolder::reopen(dir / "RUN");
  EXPECT_FALSE(fs::exists(run.stop_file()));
}

// A writer that was killed leaves the file that it had begun; one that lives has a use for its own.
TEST(RunFolder, FilesOfDeadWritersAreClearedAtResume) {
  TempFolder dir;
  { RunFolder::create(dir / "RUN").write_manifest(begin_manifest("a.b", {}, 1)); }
  const std::string dead = ".tmp-2147483646", alive = ".tmp-" + std::to_string(::getpid());
  for (const std::string name : {"results.h5", "plots/a.png", "tables/b.csv"})
    for (const std::string& by : {dead, alive, std::string(".tmp-"), std::string(".tmp-7x")})
      dir.write("RUN/" + name + by, "half");
  RunFolder::reopen(dir / "RUN");
  for (const std::string name : {"results.h5", "plots/a.png", "tables/b.csv"}) {
    EXPECT_FALSE(fs::exists(dir / ("RUN/" + name + dead))) << name;
    for (const std::string& by : {alive, std::string(".tmp-"), std::string(".tmp-7x")})
      EXPECT_TRUE(fs::exists(dir / ("RUN/" + name + by))) << name << by;
  }
}

TEST(Manifest, RoundTrip) {
  Manifest m = begin_manifest("inversion.mt1d", {"tessera", "run", "a \"b\".toml"}, 2);
  m.seeds = {1, UINT64_MAX};
  m.keep_going = true;
  m.inputs = {{"a.edi", 3, "00"}};
  m.metrics = {{"rms", 1.25}, {"depth_m", 1e5}};
  finish_manifest(m, ExitCode::ok, "finished");
  const Manifest back = manifest_from_json(to_json(m), "manifest.json");
  EXPECT_EQ(to_json(back), to_json(m));
  EXPECT_EQ(back.command_line[2], "a \"b\".toml");
  EXPECT_EQ(back.seeds[1], UINT64_MAX);
  EXPECT_EQ(back.metrics, m.metrics);
  EXPECT_FALSE(back.tessera_version.empty());
  EXPECT_GT(back.peak_rss_bytes, 1u << 20);
  EXPECT_GT(back.wall_s, 0);
  EXPECT_EQ(back.exit_code, 0);
  const Manifest resumed = resume_manifest(back, {"tessera", "resume", "RUN"}, 1);
  EXPECT_EQ(resumed.started, back.started);
  EXPECT_EQ(resumed.resumed, 1);
  EXPECT_EQ(resumed.exit_code, -1);
  EXPECT_TRUE(resumed.metrics.empty());  // of an end that is no more
}

TEST(Manifest, OfAVersionThatDidNotSayWhatWasLeftOut) {
  std::string text = to_json(begin_manifest("a.b", {}, 1));
  const std::string line = "  \"keep_going\": false,\n";
  ASSERT_NE(text.find(line), std::string::npos) << text;
  text.erase(text.find(line), line.size());
  EXPECT_FALSE(manifest_from_json(text, "manifest.json").keep_going);
}

TEST(Manifest, BadTextIsRefused) {
  const std::string good = to_json(begin_manifest("a.b", {}, 1));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string s = good;
    EXPECT_NE(s.find(from), std::string::npos) << from;
    return s.replace(s.find(from), from.size(), to);
  };
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"), std::string("null"),
        std::string(100000, '['), good.substr(0, good.size() / 2),
        replaced("\"schema\": 1", "\"schema\": 2"), replaced("\"threads\": 1", "\"threads\": 1e99"),
        replaced("\"threads\": 1", "\"threads\": 99999999999"),
        replaced("\"threads\": 1", "\"threads\": \"1\""),
        replaced("\"peak_rss_bytes\": 0", "\"peak_rss_bytes\": -1"),
        replaced("\"inputs\": []", "\"inputs\": {}"), replaced("\"cpu\"", "\"gpu\"")})
    expect_input_error([&] { manifest_from_json(bad, "m.json"); }, ExitCode::input_invalid, 404);
}
