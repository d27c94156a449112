// SPDX-License-Identifier: Apache-2.0
// Lines that the program makes: what cases say of them, that they stand in resolved.toml and are
// the same when they are read again, and what is refused.
#include "fdtd_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// A strip above its ground on a board, a port between them, in a small box.
std::string strip_above_ground() {
  return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false}
[grid]
size = ["60 mm", "50 mm", "40 mm"]
centre = ["0 mm", "0 mm", "10 mm"]
auto = {cells_per_wavelength = 15}
[run]
stop.steps = 20
[boundary]
pml.cells = 4
[[material]]
name = "board"
eps = 4
[[structure]]
shape = "box"
name = "board"
low = ["-20 mm", "-15 mm", "0 mm"]
high = ["20 mm", "15 mm", "1.6 mm"]
material = "board"
[[structure]]
shape = "box"
name = "ground"
low = ["-20 mm", "-15 mm", "0 mm"]
high = ["20 mm", "15 mm", "0 mm"]
material = "pec"
[[structure]]
shape = "box"
name = "strip"
low = ["-12 mm", "-1.5 mm", "1.6 mm"]
high = ["12 mm", "1.5 mm", "1.6 mm"]
material = "pec"
[[port]]
kind = "lumped"
name = "feed"
position = ["-8.3 mm", "0 mm", "0.8 mm"]
size = ["0 mm", "0 mm", "1.6 mm"]
direction = [0, 0, 1]
resistance = "50 ohm"
[s_parameters]
frequencies = ["2 GHz", "4 GHz"]
)";
}

/// Quantities in um of a list in TOML.
std::vector<double> lines_in_toml(const std::string& toml, const std::string& axis) {
  std::vector<double> out;
  std::size_t at = toml.find("[grid." + axis + "]");
  if (at == std::string::npos) return out;
  at = toml.find("lines = [", at);
  const std::size_t end = toml.find(']', at);
  for (at = toml.find('"', at); at < end; at = toml.find('"', at + 1)) {
    out.push_back(std::stod(toml.substr(at + 1)));
    at = toml.find('"', at + 1);
  }
  return out;
}

bool lies_at(const std::vector<double>& lines, double at) {
  return std::any_of(lines.begin(), lines.end(), [&](double x) { return std::abs(x - at) < 1e-6; });
}

TEST_F(Fdtd, MeshWritesLinesThatGiveTheSameGrid) {
  write("case.toml", strip_above_ground());
  const Outcome mesh = tessera({"mesh", "case.toml"});
  ASSERT_EQ(mesh.code, 0) << mesh.err;
  EXPECT_TRUE(holds(mesh.out, "axis")) << mesh.out;
  EXPECT_TRUE(holds(mesh.out, "is made by the gap between 'ground' and 'strip'")) << mesh.out;
  EXPECT_TRUE(holds(mesh.out, "times the time step")) << mesh.out;
  EXPECT_TRUE(std::filesystem::exists(here() / "case.mesh/mesh.png"));
  const std::string toml = read("case.mesh/lines.toml");
  const std::vector<double> x = lines_in_toml(toml, "x"), y = lines_in_toml(toml, "y"),
                            z = lines_in_toml(toml, "z");
  for (const double at : {-30000., -20000., -12000., -8300., 12000., 20000., 30000.})
    EXPECT_TRUE(lies_at(x, at)) << at;
  for (const double at : {-15000., -1500., 0., 1500., 15000.}) EXPECT_TRUE(lies_at(y, at)) << at;
  EXPECT_EQ(
      std::count_if(z.begin(), z.end(), [](double v) { return v > -1e-6 && v < 1600 + 1e-6; }), 5);
  // The lines in the place of `auto` make the same run.
  std::string pasted = changed(strip_above_ground(), "auto = {cells_per_wavelength = 15}\n", "");
  pasted = changed(
      pasted,
      "size = [\"60 mm\", \"50 mm\", \"40 mm\"]\ncentre = [\"0 mm\", \"0 mm\", \"10 mm\"]\n", "");
  write("pasted.toml", changed(pasted, "[run]", toml + "[run]"));
  ASSERT_EQ(run_case("case.toml", "AUTO").code, 0);
  const Outcome explicit_run = run_case("pasted.toml", "PASTED");
  ASSERT_EQ(explicit_run.code, 0) << explicit_run.err;
  EXPECT_EQ(table("AUTO", "s_parameters"), table("PASTED", "s_parameters"));
  // They stand in resolved.toml, which is a case by itself, and is not changed by being read.
  const std::string resolved = read("AUTO/resolved.toml");
  EXPECT_EQ(lines_in_toml(resolved, "x"), x);
  write("again.toml", resolved);
  ASSERT_EQ(run_case("again.toml", "AGAIN").code, 0);
  EXPECT_EQ(read("AGAIN/resolved.toml"), resolved);
  EXPECT_EQ(table("AUTO", "s_parameters"), table("AGAIN", "s_parameters"));
  // A folder that is there stays.
  EXPECT_EQ(tessera({"mesh", "case.toml"}).code, 2);
  EXPECT_EQ(tessera({"mesh", "case.toml", "--force", "--json"}).code, 0);
}

TEST_F(Fdtd, AutomaticLinesGoOnWithTheSameBits) {
  write("case.toml", strip_above_ground());
  ASSERT_EQ(run_case("case.toml", "WHOLE", {"run.stop.steps=400"}).code, 0);
  ASSERT_EQ(run_case("case.toml", "PART", {"run.stop.steps=200"}).code, 0);
  const Outcome on = tessera({"resume", "PART", "--set", "run.stop.steps=400"});
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(table("WHOLE", "s_parameters"), table("PART", "s_parameters"));
}

TEST_F(Fdtd, LinesOfTheCaseWin) {
  std::string text = changed(
      strip_above_ground(), "size = [\"60 mm\"",
      R"(x = {lines = ["-30 mm", "-28.5 mm", "-27 mm", "-25.5 mm", "-23 mm", "-20 mm", "-16 mm", "-12 mm", "-8.3 mm", "-2 mm", "5 mm", "12 mm", "16 mm", "20 mm", "23 mm", "25.5 mm", "27 mm", "28.5 mm", "30 mm"]}
size = ["0 mm")");
  write("case.toml",
        changed(text, "[run]",
                "y = {refine = [{from = \"3 mm\", to = \"4 mm\", cell = \"0.2 mm\"}]}\n[run]"));
  const Outcome check = tessera({"check", "case.toml"});
  ASSERT_EQ(check.code, 0) << check.err;
  EXPECT_TRUE(holds(check.out, "grid 18 x ")) << check.out;
  const Outcome mesh = tessera({"mesh", "case.toml"});
  const std::vector<double> y = lines_in_toml(read("case.mesh/lines.toml"), "y");
  EXPECT_EQ(std::count_if(y.begin(), y.end(),
                          [](double v) { return v > 3000 - 1e-6 && v < 4000 + 1e-6; }),
            6);
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  EXPECT_EQ(tessera({"check", "RUN/resolved.toml"}).code, 0);
}

TEST_F(Fdtd, ADomainWithoutASizeHoldsWhatIsInIt) {
  std::string text = changed(
      strip_above_ground(),
      "size = [\"60 mm\", \"50 mm\", \"40 mm\"]\ncentre = [\"0 mm\", \"0 mm\", \"10 mm\"]\n", "");
  write("case.toml", text);
  const Outcome mesh = tessera({"mesh", "case.toml"});
  ASSERT_EQ(mesh.code, 0) << mesh.err;
  const std::vector<double> x = lines_in_toml(read("case.mesh/lines.toml"), "x");
  // A quarter of the wavelength at 2 GHz, and four cells of a fifteenth of that at 4 GHz.
  EXPECT_NEAR(x.back(), 20e3 + 299792.458 / 2 / 4 + 4 * 299792.458 / 4 / 15, 1);
  EXPECT_NEAR(x.front(), -x.back(), 1e-6);
  ASSERT_EQ(run_case("case.toml", "RUN").code, 0);
  write("again.toml", read("RUN/resolved.toml"));
  ASSERT_EQ(run_case("again.toml", "AGAIN").code, 0);
  EXPECT_EQ(table("RUN", "s_parameters"), table("AGAIN", "s_parameters"));
}

/// A strip without thickness is held whichever conductor it is of.
TEST_F(Fdtd, ADomainWithoutASizeHoldsFlatBodiesOfAnyConductor) {
  std::string text = changed(
      strip_above_ground(),
      "size = [\"60 mm\", \"50 mm\", \"40 mm\"]\ncentre = [\"0 mm\", \"0 mm\", \"10 mm\"]\n", "");
  text = changed(text, "[[structure]]",
                 "[[material]]\nname = \"copper\"\nsurface_impedance = true\nsigma = \"5.8e7 "
                 "S/m\"\n[[structure]]");
  const std::string strip = "high = [\"12 mm\", \"1.5 mm\", \"1.6 mm\"]\nmaterial = \"pec\"";
  for (const std::string metal : {"pec", "copper"}) {
    write(metal + ".toml",
          changed(text, strip,
                  "high = [\"45 mm\", \"1.5 mm\", \"1.6 mm\"]\nmaterial = \"" + metal + "\""));
    const Outcome mesh = tessera({"mesh", metal + ".toml"});
    ASSERT_EQ(mesh.code, 0) << mesh.err;
    const std::vector<double> x = lines_in_toml(read(metal + ".mesh/lines.toml"), "x");
    EXPECT_NEAR(x.back(), 45e3 + 299792.458 / 2 / 4 + 4 * 299792.458 / 4 / 15, 1) << metal;
    EXPECT_TRUE(lies_at(x, 45000)) << metal;
  }
  EXPECT_EQ(read("copper.mesh/lines.toml"), read("pec.mesh/lines.toml"));
}

/// A sheet drawn by its corners is the rectangle of these: the domain holds it, and its sides lie
/// on lines.
TEST_F(Fdtd, ADomainWithoutASizeHoldsPolygonSheets) {
  const std::string text =
      changed(strip_above_ground(),
              "size = [\"60 mm\", \"50 mm\", \"40 mm\"]\ncentre = [\"0 mm\", \"0 mm\", \"10 "
              "mm\"]\n",
              "") +
      "[[sheet]]\nresistance = \"100 ohm\"\n";
  const struct {
    const char *axis, *rectangle, *polygon;
  } sheets[] = {{"x",
                 R"(position = ["30 mm", "2 mm", "12 mm"]
size = ["0 mm", "50 mm", "30 mm"])",
                 R"(position = ["30 mm", "0 mm", "0 mm"]
corners = [["-23 mm", "-3 mm"], ["27 mm", "-3 mm"], ["27 mm", "27 mm"], ["-23 mm", "27 mm"]])"},
                {"y",
                 R"(position = ["5 mm", "20 mm", "12 mm"]
size = ["60 mm", "0 mm", "30 mm"])",
                 R"(position = ["0 mm", "20 mm", "0 mm"]
corners = [["-3 mm", "-25 mm"], ["27 mm", "-25 mm"], ["27 mm", "35 mm"], ["-3 mm", "35 mm"]])"},
                {"z",
                 R"(position = ["5 mm", "2 mm", "10 mm"]
size = ["60 mm", "50 mm", "0 mm"])",
                 R"(position = ["0 mm", "0 mm", "10 mm"]
corners = [["-25 mm", "-23 mm"], ["35 mm", "-23 mm"], ["35 mm", "27 mm"], ["-25 mm", "27 mm"]])"}};
  for (const auto& s : sheets) {
    const std::string normal = std::string("normal = \"") + s.axis + "\"\n";
    write("rectangle.toml", text + normal + "shape = \"rectangle\"\n" + s.rectangle + "\n");
    write("polygon.toml", text + normal + "shape = \"polygon\"\n" + s.polygon + "\n");
    for (const std::string name : {"rectangle", "polygon"}) {
      const Outcome mesh = tessera({"mesh", name + ".toml", "--force"});
      ASSERT_EQ(mesh.code, 0) << s.axis << mesh.err;
    }
    for (const std::string axis : {"x", "y", "z"}) {
      const std::vector<double> a = lines_in_toml(read("rectangle.mesh/lines.toml"), axis),
                                b = lines_in_toml(read("polygon.mesh/lines.toml"), axis);
      ASSERT_EQ(a.size(), b.size()) << s.axis << axis;
      for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-4) << s.axis << axis;
    }
  }
}

// The board of the case as a drawing: its faces are as good as a box's, for lines and for the size
// of the domain.
TEST_F(Fdtd, ADrawnBoardHasTheGridOfOneByNumbers) {
  const std::string plain = changed(
      strip_above_ground(),
      "size = [\"60 mm\", \"50 mm\", \"40 mm\"]\ncentre = [\"0 mm\", \"0 mm\", \"10 mm\"]\n", "");
  write("plain.toml", plain);
  write(
      "drawn.toml",
      changed(plain,
              "shape = \"box\"\nname = \"board\"\nlow = [\"-20 mm\", \"-15 mm\", \"0 mm\"]\nhigh = "
              "[\"20 mm\", \"15 mm\", \"1.6 mm\"]\n",
              "shape = \"mesh\"\nname = \"board\"\nfile = \"board.obj\"\nunit = \"1 mm\"\n"));
  write("board.obj",
        "v -20 -15 0\nv 20 -15 0\nv 20 15 0\nv -20 15 0\nv -20 -15 1.60000002\nv 20 -15 "
        "1.60000002\nv 20 15 1.60000002\nv -20 15 1.60000002\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 "
        "3 7 6\nf 3 4 8 7\nf 1 5 8 4\n");
  for (const std::string name : {"plain", "drawn"}) {
    const Outcome mesh = tessera({"mesh", name + ".toml"});
    ASSERT_EQ(mesh.code, 0) << mesh.err;
  }
  for (const std::string axis : {"x", "y", "z"}) {
    const std::vector<double> a = lines_in_toml(read("plain.mesh/lines.toml"), axis),
                              b = lines_in_toml(read("drawn.mesh/lines.toml"), axis);
    ASSERT_EQ(a.size(), b.size()) << axis;
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-4) << axis << k;
  }
  ASSERT_EQ(run_case("drawn.toml", "RUN").code, 0);
}

TEST_F(Fdtd, AutomaticLinesOfTwoDimensionsAndPeriods) {
  write("flat.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false}
grid = {size = ["4 um", "1 um", "0 um"], polarization = "Ez", auto = {}}
boundary = {y = "periodic", pml = {cells = 6}}
run.stop.steps = 10
[[material]]
name = "glass"
index = 1.5
[[structure]]
name = "rod"
shape = "cylinder"
centre = ["0 um", "0.4 um", "0 um"]
radius = "0.2 um"
height = "inf"
material = "glass"
[[source]]
kind = "point"
component = "Ez"
position = ["-1 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "probe"
name = "point"
position = ["1 um", "0 um", "0 um"]
)");
  const Outcome mesh = tessera({"mesh", "flat.toml"});
  ASSERT_EQ(mesh.code, 0) << mesh.err;
  const std::string toml = read("flat.mesh/lines.toml");
  EXPECT_TRUE(lines_in_toml(toml, "z").empty());
  const std::vector<double> y = lines_in_toml(toml, "y");
  const double first = y[1] - y[0], last = y.back() - y[y.size() - 2];
  EXPECT_LE(std::max(first / last, last / first), 1.3001);
  ASSERT_EQ(run_case("flat.toml", "RUN").code, 0);
  write("again.toml", read("RUN/resolved.toml"));
  ASSERT_EQ(run_case("again.toml", "AGAIN").code, 0);
  EXPECT_EQ(table("RUN", "point"), table("AGAIN", "point"));
}

TEST_F(Fdtd, WrongAutomaticGridsAreRefused) {
  const struct {
    const char *what, *by, *number, *key, *words;
    int code = 5;
  } wrong[] = {
      {"auto = {cells_per_wavelength = 15}", "auto = {min_cell = \"0.5 mm\"}", "E0620", "min_cell",
       "the gap between 'ground' and 'strip'"},
      {"auto = {cells_per_wavelength = 15}", "auto = {min_cell = \"9 mm\", gap_cells = 1}", "E0620",
       "min_cell", "too long for"},
      {"auto = {cells_per_wavelength = 15}", "auto = {}\ncell = \"1 mm\"", "E0620", "cell",
       "two ways"},
      {"auto = {cells_per_wavelength = 15}", "auto = {cells_per_wavelength = 1}", "E0214",
       "cells_per_wavelength", ""},
      {"auto = {cells_per_wavelength = 15}", "auto = {}\nfrequency_max = \"1e9 GHz\"", "E0641",
       "auto", "cells"},
      {"auto = {cells_per_wavelength = 15}", "auto = {gap_cells = 0}", "E0214", "gap_cells", ""},
      {"auto = {cells_per_wavelength = 15}", "auto = {cells_per_wavelength = 1000}", "E0655",
       "grid", "this machine has", 3},
      {"[boundary]", "[boundary]\nx_low = \"pmc\"\nsymmetry = [\"x_low\"]", "E0620", "symmetry",
       "where the mirror stands"}};
  for (const auto& w : wrong) {
    std::string text = changed(strip_above_ground(), w.what, w.by);
    if (std::string(w.key) == "symmetry")
      text = changed(
          text,
          "size = [\"60 mm\", \"50 mm\", \"40 mm\"]\ncentre = [\"0 mm\", \"0 mm\", \"10 mm\"]\n",
          "");
    write("wrong.toml", text);
    const Outcome check = tessera({"check", "wrong.toml"});
    EXPECT_EQ(check.code, w.code) << w.by << check.err;
    for (const std::string& said :
         {std::string(w.number), std::string(w.key), std::string(w.words)})
      EXPECT_TRUE(holds(check.err, said)) << w.by << ": " << check.err;
  }
}

// All that is chosen fits into what a configuration may have, however many lines there are.
TEST_F(AppTest, AnAxisMayHaveThousandsOfMadeLines) {
  write("long.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
run.stop.steps = 2
[grid]
size = ["400 um", "0 um", "0 um"]
auto = {cells_per_wavelength = 20}
[[source]]
kind = "point"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "100 THz"}
)");
  const Outcome run = tessera({"run", "long.toml", "--output", "R"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_GT(read("R/resolved.toml").size(), 100000u);
  EXPECT_EQ(tessera({"check", "R/resolved.toml"}).code, 0);
  // A name that is no UTF-8 is a name.
  const Outcome mesh = tessera({"mesh", "long.toml", "--json", "--output", "m\xe9sh"});
  EXPECT_EQ(mesh.code, 0) << mesh.err;
  EXPECT_TRUE(holds(mesh.out, "\"lines\"")) << mesh.out.substr(0, 200);
}

/// A source of a mode needs equal cells at its plane, whether or not it says which part of that.
TEST_F(Fdtd, AutomaticLinesHoldThePlaneOfAModeSourceWithoutASize) {
  write("guide.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false}
grid = {size = ["4 um", "1 um", "0 um"], polarization = "Ez", auto = {}}
boundary = {y = "pec", pml = {cells = 6}}
run.stop.steps = 10
[[material]]
name = "glass"
index = 2.5
[[structure]]
name = "block"
shape = "box"
low = ["-0.7 um", "-inf", "-inf"]
high = ["0.3 um", "inf", "inf"]
material = "glass"
[[source]]
kind = "mode"
position = ["-0.913 um", "0 um", "0 um"]
direction = [1, 0, 0]
waveform = {kind = "gaussian", frequency = "320 THz", bandwidth = "60 THz"}
)");
  const Outcome mesh = tessera({"mesh", "guide.toml"});
  ASSERT_EQ(mesh.code, 0) << mesh.err;
  const std::vector<double> x = lines_in_toml(read("guide.mesh/lines.toml"), "x");
  const auto at =
      std::find_if(x.begin() + 1, x.end(), [](double v) { return std::abs(v + 0.913) < 1e-6; });
  ASSERT_TRUE(at != x.end() && at + 1 != x.end());
  EXPECT_NEAR((at[1] - at[0]) / (at[0] - at[-1]), 1, 1e-6);
}

}  // namespace
