// SPDX-License-Identifier: Apache-2.0
// [parameters] of a configuration: what keys become of them, their derivatives, resolved.toml, and
// what is refused with file, line and column.
#include "tessera/data/parameters.h"

#include "tessera/autodiff/ops.h"
#include "tessera/data/options.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::data;
using tessera::Tensor;

namespace {

struct Body {
  double radius_m = 1;
  std::array<double, 3> size_m{1, 1, 1};
};
struct Sample {
  double length_m = 1;
  double frequency_hz = 1;
  double damping = 0.5;
  int cells = 10;
  std::vector<double> depths_m;
  std::array<double, 2> cell_m{1, 1};
  std::vector<std::array<double, 2>> corners_m;
  std::string title = "none";
  std::vector<Body> bodies;
};

const Options<Sample>& table() {
  static const Options<Sample> t = [] {
    Options<Body> body("body", "A body");
    body.add("radius", &Body::radius_m, {.doc = "d", .unit = "mm", .above = 0})
        .add("size", &Body::size_m, {.doc = "d", .unit = "mm"});
    Options<Sample> o("demo.sample", "Keys that take expressions");
    o.add("length", &Sample::length_m, {.doc = "d", .unit = "mm", .above = 0, .max = 100000})
        .add("frequency", &Sample::frequency_hz,
             {.doc = "d", .unit = "GHz", .alternatives = {{"um", "c0/x"}}})
        .add("grid.damping", &Sample::damping, {.doc = "d", .min = 0, .max = 1})
        .add("grid.cells", &Sample::cells, {.doc = "d", .min = 1, .max = 1000})
        .add("grid.depths", &Sample::depths_m, {.doc = "d", .unit = "m"})
        .add("grid.cell", &Sample::cell_m, {.doc = "d", .unit = "mm", .one_for_all = true})
        .add("grid.corners", &Sample::corners_m, {.doc = "d", .unit = "mm"})
        .add("title", &Sample::title, {.doc = "d"})
        .add_tables("body", &Sample::bodies, body, {.doc = "d"});
    return o;
  }();
  return t;
}

Config config(const std::string& text, const std::vector<std::string>& set = {}) {
  return parse_config("case.toml", "app = \"demo.sample\"\n" + text, ConfigFormat::toml, set);
}
Sample read(const std::string& text, const std::vector<std::string>& set = {}) {
  return table().read(config(text, set));
}

const char* const kWhole = R"(length = "w/2 + 1 mm"
frequency = "2*f0"
title = "w/2"
[parameters]
w = "3.2 mm"
f0 = "c0/lambda"
lambda = "12 mm"
n = 3
q = 0.25
[grid]
damping = "q*2"
cells = "n*4 - 2"
depths = ["w", "2 m", "w*n"]
cell = "w/10"
corners = [["0 mm", "w"], ["w", "2*w"]]
[[body]]
radius = "w/n"
size = ["w", "1 mm", "w*q"]
)";

}  // namespace

TEST(Parameters, BecomeValuesOfEveryKeyThatTakesNumbers) {
  const Sample s = read(kWhole);
  EXPECT_DOUBLE_EQ(s.length_m, 2.6e-3);
  EXPECT_DOUBLE_EQ(s.frequency_hz, 2 * 299792458 / 12e-3);
  EXPECT_EQ(s.damping, 0.5);
  EXPECT_EQ(s.cells, 10);
  EXPECT_EQ(s.depths_m, (std::vector<double>{3.2e-3, 2, 3.2e-3 * 3}));
  EXPECT_EQ(s.cell_m, (std::array<double, 2>{3.2e-3 / 10, 3.2e-3 / 10}));
  EXPECT_EQ(s.corners_m[1], (std::array<double, 2>{3.2e-3, 6.4e-3}));
  EXPECT_DOUBLE_EQ(s.bodies[0].radius_m, 3.2e-3 / 3);
  EXPECT_EQ(s.bodies[0].size_m[2], 3.2e-3 * 0.25);
  EXPECT_EQ(s.title, "w/2");  // a text is a text
}

TEST(Parameters, AreNotNeededForArithmetic) {
  EXPECT_DOUBLE_EQ(read("length = \"3 mm + 2 mm\"\n").length_m, 5e-3);
  EXPECT_EQ(read("grid.damping = \"1/4\"\n").damping, 0.25);
  EXPECT_DOUBLE_EQ(read("frequency = \"2*600 um\"\n").frequency_hz, 299792458 / 1200e-6);
}

TEST(Parameters, AreSetOnTheCommandLine) {
  EXPECT_DOUBLE_EQ(read(kWhole, {"parameters.w=4 mm"}).length_m, 3e-3);
  EXPECT_DOUBLE_EQ(read(kWhole, {"parameters.w=lambda/3"}).length_m, 3e-3);
  EXPECT_EQ(read(kWhole, {"parameters.n=5"}).cells, 18);
  EXPECT_DOUBLE_EQ(read(kWhole, {"length=2*w"}).length_m, 6.4e-3);
  EXPECT_DOUBLE_EQ(read("", {"parameters.a=2 mm", "length=a*a/1 mm"}).length_m, 4e-3);
}

TEST(Parameters, StayInResolvedToml) {
  const std::string text = table().resolved_toml(config(kWhole));
  for (const char* line :
       {"length = \"w/2 + 1 mm\"\n", "[parameters]\n", "w = \"3.2 mm\"\n", "n = 3\n", "q = 0.25\n",
        "depths = [\"w\", \"2 m\", \"w*n\"]", "cell = [\"w/10\", \"w/10\"]",
        "corners = [[\"0 mm\", \"w\"], [\"w\", \"2*w\"]]", "cells = \"n*4 - 2\"",
        "radius = \"w/n\""})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  const Config again = parse_config("resolved.toml", text);
  EXPECT_EQ(table().resolved_toml(again), text);
  EXPECT_EQ(table().resolved_values_toml(again), table().resolved_values_toml(config(kWhole)));
  // An expression of constants alone is its value; without parameters there is no table of them.
  const std::string plain = table().resolved_toml(config("length = \"3 mm + 2 mm\"\n"));
  EXPECT_NE(plain.find("length = \"5 mm\"\n"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("[parameters]"), std::string::npos);
  const std::string values = table().resolved_values_toml(config(kWhole));
  EXPECT_NE(values.find("length = \"2.6 mm\""), std::string::npos) << values;
  EXPECT_EQ(values.find("[parameters]"), std::string::npos);
}

// Slopes by the chain through other parameters, beside the case read again with another value.
TEST(Parameters, DifferentiateEveryKeyThatIsMadeOfThem) {
  const Config c = config(kWhole);
  const ParameterUse use = table().parameter_use(c);
  std::vector<std::string> free;
  std::vector<Tensor> at;
  for (const std::uint32_t n : use.parameters.free()) {
    free.push_back(use.parameters.all()[n].name);
    at.push_back(tessera::tensor({use.parameters.all()[n].value.value}, {}));
  }
  EXPECT_EQ(free, (std::vector<std::string>{"lambda", "n", "q", "w"}));
  EXPECT_FALSE(use.parameters.find("f0")->free);
  ASSERT_EQ(use.values.size(), 14u);
  for (std::size_t k = 0; k < free.size(); ++k) {
    const Parameter& p = *use.parameters.find(free[k]);
    const double h = 1e-6 * p.value.value;
    // Whole numbers of cells do not move; all other values do as their slopes say.
    const Config up = with_parameter(c, p, p.value.value + h),
                 down = with_parameter(c, p, p.value.value - h);
    if (free[k] == "n") continue;
    const auto more = table().parameter_use(up).values, less = table().parameter_use(down).values;
    for (std::size_t v = 0; v < use.values.size(); ++v) {
      const DependentValue& of = use.values[v];
      EXPECT_EQ(more[v].key, of.key);
      EXPECT_NEAR((more[v].value - less[v].value) / (2 * h), of.slopes[k],
                  1e-8 * std::abs(of.value / p.value.value))
          << of.key << " by " << free[k];
    }
  }
  for (const DependentValue& of : use.values)
    EXPECT_NEAR(of.at(use.parameters, at).item(), of.value, 1e-15 * of.value) << of.key;
  const auto slope = [&](const std::string& key, std::size_t item, std::size_t k) {
    for (const DependentValue& v : use.values)
      if (v.key == key && v.item == item) return v.slopes[k];
    return std::nan("");
  };
  EXPECT_EQ(slope("length", 0, 3), 0.5);
  EXPECT_DOUBLE_EQ(slope("frequency", 0, 0), -2 * 299792458 / (12e-3 * 12e-3));
  EXPECT_EQ(slope("grid.corners", 3, 3), 2);
  EXPECT_EQ(slope("grid.cells", 0, 1), 4);
  EXPECT_EQ(slope("body[0].size", 2, 2), 3.2e-3);
}

// Names of units beside values whose SI units have the same symbols: what is put in means the same.
TEST(Parameters, CalledAsUnitsTakeOtherValues) {
  for (const char* text : {"7 S/m", "300 ohm", "2 nH", "3 THz", "5 V/m", "7.8 g/cm^3", "4 um^2",
                           "1.5 m/s", "2 J/(kg*K)", "30 deg", "0.25", "-2 pF", "6 1/m", "3 kg"}) {
    const std::string beside = "m = 2\ns = 3\nA = 4\nK = 5\nkg = 6\nmol = 7\nrad = 8\nHz = 9\n";
    std::vector<Diagnostic> found;
    const Config c = config("[parameters]\n" + beside + "x = \"" + text + "\"\n");
    const Parameters before(config(std::string("[parameters]\nx = \"") + text + "\"\n"), found);
    ASSERT_TRUE(found.empty()) << found.front().message;
    const Parameter p = before.all().front();
    for (const double value : {p.value.value, p.value.value * (1 + 1e-6), 0.0, -1 / 3.0}) {
      const Parameters after(with_parameter(c, p, value), found);
      ASSERT_TRUE(found.empty()) << found.front().message;
      EXPECT_EQ(after.find("x")->value.value, value) << text;
      EXPECT_EQ(after.find("x")->value.dimension, p.value.dimension) << text;
      EXPECT_TRUE(after.find("x")->free) << after.find("x")->text;
    }
  }
  EXPECT_EQ(print_expression({300, dimension::resistance}), "300 ohm");
  EXPECT_EQ(print_expression({0.5, dimension::conductivity}), "0.5 S / 1 m");
  EXPECT_EQ(print_expression({2, dimension::resistivity}), "2 ohm * 1 m");
  EXPECT_EQ(print_expression({7, {{3, 0, 0, 0, 0, 0, 0, 0}}}), "7 m^3");
  EXPECT_EQ(print_expression({7, {{-3, 0, 0, 0, 0, 0, 0, 0}}}), "7 / 1 m^3");
}

// A parameter is no name of its own value's unit: that is not a circle.
TEST(Parameters, CalledAsTheirOwnUnitsAreAskedFor) {
  std::vector<Diagnostic> found;
  const Parameters all(config("[parameters]\nm = \"3000 S/m\"\n"), found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, 220);
  EXPECT_NE(found[0].hint.find("' * 1 m'"), std::string::npos) << found[0].hint;
  found.clear();
  EXPECT_EQ(
      Parameters(config("[parameters]\nm = \"3000 S / 1 m\"\n"), found).find("m")->value.value,
      3000);
}

// A wavelength for a frequency: the chain goes on through c0/x.
TEST(Parameters, DifferentiateWhatSaysTheSame) {
  const ParameterUse use =
      table().parameter_use(config("frequency = \"l\"\nparameters = {l = \"1.55 um\"}\n"));
  ASSERT_EQ(use.values.size(), 1u);
  EXPECT_DOUBLE_EQ(use.values[0].value, 299792458 / 1.55e-6);
  EXPECT_DOUBLE_EQ(use.values[0].slopes[0], -299792458 / (1.55e-6 * 1.55e-6));
}

TEST(Parameters, WarnsOfThoseThatAreNotUsed) {
  const auto found =
      table().check(config("length = \"a\"\n[parameters]\na = \"2*b\"\nb = \"1 mm\"\nspare = 5\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].number, 225);
  EXPECT_EQ(found[0].place.line, 6u);
  EXPECT_NE(found[0].message.find("'spare'"), std::string::npos);
  EXPECT_DOUBLE_EQ(read("length = \"1 mm\"\nparameters.spare = 5\n").length_m, 1e-3);
}

TEST(Parameters, SaysWhatIsWrongWithFileLineAndColumn) {
  const struct {
    const char* text;
    int number;
    std::size_t line, column;
    const char *message, *hint;
  } cases[] = {
      {"length = \"w + 2 GHz\"\nparameters.w = \"3 mm\"\n", 222, 2, 13,
       "'length' = 'w + 2 GHz': 'w' is length and '2 GHz' is frequency: they cannot be added", ""},
      {"length = \"2*widht\"\nparameters.width = \"3 mm\"\n", 221, 2, 13, "no name 'widht'",
       "did you mean 'width'?"},
      {"length = \"w\"\nparameters.w = \"3 GHz\"\n", 212, 2, 10, "expected length, got frequency",
       "e.g. \"1000 mm\""},
      {"length = \"w/0\"\nparameters.w = \"3 mm\"\n", 223, 2, 10, "has no finite value", ""},
      {"length = \"-w\"\nparameters.w = \"3 mm\"\n", 214, 2, 10, "must be above 0 mm", ""},
      {"grid.cells = \"n/2\"\nparameters.n = 5\n", 210, 2, 14,
       "must be an integer, and 'n/2' is 2.5", ""},
      {"grid.damping = \"n\"\nparameters.n = \"5 mm\"\n", 212, 2, 16,
       "expected a plain number, got length", ""},
      {"grid.depths = [\"1 m\", \"z\"]\nparameters.n = 5\n", 221, 2, 24, "there is no name 'z'",
       ""},
      {"[parameters]\na = \"b\"\nb = \"2*c + 1\"\nc = \"a\"\n", 224, 3, 5,
       "parameters are made of each other: a -> b -> c -> a", ""},
      {"[parameters]\na = \"a\"\n", 224, 3, 5, "a -> a", ""},
      {"[parameters]\na = \"1 mm + 1 s\"\n", 222, 3, 11, "'parameters.a' = '1 mm + 1 s'", ""},
      {"[parameters]\na = \"1/(1 - 1)\"\n", 223, 3, 5, "has no finite value", ""},
      {"[parameters]\npi = 3\n", 220, 3, 1, "'pi' is a constant or a function", ""},
      {"[parameters]\n\"2a\" = 3\n", 220, 3, 1, "cannot be called '2a'", ""},
      {"[parameters]\na = true\n", 210, 3, 5,
       "a quantity, a number or an expression, got a boolean", ""},
      {"[parameters.sub]\na = 1\n", 210, 2, 1, "got a table", ""},
      {"parameters = 5\n", 210, 2, 14, "expected the table [parameters], got an integer", ""},
      {"[[body]]\nradius = \"mm\"\n[parameters]\nr = \"1 mm\"\n", 221, 3, 11,
       "there is no name 'mm'", "'1 mm'"},
      {"length = \"2 mm*h\"\nparameters.h = 2\n", 220, 2, 16, "'h' is both a unit and a name",
       "* h"},
      // As before there were expressions, where there is no parameter.
      {"length = \"five\"\n", 211, 2, 11, "expected a decimal number", ""},
      {"length = \"2 ohm-m\"\n", 211, 2, 16, "unexpected '-'", "ohm*m"},
      {"length = \"+2 m\"\n", 211, 2, 11, "expected a decimal number", ""},
      {"length = \"nan\"\n", 211, 2, 11, "expected a decimal number", ""},
      {"length = \"2 GHz\"\n", 212, 2, 10, "expected length, got frequency", ""},
      {"grid.damping = \"0.5\"\n", 210, 2, 16, "must be a number, got a string", ""},
  };
  for (const auto& c : cases) {
    const auto found = table().check(config(c.text));
    std::vector<Diagnostic> errors;
    for (const Diagnostic& d : found)
      if (d.severity == Severity::error) errors.push_back(d);
    ASSERT_EQ(errors.size(), 1u) << c.text << (found.empty() ? "" : to_string(found[0]));
    EXPECT_EQ(errors[0].number, c.number) << to_string(errors[0]);
    EXPECT_EQ(errors[0].place.line, c.line) << to_string(errors[0]);
    EXPECT_EQ(errors[0].place.column, c.column) << to_string(errors[0]);
    EXPECT_NE(errors[0].message.find(c.message), std::string::npos) << to_string(errors[0]);
    EXPECT_NE(errors[0].hint.find(c.hint), std::string::npos) << to_string(errors[0]);
  }
}

// A string of several lines, or with escapes, is pointed at as a whole.
TEST(Parameters, PointsAtAStringThatTheFileWritesInAnotherWay) {
  const auto found =
      table().check(config("length = \"\"\"\nw +\t2 GHz\"\"\"\nparameters.w = \"1 mm\"\n"));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].number, 222);
  EXPECT_EQ(found[0].place.line, 2u);
  EXPECT_EQ(found[0].place.column, 10u);
}

TEST(Parameters, OfWrongOnesNothingElseIsTold) {
  const auto found = table().check(
      config("length = \"a\"\n[parameters]\na = \"2*b\"\nb = \"1 mm + 1 s\"\nc = \"a + b\"\n"));
  std::size_t of_parameters = 0;
  for (const Diagnostic& d : found) of_parameters += d.place.line >= 4;
  EXPECT_EQ(of_parameters, 1u) << to_string(found[0]);
}

TEST(Parameters, AreAtMostAThousand) {
  std::string text = "[parameters]\n";
  for (int k = 0; k < 1001; ++k) text += "p" + std::to_string(k) + " = 1\n";
  EXPECT_EQ(table().check(config(text)).at(0).number, 218);
  // A chain of a thousand is read without harm.
  std::string chain = "length = \"p0\"\n[parameters]\n";
  for (int k = 0; k < 999; ++k)
    chain += "p" + std::to_string(k) + " = \"p" + std::to_string(k + 1) + " + 1 mm\"\n";
  chain += "p999 = \"1 mm\"\n";
  EXPECT_NEAR(read(chain).length_m, 1, 1e-12);
}

TEST(Parameters, AreInTheSchema) {
  const std::string schema = table().json_schema();
  EXPECT_NE(schema.find("\"parameters\""), std::string::npos);
  EXPECT_NE(schema.find("propertyNames"), std::string::npos);
}

TEST(Quantity, IsPrintedForPeople) {
  EXPECT_EQ(print_readably(parse_quantity("2.6 mm")), "2.6 mm");
  EXPECT_EQ(print_readably({4.8e9, dimension::frequency}), "4.8 GHz");
  EXPECT_EQ(print_readably({0.0026 + 1e-18, dimension::length}), "2.6 mm");
  EXPECT_EQ(print_readably({5, dimension::number}), "5");
  EXPECT_EQ(print_readably({0, dimension::length}), "0 m");
  EXPECT_EQ(print_readably({-1e-40, dimension::time}), "-1e-40 s");
  EXPECT_EQ(print_readably({0.5, dimension::angle}), "0.5 rad");
  EXPECT_EQ(print_readably({1e-27, dimension::mass}), "1e-27 kg");
  EXPECT_EQ(print_readably({999.9999999999, dimension::length}), "1000 m");
}
