// SPDX-License-Identifier: Apache-2.0
// Bodies as lines over the pictures of fields, read from the SVG.
#include "app_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class FdtdOutlines : public AppTest {
 protected:
  void run(const std::string& text, const std::string& name = "RUN") {
    write("case.toml", text);
    const Outcome o = tessera({"run", "case.toml", "--output", name});
    ASSERT_EQ(o.code, 0) << o.err;
  }
};

using PagePoint = std::array<double, 2>;
using PageLines = std::vector<std::vector<PagePoint>>;

/// The polylines of a stroke.
PageLines polylines(const std::string& svg, const std::string& stroke) {
  PageLines out;
  const std::string begin = "<polyline points=\"";
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at + 1)) {
    const std::size_t from = at + begin.size(), to = svg.find('"', from), end = svg.find("/>", to);
    if (svg.substr(to, end + 1 - to).find(stroke) == std::string::npos) continue;
    std::istringstream in(svg.substr(from, to - from));
    auto& line = out.emplace_back();
    char comma;
    for (PagePoint p; in >> p[0] >> comma >> p[1];) line.push_back(p);
  }
  return out;
}

/// Outlines of a picture, ordinary ones and those of what is thin, in the coordinates of its axes,
/// which go from `low` to `high`; and the length of a dot of the PNG in these.
struct Picture {
  PageLines lines;
  PagePoint dot;
};
Picture picture(const std::string& svg, const PagePoint& low, const PagePoint& high) {
  const PageLines frames = polylines(svg, "stroke-width=\"0.6\"");
  PagePoint least{1e9, 1e9}, most{};
  for (const PagePoint& p : frames.at(0))
    for (int k = 0; k < 2; ++k)
      least[k] = std::min(least[k], p[k]), most[k] = std::max(most[k], p[k]);
  Picture out;
  for (const std::string ink : {"#1a1a1a", "#ffffff"})
    for (const std::string width : {"0.5", "1"}) {
      const PageLines found =
          polylines(svg, " stroke=\"" + ink + "\" stroke-width=\"" + width + "\"/");
      out.lines.insert(out.lines.end(), found.begin(), found.end());
    }
  EXPECT_EQ(polylines(svg, "stroke-opacity=\"0.6\"").size(), out.lines.size())
      << "each has its rim";
  for (int k = 0; k < 2; ++k) out.dot[k] = 72.0 / 160 / (most[k] - least[k]) * (high[k] - low[k]);
  for (auto& line : out.lines)
    for (PagePoint& p : line)
      p = {low[0] + (p[0] - least[0]) / (most[0] - least[0]) * (high[0] - low[0]),
           high[1] - (p[1] - least[1]) / (most[1] - least[1]) * (high[1] - low[1])};
  return out;
}

const char* const kPlane = R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "3 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run = {stop.steps = 60}
boundary = {pml.cells = 6}
output = {vtk = false}
[[material]]
name = "glass"
eps = 2.25
[[material]]
name = "air"
index = 1
[[source]]
kind = "point"
component = "Ez"
position = ["-1.2 um", "0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "dft"
name = "plane"
size = ["4 um", "3 um", "0 um"]
frequencies = ["200 THz"]
[[monitor]]
kind = "snapshot"
name = "field"
every = "3 fs"
)";

const char* const kDisc = R"([[structure]]
shape = "cylinder"
centre = ["0.5 um", "0.2 um", "0 um"]
radius = "0.6 um"
height = "inf"
material = "glass"
)";

}  // namespace

TEST_F(FdtdOutlines, ADiscIsOutlinedToADotAndATiltedBlockOnItsEdges) {
  run(std::string(kPlane) + kDisc + R"([[structure]]
shape = "box"
centre = ["-0.9 um", "-0.6 um", "0 um"]
size = ["0.8 um", "0.3 um", "inf"]
rotate = {angle = "30 deg"}
material = "pec"
)");
  for (const char* name : {"plane_0000", "field_0000", "scene"}) {
    const Picture seen =
        picture(read(std::string("RUN/plots/") + name + ".svg"), {-2, -1.5}, {2, 1.5});
    ASSERT_EQ(seen.lines.size(), 2U) << name;
    const double dot = std::max(seen.dot[0], seen.dot[1]);
    for (const auto& line : seen.lines) {
      EXPECT_EQ(line.front(), line.back());
      const bool disc = line.front()[0] > -0.2;
      double longest = 0;
      for (std::size_t i = 1; i < line.size(); ++i) {
        const PagePoint p{(line[i][0] + line[i - 1][0]) / 2, (line[i][1] + line[i - 1][1]) / 2};
        longest =
            std::max(longest, std::hypot(line[i][0] - line[i - 1][0], line[i][1] - line[i - 1][1]));
        if (disc) {
          EXPECT_NEAR(std::hypot(p[0] - 0.5, p[1] - 0.2), 0.6, dot) << name;
        } else {
          const double x = p[0] + 0.9, y = p[1] + 0.6, c = std::sqrt(0.75);
          const double across = std::abs(x * c + y / 2) - 0.4, up = std::abs(y * c - x / 2) - 0.15;
          EXPECT_NEAR(std::max(across, up), 0, dot) << name;
        }
      }
      if (!disc) {
        EXPECT_NEAR(longest, 0.8, 2 * dot) << "an edge is one stroke";
      }
    }
  }
}

TEST_F(FdtdOutlines, EachAxisOfAnExtendedCaseShowsItsSection) {
  std::string text = R"(app = "electromagnetics.fdtd"
grid = {size = ["2 um", "1.6 um", "1.2 um"], cell = "0.1 um"}
run = {stop.steps = 20}
boundary = {pml.cells = 3}
output = {vtk = false}
[[structure]]
shape = "sphere"
centre = ["0.1 um", "-0.1 um", "0.05 um"]
radius = "0.4 um"
material = "pec"
[[structure]]
shape = "box"
low = ["-0.8 um", "-0.5 um", "-0.4 um"]
high = ["-0.5 um", "0.5 um", "-0.4 um"]
material = "pec"
[[source]]
kind = "point"
component = "Ez"
position = ["-0.6 um", "0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
)";
  const std::array<double, 3> size{2, 1.6, 1.2}, centre{0.1, -0.1, 0.05}, at{0.2, 0, -0.1};
  for (std::size_t a = 0; a < 3; ++a) {
    text += std::string("[[monitor]]\nkind = \"dft\"\nname = \"across_") + "xyz"[a] +
            "\"\nfrequencies = [\"200 THz\"]\nposition = [";
    for (std::size_t d = 0; d < 3; ++d)
      text += (d ? ", \"" : "\"") + std::to_string(d == a ? at[a] : 0) + " um\"";
    text += "]\nsize = [";
    for (std::size_t d = 0; d < 3; ++d)
      text += (d ? ", \"" : "\"") + std::to_string(d == a ? 0 : size[d]) + " um\"";
    text += "]\n";
  }
  run(text);
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t u = a == 0 ? 1 : 0, v = a == 2 ? 1 : 2;
    const Picture seen = picture(read(std::string("RUN/plots/across_") + "xyz"[a] + "_0000.svg"),
                                 {-size[u] / 2, -size[v] / 2}, {size[u] / 2, size[v] / 2});
    const double dot = std::max(seen.dot[0], seen.dot[1]), h = at[a] - centre[a],
                 radius = std::sqrt(0.16 - h * h);
    // The sheet is cut across y alone: x = 0.2 um is beside it, z = -0.1 um above.
    ASSERT_EQ(seen.lines.size(), a == 1 ? 2U : 1U) << a;
    for (const auto& line : seen.lines) {
      const bool sheet = line.front()[0] < -0.45;
      for (const PagePoint& p : line) {
        const double off =
            sheet ? p[1] + 0.4 : std::hypot(p[0] - centre[u], p[1] - centre[v]) - radius;
        EXPECT_NEAR(off, 0, dot) << a;
      }
    }
  }
}

/// A sheet of a good conductor is as thin as one of a perfect one, and as well seen.
TEST_F(FdtdOutlines, FlatBodiesOfAnyConductorAreOutlined) {
  const std::string sheet = R"([[material]]
name = "copper"
surface_impedance = true
sigma = "5.8e7 S/m"
[[structure]]
shape = "box"
low = ["-0.5 um", "-0.4 um", "-inf"]
high = ["0.5 um", "-0.4 um", "inf"]
material = )";
  for (const std::string metal : {"pec", "copper"}) {
    run(kPlane + sheet + "\"" + metal + "\"\n", metal);
    for (const char* name : {"plane_0000", "scene"}) {
      const Picture seen = picture(read(metal + "/plots/" + name + ".svg"), {-2, -1.5}, {2, 1.5});
      ASSERT_EQ(seen.lines.size(), 1U) << metal << name;
      for (const PagePoint& p : seen.lines[0]) EXPECT_NEAR(p[1], -0.4, 2 * seen.dot[1]) << metal;
    }
  }
}

TEST_F(FdtdOutlines, AtAMirrorTheLineEndsWithoutASeam) {
  std::string half = std::string(kPlane) + kDisc;
  half.replace(half.find("boundary = {"), 12,
               "boundary = {y_low = \"pmc\", symmetry = [\"y_low\"], ");
  half.replace(half.find("\"0.2 um\""), 8, "\"-1.5 um\"");
  run(half);
  const Picture seen = picture(read("RUN/plots/plane_0000.svg"), {-2, -1.5}, {2, 1.5});
  ASSERT_EQ(seen.lines.size(), 1U);
  const auto& line = seen.lines[0];
  EXPECT_NEAR(line.front()[1], -1.5, seen.dot[1]);
  EXPECT_NEAR(line.back()[1], -1.5, seen.dot[1]);
  EXPECT_NEAR(std::abs(line.back()[0] - line.front()[0]), 1.2, 2 * seen.dot[0]);
  for (std::size_t i = 1; i < line.size(); ++i)
    EXPECT_NEAR(std::hypot((line[i][0] + line[i - 1][0]) / 2 - 0.5,
                           (line[i][1] + line[i - 1][1]) / 2 + 1.5),
                0.6, std::max(seen.dot[0], seen.dot[1]));
}

TEST_F(FdtdOutlines, NothingIsDrawnOfWhatIsAsItsSurroundings) {
  run(kPlane, "empty");
  std::string air = std::string(kPlane) + kDisc;
  air.replace(air.rfind("glass"), 5, "air");
  run(air, "air");
  for (const char* name : {"plane_0000.png", "plane_0000.svg", "field_0000.png", "scene.png"})
    EXPECT_EQ(read(fs::path("air/plots") / name), read(fs::path("empty/plots") / name)) << name;
  EXPECT_TRUE(picture(read("empty/plots/plane_0000.svg"), {-2, -1.5}, {2, 1.5}).lines.empty());
}

/// A body has its shape: a length along one axis of the picture is as long along the other.
TEST_F(FdtdOutlines, ScenesAreToScale) {
  write("case.toml", std::string(kPlane) + kDisc);
  const double sizes[][2] = {{4, 3}, {3, 4}, {9, 3}, {3, 7}, {3, 3}};
  for (const auto& [x, y] : sizes)
    for (const std::string title : {"", "title=of a disc"}) {
      std::vector<std::string> call{"run", "case.toml", "--output", "RUN", "--force"};
      for (const std::string& set :
           {std::string("monitor[0].size=[\"1 um\", \"1 um\", \"0 um\"]"),
            fmt::format("grid.size=[\"{} um\", \"{} um\", \"0 um\"]", x, y)})
        call.insert(call.end(), {"--set", set});
      if (!title.empty()) call.insert(call.end(), {"--set", title});
      const Outcome o = tessera(call);
      ASSERT_EQ(o.code, 0) << o.err;
      const Picture seen = picture(read("RUN/plots/scene.svg"), {-x / 2, -y / 2}, {x / 2, y / 2});
      EXPECT_NEAR(seen.dot[0] / seen.dot[1], 1, 0.06) << x << " " << y << title;
    }
}

TEST_F(FdtdOutlines, PicturesDrawnAnewAreTheSame) {
  run(std::string(kPlane) + kDisc);
  const std::string png = read("RUN/plots/plane_0000.png"), svg = read("RUN/plots/field_0000.svg");
  EXPECT_FALSE(picture(svg, {-2, -1.5}, {2, 1.5}).lines.empty());
  fs::remove_all(here() / "RUN/plots");
  ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/plane_0000.png"), png);
  EXPECT_EQ(read("RUN/plots/field_0000.svg"), svg);
}
