// SPDX-License-Identifier: Apache-2.0
// Fields that grow slowly are seen, and a layer that stands metal films is there.
#include "app_test.h"
#include "csv_columns.h"
#include "test_paths.h"

#include <algorithm>
#include <cmath>

using namespace tessera::testing;

namespace {

/// Two mode ports that look at each other along x; `modes` is a line of the left one.
std::string ports(const std::string& modes = "") {
  return R"([[port]]
name = "left"
kind = "mode"
position = ["-15 mm", "0 mm", "0 mm"]
direction = [1, 0, 0]
)" + modes +
         R"(
[[port]]
name = "right"
kind = "mode"
position = ["15 mm", "0 mm", "0 mm"]
direction = [-1, 0, 0]
)";
}

class FdtdGrowth : public AppTest {
 protected:
  /// A film of a metal with a plasma frequency of 600 THz along x, through the layers, and a
  /// current beside it.
  void write_film(const std::string& size, const std::string& cell, const std::string& half,
                  const std::string& source, const std::string& boundary, int steps) {
    write("film.toml",
          "app = \"electromagnetics.fdtd\"\ngrid = {size = [" + size + ", \"0 nm\"], cell = \"" +
              cell + "\", polarization = \"Hz\"}\nrun.stop.steps = " + std::to_string(steps) +
              "\nboundary = {" + boundary +
              "}\n[[material]]\nname = \"metal\"\npoles = [{kind = \"drude\", frequency = \"600 "
              "THz\", damping = \"3 THz\"}]\n" +
              "[[structure]]\nshape = \"box\"\nname = \"film\"\nlow = [\"-inf\", \"-" + half +
              "\", \"-inf\"]\nhigh = [\"inf\", \"" + half + "\", \"inf\"]\nmaterial = \"metal\"\n" +
              "[[source]]\nkind = \"point\"\ncomponent = \"Ex\"\nposition = [\"0 nm\", \"" +
              source +
              "\", \"0 nm\"]\nwaveform = {kind = \"gaussian\", frequency = \"300 THz\", bandwidth "
              "= \"300 THz\"}\n[output]\npictures = false\nscene = false\n");
  }
};

/// 1.26 skin depths: down to -38 dB, and in 40,000 steps up again to -21 dB, far below what was
/// there when the source ended.
TEST_F(FdtdGrowth, BelowThePeakIsSeenToo) {
  write_film("\"4 um\", \"3 um\"", "20 nm", "50 nm", "0.2 um", "pml.cells = 16", 40000);
  const Outcome o = tessera(
      {"run", "film.toml", "--output", "RUN", "--set", "source[0].waveform.bandwidth=\"600 THz\""});
  EXPECT_EQ(o.code, 7) << o.err;
  EXPECT_TRUE(holds(o.err, "absorbing layer across x") &&
              holds(o.err, "the work of sources since") &&
              holds(o.err, "boundary.x = \"absorber\""))
      << o.err;
}

/// The same layer, beside a current that never ends, and one that another would follow late.
TEST_F(FdtdGrowth, WhileSourcesLastIsSeenToo) {
  write_film("\"500 nm\", \"400 nm\"", "5 nm", "12.5 nm", "32.5 nm", "pml.cells = 20", 20000);
  const std::string place =
      "{kind = \"point\", component = \"Ex\", position = [\"0 nm\", \"32.5 nm\", \"0 nm\"], "
      "waveform = ";
  const std::string pulse =
      place + "{kind = \"gaussian\", frequency = \"300 THz\", bandwidth = \"300 THz\"";
  const std::string cw = "source=[" + place + "{kind = \"continuous\", frequency = \"300 THz\"}}]",
                    late = "source=[" + pulse + "}}, " + pulse + ", delay = \"1 ps\"}}]";
  for (const std::string& set : {cw, late}) {
    const Outcome o = tessera({"run", "film.toml", "--output", "RUN", "--force", "--set", set});
    EXPECT_EQ(o.code, 7) << set << o.err;
    EXPECT_TRUE(holds(o.err, "absorbing layer across x")) << o.err;
    const Outcome stands = tessera({"run", "film.toml", "--output", "RUN", "--force", "--set", set,
                                    "--set", "boundary.x=\"absorber\""});
    EXPECT_EQ(stands.code, 0) << set << stands.err;
  }
}

TEST_F(FdtdGrowth, AMetalFilmThroughAPmlIsDoubtedAndThroughAnAbsorberNot) {
  write_film("\"0.8 um\", \"0.6 um\"", "5 nm", "12.5 nm", "50 nm", "pml.cells = 20", 10);
  const Outcome doubted = tessera({"check", "film.toml"});
  EXPECT_EQ(doubted.code, 0);
  EXPECT_TRUE(holds(doubted.err + doubted.out, "0657") &&
              holds(doubted.err + doubted.out, "pml across x") &&
              !holds(doubted.err + doubted.out, "pml across y"))
      << doubted.err << doubted.out;
  const Outcome silent = tessera({"check", "film.toml", "--set", "boundary.x=\"absorber\""});
  EXPECT_FALSE(holds(silent.err + silent.out, "0657")) << silent.err << silent.out;
  // The same film as a sheet.
  const std::vector<std::string> sheet{
      "--set", "structure=[]", "--set",
      "sheet=[{normal = \"y\", position = [\"0 nm\", \"0 nm\", \"0 nm\"], material = \"metal\", "
      "thickness = \"4 nm\"}]"};
  std::vector<std::string> check{"check", "film.toml"};
  check.insert(check.end(), sheet.begin(), sheet.end());
  const Outcome of_sheet = tessera(check);
  EXPECT_EQ(of_sheet.code, 0) << of_sheet.err;
  EXPECT_TRUE(holds(of_sheet.err + of_sheet.out, "E0657") &&
              holds(of_sheet.err + of_sheet.out, "a film of 4e-09 m") &&
              holds(of_sheet.err + of_sheet.out, "pml across x") &&
              !holds(of_sheet.err + of_sheet.out, "pml across y"))
      << of_sheet.err << of_sheet.out;
  check.insert(check.end(), {"--set", "boundary.x=\"absorber\""});
  const Outcome absorbed = tessera(check);
  EXPECT_FALSE(holds(absorbed.err + absorbed.out, "0657")) << absorbed.err << absorbed.out;
}

TEST_F(FdtdGrowth, AnAbsorberStandsAMetalFilm) {
  write_film("\"0.6 um\", \"0.54 um\"", "5 nm", "12.5 nm", "50 nm",
             "x = \"absorber\", pml.cells = 20, absorber.cells = 40", 100000);
  for (const char* precision : {"f32", "f64"}) {
    const Outcome o = tessera({"run", "film.toml", "--output", precision, "--set",
                               std::string("run.precision=\"") + precision + "\""});
    ASSERT_EQ(o.code, 0) << o.err;
    const std::vector<double> down =
        csv_column(read(std::string(precision) + "/metrics.csv"), "decay_db");
    ASSERT_GT(down.size(), 10U);
    EXPECT_GT(down.back(), 60);
    double least = 0;
    for (const double d : down) {
      if (least < 90) {
        EXPECT_GT(d, least - 3) << precision;  // an energy that leaps between field and poles,
                                               // above the floor of rounding
      }
      least = std::max(least, d);
    }
  }
}

/// A pulse on its way out and what comes back of it, at 20 cells in the wavelength.
TEST_F(FdtdGrowth, AnAbsorberReflectsLittle) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["8 m", "0 m", "0 m"], cell = "10 mm"}
run = {precision = "f64", stop.time = "32 ns"}
boundary = {x_low = "pml", x_high = "absorber", pml.cells = 40, absorber.cells = 40}
[[source]]
kind = "point"
component = "Ez"
position = ["-2 m", "0 m", "0 m"]
waveform = {kind = "gaussian", frequency = "1.5 GHz", bandwidth = "0.6 GHz"}
[[monitor]]
kind = "probe"
name = "early"
position = ["2 m", "0 m", "0 m"]
components = ["Ez"]
)");
  const Outcome o = tessera({"run", "line.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string table = read("RUN/tables/early.csv");
  const std::vector<double> e = csv_column(table, "Ez");
  ASSERT_GT(e.size(), 800U);
  const auto peak = std::max_element(e.begin(), e.end(),
                                     [](double a, double b) { return std::abs(a) < std::abs(b); });
  // From the probe to the layer and back are 3.2 m, 10.7 ns; half the pulse takes 4 ns.
  const double step = 32e-9 / static_cast<double>(e.size());
  const auto behind = peak + static_cast<std::ptrdiff_t>(6e-9 / step);
  ASSERT_LT(behind, e.end());
  double back = 0;
  for (auto v = behind; v != e.end(); ++v) back = std::max(back, std::abs(*v));
  EXPECT_LT(20 * std::log10(back / std::abs(*peak)), -40);
}

/// The pulse passes between two checks, 10 periods apart: the run ends by its decay below the true
/// peak, which is that of checks every 16 steps, and the residue is not taken for growth.
TEST_F(FdtdGrowth, AnEmptyLineEndsByItsDecay) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["60 mm", "20 mm", "0 mm"], cell = "1 mm", polarization = "Hz"}
run = {precision = "f64", stop.decay_db = 80, excite = ["left"]}
boundary = {x = "pml", y = "pec", pml.cells = 12}
output = {vtk = false, pictures = false, scene = false}
s_parameters = {frequency_min = "1 GHz", frequency_max = "10 GHz", frequency_points = 10}
)" + ports());
  ASSERT_EQ(tessera({"run", "line.toml", "--output", "RUN"}).code, 0);
  ASSERT_EQ(
      tessera({"run", "line.toml", "--output", "OFTEN", "--set", "run.stop.check_every=\"1 ps\""})
          .code,
      0);
  const auto peak = [&](const std::string& run) {
    const std::string table = read(run + "/metrics.csv");
    return csv_column(table, "energy_j").back() *
           std::pow(10, csv_column(table, "decay_db").back() / 10);
  };
  EXPECT_NEAR(10 * std::log10(peak("RUN") / peak("OFTEN")), 0, 1);
  const std::vector<double> down = csv_column(read("RUN/metrics.csv"), "decay_db");
  EXPECT_GT(down.back(), 80);
  EXPECT_LT(csv_column(read("RUN/metrics.csv"), "step").back(), 2000);
}

/// A closed box without loss keeps its energy: said once; with loss not at all.
TEST_F(FdtdGrowth, AnEnergyThatStaysIsToldOnce) {
  write("box.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["20 mm", "16 mm", "0 mm"], cell = "1 mm", polarization = "Ez"}
run = {stop.decay_db = 60, stop.time = "90 ns"}
boundary = {x = "pec", y = "pec"}
output = {vtk = false, pictures = false, scene = false}
[[material]]
name = "lossy"
eps = 1
sigma = "0.002 S/m"
[[structure]]
shape = "box"
material = "vacuum"
size = ["inf", "inf", "inf"]
[[source]]
kind = "point"
component = "Ez"
position = ["3 mm", "3 mm", "0 mm"]
waveform = {kind = "gaussian", frequency = "12 GHz", bandwidth = "12 GHz"}
)");
  const auto times = [&](const std::vector<std::string>& set) {
    std::vector<std::string> words{"run", "box.toml", "--output", "BOX", "--force"};
    for (const std::string& s : set) words.insert(words.end(), {"--set", s});
    const Outcome o = tessera(words);
    EXPECT_EQ(o.code, 0) << o.err;
    int n = 0;
    for (std::size_t at = 0; (at = o.err.find("does not fall any more", at)) != std::string::npos;
         ++at)
      ++n;
    return n;
  };
  EXPECT_EQ(times({}), 1);
  EXPECT_EQ(times({"structure[0].material=\"lossy\""}), 0);
}

/// The TM mode of two plates, cut off at 7.49 GHz, in a band from 8 GHz on: its pulse has nothing
/// there, where the field along the plates' normal is uniform and no layer takes it up.
TEST_F(FdtdGrowth, APulseNearTheCutOffOfItsModeDiesAway) {
  write("plates.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["60 mm", "20 mm", "0 mm"], cell = "1 mm", polarization = "Hz"}
run = {precision = "f64", stop.decay_db = 120, stop.time = "60 ns", excite = ["left.2"]}
boundary = {x = "pml", y = "pec", pml.cells = 12}
output = {vtk = false, pictures = false, scene = false}
s_parameters = {frequency_min = "8 GHz", frequency_max = "10 GHz", frequency_points = 3}
)" + ports("modes = 2"));
  const Outcome o = tessera({"run", "plates.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(holds(o.err, "does not fall")) << o.err;
  EXPECT_GT(csv_column(read("RUN/metrics.csv"), "decay_db").back(), 120);
  EXPECT_LT(csv_column(read("RUN/metrics.csv"), "time_s").back(), 30e-9);
}

/// A defocusing medium, 0.9025 of whose permittivity the time step needs, in a pulse of 1 V/m: told
/// before, and seen at the run's end although no check falls on it. Half of the step stands it.
TEST_F(FdtdGrowth, AFieldTooStrongForTheTimeStepIsToldAndSeenAtTheEnd) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["12 um", "0 um", "0 um"], cell = "0.05 um", background = "kerr"}
run = {precision = "f64", stop.steps = 555}
boundary.pml.cells = 20
output = {vtk = false, pictures = false, scene = false}
[[material]]
name = "kerr"
eps = 2.25
chi3 = "-0.1 m^2/V^2"
[[source]]
kind = "point"
component = "Ez"
position = ["-4 um", "0 um", "0 um"]
amplitude = 0.007963256183954978
waveform = {kind = "gaussian", frequency = "100 THz", bandwidth = "40 THz"}
)");
  const Outcome told = tessera({"check", "line.toml"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(holds(told.err + told.out, "from |E| = 0.855")) << told.err << told.out;
  const Outcome o = tessera({"run", "line.toml", "--output", "RUN"});
  EXPECT_EQ(o.code, 7) << o.err;
  EXPECT_TRUE(holds(o.err, "at step 555") && holds(o.err, "run.courant")) << o.err;
  const Outcome stands =
      tessera({"run", "line.toml", "--output", "RUN", "--force", "--set", "run.courant=0.5"});
  EXPECT_EQ(stands.code, 0) << stands.err;
}

}  // namespace
