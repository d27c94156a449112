// SPDX-License-Identifier: Apache-2.0
// The demonstration (apps/examples/demo.sh, run by ./bootstrap.sh demo): its cases are sound, it
// says what the tables of the runs say, and a case that fails ends it.
#include "app_test.h"
#include "csv_columns.h"
#include "matches.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class Demo : public AppTest {
 protected:
  const fs::path root_ = TESSERA_SOURCE_DIR;

  Outcome demo(const std::string& program, bool print = false) {
    std::vector<std::string> command{"/bin/bash", root_ / "apps/examples/demo.sh", program, "demo"};
    if (print) command.push_back("--print");
    return RunningProgram(command, here()).wait();
  }
  /// tessera, but a run of `name` is given more arguments.
  std::string changed(const std::string& name, const std::string& more) {
    write("changed.sh", "#!/bin/bash\ncase \"$1 $2\" in\n  run\\ *" + name +
                            ") exec " TESSERA_PROGRAM " \"$@\" " + more +
                            " ;;\nesac\nexec " TESSERA_PROGRAM " \"$@\"\n");
    fs::permissions(here() / "changed.sh", fs::perms::owner_all);
    return here() / "changed.sh";
  }
  /// What follows the name of the program in the lines that begin with it.
  static std::vector<std::string> commands(const std::string& said, const std::string& program) {
    std::vector<std::string> found;
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);)
      if (const std::string start = "    " + program + " "; line.starts_with(start))
        found.push_back(line.substr(start.size()));
    return found;
  }
  /// A row of numbers of summary.csv: the average and its error.
  std::pair<double, double> average(const fs::path& summary, const std::string& stage,
                                    const std::string& quantity) const {
    const auto rows =
        matches(read(summary), stage + "," + quantity + R"(,[^,\n]*,([^,\n]+),([^,\n]+),)");
    if (rows.size() != 1) throw std::runtime_error("summary.csv has no " + quantity);
    return {std::stod(rows[0][1]), std::stod(rows[0][2])};
  }
};

TEST_F(Demo, ItsCasesAreThereAndSound) {
  const Outcome o = demo(TESSERA_PROGRAM, true);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(fs::exists(here() / "demo")) << "--print runs nothing";
  std::vector<std::string> said;
  for (const std::string& command : commands(o.out, TESSERA_PROGRAM)) {
    std::istringstream words(command);
    std::string verb, first, second;
    words >> verb >> first >> second;
    if (verb == "new") {
      EXPECT_EQ(tessera({"new", first, second}).code, 0) << command;
    } else {
      const Outcome check = tessera({"check", first});
      EXPECT_EQ(check.code, 0) << command << check.err;
      said.push_back(check.out);
    }
  }
  ASSERT_EQ(said.size(), 3u);
  EXPECT_TRUE(said[0].ends_with(": ok (inversion.mt1d)\n"));
  EXPECT_TRUE(said[1].ends_with(": ok (electromagnetics.fdtd)\n"));
  EXPECT_TRUE(said[2].find("rigid waters") != std::string::npos) << said[2];
}

TEST_F(Demo, BootstrapPrintsTheSameCommands) {
  const Outcome o =
      RunningProgram({"/bin/bash", root_ / "bootstrap.sh", "demo", "--print", "--jobs", "3"},
                     here())
          .wait();
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string program = "build/release/bin/tessera";
  const Outcome alone =
      RunningProgram({"/bin/bash", "apps/examples/demo.sh", program, "build/demo", "--print"},
                     root_)
          .wait();
  const std::vector<std::string> expected = commands(alone.out, program);
  ASSERT_EQ(expected.size(), 5u);
  EXPECT_EQ(commands(o.err, program), expected);
  EXPECT_TRUE(o.err.find("cmake --build --preset release --target tessera --parallel 3\n") !=
              std::string::npos)
      << o.err;
}

TEST_F(Demo, SaysWhatTheTablesSay) {
  const std::string short_peptide =
      changed("alanine.toml",
              "--set nstenergy=5 --set 'stage[0].nsteps=20' --set 'stage[1].duration=40 fs' --set "
              "'stage[2].duration=40 fs' "
              "--set 'stage[3].duration=40 fs' --set 'expect[0].tolerance=1e6' --set "
              "'expect[1].tolerance=1e6'");
  const Outcome o = demo(short_peptide);
  ASSERT_EQ(o.code, 0) << o.err;

  // Soundings: the least and the largest misfit, and the model between the layers that made the
  // data.
  const auto misfit = matches(o.out, R"((\d+) soundings .* RMS misfit of ([0-9.]+) to ([0-9.]+) )");
  ASSERT_EQ(misfit.size(), 1u) << o.out;
  const std::vector<double> rms = csv_column(read("demo/soundings/RUN/soundings.csv"), "rms");
  EXPECT_EQ(std::stoul(misfit[0][1]), rms.size());
  EXPECT_NEAR(std::stod(misfit[0][2]), *std::min_element(rms.begin(), rms.end()), 0.005001);
  EXPECT_NEAR(std::stod(misfit[0][3]), *std::max_element(rms.begin(), rms.end()), 0.005001);
  const auto below = matches(
      o.out,
      R"(below (syn\d\d) lie ([0-9.]+) ohm m \(90 % band: ([0-9.]+) to ([0-9.]+)\); .* has ([0-9.]+) there)");
  ASSERT_EQ(below.size(), 1u) << o.out;
  EXPECT_EQ(below[0][5],
            "8");  // the sediments of the example's basin, 0.1 to 2 km deep in its middle
  const std::string model = read("demo/soundings/RUN/soundings/" + below[0][1] + "_model.csv");
  const std::vector<double> top = csv_column(model, "top_m");
  const std::size_t cell =
      static_cast<std::size_t>(std::upper_bound(top.begin(), top.end(), 1000.0) - top.begin()) - 1;
  EXPECT_NEAR(std::stod(below[0][2]), csv_column(model, "resistivity_ohm_m").at(cell), 0.05001);
  EXPECT_NEAR(std::stod(below[0][3]), csv_column(model, "q05_ohm_m").at(cell), 0.05001);
  EXPECT_NEAR(std::stod(below[0][4]), csv_column(model, "q95_ohm_m").at(cell), 0.05001);

  // The ring: each mode.
  const std::string modes = read("demo/ring/RUN/tables/modes.csv");
  const std::vector<double> frequency = csv_column(modes, "frequency"),
                            quality = csv_column(modes, "quality"),
                            slope = csv_column(modes, "frequency_by_ring.radius");
  const auto lines = matches(
      o.out,
      R"(f = ([0-9.]+) THz \(a wavelength of ([0-9.]+) um\), Q = (\d+), d f / d radius = (-?[0-9.]+) GHz/nm)");
  ASSERT_EQ(lines.size(), frequency.size());
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t m = 0; m < lines.size(); ++m) {
    const double f = frequency.at(m);
    EXPECT_NEAR(std::stod(lines[m][1]), f / 1e12, 0.005001);
    EXPECT_NEAR(std::stod(lines[m][2]), 299792458 / f * 1e6, 0.0005001);
    EXPECT_NEAR(std::stod(lines[m][3]), quality.at(m), 0.5001);
    EXPECT_NEAR(std::stod(lines[m][4]), slope.at(m) * 1e-9 / 1e9,
                0.05001);  // a nanometre moves it by GHz
  }

  // The peptide: the last stage, under the barostat.
  const auto bath = matches(
      o.out,
      R"(The 10 heavy atoms of alanine.pdb .*: (\d+) atoms, heated in a bath of (\S+ \S+) and then under a barostat of (\S+ \S+)\.)");
  ASSERT_EQ(bath.size(), 1u) << o.out;
  EXPECT_EQ(
      std::stoul(bath[0][1]),
      std::stoul(matches(read("demo/peptide/RUN/4_npt/final.gro"), R"(\n *(\d+)\n)").at(0)[1]));
  EXPECT_EQ(bath[0][2], "300 K");
  EXPECT_EQ(bath[0][3], "1 bar");
  const auto end = matches(
      o.out,
      R"(it has ([0-9.]+) \+- ([0-9.]+) K and (\d+) \+- (\d+) kg/m\^3; its conserved energy drifts by (\S+) \+- (\S+) kJ/mol/ps per atom)");
  ASSERT_EQ(end.size(), 1u) << o.out;
  const fs::path summary = "demo/peptide/RUN/summary.csv";
  const auto [temperature, temperature_error] = average(summary, "npt", "temperature_k");
  const auto [density, density_error] = average(summary, "npt", "density_kg_m3");
  const auto [drift, drift_error] = average(summary, "npt", "drift");
  EXPECT_NEAR(std::stod(end[0][1]), temperature, 0.05001);
  EXPECT_NEAR(std::stod(end[0][2]), temperature_error, 0.05001);
  EXPECT_NEAR(std::stod(end[0][3]), density, 0.5001);
  EXPECT_NEAR(std::stod(end[0][4]), density_error, 0.5001);
  EXPECT_NEAR(std::stod(end[0][5]), drift,
              0.51 * std::abs(drift));  // one digit: half of one at most
  EXPECT_NEAR(std::stod(end[0][6]), drift_error, 0.51 * drift_error);

  for (const auto& picture : matches(o.out, R"(\n +(\S+\.png) )"))
    EXPECT_GT(fs::file_size(here() / picture[1]), 5000u) << picture[1];
  // Once more, over what is there.
  write("demo/mine.txt", "stays");
  EXPECT_EQ(demo(short_peptide).code, 0);
  EXPECT_EQ(read("demo/mine.txt"), "stays");
}

TEST_F(Demo, ACaseThatFailsEndsItWithItsLogAndItsCode) {
  const Outcome o =
      demo(changed("mt1d.toml", "--set expect.rms_max=0.5 --set 'posterior.method=\"none\"'"));
  EXPECT_EQ(o.code, 6);
  EXPECT_TRUE(o.err.find("the last lines of demo/soundings/RUN/log.txt:\n    ") !=
              std::string::npos)
      << o.err;
  EXPECT_TRUE(o.err.find("demo: exit code 6 (docs/reference/exit-codes.md) of ") !=
              std::string::npos)
      << o.err;
  EXPECT_FALSE(fs::exists(here() / "demo/ring")) << "the next case was begun";
}

}  // namespace
