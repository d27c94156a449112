// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command is told before any work, and what is told can be used.
#include "app_test.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class CommandMistakes : public ::testing::Test {
 protected:
  Outcome tessera(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TESSERA_SAMPLE_PROGRAM);
    return RunningProgram(std::move(arguments), here()).wait();
  }
  const fs::path& here() const { return folder_.path(); }
  TempFolder folder_;
};

TEST_F(CommandMistakes, AreJsonWhereItIsAskedFor) {
  const std::vector<std::vector<std::string>> wrong = {{"--json"},
                                                       {"run", "--json"},
                                                       {"--json", "rum"},
                                                       {"list", "nonsense", "--json"},
                                                       {"run", "a", "--forse", "--json"}};
  for (const auto& arguments : wrong) {
    const Outcome o = tessera(arguments);
    EXPECT_EQ(o.code, 2) << ::testing::PrintToString(arguments);
    EXPECT_EQ(o.err, "") << ::testing::PrintToString(arguments);
    ASSERT_TRUE(Json::accept(o.out)) << ::testing::PrintToString(arguments) << o.out;
    EXPECT_EQ(Json::parse(o.out).at(0).at("severity"), "error") << o.out;
  }
  EXPECT_EQ(Json::parse(tessera(wrong.back()).out)[0]["hint"], "did you mean '--force'?");
}

TEST_F(CommandMistakes, CommandsThatAreShownMayBeCopied) {
  EXPECT_EQ(tessera({"new", "demo.sample", "a"}).err, "next: tessera run a/case.toml\n");
  EXPECT_EQ(tessera({"new", "demo.sample", "it's mine"}).err,
            "next: tessera run 'it'\\''s mine/case.toml'\n");
}

// A folder of a name that is not UTF-8 stands in front of the paths of its case.
TEST_F(CommandMistakes, ACaseThatCouldNotBeReadAgainIsRefused) {
  ASSERT_EQ(tessera({"new", "demo.sample", "b\xfc"}).code, 0);
  const Outcome o = tessera({"run", "b\xfc/case.toml", "-o", "RUN"});
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "error E0106: what the run keeps of the case")) << o.err;
  EXPECT_FALSE(fs::exists(here() / "RUN"));
}

TEST_F(CommandMistakes, NumbersOfOptionsAreWhatTheySay) {
  for (const char* seed : {"-1", "99999999999999999999", "9223372036854775808", "1.5", "x", ""})
    EXPECT_EQ(tessera({"new", "demo.sample", "a", "--seed", seed}).code, 2) << seed;
  EXPECT_FALSE(fs::exists(here() / "a"));
  ASSERT_EQ(tessera({"new", "demo.sample", "a", "--seed", "010"}).code, 0);
  EXPECT_EQ((std::stringstream() << std::ifstream(here() / "a/input.txt").rdbuf()).str(),
            "seed 10\n");
  for (const char* weights : {"nan,1", "inf,1", "0,1", "-1,1", "x,1"}) {
    const Outcome o = tessera({"run", "a/case.toml", "--ranks", "threads:2", "--weights", weights});
    EXPECT_EQ(o.code, 2) << weights;
    EXPECT_TRUE(holds(o.err, "is no number above 0")) << o.err;
  }
}

// An unset variable of a shell, in quotes: no default, and not the folder one happens to be in.
TEST_F(CommandMistakes, WhatIsEmptyIsNoDefault) {
  ASSERT_EQ(tessera({"new", "demo.sample", "a"}).code, 0);
  const Outcome o = tessera({"run", "a/case.toml", "-o", ""});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(holds(o.err, "--output is empty")) << o.err;
  for (const char* verb : {"check", "run", "plot", "resume", "stop", "info", "explain"})
    EXPECT_EQ(tessera({verb, ""}).code, 2) << verb;
}

}  // namespace
}  // namespace tessera::testing
