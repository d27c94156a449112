// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/triangles.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace tessera::data {
namespace {

const std::string kFacet =
    "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1e0 0 0\n  vertex 0 1.5 0\n "
    "endloop\nendfacet\n";

std::string binary(std::uint32_t said, std::size_t there, float coordinate = 1) {
  std::string bytes = "solid but binary";
  bytes.resize(80, ' ');
  const auto put = [&](std::uint32_t v) {
    for (int k = 0; k < 4; ++k) bytes += char(v >> (8 * k));
  };
  put(said);
  for (std::size_t t = 0; t < there; ++t) {
    for (int k = 0; k < 12; ++k)
      put(std::bit_cast<std::uint32_t>(k == 5 ? coordinate : static_cast<float>(k)));
    bytes += std::string(2, '\0');
  }
  return bytes;
}

template <class Parse>
std::string refusal(const Parse& parse) {
  try {
    parse();
  } catch (const InputError& e) {
    return to_string(e.findings().front());
  }
  return {};
}
std::string stl(const std::string& text) {
  return refusal([&] { parse_stl("a.stl", text); });
}
std::string obj(const std::string& text) {
  return refusal([&] { parse_obj("a.obj", text); });
}

/// Twice the area of all triangles along z.
double area(const TriangleFile& t) {
  double sum = 0;
  for (const auto& c : t.triangles) {
    const auto &a = t.points[c[0]], &b = t.points[c[1]], &d = t.points[c[2]];
    sum += (b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]);
  }
  return sum;
}

}  // namespace

TEST(Triangles, TextAndBinaryStl) {
  const TriangleFile t = parse_stl("a.stl", "  solid with a name, facet\n" + kFacet + kFacet +
                                                "endsolid x\nSOLID\n" + kFacet + "ENDSOLID\n");
  EXPECT_EQ(t.triangles.size(), 3U);
  EXPECT_EQ(t.points.size(), 9U);
  EXPECT_EQ(t.points[2][1], 1.5);
  const TriangleFile b = parse_stl("a.stl", binary(2, 2));  // though it begins with "solid"
  EXPECT_EQ(b.triangles.size(), 2U);
  EXPECT_EQ(b.points[0], (std::array<double, 3>{3, 4, 1}));
}

TEST(Triangles, StlSaysWhatIsWrongAndWhere) {
  EXPECT_NE(stl("").find("E0371"), std::string::npos);
  EXPECT_NE(stl("hello").find("neither"), std::string::npos);
  EXPECT_NE(stl("solid a\nendsolid a\n").find("E0374"), std::string::npos);
  EXPECT_NE(stl("solid a\n" + kFacet).find("within a solid"), std::string::npos);
  EXPECT_NE(stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 2\n").find("a.stl:4:1"),
            std::string::npos);
  EXPECT_NE(stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 2 nan\n").find("a.stl:4:12"),
            std::string::npos);
  EXPECT_NE(stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 2 1e13\n").find("E0373"),
            std::string::npos);
  EXPECT_NE(stl("solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 2 3\nendloop\n").find("three"),
            std::string::npos);
  EXPECT_NE(stl("solid a\nnonsense\n").find("expected 'facet'"), std::string::npos);
  EXPECT_NE(stl(binary(3, 2)).find("E0372"), std::string::npos);
  EXPECT_NE(stl(binary(1, 2)).find("E0372"), std::string::npos);
  EXPECT_NE(stl(binary(0, 0)).find("E0374"), std::string::npos);
  EXPECT_NE(stl(binary(4000000000U, 1)).find("E0372"), std::string::npos);
  const std::string nan = stl(binary(1, 1, std::numeric_limits<float>::quiet_NaN()));
  EXPECT_NE(nan.find("E0373"), std::string::npos);
  EXPECT_NE(nan.find("104"), std::string::npos) << nan;  // 84 + 5 x 4
  EXPECT_NE(stl(binary(1, 1, 1e30F)).find("E0373"), std::string::npos);
}

TEST(Triangles, ObjFacesOfAllKinds) {
  const std::string corners = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0 1.0\n";
  EXPECT_EQ(area(parse_obj("a.obj", corners + "f 1 2 3 4\n")), 8);
  EXPECT_EQ(area(parse_obj("a.obj", corners + "f -4 -3 -2 -1\n")), 8);
  EXPECT_EQ(area(parse_obj("a.obj", corners + "vn 0 0 1\nvt 0 0\ng body\no x\ns off\nusemtl m\n"
                                              "f 1/1/1 2//1 \\\n 3/1 4 # all\n")),
            8);
  // An L, from a corner at which a fan would leave it, and turned over.
  const std::string ell = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\n";
  const TriangleFile l = parse_obj("a.obj", ell + "f 2 3 4 5 6 1\n");
  EXPECT_EQ(area(l), 6);
  EXPECT_EQ(l.triangles.size(), 4U);
  for (const auto& c : l.triangles) {
    TriangleFile one = l;
    one.triangles = {c};
    EXPECT_GT(area(one), 0);
  }
  EXPECT_EQ(area(parse_obj("a.obj", ell + "f 1 6 5 4 3 2\n")), -6);
}

TEST(Triangles, ObjSaysWhatIsWrongAndWhere) {
  const std::string three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  EXPECT_NE(obj("# nothing\n").find("E0374"), std::string::npos);
  EXPECT_NE(obj("v 0 0\n").find("E0371"), std::string::npos);
  EXPECT_NE(obj("v 0 0 x\n").find("a.obj:1:7"), std::string::npos);
  EXPECT_NE(obj(three + "f 1 2 4\n").find("a.obj:4:7"), std::string::npos);
  EXPECT_NE(obj(three + "f 1 2 0\n").find("E0375"), std::string::npos);
  EXPECT_NE(obj(three + "f 1 2 -4\n").find("E0375"), std::string::npos);
  EXPECT_NE(obj(three + "f 1 2\n").find("three vertices"), std::string::npos);
  EXPECT_NE(obj(three + "f 1 2 99999999999999999999\n").find("E0375"), std::string::npos);
  EXPECT_NE(obj(three + "curv 0 1 1 2\n").find("free-form"), std::string::npos);
  EXPECT_NE(obj("v 1e300 0 0\n").find("E0373"), std::string::npos);
}

}  // namespace tessera::data
