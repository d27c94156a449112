// SPDX-License-Identifier: Apache-2.0
// inversion.prior as its users meet it.
#include "app_test.h"
#include "csv_columns.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/windows.h"
#include "tessera/inversion/geology.h"
#include "tessera/inversion/section_prior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

using namespace tessera::testing;
using tessera::Index;
using tessera::Tensor;

namespace {

constexpr const char* kCase =
    "app = \"inversion.prior\"\ndata = {sections = \"s.h5\", validation = 0.1, test = 0.1}\n"
    "network = {widths = [4, 8], codes = 6, noise = 0.3, couplings = 3, "
    "flow_width = 16}\n"
    "training = {epochs = 4, batch = 32, rate = 5e-3}\n";

class Prior : public AppTest {
 protected:
  void write_sections(const std::string& name, Index n, Index rows, Index columns,
                      bool alike = false, Index wrong = -1, float number = NAN) {
    const tessera::inversion::Geology g{
        .rows = rows, .columns = columns, .events = {{.count = {2, 3}}}};
    std::vector<float> all;
    for (Index k = 0; k < n; ++k)
      for (const float v : draw_section(g, {3, static_cast<std::uint64_t>(k)}))
        all.push_back(alike ? 2.0F : k == wrong ? number : v);
    const tessera::Type type{tessera::Dtype::f32, {n, rows, columns}};
    tessera::data::create_boxes(here() / name, type, "log10_resistivity");
    tessera::data::BoxFile file(here() / name, "log10_resistivity");
    file.write(tessera::whole_box(type.shape),
               tessera::from_span<float>(std::span<const float>(all), type.shape));
    file.sync();
    tessera::data::commit_boxes(here() / name);
  }
};

TEST_F(Prior, LearnsStoppedOrNot) {
  write_sections("s.h5", 400, 8, 16);
  write("case.toml", kCase);
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 0);
  EXPECT_EQ(tessera({"estimate", "case.toml"}).code, 0);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "ONE", "--threads", "1"}).code, 0);
  const auto error = csv_column(read("ONE/metrics.csv"), "validation_error");
  ASSERT_EQ(error.size(), 4u);
  EXPECT_LT(error.back(), 0.9 * error.front());
  Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--max-time", "0.01 s"});
  ASSERT_EQ(o.code, 75) << o.err;
  o = tessera({"resume", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* file : {"prior.safetensors", "results.h5", "metrics.csv", "plots/sections.png"})
    EXPECT_EQ(read(std::string("RUN/") + file), read(std::string("ONE/") + file)) << file;
  const auto p = tessera::inversion::read_section_prior(here() / "RUN/prior.safetensors");
  EXPECT_EQ(generator_of(p).decode(tessera::zeros({6})).shape(), (tessera::Shape{8, 16}));
  const std::string picture = read("RUN/plots/learning.svg");
  ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/learning.svg"), picture);
  EXPECT_EQ(
      tessera({"run", "case.toml", "--output", "RUN", "--force", "--set", "expect.error_max=1e-3"})
          .code,
      6);
}

TEST_F(Prior, WhatElseLiesInTheFileIsSeenBeforeTraining) {
  const tessera::inversion::Geology g{.rows = 8, .columns = 16, .events = {{.count = {2, 3}}}};
  std::vector<float> all;
  for (Index k = 0; k < 400; ++k)
    for (const float v : draw_section(g, {3, static_cast<std::uint64_t>(k)})) all.push_back(v);
  const auto write_beside = [&](const auto& more) {
    tessera::data::H5Writer w(here() / "s.h5");
    w.write("log10_resistivity", all, {400, 8, 16});
    more(w);
    w.commit();
  };
  write("case.toml", kCase);
  // 80 MB of zeros in a hundredth of them, which nobody reads.
  write_beside([](auto& w) { w.write("zeros", std::vector<float>(20'000'000)); });
  Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--set", "training.epochs=1", "--set",
                       "network.couplings=0"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(std::filesystem::exists(here() / "RUN/prior.safetensors"));
  write_beside([](auto& w) {
    std::string deep = "g";
    for (int k = 0; k < 40; ++k) deep += "/g";
    w.group(deep);
  });
  o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(holds(o.err, "E0425")) << o.err;
}

TEST_F(Prior, IsNoneWhereNoEpochCanBeJudged) {
  write_sections("s.h5", 400, 8, 16, false, 340, 1e30F);  // a section for validation
  write("case.toml", kCase);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 7) << o.err;
  EXPECT_NE(o.err.find("the validation is not finite in any epoch"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(here() / "RUN/prior.safetensors"));
}

TEST_F(Prior, WhatCannotBeLearntIsRefused) {
  write("case.toml", kCase);
  EXPECT_EQ(tessera({"check", "case.toml"}).code, 4);  // no such file
  write_sections("s.h5", 40, 2, 16);
  EXPECT_TRUE(holds(tessera({"check", "case.toml", "--set", "network.widths=[4]"}).err, "4 x 4"));
  write_sections("s.h5", 40, 8, 16);
  EXPECT_TRUE(
      holds(tessera({"check", "case.toml", "--set", "training.batch=16"}).err, "warning E0695"));
  Outcome o = tessera({"check", "case.toml", "--set", "network.widths=[4, 4, 4, 4]"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "8 rows 4 times")) << o.err;
  o = tessera({"check", "case.toml", "--set", "training.batch=64"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "32 to learn from")) << o.err;
  o = tessera({"check", "case.toml", "--set", "network.codes=1", "--set", "network.couplings=2"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "E0693")) << o.err;
  o = tessera({"check", "case.toml", "--set", "network.couplings=0"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(holds(o.err, "network.flow_width has no effect without network.couplings")) << o.err;
  EXPECT_FALSE(holds(o.err, "flow_epochs")) << o.err;  // as it is by default
  write_sections("s.h5", 400, 8, 16, true);
  o = tessera({"run", "case.toml"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(holds(o.err, "nothing to learn")) << o.err;
  for (const Index k : {0, 359, 399}) {  // to learn from, for validation, for the test
    write_sections("s.h5", 400, 8, 16, false, k);
    o = tessera({"run", "case.toml", "--output", "N", "--force"});
    EXPECT_EQ(o.code, 4);
    EXPECT_TRUE(holds(o.err, "section " + std::to_string(k) + " of 400")) << o.err;
    EXPECT_FALSE(std::filesystem::exists(here() / "N/prior.safetensors"));
  }
}

}  // namespace
