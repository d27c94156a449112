// SPDX-License-Identifier: Apache-2.0
// inversion.sections as its users meet it.
#include "app_test.h"
#include "csv_columns.h"
#include "tessera/data/windows.h"
#include "tessera/inversion/geology.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace tessera::testing;

namespace {

class Sections : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    ASSERT_EQ(tessera({"new", "inversion.sections", "earth"}).code, 0);
  }
  std::vector<float> values(const std::string& run) const {
    const auto all = tessera::data::open_boxes(here() / run / "sections.h5", "log10_resistivity");
    return all.read(tessera::whole_box(all.type.shape)).to_vector<float>();
  }
};

TEST_F(Sections, TheExampleGivesSectionsOfTheLibrary) {
  EXPECT_EQ(tessera({"check", "earth/sections.toml"}).code, 0);
  const Outcome run =
      tessera({"run", "earth/sections.toml", "--output", "RUN", "--set", "sections.count=30"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<float> all = values("RUN");
  ASSERT_EQ(all.size(), 30u * 32 * 64);
  const double mean =
      std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  EXPECT_NEAR(csv_column(read("RUN/metrics.csv"), "mean").at(0), mean, 1e-6);

  // A recipe of layers alone, beside the library's sections of the same key.
  write("layers.toml",
        "app = \"inversion.sections\"\nseed = 9\nregion = {rows = 7, columns = 3, resistivity = "
        "[\"1 ohm*m\", \"1000 ohm*m\"]}\nsections.count = 5\n[[event]]\nkind = \"layers\"\ncount = "
        "[2, 4]\n");
  ASSERT_EQ(tessera({"run", "layers.toml", "--output", "L", "--threads", "1"}).code, 0);
  const tessera::inversion::Geology g{
      .rows = 7, .columns = 3, .ohm_m = {1, 1000}, .events = {{.count = {2, 4}}}};
  std::vector<float> expected;
  for (std::uint64_t k = 0; k < 5; ++k)
    for (const float v : draw_section(g, {9, k})) expected.push_back(v);
  EXPECT_EQ(values("L"), expected);
  const auto layers = csv_column(read("L/events.csv"), "0_layers");
  ASSERT_EQ(layers.size(), 5u);
  for (std::uint64_t k = 0; k < 5; ++k) EXPECT_EQ(layers[k], times_of(g, {9, k}).at(0));
}

TEST_F(Sections, StoppedAndResumedItLeavesTheSameFile) {
  const std::string many = "sections.count=3000";
  ASSERT_EQ(
      tessera({"run", "earth/sections.toml", "--output", "ONE", "--set", many, "--threads", "1"})
          .code,
      0);
  Outcome o = tessera(
      {"run", "earth/sections.toml", "--output", "RUN", "--set", many, "--max-time", "0.1 s"});
  ASSERT_EQ(o.code, 75) << o.err;  // stopped, resumable
  EXPECT_FALSE(std::filesystem::exists(here() / "RUN/sections.h5"));
  o = tessera({"resume", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "going on at section")) << o.err;
  for (const char* file : {"sections.h5", "events.csv", "metrics.csv", "plots/sections.png"})
    EXPECT_EQ(read(std::string("RUN/") + file), read(std::string("ONE/") + file)) << file;

  // A new run in the folder of a finished one, stopped: nothing of the old one passes for it.
  o = tessera({"run", "earth/sections.toml", "--output", "RUN", "--force", "--set", many, "--set",
               "seed=2", "--max-time", "0.1 s"});
  ASSERT_EQ(o.code, 75) << o.err;
  ASSERT_EQ(tessera({"resume", "RUN"}).code, 0);
  EXPECT_NE(read("RUN/sections.h5"), read("ONE/sections.h5"));
  EXPECT_EQ(csv_column(read("RUN/events.csv"), "section").size(), 3000u);
}

TEST_F(Sections, AnExpectationThatIsMissedIsExit6) {
  EXPECT_EQ(tessera({"run", "earth/sections.toml", "--set", "sections.count=3", "--set",
                     "expect.mean_max=-1"})
                .code,
            6);
}

TEST_F(Sections, WhatCannotBeDrawnIsRefusedWithItsPlace) {
  const std::string head = "app = \"inversion.sections\"\n";
  const auto refused = [&](const std::string& text, const std::string& place,
                           const std::string& why) {
    write("bad.toml", head + text);
    const Outcome o = tessera({"check", "bad.toml"});
    EXPECT_EQ(o.code, 5) << text << o.err;
    EXPECT_TRUE(holds(o.err, place)) << o.err;
    EXPECT_TRUE(holds(o.err, why)) << o.err;
  };
  refused("", "bad.toml", "event");
  refused("[[event]]\nkind = \"fault\"\n", "bad.toml:3:", "the first event is \"layers\"");
  refused("[[event]]\nkind = \"layers\"\n[[event]]\nkind = \"layers\"\n",
          "bad.toml:5:", "layers are the first event alone");
  refused("[[event]]\nkind = \"layers\"\n[[event]]\nkind = \"fault\"\nthrow = [0.3, 0.1]\n",
          "bad.toml:6:", "the lower one first");
  refused(
      "[[event]]\nkind = \"layers\"\n[[event]]\nkind = \"fault\"\ndip = [\"0 deg\", \"90 deg\"]\n",
      "bad.toml:6:", "dip");
  refused("[[event]]\nkind = \"layers\"\nthrow = [0.1, 0.3]\n", "bad.toml:4:", "throw");
  refused("region.resistivity = [\"100 ohm*m\", \"10 ohm*m\"]\n[[event]]\nkind = \"layers\"\n",
          "bad.toml:2:", "the lower one first");
}

}  // namespace
