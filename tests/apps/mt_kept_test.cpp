// SPDX-License-Identifier: Apache-2.0
// Magnetotelluric runs keep what they were given: resistivities that are known, names of stations,
// tilts, units; what they cannot keep they refuse where it is said.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/inversion/survey_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

/// A table of 100 ohm m at three periods, of stations 1 km apart.
std::string table_of(const std::vector<std::string>& ids) {
  std::string out =
      "station,name,latitude_deg,longitude_deg,elevation_m,x_m,y_m,z_m,tilt_deg,distance_m,"
      "offset_m,frequency_hz,period_s,kind,unit,value,sigma,predicted\n";
  for (std::size_t k = 0; k < ids.size(); ++k)
    for (const char* f : {"10,0.1", "1,1", "0.1,10"})
      for (const char* row : {"log10_rho_xy,1,2,0.05,", "phase_xy,deg,45,3,"}) {
        const std::string y = std::to_string(1000 * k);
        out += ids[k] + "," + ids[k] + ",,,,0," + y + ",0,0," + y + ",0," + f + "," + row + "\n";
      }
  return out;
}
const std::string quick =
    "posterior.method = \"none\"\nmesh = {growth = 1.6, cell_width = \"1 km\", error = 100}\n";

TEST_F(Mt2d, FixedCellsAreKeptOrRefused) {
  make_soundings();
  const auto text = [](const std::string& ohm_m) {
    return "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\noutput.pictures = false\n" +
           quick +
           "inversion.max_iterations = 1\nmodel.least_resistivity = \"1 ohm*m\"\n"
           "model.greatest_resistivity = \"10000 ohm*m\"\n"
           "[[model.fixed]]\npoints = [[\"-3 km\", \"0 m\"], [\"3 km\", \"0 m\"], [\"3 km\", \"1 "
           "km\"], [\"-3 km\", \"1 km\"]]\nresistivity = \"" +
           ohm_m + " ohm*m\"\n";
  };
  for (const char* outside : {"0.3", "1", "10000", "20000"}) {
    const std::string said = refusal(text(outside), 5);
    EXPECT_TRUE(holds(said, "E0604") && holds(said, "bad.toml:11:")) << said;
  }
  write("near.toml", text("1.004"));  // nearer to the bound than where free cells may start
  ASSERT_NE(tessera({"run", "near.toml", "--output", "N"}).code, 5);
  EXPECT_TRUE(
      holds(tessera({"check", "near.toml"}).err,
            "near.toml:11:1: warning E0604: the resistivity of model.fixed[0], 1.004 ohm*m"));
  int fixed = 0;
  for (const double rho : csv_table(read("N/model.csv")).at("resistivity_ohm_m"))
    fixed += std::abs(rho / 1.004 - 1) < 1e-6;
  EXPECT_GT(fixed, 3);
}

TEST(FileNames, AreSafeAndTellIdsApart) {
  using tessera::inversion::file_names;
  EXPECT_EQ(file_names({"s01", "L1/s02", "../../up", "L1_s02", "a b", "a_b", "", ".", "..", "x.y-z",
                        "Höhe", "a,b"}),
            (std::vector<std::string>{"s01", "L1_s02-2", "_._.._up", "L1_s02", "a_b-2", "a_b", "_",
                                      "_-2", "_.", "x.y-z", "Höhe", "a_b-3"}));
  const auto cut = file_names({std::string(300, 'x'), std::string(301, 'x'),
                               std::string(99, 'x') + "ö" + std::string(99, 'x')});
  EXPECT_EQ(cut[0], std::string(100, 'x'));
  EXPECT_EQ(cut[1], std::string(100, 'x') + "-2");
  EXPECT_EQ(cut[2], std::string(99, 'x'));
  EXPECT_TRUE(file_names({}).empty());
}

// Ids come from tables that anyone may have written: no file is made of them outside of the run.
TEST_F(Mt2d, NamesOfStationsAreNoPaths) {
  const std::vector<std::string> ids{"../../../up", "L1/s02", "L1_s02"};
  write("table.csv", table_of(ids));
  fs::create_directories(here() / "a/b/c");
  for (const char* app : {"mt1d", "mt2d"}) {
    const bool one = std::string(app) == "mt1d";
    write("case.toml", "app = \"inversion." + std::string(app) +
                           "\"\ndata.files = \"table.csv\"\n" +
                           (one ? "data.response = \"xy\"\nposterior.method = \"none\"\n"
                                : "data.responses = [\"te\"]\n" + quick) +
                           "inversion.max_iterations = 2\n");
    const std::string run = std::string("a/b/c/") + app;
    const Outcome o = tessera({"run", "case.toml", "--output", run});
    EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
    for (const auto& file : fs::recursive_directory_iterator(here()))
      if (holds(file.path().filename().string(), "up"))
        EXPECT_TRUE(holds(file.path().filename().string(), "_._.._.._up")) << file.path();
    const std::string folder = run + (one ? "/soundings/" : "/predicted/"),
                      end = one ? "_model.csv" : ".edi";
    for (const char* name : {"_._.._.._up", "L1_s02", "L1_s02-2"}) {
      EXPECT_TRUE(fs::exists(here() / (folder + name + end))) << folder << name;
      EXPECT_TRUE(fs::exists(here() / (run + "/plots/" + name + ".png"))) << name;
    }
    // Tables and what is drawn anew know them by their ids.
    const auto survey = tessera::inversion::read_survey(here() / (run + "/data.csv"));
    ASSERT_EQ(survey.stations.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(survey.stations[k].id, ids[k]);
    fs::remove(here() / (run + "/plots/L1_s02-2.png"));
    EXPECT_EQ(tessera({"plot", run}).code, 0);
    EXPECT_TRUE(fs::exists(here() / (run + "/plots/L1_s02-2.png")));
  }
}

// A slope of atan(1/3): what tilted stations record there is read back as the files say; level
// ones record another response.
TEST_F(Mt2d, TiltsAreWrittenAndReadBack) {
  write("slope.csv", "distance_m,elevation_m\n-20000,0\n-3000,0\n3000,2000\n20000,2000\n");
  const std::string ground = "ground = {shape = \"file\", file = \"slope.csv\"}\n",
                    tilted = "ground = {shape = \"file\", file = \"slope.csv\", tilted = true}\n";
  write("tilted.toml", "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n" +
                           tilted +
                           "data.error_floor = 0.01\nmesh.cell_width = \"250 m\"\n"
                           "section.resistivity = \"100 ohm*m\"\nnoise = {impedance = 0}\n"
                           "stations.at = [\"-500 m\", \"500 m\"]\nfrequencies.at = [\"1 Hz\"]\n");
  const Outcome forward = tessera({"run", "tilted.toml", "--output", "T"});
  ASSERT_EQ(forward.code, 0) << forward.err;
  EXPECT_TRUE(holds(forward.err, "stations are tilted")) << forward.err;
  const double down = std::atan2(-1.0, 3.0) * 45 / std::atan(1.0);  // where y rises the ground does
  const auto tilts_are = [&](const std::string& run) {
    for (const auto& s : tessera::inversion::read_survey(here() / (run + "/data.csv")).stations)
      EXPECT_NEAR(s.tilt_deg, down, 0.1) << run << ", by its mesh";
    EXPECT_TRUE(holds(read(run + "/data.emdata"), " 0 0 -18.4")) << run;
  };
  tilts_are("T");
  const auto start = [&](const std::string& file, const std::string& stands) {
    write("back.toml", "app = \"inversion.mt2d\"\ndata = {files = \"" + file +
                           "\", error_floor = 0.01}\n" + stands +
                           "model.reference_resistivity = \"100 ohm*m\"\noutput.pictures = false\n"
                           "posterior.method = \"none\"\ninversion.max_iterations = 1\n"
                           "mesh = {cell_width = \"250 m\", growth = 1.2, error = 100}\n");
    const Outcome back = tessera({"run", "back.toml", "--output", "B", "--force"});
    const std::size_t at = back.err.find("start: RMS ");
    EXPECT_NE(at, std::string::npos) << back.err;
    return at == std::string::npos ? NAN : std::stod(back.err.substr(at + 11));
  };
  const double as_files_say = start("T/data.csv", ground);
  EXPECT_LT(as_files_say, 1);
  tilts_are("B");
  EXPECT_NEAR(start("T/data.emdata", ground), as_files_say, 0.02);
  EXPECT_NEAR(start("T/data.csv", tilted), as_files_say, 0.02) << "the case says the same";
  tilts_are("B");
  std::string level = read("T/data.csv");
  for (std::size_t at; (at = level.find(",-18.4")) != std::string::npos;)
    level.replace(at + 1, level.find(',', at + 1) - at - 1, "0");
  write("level.csv", level);
  EXPECT_GT(start("level.csv", ground), 5 * as_files_say);
  EXPECT_NEAR(start("level.csv", tilted), as_files_say, 0.02);
  tilts_are("B");  // the case said so, and its own tables do
}

TEST_F(Mt2d, ExpectationsHoldInForwardRunsAndThoseInVainAreRefused) {
  const std::string text =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
      "stations.at = [\"0 m\", \"1 km\"]\nfrequencies.at = [\"10 Hz\", \"1 Hz\"]\n"
      "noise.impedance = \"3 %\"\n";
  for (const auto& [expect, code, said] :
       {std::tuple{"expect.soundings = 2\nexpect.rms_max = 50\n", 0, "2 stations"},
        std::tuple{"expect.soundings = 3\n", 6, "the case expects 3 soundings, there are 2"},
        std::tuple{"expect.rms_max = 1e-6\n", 6, "the case expects an RMS of at most 1e-06"}}) {
    write("f.toml", text + expect);
    const Outcome o = tessera({"run", "f.toml", "--output", "F", "--force"});
    EXPECT_EQ(o.code, code) << expect << o.err;
    EXPECT_TRUE(holds(o.err, said)) << o.err;
  }
  EXPECT_TRUE(holds(refusal(text + "expect.r_hat_max = 1.1\n", 5), "bad.toml:7:"));
  EXPECT_TRUE(holds(refusal("app = \"inversion.mt2d\"\ndata.files = \"x.csv\"\n"
                            "expect.r_hat_max = 1.1\n",
                            5),
                    "E0689"));
}

// Floors and corrections of azimuths of a case hold for tables of data, or are refused.
TEST_F(Mt2d, KeysOfDataHoldForTables) {
  make_soundings("noise = {impedance = 0.03}\n");
  const auto sigmas = [&](const std::string& more) {
    write("case.toml", "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n" + more + quick +
                           "output.pictures = false\ninversion.max_iterations = 1\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "R", "--force"});
    EXPECT_TRUE(o.code == 0 || o.code == 6) << o.err;
    return tessera::inversion::read_survey(here() / "R/data.csv").data.sigma;
  };
  const std::vector<double> own = tessera::inversion::read_survey(here() / "F/data.csv").data.sigma,
                            plain = sigmas(""), raised = sigmas("data.error_floor = 0.2\n");
  EXPECT_EQ(plain, own);
  ASSERT_EQ(raised.size(), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_GT(raised[i], 3 * own[i]);
  const std::string turned = refusal(
      "app = \"inversion.mt2d\"\ndata = {files = \"F/data.csv\", rotation = \"5 deg\"}\n", 4);
  EXPECT_TRUE(holds(turned, "E0682") && holds(turned, "data.rotation")) << turned;
}

// model.csv of any run is a section: of runs without bands its quantiles are empty.
TEST_F(Mt2d, SectionsAreReadFromModelsOfRuns) {
  make_soundings();
  const std::string text =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
      "stations.at = [\"0 m\"]\nfrequencies.at = [\"1 Hz\"]\nsection.file = \"";
  ASSERT_TRUE(holds(read("F/model.csv"), ",,"));
  write("again.toml", text + "F/model.csv\"\n");
  const Outcome o = tessera({"check", "again.toml"});
  EXPECT_EQ(o.code, 0) << o.err;
  std::string broken = read("F/model.csv");
  const std::size_t second = broken.find('\n', broken.find('\n') + 1) + 1;
  broken.replace(broken.find(',', second) + 1, 1, "x");
  write("broken.csv", broken);
  const std::string said = refusal(text + "broken.csv\"\n", 4);
  EXPECT_TRUE(holds(said, "E0690") && holds(said, "broken.csv:3")) << said;
}

// What `run` refuses `check` refuses, at the key.
TEST_F(Mt2d, PolygonsTearsAndStartsThatDoNothingAreRefusedByCheck) {
  write("table.csv", table_of({"a", "b", "c"}));
  const auto check = [&](const std::string& more) {
    write("c.toml", "app = \"inversion.mt2d\"\n" + quick +
                        "data = {files = \"table.csv\", responses = [\"te\"]}\n" + more);
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, holds(o.err, "error E") ? 5 : 0) << o.err;
    return o.err;
  };
  const auto points = [](const char* table, const char* of) {
    return std::string("[[model.") + table + "]]\npoints = [" + of + "]\n" +
           (std::string(table) == "fixed" ? "resistivity = \"7 ohm*m\"\n" : "");
  };
  const char *inside = "[\"-1 km\", \"0 m\"], [\"3 km\", \"0 m\"], [\"3 km\", \"5 km\"]",
             *crossed =
                 "[\"-1 km\", \"0 m\"], [\"1 km\", \"2 km\"], [\"1 km\", \"0 m\"], [\"-1 "
                 "km\", \"2 km\"]",
             *far = "[\"900 km\", \"0 m\"], [\"900 km\", \"5 km\"], [\"901 km\", \"4 km\"]",
             *air = "[\"500 m\", \"-5 km\"], [\"500 m\", \"-5 m\"]";
  EXPECT_EQ(check(points("fixed", inside) + points("tear", inside)), "");
  for (const auto& [table, of, number] :
       {std::tuple{"fixed", far, "E0689"}, std::tuple{"fixed", crossed, "E0688"},
        std::tuple{"tear", far, "E0689"}, std::tuple{"tear", air, "E0689"}}) {
    const std::string said = check(points(table, of));
    EXPECT_TRUE(holds(said, number) && holds(said, "c.toml:6:")) << table << said;
  }
  EXPECT_EQ(check("inversion.start = \"soundings\"\n"), "");
  std::string one = table_of({"a", "b", "c"}), kept;
  std::istringstream lines(one);
  for (std::string line; std::getline(lines, line);)
    if (!holds(line, ",10,0.1,") && !holds(line, ",0.1,10,")) kept += line + "\n";
  write("table.csv", kept);
  const std::string said = check("inversion.start = \"soundings\"\n");
  EXPECT_TRUE(holds(said, "E0689") && holds(said, "c.toml:5:")) << said;
}

// A list without diagonal elements tells no strike, but where its axes point; files may have any
// name.
TEST_F(Mt2d, WhatIsImportedCanBeChecked) {
  const auto list = [](const std::string& second) {
    std::string out =
        "# data\n# Period(s) Code GG_Lat GG_Lon X(m) Y(m) Z(m) Component Real Imag Error\n"
        "> " +
        std::string(second.empty() ? "Off_Diagonal_Impedance" : "Full_Impedance") +
        "\n> exp(+i\\omega t)\n> [mV/km]/[nT]\n> 20\n> 40 10\n> 1 2\n";
    for (const std::string station : {"a 40.00 9.99 0 -900 0", "b 40.01 10.01 0 900 0"}) {
      out += "1 " + station + " ZXY 10 10 1\n1 " + station + " ZYX -12 -12 1\n";
      if (!second.empty()) out += "1 " + station + " ZXX 1 2 1\n1 " + station + " ZYY -1 1 1\n";
    }
    return out;
  };
  for (const std::string name : {"half.dat", "a \"b\" \\c.dat"}) {
    write(name, list(""));
    const Outcome made = tessera({"import", name, "--output", "i.toml", "--force"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(holds(read("i.toml"), "strike = \"20 deg\"")) << read("i.toml");
    const Outcome checked = tessera({"check", "i.toml"});
    EXPECT_EQ(checked.code, 0) << name << checked.err;
    EXPECT_TRUE(holds(checked.out, "x was turned to the strike, 20.0 deg")) << checked.out;
  }
  write("full.dat", list("full"));
  ASSERT_EQ(tessera({"import", "full.dat", "--output", "i.toml", "--force"}).code, 0);
  EXPECT_TRUE(holds(read("i.toml"), "estimate_strike = true")) << read("i.toml");
}

TEST_F(Mt2d, KeysThatDoNothingAreNamed) {
  write("table.csv", table_of({"a", "b", "c"}));
  const auto told = [&](const std::string& app, const std::string& more) {
    write("c.toml", "app = \"inversion." + app + "\"\ndata.files = \"table.csv\"\n" +
                        (app == "mt1d" ? "data.response = \"xy\"\n" : quick) + more);
    const Outcome o = tessera({"check", "c.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  for (const auto& [app, more, key] :
       {std::tuple{"mt2d", "inversion = {method = \"gauss_newton\", target_rms = 2}\n",
                   "inversion.target_rms"},
        std::tuple{"mt2d", "inversion.roughness_weight = 2\n", "inversion.roughness_weight"},
        std::tuple{"mt2d", "inversion.huber_corner = 2\n", "inversion.huber_corner"},
        std::tuple{"mt2d", "posterior.samples = 50\n", "posterior.samples"},
        std::tuple{"mt2d", "posterior.chains = 2\n", "posterior.chains"},
        std::tuple{"mt2d", "prior.fade = 0.1\n", "prior.fade"},
        std::tuple{"mt2d",
                   "data.form = \"phase\"\nstatic_shift = {enabled = true, prior_std = 1}\n",
                   "static_shift.enabled"},
        std::tuple{"mt1d", "inversion.roughness_weight = 2\n", "inversion.roughness_weight"},
        std::tuple{"mt1d", "inversion.huber_corner = 2\n", "inversion.huber_corner"},
        std::tuple{"mt1d", "inversion.starts = 5\n", "inversion.starts"},
        std::tuple{"mt1d",
                   "static_shift = {enabled = true, prior_std = 0.3, reference_period = \"1 s\"}\n"
                   "model.layers = 100\n",
                   "static_shift.reference_period"},
        std::tuple{"mt1d",
                   "inversion = {method = \"gauss_newton\", target_rms = 2}\nposterior.method = "
                   "\"none\"\n",
                   "inversion.target_rms"},
        std::tuple{"mt1d", "posterior.samples = 50\n", "posterior.samples"}}) {
    const std::string said = told(app, more);
    EXPECT_TRUE(holds(said, "warning E06") && holds(said, std::string(key) + " has no effect"))
        << more << said;
  }
  for (const char* fine : {"inversion = {method = \"gauss_newton\", roughness_weight = 2}\n",
                           "inversion = {target_rms = 2, misfit = \"huber\", huber_corner = 2}\n",
                           "static_shift = {enabled = true, prior_std = 1}\n"})
    EXPECT_EQ(told("mt2d", fine), "");
  for (const char* fine :
       {"posterior = {method = \"none\", prior_std = 2}\n",  // the smooth model is tied by it
        "static_shift = {enabled = true, reference_resistivity = \"100 ohm*m\", "
        "reference_period = \"1 s\"}\n"})
    EXPECT_FALSE(holds(told("mt1d", fine), "has no effect")) << fine;
}

// Occam's last step may reach the target: there is none after it.
TEST_F(Mt2d, MaxIterationsIsTheMostSteps) {
  make_soundings();
  for (const auto& [target, most] : {std::pair{"5", 1}, {"3", 2}}) {
    write("case.toml", "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n" + quick +
                           "output.pictures = false\ninversion.target_rms = " + target +
                           "\ninversion.max_iterations = " + std::to_string(most) + "\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "R", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(csv_column(read("R/metrics.csv"), "step").back(), most) << o.err;
  }
}

TEST_F(Mt2d, StationsStandOnTheGlobeAwayFromPoles) {
  const auto text = [](const char* latitude, const char* longitude) {
    return std::string(
               "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
               "stations.at = [\"-50 km\", \"50 km\"]\nfrequencies.at = [\"1 Hz\"]\n"
               "data.strike = \"0 deg\"\nstations.latitude = \"") +
           latitude + "\"\nstations.longitude = \"" + longitude + "\"\n";
  };
  EXPECT_TRUE(holds(refusal(text("90 deg", "0 deg"), 5), "stations.latitude"));
  write("f.toml", text("60 deg", "179.9 deg"));  // the line crosses the date line
  const Outcome o = tessera({"run", "f.toml", "--output", "G"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(read("G/soundings/s02.edi"), "LONG=-179:")) << read("G/soundings/s02.edi");
}

// The line is a geodesic: as long where it is read as where it was made.
TEST_F(Mt2d, ALineOnTheGlobeComesBackAsLong) {
  write("f.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\noutput.pictures = false\n"
        "stations.at = [\"-300 km\", \"0 km\", \"300 km\"]\nfrequencies.at = [\"1 Hz\"]\n"
        "data.strike = \"45 deg\"\nstations.latitude = \"60 deg\"\nstations.longitude = \"10 "
        "deg\"\n");
  const Outcome made = tessera({"run", "f.toml", "--output", "G"});
  ASSERT_EQ(made.code, 0) << made.err;
  write("i.toml",
        "app = \"inversion.mt2d\"\ndata.files = \"G/soundings\"\ndata.strike = \"45 deg\"\n");
  const Outcome o = tessera({"check", "i.toml"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto km = [&](const char* station) {
    const std::size_t end = o.out.find(" km along", o.out.find(station));
    return std::stod(o.out.substr(o.out.rfind(' ', end - 1), end));
  };
  EXPECT_NEAR(km("s02 ") - km("s01 "), 300, 0.01) << o.out;
  EXPECT_NEAR(km("s03 ") - km("s02 "), 300, 0.01) << o.out;
  // A file without a place goes alone, though another has its name.
  std::string text = read("G/soundings/s02.edi");
  for (const std::string key : {"LAT=", "LONG="})
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 4))
      text.replace(at, 3, "AT_");
  write("G/soundings/s01.xml", text);
  const Outcome kept = tessera({"check", "i.toml", "--keep-going"});
  EXPECT_TRUE(holds(kept.out, "12 data of 3 stations over 600 km")) << kept.out << kept.err;
  EXPECT_TRUE(holds(kept.err, "s01.xml: error E0680: station s01 has no place")) << kept.err;
}

}  // namespace
