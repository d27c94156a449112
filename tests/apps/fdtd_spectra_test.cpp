// SPDX-License-Identifier: Apache-2.0
// Transforms that are cut off, and densities of states.
#include "fdtd_case.h"
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

using namespace tessera::testing;

namespace {

/// A line of 20 cells between two ports: the energy has fallen by 80 dB after two periods of the
/// lowest frequency.
TEST_F(Fdtd, SpectraOfShortRunsThatHaveDiedAwayAreNotDoubted) {
  write("short.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["20 mm", "2 mm", "2 mm"], cell = "1 mm"}
run = {precision = "f64", stop.decay_db = 80}
boundary = {x = "pmc", y = "pec", z = "pmc"}
output = {vtk = false, pictures = false, scene = false}
s_parameters = {frequency_min = "1 GHz", frequency_max = "10 GHz", frequency_points = 10, reference = "50 ohm"}
[[port]]
name = "p1"
kind = "lumped"
position = ["-10 mm", "0 mm", "0 mm"]
size = ["0 mm", "2 mm", "2 mm"]
direction = [0, 1, 0]
resistance = "10 ohm"
[[port]]
name = "p2"
kind = "lumped"
position = ["10 mm", "0 mm", "0 mm"]
size = ["0 mm", "2 mm", "2 mm"]
direction = [0, 1, 0]
resistance = "200 ohm"
)");
  const Outcome whole = tessera({"run", "short.toml", "--output", "WHOLE"});
  EXPECT_EQ(whole.code, 0);
  EXPECT_FALSE(holds(whole.err, "spectra are cut off")) << whole.err;
  const Outcome cut =
      tessera({"run", "short.toml", "--output", "CUT", "--set", "run.stop.time=\"1.3 ns\""});
  EXPECT_TRUE(holds(cut.err, "spectra are cut off; they fall by about") &&
              holds(cut.err, "or set a higher run.stop.decay_db"))
      << cut.err;
}

/// A slab of index 9, 1 um thick: of what rings in it (8/10)^2 of the amplitude is left after each
/// 60 fs there and back.
TEST_F(Fdtd, SpectraOfFieldsThatStillRingAreTold) {
  write("slab.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["4 um", "0 um", "0 um"], cell = "10 nm"}
run = {precision = "f64", stop.time = "0.5 ps"}
[[material]]
name = "dense"
index = 9
[[structure]]
shape = "box"
size = ["1 um", "inf", "inf"]
material = "dense"
[[source]]
kind = "point"
component = "Ey"
position = ["-1.5 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "100 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "flux"
name = "behind"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["100 THz"]
)");
  const Outcome early = tessera({"run", "slab.toml", "--output", "EARLY"});
  ASSERT_EQ(early.code, 0) << early.err;
  const std::size_t said = early.err.find("monitor 'behind': when the run ended");
  ASSERT_NE(said, std::string::npos) << early.err;
  const auto number_after = [&](const std::string& words) {
    return std::stod(early.err.substr(early.err.find(words, said) + words.size()));
  };
  EXPECT_NEAR(number_after("they fall by about "), -40 * std::log10(0.8) / 0.060, 17)
      << early.err;  // dB a ps; a quarter of the time holds no whole number of pulses
  EXPECT_NEAR(number_after("until about "), 1.03e-12, 0.15e-12) << early.err;
  EXPECT_TRUE(holds(tessera({"info", "EARLY"}).out, "behind.fallen_db"));
  const Outcome late = run_case("slab.toml", "LATE", {"run.stop.time=\"0.8 ps\""});
  EXPECT_EQ(late.code, 0);
  EXPECT_FALSE(holds(late.err, "warning")) << late.err;
  const Outcome never = run_case("slab.toml", "NEVER", {"run.stop={steps=64}"});
  EXPECT_TRUE(holds(never.err, "before its sources did")) << never.err;
  EXPECT_FALSE(holds(never.err, "monitor 'behind'")) << never.err;
  const Outcome dark = run_case("slab.toml", "DARK", {"structure[0].material=\"pec\""});
  EXPECT_TRUE(holds(dark.err, "monitor 'behind' has seen no field")) << dark.err;
  // At a frequency there is one flux; a second one is none of its, but the next frequency's.
  const Outcome second = run_case(
      "slab.toml", "SECOND",
      {"run.stop={steps=64}", "monitor[0].frequencies=[\"90 THz\", \"100 THz\"]",
       "expect=[{monitor=\"behind\", frequency=\"90 THz\", index=1, value=0, tolerance=1}]"});
  EXPECT_EQ(second.code, 6) << second.err;
  EXPECT_TRUE(holds(second.err, "behind.flux[1]: nan, expected 0")) << second.err;
}

/// Derivatives of a Gaussian are the wider, in time as in frequency, the higher their order: they
/// begin later, and want smaller cells. A current sheet's field beside it is that of its waveform.
TEST_F(Fdtd, HigherDerivativesAreWider) {
  write("pulse.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["4 um", "0 um", "0 um"], cell = "50 nm"}
run = {precision = "f64", stop.after_sources = "0 fs"}
[[source]]
kind = "point"
component = "Ey"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "derivative", width = "3 fs"}
[[monitor]]
kind = "probe"
name = "there"
position = ["0 um", "0 um", "0 um"]
components = ["Ey"]
)");
  for (const int order : {1, 3, 5, 8}) {
    const Outcome run =
        run_case("pulse.toml", "RUN", {"source[0].waveform.order=" + std::to_string(order)});
    ASSERT_EQ(run.code, 0) << run.err;
    const std::vector<double> field = column("RUN", "there", "Ey");
    double peak = 0;
    for (const double e : field) peak = std::max(peak, std::abs(e));
    EXPECT_LT(std::abs(field.at(0)), 1e-6 * peak) << order;
    const Outcome check =
        tessera({"check", "pulse.toml", "--set", "source[0].waveform.width=\"1.25 fs\"", "--set",
                 "source[0].waveform.order=" + std::to_string(order)});
    EXPECT_EQ(holds(check.err, "E0648"), order > 1) << order << check.err;
  }
}

/// A transform that has seen nothing yet has not settled: the wave is on its way.
TEST_F(Fdtd, TransformsDoNotSettleBeforeTheWaveIsThere) {
  write("far.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["60 um", "0 um", "0 um"], cell = "20 nm"}
run = {precision = "f64", stop.dft_tolerance = 1e-3}
[[source]]
kind = "point"
component = "Ey"
position = ["-25 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "flux"
name = "end"
position = ["25 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["200 THz"]
)");
  const Outcome run = run_case("far.toml", "RUN");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_GT(column("RUN", "end", "flux").at(0), 0);
  EXPECT_FALSE(holds(run.err, "has seen no field")) << run.err;
}

/// A source on mirrors counts with its images: the same factor as in the whole domain.
TEST_F(Fdtd, MirrorsThroughASourceLeaveItsPurcellFactor) {
  const auto purcell = [&](const std::string& low, const std::string& centre,
                           const std::string& size, const std::string& polarization,
                           const std::string& component) {
    write("case.toml",
          "app = \"electromagnetics.fdtd\"\ngrid = {centre = [" + centre + "], size = [" + size +
              "], cell = \"50 nm\", polarization = \"" + polarization +
              "\"}\nrun = {precision = \"f64\", stop.steps = 1500}\nboundary = {pml.cells = 8" +
              low + R"(}
[[material]]
name = "glass"
eps = 4
[[structure]]
shape = "cylinder"
radius = "0.4 um"
height = "inf"
material = "glass"
[[source]]
kind = "point"
position = ["0 um", "0 um", "0 um"]
component = ")" +
              component + R"("
waveform = {kind = "gaussian", frequency = "250 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "ldos"
name = "dos"
frequencies = ["250 THz"]
)");
    const Outcome run = run_case("case.toml", "RUN");
    EXPECT_EQ(run.code, 0) << run.err;
    return column("RUN", "dos", "purcell").at(0);
  };
  const std::string whole = R"("0 um", "0 um", "0 um")", both = R"("3 um", "3 um", "0 um")",
                    quarter = R"("0.75 um", "0.75 um", "0 um")",
                    half = R"("1.5 um", "1.5 um", "0 um")";
  const double line = purcell("", whole, both, "Ez", "Ez"),
               dipole = purcell("", whole, both, "Hz", "Ex");
  // The curved face is averaged over halves of cells at the mirrors: by quadrature, to some 1e-6.
  EXPECT_NEAR(purcell(", x_low = \"pmc\", y_low = \"pmc\"", quarter, half, "Ez", "Ez"), line,
              1e-5 * line);
  EXPECT_NEAR(purcell(", x_low = \"pec\", y_low = \"pmc\"", quarter, half, "Hz", "Ex"), dipole,
              1e-5 * dipole);
  EXPECT_GT(std::abs(line - 1), 0.01);
  const double magnetic = purcell("", whole, both, "Hz", "Hz");
  EXPECT_NEAR(purcell(", x_low = \"pec\", y_low = \"pec\"", quarter, half, "Hz", "Hz"), magnetic,
              1e-5 * magnetic);
  EXPECT_GT(std::abs(magnetic - 1), 0.01);
}

const char* const kEven = R"(app = "electromagnetics.fdtd"
grid = {size = ["3.2 um", "3.2 um", "0 um"], cell = "20 nm", background = "glass"}
run = {precision = "f64", stop.after_sources = "60 fs"}
boundary.pml = {cells = 30}
[[material]]
name = "glass"
eps = 2.25
[[source]]
kind = "line"
component = "Ez"
position = ["0.2 um", "0 um", "0 um"]
size = ["0 um", "0.5 um", "0 um"]
amplitude = 0
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "120 THz"}
[[source]]
kind = "point"
position = ["0 um", "0 um", "0 um"]
component = "Ez"
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "120 THz"}
[[monitor]]
kind = "ldos"
name = "dos"
frequencies = ["160 THz", "200 THz", "240 THz"]
)";

/// In an even medium nothing changes the rate of a current, electric or magnetic, whatever other
/// sources are listed before it.
TEST_F(Fdtd, InAnEvenMediumThePurcellFactorIsOne) {
  write("case.toml", kEven);
  const std::string plane = R"("3.2 um", "3.2 um", "0 um")", line = R"("3.2 um", "0 um", "0 um")";
  for (const auto& [component, size] :
       std::vector<std::pair<std::string, std::string>>{{"Ez", plane},
                                                        {"Ex", plane},
                                                        {"Hz", plane},
                                                        {"Hx", plane},
                                                        {"Ey", line},
                                                        {"Hz", line}}) {
    const std::vector<std::string> settings{"grid.size=[" + size + "]",
                                            "source[1].component=\"" + component + "\""};
    const Outcome run = run_case("case.toml", "RUN", settings);
    ASSERT_EQ(run.code, 0) << run.err;
    const std::vector<double> purcell = column("RUN", "dos", "purcell"),
                              power = column("RUN", "dos", "power");
    ASSERT_EQ(purcell.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(purcell[k], 1, 0.015) << component << " " << k;
      EXPECT_GT(power[k], 0);
    }
  }
  // Of a wave that never ends what was sent until the end of the run counts: 20 periods, of which 5
  // are its ramp.
  const std::string pulse = R"({kind = "gaussian", frequency = "200 THz", bandwidth = "120 THz"})";
  std::string endless = kEven;
  endless.replace(endless.rfind(pulse), pulse.size(),
                  R"({kind = "continuous", frequency = "200 THz"})");
  write("endless.toml", endless);
  const Outcome on = run_case("endless.toml", "ON",
                              {"run.stop={steps=1500}", "monitor[0].frequencies=[\"200 THz\"]"});
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_NEAR(column("ON", "dos", "purcell").at(0), 1, 0.1);
}

/// A dipole along the axis of a uniaxial medium has n_o/n_e times the power that its own index
/// tells, a dipole in the plane sqrt(eps_y/eps_x); of a line along z only eps_z and mu count. What
/// another source sends is no part of a rate.
TEST_F(Fdtd, APurcellFactorIsOfOneSourceInAnEvenTransparentMedium) {
  write("case.toml", kEven);
  const auto told = [&](std::vector<std::string> settings) {
    std::vector<std::string> arguments{"check", "case.toml"};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    const Outcome o = tessera(arguments);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.err;
  };
  const std::string
      uniaxial = "material[0].eps=[2.25, 2.25, 2.5]",
      in_plane = "material[0].eps=[2.25, 2.5, 2.25]", across = "source[1].component=\"Ex\"",
      even = "warning E0666: a Purcell factor compares with the power in a linear medium";
  EXPECT_FALSE(holds(told({}), "E0666"));
  EXPECT_FALSE(holds(told({uniaxial}), "E0666"));
  EXPECT_TRUE(holds(told({in_plane, across}), even + " without loss and anisotropy, and the source "
                                                     "lies in 'glass'"));
  EXPECT_TRUE(holds(told({"material[0].sigma=\"100 S/m\""}), even));
  EXPECT_TRUE(holds(told({"material[0].poles=[{kind=\"lorentz\", frequency=\"210 THz\", "
                          "damping=\"30 THz\", delta_eps=0.1}]"}),
                    even + " without loss, and at 1.6e+14 Hz"));
  EXPECT_TRUE(holds(told({"source[0].amplitude=1"}),
                    "warning E0666: it is measured against one source, and source[0] drives"));
}

/// Along one axis all powers are those of an area, and that of the one order is the flux. The sums
/// of a transform are of unknowns, in V/m, and H is half a step older than E.
TEST_F(Fdtd, UnitsAlongOneAxisAreThoseOfAnArea) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["4 um", "0 um", "0 um"], cell = "50 nm"}
run = {precision = "f64", stop.time = "120 fs"}
[[source]]
kind = "point"
component = "Ey"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "flux"
name = "whole"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["200 THz"]
[[monitor]]
kind = "orders"
name = "split"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["200 THz"]
[[monitor]]
kind = "snapshot"
name = "film"
every = "20 fs"
components = ["Ey", "Hz"]
)");
  const Outcome o = tessera({"run", "line.toml", "--output", "RUN"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto results = tessera::data::read_h5(here() / "RUN/results.h5");
  const auto of = [&](const std::string& name) {
    for (const auto& [path, array] : results)
      if (path.ends_with("monitors/" + name)) return array.attributes;
    ADD_FAILURE() << name;
    return tessera::data::H5Attributes{};
  };
  for (const char* power : {"whole/values/flux", "split/values/power", "split/values/power_back"})
    EXPECT_EQ(of(power).units, "W*s^2/m^2") << power;
  for (const char* sums : {"whole/values/sums", "split/values/sums"})
    EXPECT_EQ(of(sums).units, "V/m") << sums;
  EXPECT_EQ(of("film/values/Ey").long_name, "field");
  EXPECT_EQ(of("film/values/Hz").long_name, "field, half a step before the time given");
  const double flux = column("RUN", "whole", "flux").at(0);
  EXPECT_GT(flux, 0);
  EXPECT_NEAR(column("RUN", "split", "power").at(0) - column("RUN", "split", "power_back").at(0),
              flux, 1e-9 * flux);
}

/// What a wave loses over 3 um in a medium of a loss tangent is the same whether its permittivity
/// is a constant or has poles.
TEST_F(Fdtd, ALossTangentIsThatOfEpsAndPoles) {
  const auto passes = [&](const std::string& medium) {
    write("case.toml", R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["12 um", "0 um", "0 um"], cell = "20 nm", background = "board"}
run = {precision = "f64", stop.decay_db = 50}
[[material]]
name = "board"
loss_tangent = 0.05
loss_frequency = "200 THz"
)" + medium + R"([[source]]
kind = "point"
component = "Ey"
position = ["-3 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "40 THz"}
[[monitor]]
kind = "flux"
name = "far"
position = ["2 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["200 THz"]
relative_to = "near"
[[monitor]]
kind = "flux"
name = "near"
position = ["-1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["200 THz"]
)");
    const Outcome out = run_case("case.toml", "RUN");
    EXPECT_EQ(out.code, 0) << out.err;
    return column("RUN", "far", "ratio").at(0);
  };
  // 2 + 1/(1 - 1/4) at half of the resonance; Im sqrt(eps) is n tan d/2.
  const double plain = passes("eps = 3.33333333\n"),
               poles = passes(
                   "eps = 2\npoles = [{kind = \"lorentz\", frequency = \"400 THz\", "
                   "damping = \"3 THz\", delta_eps = 1}]\n");
  const double k = 2 * std::numbers::pi * 200e12 / 299792458.0 * std::sqrt(10.0 / 3);
  EXPECT_NEAR(std::log(plain), -k * 0.05 * 3e-6, 0.02 * k * 0.05 * 3e-6);
  EXPECT_NEAR(std::log(poles), std::log(plain), 0.01 * k * 0.05 * 3e-6);
}

TEST_F(Fdtd, ACarrierOnAPoleWithoutLossesIsTaken) {  // where no permittivity is finite
  write("case.toml", R"(app = "electromagnetics.fdtd"
[grid]
size = ["4 um", "2 um", "0 um"]
cell = "50 nm"
polarization = "Ez"
[run]
stop = {time = "0.05 ps"}
[[material]]
name = "m"
eps = 2
poles = [{kind = "lorentz", frequency = "200 THz", damping = "0 THz", delta_eps = 0.5}]
[[structure]]
shape = "cylinder"
radius = "0.4 um"
height = "inf"
material = "m"
[[source]]
kind = "point"
component = "Ez"
position = ["-1 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "40 THz"}
[[monitor]]
kind = "flux"
name = "through"
position = ["1 um", "0 um", "0 um"]
size = ["0 um", "1 um", "0 um"]
frequencies = ["190 THz"]
)");
  const Outcome checked = tessera({"check", "case.toml"}), out = run_case("case.toml", "RUN");
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(out.code, 0) << out.err;
}

}  // namespace
