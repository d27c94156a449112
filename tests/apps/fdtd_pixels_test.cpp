// SPDX-License-Identifier: Apache-2.0
// Bodies of pixels from files of every kind, and files that are none.
#include "fdtd_case.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

using namespace tessera::testing;
using tessera::tensor;

namespace {

const char* const kPixels = R"(app = "electromagnetics.fdtd"
output = {vtk = false}
grid = {size = ["3 um", "3 um", "0 um"], cell = "50 nm", polarization = "Hz"}
run = {precision = "f64", stop.steps = 300}
boundary.pml.cells = 8
[[material]]
name = "glass"
index = 1.5
[[material]]
name = "silicon"
index = 3.5
[[structure]]
name = "pattern"
shape = "pixels"
file = "pattern.csv"
axes = ["x", "y"]
empty = "glass"
material = "silicon"
low = ["-0.51 um", "-0.32 um", "-inf"]
high = ["0.42 um", "0.43 um", "inf"]
[[source]]
kind = "point"
component = "Hz"
position = ["-0.8 um", "0.1 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "probe"
name = "field"
components = ["Hz"]
position = ["0.8 um", "0.2 um", "0 um"]
)";

// 3 pixels along x, 2 along y.
const char* const kDensities = "# x falls\n1, 0\n0.25, 1\n\n0,0.5\n";

class FdtdPixels : public Fdtd {
 protected:
  /// The trace of the case with other lines of its structure.
  std::string trace(const std::string& text) {
    write("case.toml", text);
    const Outcome out = run_case("case.toml", "RUN");
    EXPECT_EQ(out.code, 0) << out.err;
    return table("RUN", "field");
  }
};

TEST_F(FdtdPixels, AreTheSameFromFilesOfEveryKind) {
  write("pattern.csv", kDensities);
  const std::string csv = trace(kPixels);
  const auto other = [&](const std::string& file, const std::string& axes) {
    return trace(changed(changed(kPixels, "pattern.csv", file), R"(["x", "y"])", axes));
  };
  tessera::data::write_npy(here() / "pattern.npy", tensor({1.0, 0.0, 0.25, 1.0, 0.0, 0.5}, {3, 2}));
  EXPECT_EQ(other("pattern.npy", R"(["x", "y"])"), csv);
  write("turned.csv", "0 1 0.5\n1 0.25 0\n");
  EXPECT_EQ(other("turned.csv", R"(["-y", "x"])"), other("turned.csv", R"(["-y", "x"])"));
  EXPECT_NE(other("turned.csv", R"(["y", "x"])"), csv);
  EXPECT_EQ(other("turned.csv", R"(["-y", "x"])"), csv);
  write("mirrored.csv", "0,0.5\n0.25,1\n1,0\n");
  EXPECT_EQ(other("mirrored.csv", R"(["-x", "y"])"), csv);
}

TEST_F(FdtdPixels, AreBoxesOfTheirMedia) {
  write("pattern.csv", "1,0\n0,1\n0,0\n");
  const std::string pixels = trace(kPixels);
  std::string text = kPixels;
  const auto begin = text.find("[[structure]]"), end = text.find("[[source]]");
  const auto boxed = [](const std::string& material, const std::string& low,
                        const std::string& high) {
    return "[[structure]]\nshape = \"box\"\nmaterial = \"" + material + "\"\nlow = [" + low +
           ", \"-inf\"]\nhigh = [" + high + ", \"inf\"]\n";
  };
  text.replace(begin, end - begin,
               boxed("glass", R"("-0.51 um", "-0.32 um")", R"("0.42 um", "0.43 um")") +
                   boxed("silicon", R"("-0.51 um", "-0.32 um")", R"("-0.2 um", "0.055 um")") +
                   boxed("silicon", R"("-0.2 um", "0.055 um")", R"("0.11 um", "0.43 um")"));
  write("boxes.toml", text);
  ASSERT_EQ(run_case("boxes.toml", "BOXES").code, 0);
  const auto a = column("RUN", "field", "Hz"), b = column("BOXES", "field", "Hz");
  double largest = 0;
  for (const double x : a) largest = std::max(largest, std::abs(x));
  ASSERT_GT(largest, 0);
  for (std::size_t n = 0; n < a.size(); ++n) EXPECT_NEAR(a[n], b[n], 1e-12 * largest);
}

TEST_F(FdtdPixels, InterpolateIfAskedTo) {
  write("pattern.csv", kDensities);
  const std::string exact = trace(kPixels);
  EXPECT_NE(trace(changed(kPixels, "file =", "interpolation = \"linear\"\nfile =")), exact);
  write("even.csv", "0.5 0.5\n0.5 0.5\n");
  const std::string even = changed(kPixels, "pattern.csv", "even.csv");
  const std::string whole = trace(even);
  EXPECT_EQ(trace(changed(even, "file =", "interpolation = \"linear\"\nfile =")), whole);
}

TEST_F(FdtdPixels, AreTheSameOnRanksAndDrawnAnew) {
  write("pattern.csv", kDensities);
  const std::string text = std::string(kPixels) + R"([[monitor]]
kind = "dft"
name = "map"
components = ["Hz"]
size = ["2 um", "2 um", "0 um"]
frequencies = ["200 THz"]
)";
  const std::string one = trace(text);
  write("case.toml", text);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RANKS", "--ranks", "threads:3"}).code, 0);
  EXPECT_EQ(table("RANKS", "field"), one);
  const std::string drawn = read("RUN/plots/map_0000.svg");
  ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/map_0000.svg"), drawn);
  std::filesystem::remove(here() / "pattern.csv");
  ASSERT_EQ(tessera({"plot", "RUN"}).code, 0);  // without the lines between pixels
  EXPECT_NE(read("RUN/plots/map_0000.svg"), drawn);
}

TEST_F(FdtdPixels, WrongFilesAreToldWithTheirPlace) {
  const auto told = [&](const std::string& bytes, const std::string& message, int code = 4) {
    write("pattern.csv", bytes);
    write("case.toml", kPixels);
    const Outcome out = tessera({"check", "case.toml"});
    EXPECT_EQ(out.code, code) << out.err;
    EXPECT_TRUE(holds(out.err, message)) << out.err;
  };
  told("a,b\n1,0\n", "pattern.csv:1:1: error E0433: 'a' is no number");
  told("1,0\n1,0,1\n", "pattern.csv:2:1: error E0433: the row has 3 numbers, those before it 2");
  told("1,0\n1,\n", "pattern.csv:2:3: error E0433: '' is no number");
  told("1,0\n1,nan\n", "E0445");
  told("1,0\n1,2\n", "has 2 at [1, 1]: densities lie within 0 and 1");
  told("1,0\n-0.1,1\n", "has -0.1 at [1, 0]");
  told("# nothing\n", "E0445");
  tessera::data::write_npy(here() / "three.npy", tensor({1.0, 0.0}, {1, 1, 2}));
  const auto refused = [&](const std::string& what, const std::string& by,
                           const std::string& message) {
    write("pattern.csv", kDensities);
    write("case.toml", changed(kPixels, what, by));
    const Outcome out = tessera({"check", "case.toml"});
    EXPECT_NE(out.code, 0);
    EXPECT_TRUE(holds(out.err, message)) << out.err;
  };
  refused("pattern.csv", "three.npy", "has 3 indices, and axes names 2");
  refused("pattern.csv", "none.csv", "E0401");
  refused("pattern.csv", "pattern.gds", "E0445");
  refused(R"(["x", "y"])", R"(["x", "-x"])", "two indices run along x");
  refused(R"(["x", "y"])", R"(["x", "z"])", "pixels along z need a finite size");
  refused("empty = \"glass\"", "empty = \"pec\"", "'pec' is a perfect conductor");
  refused("file =", "rotate = {angle = \"30 deg\"}\nfile =", "pixels lie along the grid");
  refused("empty = \"glass\"", "empty = \"glas\"", "glass");
}

}  // namespace
