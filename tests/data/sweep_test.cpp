// SPDX-License-Identifier: Apache-2.0
// [sweep] of a configuration: its points, the cases that they are, and what is refused with its
// place.
#include "tessera/data/sweep.h"

#include "tessera/data/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace tessera::data;

namespace {

Config swept(const std::string& sweep) {
  return parse_config("case.toml",
                      "app = \"demo.sample\"\n"
                      "[parameters]\n"
                      "length = \"40 mm\"\n"
                      "width = \"length/2\"\n"
                      "cells = 10\n"
                      "angle = \"30 deg\"\n" +
                          sweep);
}

Sweep sweep_of(const std::string& text) { return read_sweep(swept(text)).value(); }

/// The values of a parameter at all points, SI units.
std::vector<double> values(const Sweep& s, std::size_t k) {
  std::vector<double> out;
  for (const auto& point : s.points) out.push_back(s.over[k].value[point[k]]);
  return out;
}

std::string refusal(const std::string& text) {
  try {
    read_sweep(swept(text));
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), ExitCode::config_invalid);
    return to_string(e.findings().front());
  }
  return "not refused";
}

void expect_refused(const std::string& text, const std::string& what) {
  const std::string found = refusal(text);
  EXPECT_NE(found.find(what), std::string::npos) << text << "\n" << found;
}

}  // namespace

TEST(Sweep, ACaseWithoutOneHasNone) { EXPECT_FALSE(read_sweep(swept(""))); }

TEST(Sweep, AGridHasEveryValueWithEveryOtherTheLastFastest) {
  const Sweep s =
      sweep_of("[sweep.over]\nlength = [\"38 mm\", \"0.04 m\"]\ncells = [10, 20, 30]\n");
  EXPECT_EQ(values(s, 0), (std::vector<double>{0.038, 0.038, 0.038, 0.04, 0.04, 0.04}));
  EXPECT_EQ(values(s, 1), (std::vector<double>{10, 20, 30, 10, 20, 30}));
  EXPECT_EQ(label_of_point(s, 4), "length = 40 mm, cells = 20");
}

TEST(Sweep, TheOrderOfTheFileCountsNotThatOfTheAlphabet) {
  const Sweep s =
      sweep_of("[sweep.over]\nlength = [\"38 mm\"]\ncells = [1]\nangle = [\"1 deg\"]\n");
  EXPECT_EQ(s.over[0].name, "length");
  EXPECT_EQ(s.over[2].name, "angle");
}

TEST(Sweep, RangesHoldTheirEnds) {
  const Sweep s = sweep_of(
      "[sweep.over]\nlength = {from = \"1 mm\", to = \"3 mm\", count = 5}\n"
      "cells = {from = 1, to = 1000, count = 4, spacing = \"log\"}\n");
  const std::vector<double> length = s.over[0].value, cells = s.over[1].value;
  ASSERT_EQ(length.size(), 5u);
  EXPECT_EQ(length.front(), 1e-3);
  EXPECT_EQ(length.back(), 3e-3);
  for (std::size_t k = 0; k < 5; ++k)  // three roundings
    EXPECT_NEAR(length[k], 1e-3 + 5e-4 * static_cast<double>(k), 3e-3 * 3e-16);
  ASSERT_EQ(cells.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(cells[k], std::pow(10.0, k), 1e-12 * std::pow(10.0, k));
  EXPECT_EQ(s.points.size(), 20u);
}

TEST(Sweep, MadeValuesAreThoseThatOneWouldWrite) {
  const auto cells = [](const std::string& range) {
    return sweep_of("[sweep.over]\ncells = {" + range + "}\n").over[0].value;
  };
  const std::vector<double> whole = cells("from = 10, to = 48, step = 1");
  ASSERT_EQ(whole.size(), 39u);
  for (std::size_t k = 0; k < whole.size(); ++k) EXPECT_EQ(whole[k], 10.0 + double(k));
  EXPECT_EQ(cells("from = 10, to = 80, count = 4, spacing = \"log\""),
            (std::vector<double>{10, 20, 40, 80}));
  EXPECT_EQ(cells("from = 0.1, to = 0.5, step = 0.1"),
            (std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(cells("from = -0.3, to = 0.3, count = 7")[3], 0);
  // A billionth that is meant is kept.
  EXPECT_EQ(cells("from = -1, to = 3e-9, count = 3")[1], -0.4999999985);
}

TEST(Sweep, AStepEndsWhereItDoesNotPassTheEnd) {
  const auto with_step = [](const std::string& range) {
    return sweep_of("[sweep.over]\nlength = {" + range + "}\n").over[0].value;
  };
  EXPECT_EQ(with_step("from = \"1 mm\", to = \"2 mm\", step = \"0.1 mm\"").size(), 11u);
  EXPECT_EQ(with_step("from = \"1 mm\", to = \"2 mm\", step = \"0.3 mm\"").size(), 4u);
  EXPECT_NEAR(with_step("from = \"1 mm\", to = \"2 mm\", step = \"0.3 mm\"").back(), 1.9e-3, 1e-15);
  EXPECT_EQ(with_step("from = \"2 mm\", to = \"1 mm\", step = \"-0.5 mm\"").size(), 3u);
  EXPECT_EQ(with_step("from = \"2 mm\", to = \"2 mm\", step = \"1 mm\""),
            (std::vector<double>{2e-3}));
  EXPECT_EQ(with_step("from = \"2 mm\", to = \"2 mm\", count = 1"), (std::vector<double>{2e-3}));
}

TEST(Sweep, ValuesGoTogetherWhereTheyAreSaidTo) {
  const Sweep s = sweep_of(
      "[sweep]\nkind = \"together\"\n[sweep.over]\nlength = [\"1 mm\", \"2 mm\"]\ncells = [5, "
      "7]\n");
  EXPECT_EQ(s.points.size(), 2u);
  EXPECT_EQ(label_of_point(s, 1), "length = 2 mm, cells = 7");
}

// Each of n equal parts of each range is taken once, whatever the seed; other seeds give others.
TEST(Sweep, ALatinHypercubeTakesEachPartOfEachRangeOnce) {
  std::set<std::vector<double>> all;
  for (int seed = 0; seed < 5; ++seed) {
    const Sweep s =
        sweep_of("[sweep]\nkind = \"latin_hypercube\"\ncount = 17\nseed = " + std::to_string(seed) +
                 "\n[sweep.over]\nlength = {from = \"10 mm\", to = \"27 mm\"}\n"
                 "cells = {from = 1, to = 131072, spacing = \"log\"}\n");
    ASSERT_EQ(s.points.size(), 17u);
    std::set<int> parts, parts_of_log;
    for (const double x : values(s, 0)) parts.insert(static_cast<int>(x * 1e3 - 10));
    for (const double x : values(s, 1)) parts_of_log.insert(static_cast<int>(std::log2(x)));
    EXPECT_EQ(parts.size(), 17u);
    EXPECT_EQ(parts_of_log.size(), 17u);
    all.insert(values(s, 0));
    all.insert(values(s, 1));
  }
  EXPECT_EQ(all.size(), 10u);
}

TEST(Sweep, APointIsTheCaseWithItsValuesAndNoSweep) {
  const Config c = swept("[sweep.over]\nlength = [\"38 mm\", \"42 mm\"]\n");
  const Sweep s = read_sweep(c).value();
  const Config at = at_point(c, s, 1);
  EXPECT_EQ(find(at.table(), "sweep"), nullptr);
  std::vector<Diagnostic> findings;
  const Parameters p(at, findings);
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(p.find("length")->text, "42 mm");
  EXPECT_EQ(p.find("width")->value.value, 0.021);
  EXPECT_EQ(p.find("cells")->value.value, 10);
}

// What is kept in the folder of a sweep gives the same points, bit for bit, whatever they came
// from.
// Values between ends come in a unit that no name of the case can be taken for.
TEST(Sweep, PointsOfACaseWithNamesOfUnitsAreRead) {
  const auto read = [](const std::string& over) {
    const Config c = parse_config("case.toml",
                                  "[parameters]\ns = \"1 um\"\nm = 2\nA = 3\nrs = \"300 ohm\"\n"
                                  "sigma = \"3 S / 1 m\"\n[sweep.over]\n" +
                                      over);
    const Sweep s = read_sweep(c).value();
    std::vector<std::string> out;
    for (std::size_t k = 0; k < s.points.size(); ++k) {
      std::vector<Diagnostic> found;
      const Parameters at(at_point(c, s, k), found);
      for (const Diagnostic& d : found) ADD_FAILURE() << to_string(d);
      if (const Parameter* p = at.find(s.over[0].name)) {
        EXPECT_EQ(p->value.value, s.over[0].value[s.points[k][0]]);
        out.push_back(p->text);
      }
    }
    return out;
  };
  EXPECT_EQ(read("rs = {from = \"100 ohm\", to = \"300 ohm\", count = 3}\n"),
            (std::vector<std::string>{"100 ohm", "200 ohm", "300 ohm"}));
  EXPECT_EQ(read("sigma = {from = \"1 S / 1 m\", to = \"2 S / 1 m\", count = 2}\n"),
            (std::vector<std::string>{"1 S / 1 m", "2 S / 1 m"}));
  EXPECT_THROW(read("sigma = [\"1 S/m\"]\n"), InputError);  // or 1 S over m
}

TEST(Sweep, ItsTextReadsBackToTheSamePoints) {
  for (const std::string text :
       {"[sweep.over]\nlength = [\"38 mm\", \"3.9e1 mm\"]\nangle = {from = \"0 deg\", to = \"1 "
        "rad\", "
        "count = 7}\ncells = {from = 0.1, to = 7, count = 3, spacing = \"log\"}\n",
        "[sweep]\nkind = \"together\"\n[sweep.over]\ncells = [3, 1.5]\nlength = [\"1/3*1 mm\", \"2 "
        "m\"]\n",
        "[sweep]\nkind = \"latin_hypercube\"\ncount = 3\n[sweep.over]\nlength = {from = \"1 mm\", "
        "to = "
        "\"2 mm\"}\nangle = {from = \"1 deg\", to = \"3 deg\"}\n"}) {
    const Sweep s = sweep_of(text), again = sweep_of(to_toml(s));
    EXPECT_EQ(s.points.size(), again.points.size()) << to_toml(s);
    ASSERT_EQ(s.over.size(), again.over.size());
    for (std::size_t k = 0; k < s.over.size(); ++k) {
      EXPECT_EQ(s.over[k].name, again.over[k].name);
      EXPECT_EQ(values(s, k), values(again, k)) << to_toml(s);
    }
    EXPECT_EQ(to_toml(s), to_toml(again));
  }
}

TEST(Sweep, WhatIsWrongIsToldAtItsPlace) {
  expect_refused("[sweep]\n", "case.toml:7:");
  expect_refused("[sweep]\n", "E0216: the table [sweep.over] is missing");
  expect_refused("[sweep]\nover = 3\n", "case.toml:8:8: error E0210");
  expect_refused("[sweep.over]\n", "must name a parameter");
  expect_refused("[sweep]\nkinds = \"grid\"\n", "did you mean 'kind'?");
  expect_refused("[sweep]\nkind = \"grit\"\n", "E0215");
  expect_refused("[sweep]\ncount = 5\n[sweep.over]\ncells = [1]\n", "E0219");
  expect_refused("[sweep.over]\nlenght = [\"1 mm\"]\n", "E0226");
  expect_refused("[sweep.over]\nlenght = [\"1 mm\"]\n", "did you mean 'length'?");
  expect_refused("[sweep.over]\nwidth = [\"1 mm\"]\n", "follows from others");
  expect_refused("[sweep.over]\nwidth = [\"1 mm\"]\n", "sweep length");
  expect_refused("[sweep.over]\nlength = [\"1 mm\", \"2 kg\"]\n", "E0212: 'sweep.over.length[1]'");
  expect_refused("[sweep.over]\nlength = [\"1 mm\", \"2 kg\"]\n", "case.toml:8:19");
  expect_refused("[sweep.over]\nlength = [1]\n", "expected length");
  expect_refused("[sweep.over]\nlength = [\"1 mn\"]\n", "E0211");
  expect_refused("[sweep.over]\nlength = [\"cells*1 mm\"]\n", "made of numbers alone");
  expect_refused("[sweep.over]\nlength = [true]\n", "E0210");
  expect_refused("[sweep.over]\nlength = []\n", "E0218");
  expect_refused("[sweep.over]\nlength = \"1 mm\"\n", "must be a list of values or");
  expect_refused("[sweep.over]\ncells = [\"1/0\"]\n", "E0223");
  expect_refused("[sweep.over]\ncells = {from = 1}\n", "has no 'to'");
  expect_refused("[sweep.over]\ncells = {from = 1, to = 2}\n", "either 'count' or 'step'");
  expect_refused("[sweep.over]\ncells = {from = 1, to = 2, count = 2, step = 1}\n",
                 "either 'count' or 'step'");
  expect_refused("[sweep.over]\ncells = {from = 1, to = 2, count = 1}\n", "no room for two ends");
  expect_refused("[sweep.over]\ncells = {from = 1, to = 2, count = 0}\n", "at least 1");
  expect_refused("[sweep.over]\ncells = {from = 1, to = 2, step = -1}\n", "must lead from");
  expect_refused("[sweep.over]\ncells = {from = 1, to = 2, step = 0}\n", "must lead from");
  expect_refused("[sweep.over]\ncells = {from = 0, to = 2, count = 3, spacing = \"log\"}\n",
                 "two ends of one sign");
  expect_refused("[sweep.over]\ncells = {from = 1, to = 2, steps = 3}\n", "did you mean 'step'?");
  expect_refused("[sweep.over]\ncells = {from = 0, to = 1, step = 1e-9}\n", "E0218");
  expect_refused("[sweep.over]\ncells = {from = 0, to = 1, count = 9223372036854775807}\n",
                 "E0218");
  expect_refused(
      "[sweep]\nkind = \"together\"\n[sweep.over]\ncells = [1, 2]\nlength = [\"1 mm\"]\n",
      "'cells' has 2, 'length' 1");
  expect_refused(
      "[sweep.over]\ncells = {from = 0, to = 1, count = 101}\nlength = {from = \"0 m\", to = "
      "\"1 m\", count = 100}\n",
      "10100 points, more than 10000");
  expect_refused("[sweep]\nkind = \"latin_hypercube\"\n[sweep.over]\ncells = {from = 0, to = 1}\n",
                 "'sweep.count' is missing");
  expect_refused("[sweep]\nkind = \"latin_hypercube\"\ncount = 3\n[sweep.over]\ncells = [1]\n",
                 "must be {from = ..., to = ...}");
  expect_refused(
      "[sweep]\nkind = \"latin_hypercube\"\ncount = 10001\n[sweep.over]\ncells = {from = 0, to = "
      "1}\n",
      "more than 10000");
}
