// SPDX-License-Identifier: Apache-2.0
// inversion.mt2d as its users meet it: soundings of a section, a section from soundings, killed and
// resumed, refused.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/survey_files.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <sstream>

using namespace tessera::testing;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

TEST_F(Mt2d, TheExampleMeetsItsExpectations) {
  ASSERT_EQ(tessera({"new", "inversion.mt2d", "line"}).code, 0);
  const Outcome checked = tessera({"check", "line/mt2d.toml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  for (const char* text :
       {" deg at all periods: concentration 0.", " deg at 1e0 to 1e1 s: concentration ",
        "x was turned to ", "the strike of 70 phase tensors that the line crosses",
        "km along the section", "cells: ", "skin depths ", "of memory"})
    EXPECT_TRUE(holds(checked.out, text)) << text << "\n" << checked.out;
  const Outcome run = tessera({"run", "line/mt2d.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 0) << run.err;
  for (const char* name :
       {"model.csv", "stations.csv", "data.csv", "data.dat", "data.emdata", "metrics.csv",
        "results.h5", "plots/section.png", "plots/section_q05.svg", "plots/section_q95.csv",
        "plots/pseudo_section_te.png", "plots/pseudo_section_tm.csv",
        "plots/pseudo_section_tipper.svg", "plots/misfit.png", "plots/phase_tensors.png",
        "plots/induction_arrows.png", "plots/steps.png", "plots/l_curve.png", "plots/s05.png"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  EXPECT_TRUE(holds(run.err, "step 3: RMS ")) << run.err;

  // The survey that is left has the RMS that the log tells, and can be read again.
  const auto survey = tessera::inversion::read_survey(here() / "RUN/data.csv");
  EXPECT_EQ(survey.stations.size(), 10u);
  const double rms = tessera::inversion::rms_of(survey.data);
  EXPECT_LE(rms, 1.0);
  EXPECT_GE(rms, 0.9);
  std::ostringstream told;
  told.precision(3);
  told << std::fixed << rms;
  EXPECT_TRUE(holds(run.err, "RMS " + told.str() + " over all")) << run.err;

  // The section is that below the soundings: conductor, cover beside it, basement. The 90 % bands
  // hold the model, and most of the truth where data see.
  const auto cells = csv_table(read("RUN/model.csv"));
  const auto at = [&](double y, double z, const std::string& column) {
    std::size_t nearest = 0;
    double least = HUGE_VAL;
    for (std::size_t k = 0; k < cells.at("cell").size(); ++k) {
      const double my = (cells.at("y0_m")[k] + cells.at("y2_m")[k]) / 2,
                   mz = (cells.at("z0_m")[k] + cells.at("z2_m")[k]) / 2;
      if (std::hypot(my - y, mz - z) < least) least = std::hypot(my - y, mz - z), nearest = k;
    }
    return cells.at(column)[nearest];
  };
  EXPECT_LT(at(-200, 0, "resistivity_ohm_m"), 15) << "5 ohm m";
  EXPECT_GT(at(-3500, 0, "resistivity_ohm_m"), 25) << "60 ohm m";
  EXPECT_GT(at(-3500, 1500, "resistivity_ohm_m"), 200) << "1000 ohm m";
  EXPECT_GT(at(-200, 0, "sensitivity"), 10 * at(-200, 3000, "sensitivity"));
  for (std::size_t k = 0; k < cells.at("cell").size(); ++k) {
    EXPECT_LE(cells.at("q05_ohm_m")[k], cells.at("resistivity_ohm_m")[k]);
    EXPECT_GE(cells.at("q95_ohm_m")[k], cells.at("resistivity_ohm_m")[k]);
  }

  // The pictures drawn anew from results.h5 are the same.
  const std::string section = read("RUN/plots/section.png"),
                    tensors = read("RUN/plots/phase_tensors.csv"),
                    arrows = read("RUN/plots/induction_arrows.png");
  for (const char* name : {"section.png", "phase_tensors.csv", "induction_arrows.png"})
    fs::remove(here() / "RUN/plots" / name);
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/section.png"), section);
  EXPECT_EQ(read("RUN/plots/phase_tensors.csv"), tensors);
  EXPECT_EQ(read("RUN/plots/induction_arrows.png"), arrows);
  expect_files_known("RUN");
  // What the section predicts, as soundings of another survey: they fit it all but for rounding.
  write("again.toml",
        "app = \"inversion.mt1d\"\n[data]\nfiles = \"RUN/predicted\"\nresponse = \"yx\"\n");
  const Outcome again = tessera({"check", "again.toml"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(holds(again.out, "s10 ")) << again.out;
}

// Layers below a level ground, without noise: what Wait's recursion gives.
TEST_F(Mt2d, ForwardOfLayersIsThatOfTheLayeredEarth) {
  write("layers.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\n"
        "data = {form = \"impedance\", responses = [\"te\", \"tm\", \"tipper\"]}\n"
        "noise = {impedance = 0, tipper = 0}\noutput.pictures = false\nmesh.goal = \"100 %\"\n"
        "stations.at = [\"-500 m\", \"0 m\", \"2 km\"]\n"
        "frequencies = {lowest = \"0.1 Hz\", highest = \"100 Hz\", per_decade = 1}\n"
        "section.resistivity = \"100 ohm*m\"\n"
        "[[section.layer]]\ntop = \"400 m\"\nresistivity = \"10 ohm*m\"\n"
        "[[section.layer]]\ntop = \"2 km\"\nresistivity = \"500 ohm*m\"\n");
  const Outcome o = tessera({"run", "layers.toml", "--output", "L"});
  ASSERT_EQ(o.code, 0) << o.err;
  using namespace tessera::inversion;
  const Survey survey = read_survey(here() / "L/data.csv");
  ASSERT_EQ(survey.stations.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k)
    for (const Element e : {Element::xy, Element::yx}) {
      const Response z = response_of(survey.data, k, e);
      ASSERT_EQ(z.size(), 4u);
      const auto wait = to_complex(layered_forward(z.frequency_hz, {400, 1600})
                                       .predict({std::log(100), std::log(10), std::log(500)}));
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_LT(std::abs(z.impedance_ohm[i] / wait[i] - 1.0), 2e-3) << k << " " << i;
    }
  for (std::size_t i = 0; i < survey.data.size(); ++i)
    if (survey.data.kind[i].element == Element::ty) {
      EXPECT_LT(std::abs(survey.data.value[i]), 1e-6) << "no tipper over layers";
    }
}

// A sheet a hundredth as thick as deep, and a layer below more than the skin depth of the earth at
// the highest frequency: nothing that fields reach is left out of the mesh.
TEST_F(Mt2d, ForwardHasLayersThatAreThinOrDeep) {
  using namespace tessera::inversion;
  struct {
    const char* layers;
    std::vector<double> thickness, ohm_m, hz;
  } const cases[] = {
      {"section.layer = [{top = \"1 km\", resistivity = \"0.1 ohm*m\"}, {top = \"1.01 km\", "
       "resistivity = \"100 ohm*m\"}]\nfrequencies.at = [\"100 Hz\", \"1 Hz\"]\n",
       {1000, 10},
       {100, 0.1, 100},
       {100, 1}},
      {"section.layer = [{top = \"200 km\", resistivity = \"10 ohm*m\"}]\n"
       "frequencies.at = [\"1 Hz\", \"0.001 Hz\"]\n",
       {200e3},
       {100, 10},
       {1, 0.001}}};
  for (const auto& c : cases) {
    write("layers.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
          "data.form = \"impedance\"\noutput.pictures = false\n"
          "stations.at = [\"0 m\", \"5 km\"]\nsection.resistivity = \"100 "
          "ohm*m\"\n" +
              std::string(c.layers));
    const Outcome o = tessera({"run", "layers.toml", "--output", "L", "--force"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(holds(o.err, "halved columns changed apparent resistivities by ")) << o.err;
    std::vector<double> ln_rho;
    for (const double ohm_m : c.ohm_m) ln_rho.push_back(std::log(ohm_m));
    const auto wait = to_complex(layered_forward(c.hz, c.thickness).predict(ln_rho));
    const Survey survey = read_survey(here() / "L/data.csv");
    for (const Element e : {Element::xy, Element::yx}) {
      const Response z = response_of(survey.data, 1, e);
      ASSERT_EQ(z.size(), 2u);
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_LT(std::abs(z.impedance_ohm[i] / wait[i] - 1.0), 3e-3) << c.layers << i;
    }
  }
}

// COMMEMI 2D-1 at 10 Hz: a block of 0.5 ohm m in 100, its edge below a station. Reference:
// converged finite elements and volumes beside Zhdanov et al. 1997, J. Appl. Geophys. 37.
TEST_F(Mt2d, ForwardBesideAnEdgeIsThatOfConvergedMeshes) {
  write("block.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
        "data.form = \"resistivity\"\noutput.pictures = false\nstations.at = [\"0 m\", "
        "\"500 m\"]\nfrequencies.at = [\"10 Hz\"]\nsection.resistivity = \"100 ohm*m\"\n"
        "[[section.body]]\npoints = [[\"-500 m\", \"250 m\"], [\"500 m\", \"250 m\"], [\"500 m\", "
        "\"2250 m\"], [\"-500 m\", \"2250 m\"]]\nresistivity = \"0.5 ohm*m\"\n");
  const Outcome o = tessera({"run", "block.toml", "--output", "B"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto told = tessera::inversion::read_survey(here() / "B/data.csv").data.predicted;
  const double reference[] = {8.10, 9.71, 14.2, 44.9};
  ASSERT_EQ(told.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(std::pow(10, told[i]) / reference[i], 1, 0.01) << i;  // TE, TM of each station
}

// What a forward run cannot make of its section is refused at the key.
TEST_F(Mt2d, ForwardRefusesASeaOnLandAndABodyInTheAir) {
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nfrequencies.at = [\"1 Hz\"]\n"
      "stations.at = [\"0 m\", \"1 km\"]\n";
  std::string said = refusal(forward + "ground.sea_resistivity = \"0.3 ohm*m\"\n", 5);
  EXPECT_TRUE(holds(said, "E0689") && holds(said, "below the sea's surface")) << said;
  said = refusal(forward +
                     "[[section.body]]\nresistivity = \"1 ohm*m\"\npoints = [[\"0 m\", \"-9 "
                     "m\"], [\"9 m\", \"-9 m\"], [\"5 m\", \"-1 m\"]]\n",
                 5);
  EXPECT_TRUE(holds(said, "E0688") && holds(said, "above the ground")) << said;
  write("case.toml", forward + "mesh.growth = 1.3\nmesh.error = 1\n");
  said = tessera({"check", "case.toml"}).err;
  EXPECT_TRUE(holds(said, "has no effect with task")) << said;
}

// Data without noise have the floor as their standard deviation; without either they would be none.
TEST_F(Mt2d, ForwardWithoutNoiseNeedsAFloor) {
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nfrequencies.at = [\"1 Hz\"]\n"
      "stations.at = [\"0 m\"]\noutput.pictures = false\nmesh.goal = \"100 %\"\n";
  std::string said = refusal(forward + "noise.impedance = 0\ndata.error_floor = 0\n", 5);
  EXPECT_TRUE(holds(said, "bad.toml:8:") && holds(said, "E0689") &&
              holds(said, "noise.impedance and data.error_floor are 0"))
      << said;
  const std::string tippers = "data.responses = [\"te\", \"tipper\"]\ndata.tipper_floor = 0\n";
  said = refusal(forward + tippers + "noise.tipper = 0\n", 5);
  EXPECT_TRUE(holds(said, "noise.tipper and data.tipper_floor are 0")) << said;
  for (const char* fine :
       {"noise.impedance = 0\n", "noise.impedance = 0.03\ndata.error_floor = 0\n",
        "data.responses = [\"tipper\"]\ndata.error_floor = 0\n"
        "noise.impedance = 0\n"}) {
    write("fine.toml", forward + fine);
    EXPECT_EQ(tessera({"run", "fine.toml", "--output", "Z", "--force"}).code, 0) << fine;
    EXPECT_GT(tessera::inversion::read_survey(here() / "Z/data.csv").data.size(), 0u) << fine;
  }
}

// What a forward run writes as data is what it computed, in every file; noise is for who asks.
TEST_F(Mt2d, ForwardWritesWhatWasComputed) {
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nfrequencies.at = [\"1 Hz\"]\n"
      "stations = {at = [\"0 m\", \"1 km\"], latitude = \"40 deg\", longitude = \"8 deg\"}\n"
      "data = {responses = [\"te\", \"tm\", \"tipper\"], strike = \"0 deg\"}\n"
      "output.pictures = false\nmesh.goal = \"100 %\"\nsection.resistivity = \"100 ohm*m\"\n";
  const auto run = [&](const std::string& more) {
    write("f.toml", forward + more);
    const Outcome o = tessera({"run", "f.toml", "--output", "F", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const auto xy = [&](const char* folder) {
    const auto s = tessera::inversion::read_sounding(here() / "F" / folder / "s01.edi");
    return s.impedance.at(0)[0][1];
  };
  std::string said = run("");
  EXPECT_TRUE(holds(said, "as computed, without noise") && !holds(said, "RMS of")) << said;
  const auto survey = tessera::inversion::read_survey(here() / "F/data.csv");
  ASSERT_EQ(survey.data.size(), 12u);
  EXPECT_EQ(survey.data.value, survey.data.predicted);
  EXPECT_LT(std::abs(xy("soundings") / xy("predicted") - 1.0), 1e-8);
  EXPECT_FALSE(holds(tessera({"info", "F/soundings/s01.edi"}).out, "E0335")) << "no error is 0";

  said = run("noise.impedance = \"3 %\"\n");
  EXPECT_TRUE(holds(said, "data have noise: 3 % of impedances (noise.impedance), seed 1")) << said;
  const auto noisy = tessera::inversion::read_survey(here() / "F/data.csv").data;
  for (std::size_t i = 0; i < noisy.size(); ++i)
    EXPECT_EQ(noisy.value[i] != noisy.predicted[i],
              noisy.kind[i].element != tessera::inversion::Element::ty);
  EXPECT_GT(std::abs(xy("soundings") / xy("predicted") - 1.0), 1e-4);
  EXPECT_TRUE(holds(tessera({"check", "f.toml"}).out, "data have noise: 3 % of impedances"));
  write("f.toml", forward);
  EXPECT_TRUE(holds(tessera({"check", "f.toml"}).out, "as computed, without noise"));
}

// A mesh of Gmsh: air and a half-space of 100 ohm m as quadrilaterals.
TEST_F(Mt2d, ForwardOfAMeshOfGmsh) {
  std::vector<double> y, up;
  for (int k = -8; k <= 8; ++k)
    y.push_back(k == 0 ? 0 : std::copysign(500 * std::pow(2.0, std::abs(k) - 1), k));
  for (double z = 64000; z > 30; z /= 1.3) up.push_back(-z);
  up.push_back(0);
  for (double z = 250; z < 70000; z *= 2) up.push_back(z);
  write("half.msh", quadrilaterals_as_msh(
                        y, up, [&](std::size_t, std::size_t j) { return up[j + 1] > 0 ? 1 : 2; }));
  const std::string text =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nnoise.impedance = 0\n"
      "stations.at = [\"-200 m\", \"700 m\"]\nfrequencies.at = [\"1 Hz\", \"10 Hz\"]\n"
      "output.pictures = false\nsection.file = \"half.msh\"\n";
  write("msh.toml", text + "section.resistivities = [\"inf\", \"100 ohm*m\"]\n");
  const Outcome o = tessera({"run", "msh.toml", "--output", "G"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto survey = tessera::inversion::read_survey(here() / "G/data.csv");
  ASSERT_EQ(survey.data.size(), 16u);
  for (std::size_t i = 0; i < survey.data.size(); ++i)
    if (survey.data.kind[i].part == tessera::inversion::Part::phase) {
      EXPECT_NEAR(survey.data.value[i], 45, 0.2);
    } else {
      EXPECT_NEAR(survey.data.value[i], 2, 3e-3);
    }
  const std::string said = refusal(text + "section.resistivities = [\"inf\"]\n", 4);
  EXPECT_TRUE(holds(said, "E0690") && holds(said, "physical group 2 has no resistivity")) << said;
  EXPECT_EQ(tessera({"gradcheck", "msh.toml"}).code, 0);
}

TEST_F(Mt2d, KilledAndResumedItGivesTheSameBytes) {
  make_case("[inversion]\nmax_iterations = 40\n[static_shift]\nenabled = true\nprior_std = 0.1\n");
  expect_same_after_kill("0.01 s");
}

// Asked for 0.03 of the errors the run halves columns and rows, and says what
// is left; asked for nothing it stays on its first mesh, whose responses are off by more. The same
// bytes come out where it is killed in between.
TEST_F(Mt2d, TheSolversMeshIsHalvedUntilResponsesAreRight) {
  const auto error_of = [&](const std::string& asked) {
    const Outcome o = tessera({"run", "case.toml", "--output", "M", "--force", "--set",
                               "mesh.error=" + asked, "--set", "output.pictures=false"});
    EXPECT_EQ(o.code, 0) << o.err;
    return std::pair(Json::parse(read("M/manifest.json"))["metrics"]["mesh_error"].get<double>(),
                     o.err);
  };
  make_case();
  const auto [coarse, said_coarse] = error_of("1000");
  EXPECT_FALSE(holds(said_coarse, "goes on from there")) << said_coarse;
  EXPECT_GT(coarse, 0.03) << said_coarse;
  const auto [fine, said] = error_of("0.03");
  EXPECT_TRUE(holds(said, "goes on from there on ")) << said;
  EXPECT_LE(fine, 0.03) << said;
  make_case("[mesh]\nerror = 0.03\n");
  expect_same_after_kill("0.01 s", "goes on from there on ");
}

// Where no finer mesh fits, or steps have run out, that is a warning with the way out.
TEST_F(Mt2d, AMeshThatCannotBeHalvedIsToldOf) {
  make_case("[mesh]\nerror = 0.0001\nmost_nodes = 9000\n[output]\npictures = false\n");
  const Outcome nodes = tessera({"run", "case.toml", "--output", "M", "--force"});
  EXPECT_EQ(nodes.code, 0) << nodes.err;
  EXPECT_TRUE(holds(nodes.err, "warning") && holds(nodes.err, "more than 9000")) << nodes.err;
  const Outcome steps = tessera({"run", "case.toml", "--output", "M", "--force", "--set",
                                 "inversion.max_iterations=1", "--set", "mesh.most_nodes=400000"});
  EXPECT_EQ(steps.code, 6) << steps.err;
  EXPECT_TRUE(holds(steps.err, "inversion.max_iterations is reached")) << steps.err;
}

TEST_F(Mt2d, EachMethodFindsASection) {
  make_case();
  for (const std::string method :
       {"inversion.method=\"gauss_newton\"", "inversion.differences=\"l1\"",
        "inversion.start=\"soundings\"", "inversion.misfit=\"huber\"",
        "inversion.equations=\"model_space\""}) {
    const Outcome o = tessera({"run", "case.toml", "--output", "M", "--force", "--set", method,
                               "--set", "inversion.max_iterations=200", "--set",
                               "output.pictures=false", "--set", "posterior.method=\"none\""});
    if (method.find("soundings") != std::string::npos) {  // two frequencies are too few for one
      EXPECT_EQ(o.code, 5) << o.err;
      EXPECT_TRUE(holds(o.err, "no station has three periods")) << o.err;
      continue;
    }
    EXPECT_EQ(o.code, 0) << method << o.err;
    const auto survey = tessera::inversion::read_survey(here() / "M/data.csv");
    EXPECT_LT(tessera::inversion::rms_of(survey.data), 1.5) << method;
  }
}

TEST_F(Mt2d, BoundsFixedCellsAndTearsHold) {
  make_case(
      "[inversion]\ntarget_rms = 2.5\n[model]\nleast_resistivity = \"4 "
      "ohm*m\"\ngreatest_resistivity = \"300 ohm*m\"\n"
      "[[model.fixed]]\npoints = [[\"2 km\", \"0 m\"], [\"4 km\", \"0 m\"], [\"4 km\", \"1 km\"], "
      "[\"2 km\", \"1 km\"]]\nresistivity = \"77 ohm*m\"\n"
      "[[model.tear]]\npoints = [[\"-1 km\", \"0 m\"], [\"-1 km\", \"2 km\"]]\n");
  const Outcome o =
      tessera({"run", "case.toml", "--output", "B", "--set", "output.pictures=false"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto cells = csv_table(read("B/model.csv"));
  int fixed = 0;
  for (std::size_t k = 0; k < cells.at("cell").size(); ++k) {
    const double rho = cells.at("resistivity_ohm_m")[k];
    EXPECT_GE(rho, 4);
    EXPECT_LE(rho, 300);
    const double y = (cells.at("y0_m")[k] + cells.at("y2_m")[k]) / 2,
                 z = (cells.at("z0_m")[k] + cells.at("z2_m")[k]) / 2;
    if (y > 2000 && y < 4000 && z > 0 && z < 1000) {
      ++fixed;
      EXPECT_NEAR(rho, 77, 1e-6);
    }
  }
  EXPECT_GT(fixed, 3);
}

TEST_F(Mt2d, OneStationOneFrequency) {
  write("f.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\nsection.resistivity = \"100 ohm*m\"\n"
        "stations.at = [\"0 m\"]\nfrequencies.at = [\"1 Hz\"]\n");
  ASSERT_EQ(tessera({"run", "f.toml", "--output", "F"}).code, 0);
  write("i.toml", "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n");
  const Outcome o = tessera({"run", "i.toml", "--output", "I"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(fs::exists(here() / "I/plots/section.png"));
}

TEST_F(Mt2d, DerivativesVerify) {
  make_case("[mesh]\ngrowth = 1.6\ncell_width = \"1.5 km\"\n");
  const Outcome o = tessera({"gradcheck", "case.toml"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "misfit")) << o.out;
}

TEST_F(Mt2d, OtherProgramsFilesAreImported) {
  make_soundings();
  for (const char* name : {"F/data.emdata", "F/data.dat"}) {
    const Outcome made = tessera({"import", name, "--output", "imported.toml", "--force"});
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(holds(made.err, "4 stations, 2 frequencies from 10 to 1 Hz")) << made.err;
    EXPECT_TRUE(holds(read("imported.toml"), "responses = [\"te\", \"tm\"]"));
    const Outcome checked = tessera({"check", "imported.toml"});
    EXPECT_EQ(checked.code, 0) << name << checked.err;
    EXPECT_TRUE(holds(checked.out, "32 data of 4 stations over 6 km")) << name << checked.out;
  }
}

TEST_F(Mt2d, BadInputIsNamed) {
  make_soundings();
  const std::string forward =
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nfrequencies.at = [\"1 Hz\"]\n";
  // 5: the configuration, with the line of the key.
  std::string said = refusal("app = \"inversion.mt2d\"\n[data]\nerror_floor = 0.1\n", 5);
  EXPECT_TRUE(holds(said, "E0216")) << said;
  said = refusal("app = \"inversion.mt2d\"\n[data]\nfiles = \"F/data.csv\"\nresponses = [\"tt\"]\n",
                 5);
  EXPECT_TRUE(holds(said, "bad.toml:4:")) << said;
  said = refusal(forward +
                     "stations.at = [\"0 m\"]\n[[section.body]]\nresistivity = \"5 ohm*m\"\npoints "
                     "= [[\"0 m\", \"0 m\"], [\"1 km\", \"1 km\"], [\"1 km\", \"0 m\"], [\"0 m\", "
                     "\"1 km\"]]\n",
                 5);
  EXPECT_TRUE(holds(said, "E0688") &&
              holds(said, "the side from point 1 crosses that from point 3"))
      << said;
  said = refusal(forward + "stations.at = [\"0 m\", \"0 m\"]\n", 5);
  EXPECT_TRUE(holds(said, "E0685")) << said;
  said = refusal(forward + "stations.at = [\"0 m\"]\nsection.file = \"s.poly\"\n", 5);
  EXPECT_TRUE(holds(said, "E0690") && holds(said, "regions of s.poly have no resistivity")) << said;

  // 4: the files.
  ASSERT_EQ(tessera({"new", "inversion.mt1d", "site"}).code, 0);
  said = refusal("app = \"inversion.mt2d\"\ndata.files = \"site/soundings\"\n", 4);
  EXPECT_TRUE(holds(said, "E0683") && holds(said, "data.strike")) << said;
  fs::copy_file(here() / "site/soundings/syn03.edi", here() / "site/soundings/again.edi");
  said = refusal(
      "app = \"inversion.mt2d\"\ndata = {files = \"site/soundings\", strike = \"0 deg\"}\n", 4);
  EXPECT_TRUE(holds(said, "E0685") && holds(said, "stands where")) << said;
  fs::remove(here() / "site/soundings/again.edi");
  write("site/soundings/broken.edi", ">HEAD\nDATAID=\"broken\"\n>FREQ //3\n 1 2\n>END\n");
  said = refusal(
      "app = \"inversion.mt2d\"\ndata = {files = \"site/soundings\", strike = \"0 deg\"}\n", 4);
  EXPECT_TRUE(holds(said, "broken.edi")) << said;
  fs::remove(here() / "site/soundings/broken.edi");
  std::string text = read("site/soundings/syn02.edi");
  for (const std::string key : {"LAT=", "LONG="})
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 4))
      text.replace(at, 3, "AT_");
  write("site/soundings/syn02.edi", text);
  said = refusal(
      "app = \"inversion.mt2d\"\ndata = {files = \"site/soundings\", strike = \"0 deg\"}\n", 4);
  EXPECT_TRUE(holds(said, "E0680") && holds(said, "station syn02 has no place")) << said;

  write("ground.csv", "distance_m,elevation_m\n-5000,0\n0,300\n5000,0\n");
  said = refusal(
      "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n"
      "ground = {shape = \"file\", file = \"ground.csv\"}\n",
      4);
  EXPECT_TRUE(holds(said, "E0684") && holds(said, "is buried")) << said;
  write("ground.csv", "distance_m,elevation_m\n-5000,0\n0,-300\n5000,0\n");
  said = refusal(
      "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n"
      "ground = {shape = \"file\", file = \"ground.csv\"}\n",
      4);
  EXPECT_TRUE(holds(said, "stands in the air")) << said;
  // Stations are 2 km apart: a twentieth of that is taken, and told.
  write("ground.csv", "distance_m,elevation_m\n-5000,90\n5000,90\n");
  write("near.toml",
        "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n"
        "ground = {shape = \"file\", file = \"ground.csv\"}\n");
  const Outcome near = tessera({"check", "near.toml"});
  EXPECT_EQ(near.code, 0) << near.err;
  EXPECT_TRUE(holds(near.out + near.err, "stations stand up to 90 m off the ground of ground.csv"))
      << near.out << near.err;
  write("ground.csv", "distance_m,height\n0,1\n1,2\n");
  said = refusal(
      "app = \"inversion.mt2d\"\ndata.files = \"F/data.csv\"\n"
      "ground = {shape = \"file\", file = \"ground.csv\"}\n",
      4);
  EXPECT_TRUE(holds(said, "E0690")) << said;

  said = refusal(
      "app = \"inversion.mt2d\"\ntask = \"forward\"\nfrequencies.at = [\"1 GHz\", \"1e-4 Hz\"]\n"
      "stations = {first = \"-50 km\", last = \"50 km\", count = 500}\n",
      3);
  EXPECT_TRUE(holds(said, "E0687") && holds(said, "no mesh can be made")) << said;
}

}  // namespace
