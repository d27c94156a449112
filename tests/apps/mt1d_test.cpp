// SPDX-License-Identifier: Apache-2.0
// inversion.mt1d as its users meet it: from the example to results, killed and resumed, refused.
#include "csv_columns.h"
#include "mt1d_case.h"
#include "tessera/inversion/survey_files.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

TEST_F(Mt1d, TheExampleMeetsItsExpectations) {
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  const Outcome checked = tessera({"check", "site/mt1d.toml"});
  EXPECT_EQ(checked.code, 0);
  EXPECT_TRUE(holds(checked.out, " deg at all periods: concentration 0.")) << checked.out;
  EXPECT_TRUE(holds(checked.out, " deg at 1e0 to 1e1 s: concentration ")) << checked.out;
  const Outcome run = tessera({"run", "site/mt1d.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 0) << run.err;
  for (const char* name :
       {"soundings.csv", "metrics.csv", "results.h5", "soundings/syn05_model.csv",
        "soundings/syn05_fit.csv", "soundings/syn05_iterations.csv", "plots/section.png",
        "plots/pseudo_section.svg", "plots/syn05.png", "plots/phase_tensors.png",
        "plots/syn05_phase_tensor.svg"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  const std::string table = read("RUN/soundings.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 13);
  EXPECT_TRUE(holds(run.err, "D+"));
  // The pictures drawn anew from results.h5 are the same.
  const std::string before = read("RUN/plots/syn05.png"),
                    tensors = read("RUN/plots/phase_tensors.csv");
  fs::remove(here() / "RUN/plots/syn05.png");
  fs::remove(here() / "RUN/plots/phase_tensors.csv");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/syn05.png"), before);
  EXPECT_EQ(read("RUN/plots/phase_tensors.csv"), tensors);
  // The survey with its predictions: the RMS of each station is that of its model.
  const auto survey = tessera::inversion::read_survey(here() / "RUN/data.csv");
  ASSERT_EQ(survey.stations.size(), 12u);
  const auto rms_of = csv_column(read("RUN/soundings.csv"), "rms");
  for (std::size_t k = 0; k < 12; ++k)
    EXPECT_NEAR(tessera::inversion::rms_of_station(survey.data, k), rms_of[k], 1e-9 * rms_of[k]);
  expect_files_known("RUN");
  // An expectation that is not met is exit 6, and is told with what came.
  const Outcome missed = tessera({"run", "site/mt1d.toml", "--output", "R2", "--set",
                                  "expect.rms_max=0.5", "--set", "posterior.method=\"none\""});
  EXPECT_EQ(missed.code, 6);
  EXPECT_TRUE(holds(missed.err, "the case expects an RMS of at most 0.5, the largest is "))
      << missed.err;
  EXPECT_FALSE(holds(missed.err, "the case expects 12 soundings")) << missed.err;
}

// A sounding may have the name of a picture of the whole profile: each keeps its own.
TEST_F(Mt1d, ASoundingMayBeCalledSection) {
  make_case(2, "[posterior]\nmethod = \"none\"\n");
  fs::rename(here() / "site/soundings/syn01.edi", here() / "site/soundings/section.edi");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(read("RUN/plots/section.csv").starts_with("# Resistivity below the profile\n"));
  EXPECT_TRUE(read("RUN/plots/section_sounding.csv").starts_with("# Station syn01\n"));
  EXPECT_TRUE(fs::exists(here() / "RUN/plots/section_sounding.png"));
  EXPECT_TRUE(fs::exists(here() / "RUN/soundings/section_model.csv"));
}

TEST_F(Mt1d, PseudoSectionsAreEmptyInGapsOnly) {
  // Six periods to a decade are shown eight to a decade.
  const auto cells = [this](const std::string& more) {
    make_case(1, more + "[posterior]\nmethod = \"none\"\n");
    EXPECT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--force"}).code, 0);
    std::istringstream table(read("RUN/plots/pseudo_section.csv"));
    std::pair<int, int> shown_and_empty;
    for (std::string line; std::getline(table, line);)
      if (line.starts_with("Observed phase,syn01,cell,"))
        ++(line.ends_with(",,,") ? shown_and_empty.second : shown_and_empty.first);
    return shown_and_empty;
  };
  EXPECT_EQ(cells(""), std::pair(45, 0));
  // Without seven of them 1.375 decades have no datum; from either side 3 / 2 of the distance of
  // 0.172 decades is filled.
  const auto [shown, empty] = cells(
      "mask_periods = [\"0.8058 s\", \"1.197 s\", \"1.778 s\", \"2.642 s\", \"3.924 s\", \"5.829 "
      "s\", \"8.66 s\"]\n");
  EXPECT_EQ(shown + empty, 45);
  EXPECT_EQ(empty, 7) << "0.859 decades";
}

TEST_F(Mt1d, ASoundingIsNoCase) {
  make_case(1, "");
  const Outcome o = tessera({"run", "site/soundings/syn01.edi"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err,
                    "hint: this is EDI (SEG EDI magnetotelluric sounding); a case is written by "
                    "`tessera new APP`"))
      << o.err;
  write("run.mdp", "integrator = md\nnsteps = 10\n");
  EXPECT_TRUE(holds(tessera({"check", "run.mdp"}).err,
                    "hint: `tessera import run.mdp` makes a case of it"));
}

TEST_F(Mt1d, DerivativesVerify) {
  make_case(3, "");
  const Outcome o = tessera({"gradcheck", "case.toml"});
  EXPECT_EQ(o.code, 0) << o.out;
  for (const char* text :
       {"sounding syn02 (2 of 3)", "impedance  ln thickness", "misfit     ln rho"})
    EXPECT_TRUE(holds(o.out, text)) << o.out;
}

TEST_F(Mt1d, DerivativesOfBoundedLayersAndAShiftVerify) {
  make_case(1,
            "[model]\nleast_resistivity = \"1 ohm*m\"\ngreatest_resistivity = \"1e4 ohm*m\"\n"
            "[static_shift]\nenabled = true\nprior_std = 0.3\n");
  const Outcome o = tessera({"gradcheck", "case.toml"});
  EXPECT_EQ(o.code, 0) << o.out;
  for (const char* text :
       {"misfit     x of ln rho between its bounds", "impedance  static shift of ln Z"})
    EXPECT_TRUE(holds(o.out, text)) << o.out;
}

// Distances that only count the stations are no kilometres.
TEST_F(Mt1d, StationsWithoutPositionsAreCounted) {
  make_case(2, "[posterior]\nmethod = \"none\"\n");
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).out, "0.00 km along the profile"));
  std::string text = read("site/soundings/syn02.edi");
  for (const std::string key : {"LAT=", "LONG="})
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 4))
      text.replace(at, 3, "AT_");
  write("site/soundings/syn02.edi", text);
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(o.out, "number 2 of the profile")) << o.out << o.err;
  EXPECT_FALSE(holds(o.out, "km along the profile")) << o.out;
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  const std::string table = read("RUN/soundings.csv");
  EXPECT_TRUE(holds(table, "\nsyn01,syn01,syn01.edi,,40")) << table;
  EXPECT_TRUE(holds(table, "\nsyn02,syn02,syn02.edi,,,,")) << table;
}

TEST_F(Mt1d, KilledAndResumedItIsTheSame) {
  make_case(
      3, "[model]\nlayers = 16\n[posterior]\nmethod = \"mcmc\"\nburn_in = 200\nsamples = 4000\n");
  expect_same_after_kill("0.05 s");
}

TEST_F(Mt1d, AnEditedCaseIsNotGoneOnWithButItsPicturesMayChange) {
  make_case(
      3, "[model]\nlayers = 16\n[posterior]\nmethod = \"mcmc\"\nburn_in = 200\nsamples = 40000\n");
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--max-time", "0.3 s"}).code, 75);
  expect_edit_refused("RUN", "\nlayers = 16", "\nlayers = 20", "model.layers=20");
  make_case(3, "[model]\nlayers = 16\n");
  expect_same_after_extension("output.pictures_of_soundings=false",
                              "output.pictures_of_soundings=true");
}

// A 2-D tensor with x 20 degrees east of north. Turned by hand, Zxy of axes turned by a: xy cos^2 a
// - yx sin^2 a (+ the diagonal, 0).
TEST_F(Mt1d, StrikeTurnsAndRotationCorrects) {
  const double xy = 30, yx = -10, deg = 3.14159265358979323846 / 180;
  const auto row = [](double v) {
    return " " + std::to_string(v) + " " + std::to_string(v / 2) + " " + std::to_string(v / 4) +
           "\n";
  };
  std::string text =
      ">HEAD\n DATAID=\"S\"\n LAT=-30:30:00\n LONG=127.5\n>=MTSECT\n NFREQ=3\n>FREQ //3\n 4 1 "
      "0.25\n>ZROT //3\n 20 20 20\n";
  const std::vector<std::pair<const char*, double>> blocks{{"ZXXR", 0},  {"ZXXI", 0},  {"ZXYR", xy},
                                                           {"ZXYI", xy}, {"ZYXR", yx}, {"ZYXI", yx},
                                                           {"ZYYR", 0},  {"ZYYI", 0}};
  for (const auto& [name, v] : blocks) text += std::string(">") + name + " //3\n" + row(v);
  write("s.edi", text + ">END\n");
  const auto first = [&](const std::string& keys) {
    write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"s.edi\"\nresponse = \"xy\"\n" +
                           keys + "[model]\nlayers = 5\n[posterior]\nmethod = \"none\"\n");
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--force"});
    EXPECT_EQ(o.code % 6, 0) << o.err;  // whether three layers fit does not matter
    return csv_column(read("RUN/soundings/s_fit.csv"), "observed_re_ohm").at(0) /
           (4e-4 * 3.14159265358979323846);
  };
  const auto by_hand = [&](double turned) {
    return xy * std::pow(std::cos(turned * deg), 2) - yx * std::pow(std::sin(turned * deg), 2);
  };
  EXPECT_NEAR(first(""), by_hand(0), 1e-9);
  EXPECT_NEAR(first("rotation = \"25 deg\"\n"), by_hand(0), 1e-9) << "nothing is turned";
  EXPECT_NEAR(first("strike = \"60 deg\"\n"), by_hand(40), 1e-9) << "x lies at 20 degrees already";
  EXPECT_NEAR(first("rotation = \"25 deg\"\nstrike = \"60 deg\"\n"), by_hand(15), 1e-9)
      << "x lies at 45 degrees in truth";
  write("case.toml",
        "app = \"inversion.mt1d\"\n[data]\nfiles = \"s.edi\"\nrotation = \"25 deg\"\n");
  const Outcome alone = tessera({"check", "case.toml"});
  EXPECT_EQ(alone.code, 0);
  EXPECT_TRUE(holds(alone.err, "warning E0607")) << alone.err;
}

// The data of a run as a table, and as MARE2DEM writes them, are inverted like the soundings.
TEST_F(Mt1d, TablesOfDataAreInvertedLikeSoundings) {
  namespace mt = tessera::inversion;
  const std::string none = "[model]\nlayers = 20\n[posterior]\nmethod = \"none\"\n";
  make_case(2, "response = \"xy\"\n" + none);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  mt::StationOptions options{.kinds = mt::impedance_kinds(mt::Element::xy)};
  std::vector<mt::StationData> stations;
  const auto read_all = [&] {
    stations.clear();
    for (const char* name : {"syn01", "syn02"}) {
      auto of_file =
          mt::read_stations(here() / "site/soundings" / (std::string(name) + ".edi"), options);
      stations.push_back(std::move(of_file.at(0)));
    }
  };
  read_all();
  mt::write_survey_csv(here() / "data.csv", mt::line_up(stations));
  const auto run_on = [&](const std::string& file) {
    write("case.toml", "app = \"inversion.mt1d\"\n[data]\nfiles = \"" + file +
                           "\"\nresponse = \"xy\"\nerror_floor = 0\n" + none);
    const Outcome o = tessera({"run", "case.toml", "--output", "R2", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
  };
  run_on("data.csv");
  EXPECT_EQ(read("RUN/soundings/syn01_model.csv"), read("R2/soundings/syn01_model.csv"));
  EXPECT_EQ(read("RUN/soundings/syn02_fit.csv"), read("R2/soundings/syn02_fit.csv"));
  options.kinds = {{mt::Element::xy, mt::Part::log10_rho}, {mt::Element::xy, mt::Part::phase}};
  read_all();
  mt::write_emdata(here() / "line.emdata", mt::line_up_across(stations, 0));
  run_on("line.emdata");
  const auto before = csv_column(read("RUN/soundings/syn01_fit.csv"), "observed_re_ohm"),
             after = csv_column(read("R2/soundings/syn01_fit.csv"), "observed_re_ohm");
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i] / before[i], 1, 1e-12) << i;
  const Outcome turned = tessera({"check", "case.toml", "--set", "data.files=\"data.csv\"", "--set",
                                  "data.strike=\"10 deg\""});
  EXPECT_EQ(turned.code, 4);
  EXPECT_TRUE(holds(turned.err, "E0682")) << turned.err;
}

// One sounding keeps one thread busy, whatever the machine has; a run counts so, too.
TEST_F(Mt1d, AnEstimateCountsThreadsAsARunDoes) {
  make_case(1, "[posterior]\nmethod = \"mcmc\"\n");
  const auto chains = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"estimate", "case.toml"});
    const std::string out = tessera(more).out;
    const std::size_t at = out.find("chains");
    return at == std::string::npos ? std::string("none") : out.substr(at, out.find('\n', at) - at);
  };
  EXPECT_EQ(chains({}), chains({"--threads", "1"}));
  EXPECT_EQ(chains({"--threads", "8"}), chains({"--threads", "1"}));
  // More steps than an int holds: days of them.
  const std::string out =
      tessera({"estimate", "case.toml", "--json", "--set", "posterior.burn_in=2147483647", "--set",
               "posterior.samples=2147483647"})
          .out;
  const std::string key = "\"seconds\": ";
  ASSERT_TRUE(holds(out, key)) << out;
  EXPECT_GT(std::stod(out.substr(out.find(key) + key.size())), 1e4);
}

TEST_F(Mt1d, BoundsFarAwayLeaveTheDepthsOfInvestigation) {
  const auto depths = [&](const std::string& bounds) {
    make_case(12, "[model]\nlayers = 24\n" + bounds + "[posterior]\nmethod = \"none\"\n");
    EXPECT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--force"}).code, 0);
    return csv_column(read("RUN/soundings.csv"), "depth_sensitivity_m");
  };
  const auto free = depths(""),
             bounded = depths(
                 "least_resistivity = \"0.1 ohm*m\"\ngreatest_resistivity = \"1e10 ohm*m\"\n");
  ASSERT_EQ(free.size(), 12u);
  for (std::size_t i = 0; i < free.size(); ++i) EXPECT_NEAR(bounded[i] / free[i], 1, 0.01) << i;
}

TEST_F(Mt1d, ADepthBeyondTheOtherEndIsRefused) {
  make_case(1, "[model]\nlast_depth = \"1 m\"\n");
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 4);
  EXPECT_TRUE(holds(o.err,
                    "syn01.edi: error E0614: model.last_depth, 1 m, is not below the first depth "
                    "that the data ask for"))
      << o.err;
  // The data are those without the static shift: with a hundredth of the impedance everything lies
  // at a hundredth of the depth.
  make_case(1,
            "[model]\nfirst_depth = \"100 km\"\n[static_shift]\nenabled = "
            "true\nreference_resistivity = \"0.01 ohm*m\"\n");
  const Outcome shifted = tessera({"check", "case.toml"});
  EXPECT_EQ(shifted.code, 4);
  EXPECT_TRUE(holds(shifted.err, "E0614: model.first_depth, 100000 m, is not above the last depth"))
      << shifted.err;
}

TEST_F(Mt1d, FewLayersAreAtMostThoseOfTheSmoothModel) {
  const std::string few = "[inversion]\nmethod = \"few_layer\"\nstarts = 1\n",
                    three = "[model]\nlayers = 3\n[posterior]\nmethod = \"none\"\n";
  make_case(1, few + "target_rms = 0.01\n" + three);
  EXPECT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 6)
      << "no layered earth fits to 0.01";
  make_case(1, few + "few_layers = 4\n" + three);
  const Outcome o = tessera({"check", "case.toml"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err,
                    "error E0606: inversion.few_layers = 4 layers cannot be cut out of a smooth "
                    "model of model.layers = 3"))
      << o.err;
}

TEST_F(Mt1d, ContradictionsHaveAPlaceAndANumber) {
  make_case(1, "[static_shift]\nenabled = true\n");
  const Outcome shift = tessera({"check", "case.toml"});
  EXPECT_EQ(shift.code, 5);
  EXPECT_TRUE(holds(shift.err, "case.toml:5:1: error E0602")) << shift.err;
  make_case(1, "response = \"te\"\n");
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).err, "case.toml:4:1: error E0601"));
  make_case(1, "[model]\nleast_resistivity = \"10 ohm*m\"\n");
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).err, "E0604"));
  make_case(1,
            "[model]\nleast_resistivity = \"20 ohm*m\"\ngreatest_resistivity = \"1000 "
            "ohm*m\"\nreference_resistivity = \"5 ohm*m\"\nfixed_top = [\"0 m\"]\nfixed_bottom = "
            "[\"300 m\"]\nfixed_resistivity = [\"12 ohm*m\"]\n");
  const std::string bounds = tessera({"check", "case.toml"}).err;
  for (const char* what : {"case.toml:7:1: error E0604: reference_resistivity, 5 ohm*m, lies",
                           "error E0604: fixed_resistivity of range 1, 12 ohm*m, lies outside of "
                           "least_resistivity and greatest_resistivity, 20 and 1000 ohm*m"})
    EXPECT_TRUE(holds(bounds, what)) << bounds;
  make_case(1,
            "[model]\nleast_resistivity = \"20 ohm*m\"\ngreatest_resistivity = \"1000 "
            "ohm*m\"\nreference_resistivity = \"20 ohm*m\"\n");
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).err,
                    "case.toml:7:1: error E0604: the inversion would start at a bound"));
  make_case(1, "[model]\nfixed_top = [\"10 m\"]\n");
  EXPECT_TRUE(holds(tessera({"check", "case.toml"}).err, "E0603"));
}

// Between bounds smoothness is one of x, which has no end at either.
TEST_F(Mt1d, AKnownResistivityHasNoPlaceAtABound) {
  const auto checked = [&](const std::string& ohm_m) {
    make_case(1,
              "[model]\nleast_resistivity = \"1 ohm*m\"\ngreatest_resistivity = \"1000 ohm*m\"\n"
              "fixed_top = [\"0 m\"]\nfixed_bottom = [\"300 m\"]\nfixed_resistivity = [\"" +
                  ohm_m + " ohm*m\"]\n");
    return tessera({"check", "case.toml"});
  };
  for (const char* at : {"1", "1000"}) {
    const Outcome o = checked(at);
    EXPECT_EQ(o.code, 5) << at;
    EXPECT_TRUE(holds(o.err, "case.toml:9:1: error E0604: fixed_resistivity of range 1, "))
        << o.err;
    EXPECT_TRUE(holds(o.err, "is that of a bound")) << o.err;
  }
  // A tenth of three decades is a factor of two.
  for (const auto& [near, told] :
       {std::pair{"1.9", true}, {"2.1", false}, {"490", false}, {"510", true}}) {
    const Outcome o = checked(near);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(holds(o.err, "warning E0604: fixed_resistivity of range 1"), told) << o.err;
  }
  EXPECT_TRUE(holds(checked("900").err, "model.greatest_resistivity above 1916 ohm*m"));
}

TEST_F(Mt1d, ABadFileStopsUnlessToldToGoOn) {
  make_case(2, "[posterior]\nmethod = \"none\"\n");
  write("site/soundings/bad.edi",
        ">HEAD\nDATAID=\"bad\"\n>=MTSECT\nNFREQ=99999999999\n>FREQ //2\n1 2\n>END\n");
  const Outcome stopped = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(stopped.code, 4);
  EXPECT_TRUE(holds(stopped.err, "bad.edi:")) << stopped.err;
  EXPECT_FALSE(fs::exists(here() / "RUN"));
  for (const char* verb : {"check", "estimate", "gradcheck"}) {
    EXPECT_EQ(tessera({verb, "case.toml"}).code, 4) << verb;
    EXPECT_EQ(tessera({verb, "case.toml", "--keep-going"}).code, 0) << verb;
  }
  const Outcome checked = tessera({"check", "case.toml", "--keep-going"});
  EXPECT_EQ(checked.code, 0);
  EXPECT_TRUE(holds(checked.err, "bad.edi:") && holds(checked.out, "syn02") &&
              holds(checked.out, ": ok"))
      << checked.out << checked.err;
  EXPECT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--keep-going"}).code, 0);
  const std::string table = read("RUN/soundings.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  for (const char* good : {"site/soundings/syn01.edi", "site/soundings/syn02.edi"})
    fs::remove(here() / good);
  for (const char* verb : {"check", "estimate", "gradcheck", "run"})
    EXPECT_EQ(tessera({verb, "case.toml", "--keep-going"}).code, 4) << verb << ": nothing is left";
}

TEST_F(Mt1d, WhatARunLeftOutStaysOutWhenItIsResumed) {
  make_case(
      2, "[model]\nlayers = 16\n[posterior]\nmethod = \"mcmc\"\nburn_in = 200\nsamples = 20000\n");
  write("site/soundings/bad.edi", "no sounding\n");
  ASSERT_EQ(
      tessera({"run", "case.toml", "--output", "RUN", "--keep-going", "--max-time", "0.05 s"}).code,
      75);
  const Outcome resumed = tessera({"resume", "RUN"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const std::string table = read("RUN/soundings.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  const Outcome changed = tessera({"resume", "RUN", "--set", "expect.soundings=2"});
  EXPECT_EQ(changed.code, 0) << changed.err;
}

TEST_F(Mt1d, KeysThatDoNothingInACaseAreNamed) {
  const auto told = [&](const std::string& more) {
    make_case(2, more);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const auto fixed = [](const std::string& bottom) {
    return "[model]\nfixed_top = [\"850 m\"]\nfixed_bottom = [\"" + bottom +
           "\"]\nfixed_resistivity = [\"12 ohm*m\"]\n";
  };
  const std::string thin = told(fixed("851 m"));  // layers are a fifth of their depth thick
  EXPECT_TRUE(holds(thin,
                    "case.toml:5:1: warning E0616: in 2 of 2 soundings no layer has its middle "
                    "between 850 m and 851 m"))
      << thin;
  EXPECT_EQ(told(fixed("1200 m")), "");

  const std::string shift = "[static_shift]\nreference_resistivity = \"50 ohm*m\"\n";
  const std::string late = told(shift + "enabled = true\nreference_period = \"1e6 s\"\n");
  EXPECT_TRUE(holds(late,
                    "case.toml:7:1: warning E0617: 1e+06 s lies outside of the periods of 2 of 2 "
                    "soundings"))
      << late;
  EXPECT_EQ(told(shift + "enabled = true\nreference_period = \"0.003 s\"\n"), "");
  EXPECT_TRUE(
      holds(told(shift), "case.toml:5:1: warning E0618: reference_resistivity has no effect"));
  EXPECT_EQ(told(shift + "enabled = false\n"), "");
}

TEST_F(Mt1d, AStaticShiftByAPriorAsksForLayers) {
  const auto told = [&](const std::string& layers) {
    make_case(
        1, "[model]\nlayers = " + layers + "\n[static_shift]\nenabled = true\nprior_std = 0.3\n");
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_TRUE(
      holds(told("99"), "case.toml:8:1: warning E0615: on 99 layers the data seem to tell"));
  EXPECT_EQ(told("100"), "");
}

TEST_F(Mt1d, PartsMayBeGivenInPercent) {
  make_case(1, "[posterior]\nmethod = \"none\"\n");
  const auto floor_of = [&](const char* text) {
    const Outcome o = tessera({"run", "case.toml", "--force", "--output", "RUN", "--set",
                               std::string("data.error_floor=") + text});
    EXPECT_EQ(o.code, 0) << o.err;
    return read("RUN/soundings.csv");
  };
  EXPECT_EQ(floor_of("3 %"), floor_of("0.03"));
  EXPECT_NE(floor_of("30 %"), floor_of("0.03"));
}

TEST_F(Mt1d, DamagedResultsAreRefused) {
  make_case(1, "[posterior]\nmethod = \"none\"\n");
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  const std::string good = read("RUN/results.h5");
  write("RUN/results.h5", good.substr(0, good.size() / 2));
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 4);
  write("RUN/results.h5", "no HDF5 at all");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 4);
}

}  // namespace
