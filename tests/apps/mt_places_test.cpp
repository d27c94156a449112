// SPDX-License-Identifier: Apache-2.0
// Where stations of a section stand: across the strike, along the axes of their file, on a ground
// that not all of them tell; and what other programs are told of that.
#include "mt2d_case.h"
#include "tessera/inversion/sounding_read.h"
#include "tessera/inversion/survey_files.h"
#include "test_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>

using namespace tessera::testing;
using namespace tessera::inversion;
namespace fs = std::filesystem;

namespace {

const std::string few_cells =
    "output = {pictures = false, pictures_of_stations = false}\nposterior.method = \"none\"\n"
    "mesh = {growth = 1.6, cell_width = \"1 km\", error = 100}\ninversion.max_iterations = 1\n";

/// A list of ModEM: stations 1 km apart along a line that runs `line` degrees from x, over 100 ohm
/// m. `x_azimuth` is where x points.
std::string list_of_line(double line, double x_azimuth) {
  std::string out =
      fmt::format("> Full_Impedance\n> exp(+i\\omega t)\n> Ohm\n> {}\n> 0 0\n> 2 4\n", x_azimuth);
  for (int k = 0; k < 4; ++k)
    for (const double period : {0.1, 1.0}) {
      const double a = line * std::numbers::pi / 180,
                   part = std::numbers::pi * std::sqrt(4e-5 / period);  // sqrt(w mu0 100 / 2)
      for (const auto& [name, size] :
           {std::pair{"ZXX", 1e-3}, {"ZXY", 1.0}, {"ZYX", -1.0}, {"ZYY", 1e-3}})
        out += fmt::format("{} s{} 0 0 {} {} 0 {} {} {} {}\n", period, k, 1000 * k * std::cos(a),
                           1000 * k * std::sin(a), name, size * part, size * part, 0.03 * part);
    }
  return out;
}

// The line runs 120 degrees from north: across a strike of 30 degrees stations are 1 km apart.
TEST_F(Mt2d, PlacesOfAListTurnWithItsData) {
  for (const double azimuth : {0.0, 50.0}) {
    write("l.dat", list_of_line(120 - azimuth, azimuth));
    for (const char* key : {"data.strike = \"30 deg\"\n", "profile.azimuth = \"120 deg\"\n",
                            "data.rotation = \"10 deg\"\ndata.strike = \"40 deg\"\n"}) {
      write("case.toml", std::string("app = \"inversion.mt2d\"\ndata.files = \"l.dat\"\n") + key);
      const Outcome o = tessera({"check", "case.toml"});
      ASSERT_EQ(o.code, 0) << o.err;
      for (const char* place : {"0.000 km", "1.000 km", "2.000 km", "3.000 km"})
        EXPECT_TRUE(holds(o.out + o.err, place)) << key << o.out;
      EXPECT_FALSE(holds(o.out + o.err, "along the strike and")) << o.out;
    }
  }
}

// Without a strike x of the list is the strike, and files for others say where it points.
TEST_F(Mt2d, DirectionsOfAListAreKept) {
  write("l.dat", list_of_line(90, 30));
  write("case.toml", "app = \"inversion.mt2d\"\ndata.files = \"l.dat\"\n" + few_cells);
  const Outcome o = tessera({"run", "case.toml", "--output", "R"});
  ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
  EXPECT_TRUE(holds(o.err, "x points 30 deg")) << o.err;
  const std::vector<Sounding> again = read_stations_of(here() / "R/data.dat");
  ASSERT_EQ(again.size(), 4u);
  EXPECT_NEAR(again[1].azimuth_deg[0], 30, 1e-9);
  EXPECT_NEAR((*again[1].place_m)[1], 1000, 1e-6);
  EXPECT_NEAR(read_sounding(here() / "R/predicted/s1.edi").azimuth_deg[0], 30, 1e-6);
  // Two lists whose x differ have no common strike.
  fs::create_directory(here() / "two");
  write("two/a.dat", list_of_line(90, 30));
  write("two/b.dat", list_of_line(90, 31));
  const std::string said =
      refusal("app = \"inversion.mt2d\"\ndata.files = \"two\"\n" + few_cells, 4);
  EXPECT_TRUE(holds(said, "E0683") && holds(said, "x of the files points 30 to 31")) << said;
}

// Phase tensors share two directions at right angles; a line tells which of them it crosses.
TEST_F(Mt2d, OnePlaceDoesNotTellTheStrikeFromTheLine) {
  const auto said_of = [&](const std::string& stations) {
    write("f.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
          "output.pictures_of_stations = false\ndata.strike = \"30 deg\"\n"
          "stations = {latitude = \"40 deg\", longitude = \"10 deg\", at = " +
              stations +
              "}\nfrequencies.at = [\"1 Hz\", \"5 Hz\", \"25 Hz\"]\nmesh = {goal = \"100 %\", "
              "order = 1}\n"
              "section.resistivity = \"100 ohm*m\"\n[[section.body]]\nresistivity = \"5 ohm*m\"\n"
              "points = [[\"-1.5 km\", \"0.2 km\"], [\"0 km\", \"0.2 km\"], [\"0 km\", \"1 km\"], "
              "[\"-1.5 km\", \"1 km\"]]\n");
    EXPECT_EQ(tessera({"run", "f.toml", "--output", "F", "--force"}).code, 0);
    write("c.toml",
          "app = \"inversion.mt2d\"\ndata = {files = \"F/soundings\", estimate_strike = true}\n");
    const Outcome o = tessera({"check", "c.toml"});
    return o.out + o.err;
  };
  const std::string one = said_of("[\"-0.5 km\"]");
  EXPECT_TRUE(holds(one, "E0683") && holds(one, "30.0") && holds(one, "120.0")) << one;
  const std::string line = said_of("[\"-0.5 km\", \"0.5 km\"]");
  EXPECT_TRUE(holds(line, "x was turned to 30.0 deg")) << line;
}

/// A table of stations 1 km apart with these elevations.
std::string with_elevations(const std::vector<std::optional<double>>& elevation_m) {
  std::string out =
      "station,name,latitude_deg,longitude_deg,elevation_m,x_m,y_m,z_m,tilt_deg,distance_m,"
      "offset_m,frequency_hz,period_s,kind,unit,value,sigma,predicted\n";
  for (std::size_t k = 0; k < elevation_m.size(); ++k)
    for (const char* f : {"10,0.1", "1,1"})
      for (const char* row : {"log10_rho_xy,1,2,0.03", "phase_xy,deg,45,2"})
        out +=
            fmt::format("t{0},t{0},,,{1},0,{2},,0,{2},0,{3},{4},\n", k,
                        elevation_m[k] ? fmt::format("{}", *elevation_m[k]) : "", 1000 * k, f, row);
  return out;
}

// A station of unknown height makes no pit; what is computed is what other programs are told.
TEST_F(Mt2d, StationsWithoutAnElevationStandOnTheGround) {
  write("t.csv", with_elevations({1000, std::nullopt, 1200, 1200}));
  write("ground.csv", "distance_m,elevation_m\n0,1000\n1000,1150\n2000,1200\n3000,1200\n");
  const auto heights = [&](const std::string& ground) {
    write("case.toml", "app = \"inversion.mt2d\"\ndata.files = \"t.csv\"\n" + few_cells +
                           "ground = {" + ground + "}\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "R", "--force"});
    EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
    EXPECT_TRUE(holds(o.err, "no elevation is given of t1")) << o.err;
    const std::vector<Sounding> emdata = read_stations_of(here() / "R/data.emdata"),
                                modem = read_stations_of(here() / "R/data.dat");
    std::vector<double> z;
    for (std::size_t k = 0; k < emdata.size(); ++k) {
      z.push_back((*emdata[k].place_m)[2]);
      EXPECT_EQ((*modem.at(k).place_m)[2], z.back());
    }
    return z;
  };
  const auto expect = [](const std::vector<double>& z, std::vector<double> wanted) {
    ASSERT_EQ(z.size(), wanted.size());
    for (std::size_t k = 0; k < z.size(); ++k) EXPECT_NEAR(z[k], wanted[k], 1e-6);
  };
  expect(heights("shape = \"stations\""), {-1000, -1100, -1200, -1200});
  expect(heights("shape = \"file\", file = \"ground.csv\""), {-1000, -1150, -1200, -1200});
  expect(heights("shape = \"flat\""), std::vector<double>(4, -3400.0 / 3));
  // Elevations alone are told, too.
  Survey s;
  Station station;
  station.id = "a";
  station.elevation_m = 12;
  s.stations = {station};
  s.data.add(0, 1, {Element::xy, Part::phase}, 45, 1);
  EXPECT_TRUE(holds(emdata_text(s), "\n0 0 -12 0 0 0 0 0 a\n")) << emdata_text(s);
}

// The ground of a section that is given by cells is where they end upwards.
TEST_F(Mt2d, CellsOfASectionBringTheirGround) {
  const auto forward = [&](const std::string& section, const std::string& ground, int code = 0) {
    write("f.toml", "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n" +
                        section + ground +
                        "noise = {impedance = 0}\nmesh.goal = \"100 %\"\n"
                        "stations = {first = \"-1 km\", last = \"1 km\", count = 3}\n"
                        "frequencies.at = [\"10 Hz\"]\n");
    const Outcome o = tessera({"run", "f.toml", "--output", "F", "--force"});
    EXPECT_EQ(o.code, code) << o.err;
    return o.err;
  };
  const auto heights = [&] {
    std::vector<double> z;
    for (const Sounding& s : read_stations_of(here() / "F/data.emdata"))
      z.push_back((*s.place_m)[2]);
    return z;
  };
  // A kilometre of 1 ohm m above z = 0, 100 ohm m below: skin depths are 160 m.
  const std::string columns = "y0_m,z0_m,y1_m,z1_m,y2_m,z2_m,y3_m,z3_m,resistivity_ohm_m\n",
                    below = "-50000,0,50000,0,50000,100000,-50000,100000,100\n";
  write("two.csv", columns + "-50000,-1000,50000,-1000,50000,0,-50000,0,1\n" + below);
  forward("section.file = \"two.csv\"\n", "");
  EXPECT_EQ(heights(), std::vector<double>(3, -1000));
  for (const StationData& d :
       read_stations(here() / "F/data.csv",
                     {.kinds = {{Element::xy, Part::log10_rho}, {Element::yx, Part::log10_rho}}}))
    for (const double v : d.data.value) EXPECT_NEAR(v, 0, 0.01);
  // Hills: the run of a model.csv is that of the section it was written for.
  write("hills.csv", "distance_m,elevation_m\n-2000,0\n0,300\n2000,100\n");
  const std::string ground = "ground = {shape = \"file\", file = \"hills.csv\"}\n";
  forward("section.resistivity = \"100 ohm*m\"\n", ground);
  const std::vector<double> z = heights();
  const DataTable first = read_survey(here() / "F/data.csv").data;
  fs::copy_file(here() / "F/model.csv", here() / "hills_model.csv");
  const std::string told = forward("section.file = \"hills_model.csv\"\n", "");
  EXPECT_FALSE(holds(told, "is cut off")) << told;
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(heights()[k], z[k], 1);
  const DataTable again = read_survey(here() / "F/data.csv").data;
  ASSERT_EQ(again.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_NEAR(again.value[i], first.value[i], again.kind[i].part == Part::phase ? 0.5 : 0.01);
  // A ground that is given is told to be another one; one that jumps is none.
  EXPECT_TRUE(holds(forward("section.file = \"two.csv\"\n", ground), "is cut off"));
  write("step.csv", columns + "-50000,-1000,0,-1000,0,0,-50000,0,1\n" + below);
  const std::string refused = forward("section.file = \"step.csv\"\n", "", 4);
  EXPECT_TRUE(holds(refused, "E0690") && holds(refused, "jumps at y = 0 m")) << refused;
}

// Errors and tilts of an imported case are those of its file.
TEST_F(Mt2d, ImportedCasesTakeErrorsAndTiltsOfTheirFiles) {
  std::string tippers = list_of_line(90, 0);
  tippers += "> Full_Vertical_Components\n> exp(+i\\omega t)\n> []\n> 0\n> 0 0\n> 1 4\n";
  for (int k = 0; k < 4; ++k)
    for (const char* name : {"TX", "TY"})
      tippers += fmt::format("1 s{} 0 0 0 {} 0 {} 0.1 0.02 0.005\n", k, 1000 * k, name);
  write("l.dat", tippers);
  ASSERT_EQ(tessera({"import", "l.dat", "--output", "case.toml"}).code, 0);
  std::string text = read("case.toml");
  write("case.toml", text.insert(text.find("[data]"), few_cells));
  const Outcome o = tessera({"run", "case.toml", "--output", "R"});
  ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
  const DataTable t = read_survey(here() / "R/data.csv").data;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t.kind[i].element == Element::ty) {
      EXPECT_NEAR(t.sigma[i], 0.005, 1e-12);
    }
  const fs::path demo = tessera::testing::test_data() / "mt/mare2dem_demo";
  if (!fs::exists(demo)) GTEST_SKIP() << "no demo of MARE2DEM";
  const auto imported = [&](const char* file) {
    EXPECT_EQ(tessera({"import", demo / file, "--output", "demo.toml", "--force"}).code, 0);
    return read("demo.toml");
  };
  EXPECT_TRUE(holds(imported("Demo.0.resistivity"), "\ntilted = true"));
  const std::string data = imported("DemoSynthMT.emdata");
  EXPECT_TRUE(holds(data, "sea_resistivity") && !holds(data, "tilted")) << data;
}

// z of a list is that of its stations, whether or not they have positions on the globe, too.
TEST_F(Mt2d, AListOfASeaFloorIsOfOneOnTheGlobeToo) {
  for (const bool globe : {false, true})
    for (const auto& [depth, key] : {std::pair{1500, "\n[ground] "}, {10, "\n# [ground] "}}) {
      std::string list =
          "> Off_Diagonal_Impedance\n> exp(+i\\omega t)\n> [mV/km]/[nT]\n> 0\n> 10 20\n> 1 3\n";
      for (int k = -1; k <= 1; ++k)  // 2 km apart to the east
        for (const auto& [name, size] : {std::pair{"ZXY", 1}, {"ZYX", -1}})
          list += fmt::format("1 s{} {} {} 0 {} {} {} {} {} 0.05\n", k + 1, globe ? 10 : 0,
                              globe ? 20 + 0.01825 * k : 0, 2000 * k, depth, name, size, size);
      write("floor.dat", list);
      const Outcome o = tessera({"import", "floor.dat", "--output", "floor.toml", "--force"});
      ASSERT_EQ(o.code, 0) << o.err;
      EXPECT_TRUE(holds(o.err, "all stations lie below z = 0")) << o.err;
      EXPECT_TRUE(holds(read("floor.toml"), key)) << globe << read("floor.toml");
      EXPECT_EQ(holds(read("floor.toml"), "strike = "), globe) << read("floor.toml");
    }
}

// Data without an error are none where there is no floor: how many of which response is told, and
// an imported case has a floor for them.
TEST_F(Mt2d, ResponsesWithoutErrorsAreToldAndKeepAFloor) {
  std::istringstream in(list_of_line(90, 0));
  std::string list;
  for (std::string line; std::getline(in, line);)
    list += (holds(line, " ZYX ") ? line.substr(0, line.rfind(' ')) + " 1e15" : line) + "\n";
  write("l.dat", list);
  const Outcome imported = tessera({"import", "l.dat", "--output", "case.toml"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_TRUE(holds(imported.err, "tm has no errors: data.error_floor stays")) << imported.err;
  EXPECT_FALSE(holds(read("case.toml"), "error_floor")) << read("case.toml");
  const auto said = [&](const char* floor) {
    write("c.toml",
          std::string("app = \"inversion.mt2d\"\ndata = {files = \"l.dat\", error_floor = ") +
              floor + "}\n");
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out + o.err;
  };
  const std::string without = said("0");
  EXPECT_TRUE(holds(without, "without an error are left out: 8 zyx; data.error_floor above 0"))
      << without;
  EXPECT_TRUE(holds(without, "without an error 2 zyx")) << without;
  EXPECT_FALSE(holds(said("0.05"), "without an error"));
}

// A line has no direction, but a table's data do: its distances rise along their y, and tippers
// point to the same side whichever way the line is told to run.
TEST_F(Mt2d, ATableOnTheGlobeKeepsItsDirection) {
  std::string table =
      "station,latitude_deg,longitude_deg,distance_m,frequency_hz,kind,value,sigma\n";
  for (int k = 0; k < 3; ++k)
    for (const char* row : {"log10_rho_xy,2,0.03", "phase_xy,45,2", "ty_re,0.1,0.02"})
      table += fmt::format("t{},0,{},{},1,{}\n", k, 0.01 * k, 1113 * k, row);
  write("t.csv", table);
  const auto said = [&](const char* azimuth) {
    write("c.toml", fmt::format("app = \"inversion.mt2d\"\ndata.files = \"t.csv\"\n"
                                "data.responses = [\"te\", \"tipper\"]\n"
                                "profile.azimuth = \"{} deg\"\n",
                                azimuth));
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  };
  for (const char* azimuth : {"100", "280", "-80"}) {
    const std::string out = said(azimuth);
    EXPECT_LT(out.find("t0 "), out.find("t2 ")) << out;
    EXPECT_TRUE(holds(out, "along the strike, 10.0 deg, across the profile")) << out;
    EXPECT_EQ(holds(out, "rise the other way"), std::string(azimuth) != "100") << out;
  }
}

}  // namespace
