// SPDX-License-Identifier: Apache-2.0
// Where things lie on the grid: moved by whole cells all is the same, and what lies where nothing
// can be is refused at its key.
#include "app_test.h"
#include "csv_columns.h"

#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

class FdtdPositions : public AppTest {
 protected:
  static std::string um(double x, double y) {
    return "[\"" + std::to_string(x) + " um\", \"" + std::to_string(y) + " um\", \"0 um\"]";
  }

  /// A box of 10 by 8 cells, a current beside it and the power out of both, all of it `i` and `j`
  /// cells of 50 nm further.
  static std::string moved(int i, int j, const std::string& averaging) {
    const double x = 0.05 * i, y = 0.05 * j;
    return "app = \"electromagnetics.fdtd\"\ngrid = {size = [\"2 um\", \"1.6 um\", \"0 um\"], "
           "centre = " +
           um(x, y) + ", cell = \"50 nm\", averaging = \"" + averaging +
           "\"}\nrun = {precision = \"f64\", stop.steps = 200}\nboundary.pml.cells = "
           "6\n[[material]]\nname = \"m\"\neps = 2.25\n[[structure]]\nshape = \"box\"\n"
           "material = \"m\"\nsize = [\"0.5 um\", \"0.4 um\", \"inf\"]\ncentre = " +
           um(x, y) + "\n[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = " +
           um(x - 0.4, y + 0.1) +
           "\nwaveform = {kind = \"gaussian\", frequency = \"150 THz\", bandwidth = \"120 "
           "THz\"}\n[[monitor]]\nkind = \"flux\"\nname = \"out\"\nposition = " +
           um(x, y) +
           "\nsize = [\"1.2 um\", \"0.8 um\", \"0 um\"]\nfrequencies = [\"120 THz\", \"150 "
           "THz\"]\n" +
           "[[monitor]]\nkind = \"snapshot\"\nname = \"film\"\nevery = \"5 fs\"\ncomponents = "
           "[\"Ez\"]\nposition = " +
           um(x + 0.025, y + 0.025) + "\nsize = [\"1 um\", \"0.6 um\", \"0 um\"]\n";
  }

  void refused(const std::string& text, const std::string& place, const std::string& words) {
    write("bad.toml", text);
    for (const char* verb : {"check", "run"}) {
      const Outcome o = tessera({verb, "bad.toml"});
      EXPECT_EQ(o.code, 5) << o.err;
      EXPECT_TRUE(holds(o.err, "bad.toml:" + place) && holds(o.err, words)) << o.err;
      EXPECT_FALSE(holds(o.err, "internal fault")) << o.err;
    }
  }
};

/// Sides of the box lie on lines, and those of the snapshot on middles of cells: rounding, which
/// differs with the place, decides nothing.
TEST_F(FdtdPositions, MovedByWholeCellsItIsTheSame) {
  for (const char* averaging : {"kottke", "none"}) {
    std::vector<double> first;
    for (const auto& [i, j] : {std::pair(0, 0), {3, -2}, {7, 5}, {-11, 3}, {13, 17}, {1, 1}}) {
      write("case.toml", moved(i, j, averaging));
      const std::string name = std::string(averaging) + std::to_string(i);
      const Outcome o = tessera({"run", "case.toml", "--output", name});
      ASSERT_EQ(o.code, 0) << o.err;
      const std::vector<double> flux = csv_column(read(name + "/tables/out.csv"), "flux");
      ASSERT_EQ(flux.size(), 2U);
      const std::string film = read(name + "/vtk/film_0001.vtr");
      EXPECT_TRUE(holds(film, "WholeExtent=\"0 20 0 12 0 0\"")) << film.substr(0, 300);
      if (first.empty()) first = flux;
      for (std::size_t f = 0; f < 2; ++f)
        EXPECT_NEAR(flux[f], first[f], 1e-9 * first[f])
            << averaging << " moved by " << i << ", " << j;
    }
  }
}

/// Lines alone make a grid, without a cell; the axis that is not resolved needs none.
TEST_F(FdtdPositions, EvenLinesAreAnEvenGrid) {
  const auto lines = [](double from, int cells) {
    std::string out;
    for (int i = 0; i <= cells; ++i)
      out += (i > 0 ? ", \"" : "\"") + std::to_string(from + 0.05 * i) + " um\"";
    return "[" + out + "]";
  };
  const std::string even = moved(0, 0, "kottke");
  const std::size_t from = even.find("size = "), to = even.find(", averaging");
  ASSERT_LT(from, to);
  std::string listed = even;
  listed.replace(from, to - from, "x.lines = " + lines(-1, 40) + ", y.lines = " + lines(-0.8, 32));
  std::vector<std::vector<double>> flux;
  for (const std::string& text : {even, listed}) {
    write("case.toml", text);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--force"});
    ASSERT_EQ(o.code, 0) << o.err;
    flux.push_back(csv_column(read("RUN/tables/out.csv"), "flux"));
    ASSERT_EQ(flux.back().size(), 2U);
  }
  for (std::size_t f = 0; f < 2; ++f) EXPECT_NEAR(flux[1][f], flux[0][f], 1e-9 * flux[0][f]);
}

/// What lies where nothing can be: each at its key, by `check` as by `run`.
TEST_F(FdtdPositions, WhereNothingCanBeIsRefusedAtTheKey) {
  const std::string grid =
      "app = \"electromagnetics.fdtd\"\ngrid = {size = [\"2 um\", \"1.6 um\", \"0 um\"], cell = "
      "\"50 nm\"GRID}\nrun.stop.steps = 20\nboundary.pml.cells = 6\n";
  const auto with = [&](const std::string& keys) {
    return std::string(grid).replace(grid.find("GRID"), 4, keys);
  };
  const std::string pulse =
      "waveform = {kind = \"gaussian\", frequency = \"150 THz\", bandwidth = \"120 THz\"}\n";
  const std::string source =
      "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"-0.4 um\", \"0.1 um\", \"0 "
      "um\"]\n" +
      pulse;

  for (const char* at : {"\"-1 um\", \"0 um\"", "\"0 um\", \"0.8 um\""})
    refused(with("") + "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [" + at +
                ", \"0 um\"]\n" + pulse,
            "8:", "error E0628: [current_source] the source lies on an outer conductor");
  refused(with(", background = \"pec\"") + source,
          "2:", "error E0646: the background is a perfect conductor, and so is the material");
  refused(with(", background = \"pec\", exact_speed_at = \"150 THz\"") + source,
          "2:", "error E0646: the background is a perfect conductor, and so is the material");
  refused(with(", y.refine = [{from = \"-0.2 um\", to = \"0.2 um\", cell = \"25 nm\"}]") + source +
              "[[monitor]]\nkind = \"orders\"\nname = \"o\"\nposition = [\"0.4 um\", \"0 um\", \"0 "
              "um\"]\nsize = [\"0 um\", \"1.6 um\", \"0 um\"]\nfrequencies = [\"150 THz\"]\n",
          "10:", "error E0629: orders are sums over evenly spaced points, and grid.y.refine makes");
  refused(with("") + "boundary.x = \"pec\"\nboundary.y = \"pmc\"\n" + source +
              "[[monitor]]\nkind = \"flux\"\nname = \"f\"\nposition = [\"0 um\", \"0 um\", \"0 "
              "um\"]\nsize = [\"2 um\", \"1.6 um\", \"0 um\"]\nfrequencies = [\"150 THz\"]\n",
          "12:", "error E0629: the box is as large as the domain");
  for (const char* sides :
       {"size = [\"0 um\", \"0.4 um\", \"inf\"]",
        "low = [\"0.1 um\", \"0 um\", \"0 um\"]\nhigh = [\"0.1 um\", \"0.4 um\", \"1 um\"]"})
    refused(
        with("") + source + "[[structure]]\nshape = \"box\"\nmaterial = \"SiO2\"\n" + sides + "\n",
        sides[0] == 's' ? "13:" : "14:",
        "error E0653: the box has no size along x, and a sheet of 'SiO2' does nothing");
}

/// What looks like it, and is right: a sheet of a conductor; a conductor all around a hollow, at
/// the exact speed too; a source on a magnetic wall.
TEST_F(FdtdPositions, WhatOnlyLooksLikeNothingRuns) {
  const std::string begin =
                        "app = \"electromagnetics.fdtd\"\ngrid = {size = [\"2 um\", \"1.6 um\", "
                        "\"0 um\"], cell = \"50 nm\"",
                    rest = "}\nrun.stop.steps = 20\n",
                    source =
                        "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"-1 um\", "
                        "\"0.1 um\", \"0 um\"]\nwaveform = {kind = \"gaussian\", frequency = \"150 "
                        "THz\", bandwidth = \"120 THz\"}\n";
  const std::string inside = std::string(source).replace(source.find("-1 um"), 5, "-0.4 um");
  const std::string sheet =
      "[[structure]]\nshape = \"box\"\nmaterial = \"pec\"\nsize = [\"0 um\", \"0.4 um\", "
      "\"inf\"]\n";
  const std::string hollow =
      "[[structure]]\nshape = \"box\"\nmaterial = \"vacuum\"\nsize = [\"1.5 um\", \"1 um\", "
      "\"inf\"]\n";
  for (const std::string& text :
       {begin + rest + "boundary.pml.cells = 6\n" + inside + sheet,
        begin + ", background = \"pec\", exact_speed_at = \"150 THz\"" + rest +
            "boundary = {x = \"pec\", y = \"pec\"}\n" + inside + hollow,
        begin + rest + "boundary = {x = \"pmc\", y = \"pec\"}\n" + source}) {
    write("case.toml", text);
    const Outcome o = tessera({"run", "case.toml", "--output", "out"});
    EXPECT_EQ(o.code, 0) << text << o.err;
    std::filesystem::remove_all(here() / "out");
  }
}

/// A bar without ends turns about its centre as a long one does, and a half-space about its point
/// as a large box with this point in the middle of a face.
TEST_F(FdtdPositions, WhatIsInfiniteTurnsAboutItsCentre) {
  const auto powers = [&](const std::string& body) {
    write("case.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["2 um", "1.6 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run = {precision = "f64", stop.steps = 200}
boundary.pml.cells = 6
material = [{name = "m", eps = 2.25}]
[[source]]
kind = "point"
component = "Ez"
position = ["-0.4 um", "0.1 um", "0 um"]
waveform = {kind = "gaussian", frequency = "150 THz", bandwidth = "120 THz"}
[[monitor]]
kind = "flux"
name = "out"
position = ["0 um", "0 um", "0 um"]
size = ["1.2 um", "0.8 um", "0 um"]
frequencies = ["120 THz", "150 THz"]
[[structure]]
material = "m"
)" + body + "\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "out", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    return csv_column(read("out/tables/out.csv"), "flux");
  };
  const auto bar = [&](const std::string& length, const std::string& about) {
    return powers("shape = \"box\"\nsize = [\"" + length +
                  "\", \"0.2 um\", \"inf\"]\ncentre = [\"0.6 um\", \"0 um\", \"0 um\"]\n" +
                  "rotate = {angle = \"30 deg\"" + about + "}");
  };
  const std::vector<double> endless = bar("inf", ""), finite = bar("40 um", ""),
                            elsewhere = bar("inf", ", about = [\"0 um\", \"0 um\", \"0 um\"]");
  const std::string point = "[\"0.5 um\", \"0.4 um\", \"0 um\"]",
                    turn = "rotate = {angle = \"20 deg\"";
  const std::vector<double> half = powers("shape = \"half_space\"\noutward = [-1, 0, 0]\npoint = " +
                                          point + "\n" + turn + "}"),
                            block = powers(
                                "shape = \"box\"\nlow = [\"0.5 um\", \"-39.6 um\", "
                                "\"-inf\"]\nhigh = [\"40 um\", \"40.4 um\", \"inf\"]\n" +
                                turn + ", about = " + point + "}");
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(endless.at(k) / finite.at(k), 1, 1e-6);
    EXPECT_GT(std::abs(endless.at(k) / elsewhere.at(k) - 1), 1e-4);
    EXPECT_NEAR(half.at(k) / block.at(k), 1, 1e-6);
  }
}

}  // namespace
