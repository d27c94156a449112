// SPDX-License-Identifier: Apache-2.0
// electromagnetics.inverse_scattering as its users meet it.
#include "app_test.h"
#include "csv_columns.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class InverseScattering : public AppTest {};

/// A square of permittivity 2.5 amid a known one of 1.5, 64 unknown cells.
const char* const kSquare = R"(app = "electromagnetics.inverse_scattering"
grid = {size = ["0.44 m", "0.4 m", "0 m"], cell = "1 cm", polarization = "Ez", background = "soil"}
run = {precision = "f64", stop.time = "4 ns"}
boundary = {pml.cells = 8}
receivers = {positions = [["-0.08 m", "-0.07 m", "0 m"], ["-0.08 m", "0.083 m", "0 m"], ["0.09 m", "-0.08 m", "0 m"], ["0.09 m", "0.08 m", "0 m"]]}
region = {low = ["-4 cm", "-4 cm", "0 m"], high = ["4 cm", "4 cm", "0 m"], start = 1.5, least = 1}
optimize = {iterations = 12}
[[material]]
name = "soil"
eps = 1.5
[[material]]
name = "stone"
eps = 2.5
[[truth]]
shape = "box"
centre = ["1 cm", "0 m", "0 m"]
size = ["3 cm", "4 cm", "inf"]
material = "stone"
[[source]]
kind = "point"
component = "Ez"
position = ["-0.1 m", "0 m", "0 m"]
amplitude = 1e-4
waveform = {kind = "baseband", width = "0.2 ns"}
[[source]]
kind = "point"
component = "Ez"
position = ["0 m", "0.1 m", "0 m"]
amplitude = 1e-4
waveform = {kind = "baseband", width = "0.2 ns"}
)";

TEST_F(InverseScattering, DerivativesVerify) {
  write("case.toml", kSquare);
  const Outcome o = tessera({"gradcheck", "case.toml", "-q", "--set", "run.precision=\"f32\"",
                             "--set", "run.stop.time=2 ns"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "loss       permittivity")) << o.out;
  EXPECT_TRUE(holds(o.out, "(electromagnetics.inverse_scattering, 2 checks)")) << o.out;
}

TEST_F(InverseScattering, ASquareIsFoundAndDrawn) {
  write("case.toml", kSquare);
  EXPECT_TRUE(
      holds(tessera({"check", "case.toml"}).out, "64 unknown cells, 2 sources, 4 receivers"));
  EXPECT_EQ(tessera({"estimate", "case.toml"}).code, 0);
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN", "--set",
                               "expect.misfit_max=1e-3", "--set", "expect.psnr_min=22"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto rows = csv_rows(read("RUN/metrics.csv"));
  ASSERT_EQ(rows.size(), 13u);
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_LT(rows[i][1], rows[i - 1][1]);  // a line search never goes up
  EXPECT_TRUE(holds(tessera({"info", "RUN"}).out, "psnr_db"));
  const std::string picture = read("RUN/plots/permittivity.png");
  // The true square is outlined over both maps.
  const std::string drawn = read("RUN/plots/permittivity.svg"),
                    stroke = "stroke=\"#ffffff\" stroke-width=\"0.5\"";
  const std::size_t over_truth = drawn.find(stroke);
  ASSERT_NE(over_truth, std::string::npos);
  EXPECT_NE(drawn.find(stroke, over_truth + 1), std::string::npos);
  EXPECT_TRUE(holds(read("RUN/plots/scene.svg"), "receivers"));
  EXPECT_TRUE(fs::exists(here() / "RUN/plots/scene.png"));
  fs::remove(here() / "RUN/plots/permittivity.png");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/permittivity.png"), picture);
  // An expectation that is not met.
  EXPECT_EQ(tessera({"run", "case.toml", "--output", "R2", "--set", "optimize.iterations=1",
                     "--set", "expect.ssim_min=0.99", "--set", "output.scene=false"})
                .code,
            6);
  EXPECT_FALSE(fs::exists(here() / "R2/plots/scene.png"));
}

TEST_F(InverseScattering, ARateThatNothingTakesIsSaid) {
  write("case.toml", kSquare);
  const auto check = [&](const std::string& setting) {
    const Outcome o =
        tessera({"check", "case.toml", "--set", setting, "--set", "optimize.rate=0.2"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_TRUE(holds(check("optimize.method=\"lbfgs\""),
                    "warning E0650: optimize.rate has no effect with method = \"lbfgs\""));
  EXPECT_FALSE(holds(check("optimize.method=\"adam\""), "E0650"));
}

/// What lies outside of the region is not sought, what is known within is not used.
TEST_F(InverseScattering, BodiesBeyondTheRegionAndKnownOnesWithinAreDoubted) {
  write("case.toml", kSquare);
  const auto check = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> words{"check", "case.toml"};
    for (const std::string& s : settings) words.insert(words.end(), {"--set", s});
    const Outcome o = tessera(words);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  EXPECT_FALSE(holds(check({}), "E0650"));
  // Cells from 3.5 cm to 6.5 cm: 2.5 columns of 4 lie beyond 4 cm, one of them by half.
  EXPECT_TRUE(holds(check({"truth[0].centre=[\"5 cm\", \"0 m\", \"0 m\"]"}),
                    "E0650: the truth is not what is known in 12 cells outside of the region"));
  const auto disc = [](const std::string& radius) {
    return "truth=[{shape = \"cylinder\", centre = [\"2 cm\", \"0 m\", \"0 m\"], radius = \"" +
           radius + "\", height = \"inf\", material = \"stone\"}]";
  };
  EXPECT_FALSE(holds(check({disc("2 cm")}), "E0650"));  // touches its rim
  EXPECT_TRUE(holds(check({disc("2.5 cm")}), "cells outside of the region"));
  EXPECT_TRUE(holds(check({"material[1].eps=1.5"}), "E0650: the truth is of one permittivity"));
  const std::string known =
      "structure=[{shape = \"box\", low = [\"-4 cm\", \"-4 cm\", \"-inf\"], high = [\"-2 cm\", "
      "\"4 cm\", \"inf\"], material = \"stone\"}]";
  EXPECT_TRUE(holds(check({known}), "E0650: known bodies reach into 16 cells of the region"));
  EXPECT_FALSE(holds(check({known, "region.start=2.5"}), "known bodies reach"));
}

/// A descent that begins, and may end, with nothing in the region is a result and is drawn.
TEST_F(InverseScattering, AnEmptyMapIsDrawn) {
  std::string text = kSquare;
  text.replace(text.find("eps = 1.5"), 9, "eps = 1");
  text.replace(text.find("start = 1.5"), 11, "start = 1");
  write("case.toml", text);
  const std::string few = "optimize.iterations=0";
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "made", "--set", few}).code, 0);
  text.erase(text.find("[[truth]]"), text.find("[[source]]") - text.find("[[truth]]"));
  write("empty.toml", text);
  const Outcome run = tessera({"run", "empty.toml", "--output", "RUN", "--set", few, "--set",
                               "data.file=\"made/tables/measured.csv\""});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(fs::exists(here() / "RUN/plots/permittivity.png"));
}

TEST_F(InverseScattering, FilesOfDataAreTheDataThatWereWritten) {
  write("case.toml", kSquare);
  const std::string few = "optimize.iterations=0";
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "made", "--set", few}).code, 0);
  for (const char* file : {"made/tables/measured.csv", "made/results.h5"}) {
    const Outcome read_back = tessera({"run", "case.toml", "--output", "read", "--force", "--set",
                                       few, "--set", std::string("data.file=\"") + file + "\""});
    ASSERT_EQ(read_back.code, 0) << read_back.err;
    EXPECT_NEAR(csv_rows(read("read/metrics.csv"))[0][1], csv_rows(read("made/metrics.csv"))[0][1],
                1e-12)
        << file;
  }
  // Lines between each tenth of the rows are no waves.
  std::string table = read("made/tables/measured.csv"), coarse;
  for (std::size_t at = 0, row = 0, end; at < table.size(); at = end, ++row) {
    end = table.find('\n', at) + 1;
    if (row % 10 <= 1) coarse += table.substr(at, row % 10 == 1 || row == 0 ? end - at : 0);
  }
  write("coarse.csv", coarse);
  const auto spacing = [&](const char* file) {
    return holds(tessera({"check", "case.toml", "--set", "run.stop.time=\"3 ns\"", "--set",
                          std::string("data.file=\"") + file + "\""})
                     .err,
                 "rows of the data are");
  };
  EXPECT_TRUE(spacing("coarse.csv"));
  EXPECT_FALSE(spacing("made/tables/measured.csv"));
  // Less than a step short, as data of another step may be: the run ends where they do.
  const auto cut = [&] { table.erase(table.find_last_of('\n', table.size() - 2) + 1); };
  const auto short_by_one_more = [&] {
    cut();
    write("short.csv", table);
    return tessera({"run", "case.toml", "--output", "short", "--force", "--set", few, "--set",
                    "data.file=\"short.csv\""});
  };
  const Outcome by_one = short_by_one_more();
  ASSERT_EQ(by_one.code, 0) << by_one.err;
  EXPECT_EQ(csv_rows(read("short/tables/measured.csv")), csv_rows(table));
  EXPECT_NEAR(csv_rows(read("short/metrics.csv"))[0][1], csv_rows(read("made/metrics.csv"))[0][1],
              1e-3);
  const Outcome by_two = short_by_one_more();
  EXPECT_EQ(by_two.code, 4) << by_two.err;
  EXPECT_TRUE(holds(by_two.err, "the data reach from")) << by_two.err;
  // Squares of fields that overflow are no misfit, and there is nothing to descend from.
  const Outcome beyond =
      tessera({"run", "case.toml", "--output", "beyond", "--set", "source[0].amplitude=1e200",
               "--set", "data.file=\"made/tables/measured.csv\""});
  EXPECT_EQ(beyond.code, 7) << beyond.err;
  EXPECT_TRUE(holds(beyond.err, "the misfit is not finite at iteration 0")) << beyond.err;
  // Without its header a table would lose its first time.
  table = read("made/tables/measured.csv");
  write("bare.csv", table.substr(table.find('\n') + 1));
  const Outcome bare = tessera(
      {"run", "case.toml", "--output", "bare", "--set", few, "--set", "data.file=\"bare.csv\""});
  EXPECT_EQ(bare.code, 4) << bare.err;
  EXPECT_TRUE(holds(bare.err, "bare.csv:1:1: error E0651: the first line has numbers")) << bare.err;
  // Noise of a tenth leaves a misfit of 0.01/1.01 more or less at the truth; here it is only
  // another number, the same each time.
  const auto noisy = [&](const std::string& name, const std::string& seed) {
    EXPECT_EQ(tessera({"run", "case.toml", "--output", name, "--set", few, "--set",
                       "data.noise=0.1", "--set", "data.seed=" + seed})
                  .code,
              0);
    return csv_rows(read(name + "/metrics.csv"))[0][1];
  };
  const double once = noisy("n1", "1");
  EXPECT_EQ(noisy("n2", "1"), once);
  EXPECT_NE(noisy("n3", "2"), once);
}

/// Of a magnetic component the first value is half a step old, of an electric one a whole step; at
/// these times the data of a file are taken.
TEST_F(InverseScattering, DataOfHLieHalfAStepBeforeThoseOfE) {
  write("case.toml", kSquare);
  const std::string few = "optimize.iterations=0";
  for (const auto& [component, age] : {std::pair{"Ez", 1.0}, {"Hx", 0.5}}) {
    const std::string name = component, of = "receivers.component=\"" + name + "\"";
    ASSERT_EQ(tessera({"run", "case.toml", "--output", name, "--set", few, "--set", of}).code, 0);
    int fields = 0;
    for (const auto& [path, array] : tessera::data::read_h5(here() / name / "results.h5"))
      if (path.ends_with("data/measured") || path.ends_with("data/predicted")) {
        EXPECT_EQ(array.attributes.units, name == "Ez" ? "V/m" : "A/m") << path;
        ++fields;
      }
    EXPECT_EQ(fields, 2);
    const auto rows = csv_rows(read(name + "/tables/measured.csv"));
    ASSERT_GT(rows.size(), 2u);
    EXPECT_NEAR(rows[0][0] / (rows[1][0] - rows[0][0]), age, 1e-6) << name;
    const Outcome again =
        tessera({"run", "case.toml", "--output", "again", "--force", "--set", few, "--set", of,
                 "--set", "data.file=\"" + name + "/tables/measured.csv\""});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_NEAR(csv_rows(read("again/metrics.csv"))[0][1],
                csv_rows(read(name + "/metrics.csv"))[0][1], 1e-12)
        << name;
  }
}

/// A field at a receiver is compared with the data of the same instant: where the region begins as
/// the truth is, nothing is left, whatever the truth's own limit of the time step. The fill lies on
/// lines of the grid, and the descent steps as the run that made the data does.
TEST_F(InverseScattering, ATruthOfAnotherSpeedIsSeenAtTheSameTimes) {
  std::string text = kSquare;
  const auto change = [&](const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
  };
  change("eps = 1.5", "eps = 4");
  change("start = 1.5", "start = 1");
  change("centre = [\"1 cm\"", "centre = [\"0 m\"");
  change("size = [\"3 cm\", \"4 cm\"", "size = [\"8 cm\", \"8 cm\"");
  change("material = \"stone\"", "material = \"vacuum\"");
  write("case.toml", text);
  const Outcome o =
      tessera({"run", "case.toml", "--output", "RUN", "--set", "optimize.iterations=0"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_LT(csv_rows(read("RUN/metrics.csv"))[0][1], 1e-18);  // rounding, squared
}

/// Edges at the rim of the region are means of what is in it and what is known beside it: where a
/// known body stands against the region and that begins as the truth is, nothing is left.
TEST_F(InverseScattering, AKnownBodyMayStandAgainstTheRegion) {
  std::string text = kSquare;
  const auto change = [&](const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
  };
  change("start = 1.5", "start = 2.5");
  change("centre = [\"1 cm\"", "centre = [\"0 m\"");
  change("size = [\"3 cm\", \"4 cm\"", "size = [\"8 cm\", \"8 cm\"");
  write("case.toml", text + R"([[material]]
name = "wall"
eps = 4
[[structure]]
shape = "box"
low = ["4 cm", "-4 cm", "-inf"]
high = ["8 cm", "4 cm", "inf"]
material = "wall"
)");
  const Outcome o =
      tessera({"run", "case.toml", "--output", "RUN", "--set", "optimize.iterations=0"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_LT(csv_rows(read("RUN/metrics.csv"))[0][1], 1e-18);  // rounding, squared
  // Within the truth it is doubted, as in any scene.
  EXPECT_FALSE(holds(tessera({"check", "case.toml"}).err, "E0645"));
  const Outcome within =
      tessera({"check", "case.toml", "--set", "structure[0].low=[\"3 cm\", \"-4 cm\", \"-inf\"]"});
  EXPECT_EQ(within.code, 0) << within.err;
  EXPECT_TRUE(holds(within.err, "case.toml:14:1: warning E0645")) << within.err;
}

/// Cells count by the shortest wavelength of both scenes: the map and the truth have the same ones.
TEST_F(InverseScattering, CellsPerWavelengthCountInTheTruthToo) {
  std::string text = kSquare;
  const std::string cell = "cell = \"1 cm\"";
  text.replace(text.find(cell), cell.size(),
               "cells_per_wavelength = 20, frequency_max = \"1 GHz\"");
  write("case.toml", text);
  const Outcome o =
      tessera({"run", "case.toml", "--output", "RUN", "--set", "optimize.iterations=0"});
  ASSERT_EQ(o.code, 0) << o.err;
  std::vector<std::uint64_t> map, truth;
  for (const auto& [path, array] : tessera::data::read_h5(here() / "RUN" / "results.h5")) {
    if (path.ends_with("model/permittivity")) map = array.shape;
    if (path.ends_with("model/truth")) truth = array.shape;
  }
  ASSERT_EQ(map.size(), 3u);
  EXPECT_EQ(map, truth);
  EXPECT_GE(map[2], 46u);  // 0.44 m in twentieths of 0.3 m/sqrt(2.5), that of stone
}

/// Pixels of density 0 are a box of what is said to be between them, the fastest of all media too.
TEST_F(InverseScattering, EmptyPixelsOfTheTruthCountInItsSteps) {
  std::string box = kSquare;
  box.replace(box.find("start = 1.5, least = 1"), 22, "start = 1.5, least = 1.5");
  box.replace(box.find("material = \"stone\""), 18, "material = \"vacuum\"");
  std::string pixels = box;
  const std::size_t at = pixels.find("shape = \"box\""), end = pixels.find("[[source]]");
  pixels.replace(at, end - at,
                 "shape = \"pixels\"\nlow = [\"-0.5 cm\", \"-2 cm\", \"0 m\"]\n"
                 "high = [\"2.5 cm\", \"2 cm\", \"1 m\"]\nfile = \"none.csv\"\n"
                 "axes = [\"x\", \"y\"]\nmaterial = \"soil\"\nempty = \"vacuum\"\n");
  write("none.csv", "0,0,0\n0,0,0\n0,0,0\n0,0,0\n");
  const auto measured = [&](const std::string& text, const std::string& name) {
    write(name + ".toml", text);
    const Outcome o = tessera({"run", name + ".toml", "--output", name, "--set",
                               "optimize.iterations=0", "--set", "output.scene=false"});
    EXPECT_EQ(o.code, 0) << o.err;
    return read(name + "/tables/measured.csv");
  };
  EXPECT_EQ(measured(box, "box"), measured(pixels, "pixels"));
}

/// Permittivities pass `least` by 0.01, and the limit of 2-D, cell/(c sqrt 2) sqrt(eps), is 23.587
/// ps for 1 and 23.468 ps for 0.99.
TEST_F(InverseScattering, StepsAreStableForAllThatTheRegionMayHave) {
  write("case.toml", kSquare);
  const auto with = [&](const char* key) { return tessera({"check", "case.toml", "--set", key}); };
  const Outcome above = with("run.dt=23.5 ps"), below = with("run.dt=23.4 ps"),
                whole = with("run.courant=1");
  EXPECT_EQ(above.code, 5) << above.out;
  EXPECT_TRUE(holds(above.err, "above the stability limit of 2.3468")) << above.err;
  EXPECT_EQ(below.code, 0) << below.err;
  EXPECT_EQ(whole.code, 5) << whole.out;
  EXPECT_TRUE(holds(whole.err, "run.courant of 0.994 at most")) << whole.err;
}

TEST_F(InverseScattering, LayersAreDoubtedAndMemoryIsCounted) {
  write("case.toml", kSquare);
  const auto check = [&](const std::string& setting) {
    return tessera({"check", "case.toml", "--set", setting});
  };
  const Outcome clear = check("run.stop.steps=100");
  EXPECT_FALSE(holds(clear.err, "E0652")) << clear.err;
  const Outcome inside = check("receivers.positions=[[\"-0.2 m\", \"0 m\", \"0 m\"]]");
  EXPECT_EQ(inside.code, 0) << inside.err;
  EXPECT_TRUE(
      holds(inside.err, "warning E0652: the receiver lies inside the absorbing layer across x"))
      << inside.err;
  const Outcome wide = check("region.low=[\"-4 cm\", \"-15 cm\", \"0 m\"]");
  EXPECT_TRUE(holds(wide.err, "E0652: the region reaches into the absorbing layer across y"))
      << wide.err;
  const Outcome large = check("run.stop.time=\"1 s\"");
  EXPECT_EQ(large.code, 3) << large.err;
  EXPECT_TRUE(holds(large.err, "E0655") && holds(large.err, "at the receivers need")) << large.err;
}

TEST_F(InverseScattering, KilledAndResumedItIsTheSameOnAnyNumberOfThreads) {
  write("case.toml", kSquare);
  expect_same_after_kill("0.02 s");
}

TEST_F(InverseScattering, AnEditedCaseIsNotGoneOnWith) {
  write("case.toml", kSquare);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--max-time", "10 ms"}).code, 75);
  expect_edit_refused("RUN", "\nsmoothness = 0", "\nsmoothness = 1", "optimize.smoothness=1");
}

TEST_F(InverseScattering, ALongerDescentIsADescentOfThatLength) {
  write("case.toml", kSquare);
  expect_same_after_extension("optimize.iterations=4", "optimize.iterations=8");
  const Outcome o = tessera({"resume", "longer", "--set", "optimize.iterations=5"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "error E0436: the descent is at iteration 8 already, past 5")) << o.err;
  const Outcome until = tessera({"resume", "longer", "--set", "optimize.until=1e9"});
  EXPECT_EQ(until.code, 5);
  EXPECT_TRUE(holds(until.err, "error E0436: the misfit was ")) << until.err;
}

// Older builds numbered what the optimizer remembers: slot/0, slot/1, ...
TEST_F(InverseScattering, ADescentGoesOnFromACheckpointOfAnOlderBuild) {
  const auto numbered = [](const std::string& name, int n) {
    std::vector<std::string> all;
    for (int k = 0; k < n; ++k) all.push_back("optimizer/" + name + "/" + std::to_string(k));
    return all;
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> methods = {
      {"adam", numbered("first_moment", 1)}, {"lbfgs", numbered("s", 10)}};
  for (auto [method, names] : methods) {
    const auto more = [&](const std::string& name, int n) {
      for (const std::string& s : numbered(name, n)) names.push_back(s);
    };
    if (method == "adam")
      more("second_moment", 1);
    else
      more("y", 10), more("x", 1), more("g", 1);
    std::string text = kSquare;
    text.replace(text.find("optimize = {"), 12, "optimize = {method = \"" + method + "\", ");
    write("case.toml", text);
    const std::string first = "optimize.iterations=3", last = "optimize.iterations=6";
    ASSERT_EQ(
        tessera({"run", "case.toml", "--output", method + "_on", "--threads", "1", "--set", first})
            .code,
        0);
    ASSERT_EQ(
        tessera({"run", "case.toml", "--output", method, "--threads", "1", "--set", last}).code, 0);
    const fs::path folder = here() / (method + "_on") / "ckpt";
    auto found = tessera::data::load_newest_checkpoint(folder);
    ASSERT_TRUE(found);
    tessera::data::Checkpoint& c = found->checkpoint;
    c.put("slots", static_cast<std::uint64_t>(names.size()));
    for (std::size_t k = 0; k < names.size(); ++k) {
      auto entry = c.values.extract(names[k]);
      ASSERT_TRUE(entry) << names[k];
      entry.key() = "slot/" + std::to_string(k);
      c.values.insert(std::move(entry));
    }
    tessera::data::write_checkpoint(folder, c, 3);
    const Outcome o = tessera({"resume", method + "_on", "--threads", "1", "--set", last});
    ASSERT_EQ(o.code, 0) << o.err;
    expect_same_results(method + "_on", method);
  }
}

TEST_F(InverseScattering, EdgesOfARegionOnMiddlesTakeTheirCells) {
  write("case.toml", kSquare);
  const auto cells = [&](const char* low, const char* high) {
    const Outcome o =
        tessera({"check", "case.toml", "--set",
                 std::string("region.low=[\"") + low + "\", \"-4 cm\", \"0 m\"]", "--set",
                 std::string("region.high=[\"") + high + "\", \"4 cm\", \"0 m\"]"});
    EXPECT_EQ(o.code, 0) << o.err;
    const auto at = o.out.find("unknown");
    EXPECT_TRUE(at != std::string::npos && at >= 4) << o.out;
    return at == std::string::npos ? std::string() : o.out.substr(at - 4, 4);
  };
  EXPECT_EQ(cells("-4.5 cm", "3.5 cm"), cells("-3.5 cm", "4.5 cm"));
}

TEST_F(InverseScattering, WhatCannotBeInvertedIsRefused) {
  write("case.toml", kSquare);
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& message) {
    std::string text = kSquare;
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
    write("bad.toml", text);
    const Outcome out = tessera({"run", "bad.toml", "--output", "bad", "--force"});
    EXPECT_TRUE(out.code == 5 || out.code == 4) << out.err;
    EXPECT_TRUE(holds(out.err, message)) << out.err;
  };
  refused("stop.time = \"4 ns\"", "stop.decay_db = 40", "the run ends by time or steps");
  refused("eps = 1.5", "eps = 1.5\nsigma = \"0.1 S/m\"", "lossy");
  refused("low = [\"-4 cm\"", "low = [\"-0.4 m\"", "leaves the domain");
  refused("low = [\"-4 cm\", \"-4 cm\"", "low = [\"4 cm\", \"-4 cm\"", "region.low is not below");
  refused("\"-0.08 m\", \"-0.07 m\"", "\"-0.8 m\", \"-0.07 m\"", "leaves the domain");
  refused("stop.time = \"4 ns\"", "stop.steps = 3", "the data are zero");
  refused("material = \"stone\"", "material = \"stonee\"",
          "bad.toml:18:1: error E0625: there is no medium 'stonee'");
  refused("centre = [\"1 cm\"", "centre = [\"1 m\"",
          "bad.toml:14:1: error E0644: the structure lies outside of the domain");
  const Outcome other = tessera(
      {"check", "case.toml", "--set", "grid.polarization=both", "--set", "source[1].component=Hz"});
  EXPECT_EQ(other.code, 5);
  EXPECT_TRUE(holds(other.err, "a current along Hz makes no Ez")) << other.err;
  write("short.csv", "time_s,a,b,c,d,e,f,g,h\n0,0,0,0,0,0,0,0,0\n1e-9,1,1,1,1,1,1,1,1\n");
  refused("optimize =", "data = {file = \"short.csv\"}\noptimize =",
          "the data reach from 0 to 1e-09 s");
  write("narrow.csv", "time_s,a\n0,0\n1e-8,1\n");
  refused(
      "optimize =", "data = {file = \"narrow.csv\"}\noptimize =", "sources times receivers are 8");
}

}  // namespace
