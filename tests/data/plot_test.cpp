// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/plot.h"

#include "matches.h"
#include "png_reader.h"
#include "tessera/data/diagnostic.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace tessera::data {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();

Figure one_panel(std::vector<Series> series, Axis x = {.label = "x"}, Axis y = {.label = "y"}) {
  Figure f{.width = 240, .height = 180};
  f.panels = {
      {.title = "panel", .x = std::move(x), .y = std::move(y), .series = std::move(series)}};
  return f;
}

Figure rich_figure() {
  Figure f{.width = 420, .height = 300, .title = "A <title> & more", .subtitle = "subtitle"};
  const std::vector<double> t = {0.01, 0.1, 1, 10, 100}, v = {3, 30, 10, 70, 20},
                            e = {1, 5, 2, 90, 3};
  f.panels = {{.title = "curves",
               .x = {.label = "Period", .unit = "s", .log = true, .group = "t"},
               .y = {.label = "Resistivity", .unit = "Ω m", .log = true},
               .series = {Points{.label = "seen", .x = t, .y = v, .y_minus = e, .y_plus = e},
                          Line{.label = "made", .x = t, .y = v},
                          Band{.label = "band", .at = t, .low = e, .high = v},
                          Rule{.label = "rule", .at = 8}, Text{.x = 1, .y = 20, .text = "a note"}},
               .top_marks = {{0.1, "first"}, {10, "second"}}},
              {.title = "steps",
               .row = 1,
               .x = {.label = "Period", .unit = "s", .log = true, .group = "t"},
               .y = {.label = "Value"},
               .series = {Steps{.label = "model", .edge = {0.01, 1, kInf}, .value = {1, 2}}},
               .legend = Legend::above},
              {.title = "map",
               .column = 1,
               .row_span = 2,
               .x = {.label = "Distance", .unit = "km"},
               .y = {.label = "Depth", .unit = "m", .reversed = true},
               .colour = {.axis = {.label = "Value", .unit = "%", .log = true},
                          .map = ColourMap::resistivity},
               .series = {HeatMap{.label = "cells",
                                  .x_edge = {0, 1, 3},
                                  .y_edge = {0, 10, 40},
                                  .value = {1, 10, kNan, 100},
                                  .masked = {false, true, false, false}},
                          Ellipses{.label = "e",
                                   .x = {2},
                                   .y = {20},
                                   .major = {6},
                                   .minor = {3},
                                   .angle = {30},
                                   .value = {5}}}}};
  return f;
}

/// The texts of an SVG, tags inside them removed.
std::vector<std::string> texts(const std::string& svg) {
  std::vector<std::string> out;
  for (const auto& text : matches(svg, "<text[^>]*>(.*?)</text>")) {
    out.emplace_back();
    for (const auto& between : matches(text[1], "(?:^|>)([^<]*)")) out.back() += between[1];
  }
  return out;
}

std::size_t count(const std::vector<std::string>& list, const std::string& what) {
  return static_cast<std::size_t>(std::count(list.begin(), list.end(), what));
}

TEST(Plot, SvgHoldsTheLabelsAsText) {
  const std::vector<std::string> all = texts(render(rich_figure(), "svg"));
  for (const char* label :
       {"A &lt;title&gt; &amp; more", "subtitle", "curves", "steps", "map", "Resistivity (Ω m)",
        "Distance (km)", "Depth (m)", "Value (%)", "seen", "made", "band", "rule", "model",
        "a note", "first", "second", "0.01", "100"})
    EXPECT_GE(count(all, label), 1u) << label;
  EXPECT_EQ(count(all, "Period (s)"), 1u) << "a shared axis is labelled once";
}

TEST(Plot, EqualFiguresGiveEqualBytes) {
  for (const char* format : {"png", "svg"})
    EXPECT_EQ(render(rich_figure(), format), render(rich_figure(), format)) << format;
}

TEST(Plot, PngHasItsSizeAndInkWhereThingsAre) {
  Figure f = rich_figure();
  f.dots_per_inch = 144;
  const tests::Image image = tests::read_png(render(f, "png"));
  EXPECT_EQ(image.width, 840u);
  EXPECT_EQ(image.height, 600u);
  EXPECT_GT(image.ink(0, 0, 0.5, 0.08), 0.01) << "title";
  EXPECT_GT(image.ink(0.1, 0.2, 0.45, 0.5), 0.03) << "curves";
  EXPECT_GT(image.ink(0.6, 0.2, 0.8, 0.8), 0.5) << "map";
  EXPECT_EQ(image.ink(0, 0.985, 1, 1), 0) << "margin";
}

TEST(Plot, MapColoursAreThoseOfTheRampAndNanStaysWhite) {
  Figure f =
      one_panel({HeatMap{.label = "m", .x_edge = {0, 1, 2}, .y_edge = {0, 1}, .value = {7, kNan}}});
  f.panels[0].colour = {.axis = {.min = 0, .max = 14}, .map = ColourMap::viridis, .bar = false};
  f.panels[0].grid = false;
  const tests::Image image = tests::read_png(render(f, "png"));
  const Colour middle = colour_at(ColourMap::viridis, std::lround(0.5 * 255) / 255.0);
  const unsigned char* p = image.at(image.width * 35 / 100, image.height / 2);
  EXPECT_NEAR(p[0], middle.r * 255, 1);
  EXPECT_NEAR(p[1], middle.g * 255, 1);
  EXPECT_NEAR(p[2], middle.b * 255, 1);
  EXPECT_TRUE(image.white(image.width * 75 / 100, image.height / 2));
}

// A map of one value, the lowest of the axis, has the colour that the bar has at that number: the
// upper end where the axis is reversed.
TEST(Plot, AReversedColourAxisHasTheColoursOfItsBar) {
  for (const bool reversed : {false, true}) {
    Figure f = one_panel({HeatMap{.label = "m", .x_edge = {0, 1}, .y_edge = {0, 1}, .value = {0}}});
    f.panels[0].colour = {.axis = {.min = 0, .max = 14, .reversed = reversed},
                          .map = ColourMap::viridis};
    const std::string svg = render(f, "svg");
    // The map is drawn first, then the bar from below; crisp edges are those of cells.
    const auto cells = matches(svg, "crispEdges\" fill=\"(#[0-9a-f]+)\"");
    ASSERT_GT(cells.size(), 100u);
    const auto red = [&](std::size_t k) {
      return std::stoi(cells[k][1].substr(1, 2), nullptr, 16);
    };
    const int low = red(0), bar = red(reversed ? cells.size() - 1 : 1);
    EXPECT_NEAR(low, bar, 8) << (reversed ? "reversed" : "as it is");
    EXPECT_GT(std::abs(red(1) - red(cells.size() - 1)), 100);  // viridis: 68 at its low end, 253
  }
}

TEST(Plot, MapsHaveNoSeams) {
  for (std::size_t n = 90; n < 330; n += 7) {
    HeatMap map{.label = "m", .x_edge = {}, .y_edge = {}, .value = std::vector<double>(n * n, 1)};
    for (std::size_t i = 0; i <= n; ++i) map.x_edge.push_back(-8.0 + 16.0 / double(n) * double(i));
    map.y_edge = map.x_edge;
    Figure f = one_panel({map});
    f.panels[0].colour.bar = f.panels[0].grid = false;
    EXPECT_EQ(tests::read_png(render(f, "png")).ink(0.3, 0.3, 0.7, 0.7), 1) << n << " cells";
  }
}

TEST(Plot, ReversedAxisPutsSmallValuesOnTop) {
  Figure f =
      one_panel({HeatMap{.label = "m", .x_edge = {0, 1}, .y_edge = {0, 1, 2}, .value = {1, kNan}}});
  f.panels[0].colour.bar = f.panels[0].grid = false;
  f.panels[0].y.reversed = true;
  const tests::Image image = tests::read_png(render(f, "png"));
  EXPECT_FALSE(image.white(image.width / 2, image.height / 3));
  EXPECT_TRUE(image.white(image.width / 2, image.height * 2 / 3));
}

TEST(Plot, LabelsOfOneAxisDoNotOverlap) {
  for (const double top : {1.0, 12345.0, 3.2e7, 1e-5}) {
    const std::string svg =
        render(one_panel({Line{.label = "", .x = {0, top}, .y = {0, top}}}), "svg");
    // Numbers under the axis share one base line and are centred.
    std::vector<std::pair<double, std::size_t>> placed;
    for (const auto& number : matches(svg,
                                      "<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" "
                                      "font-size=\"7\"[^>]*text-anchor=\"middle\">([^<]*)<"))
      placed.push_back({std::stod(number[1]), number[3].size()});
    ASSERT_GE(placed.size(), 2u);
    for (std::size_t i = 1; i < placed.size(); ++i)  // a digit of DejaVu Sans is 0.636 em wide
      EXPECT_GT(placed[i].first - placed[i - 1].first,
                0.3 * 7 * static_cast<double>(placed[i].second))
          << top;
  }
}

TEST(Plot, ExtremeDataAreDrawnOrCounted) {
  struct Case {
    const char* name;
    std::vector<double> x, y;
    bool log;
    std::size_t dropped;
  };
  const Case cases[] = {{"empty", {}, {}, false, 0},
                        {"empty log", {}, {}, true, 0},
                        {"all NaN", {kNan, kNan}, {kNan, 1}, false, 0},
                        {"one point", {3}, {4}, false, 0},
                        {"one point at zero", {0}, {0}, false, 0},
                        {"one point log", {3}, {4}, true, 0},
                        {"zero range", {1, 1, 1}, {2, 2, 2}, false, 0},
                        {"nearly zero range", {1, 1 + 1e-15}, {1e9, 1e9 + 1e-6}, false, 0},
                        {"whole range", {-1.7e308, 1.7e308}, {-1.7e308, 1.7e308}, false, 0},
                        {"denormal", {0, 5e-324}, {-5e-324, 5e-324}, false, 0},
                        {"log whole range", {1e-300, 1e300}, {1e-300, 1e300}, true, 0},
                        {"log denormal", {5e-324, 1}, {5e-324, 1.7e308}, true, 0},
                        {"not positive", {-1, 0, 1, 2}, {1, 1, 1, 1}, true, 2},
                        {"nothing positive", {-1, 0}, {1, 1}, true, 2},
                        {"infinite", {kInf, 1, 2}, {1, -kInf, 1}, false, 2}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Axis x{.label = "x", .log = c.log};
    PlotReport report;
    const Figure f = one_panel({Points{.label = "s", .x = c.x, .y = c.y}}, x);
    const std::string svg = render(f, "svg", &report);
    EXPECT_EQ(report.dropped, c.dropped);
    EXPECT_EQ(report.notes.size(), c.dropped ? 1u : 0u);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_GE(texts(svg).size(), 4u) << "title, axis labels and a number";
    EXPECT_NO_THROW(tests::read_png(render(f, "png")));
    const Figure others = one_panel({Line{.label = "l", .x = c.x, .y = c.y},
                                     Band{.label = "b", .at = c.x, .low = c.y, .high = c.y}},
                                    x);
    EXPECT_NO_THROW(tests::read_png(render(others, "png")));
  }
}

// A point of a line whose neighbours have no value belongs to no piece between two: it is a dot.
TEST(Plot, LonePointsOfALineAreSeen) {
  const auto dots = [](std::vector<double> x, std::vector<double> y, Axis axis) {
    const Figure f = one_panel({Line{.label = "", .x = std::move(x), .y = std::move(y)}}, axis);
    return matches(render(f, "svg"), "<ellipse").size();
  };
  const Axis x{.label = "x"}, narrow{.label = "x", .min = 3.5, .max = 9};
  EXPECT_EQ(dots({3}, {4}, x), 1u);
  EXPECT_EQ(dots({1, 2, 3, 4, 5}, {1, kNan, 2, 3, kNan}, x), 1u);
  EXPECT_EQ(dots({1, 2, 3, 4, 5}, {1, kNan, 2, kNan, 3}, x), 3u);
  EXPECT_EQ(dots({1, 2, 3, 4, 5}, {1, kNan, 2, kNan, 3}, narrow), 1u);
  EXPECT_EQ(dots({1, 2}, {1, 2}, x), 0u);
}

TEST(Plot, NothingIsDrawnOutsideTheFrame) {
  // Values far beyond the limits given: every coordinate stays on the page.
  const Figure f = one_panel(
      {Line{.label = "", .x = {-1e9, 0.5, 1e300}, .y = {-1e300, 0.5, 1e12}},
       Band{.label = "", .at = {-1e5, 1e5}, .low = {-1e5, -1e7}, .high = {1e9, 1e8}},
       Points{.label = "", .x = {0.5}, .y = {0.5}, .y_minus = {1e200}, .y_plus = {1e200}}},
      {.min = 0, .max = 1}, {.min = 0, .max = 1});
  const std::string svg = render(f, "svg");
  const auto pairs = matches(svg, "(-?[0-9.]+),(-?[0-9.]+)[ \"]");
  for (const auto& pair : pairs) {
    EXPECT_GE(std::stod(pair[1]), 0);
    EXPECT_LE(std::stod(pair[1]), f.width);
    EXPECT_GE(std::stod(pair[2]), 0);
    EXPECT_LE(std::stod(pair[2]), f.height);
  }
  EXPECT_GT(pairs.size(), 20u);
}

// Limits that cut a small piece out of the data: a line of slope 1/2 leaves the panel on the way to
// its next point as it would on the way to a near one.
TEST(Plot, LinesToFarPointsKeepTheirDirection) {
  const std::string svg =
      render(one_panel({Line{.label = "", .x = {0.5, 0.5 + 1e6}, .y = {0.5, 0.5 + 5e5}},
                        Line{.label = "", .x = {0.5, 1}, .y = {0.5, 0.75}}},
                       {.min = 0, .max = 1}, {.min = 0, .max = 1}),
             "svg");
  const auto ends = [&](const std::string& colour) {
    const auto line =
        matches(svg, "points=\"[0-9.]+,[0-9.]+ ([0-9.]+),([0-9.]+)\" stroke=\"" + colour);
    EXPECT_EQ(line.size(), 1u);
    return line.empty() ? std::vector<double>(2)
                        : std::vector{std::stod(line[0][1]), std::stod(line[0][2])};
  };
  const auto far = ends("#000000"), near = ends("#0072b2");
  EXPECT_NEAR(far[0], near[0], 0.02);
  EXPECT_NEAR(far[1], near[1], 0.02);
}

TEST(Plot, HostileTextIsMadeSafe) {
  Figure f = one_panel({Line{.label = "bad \xff\xfe\x01 ]]> <b>&\"'", .x = {0, 1}, .y = {0, 1}}});
  f.title = "^{open _{x} 10^{3} \xed\xa0\x80";
  const std::string svg = render(f, "svg");
  for (const char c : svg) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find("\xff"), std::string::npos);
  EXPECT_NE(svg.find("\uFFFD"), std::string::npos);
  EXPECT_NO_THROW(tests::read_png(render(f, "png")));
}

TEST(Plot, MismatchedArraysAreNamed) {
  const auto message = [](Series s) {
    try {
      render(one_panel({std::move(s)}), "svg");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(Line{.label = "a", .x = {1, 2}, .y = {1}}),
            "[plot] panel 'panel', series 'a': y has 1 entries, expected 2");
  EXPECT_NE(message(Points{.label = "a", .x = {1}, .y = {1}, .y_minus = {1, 2}}).find("y_minus"),
            std::string::npos);
  EXPECT_NE(message(Steps{.label = "a", .edge = {1, 2}, .value = {1, 2}}).find("one more"),
            std::string::npos);
  EXPECT_NE(message(Steps{.label = "a", .edge = {1, 1, 2}, .value = {1, 2}}).find("strictly"),
            std::string::npos);
  EXPECT_NE(message(Steps{.label = "a", .edge = {1, kNan, 2}, .value = {1, 2}}).find("strictly"),
            std::string::npos);
  EXPECT_NE(message(Band{.label = "a", .at = {1, 2, 3}, .low = {1}, .high = {1}}).find("at has 3"),
            std::string::npos);
  EXPECT_NE(message(HeatMap{.label = "a", .x_edge = {0, 1}, .y_edge = {0, 1}, .value = {1, 2}})
                .find("expected 1"),
            std::string::npos);
  EXPECT_NE(
      message(Ellipses{.label = "a", .x = {0}, .y = {0}, .major = {1}, .minor = {1}, .angle = {}})
          .find("angle"),
      std::string::npos);
}

TEST(Plot, UnusableLimitsAndSizesAreRefused) {
  const Series s = Line{.label = "a", .x = {1, 2}, .y = {1, 2}};
  EXPECT_THROW(render(one_panel({s}, {.log = true, .min = 0}), "svg"), Error);
  EXPECT_THROW(render(one_panel({s}, {.min = 2, .max = 1}), "svg"), Error);
  EXPECT_THROW(render(one_panel({s}, {.max = kNan}), "svg"), Error);
  EXPECT_THROW(render(one_panel({s}), "jpg"), Error);
  Figure f = one_panel({s});
  f.width = 30;
  EXPECT_THROW(render(f, "svg"), Error) << "no room for a panel";
  f.width = 1e9;
  EXPECT_THROW(render(f, "png"), Error);
  f.width = kNan;
  EXPECT_THROW(render(f, "svg"), Error);
}

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      out.back() += line[i++];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      out.emplace_back();
    else
      out.back() += line[i];
  }
  return out;
}

TEST(Plot, CsvGivesTheSameDoublesBack) {
  const std::vector<double> x = {0.1, 1.0 / 3, 1e-300, -2.5e17},
                            y = {std::nextafter(1.0, 2.0), kNan, kInf, 5e-324};
  Figure f =
      one_panel({Line{.label = "a, \"quoted\"", .x = x, .y = y}, HeatMap{.label = "m",
                                                                         .x_edge = {0, 1, 2},
                                                                         .y_edge = {5, 6},
                                                                         .value = {1.5, kNan},
                                                                         .masked = {true, false}}});
  f.title = "two\nlines";
  std::istringstream in(to_csv(f));
  std::vector<std::vector<std::string>> rows;
  std::string header;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    if (header.empty())
      header = line;
    else
      rows.push_back(csv_fields(line));
  }
  EXPECT_EQ(header, "panel,series,kind,x,x_low,x_high,y,y_low,y_high,value,masked,text");
  ASSERT_EQ(rows.size(), 6u);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(rows[i].size(), 12u);
    EXPECT_EQ(rows[i][1], "a, \"quoted\"");
    EXPECT_EQ(std::strtod(rows[i][3].c_str(), nullptr), x[i]);
    if (std::isnan(y[i]))
      EXPECT_EQ(rows[i][6], "");
    else
      EXPECT_EQ(std::strtod(rows[i][6].c_str(), nullptr), y[i]);
  }
  EXPECT_EQ(rows[4], (std::vector<std::string>{"panel", "m", "cell", "", "0", "1", "", "5", "6",
                                               "1.5", "1", ""}));
  EXPECT_EQ(rows[5], (std::vector<std::string>{"panel", "m", "cell", "", "1", "2", "", "5", "6", "",
                                               "0", ""}));
}

class PlotFile : public ::testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tessera-plot-test-" + std::to_string(::getpid()));
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(PlotFile, WithoutAnyFontTextIsStillDrawnAndItIsSaid) {
  // In a fresh process, since fontconfig reads its settings once: a configuration that names an
  // empty folder.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::filesystem::path conf = folder / "fonts.conf";
  std::ofstream(conf)
      << "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig><dir>"
      << folder.string() << "</dir><cachedir>" << folder.string() << "</cachedir></fontconfig>";
  const auto draw_without_fonts = [&] {
    ::setenv("FONTCONFIG_FILE", conf.c_str(), 1);
    PlotReport report;
    Figure f = rich_figure();
    const tests::Image image = tests::read_png(render(f, "png", &report));
    const bool said =
        report.notes.size() == 1 && report.notes[0].find("fonts-dejavu-core") != std::string::npos;
    std::exit(plot_font().empty() && said && image.ink(0, 0, 0.5, 0.08) > 0.01 ? 0 : 1);
  };
  EXPECT_EXIT(draw_without_fonts(), ::testing::ExitedWithCode(0), "");
}

TEST_F(PlotFile, SaveLeavesOneWholeFile) {
  const Figure f = rich_figure();
  for (const char* name : {"a.png", "a.svg"}) {
    save(f, folder / name);
    std::ifstream in(folder / name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    EXPECT_EQ(bytes, render(f, std::string(name).substr(2)));
  }
  save_csv(f, folder / "a.csv");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 3u);
}

TEST_F(PlotFile, FailureToWriteNamesTheFile) {
  try {
    save(rich_figure(), folder / "missing" / "a.svg");
    FAIL() << "expected an error";
  } catch (const InputError& e) {
    EXPECT_EQ(e.findings().at(0).number, 581);
    EXPECT_NE(std::string(e.what()).find("missing/a.svg"), std::string::npos);
  }
  EXPECT_THROW(save(rich_figure(), folder / "noextension"), Error);
  std::filesystem::create_directory(folder / "dir.svg");
  EXPECT_THROW(save(rich_figure(), folder / "dir.svg"), InputError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1)
      << "no draft is left behind";
}

TEST(ColourMaps, RunFromEndToEnd) {
  // Viridis' published ends and middle (#440154, #21918c, #fde725), to the two units that ten
  // anchors allow.
  const auto expect_rgb = [](Colour c, int r, int g, int b, double tolerance) {
    EXPECT_NEAR(c.r * 255, r, tolerance);
    EXPECT_NEAR(c.g * 255, g, tolerance);
    EXPECT_NEAR(c.b * 255, b, tolerance);
  };
  expect_rgb(colour_at(ColourMap::viridis, 0), 0x44, 0x01, 0x54, 0.6);
  expect_rgb(colour_at(ColourMap::viridis, 0.5), 0x21, 0x91, 0x8c, 2.5);
  expect_rgb(colour_at(ColourMap::viridis, 1), 0xfd, 0xe7, 0x25, 0.6);
  EXPECT_EQ(colour_at(ColourMap::viridis, kNan).a, 0);
  EXPECT_EQ(colour_at(ColourMap::viridis, 7), colour_at(ColourMap::viridis, 1));
  const Colour conductive = colour_at(ColourMap::resistivity, 0),
               resistive = colour_at(ColourMap::resistivity, 1);
  EXPECT_GT(conductive.r, 2 * conductive.b);
  EXPECT_GT(resistive.b, 2 * resistive.r);
  expect_rgb(colour_at(ColourMap::difference, 0.5), 247, 247, 247, 3);
}

}  // namespace
}  // namespace tessera::data
