// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/progress.h"

#include "input_error.h"
#include "matches.h"
#include "temp_folder.h"
#include "tessera/data/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

using namespace tessera::data;
using namespace tessera::testing;

namespace {

struct Captured {
  TempFolder dir;
  int fd = ::open((dir / "out").c_str(), O_RDWR | O_CREAT, 0600);
  ~Captured() { ::close(fd); }
  std::string text() const { return read_bytes(dir / "out"); }
};

}  // namespace

TEST(Progress, PlainLinesTellRateAndTheTimeThatIsLeft) {
  Captured out;
  double now = 100;
  Progress p({.style = ProgressStyle::plain,
              .phase = "invert",
              .unit = "soundings",
              .total = 100,
              .fd = out.fd,
              .clock = [&] { return now; }});
  for (int i = 1; i <= 50; ++i) now += 2, p.update(std::uint64_t(i), {{"rms", 1.25}});
  EXPECT_NE(out.text().find(
                "invert  50 %  50/100 soundings  0.5 soundings/s  rms 1.25  ETA 1 min 40 s\n"),
            std::string::npos)
      << out.text();
  const std::string text = out.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);  // a line at each tenth
  EXPECT_EQ(out.text().find('\r'), std::string::npos);
  p.finish();
  EXPECT_NE(out.text().find("finished in 1 min 40 s"), std::string::npos);
}

TEST(Progress, TheRateFollowsAChangeOfSpeedAndLeavesOutWhatAResumeFound) {
  Captured out;
  double now = 0;
  Progress p({.style = ProgressStyle::json,
              .total = 2000,
              .already_done = 1000,
              .fd = out.fd,
              .clock = [&] { return now; }});
  std::uint64_t done = 1000;
  for (int i = 0; i < 100; ++i) now += 1, p.update(done += 1);  // 1 a second
  for (int i = 0; i < 200; ++i) now += 1, p.update(done += 4);  // then 4
  const std::string text = out.text(), last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  const auto m = matches(last, "\"rate\":([0-9.]+).*\"eta_s\":([0-9.]+)");
  ASSERT_EQ(m.size(), 1u) << last;
  EXPECT_NEAR(std::stod(m[0][1]), 4, 0.02);  // e^(-200/30) of the old rate is left
  EXPECT_NEAR(std::stod(m[0][2]), (2000 - double(done)) / 4, 1);
}

TEST(Progress, TheBarIsRedrawnInPlace) {
  Captured out;
  double now = 0;
  Progress p({.style = ProgressStyle::bar, .total = 4, .fd = out.fd, .clock = [&] { return now; }});
  now += 1, p.update(1);
  now += 1, p.update(2);
  EXPECT_NE(out.text().find("\r\x1b[Krun [############            ] 50 %"), std::string::npos)
      << out.text();
  EXPECT_EQ(out.text().find('\n'), std::string::npos);
  p.finish();
  EXPECT_EQ(out.text().back(), '\n');
}

TEST(Progress, TheHeartbeatTellsStateToOthers) {
  Captured out;
  {
    Progress p({.style = ProgressStyle::none,
                .total = 10,
                .heartbeat = out.dir / "heartbeat.json",
                .fd = out.fd});
    EXPECT_NE(read_bytes(out.dir / "heartbeat.json").find("\"state\":\"running\""),
              std::string::npos);
    p.update(3);
    p.finish("stopped");
  }
  const std::string beat = read_bytes(out.dir / "heartbeat.json");
  EXPECT_NE(beat.find("\"state\":\"stopped\""), std::string::npos) << beat;
  EXPECT_NE(beat.find("\"done\":3"), std::string::npos) << beat;
  EXPECT_NE(beat.find("\"pid\":" + std::to_string(::getpid())), std::string::npos) << beat;
  EXPECT_TRUE(out.text().empty());
}

TEST(Progress, WithoutATotalThereIsNoPercentage) {
  Captured out;
  Progress p({.style = ProgressStyle::plain, .fd = out.fd});
  p.finish();
  EXPECT_EQ(out.text().find('%'), std::string::npos);
  EXPECT_EQ(out.text().find("ETA"), std::string::npos);
}

TEST(Progress, Durations) {
  EXPECT_EQ(duration_text(12.4), "12 s");
  EXPECT_EQ(duration_text(80), "1 min 20 s");
  EXPECT_EQ(duration_text(3600 * 3 + 420), "3 h 07 min");
  EXPECT_EQ(duration_text(86400 * 2 + 3600), "2 d 01 h");
  EXPECT_THROW(progress_style("fancy"), tessera::Error);
}

TEST(Log, FileHasEverythingWithTimesAndCannotBeForged) {
  TempFolder dir;
  {
    Log log({.file = dir / "log.txt", .terminal = LogLevel::off});
    log.debug("first");
    log.warning("evil \x1b[2J name");
    log.flush();
  }
  { Log({.file = dir / "log.txt", .terminal = LogLevel::off}).info("after a resume"); }
  const std::string text = read_bytes(dir / "log.txt");
  EXPECT_FALSE(
      matches(text, "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z debug   first\n").empty())
      << text;
  EXPECT_NE(text.find("warning evil ?[2J name\n"), std::string::npos) << text;
  EXPECT_NE(text.find("after a resume"), std::string::npos);
}

TEST(Log, AFullDiskIsSaidAtFlush) {
  Log log({.file = "/dev/full", .terminal = LogLevel::off});
  log.info("lost");
  expect_input_error([&] { log.flush(); }, ExitCode::would_not_fit, 501);
  EXPECT_NO_THROW(log.flush());
}
