// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/gmsh_2d.h"

#include "refusals.h"
#include "tessera/autodiff/error.h"
#include "tessera/inversion/outline_2d.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

// Two squares over each other, the upper one (group 7) air, cut into triangles; z upwards.
const char* const kMsh2 = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
7
1 0 -1 0
2 1 -1 0
3 1 0 0
4 0 0 0
5 1 1 0
6 0 1 0
99 5 5 0
$EndNodes
$Elements
6
1 15 2 0 1 1
2 1 2 0 1 4 3
3 2 2 5 1 1 2 3
4 2 2 5 1 1 3 4
5 2 2 7 2 4 3 5
6 2 2 7 2 4 6 5
$EndElements
)";
const char* const kMsh4 = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
1 1 2 0
1 0 -1 0 0
1 0 0 0 1 0 0 0 2 1 -1
1 0 -1 0 1 0 0 1 5 0
2 0 0 0 1 1 0 1 7 0
$EndEntities
$Nodes
2 6 1 6
2 1 0 4
1
2
3
4
0 -1 0
1 -1 0
1 0 0
0 0 0
2 2 0 2
5
6
1 1 0
0 1 0
$EndNodes
$Elements
3 3 1 3
1 1 1 1
1 4 3
2 1 3 1
2 1 2 3 4
2 2 3 1
3 4 3 5 6
$EndElements
)";

GmshOptions upwards() {
  return {
      .medium = [](Index group) { return group == 7 ? air() : Medium2d{.parameter = group - 5}; },
      .upwards = true};
}

TEST(Gmsh2d, BothFormatsAreRead) {
  for (const char* text : {kMsh2, kMsh4}) {
    Mesh2d m = read_msh(text, upwards());
    EXPECT_EQ(m.corners, text == kMsh2 ? 3 : 4);
    EXPECT_EQ(m.vertices(), 6);  // the node that no cell has is left out
    EXPECT_EQ(m.cells(), text == kMsh2 ? 4 : 2);
    for (Index c = 0; c < m.cells(); ++c) EXPECT_EQ(m.medium[c].is_air(), m.middle(c).second < 0);
    m.lines = {line_between(m, [&](Index c) { return m.medium[c].is_air(); })};
    require_mesh(m);
    for (const Index v : m.lines[0]) EXPECT_EQ(m.z[v], 0);
  }
}

TEST(Gmsh2d, WhatIsWrongIsToldWithItsLine) {
  const auto refused = [](const std::string& text, const std::string& from, const std::string& to,
                          const std::string& word) {
    testing::expect_refused([](const std::string& t) { read_msh(t, upwards()); }, text, from, to,
                            word);
  };
  refused(kMsh2, "2.2 0 8", "3.0 0 8", ".msh:2:1: error E0365: formats 2.2 and 4.1");
  refused(kMsh2, "2.2 0 8", "2.2 1 8", "binary");
  refused(kMsh2, "4 6 5\n", "4 6 77\n", ".msh:21:1: error E0365: a cell names node 77");
  refused(kMsh2, "6 2 2 7 2 4 6 5", "6 3 2 7 2 4 3 5 6", "triangles and quadrilaterals");
  refused(kMsh2, "5 2 2 7 2", "5 2 2 0 2", "no physical group");
  refused(kMsh2, "2 1 -1 0", "2 1 x 0", "E0303");
  refused(kMsh2, "1 0 -1 0", "1 0 0 0", "has no area");
  refused(kMsh4, "2 0 0 0 1 1 0 1 7 0", "2 0 0 0 1 1 0 0 0", "no physical group");
}

TEST(Mesh2d, DepthsThroughPoints) {
  const auto depth = depth_through({-10, 0, 5}, {1, -1, 4});
  EXPECT_EQ(depth(-20), 1);
  EXPECT_EQ(depth(-10), 1);
  EXPECT_EQ(depth(-5), 0);
  EXPECT_EQ(depth(2.5), 1.5);
  EXPECT_EQ(depth(7), 4);
  EXPECT_EQ(depth_through({3}, {2})(9), 2);
  EXPECT_THROW(depth_through({0, 0}, {1, 2}), Error);
  EXPECT_THROW(depth_through({0, 1}, {1}), Error);
  EXPECT_THROW(depth_through({0, 1}, {1, std::nan("")}), Error);
}

}  // namespace
}  // namespace tessera::inversion
