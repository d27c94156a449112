// SPDX-License-Identifier: Apache-2.0
// Bodies from files of triangles: as the primitives that they draw, with gaps, and files that are
// none.
#include "fdtd_case.h"
#include "tessera/data/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

const char* const kDrawing = R"(app = "electromagnetics.fdtd"
output = {vtk = false}
grid = {size = ["3 um", "3 um", "0 um"], cell = "50 nm", polarization = "Hz"}
run = {precision = "f64", stop.steps = 300}
boundary.pml.cells = 8
[[material]]
name = "glass"
index = 1.5
[[structure]]
name = "block"
material = "glass"
shape = "mesh"
file = "block.obj"
unit = "0.1 um"
origin = ["-0.01 um", "0.02 um", "0 um"]
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
const char* const kPlain =
    "shape = \"box\"\nlow = [\"-0.51 um\", \"-0.32 um\", \"-0.5 um\"]\nhigh = [\"0.42 um\", "
    "\"0.43 um\", \"0.5 um\"]\n";

/// From (-5, -3.4, -5) to (4.3, 4.1, 5), in tenths of a micrometre about the origin of the case.
const std::string kBlock =
    "v -5 -3.4 -5\nv 4.3 -3.4 -5\nv 4.3 4.1 -5\nv -5 4.1 -5\nv -5 -3.4 5\nv 4.3 -3.4 5\nv 4.3 4.1 "
    "5\nv -5 4.1 5\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 1 5 8 4\n";

class FdtdDrawings : public Fdtd {
 protected:
  std::vector<double> trace(const std::string& text) {
    write("case.toml", text);
    const Outcome out = run_case("case.toml", "RUN");
    EXPECT_EQ(out.code, 0) << out.err;
    said_ = out.out + out.err;
    return column("RUN", "field", "Hz");
  }
  std::string said_;
};

TEST_F(FdtdDrawings, AreThePrimitivesThatTheyDraw) {
  const std::string text = kDrawing;
  const auto begin = text.find("shape = \"mesh\""), end = text.find("[[source]]");
  for (const std::string medium : {"glass", "pec"}) {
    const auto of = [&](const std::string& t) {
      return trace(changed(t, "material = \"glass\"", "material = \"" + medium + "\""));
    };
    const std::vector<double> box = of(std::string(text).replace(begin, end - begin, kPlain));
    double most = 0;
    for (const double x : box) most = std::max(most, std::abs(x));
    ASSERT_GT(most, 0);
    // A section of no thickness is one of 1e-7 of a cell.
    write("block.obj", kBlock);
    const std::vector<double> whole = of(text);
    EXPECT_EQ(said_.find("E0679"), std::string::npos) << said_;
    write("block.obj", changed(kBlock, "f 2 3 7 6\n", "f 2 3 7\n"));
    const std::vector<double> torn = of(text);
    EXPECT_NE(said_.find("1 hole"), std::string::npos) << said_;
    ASSERT_EQ(whole.size(), box.size());
    ASSERT_EQ(torn.size(), box.size());
    for (std::size_t n = 0; n < box.size(); ++n) {
      EXPECT_NEAR(whole[n], box[n], 1e-5 * most);
      EXPECT_NEAR(torn[n], box[n], 1e-5 * most);
    }
  }
}

/// A sphere of 400 nm.
const char* const kBall = R"(ISO-10303-21;
HEADER;
FILE_DESCRIPTION(('a ball'),'2;1');
FILE_NAME('ball','2026-01-01T00:00:00',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));
ENDSEC;
DATA;
#1=APPLICATION_CONTEXT('mechanical design');
#2=PRODUCT_CONTEXT('',#1,'mechanical');
#3=PRODUCT('ball','ball','',(#2));
#4=PRODUCT_DEFINITION_FORMATION('','',#3);
#5=PRODUCT_DEFINITION_CONTEXT('part definition',#1,'design');
#6=PRODUCT_DEFINITION('design','',#4,#5);
#7=PRODUCT_DEFINITION_SHAPE('','',#6);
#8=SHAPE_DEFINITION_REPRESENTATION(#7,#9);
#9=ADVANCED_BREP_SHAPE_REPRESENTATION('',(#14,#15),#10);
#10=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNIT_ASSIGNED_CONTEXT((#11,#12,#13))REPRESENTATION_CONTEXT('',''));
#11=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.NANO.,.METRE.));
#12=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));
#13=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());
#14=AXIS2_PLACEMENT_3D('',#16,#17,#18);
#15=MANIFOLD_SOLID_BREP('',#19);
#16=CARTESIAN_POINT('',(0.,0.,0.));
#17=DIRECTION('',(0.,0.,1.));
#18=DIRECTION('',(1.,0.,0.));
#19=CLOSED_SHELL('',(#20));
#20=ADVANCED_FACE('',(#21),#22,.T.);
#21=FACE_BOUND('',#23,.T.);
#22=SPHERICAL_SURFACE('',#14,400.);
#23=VERTEX_LOOP('',#24);
#24=VERTEX_POINT('',#25);
#25=CARTESIAN_POINT('',(0.,0.,-400.));
ENDSEC;
END-ISO-10303-21;
)";

TEST_F(FdtdDrawings, ASphereOfAStepFileIsTheSphere) {
  if (!tessera::data::reads_step()) GTEST_SKIP() << "a build without OpenCASCADE";
  const std::string text = kDrawing, place = "[\"-10 nm\", \"20 nm\", \"0 nm\"]\n";
  const auto begin = text.find("shape = \"mesh\""), end = text.find("[[source]]");
  write("ball.step", kBall);
  for (const std::string medium : {"glass", "pec"}) {
    const auto of = [&](const std::string& shape) {
      return trace(changed(std::string(text).replace(begin, end - begin, shape),
                           "material = \"glass\"", "material = \"" + medium + "\""));
    };
    const std::vector<double> wanted =
        of("shape = \"sphere\"\nradius = \"400 nm\"\ncentre = " + place);
    const std::vector<double> found =
        of("shape = \"step\"\nfile = \"ball.step\"\norigin = " + place);
    EXPECT_EQ(said_.find("E0679"), std::string::npos) << said_;
    double most = 0, off = 0;
    for (const double x : wanted) most = std::max(most, std::abs(x));
    ASSERT_GT(most, 0);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t n = 0; n < wanted.size(); ++n)
      off = std::max(off, std::abs(found[n] - wanted[n]));
    EXPECT_LT(off, 2e-3 * most) << medium;
  }
}

TEST_F(FdtdDrawings, FilesThatAreNoneAreToldWithTheirPlaces) {
  const auto refused = [&](const std::string& obj, const std::string& words) {
    write("block.obj", obj);
    write("case.toml", kDrawing);
    const Outcome out = tessera({"check", "case.toml"});
    EXPECT_EQ(out.code, 4);
    EXPECT_NE(out.err.find(words), std::string::npos) << out.err;
  };
  refused("v 0 0 0\nf 1 2 3\n", "block.obj:2:5");
  refused("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "E0376");
  refused("v 0 0 0\n", "E0374");
}

}  // namespace
