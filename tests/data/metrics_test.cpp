// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/metrics.h"

#include "input_error.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

using namespace tessera::data;
using namespace tessera::testing;

TEST(Metrics, ResumeCutsBackToTheCheckpoint) {
  TempFolder dir;
  const std::vector<std::string> columns = {"i", "rms"};
  std::uint64_t mark;
  {
    MetricsFile m(dir / "m.csv", columns);
    m.row(std::vector<double>{1, 0.5});
    mark = m.sync();
    m.row(std::vector<double>{2, 0.25});  // lost work: the checkpoint is older
  }
  {
    MetricsFile m(dir / "m.csv", columns, mark);
    m.row(std::vector<std::string>{"2", "a,b"});
  }
  EXPECT_EQ(read_bytes(dir / "m.csv"), "i,rms\n1,0.5\n2,\"a,b\"\n");
  expect_input_error([&] { MetricsFile(dir / "m.csv", columns, 1000); },
                     ExitCode::checkpoint_damaged, 419);
  expect_input_error(
      [&] {
        MetricsFile(dir / "m.csv", {"i", "other"}, mark);
      },
      ExitCode::checkpoint_damaged, 419);
  EXPECT_EQ(read_bytes(dir / "m.csv"), "i,rms\n1,0.5\n2,\"a,b\"\n");  // a refusal changes nothing
}

TEST(Metrics, AFullDiskIsSaid) {
  expect_input_error([] { MetricsFile("/dev/full", {"a"}); }, ExitCode::would_not_fit, 501);
}

TEST(Metrics, RowsOfAnotherLengthAreABug) {
  TempFolder dir;
  MetricsFile m(dir / "m.csv", {"a", "b"});
  EXPECT_THROW(m.row(std::vector<double>{1}), tessera::Error);
}
