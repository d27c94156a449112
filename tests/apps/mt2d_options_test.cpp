// SPDX-License-Identifier: Apache-2.0
// Keys of inversion.mt2d that contradict each other, have no effect, or lie at the edge of theirs.
#include "csv_columns.h"
#include "mt2d_case.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::testing {
namespace {

// A band that is narrower than half a step has its two ends, one of no width a single frequency.
TEST_F(Mt2d, BandsHaveBothEndsHoweverNarrow) {
  const auto frequencies = [&](const std::string& lowest, const std::string& highest) {
    write("f.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
          "stations.at = [\"0 m\"]\nmesh.goal = \"100 %\"\nfrequencies = {lowest = \"" +
              lowest + "\", highest = \"" + highest + "\"}\n");
    const Outcome o = tessera({"run", "f.toml", "--output", "F", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    const std::vector<double> hz = csv_table(read("F/data.csv")).at("frequency_hz");
    return std::set<double>(hz.begin(), hz.end());
  };
  const std::set<double> narrow = frequencies("1 Hz", "1.05 Hz");
  ASSERT_EQ(narrow.size(), 2u);
  EXPECT_NEAR(*narrow.begin(), 1, 1e-15);
  EXPECT_EQ(*narrow.rbegin(), 1.05);
  EXPECT_EQ(frequencies("2 Hz", "2 Hz"), std::set<double>{2});
}

}  // namespace
}  // namespace tessera::testing
