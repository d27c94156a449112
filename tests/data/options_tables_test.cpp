// SPDX-License-Identifier: Apache-2.0
// Tables and lists of tables in a configuration: a small scene of bodies, media and sources.
#include "temp_folder.h"
#include "tessera/data/options.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace tessera::data;

namespace {

constexpr double c0 = 299792458;
using Point = std::array<double, 3>;

enum class Shape { box, sphere, cylinder, prism };
enum class Axis { x, y, z };
enum class PoleKind { drude, lorentz };

struct PoleOptions {
  PoleKind kind = PoleKind::drude;
  double frequency_hz = 0;
  double strength = 1;
};
struct MediumOptions {
  std::string name;
  Point eps{1, 1, 1};
  std::vector<PoleOptions> poles;
};
struct BodyOptions {
  Shape shape = Shape::box;
  std::string medium = "air";
  Point centre{}, size{};
  double radius = 1e-6;
  std::optional<double> height;
  Axis axis = Axis::z;
  std::vector<std::array<double, 2>> points;
};
struct WaveOptions {
  double frequency_hz = 0;
  std::optional<double> delay_s;
};
struct SourceOptions {
  WaveOptions wave;
  std::optional<PoleOptions> pole;
};
struct GridOptions {
  Point cell{1e-6, 1e-6, 1e-6};
  std::optional<Point> origin;
  double courant = 0.9;
};
struct SceneOptions {
  GridOptions grid;
  std::vector<MediumOptions> media;
  std::vector<BodyOptions> bodies;
  std::vector<SourceOptions> sources;
  std::vector<WaveOptions> probes = {{1e9, {}}};
  std::string title = "untitled";
  int threads = 0;
};

Options<PoleOptions> pole_options() {
  using O = PoleOptions;
  Options<O> o("pole", "One term of the permittivity.");
  o.add_kind("kind", &O::kind, {.doc = "Kind.", .choices = {"drude", "lorentz"}, .required = true});
  o.add("frequency", &O::frequency_hz,
        {.doc = "Frequency.",
         .unit = "THz",
         .alternatives = {{"um", "c0/x"}},
         .above = 0,
         .required = true});
  o.add("strength", &O::strength, {.doc = "Strength.", .required_for = {"lorentz"}});
  return o;
}

Options<WaveOptions> wave_options() {
  using O = WaveOptions;
  Options<O> o("wave", "A pulse.");
  o.add("frequency", &O::frequency_hz,
        {.doc = "Frequency.", .unit = "GHz", .above = 0, .required = true});
  o.add("delay", &O::delay_s, {.doc = "Delay.", .unit = "ns"});
  return o;
}

Options<BodyOptions> body_options() {
  using O = BodyOptions;
  Options<O> o("structure", "A body of one medium.");
  o.add_kind(
      "shape", &O::shape,
      {.doc = "Shape.", .choices = {"box", "sphere", "cylinder", "prism"}, .required = true});
  o.add("medium", &O::medium, {.doc = "Name of the medium."});
  o.add("centre", &O::centre,
        {.doc = "Centre.", .unit = "um", .only_for = {"box", "sphere", "cylinder"}});
  o.add("size", &O::size,
        {.doc = "Edges.", .unit = "um", .above = 0, .required = true, .only_for = {"box"}});
  o.add("radius", &O::radius,
        {.doc = "Radius.",
         .unit = "um",
         .above = 0,
         .only_for = {"sphere", "cylinder"},
         .required_for = {"sphere"}});
  o.add("height", &O::height,
        {.doc = "Height.",
         .unit = "um",
         .infinite = true,
         .above = 0,
         .only_for = {"cylinder", "prism"}});
  o.add("axis", &O::axis,
        {.doc = "Axis.", .choices = {"x", "y", "z"}, .only_for = {"cylinder", "prism"}});
  o.add("points", &O::points,
        {.doc = "Corners.", .unit = "um", .required = true, .only_for = {"prism"}, .min_items = 3});
  return o;
}

const Options<SceneOptions>& scene_table() {
  static const Options<SceneOptions> t = [] {
    Options<GridOptions> grid("grid", "The grid.");
    grid.add("cell", &GridOptions::cell,
             {.doc = "Cell.", .unit = "um", .above = 0, .one_for_all = true})
        .add("origin", &GridOptions::origin, {.doc = "Origin.", .unit = "um"})
        .add("time.courant", &GridOptions::courant, {.doc = "Share.", .above = 0, .max = 1});
    Options<MediumOptions> medium("medium", "A medium.");
    medium.add("name", &MediumOptions::name, {.doc = "Name.", .required = true})
        .add("eps", &MediumOptions::eps, {.doc = "Permittivity.", .min = 1, .one_for_all = true})
        .add_tables("poles", &MediumOptions::poles, pole_options(),
                    {.doc = "Poles.", .max_items = 3});
    Options<SourceOptions> source("source", "A source.");
    source
        .add_table("wave", &SourceOptions::wave, wave_options(),
                   {.doc = "Its pulse.", .required = true})
        .add_table("pole", &SourceOptions::pole, pole_options(), {.doc = "A pole, perhaps."});
    using S = SceneOptions;
    Options<S> o("demo.scene", "A scene.");
    o.add("title", &S::title, {.doc = "Title."})
        .add("run.threads", &S::threads, {.doc = "Threads.", .min = 0})
        .add_table("grid", &S::grid, grid, {.doc = "The grid."})
        .add_tables("medium", &S::media, medium, {.doc = "Media."})
        .add_tables("structure", &S::bodies, body_options(), {.doc = "Bodies.", .max_items = 4})
        .add_tables("source", &S::sources, source, {.doc = "Sources."})
        .add_tables("probe", &S::probes, wave_options(), {.doc = "Probes."});
    return o;
  }();
  return t;
}

const std::string kApp = "app = \"demo.scene\"\n";

std::vector<Diagnostic> scene_findings(const std::string& text,
                                       const std::vector<std::string>& sets = {}) {
  return scene_table().check(parse_config("a.toml", kApp + text, ConfigFormat::toml, sets));
}
SceneOptions read_scene(const std::string& text, const std::vector<std::string>& sets = {}) {
  return scene_table().read(parse_config("a.toml", kApp + text, ConfigFormat::toml, sets));
}

const char* const kScene = R"(title = "T"
[grid]
cell = "25 nm"
origin = ["0 um", "-1 um", "2 um"]
time.courant = 0.5

[[medium]]
name = "glass"
eps = 2.25

[[medium]]
name = "metal"
eps = [1, 2, 3]
poles = [{kind = "drude", frequency = "1.55 um"}, {kind = "lorentz", frequency = "200 THz", strength = 0.5}]

[[structure]]
shape = "box"
size = ["1 um", "2 um", "300 nm"]

[[structure]]
shape = "sphere"
medium = "metal"
centre = ["1 um", "0 um", "0 um"]
radius = "40 nm"

[[structure]]
shape = "prism"
height = "1 um"
axis = "y"
points = [["0 um", "0 um"], ["1 um", "0 um"], ["0 um", "1 um"]]

[[source]]
wave = {frequency = "2.4 GHz"}

[[source]]
[source.wave]
frequency = "1 GHz"
delay = "2 ns"
[source.pole]
kind = "drude"
frequency = "1 THz"
)";

void expect_scene(const SceneOptions& s) {
  EXPECT_EQ(s.title, "T");
  EXPECT_EQ(s.grid.cell, (Point{2.5e-8, 2.5e-8, 2.5e-8}));
  EXPECT_EQ(s.grid.origin, (Point{0, -1e-6, 2e-6}));
  EXPECT_EQ(s.grid.courant, 0.5);
  ASSERT_EQ(s.media.size(), 2u);
  EXPECT_EQ(s.media[0].name, "glass");
  EXPECT_EQ(s.media[0].eps, (Point{2.25, 2.25, 2.25}));
  EXPECT_TRUE(s.media[0].poles.empty());
  EXPECT_EQ(s.media[1].eps, (Point{1, 2, 3}));
  ASSERT_EQ(s.media[1].poles.size(), 2u);
  EXPECT_EQ(s.media[1].poles[0].kind, PoleKind::drude);
  EXPECT_DOUBLE_EQ(s.media[1].poles[0].frequency_hz, c0 / 1.55e-6);
  EXPECT_EQ(s.media[1].poles[0].strength, 1);
  EXPECT_EQ(s.media[1].poles[1].frequency_hz, 2e14);
  EXPECT_EQ(s.media[1].poles[1].strength, 0.5);
  ASSERT_EQ(s.bodies.size(), 3u);
  EXPECT_EQ(s.bodies[0].shape, Shape::box);
  EXPECT_EQ(s.bodies[0].medium, "air");
  EXPECT_EQ(s.bodies[0].size, (Point{1e-6, 2e-6, 3e-7}));
  EXPECT_EQ(s.bodies[1].medium, "metal");
  EXPECT_EQ(s.bodies[1].centre, (Point{1e-6, 0, 0}));
  EXPECT_EQ(s.bodies[1].radius, 4e-8);
  EXPECT_EQ(s.bodies[2].axis, Axis::y);
  EXPECT_EQ(s.bodies[2].height, 1e-6);
  EXPECT_EQ(s.bodies[2].points, (std::vector<std::array<double, 2>>{{0, 0}, {1e-6, 0}, {0, 1e-6}}));
  ASSERT_EQ(s.sources.size(), 2u);
  EXPECT_EQ(s.sources[0].wave.frequency_hz, 2.4e9);
  EXPECT_FALSE(s.sources[0].pole);
  EXPECT_EQ(s.sources[1].wave.delay_s, 2e-9);
  ASSERT_TRUE(s.sources[1].pole);
  EXPECT_EQ(s.sources[1].pole->frequency_hz, 1e12);
  EXPECT_EQ(s.probes.size(), 1u);
}

}  // namespace

TEST(OptionTables, AreReadFromToml) { expect_scene(read_scene(kScene)); }

TEST(OptionTables, AreReadFromJsonToTheSame) {
  expect_scene(scene_table().read(parse_config("a.json", R"({"app": "demo.scene", "title": "T",
    "grid": {"cell": "25 nm", "origin": ["0 um", "-1 um", "2 um"], "time": {"courant": 0.5}},
    "medium": [{"name": "glass", "eps": 2.25},
               {"name": "metal", "eps": [1, 2, 3],
                "poles": [{"kind": "drude", "frequency": "1.55 um"},
                          {"kind": "lorentz", "frequency": "200 THz", "strength": 0.5}]}],
    "structure": [{"shape": "box", "size": ["1 um", "2 um", "300 nm"]},
                  {"shape": "sphere", "medium": "metal", "centre": ["1 um", "0 um", "0 um"],
                   "radius": "40 nm"},
                  {"shape": "prism", "height": "1 um", "axis": "y",
                   "points": [["0 um", "0 um"], ["1 um", "0 um"], ["0 um", "1 um"]]}],
    "source": [{"wave": {"frequency": "2.4 GHz"}},
               {"wave": {"frequency": "1 GHz", "delay": "2 ns"},
                "pole": {"kind": "drude", "frequency": "1 THz"}}]})",
                                               ConfigFormat::json)));
}

TEST(OptionTables, KeepTheDefaultsOfTheStructWhereAbsent) {
  const SceneOptions s = read_scene("");
  EXPECT_EQ(s.grid.cell[0], 1e-6);
  EXPECT_FALSE(s.grid.origin);
  EXPECT_TRUE(s.bodies.empty());
  ASSERT_EQ(s.probes.size(), 1u);
  EXPECT_EQ(s.probes[0].frequency_hz, 1e9);
  EXPECT_TRUE(read_scene("probe = []\n").probes.empty());
  EXPECT_EQ(read_scene("[[probe]]\nfrequency = \"5 GHz\"\n").probes.at(0).frequency_hz, 5e9);
}

TEST(OptionTables, EachMistakeHasItsNumberPlaceAndWords) {
  // Lines count from the one with the app.
  const struct {
    const char* text;
    int number;
    std::size_t line, column;
    const char* words;
    const char* hint;
  } cases[] = {
      // unknown keys
      {"[[structure]]\nshape = \"sphere\"\nradius = \"1 um\"\nraduis = 1\n", 213, 5, 1,
       "unknown key 'raduis' in structure[0]", "did you mean 'radius'?"},
      {"[[structures]]\nshape = \"box\"\n", 213, 2, 3, "unknown table 'structures'",
       "did you mean 'structure'?"},
      {"[grid]\n  cel = \"1 um\"\n", 213, 3, 3, "unknown key 'cel' in [grid]",
       "did you mean 'cell'?"},
      {"[grid.time]\ncourrant = 0.5\n", 213, 3, 1, "unknown key 'courrant' in [grid.time]",
       "did you mean 'courant'?"},
      {"[[source]]\nwave = {frequency = \"1 GHz\", dely = \"1 ns\"}\n", 213, 3, 30,
       "unknown key 'dely' in [source[0].wave]", "did you mean 'delay'?"},
      {"[[source]]\nfrequency = \"1 GHz\"\nwave = {frequency = \"1 GHz\"}\n", 213, 3, 1,
       "unknown key 'frequency' in source[0]", "did you mean 'wave.frequency'?"},
      {"[[source]]\ncourant = 1\nwave.frequency = \"1 GHz\"\n", 213, 3, 1,
       "unknown key 'courant' in source[0]", "did you mean 'grid.time.courant'?"},
      {"[[source]]\nwave = {freq = \"1 GHz\", frequency = \"1 GHz\"}\n", 213, 3, 9,
       "unknown key 'freq' in [source[0].wave]", "did you mean 'frequency'?"},
      {"[[structure]]\nshape = \"sphere\"\nradius = \"1 um\"\nwavelength = 1\n", 213, 5, 1,
       "unknown key 'wavelength' in structure[0]", "there are medium, centre, radius"},
      {"[[medium]]\nname = \"a\"\n[[medium]]\nname = \"b\"\npoles = [{kind = \"drude\", frequency "
       "= \"1 THz\"}, {kind = \"drude\", frequency = \"1 THz\", x = 1}]\n",
       213, 6, 87, "unknown key 'x' in medium[1].poles[1]", ""},
      // types
      {"structure = 5\n", 210, 2, 13, "'structure' must be a list of tables, got an integer",
       "write [[structure]]"},
      {"[structure]\nshape = \"box\"\n", 210, 2, 1,
       "'structure' must be a list of tables, got a table", "write [[structure]]"},
      {"structure = [5]\n", 210, 2, 14, "'structure[0]' must be a table, got an integer", ""},
      {"[[medium]]\nname = \"a\"\npoles = {kind = \"drude\"}\n", 210, 4, 9,
       "'medium[0].poles' must be a list of tables, got a table", "write poles = [{...}]"},
      {"grid = 5\n", 210, 2, 8, "expected the table [grid], got an integer", ""},
      {"[[grid]]\n", 210, 2, 1, "expected the table [grid], got a list", ""},
      {"[[source]]\nwave = \"gaussian\"\n", 210, 3, 8,
       "expected the table [source[0].wave], got a string", ""},
      {"[[structure]]\nshape = \"sphere\"\nradius = true\n", 210, 4, 10,
       "'structure[0].radius' must be length in um or the like, got a boolean", ""},
      {"[grid]\ncell = true\n", 210, 3, 8, "'grid.cell' must be length", ""},
      // ranges, quantities, lengths of lists
      {"[[structure]]\nshape = \"box\"\nsize = [\"1 um\", \"0 um\", \"1 um\"]\n", 214, 4, 17,
       "items of 'structure[0].size' must be above 0 um, got '0 um'", ""},
      {"[[structure]]\nshape = \"box\"\nsize = [\"1 um\", \"1 um\"]\n", 218, 4, 8,
       "'structure[0].size' must have 3 items, got 2", ""},
      {"[[structure]]\nshape = \"prism\"\npoints = [[\"0 um\", \"0 um\"], [\"1 um\"], [\"0 um\", "
       "\"1 s\"]]\n",
       212, 4, 48, "expected length, got time", "e.g. \"1 um\""},
      {"[grid]\ncell = \"0 um\"\n", 214, 3, 8, "'grid.cell' must be above 0 um", ""},
      {"[grid]\ncell = [\"1 um\"]\n", 218, 3, 8, "must have 3 items, got 1", ""},
      {"[[medium]]\nname = \"a\"\npoles = [{kind = \"drude\", frequency = \"1 fs\"}]\n", 212, 4, 39,
       "expected frequency, got time", "or length in um"},
      {"[[medium]]\nname = \"a\"\npoles = [{kind = \"drude\", frequency = \"0 um\"}]\n", 211, 4, 40,
       "there is no frequency to it", ""},
      {"[[medium]]\nname = \"a\"\npoles = [{kind = \"drude\", frequency = \"-2 um\"}]\n", 214, 4,
       39, "must be above 0 THz, got '-2 um'", ""},
      {"[[medium]]\nname = \"a\"\npoles = [{kind = \"drue\", frequency = \"1 THz\"}]\n", 215, 4, 18,
       "one of \"drude\", \"lorentz\", got 'drue'", "did you mean 'drude'?"},
      {"[[structure]]\nshape = \"cylinder\"\nheight = \"-inf\"\n", 214, 4, 10,
       "must be above 0 um, got '-inf'", ""},
      {"[[structure]]\nshape = \"cylinder\"\nheight = \"infinite\"\n", 211, 4, 11,
       "expected a decimal number", ""},
      {"[[structure]]\nshape = \"cylinder\"\nheight = inf\n", 114, 4, 10, "infinite", ""},
      {"[[structure]]\nshape = \"sphere\"\nradius = \"inf\"\n", 211, 4, 11,
       "expected a decimal number", ""},
      // missing
      {"[[medium]]\nname = \"a\"\n\n[[medium]]\neps = 2\n", 216, 5, 1,
       "the key 'medium[1].name' is missing: Name.", ""},
      {"[[source]]\n", 216, 2, 1, "the table [source[0].wave] is missing: Its pulse.", ""},
      {"[[source]]\nwave = {delay = \"1 ns\"}\n", 216, 3, 1,
       "the key 'source[0].wave.frequency' is missing", ""},
      {"[[source]]\n[source.wave]\ndelay = \"1 ns\"\n", 216, 3, 9,
       "the key 'source[0].wave.frequency' is missing", ""},
      {"[[structure]]\nmedium = \"air\"\n", 216, 2, 1, "the key 'structure[0].shape' is missing",
       ""},
      // kinds
      {"[[structure]]\nshape = \"box\"\nsize = [\"1 um\", \"1 um\", \"1 um\"]\nradius = \"1 um\"\n",
       219, 5, 1,
       "'structure[0].radius' is no key of shape = \"box\": it belongs to \"sphere\", \"cylinder\"",
       "\"box\" takes medium, centre, size"},
      {"[[structure]]\nshape = \"sphere\"\n", 216, 2, 1,
       "'structure[0].radius' is missing: Radius. (shape = \"sphere\" needs it)", ""},
      {"[[structure]]\nradius = \"1 um\"\nshape = \"ball\"\n", 215, 4, 9, "got 'ball'", ""},
  };
  for (const auto& c : cases) {
    const auto all = scene_findings(c.text);
    ASSERT_FALSE(all.empty()) << c.text;
    const Diagnostic& d = all.back();
    const bool one_row_short = std::string(c.text).find("[\"1 um\"], [") != std::string::npos;
    EXPECT_EQ(all.size(), one_row_short ? 2u : 1u) << c.text << to_string(all.front());
    EXPECT_EQ(d.number, c.number) << to_string(d);
    EXPECT_EQ(d.place.file, "a.toml");
    EXPECT_EQ(d.place.line, c.line) << to_string(d);
    EXPECT_EQ(d.place.column, c.column) << to_string(d);
    EXPECT_NE(d.message.find(c.words), std::string::npos) << to_string(d);
    EXPECT_NE(d.hint.find(c.hint), std::string::npos) << to_string(d);
    EXPECT_FALSE(d.source_line.empty());
  }
}

TEST(OptionTables, ARowOfAnotherLengthIsTold) {
  const auto all = scene_findings(
      "[[structure]]\nshape = \"prism\"\npoints = [[\"0 um\", \"0 um\"], [\"1 um\"], \"1 um\"]\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(to_string(all[0]).find("a.toml:4:29: error E0218: rows of 'structure[0].points' must "
                                   "have 2 items, got 1"),
            0u)
      << to_string(all[0]);
  EXPECT_EQ(all[1].number, 210);
  EXPECT_EQ(all[1].place.column, 39u);
}

TEST(OptionTables, AllFindingsOfAllItemsComeAtOnce) {
  const auto all = scene_findings(
      "[grid]\ncell = 5\n[[structure]]\nshape = \"sphere\"\n[[structure]]\nshape = \"box\"\nheight "
      "= \"1 um\"\nzebra = 1\n[[medium]]\neps = 0\n");
  std::vector<std::pair<int, std::size_t>> got;
  for (const Diagnostic& d : all) got.emplace_back(d.number, d.place.line);
  EXPECT_EQ(got, (std::vector<std::pair<int, std::size_t>>{
                     {212, 3}, {216, 4}, {216, 6}, {219, 8}, {213, 9}, {216, 10}, {214, 11}}));
}

TEST(OptionTables, TooManyItemsAreRefused) {
  std::string text;
  for (int i = 0; i < 5; ++i) text += "[[structure]]\nshape = \"sphere\"\nradius = \"1 um\"\n";
  const auto all = scene_findings(text);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].number, 218);
  EXPECT_NE(all[0].message.find("'structure' must have 0 to 4 items, got 5"), std::string::npos);
}

TEST(OptionTables, AnAppFindsThePlaceOfEveryKey) {
  const Config c = parse_config("a.toml", kApp + kScene);
  const struct {
    const char* key;
    std::uint32_t line, column;
  } cases[] = {
      {"title", 2, 1},
      {"grid", 3, 2},
      {"grid.origin", 5, 1},
      {"grid.origin[1]", 5, 19},
      {"grid.time.courant", 6, 6},
      {"grid.nothing", 3, 2},
      {"medium[0].name", 9, 1},
      {"medium[1]", 12, 1},
      {"medium[1].poles", 15, 1},
      {"medium[1].poles[1]", 15, 51},
      {"medium[1].poles[1].strength", 15, 93},
      {"structure[1].radius", 25, 1},
      {"structure[1].height", 21, 1},
      {"structure[2].points[1][0]", 31, 30},
      {"structure[7].radius", 17, 3},
      {"source[1].wave.delay", 39, 1},
  };
  for (const auto& k : cases) {
    const Origin o = c.origin(k.key);
    EXPECT_EQ(o.line, k.line) << k.key;
    EXPECT_EQ(o.column, k.column) << k.key;
  }
  EXPECT_EQ(c.origin("absent").line, 0u);
  EXPECT_EQ(to_string(c.error(605, "structure[1].radius", "too small"))
                .find("a.toml:25:1: error E0605: too small\n    radius = \"40 nm\"\n    ^"),
            0u);
}

TEST(OptionTables, OverridesReachIntoItems) {
  const SceneOptions s =
      read_scene(kScene, {"structure[1].radius=1um", "structure[1].medium=5", "grid.cell=50 nm",
                          "medium[1].poles[0].strength=3", "medium[1].eps[2]=7",
                          "structure[2].points[1][0]=3um", "source[0].wave.delay=1ns"});
  EXPECT_EQ(s.bodies[1].radius, 1e-6);
  EXPECT_EQ(s.bodies[1].medium, "5");
  EXPECT_EQ(s.bodies[0].size[0], 1e-6);
  EXPECT_EQ(s.grid.cell[2], 5e-8);
  EXPECT_EQ(s.grid.courant, 0.5);
  EXPECT_EQ(s.media[1].poles[0].strength, 3);
  EXPECT_EQ(s.media[1].eps, (Point{1, 2, 7}));
  EXPECT_EQ(s.bodies[2].points[1][0], 3e-6);
  EXPECT_EQ(s.sources[0].wave.frequency_hz, 2.4e9);
  EXPECT_EQ(s.sources[0].wave.delay_s, 1e-9);
}

TEST(OptionTables, ANumberWithinAnOverrideIsNoText) {
  // Where the shell takes the quotes away the whole override is the text, not what stands around
  // it.
  EXPECT_EQ(read_scene("", {"title=12"}).title, "12");
  for (const char* set : {"medium=[{name=5}]", "medium=[{name=true}]"}) {
    const auto found = scene_findings("", {set});
    ASSERT_EQ(found.size(), 1u) << set;
    EXPECT_EQ(found[0].number, 210) << to_string(found[0]);
    EXPECT_NE(found[0].message.find("'medium[0].name' must be a string, got a"), std::string::npos)
        << to_string(found[0]);
  }
  EXPECT_EQ(read_scene("", {"medium=[{name=\"5\"}]"}).media.at(0).name, "5");
}

TEST(OptionTables, AnOverrideThatReachesNothingIsRefused) {
  const struct {
    const char* text;
    const char* words;
  } cases[] = {
      {"structure[3].radius=1um", "there is no structure[3]: 'structure' has 3 items"},
      {"structure.radius=1um",
       "'structure' is a list: name one of its items, such as "
       "structure[0].radius"},
      {"grid[0].cell=1um", "'grid' is no list"},
      {"structure[x].radius=1um", "expected the number of an item"},
      {"structure[0=1", "expected the number of an item"},
      {"structure[-1].radius=1um", "expected the number of an item"},
      {"structure[0]radius=1um", "key is misspelt"},
      {"[0].radius=1um", "key is misspelt"},
      {"structure[0].=1um", "key is misspelt"},
  };
  for (const auto& c : cases) {
    try {
      read_scene(kScene, {c.text});
      ADD_FAILURE() << c.text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.findings().at(0).number, 217) << e.what();
      EXPECT_NE(std::string(e.what()).find(c.words), std::string::npos) << e.what();
    }
  }
  const auto all = scene_findings(kScene, {"structure[0].radius=1um"});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(to_string(all[0]).find("--set structure[0].radius=1um: error E0219"), 0u)
      << to_string(all[0]);
}

TEST(OptionTables, IncludedItemsComeBeforeTheOwn) {
  const tessera::testing::TempFolder t;
  t.write("media.toml",
          "[grid]\ncell = \"1 um\"\n[[medium]]\nname = \"a\"\n[[medium]]\nname = "
          "\"b\"\n[[probe]]\nfrequency = \"1 GHz\"\n");
  t.write("case.toml", kApp + "include = [\"media.toml\"]\nprobe = []\n[[medium]]\nname = \"c\"\n");
  const Config c = read_config(t.path() / "case.toml");
  const SceneOptions s = scene_table().read(c);
  ASSERT_EQ(s.media.size(), 3u);
  EXPECT_EQ(s.media[0].name + s.media[1].name + s.media[2].name, "abc");
  EXPECT_TRUE(s.probes.empty());
  const Diagnostic d = c.error(601, "medium[1].name", "m");
  EXPECT_NE(d.place.file.find("media.toml"), std::string::npos);
  EXPECT_EQ(d.place.line, 6u);
}

TEST(OptionTables, ResolvedTomlReadsBackToEqualValues) {
  std::mt19937_64 random(11);
  const auto real = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int round = 0; round < 100; ++round) {
    SceneOptions s;
    s.grid.cell = {real(1e-9, 1), real(1e-9, 1), real(1e-9, 1)};
    if (round % 2) s.grid.origin = Point{real(-1, 1), 0, real(-1, 1)};
    s.probes.resize(static_cast<std::size_t>(round % 3), {real(1, 1e12), real(0, 1)});
    for (int i = 0; i < round % 4; ++i) {
      MediumOptions m{.name = "m" + std::to_string(i), .eps = {real(1, 9), 1, 2}, .poles = {}};
      for (int k = 0; k < i; ++k)
        m.poles.push_back({k % 2 ? PoleKind::drude : PoleKind::lorentz, real(1, 1e15), real(0, 9)});
      s.media.push_back(m);
      BodyOptions b{.shape = static_cast<Shape>((round + i) % 4)};
      b.size = {real(1e-9, 1), real(1e-9, 1), real(1e-9, 1)};
      b.centre = {real(-1, 1), real(-1, 1), real(-1, 1)};
      b.radius = real(1e-9, 1);
      if (round % 3) b.height = real(1e-9, 1);
      b.points = {{real(-1, 1), 0}, {0, real(-1, 1)}, {1, 1}};
      s.bodies.push_back(b);
      SourceOptions source{.wave = {real(1, 1e12), {}}, .pole = {}};
      if (i % 2) source.pole = PoleOptions{PoleKind::lorentz, real(1, 1e15), 2};
      s.sources.push_back(source);
    }
    const std::string text = scene_table().resolved_toml(&s);
    const SceneOptions back = scene_table().read(parse_config("resolved.toml", text));
    EXPECT_EQ(scene_table().resolved_toml(&back), text);
    EXPECT_EQ(back.grid.cell, s.grid.cell) << text;
    EXPECT_EQ(back.grid.origin, s.grid.origin);
    EXPECT_EQ(back.probes.size(), s.probes.size());
    ASSERT_EQ(back.media.size(), s.media.size()) << text;
    for (std::size_t i = 0; i < s.media.size(); ++i) {
      EXPECT_EQ(back.media[i].name, s.media[i].name);
      EXPECT_EQ(back.media[i].eps, s.media[i].eps);
      ASSERT_EQ(back.media[i].poles.size(), s.media[i].poles.size()) << text;
      for (std::size_t k = 0; k < s.media[i].poles.size(); ++k)
        EXPECT_EQ(back.media[i].poles[k].frequency_hz, s.media[i].poles[k].frequency_hz);
      EXPECT_EQ(back.sources[i].pole.has_value(), s.sources[i].pole.has_value());
      const BodyOptions &a = back.bodies[i], &b = s.bodies[i];
      ASSERT_EQ(a.shape, b.shape);
      if (a.shape == Shape::box) {
        EXPECT_EQ(a.size, b.size);
      }
      if (a.shape == Shape::sphere) {
        EXPECT_EQ(a.radius, b.radius);
      }
      if (a.shape == Shape::cylinder) {
        EXPECT_EQ(a.height, b.height);
      }
      if (a.shape == Shape::prism) {
        EXPECT_EQ(a.points, b.points);
      }
    }
  }
}

TEST(OptionTables, WhatMayBeInfiniteIsWrittenAndReadBack) {
  const SceneOptions s = read_scene("[[structure]]\nshape = \"cylinder\"\nheight = \"inf\"\n");
  EXPECT_EQ(s.bodies.at(0).height, std::numeric_limits<double>::infinity());
  const std::string text = scene_table().resolved_toml(&s);
  EXPECT_NE(text.find("\nheight = \"inf\"\n"), std::string::npos) << text;
  EXPECT_EQ(scene_table().read(parse_config("r.toml", text)).bodies.at(0).height,
            s.bodies[0].height);
  EXPECT_NE(scene_table().explain("structure.height").find("or the like, or \"inf\"\n"),
            std::string::npos);
}

TEST(OptionTables, ResolvedTomlDocumentsAKeyOnce) {
  const SceneOptions s = read_scene(kScene);
  const std::string text = scene_table().resolved_toml(&s);
  EXPECT_NE(text.find("# Bodies.\n[[structure]]\n# Shape. (one of \"box\", \"sphere\", "
                      "\"cylinder\", \"prism\")\nshape = \"box\"\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n[[structure]]\nshape = \"sphere\"\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("radius = \"1 um\""), std::string::npos) << "not a key of a box";
  EXPECT_NE(text.find("\n[[medium.poles]]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n[source.wave]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("points = [[\"0 um\", \"0 um\"], [\"1 um\", \"0 um\"], "), std::string::npos);
}

TEST(OptionTables, ExplainKeysOfItems) {
  EXPECT_EQ(scene_table().explain("structure.radius"),
            "structure.radius\n  Radius.\n  type: length in um or the like\n  range: above 0 um\n"
            "  only for: shape = \"sphere\", \"cylinder\"\n  required for: shape = \"sphere\"\n"
            "  default: \"1 um\"\n  app: demo.scene, since 0.1\n");
  EXPECT_EQ(scene_table().explain("structure[3].radius"),
            scene_table().explain("structure.radius"));
  EXPECT_NE(scene_table()
                .explain("structure")
                .find("  type: a list of tables\n  length: 0 to 4 items\n  default: none\n"
                      "  shape = \"box\": medium, centre, size*\n"
                      "  shape = \"sphere\": medium, centre, radius*\n"),
            std::string::npos)
      << scene_table().explain("structure");
  EXPECT_NE(scene_table().explain("source.wave").find("  keys: frequency*, delay\n"),
            std::string::npos);
  EXPECT_NE(scene_table().explain("medium.poles.frequency").find("or length in um"),
            std::string::npos);
  EXPECT_NE(scene_table()
                .explain("grid.cell")
                .find("type: length in um or the like, or a list of 3 of them\n"),
            std::string::npos);
  EXPECT_EQ(scene_table().explain("structure[].radius"), "");
  EXPECT_EQ(scene_table().explain("grid[0].cell"), "");
  EXPECT_EQ(scene_table().nearest("structure.raduis").at(0), "structure.radius");
  EXPECT_EQ(scene_table().nearest("raduis").at(0), "structure.radius");
}

TEST(OptionTables, EveryKeyIsOnTheReferencePageAndInTheSchema) {
  const std::string page = scene_table().reference_page(), schema = scene_table().json_schema();
  for (const NamedOption& o : scene_table().all()) {
    EXPECT_EQ(scene_table().find(o.key), o.spec) << o.key;
    EXPECT_NE(page.find("| `" + o.spec->key + "` |"), std::string::npos) << o.key;
    const std::string last = o.spec->key.substr(o.spec->key.rfind('.') + 1);
    EXPECT_NE(schema.find("\"" + last + "\": {"), std::string::npos) << o.key;
  }
  EXPECT_NE(page.find("\n## `[[structure]]`\n\nA body of one medium.\n"), std::string::npos);
  EXPECT_NE(page.find("\n## `[[medium.poles]]`\n"), std::string::npos);
  EXPECT_NE(page.find("| above 0 um | Radius. Only for shape = \"sphere\", \"cylinder\". |"),
            std::string::npos)
      << page;
  EXPECT_NE(schema.find("\"const\": \"sphere\""), std::string::npos);
}

TEST(OptionTables, AKeyIsNoOlderThanItsTableAndItsApp) {
  struct Inner {
    GridOptions grid;
  };
  struct Outer {
    Inner inner;
    GridOptions late;
    int number = 0;
  };
  Options<GridOptions> grid("grid", "d");
  grid.add("cell", &GridOptions::cell, {.doc = "d"});
  grid.add("origin", &GridOptions::origin, {.doc = "d", .since = "0.12"});
  Options<Inner> inner("inner", "d");
  inner.add_table("grid", &Inner::grid, grid, {.doc = "d", .since = "0.1"});
  Options<Outer> o("a.b", "d", "0.3");
  o.add_table("inner", &Outer::inner, inner, {.doc = "d"});
  o.add_table("late", &Outer::late, grid, {.doc = "d", .since = "0.10"});  // later than 0.9
  o.add("number", &Outer::number, {.doc = "d", .since = "0.2"});
  const auto expect = [&](const char* key, const std::string& version) {
    EXPECT_TRUE(o.explain(key).ends_with(", since " + version + "\n")) << o.explain(key);
  };
  expect("inner", "0.3");
  expect("inner.grid", "0.3");
  expect("inner.grid.cell", "0.3");
  expect("inner.grid.origin", "0.12");
  expect("late", "0.10");
  expect("late.cell", "0.10");
  expect("number", "0.3");
  EXPECT_TRUE(grid.explain("cell").ends_with(", since 0.1\n")) << "a copy is what is raised";
}

TEST(OptionTables, MistakesInTheDeclarationAreFoundAtOnce) {
  const auto declare = [](Field f, bool with_kind = true) {
    Options<BodyOptions> o("structure", "d");
    if (with_kind)
      o.add_kind("shape", &BodyOptions::shape,
                 {.doc = "d", .choices = {"box", "sphere", "cylinder", "prism"}});
    o.add("radius", &BodyOptions::radius, std::move(f));
  };
  EXPECT_NO_THROW(declare({.doc = "d", .only_for = {"sphere"}}));
  EXPECT_THROW(declare({.doc = "d", .only_for = {"ball"}}), std::logic_error);
  EXPECT_THROW(declare({.doc = "d", .required_for = {"ball"}}), std::logic_error);
  EXPECT_THROW(declare({.doc = "d", .only_for = {"box"}, .required_for = {"sphere"}}),
               std::logic_error);
  EXPECT_THROW(declare({.doc = "d", .required = true, .required_for = {"sphere"}}),
               std::logic_error);
  EXPECT_THROW(declare({.doc = "d", .only_for = {"sphere"}}, false), std::logic_error);
  EXPECT_THROW(declare({.doc = "d", .one_for_all = true}), std::logic_error);
  for (const char* none : {"", "soon", "0", "0.", "0.2.0", "v0.2"})
    EXPECT_THROW(declare({.doc = "d", .since = none}), std::logic_error) << none;
  EXPECT_THROW(Options<BodyOptions>("a.b", "d", "soon"), std::logic_error);
  EXPECT_THROW(declare({.doc = "d", .alternatives = {{"um", "c0/x"}}}), std::logic_error);
  EXPECT_THROW(declare({.doc = "d", .unit = "m", .alternatives = {{"um", "x"}}}), std::logic_error);

  Options<BodyOptions> two("structure", "d");
  two.add_kind("shape", &BodyOptions::shape,
               {.doc = "d", .choices = {"box", "sphere", "cylinder", "prism"}});
  EXPECT_THROW(two.add_kind("axis", &BodyOptions::axis, {.doc = "d", .choices = {"x", "y", "z"}}),
               std::logic_error);

  struct Around {
    GridOptions grid{.cell = {2, 2, 2}, .origin = {}};
    std::optional<GridOptions> other{GridOptions{}};
  };
  Options<GridOptions> grid("grid", "d");
  grid.add("cell", &GridOptions::cell, {.doc = "d"});
  Options<Around> around("a.b", "d");
  EXPECT_THROW(around.add_table("grid", &Around::grid, grid, {.doc = "d"}), std::logic_error);
  EXPECT_THROW(around.add_table("other", &Around::other, grid, {.doc = "d"}), std::logic_error);
}
