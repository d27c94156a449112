// SPDX-License-Identifier: Apache-2.0
// inversion.mt2d with a learnt prior: its section beside the smooth one, chains over its codes,
// priors that do not serve.
#include "csv_columns.h"
#include "mt2d_case.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/section_prior.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

/// A prior of a small network that has learnt nothing, with what held-out sections show of it.
void write_prior(const fs::path& file, bool calibrated, int codes = 4, double aspect = 0) {
  using namespace tessera::inversion;
  SectionPrior p =
      section_prior(tessera::random_key(1),
                    {.section = {8, 16}, .widths = {4, 4}, .codes = codes, .noise = 0.3}, 2, 0.5);
  p.aspect = aspect;
  if (calibrated)
    write_section_prior(
        file, p,
        PriorCalibration{.cell_error = tessera::full({8, 16}, 0.2),
                         .held_out = {tessera::normal(tessera::random_key(2), {3, codes}),
                                      0.2 * tessera::normal(tessera::random_key(3), {3, 8, 16})}});
  else
    write_section_prior(file, p);
}
const char* const with_prior =
    "[prior]\nfile = \"prior.safetensors\"\ndepth = \"2 km\"\ndraws = 2\n";

TEST_F(Mt2d, ASectionOfAPriorStandsBesideTheSmoothOne) {
  make_case(std::string("[static_shift]\nenabled = true\nprior_std = 0.1\n") + with_prior);
  write_prior(here() / "prior.safetensors", true);
  ASSERT_EQ(tessera({"check", "case.toml"}).code, 0);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* name : {"model.csv", "learnt/model.csv", "learnt/data.csv", "learnt/prior.csv",
                           "learnt/results.h5", "learnt/plots/section.png"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  // Pictures anew are those of both sections.
  const auto pictures = [&](const char* of) {
    std::set<fs::path> names;
    for (const auto& entry : fs::directory_iterator(here() / "RUN" / of))
      names.insert(entry.path().filename());
    return names;
  };
  EXPECT_TRUE(fs::exists(here() / "RUN/plots/l_curve.png"));
  EXPECT_FALSE(fs::exists(here() / "RUN/learnt/plots/l_curve.png"));  // its steps have no roughness
  const auto drawn = pictures("learnt/plots");
  fs::remove_all(here() / "RUN/learnt/plots");
  ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(pictures("learnt/plots"), drawn);
  const auto told = csv_table(read("RUN/learnt/prior.csv"));
  // The table of data beside it has the RMS that is told.
  const auto survey = tessera::inversion::read_survey(here() / "RUN/learnt/data.csv");
  EXPECT_NEAR(tessera::inversion::rms_of(survey.data), told.at("rms")[0], 1e-4);
  EXPECT_GT(told.at("from_smooth_decades")[0], 0);
  EXPECT_TRUE(holds(o.err, "with the prior: RMS ")) << o.err;
  for (int k = 1; k <= static_cast<int>(told.at("steps")[0]); ++k)
    EXPECT_TRUE(holds(o.err, fmt::format("with the prior: step {}: RMS ", k))) << o.err;
  EXPECT_EQ(told.at("doubts")[0] > 0, holds(o.err, "prior doubtful: ")) << o.err;
  // Bands hold the section, and are no wider than the codes' and the decoder's error allow.
  const auto cells = csv_table(read("RUN/learnt/model.csv"));
  for (std::size_t k = 0; k < cells.at("cell").size(); ++k) {
    EXPECT_LT(cells.at("q05_ohm_m")[k], cells.at("resistivity_ohm_m")[k]);
    EXPECT_GT(cells.at("q95_ohm_m")[k], cells.at("resistivity_ohm_m")[k]);
  }
}

// Steps of the search with a prior, its starts and those on finer meshes among them, are no more
// than inversion.max_iterations; a search that is cut says so, and so do doubts of it.
TEST_F(Mt2d, ASearchWithAPriorThatIsCutSaysSo) {
  for (const int most : {1, 6}) {
    make_case(std::string(with_prior) + "[inversion]\nmax_iterations = " + std::to_string(most) +
              "\n[posterior]\nmethod = \"none\"\n[output]\npictures = false\n");
    write_prior(here() / "prior.safetensors", true);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--force"});
    ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
    const double steps = csv_table(read("RUN/learnt/prior.csv")).at("steps")[0];
    EXPECT_LE(steps, most);
    const bool cut = holds(o.err, "with the prior: the iteration limit came first");
    EXPECT_TRUE(cut || most == 6) << o.err;
    EXPECT_TRUE(!cut || o.code == 6) << o.err;
    EXPECT_TRUE(!cut || !holds(o.err, "prior doubtful: ") ||
                holds(o.err, "the search was cut at inversion.max_iterations"))
        << o.err;
  }
}

// A search with a prior begins where the smooth section ended, its static shifts too: the tangent
// there is that of the factor that one mode of a station has. That at no shift takes a factor of 10
// for one of 10^3.5 (10^(g/2) is 1 + 1.15 g there), hundreds of errors off.
TEST_F(Mt2d, ASearchWithAPriorBeginsWithTheShiftsThatAreFound) {
  make_case(std::string("form = \"impedance\"\n[static_shift]\nenabled = true\nprior_std = 1\n"
                        "[mesh]\ngrowth = 1.6\ncell_width = \"1 km\"\nerror = 100\n"
                        "[posterior]\nmethod = \"none\"\n[output]\npictures = false\n") +
            with_prior);
  const Outcome f =
      tessera({"run", "forward.toml", "--output", "F", "--force", "--set", "data.form=impedance"});
  ASSERT_EQ(f.code, 0) << f.err;
  auto survey = tessera::inversion::read_survey(here() / "F/data.csv");
  auto& data = survey.data;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data.station[i] == 1 && data.kind[i].element == tessera::inversion::Element::xy)
      data.value[i] *= 10, data.sigma[i] *= 10;
  tessera::inversion::write_survey_csv(here() / "F/data.csv", survey);
  write_prior(here() / "prior.safetensors", true);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
  const std::string key = "with the prior: step 1: RMS ";
  ASSERT_TRUE(holds(o.err, key)) << o.err;
  EXPECT_LT(std::stod(o.err.substr(o.err.find(key) + key.size())), 10) << o.err;
}

// The RMS that is told is the plain one, also where the search goes by Huber's loss.
TEST_F(Mt2d, TheRmsOfAPriorsSectionIsThePlainOne) {
  make_case(std::string("[inversion]\nmisfit = \"huber\"\nhuber_corner = 0.1\nmax_iterations = 2\n"
                        "[mesh]\ngrowth = 1.6\ncell_width = \"1 km\"\nerror = 100\n"
                        "[posterior]\nmethod = \"none\"\n[output]\npictures = false\n") +
            with_prior);
  write_prior(here() / "prior.safetensors", true);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
  const double plain = tessera::inversion::rms_of(
      tessera::inversion::read_survey(here() / "RUN/learnt/data.csv").data);
  EXPECT_NEAR(csv_table(read("RUN/learnt/prior.csv")).at("rms")[0], plain, 1e-9);
  EXPECT_TRUE(
      holds(read("RUN/manifest.json"), fmt::format("\"learnt_rms\": {:.6g}", plain).substr(0, 20)))
      << plain << read("RUN/manifest.json");
}

TEST_F(Mt2d, ASectionOfAPriorIsTheSameAfterAKill) {
  make_case(with_prior);
  write_prior(here() / "prior.safetensors", true);
  expect_same_after_kill("0.01 s");
}

/// A sampling run of a small prior in a coarse mesh; `more` is of [posterior].
void make_sampling(const fs::path& folder, const std::string& more) {
  write_prior(folder / "prior.safetensors", true);
  std::ofstream(folder / "case.toml")
      << "app = \"inversion.mt2d\"\ntask = \"sample\"\n[data]\nfiles = \"F/data.csv\"\n"
      << "[mesh]\ngrowth = 1.5\ncell_width = \"1 km\"\n"
      << "[static_shift]\nenabled = true\nprior_std = 0.1\n"
      << with_prior << "[posterior]\n"
      << more;
}

// A run goes on with the files that it began with, and with no others.
TEST_F(Mt2d, AChangedGroundOrPriorIsRefusedAtResume) {
  const std::string level = "distance_m,elevation_m\n-20000,0\n20000,0\n";
  write("ground.csv", level);
  make_case(std::string("[ground]\nshape = \"file\"\nfile = \"ground.csv\"\n[mesh]\ngrowth = 1.5\n"
                        "cell_width = \"1 km\"\n[inversion]\ntarget_rms = 0.1\n") +
            with_prior);
  const fs::path prior = here() / "prior.safetensors";
  write_prior(prior, true);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--max-time", "1 ns"});
  ASSERT_EQ(o.code, 75) << o.err;
  const auto expect_refused = [&](const char* file) {
    EXPECT_TRUE(holds(read("RUN/manifest.json"), file));
    const Outcome again = tessera({"resume", "RUN"});
    EXPECT_EQ(again.code, 4) << again.err;
    EXPECT_TRUE(holds(again.err, std::string(file) + ": error E0418: has changed")) << again.err;
  };
  write("ground.csv", level + "30000,-500\n");
  expect_refused("ground.csv");
  write("ground.csv", level);
  write_prior(prior, true, 5);
  expect_refused("prior.safetensors");
  write_prior(prior, true);
  EXPECT_EQ(tessera({"resume", "RUN", "--max-time", "1 ns"}).code, 75);
}

TEST_F(Mt2d, KeysOfSmoothSectionsDoNothingInSampling) {
  make_soundings();
  make_sampling(here(),
                "burn_in = 6\nsamples = 14\nchains = 2\nmethod = \"none\"\n"
                "[model]\nreference_resistivity = \"30 ohm*m\"\nsmooth_down = 2\ntear = [{points = "
                "[[\"0 m\", \"0 m\"], [\"0 m\", "
                "\"2 km\"]]}]\n[inversion]\nmethod = \"lbfgs\"\n"
                "target_rms = 2\ndifferences = \"l1\"\nequations = \"data_space\"\n");
  const Outcome o = tessera({"check", "case.toml"});
  ASSERT_EQ(o.code, 0) << o.err;
  for (const char* key :
       {"model.reference_resistivity", "model.smooth_down", "model.tear", "inversion.method",
        "inversion.target_rms", "inversion.differences", "inversion.equations", "posterior.method"})
    EXPECT_TRUE(holds(o.err, std::string(key) + " has no effect with task = \"sample\"")) << key;
}

// Of phases no resistivity can be told: mesh and background are those of the reference, and no
// factor on an impedance changes them, whether the case asks for phases or the table has no others.
TEST_F(Mt2d, KeysThatPhasesAloneNeedOrDoNot) {
  make_soundings();
  make_sampling(here(),
                "burn_in = 6\nsamples = 14\n[model]\nreference_resistivity = \"30 ohm*m\"\n");
  std::istringstream table(read("F/data.csv"));
  std::string phases;
  for (std::string line; std::getline(table, line);)
    if (phases.empty() || holds(line, "phase_")) phases += line + "\n";
  write("phases.csv", phases);
  const auto told = [&](const std::string& set, bool phases_alone) {
    const Outcome o = tessera({"check", "case.toml", "--set", set});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(holds(o.err, "model.reference_resistivity has no effect"), !phases_alone) << o.err;
    EXPECT_EQ(holds(o.err, "static_shift.enabled has no effect"), phases_alone) << o.err;
    EXPECT_EQ(holds(o.out, "at 30 ohm m"), phases_alone) << o.out;
  };
  told("data.form=\"impedance\"", false);
  told("data.form=\"phase\"", true);
  told("data.files=\"phases.csv\"", true);
}

TEST_F(Mt2d, SamplesTheCodesOfAPrior) {
  make_soundings();
  make_sampling(here(), "burn_in = 6\nsamples = 14\nchains = 2\n");
  const Outcome checked = tessera({"check", "case.toml"});
  ASSERT_EQ(checked.code, 0) << checked.err;
  const Outcome estimated = tessera({"estimate", "case.toml"});
  EXPECT_TRUE(holds(estimated.out, "gradients (2 chains of 20 steps")) << estimated.out;
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--threads", "1"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "R-hat is at most ")) << o.err;
  EXPECT_TRUE(holds(o.err, "28 draws of 2 chains by ")) << o.err;
  for (const char* name : {"model.csv", "model.vtu", "mixing.csv", "chains.csv", "metrics.csv",
                           "results.h5", "plots/chains.png", "plots/section.png"})
    EXPECT_TRUE(fs::exists(here() / "RUN" / name)) << name;
  expect_files_known("RUN");

  // Quantiles are in order and hold the mean's spread; the prior's own (its error is 0.2 decades)
  // is not exceeded much where data say nothing.
  const auto cells = csv_table(read("RUN/model.csv"));
  for (std::size_t k = 0; k < cells.at("cell").size(); ++k) {
    const auto at = [&](const char* column) { return cells.at(column)[k]; };
    EXPECT_LT(at("q05_ohm_m"), at("q25_ohm_m"));
    EXPECT_LT(at("q25_ohm_m"), at("q50_ohm_m"));
    EXPECT_LT(at("q50_ohm_m"), at("q75_ohm_m"));
    EXPECT_LT(at("q75_ohm_m"), at("q95_ohm_m"));
    EXPECT_LT(at("q05_ohm_m"), at("resistivity_ohm_m"));
    EXPECT_GT(at("q95_ohm_m"), at("resistivity_ohm_m"));
    EXPECT_GT(at("std_decades"), 0.01);
    EXPECT_LT(at("std_decades"), 1);
    EXPECT_GE(at("r_hat"), std::sqrt(6 / 7.0));  // the least of half chains of seven draws
  }
  // The table of numbers is that of the draws in results.h5, and the log's worst R-hat is in it.
  const std::string mixing = read("RUN/mixing.csv");
  for (const char* name : {"code 0,", "code 3,", "shift te ", "shift tm ", "log density,", "rms,"})
    EXPECT_TRUE(holds(mixing, name)) << mixing;
  const std::string figure = read("RUN/plots/chains.csv");
  fs::remove(here() / "RUN/plots/chains.csv");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/chains.csv"), figure);

  // On two threads chains go side by side, to the same bytes.
  const Outcome two = tessera({"run", "case.toml", "--output", "TWO", "--threads", "2"});
  ASSERT_EQ(two.code, 0) << two.err;
  expect_same_results("TWO", "RUN");
}

// A kill in the warm-up, and one after it: the first checkpoint decides.
TEST_F(Mt2d, ASamplerIsTheSameAfterAKill) {
  make_soundings();
  make_sampling(here(), "burn_in = 10\nsamples = 10\nchains = 2\n");
  expect_same_after_kill("0.01 s");
}

TEST_F(Mt2d, OneChainOneDrawNoWarmUp) {
  make_soundings();
  make_sampling(here(), "burn_in = 0\nsamples = 10\nkeep_every = 10\nchains = 1\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "1 draws of a chain are too few to say")) << o.err;
  EXPECT_TRUE(fs::exists(here() / "RUN/plots/chains.png"));
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
}

TEST_F(Mt2d, SamplesOfOneStationAndOneFrequencyAreThoseOfThePrior) {
  write("f.toml",
        "app = \"inversion.mt2d\"\ntask = \"forward\"\nsection.resistivity = \"100 ohm*m\"\n"
        "stations.at = [\"0 m\"]\nfrequencies.at = [\"1 Hz\"]\noutput.pictures = false\n");
  ASSERT_EQ(tessera({"run", "f.toml", "--output", "F"}).code, 0);
  write_prior(here() / "prior.safetensors", true, 1);
  write("case.toml",
        std::string("app = \"inversion.mt2d\"\ntask = \"sample\"\ndata.files = \"F/data.csv\"\n") +
            with_prior + "left = \"-1 km\"\nright = \"1 km\"\n" +
            "[posterior]\nburn_in = 10\nsamples = 20\nchains = 2\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(read("RUN/mixing.csv"), "code 0,"));
  EXPECT_FALSE(holds(read("RUN/mixing.csv"), "code 1,"));
}

TEST_F(Mt2d, SamplingNeedsAPrior) {
  make_soundings();
  const std::string base =
      "app = \"inversion.mt2d\"\ntask = \"sample\"\n[data]\nfiles = \"F/data.csv\"\n";
  std::string said = refusal(base, 5);
  EXPECT_TRUE(holds(said, "bad.toml:2:") && holds(said, "E0689") &&
              holds(said, "chains walk over the codes of a learnt prior, and there is none") &&
              holds(said, "posterior.method = \"laplace\""))
      << said;
  write_prior(here() / "prior.safetensors", true);
  said = refusal(base + with_prior + "[posterior]\nsamples = 10\nkeep_every = 20\n", 5);
  EXPECT_TRUE(holds(said, "E0608")) << said;
  said = refusal(base + with_prior +
                     "[[model.fixed]]\npoints = [[\"0 m\", \"0 m\"], [\"1 km\", \"0 m\"], "
                     "[\"0 m\", \"1 km\"]]\nresistivity = \"7 ohm*m\"\n",
                 5);
  EXPECT_TRUE(holds(said, "E0689") && holds(said, "cells that are known")) << said;
  // An expectation that chains so short do not meet.
  make_sampling(here(), "burn_in = 0\nsamples = 10\nchains = 2\n[expect]\nr_hat_max = 1.0001\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 6) << o.err;
  EXPECT_TRUE(holds(o.err, "the case expects an R-hat of at most 1.0001")) << o.err;
  EXPECT_TRUE(holds(o.err, "chains have ")) << o.err;
}

TEST_F(Mt2d, PriorsThatDoNotServeAreNamed) {
  make_case();
  const std::string base = "app = \"inversion.mt2d\"\n[data]\nfiles = \"F/data.csv\"\n";
  write_prior(here() / "prior.safetensors", false);
  EXPECT_TRUE(holds(refusal(base + with_prior, 4), "E0694"));
  write_prior(here() / "prior.safetensors", true);
  EXPECT_TRUE(holds(refusal(base + "[prior]\nfile = \"prior.safetensors\"\n", 5), "E0689"));
  EXPECT_TRUE(holds(refusal(base +
                                "[model]\nleast_resistivity = \"1 ohm*m\"\n"
                                "greatest_resistivity = \"1000 ohm*m\"\n" +
                                with_prior,
                            5),
                    "E0689"));
  EXPECT_TRUE(
      holds(refusal(base + with_prior + "left = \"5 km\"\nright = \"4 km\"\n", 4), "E0694"));
  EXPECT_TRUE(
      holds(refusal(base + with_prior + "left = \"9000 km\"\nright = \"9001 km\"\nfade = 0.1\n", 4),
            "E0694"));
  const std::string deep =
      refusal(base +
                  "[prior]\nfile = \"prior.safetensors\"\nleft = \"-1 km\"\nright = \"1 km\"\n"
                  "top = \"9000 km\"\ndepth = \"9001 km\"\nfade = 0.1\n",
              4);
  EXPECT_TRUE(holds(deep, "E0694") && holds(deep, "top = \"9000 km\"")) << deep;
  EXPECT_TRUE(holds(refusal(base + "[prior]\nfile = \"F/data.csv\"\ndepth = \"2 km\"\n", 4), "E0"));
  // Shapes of regions: 4 km by 2 km within a quarter.
  const std::string four = base + with_prior + "left = \"1 km\"\nright = \"5 km\"\n";
  write_prior(here() / "prior.safetensors", true, 4, 10);
  const std::string other = refusal(four, 4);
  EXPECT_TRUE(holds(other, "E0694") && holds(other, " 2 times as wide as deep") &&
              holds(other, " are 10 times"))
      << other;
  write_prior(here() / "prior.safetensors", true, 4, 2.3);
  write("alike.toml", four);
  Outcome o = tessera({"check", "alike.toml"});
  EXPECT_EQ(o.code, 0);
  EXPECT_FALSE(holds(o.err, "E0696")) << o.err;  // half of it lies between the stations
  o = tessera({"check", "alike.toml", "--set", "prior.left=2 km", "--set", "prior.right=6 km"});
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(holds(o.err, "E0696") && holds(o.err, "from -3000 to 3000 m")) << o.err;
}

// Beside a slope of 15 km rows of a mesh 20.5 km deep are 1.7 times as high below stations: the
// uppermost points of cells, 39 m deep in a flat mesh, are 67 m below the ground.
TEST_F(Mt2d, ARegionOfAPriorIsAsDeepBelowTheGroundAsItSays) {
  make_case();
  write_prior(here() / "prior.safetensors", true);
  write("slope.csv", "distance_m,elevation_m\n-1e5,0\n5000,0\n15000,-15000\n1e5,-15000\n");
  const auto region = [](const char* ground, const char* depth) {
    return std::string("app = \"inversion.mt2d\"\n[data]\nfiles = \"F/data.csv\"\n[ground]\n") +
           ground + "[prior]\nfile = \"prior.safetensors\"\nfade = 0.01\ndepth = " + depth + "\n";
  };
  const char *flat = "shape = \"flat\"\n", *slope = "shape = \"file\"\nfile = \"slope.csv\"\n";
  for (const std::string& there : {region(flat, "\"50 m\""), region(slope, "\"100 m\"")}) {
    write("case.toml", there);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << there << o.err;
  }
  for (const std::string& none : {region(flat, "\"30 m\""), region(slope, "\"50 m\"")}) {
    write("case.toml", none);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_TRUE(o.code == 4 && holds(o.err, "E0694")) << none << o.err;
  }
}

// Errors that are a hundredth of what they should be: bands of both sections know it.
TEST_F(Mt2d, BandsOfAPriorTakeErrorsAsLargeAsItsMisfit) {
  make_case(std::string(with_prior) +
            "[inversion]\nmax_iterations = 8\n[output]\npictures = false\n");
  auto survey = tessera::inversion::read_survey(here() / "F/data.csv");
  for (double& sigma : survey.data.sigma) sigma /= 100;
  tessera::inversion::write_survey_csv(here() / "F/data.csv", survey);
  write_prior(here() / "prior.safetensors", true);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
  const double rms = csv_table(read("RUN/learnt/prior.csv")).at("rms")[0];
  ASSERT_GT(rms, 2) << "this shows nothing";
  EXPECT_TRUE(holds(o.err, fmt::format("with the prior: bands take errors {:.3g} times the stated "
                                       "ones, as large as the misfit",
                                       rms)))
      << o.err;
}

// Half of one station's phases are far off: Occam's target is that of Huber's loss, and said to be.
TEST_F(Mt2d, TheTargetOfHubersLossIsNotThePlainRms) {
  make_case(
      "[inversion]\nmisfit = \"huber\"\n[output]\npictures = false\n[posterior]\nmethod = "
      "\"none\"\n");
  auto survey = tessera::inversion::read_survey(here() / "F/data.csv");
  for (std::size_t i = 0; i < survey.data.size(); ++i)
    if (survey.data.kind[i].part == tessera::inversion::Part::phase && survey.data.station[i] == 1)
      survey.data.value[i] += 15;
  tessera::inversion::write_survey_csv(here() / "F/data.csv", survey);
  const Outcome o = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_TRUE(o.code == 0 || o.code == 6) << o.err;
  const double rms =
      tessera::inversion::rms_of(tessera::inversion::read_survey(here() / "RUN/data.csv").data);
  EXPECT_GT(rms, 1.05);
  EXPECT_TRUE(holds(o.err, fmt::format("RMS {:.3f} over all", rms))) << o.err;
  EXPECT_TRUE(holds(o.err, "of Huber's loss, which inversion.target_rms is of")) << o.err;
  EXPECT_TRUE(holds(read("RUN/manifest.json"), "loss_rms"));
}

}  // namespace
