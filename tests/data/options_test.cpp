// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tessera::data;

namespace {

enum class Method { occam, gauss_newton };
struct Box {
  double size_m = 2000;
};
struct Sample {
  double error_floor = 0.05;
  std::vector<double> depths_m = {10, 100};
  Method method = Method::gauss_newton;
  std::optional<int> layers;
  bool robust = false;
  std::vector<bool> mask;
  std::vector<Method> methods = {Method::occam};
  std::filesystem::path folder = "/data";
  std::uint64_t seed = 3;
  std::uint8_t small = 1;
  std::string title = "none";
  std::vector<std::string> names = {"a\"b", "c\\d\n\x01\xc3\xa4"};
  double damping = 0.5;
  double rotation_rad = 0;
  std::optional<double> strike_rad;
  Box box;
};

const Options<Sample>& table() {
  static const Options<Sample> t = [] {
    Options<Sample> o("demo.sample", "An example of every kind of option");
    o.add("data.error_floor", &Sample::error_floor,
          {.doc = "Smallest relative error", .unit = "%", .above = 0, .max = 100})
        .add("model.depths", &Sample::depths_m,
             {.doc = "Depths of the interfaces",
              .unit = "m",
              .above = 0,
              .min_items = 1,
              .max_items = 4})
        .add("method", &Sample::method,
             {.doc = "How to invert", .choices = {"occam", "gauss_newton"}})
        .add("model.layers", &Sample::layers, {.doc = "Number of layers", .min = 1, .max = 100})
        .add("data.robust", &Sample::robust, {.doc = "Robust misfit"})
        .add("data.mask", &Sample::mask, {.doc = "Which points count"})
        .add("methods", &Sample::methods,
             {.doc = "Methods to compare", .choices = {"occam", "gauss_newton"}})
        .add("data.folder", &Sample::folder, {.doc = "Where the data lie"})
        .add("seed", &Sample::seed, {.doc = "Seed of the random numbers"})
        .add("small", &Sample::small, {.doc = "A small number"})
        .add("title", &Sample::title, {.doc = "Title of the pictures"})
        .add("names", &Sample::names, {.doc = "Names"})
        .add("damping", &Sample::damping, {.doc = "A plain number", .min = 0, .max = 1})
        .add("data.rotation", &Sample::rotation_rad,
             {.doc = "Rotation of the axes", .unit = "deg", .min = -360, .max = 360})
        .add("data.strike", &Sample::strike_rad, {.doc = "Strike, if known", .unit = "deg"})
        .add("model.box.size", [](Sample& s) -> double& { return s.box.size_m; },
             {.doc = "Size of the box", .unit = "km", .min = 1});
    return o;
  }();
  return t;
}

struct Strict {
  std::string station;
};
const Options<Strict>& strict_table() {
  static const Options<Strict> t = [] {
    Options<Strict> o("demo.strict", "One key without a default");
    o.add("data.station", &Strict::station, {.doc = "Which station", .required = true});
    return o;
  }();
  return t;
}

std::vector<Diagnostic> findings(const std::string& text,
                                 const std::vector<std::string>& sets = {}) {
  return table().check(
      parse_config("a.toml", "app = \"demo.sample\"\n" + text, ConfigFormat::toml, sets));
}

Sample read(const std::string& text, const std::vector<std::string>& sets = {}) {
  return table().read(
      parse_config("dir/a.toml", "app = \"demo.sample\"\n" + text, ConfigFormat::toml, sets));
}

}  // namespace

TEST(Options, DefaultsComeFromTheStruct) {
  const Sample s = read("");
  EXPECT_EQ(s.error_floor, 0.05);
  EXPECT_EQ(s.depths_m, (std::vector<double>{10, 100}));
  EXPECT_EQ(s.method, Method::gauss_newton);
  EXPECT_FALSE(s.layers);
}

TEST(Options, APathInQuotesIsNoKey) {
  for (const char* text : {R"({"app": "demo.sample", "data.error_floor": 0.2})",
                           R"({"app": "demo.sample", "model": {"box.size": "5 km"}})",
                           R"({"app": "demo.sample", "data": {}, "data.strike[0]": "5 deg"})"}) {
    const auto found = table().check(parse_config("a.json", text, ConfigFormat::json));
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].number, 213);
    EXPECT_EQ(found[0].hint, "a name in quotes is one key; each table has its own keys within it");
  }
  EXPECT_EQ(findings("'data.error_floor' = 0.2\n").at(0).number, 213);
  EXPECT_TRUE(findings("data.error_floor = 0.2\n").empty());
}

TEST(Options, ReadsEveryKind) {
  const Sample s = read(
      "method = \"occam\"\nmethods = [\"gauss_newton\", \"occam\"]\nseed = "
      "9223372036854775807\nsmall = 255\ntitle = \"T\"\n"
      "names = []\ndamping = 1\n[data]\nerror_floor = \"2.5 %\"\nrobust = true\nmask = [true, "
      "false]\nfolder = \"edi/x\"\n"
      "rotation = \"90 deg\"\nstrike = \"0.5 rad\"\n[model]\nlayers = 7\ndepths = [\"1 km\", \"20 "
      "m\"]\nbox.size = \"5000 m\"\n");
  EXPECT_EQ(s.method, Method::occam);
  EXPECT_EQ(s.methods, (std::vector{Method::gauss_newton, Method::occam}));
  EXPECT_EQ(s.seed, 9223372036854775807u);
  EXPECT_EQ(s.small, 255);
  EXPECT_EQ(s.title, "T");
  EXPECT_TRUE(s.names.empty());
  EXPECT_EQ(s.damping, 1.0);
  EXPECT_EQ(s.error_floor, 0.025);
  EXPECT_TRUE(s.robust);
  EXPECT_EQ(s.mask, (std::vector<bool>{true, false}));
  EXPECT_EQ(s.folder, std::filesystem::current_path() / "dir/edi/x");
  EXPECT_DOUBLE_EQ(s.rotation_rad, 1.5707963267948966);
  EXPECT_EQ(s.strike_rad, 0.5);
  EXPECT_EQ(s.layers, 7);
  EXPECT_EQ(s.depths_m, (std::vector<double>{1000, 20}));
  EXPECT_EQ(s.box.size_m, 5000);
}

TEST(Options, EachMistakeHasItsNumberPlaceAndWords) {
  const struct {
    const char* text;
    int number;
    std::size_t line, column;
    const char* words;
    const char* hint;
  } cases[] = {
      {"[data]\nerror_flor = 1\n", 213, 3, 1, "unknown key 'error_flor' in [data]",
       "did you mean 'error_floor'?"},
      {"error_floor = 0.1\n", 213, 2, 1, "unknown key 'error_floor'",
       "did you mean 'data.error_floor'?"},
      {"[dat]\nx = 1\n", 213, 2, 2, "unknown table 'dat'", ""},
      {"zzzzzzzzzzzz = 1\n", 213, 2, 1, "unknown key 'zzzzzzzzzzzz'", ""},
      {"data = 5\n", 210, 2, 8, "expected the table [data], got an integer", ""},
      {"[title]\nx = 1\n", 210, 2, 1, "'title' must be a string, got a table", ""},
      {"title = 5\n", 210, 2, 9, "'title' must be a string, got an integer", ""},
      {"seed = 1.5\n", 210, 2, 8, "'seed' must be an integer, got a number", ""},
      {"seed = \"1\"\n", 210, 2, 8, "got a string '1'", ""},
      {"seed = 1979-05-27\n", 210, 2, 8, "got a date", ""},
      {"damping = 1979-05-27T07:32:00Z\n", 210, 2, 11, "must be a number, got a date", ""},
      {"seed = -1\n", 214, 2, 8, "at least 0", ""},
      {"small = 256\n", 214, 2, 9, "at most 255, got 256", ""},
      {"damping = 1.5\n", 214, 2, 11, "at least 0 and at most 1, got '1.5'", ""},
      {"data.robust = 1\n", 210, 2, 15, "must be true or false, got an integer",
       "write true or false"},
      {"method = \"ocam\"\n", 215, 2, 10, "one of \"occam\", \"gauss_newton\", got 'ocam'",
       "did you mean 'occam'?"},
      {"methods = \"occam\"\n", 210, 2, 11, "must be a list", ""},
      {"names = [\"a\", 5]\n", 210, 2, 15, "items of 'names' must be a string", ""},
      {"[model]\ndepths = []\n", 218, 3, 10, "must have 1 to 4 items, got 0", ""},
      {"[model]\ndepths = [\"1 m\",\"1 m\",\"1 m\",\"1 m\",\"1 m\"]\n", 218, 3, 10, "got 5", ""},
      {"[model]\ndepths = [\"1 m\", \"2 s\"]\n", 212, 3, 18, "expected length, got time",
       "e.g. \"10 m\""},
      {"[model]\ndepths = [5]\n", 212, 3, 11,
       "expected length with its unit, got the bare number 5", "write \"5 m\""},
      {"[model]\ndepths = [\"0 m\"]\n", 214, 3, 11, "above 0 m, got '0 m'", ""},
      {"[model]\ndepths = [\"5 metre\"]\n", 211, 3, 14, "unknown unit 'metre'", "write 'm'"},
      {"[model]\ndepths = [\"5 parsec\"]\n", 211, 3, 14, "unknown unit 'parsec'", "e.g. \"10 m\""},
      {"[model]\ndepths = [\"5e11 A\"]\n", 212, 3, 11, "expected length, got electric current",
       "A is ampere: write \"5e11 angstrom\""},
      {"small = 1e2\n", 210, 2, 9, "must be an integer, got a number", "write 100"},
      {"[model]\ndepths = [\"5 ohm-m\"]\n", 211, 3, 17, "unexpected '-'", "ohm*m"},
      {"[data]\nrotation = 30\n", 212, 3, 12, "expected angle with its unit", "write \"30 deg\""},
      {"[data]\nrotation = \"361 deg\"\n", 214, 3, 12, "at least -360 deg and at most 360 deg", ""},
      {"[data]\nerror_floor = 5\n", 214, 3, 15, "above 0 % and at most 100 %, got '5'",
       "write \"5 %\""},
      {"[data]\nfolder = \"\"\n", 210, 3, 10, "must be a path", ""},
      {"units = \"md\"\n", 215, 2, 9, "'units' must be \"SI\"", ""},
  };
  for (const auto& c : cases) {
    const auto found = findings(c.text);
    ASSERT_EQ(found.size(), 1u) << c.text;
    const Diagnostic& d = found[0];
    EXPECT_EQ(d.number, c.number) << to_string(d);
    EXPECT_EQ(d.place.file, "a.toml");
    EXPECT_EQ(d.place.line, c.line) << to_string(d);
    EXPECT_EQ(d.place.column, c.column) << to_string(d);
    EXPECT_NE(d.message.find(c.words), std::string::npos) << to_string(d);
    EXPECT_NE(d.hint.find(c.hint), std::string::npos) << to_string(d);
    EXPECT_FALSE(d.source_line.empty());
  }
}

TEST(Options, TheLimitsThemselvesAreAllowed) {
  EXPECT_EQ(
      read("data.rotation = \"-360 deg\"\n[model]\nbox.size = \"1 km\"\nlayers = 100\n").layers,
      100);
  EXPECT_EQ(read("data.error_floor = \"100 %\"\n").error_floor, 1.0);
}

TEST(Options, BareNumbersNeedTheHeaderUnits) {
  EXPECT_EQ(read("units = \"SI\"\n[model]\ndepths = [5, 7.5, \"1 km\"]\n").depths_m,
            (std::vector<double>{5, 7.5, 1000}));
  // Not of angles: a bare 30 would be 30 radians.
  for (const char* value : {"30", "0", "0.5"}) {
    const auto bare = findings(std::string("units = \"SI\"\n[data]\nrotation = ") + value + "\n");
    ASSERT_EQ(bare.size(), 1u) << value;
    EXPECT_EQ(bare[0].number, 212) << to_string(bare[0]);
    EXPECT_EQ(bare[0].hint, std::string("write \"") + value + " deg\"");
  }
  EXPECT_DOUBLE_EQ(read("units = \"SI\"\n[data]\nrotation = \"180 deg\"\n").rotation_rad,
                   std::acos(-1.0));
}

TEST(Options, AllFindingsComeAtOnceInOrderAndCapped) {
  const auto few = findings("seed = -1\nzebra = 2\n[data]\nerror_flor = nan\nrobust = 1\n");
  ASSERT_EQ(few.size(), 5u);
  for (std::size_t i = 1; i < few.size(); ++i) EXPECT_LE(few[i - 1].place.line, few[i].place.line);
  std::string many;
  for (int i = 0; i < 500; ++i) many += "unknown_" + std::to_string(i) + " = 1\n";
  const auto capped = findings(many);
  ASSERT_EQ(capped.size(), 51u);
  EXPECT_EQ(capped.back().severity, Severity::note);
  EXPECT_EQ(capped.back().message, "450 more errors are not shown");
}

TEST(Options, OverridesShowThemselvesAsThePlace) {
  const auto found = findings("", {"seed=-1", "title=12", "method=ocam"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(
      to_string(found[1]).rfind("--set seed=-1: error E0214: 'seed' must be at least 0, got -1", 0),
      0u)
      << to_string(found[1]);
  EXPECT_EQ(read("", {"title=12"}).title, "12");
  EXPECT_EQ(read("data.folder = 'x'", {"data.folder=edi"}).folder,
            std::filesystem::current_path() / "edi");
  EXPECT_EQ(read("", {"data.folder=2024"}).folder, std::filesystem::current_path() / "2024");
  ASSERT_EQ(findings("", {"data.folder=[2024]"}).size(), 1u);
}

TEST(Options, ChecksTheApp) {
  EXPECT_EQ(table().check(parse_config("a", "seed = 1")).at(0).number, 201);
  EXPECT_EQ(table().check(parse_config("a", "app = \"demo.other\"")).at(0).number, 202);
  EXPECT_EQ(table().check(parse_config("a", "app = 5")).at(0).number, 201);
}

TEST(Options, ARequiredKeyIsAskedForAtItsSection) {
  const auto found =
      strict_table().check(parse_config("a.toml", "app = \"demo.strict\"\n\n[data]\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, 216);
  EXPECT_EQ(found[0].place.line, 3u);
  EXPECT_NE(found[0].message.find("'data.station' is missing"), std::string::npos);
  EXPECT_THROW(strict_table().read(parse_config("a.toml", "app = \"demo.strict\"\n")), InputError);
}

TEST(Options, ResolvedTomlReadsBackToEqualValues) {
  std::mt19937_64 random(7);
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 300; ++i) {
    Sample s;
    s.error_floor = real(1e-9, 1);
    s.depths_m = {real(1e-3, 1e9), real(1e-3, 1)};
    s.method = i % 2 ? Method::occam : Method::gauss_newton;
    if (i % 3) s.layers = 1 + i % 100;
    s.mask.assign(static_cast<std::size_t>(i % 4), i % 2 == 0);
    s.seed = random() >> 1;
    s.damping = real(0, 1);
    s.rotation_rad = real(-6, 6);
    if (i % 5) s.strike_rad = real(-1e3, 1e3);
    s.box.size_m = real(1000, 1e12);
    const std::string text = table().resolved_toml(&s);
    const Sample back = table().read(parse_config("resolved.toml", text));
    EXPECT_EQ(back.error_floor, s.error_floor) << text;
    EXPECT_EQ(back.depths_m, s.depths_m);
    EXPECT_EQ(back.method, s.method);
    EXPECT_EQ(back.layers, s.layers);
    EXPECT_EQ(back.mask, s.mask);
    EXPECT_EQ(back.methods, s.methods);
    EXPECT_EQ(back.folder, s.folder);
    EXPECT_EQ(back.seed, s.seed);
    EXPECT_EQ(back.names, s.names);
    EXPECT_EQ(back.damping, s.damping);
    EXPECT_EQ(back.rotation_rad, s.rotation_rad);
    EXPECT_EQ(back.strike_rad, s.strike_rad);
    EXPECT_EQ(back.box.size_m, s.box.size_m);
    EXPECT_EQ(table().resolved_toml(&back), text);
  }
}

TEST(Options, ExplainsAndDocumentsEveryKey) {
  const std::string page = table().reference_page();
  for (const OptionSpec& s : table().specs()) {
    const std::string text = table().explain(s.key);
    EXPECT_NE(text.find(s.field.doc), std::string::npos);
    EXPECT_NE(page.find("| `" + s.key + "` |"), std::string::npos);
  }
  EXPECT_NE(table().explain("data.error_floor").find("range: above 0 % and at most 100 %"),
            std::string::npos);
  EXPECT_NE(table().explain("data.error_floor").find("default: \"5 %\""), std::string::npos);
  EXPECT_EQ(table().explain("nothing"), "");
  EXPECT_EQ(table().nearest("data.errorfloor").at(0), "data.error_floor");
}

TEST(Options, MistakesInTheDeclarationAreFoundAtOnce) {
  struct S {
    double x = 5;
    Method m = Method::occam;
  };
  const auto declare = [](auto access, std::string key, Field f) {
    Options<S> o("a.b", "d");
    o.add("other.key", &S::x, {.doc = "d"});
    o.add(std::move(key), access, std::move(f));
  };
  EXPECT_NO_THROW(declare(&S::x, "x", {.doc = "d"}));
  EXPECT_THROW(declare(&S::x, "x", {}), std::logic_error);
  EXPECT_THROW(declare(&S::x, "other.key", {.doc = "d"}), std::logic_error);
  EXPECT_THROW(declare(&S::x, "other", {.doc = "d"}), std::logic_error);
  EXPECT_THROW(declare(&S::x, "other.key.more", {.doc = "d"}), std::logic_error);
  EXPECT_THROW(declare(&S::x, "app", {.doc = "d"}), std::logic_error);
  EXPECT_THROW(declare(&S::x, "x", {.doc = "d", .max = 1}), std::logic_error);
  EXPECT_THROW(declare(&S::x, "x", {.doc = "d", .unit = "furlong"}), QuantityError);
  EXPECT_THROW(declare(&S::m, "m", {.doc = "d"}), std::logic_error);
}
