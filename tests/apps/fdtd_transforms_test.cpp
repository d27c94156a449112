// SPDX-License-Identifier: Apache-2.0
// Transforms of fields: what they hold does not depend on how often they look, on the order of the
// file, or on what else is asked for.
#include "fdtd_case.h"
#include "tessera/data/hdf5.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

using namespace tessera::testing;

namespace {

constexpr double kLight = 299792458.0;

std::string text_of(double v) {
  std::ostringstream out;
  out.precision(17);
  out << v;
  return out.str();
}

class FdtdTransforms : public Fdtd {
 protected:
  void run(const std::string& name, const std::string& text,
           std::vector<std::string> options = {}) {
    write(name + ".toml", text);
    options.insert(options.begin(),
                   {"run", name + ".toml", "--output", name, "--force", "--threads", "1"});
    const Outcome o = tessera(options);
    ASSERT_EQ(o.code, 0) << o.err;
  }
};

/// The largest difference of two rows, each quantity over the largest of its columns (its angles,
/// its real and imaginary parts).
double difference(const std::map<std::string, std::vector<double>>& a,
                  const std::map<std::string, std::vector<double>>& b) {
  const auto quantity = [](const std::string& column) {
    return column.substr(0, column.find_first_of("_0123456789"));
  };
  std::map<std::string, double> largest, off;
  for (const auto& [name, values] : a) {
    const std::string q = quantity(name);
    // Nothing absorbs here: what is left of the incident power, which is no part of the table.
    if (q == "absorption" || q == "extinction") continue;
    largest[q] = std::max(largest[q], std::abs(values.at(0)));
    off[q] = std::max(off[q], std::abs(values.at(0) - b.at(name).at(0)));
  }
  double out = 0;
  for (const auto& [q, d] : off) out = std::max(out, largest[q] > 0 ? d / largest[q] : d);
  return out;
}

// ---- how often they look ----

struct Wave {
  double cells;  ///< a wavelength
  double width;  ///< of the pulse, over its frequency
  double angle;  ///< of a current over the plane, degrees; -1: a plane wave in its box
};

/// Nothing lies in the domain, so what passes a plane passes all. With fine cells the whole
/// spectrum lies in a small part of what the grid could carry; towards grazing angles the cut-off
/// comes near. Both planes lie on lines of the grid, where fields are not interpolated.
TEST_F(FdtdTransforms, FluxOfEmptySpaceIsTheSameThroughEveryPlane) {
  const double f = 240e12;
  const std::vector<Wave> waves{{20, 1, 0},     {20, 0.1, 35}, {20, 0.01, 80},  {75, 1, 0},
                                {75, 0.3, 35},  {250, 1, 0},   {250, 0.2, 35},  {250, 0.01, 80},
                                {250, 1.5, -1}, {2000, 1, 0},  {2000, 0.3, 35}, {2000, 0.1, 0},
                                {20, 1, -1},    {2000, 1, -1}};
  for (const Wave& w : waves) {
    const double cell = kLight / f / w.cells,
                 k = 2 * std::numbers::pi * f / kLight *
                     std::sin(std::max(w.angle, 0.0) * std::numbers::pi / 180);
    const auto cells = [&](double n) { return "\"" + text_of(n * cell) + " m\""; };
    const std::string source =
        w.angle < 0 ? "kind = \"plane_wave\"\ndirection = [1, 0, 0]\npolarization = [0, 0, 1]\n"
                    : "kind = \"plane\"\ncomponent = \"Ez\"\nposition = [" + cells(-50) +
                          ", \"0 m\", \"0 m\"]\nsize = [\"0 m\", " + cells(2) + ", \"0 m\"]\n";
    std::string text =
        "app = \"electromagnetics.fdtd\"\noutput = {vtk = false, pictures = false, scene = false}\n"
        "grid = {size = [" +
        cells(160) + ", " + cells(2) + ", \"0 m\"], cell = " + cells(1) +
        ", polarization = \"Ez\"}\n"
        "run = {precision = \"f64\", stop.after_sources = \"" +
        text_of(8 / f) +
        " s\"}\n"
        "[boundary]\nx = \"pml\"\npml.cells = 20\n" +
        (w.angle < 0 ? std::string("y = \"periodic\"\n")
                     : "y = \"bloch\"\nbloch_k = [\"0 rad/m\", \"" + text_of(k) +
                           " rad/m\", \"0 rad/m\"]\n") +
        "[[source]]\n" + source + "waveform = {kind = \"gaussian\", frequency = \"" + text_of(f) +
        " Hz\", bandwidth = \"" + text_of(w.width * f) + " Hz\"}\n";
    for (const char* at : {"10", "41"})
      text += std::string("[[monitor]]\nkind = \"flux\"\nname = \"at") +
              (at[0] == '1' ? "1" : "2") + "\"\nposition = [" + cells(std::stod(at)) +
              ", \"0 m\", \"0 m\"]\nsize = [\"0 m\", " + cells(2) +
              ", \"0 m\"]\nfrequencies = [\"" + text_of(f) + " Hz\"]\n";
    run("empty", text);
    const double one = column("empty", "at1", "flux").at(0),
                 two = column("empty", "at2", "flux").at(0);
    EXPECT_GT(one, 0);
    EXPECT_NEAR(two / one, 1, 1e-6)
        << w.cells << " cells a wavelength, width " << w.width << ", " << w.angle << " degrees";
  }
}

/// A frequency near half the sampling rate beside the one that counts makes a transform look at
/// every step. Pulses without a share near zero frequency: in a domain of a thirtieth of a
/// wavelength quasi-static fields stay longer than a test may last, and a transform that is cut off
/// is another one at each step and at some.
class FdtdTransformsOf : public FdtdTransforms, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Sources, FdtdTransformsOf,
                         testing::Values("point", "line", "wave", "beam"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(FdtdTransformsOf, HowOftenTheyLookDoesNotShow) {
  const std::string source = GetParam();
  const double f = 240e12;
  const std::pair<double, double> pulses[] = {{20, 0.2}, {20, 0.6}, {300, 0.3}, {2000, 0.6}};
  for (const auto& [per_wave, width] : pulses) {
    const double cell = kLight / f / per_wave, fast = 0.45 * std::sqrt(2.0) * kLight / cell / 0.95;
    const auto cells = [&](double n) { return "\"" + text_of(n * cell) + " m\""; };
    const auto box = [&](double n) { return "[" + cells(n) + ", " + cells(n) + ", \"0 m\"]"; };
    const std::string z = ", \"0 m\"]\n",
                      pulse = "waveform = {kind = \"gaussian\", frequency = \"" + text_of(f) +
                              " Hz\", bandwidth = \"" + text_of(width * f) + " Hz\"}\n";
    std::string text =
        "app = \"electromagnetics.fdtd\"\noutput = {vtk = false, pictures = false, scene = "
        "false}\ngrid = {size = " +
        box(64) + ", cell = " + cells(1) +
        ", polarization = \"Ez\"}\nrun = {precision = \"f64\", stop.after_sources = \"" +
        text_of(10 / f) +
        " s\"}\nboundary.pml.cells = 10\n[[structure]]\nshape = \"cylinder\"\nradius = " +
        cells(7.3) + "\nheight = \"inf\"\nmaterial = \"SiO2\"\n[[source]]\n";
    if (source == "point")
      text += "kind = \"point\"\ncomponent = \"Ez\"\nposition = [" + cells(2.2) + ", " +
              cells(-1.4) + z;
    if (source == "line")
      text += "kind = \"line\"\ncomponent = \"Ez\"\nposition = [" + cells(2) + ", " + cells(1) + z +
              "size = [\"0 m\", " + cells(6) + z;
    if (source == "wave")
      text +=
          "kind = \"plane_wave\"\ndirection = [1, 0.4, 0]\npolarization = [0, 0, 1]\nposition = "
          "[\"0 m\", \"0 m\", \"0 m\"]\nsize = " +
          box(24) + "\n";
    if (source == "beam")
      text += "kind = \"beam\"\ndirection = [1, 0, 0]\npolarization = [0, 0, 1]\nposition = [" +
              cells(-16) + ", \"0 m\", \"0 m\"]\nwaist = " + cells(per_wave) + "\n";
    text += pulse;
    const std::map<std::string, std::string> monitors{
        {"flux",
         "position = [" + cells(15) + ", \"0 m\", \"0 m\"]\nsize = [\"0 m\", " + cells(20) + z},
        {"orders", "position = [" + cells(15) + ", \"0 m\", \"0 m\"]\nsize = [\"0 m\", " +
                       cells(40) + z + "orders = [[0, 0]]\n"},
        {"dft", "position = [" + cells(9.1) + ", " + cells(3.3) + z},
        {"energy", "position = [\"0 m\", \"0 m\", \"0 m\"]\nsize = " + box(10) + "\n"},
        {"far_field", "position = [\"0 m\", \"0 m\", \"0 m\"]\nsize = " + box(36) +
                          "\nangle_points = [1, 12]\n"},
        {source == "wave" ? "rcs" : "ldos",
         source == "wave" ? "position = [\"0 m\", \"0 m\", \"0 m\"]\nsize = " + box(36) +
                                "\nangle_points = [1, 12]\n"
                          : ""}};
    std::vector<std::string> kinds;
    for (const auto& [kind, rest] : monitors) {
      if (kind == "ldos" && source != "point") continue;
      kinds.push_back(kind);
      for (const bool each : {false, true})
        text += "[[monitor]]\nkind = \"" + kind + "\"\nname = \"" + kind + (each ? "_each" : "") +
                "\"\n" + rest + "frequencies = [\"" + text_of(f) + " Hz\"" +
                (each ? ", \"" + text_of(fast) + " Hz\"" : "") + "]\n";
    }
    run("case", text);
    for (const std::string& kind : kinds)
      EXPECT_LT(
          difference(csv_table(table("case", kind)), csv_table(table("case", kind + "_each"))),
          1e-7)
          << kind << " of a " << source << ", " << per_wave << " cells a wavelength, width "
          << width;
    const Outcome check = tessera({"check", "case.toml"});
    EXPECT_TRUE(holds(check.out, "monitor flux: transforms take one step of ")) << check.out;
    EXPECT_TRUE(holds(check.out, "monitor flux_each: transforms take every step")) << check.out;
  }
}

/// A mode's pulse is made of its waveform by filters of the band, which have to keep what is
/// injected as narrow.
TEST_F(FdtdTransforms, AModeOfAWideBandFoldsNothing) {
  const auto text = [](const std::string& more) {
    return R"(app = "electromagnetics.fdtd"
grid = {size = ["1.8 um", "1.2 um", "0 um"], cell = "0.02 um", polarization = "Ez"}
run = {precision = "f64", stop = {time = "300 fs"}}
boundary.pml.cells = 10
output = {vtk = false, pictures = false, scene = false}
[[material]]
name = "guide"
eps = 4.0
[[structure]]
shape = "box"
size = ["inf", "0.2 um", "inf"]
material = "guide"
[[source]]
kind = "mode"
position = ["-0.5 um", "0 um", "0 um"]
size = ["0 um", "0.8 um", "0 um"]
direction = [1, 0, 0]
waveform = {kind = "gaussian", frequency = "300 THz", bandwidth = "200 THz"}
[[monitor]]
kind = "flux"
name = "f"
position = ["0.3 um", "0 um", "0 um"]
size = ["0 um", "0.6 um", "0 um"]
frequencies = ["290 THz", "300 THz")" +
           more + "]\n";
  };
  run("some", text(""));
  run("each", text(", \"4000 THz\""));
  const std::vector<double> some = column("some", "f", "flux"), each = column("each", "f", "flux");
  ASSERT_EQ(some.size(), 2U);
  for (std::size_t q = 0; q < 2; ++q) EXPECT_NEAR(some[q] / each[q], 1, 1e-7);
}

/// The harmonics of a nonlinear medium are in no source.
TEST_F(FdtdTransforms, HarmonicsDoNotFoldOntoTheFundamental) {
  const std::string example = (std::filesystem::path(TESSERA_SOURCE_DIR) /
                               "apps/examples/electromagnetics/third_harmonic.toml")
                                  .string();
  const auto end = [&](const std::string& frequencies) {
    const Outcome o = tessera({"run", example, "--set", "grid.cell=\"100 nm\"", "--output", "RUN",
                               "--force", "--set", "monitor[0].frequencies=" + frequencies, "--set",
                               "expect=[]", "--set", "source[0].amplitude=8e-3"});
    EXPECT_EQ(o.code, 0) << o.err;
    return column("RUN", "end", "flux").at(0);
  };
  const double alone = end("[\"99.930819333 THz\"]"),
               every_step = end("[\"99.930819333 THz\", \"2500 THz\"]");
  EXPECT_NEAR(alone / every_step, 1, 1e-6);
}

// ---- what they count ----

/// A body that swallows power within a box: what comes in is what goes out with the sign turned.
TEST_F(FdtdTransforms, AReversedBoxCountsWhatComesIn) {
  run("lossy", R"(app = "electromagnetics.fdtd"
grid = {size = ["3.2 um", "3.2 um", "3.2 um"], cell = "0.1 um"}
run.stop.steps = 500
boundary.pml.cells = 3
[[material]]
name = "wet"
eps = 4
sigma = "5000 S/m"
[[structure]]
shape = "sphere"
radius = "0.3 um"
material = "wet"
[[source]]
kind = "plane_wave"
direction = [1, 0, 0]
polarization = [0, 0, 1]
waveform = {kind = "gaussian", frequency = "150 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "flux"
name = "out"
position = ["0 um", "0 um", "0 um"]
size = ["1 um", "1 um", "1 um"]
frequencies = ["140 THz", "160 THz"]
[[monitor]]
kind = "flux"
name = "in"
position = ["0 um", "0 um", "0 um"]
size = ["1 um", "1 um", "1 um"]
frequencies = ["140 THz", "160 THz"]
reverse = true
)");
  const auto out = column("lossy", "out", "flux"), in = column("lossy", "in", "flux");
  ASSERT_EQ(in.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_GT(in[k], 0);
    EXPECT_EQ(in[k], -out[k]);
  }
}

/// A former run's results without those whose names end so, as earlier versions wrote them.
void copy_without(const std::filesystem::path& from, const std::filesystem::path& to,
                  const std::string& ending) {
  std::filesystem::create_directories(to);
  tessera::data::H5Writer out(to / "results.h5");
  for (const auto& [name, array] : tessera::data::read_h5(from / "results.h5"))
    if (!name.ends_with(ending))
      std::visit(
          [&](const auto& values) {
            using Values = std::decay_t<decltype(values)>;
            if constexpr (std::is_same_v<Values, std::vector<std::string>>)
              out.write_texts(name, values, array.attributes);
            else
              out.write(name, values, array.shape, array.attributes);
          },
          array.data);
  out.commit();
}

/// A line of vacuum with lines every 50 nm, and one more in the middle of a cell behind the
/// monitor.
std::string vacuum(bool has_a_smaller_cell) {
  std::string lines;
  for (int i = -60; i <= 60; ++i) {
    lines += (lines.empty() ? "\"" : ", \"") + std::to_string(50 * i) + " nm\"";
    if (has_a_smaller_cell && i == 30) lines += ", \"1525 nm\"";
  }
  return R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
run = {precision = "f64", dt = "0.07 fs", stop.after_sources = "100 fs"}
boundary = {x = "pml", pml.cells = 10}
grid = {size = ["0 um", "0 um", "0 um"], cell = "50 nm", x.lines = [)" +
         lines + R"(]}
[[source]]
kind = "point"
component = "Ey"
position = ["-1.6 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "100 THz"}
[[monitor]]
kind = "flux"
name = "power"
position = ["-1 um", "0 um", "0 um"]
size = ["0 um", "0 um", "0 um"]
frequencies = ["200 THz"]
)";
}

/// Unknowns are in units of the smallest cell of the grid, which may lie anywhere.
TEST_F(FdtdTransforms, AFormerRunOfAGridWithAnotherSmallestCellIsTakenOffAsItIs) {
  run("coarse", vacuum(false));
  run("fine", vacuum(true));
  const double sent = rows("coarse", "power").at(0).at(1);
  EXPECT_NEAR(rows("fine", "power").at(0).at(1) / sent, 1, 1e-3);
  run("less", vacuum(true), {"--set", "monitor[0].subtract=\"coarse\""});
  EXPECT_LT(std::abs(rows("less", "power").at(0).at(1)), 1e-3 * sent);
  run("more", vacuum(false), {"--set", "monitor[0].subtract=\"fine\""});
  EXPECT_LT(std::abs(rows("more", "power").at(0).at(1)), 1e-3 * sent);
  copy_without(here() / "coarse", here() / "early", "/transform/reference_length");
  const Outcome early = tessera({"check", "fine.toml", "--set", "monitor[0].subtract=\"early\""});
  EXPECT_EQ(early.code, 5);
  EXPECT_TRUE(holds(early.err, "error E0660") &&
              holds(early.err, "does not say in units of which length its sums are"))
      << early.err;
}

/// Fields of a run that a port drives, for 1 W at it and as its pulse makes them.
TEST_F(FdtdTransforms, ARunMinusItselfIsNothingPerWattToo) {
  const std::string text = R"(app = "electromagnetics.fdtd"
output = {vtk = false, pictures = false, scene = false}
grid = {size = ["4 um", "1 um", "0 um"], cell = "50 nm", polarization = "Ez"}
run = {precision = "f64", stop.after_sources = "50 fs"}
boundary = {x = "pml", y = "pec", pml.cells = 10}
[[port]]
kind = "mode"
name = "a"
position = ["-1 um", "0 um", "0 um"]
direction = [1, 0, 0]
[s_parameters]
frequencies = ["180 THz", "240 THz"]
per_watt = "incident"
[[monitor]]
kind = "dft"
name = "field"
position = ["0 um", "0.2 um", "0 um"]
frequencies = ["180 THz", "240 THz"]
)",
                    as_it_is = "s_parameters.per_watt=\"no\"";
  run("incident", text);
  run("no", text, {"--set", as_it_is});
  for (const std::string former : {"incident", "no"})
    for (const std::string own : {"incident", "no"}) {
      run("less", text,
          {"--set", "monitor[0].subtract=\"" + former + "\"", "--set",
           "s_parameters.per_watt=\"" + own + "\""});
      const auto all = rows(own, "field"), nothing = rows("less", "field");
      ASSERT_EQ(all.size(), nothing.size());
      for (std::size_t k = 0; k < all.size(); ++k) {
        double largest = 0;
        for (std::size_t q = 1; q < all[k].size(); ++q)
          largest = std::max(largest, std::abs(all[k][q]));
        EXPECT_GT(largest, 0);
        for (std::size_t q = 1; q < all[k].size(); ++q)
          EXPECT_NEAR(nothing[k].at(q) / largest, 0, 1e-9) << former << own << q;
      }
    }
  copy_without(here() / "incident", here() / "early", "/transform/of_a_watt");
  const Outcome early =
      tessera({"check", "incident.toml", "--set", "monitor[0].subtract=\"early\""});
  EXPECT_EQ(early.code, 5);
  EXPECT_TRUE(holds(early.err, "error E0660") && holds(early.err, "per watt, and not of how many"))
      << early.err;
}

}  // namespace
