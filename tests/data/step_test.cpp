// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/step.h"

#include "tessera/data/file_io.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

const std::string kSphereBody =
    "#22=SPHERICAL_SURFACE('',#14,2.);\n#23=VERTEX_LOOP('',#24);\n#24=VERTEX_POINT('',#25);\n"
    "#25=CARTESIAN_POINT('',(0.,0.,-2.));\n";
/// Its bound runs along each of two circles there and back.
const std::string kTorusBody =
    "#22=TOROIDAL_SURFACE('',#14,2.,0.5);\n#23=EDGE_LOOP('',(#24,#25,#26,#27));\n"
    "#24=ORIENTED_EDGE('',*,*,#28,.F.);\n#25=ORIENTED_EDGE('',*,*,#29,.T.);\n"
    "#26=ORIENTED_EDGE('',*,*,#28,.T.);\n#27=ORIENTED_EDGE('',*,*,#29,.F.);\n"
    "#28=EDGE_CURVE('',#30,#30,#32,.T.);\n#29=EDGE_CURVE('',#30,#30,#33,.T.);\n"
    "#30=VERTEX_POINT('',#31);\n#31=CARTESIAN_POINT('',(2.5,0.,0.));\n"
    "#32=CIRCLE('',#14,2.5);\n#33=CIRCLE('',#34,0.5);\n"
    "#34=AXIS2_PLACEMENT_3D('',#35,#36,#18);\n#35=CARTESIAN_POINT('',(2.,0.,0.));\n"
    "#36=DIRECTION('',(0.,-1.,0.));\n";
const std::string kMillimetre = "(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.))";

std::string step_text(const std::string& body, const std::string& unit = kMillimetre) {
  return "ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION(('a body'),'2;1');\n"
         "FILE_NAME('body','2026-01-01T00:00:00',(''),(''),'','','');\n"
         "FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));\nENDSEC;\nDATA;\n"
         "#1=APPLICATION_CONTEXT('mechanical design');\n#2=PRODUCT_CONTEXT('',#1,'mechanical');\n"
         "#3=PRODUCT('body','body','',(#2));\n#4=PRODUCT_DEFINITION_FORMATION('','',#3);\n"
         "#5=PRODUCT_DEFINITION_CONTEXT('part definition',#1,'design');\n"
         "#6=PRODUCT_DEFINITION('design','',#4,#5);\n#7=PRODUCT_DEFINITION_SHAPE('','',#6);\n"
         "#8=SHAPE_DEFINITION_REPRESENTATION(#7,#9);\n"
         "#9=ADVANCED_BREP_SHAPE_REPRESENTATION('',(#14,#15),#10);\n"
         "#10=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNIT_ASSIGNED_CONTEXT((#11,#12,#13))"
         "REPRESENTATION_CONTEXT('',''));\n#11=" +
         unit +
         ";\n#12=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));\n"
         "#13=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());\n"
         "#14=AXIS2_PLACEMENT_3D('',#16,#17,#18);\n#15=MANIFOLD_SOLID_BREP('',#19);\n"
         "#16=CARTESIAN_POINT('',(0.,0.,0.));\n#17=DIRECTION('',(0.,0.,1.));\n"
         "#18=DIRECTION('',(1.,0.,0.));\n#19=CLOSED_SHELL('',(#20));\n"
         "#20=ADVANCED_FACE('',(#21),#22,.T.);\n#21=FACE_BOUND('',#23,.T.);\n" +
         body + "ENDSEC;\nEND-ISO-10303-21;\n";
}

class Step : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string why; !reads_step(&why)) GTEST_SKIP() << why;
  }
  void TearDown() override { fs::remove(file_); }
  StepFile read(const std::string& text, const Chord& chord = {}) const {
    std::ofstream(file_, std::ios::binary) << text;
    return read_step(file_, chord);
  }
  std::string refusal(const std::string& text) const {
    try {
      read(text);
    } catch (const InputError& e) {
      return to_string(e.findings().front());
    }
    return {};
  }
  const fs::path file_ =
      fs::temp_directory_path() / ("tessera_step_" + std::to_string(::getpid()) + ".step");
};

/// By flux, and the sides of triangles that have no neighbour.
std::pair<double, int> volume_and_open_sides(const TriangleFile& t) {
  double volume = 0;
  std::map<std::pair<std::array<double, 3>, std::array<double, 3>>, int> sides;
  for (const auto& c : t.triangles) {
    const auto &a = t.points[c[0]], &b = t.points[c[1]], &d = t.points[c[2]];
    volume += (a[0] * (b[1] * d[2] - b[2] * d[1]) + a[1] * (b[2] * d[0] - b[0] * d[2]) +
               a[2] * (b[0] * d[1] - b[1] * d[0])) /
              6;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto &p = t.points[c[k]], &q = t.points[c[(k + 1) % 3]];
      if (p != q) ++sides[{p, q}], --sides[{q, p}];
    }
  }
  int open = 0;
  for (const auto& [ends, sum] : sides) open += sum != 0;
  return {volume, open};
}

TEST_F(Step, CornersLieOnTheTrueFaceAndMiddlesAboutAsNearAsAsked) {
  for (const double chord : {2e-5, 2e-6}) {
    const StepFile s = read(step_text(kSphereBody), {.metres = chord});
    EXPECT_EQ(s.solids, 1u);
    EXPECT_EQ(s.faces, 1u);
    for (const auto& p : s.surface.points) EXPECT_NEAR(std::hypot(p[0], p[1], p[2]), 2e-3, 1e-12);
    for (const auto& c : s.surface.triangles) {
      const auto &a = s.surface.points[c[0]], &b = s.surface.points[c[1]],
                 &d = s.surface.points[c[2]];
      EXPECT_GE(std::hypot(a[0] + b[0] + d[0], a[1] + b[1] + d[1], a[2] + b[2] + d[2]) / 3,
                2e-3 - 2 * chord);
    }
    const auto [volume, open] = volume_and_open_sides(s.surface);
    const double whole = 4 * std::numbers::pi / 3 * 8e-9;
    EXPECT_EQ(open, 0);
    EXPECT_LT(volume, whole);
    EXPECT_GT(volume, whole * (1 - 3 * chord / 2e-3));
  }
}

TEST_F(Step, TheBoundOfATorusIsClosed) {
  const StepFile s = read(step_text(kTorusBody), {.metres = 1e-6});
  const auto [volume, open] = volume_and_open_sides(s.surface);
  EXPECT_EQ(open, 0);
  EXPECT_NEAR(volume / (2 * std::numbers::pi * std::numbers::pi * 2e-3 * 0.25e-6), 1, 4e-3);
}

TEST_F(Step, LengthsAreInTheUnitThatTheFileTells) {
  const std::pair<const char*, double> units[] = {
      {"(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT($,.METRE.))", 1},
      {"(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.CENTI.,.METRE.))", 1e-2},
      {"(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MICRO.,.METRE.))", 1e-6},
      {"(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.NANO.,.METRE.))", 1e-9},
      {"(CONVERSION_BASED_UNIT('INCH',#90)LENGTH_UNIT()NAMED_UNIT(#91));\n"
       "#90=LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(2.54),#92);\n"
       "#91=DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.);\n"
       "#92=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.CENTI.,.METRE.))",
       0.0254}};
  for (const auto& [unit, metres] : units) {
    // In nanometres a sphere of 2 would be a thousandth of the least distance.
    const double size = metres < 1e-8 ? 1000 : 1;
    std::string body = kSphereBody;
    if (size > 1)
      for (const char* number : {"2.)", "2.))"}) body.replace(body.find(number), 2, "2000.");
    const StepFile s = read(step_text(body, unit));
    double furthest = 0;
    for (const auto& p : s.surface.points)
      furthest = std::max(furthest, std::hypot(p[0], p[1], p[2]));
    EXPECT_NEAR(furthest / (2 * size * metres), 1, 1e-9) << unit;
  }
}

TEST_F(Step, WhatCannotBeReadIsToldWithItsLine) {
  const std::string good = step_text(kSphereBody);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  const std::string cut = refusal(good.substr(0, good.find("#13=")) + "#13=(");
  EXPECT_NE(cut.find(":20: error E0383: Incorrect syntax: unexpected end of file"),
            std::string::npos)
      << cut;
  EXPECT_NE(refusal("").find("E0383"), std::string::npos);
  EXPECT_NE(changed("(#11,#12,#13)", "(#12,#13)").find("no unit of length"), std::string::npos);
  EXPECT_NE(changed(".MILLI.", ".MINI.").find("the unit #11"), std::string::npos);
  EXPECT_NE(changed(".METRE.", ".GRAM.").find("is no unit of length"), std::string::npos);
  EXPECT_NE(changed("(#20)", "(#19)").find("E0384"), std::string::npos);
  // These crash OpenCASCADE.
  EXPECT_NE(changed("'',#16,#17", "'',#14,#17").find("E0429"), std::string::npos);
  EXPECT_NE(changed("#21=FACE", "#4000000000=FACE").find("E0429"), std::string::npos);
  EXPECT_THROW(read_step(fs::path(::testing::TempDir()) / "none.step"), InputError);
}

}  // namespace
}  // namespace tessera::data
