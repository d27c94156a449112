// SPDX-License-Identifier: Apache-2.0
// In one and two dimensions a body has no end where nothing is resolved; 0, which all other keys
// have there, says so as "inf" does. What is nowhere is refused at its key.
#include "app_test.h"
#include "csv_columns.h"

#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

class FdtdEndless : public AppTest {
 protected:
  static std::string scene(const std::string& size, const std::string& box, const char* grid,
                           const std::string& body) {
    return "app = \"electromagnetics.fdtd\"\noutput = {vtk = false, pictures = false, scene = "
           "false}\ngrid = {size = [\"2 um\", " +
           size + "], cell = \"50 nm\"" + grid +
           "}\nrun = {precision = \"f64\", stop.steps = 200}\nboundary.pml.cells = 6\n"
           "material = [{name = \"m\", eps = 4}]\n"
           "[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = [\"-0.5 um\", \"0 um\", "
           "\"0 um\"]\nwaveform = {kind = \"gaussian\", frequency = \"150 THz\", bandwidth = "
           "\"120 THz\"}\n[[monitor]]\nkind = \"flux\"\nname = \"out\"\nposition = [\"0.6 um\", "
           "\"0 um\", \"0 um\"]\nsize = [\"0 um\", " +
           box + "]\nfrequencies = [\"120 THz\", \"150 THz\"]\n[[structure]]\nname = \"b\"\n" +
           body + "\n";
  }
  static std::string plane(const std::string& body) {
    return scene("\"1.6 um\", \"0 um\"", "\"0.8 um\", \"0 um\"", ", polarization = \"Ez\"", body);
  }
  static std::string line(const std::string& body) {
    return scene("\"0 um\", \"0 um\"", "\"0 um\", \"0 um\"", "", body);
  }
  std::vector<double> power(const std::string& text) {
    write("case.toml", text);
    const Outcome o = tessera({"run", "case.toml", "--output", "out", "--force"});
    EXPECT_EQ(o.code, 0) << o.err;
    return csv_column(read("out/tables/out.csv"), "flux");
  }
  void refused(const std::string& text, const std::string& words) {
    write("bad.toml", text);
    const Outcome o = tessera({"check", "bad.toml"});
    EXPECT_EQ(o.code, 5) << text << o.err;
    EXPECT_TRUE(holds(o.err, words)) << o.err;
  }
};

/// `LENGTH` as "inf" and as 0, of a dielectric, of metal, and with nothing there.
TEST_F(FdtdEndless, WithoutALengthABodyGoesThrough) {
  const std::string corners =
      R"(corners = [["-0.2 um", "-0.3 um"], ["0.2 um", "-0.3 um"], ["0 um", "0.3 um"]])";
  const std::string box = "shape = \"box\"\nsize = [\"0.4 um\", \"0.5 um\", LENGTH]\n";
  const std::vector<std::string> of_planes = {
      box,
      box + "centre = [\"0 um\", \"0 um\", \"0.3 um\"]",
      box + "rotate.angle = \"30 deg\"",
      box + "repeat = {count = [1, 2, 1], step = [\"0 um\", \"0.7 um\", \"0 um\"]}",
      "shape = \"cylinder\"\nradius = \"0.3 um\"\ninner_radius = \"0.1 um\"\nheight = LENGTH",
      "shape = \"prism\"\nheight = LENGTH\nbase = \"-0.1 um\"\n" + corners};
  const std::vector<std::string> of_lines = {
      "shape = \"box\"\nsize = [\"0.4 um\", LENGTH, LENGTH]",
      "shape = \"box\"\nsize = [\"0.4 um\", \"1 um\", LENGTH]\nrotate = {axis = [1, 0, 0], angle = "
      "\"20 deg\"}",
      "shape = \"cylinder\"\nradius = \"0.3 um\"\naxis = \"y\"\nheight = LENGTH",
      "shape = \"prism\"\nheight = LENGTH\n" + corners};
  const auto with = [](std::string text, const std::string& length) {
    for (std::size_t at; (at = text.find("LENGTH")) != std::string::npos;)
      text.replace(at, 6, length);
    return text;
  };
  for (const bool flat : {true, false}) {
    std::vector<double> nothing;
    for (const std::string& body : flat ? of_planes : of_lines) {
      const auto powers = [&](const std::string& medium, const std::string& length) {
        const std::string text = "material = \"" + medium + "\"\n" + with(body, length);
        return power(flat ? plane(text) : line(text));
      };
      const bool first = nothing.empty();
      if (first) nothing = powers("vacuum", "\"inf\"");
      const std::vector<double> endless = powers("m", "\"inf\"");
      ASSERT_EQ(endless.size(), 2U) << body;
      for (std::size_t f = 0; f < 2; ++f)
        EXPECT_GT(std::abs(endless[f] / nothing[f] - 1), 0.02) << body;
      EXPECT_EQ(powers("m", "\"0 um\""), endless) << body;
      if (first) EXPECT_EQ(powers("pec", "\"0 um\""), powers("pec", "\"inf\"")) << body;
    }
  }
  const std::string low = "material = \"m\"\nshape = \"box\"\nlow = [\"-0.2 um\", \"-0.3 um\", ",
                    high = "]\nhigh = [\"0.2 um\", \"0.3 um\", ";
  EXPECT_EQ(power(plane(low + "\"1 um\"" + high + "\"1 um\"]")),
            power(plane(low + "\"-inf\"" + high + "\"inf\"]")));
}

/// A length of 0 along what is resolved is none, nor is one of a body that is turned out of the
/// plane; and a body whose high face is the plane has nothing in it.
TEST_F(FdtdEndless, WhatIsNowhereIsRefused) {
  const std::string m = "material = \"m\"\n",
                    box = m + "shape = \"box\"\nsize = [\"0.4 um\", \"0.5 um\", \"0 um\"]\n",
                    corners =
                        "corners = [[\"0 um\", \"0 um\"], [\"0.2 um\", \"0 um\"], [\"0 um\", "
                        "\"0.3 um\"]]\n",
                    upright = "error E0626: the body has no height, and its axis points where";
  refused(plane(box + "rotate = {axis = [1, 0, 0], angle = \"40 deg\"}"),
          "error E0653: the box has no size along z");
  refused(plane(m + "shape = \"box\"\nsize = [\"0.4 um\", \"0 um\", \"0 um\"]"),
          "error E0653: the box has no size along y");
  refused(plane(m + "shape = \"cylinder\"\nradius = \"0.3 um\"\nheight = \"0 um\"\naxis = \"y\""),
          upright);
  refused(line(m + "shape = \"prism\"\nheight = \"0 um\"\naxis = \"x\"\n" + corners), upright);
  refused(plane(m + "shape = \"prism\"\nheight = \"0 um\"\nsidewall = \"5 deg\"\n" + corners),
          "error E0626: only a body with upright walls goes through");
  refused(plane(m + "shape = \"cone\"\nradius_low = \"0.3 um\"\nradius_high = \"0.2 um\"\nheight = "
                    "\"0 um\""),
          "error E0626: a cone has a height");
  refused(plane(m + "shape = \"ellipsoid\"\nsemi_axes = [\"0.3 um\", \"0.2 um\", \"0 um\"]"),
          "error E0214: items of 'structure[0].semi_axes' must be above 0 um");
  refused(plane(m + "shape = \"prism\"\nheight = \"1 um\"\nbase = \"-1 um\"\n" + corners),
          "error E0644: the structure lies outside of the domain");
  refused(scene("\"1.6 um\", \"1 um\"", "\"0.8 um\", \"0.5 um\"", "",
                m + "shape = \"cylinder\"\nradius = \"0.3 um\"\nheight = \"0 um\""),
          upright);
}

}  // namespace
