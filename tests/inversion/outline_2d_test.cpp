// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/outline_2d.h"

#include "csv_columns.h"
#include "measured.h"
#include "refusals.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/diagnostic.h"
#include "tessera/inversion/goal_mesh_2d.h"
#include "tessera/inversion/mare2dem_model.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

namespace tessera::inversion {
namespace {

const char* const kBox = R"(# a box with a floor in it
6 2 0 0
1 0 -1
2 4 -1
3 4 0   # the ground
4 4 3
5 0 3
6 0 0
7 1
1 1 2 1
2 2 3 1
3 3 4 1
4 4 5 1
5 5 6 1
6 6 1 1
7 6 3 1
0
2
1 1 -0.5 1 -1
2 1 1 2 -1
)";

TEST(Outline2d, PolyFilesAreRead) {
  const Outline2d o = read_poly(kBox);
  EXPECT_EQ(o.y.size(), 6u);
  EXPECT_EQ(o.segments.size(), 7u);
  EXPECT_EQ(o.segments[6], (std::array<Index, 2>{5, 2}));
  EXPECT_EQ(o.seeds[1].region, 1);
  const auto refused = [](const std::string& text, const std::string& from, const std::string& to,
                          const std::string& word) {
    testing::expect_refused([](const std::string& t) { read_poly(t); }, text, from, to, word);
  };
  refused(kBox, "7 6 3 1", "7 6 9 1", ".poly:16:5: error E0365: this segment's end is no point");
  refused(kBox, "7 6 3 1", "7 6 6 1",
          ".poly:16:5: error E0365: this segment has no length: it ends");
  refused(kBox, "5 0 3\n", "5 4 3\n",
          ".poly:13:5: error E0365: this segment has no length: points 4 and 5 are one place");
  refused(kBox, "4 4 3", "4 4 x", ".poly:6:5: error E0303");
  refused(kBox, "4 4 3", "3 4 3", "comes twice");
  refused(kBox, "4 4 3", "1e300 4 3", "a point's number is a whole number");
  refused(kBox, "4 4 3", "4 4", "a point has 3 numbers or more");
  refused(kBox, "6 2 0 0", "-6 2 0 0", "number of points");
  refused(kBox, "2 1 1 2 -1", "", "ends where a region is due");
  refused(kBox, "2 1 1 2 -1", "2 1 1 0 -1", "a region's attribute");
  refused(kBox, "\n0\n", "\n1\n", "holes");
}

TEST(Outline2d, PolyFilesThereAndBack) {
  Outline2d o = read_poly(kBox);
  o.y[1] = 0.1 + 0.2;
  o.z[2] = -1e-300;
  const Outline2d again = read_poly(poly_text(o));
  EXPECT_EQ(again.y, o.y);
  EXPECT_EQ(again.z, o.z);
  EXPECT_EQ(again.segments, o.segments);
  ASSERT_EQ(again.seeds.size(), o.seeds.size());
  for (std::size_t k = 0; k < o.seeds.size(); ++k) {
    EXPECT_EQ(again.seeds[k].y, o.seeds[k].y);
    EXPECT_EQ(again.seeds[k].z, o.seeds[k].z);
    EXPECT_EQ(again.seeds[k].region, o.seeds[k].region);
  }
}

// A corner that lies off a segment by what a program rounds.
TEST(Outline2d, SegmentsThatCrossAreToldWithTheirPlace) {
  std::string why_not;
  if (!outlines_available(&why_not)) GTEST_SKIP() << why_not;
  Outline2d o = read_poly(kBox);
  const std::vector<Medium2d> media{air(), {.parameter = 0}};
  o.y.insert(o.y.end(), {1, 3});
  o.z.insert(o.z.end(), {-0.01, 1});
  o.segments.push_back({6, 7});  // through the floor at z = 0
  try {
    (void)triangles_of(o, media);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("segment 8 from (y, z) = (1, -0.01) to (3, 1) meets "
                                         "segment 7 from (y, z) = (0, 0) to (4, 0) at (1.0198"),
              std::string::npos)
        << e.what();
  }
  o.z[6] = 0;  // on it: they meet in a point
  EXPECT_GT(triangles_of(o, media).cells(), 3);
}

TEST(Outline2d, WhatBoundsNothingIsRefused) {
  std::string why_not;
  if (!outlines_available(&why_not)) GTEST_SKIP() << why_not;
  const std::vector<Medium2d> media{air(), {.parameter = 0}};
  const auto expect_said = [&](const Outline2d& o, const char* words) {
    try {
      (void)triangles_of(o, media);
      ADD_FAILURE() << words;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  Outline2d o = read_poly(kBox);
  o.segments.push_back({4, 4});
  expect_said(o, "segment 8 has no length: both ends are at (y, z) = (0, 3)");
  o = read_poly(kBox);
  o.y.push_back(0), o.z.push_back(3);
  EXPECT_GT(triangles_of(o, media).cells(), 3);  // a point that comes twice is one
  o.segments.push_back({4, 6});
  expect_said(o, "segment 8 has no length: both ends are at (y, z) = (0, 3)");
  o = read_poly(kBox);
  o.z.assign(6, 0);
  for (std::size_t k = 0; k < 6; ++k) o.y[k] = static_cast<double>(k);
  expect_said(o, "all points of the outline lie on one line");
  o.y.assign(6, 0);
  expect_said(o, "all points of the outline lie on one line");
}

const char* const kResistivity = R"(Format: mare2dem_1.1   ! input
Model File:   a.poly     ! input
Data File:    a.emdata
Anisotropy: isotropic ! input
Number of regions:  3
!#  Rho Param Lower Upper Prej Weight
1 0.3   0 0 0 0 0
2 2.5d1 1 1 1000 10 0.5
3 1e+13 0 0 0 0 0
)";

TEST(Mare2demModel, RegionsAreReadWithWhatIsFree) {
  const Mare2demModel m = read_mare2dem_model(kResistivity);
  EXPECT_EQ(m.model_file, "a.poly");
  EXPECT_EQ(m.data_file, "a.emdata");
  ASSERT_EQ(m.regions.size(), 3u);
  EXPECT_EQ(m.regions[1].ohm_m, (std::array<double, 3>{25, 25, 25}));
  EXPECT_EQ(m.regions[0].free, (std::array<bool, 3>{false, false, false}));
  EXPECT_EQ(m.regions[1].free, (std::array<bool, 3>{true, true, true}));
  EXPECT_EQ(m.regions[1].lower, 1);
  EXPECT_EQ(m.regions[1].upper, 1000);
  EXPECT_EQ(m.regions[1].reference, 10);
  EXPECT_EQ(m.regions[1].weight, 0.5);
  const auto media = media_of(m);
  EXPECT_EQ(media[1].parameter, 1);
  EXPECT_TRUE(media[2].is_air());
  const Mare2demModel t = read_mare2dem_model(
      "Format: mare2dem_1.1\nAnisotropy: triaxial\nNumber of regions: 1\n1 1 2 3 0 5 6\n");
  EXPECT_TRUE(t.anisotropic);
  EXPECT_EQ(t.regions[0].ohm_m, (std::array<double, 3>{1, 2, 3}));
  EXPECT_EQ(t.regions[0].free, (std::array<bool, 3>{false, true, true}));
}

TEST(Mare2demModel, WhatIsWrongIsToldWithItsPlace) {
  const auto refused = [](const std::string& from, const std::string& to, const std::string& word) {
    testing::expect_refused([](const std::string& t) { read_mare2dem_model(t, "a.resistivity"); },
                            kResistivity, from, to, word);
  };
  refused("mare2dem_1.1", "occam2d", "a.resistivity:1:9: error E0365");
  refused("isotropic", "tiz", "is not read: isotropic and triaxial are");
  refused("regions:  3", "regions:  4", "ends after 3 of 4 regions");
  refused("regions:  3", "regions:  2", "more regions than the file says");
  refused("regions:  3", "regions:  no", "E0309");
  refused("Number of regions:  3\n", "", "expected 'Key: value'");
  refused("2 2.5d1", "4 2.5d1", "region 2 is due here");
  refused("2.5d1", "-1", "a.resistivity:8:3: error E0365: a resistivity is positive");
  refused("2.5d1", "x", "E0303");
  refused("1 0.3   0 0 0 0 0", "1 0.3", "a region has 3 numbers or more");
}

TEST(Outline2d, TrianglesFillTheRegions) {
  std::string why;
  if (!outlines_available(&why)) GTEST_SKIP() << why;
  const Outline2d o = read_poly(kBox);
  Mesh2d m =
      triangles_of(o, {air(), {.parameter = 0}},
                   {.size = [](double y, double z) { return 0.1 + 0.2 * std::hypot(y - 1, z); }});
  double area[2] = {0, 0}, longest = 0;
  for (Index c = 0; c < m.cells(); ++c) {
    const Index* v = &m.cell[c * 3];
    const double a = ((m.y[v[1]] - m.y[v[0]]) * (m.z[v[2]] - m.z[v[0]]) -
                      (m.z[v[1]] - m.z[v[0]]) * (m.y[v[2]] - m.y[v[0]])) /
                     2;
    area[m.medium[c].is_air() ? 0 : 1] += a;
    const auto [y, z] = m.middle(c);
    EXPECT_EQ(m.medium[c].is_air(), z < 0);
    for (int k = 0; k < 3; ++k)
      longest = std::max(
          longest, std::hypot(m.y[v[k]] - m.y[v[(k + 1) % 3]], m.z[v[k]] - m.z[v[(k + 1) % 3]]) /
                       (0.1 + 0.2 * std::hypot(y - 1, z)));
  }
  EXPECT_NEAR(area[0], 4, 1e-12);
  EXPECT_NEAR(area[1], 12, 1e-12);
  EXPECT_LE(longest, 1);
  m.lines = {line_between(m, [&](Index c) { return m.medium[c].is_air(); })};
  require_mesh(m);
  for (const Index v : m.lines[0]) EXPECT_EQ(m.z[v], 0);
  EXPECT_THROW(triangles_of(o, {air()}), Error);
  Outline2d bad = o;
  bad.seeds.pop_back();
  EXPECT_THROW(triangles_of(bad, {air(), {.parameter = 0}}), Error);
  bad.seeds.push_back({9, 9, 1});
  EXPECT_THROW(triangles_of(bad, {air(), {.parameter = 0}}), Error);
}

struct Demo {
  Mesh2d mesh;
  Sensors2d sensors;
  std::vector<double> frequency, rho;
  /// [type][frequency][receiver]: log10 rho_a and phase, TE (123, 104) and TM (125, 106)
  std::map<int, std::vector<std::vector<double>>> responses;
};

std::string whole(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Demo mare2dem_demo() {
  const auto folder = testing::test_data() / "mt/mare2dem_demo";
  Demo d;
  const Mare2demModel model =
      read_mare2dem_model(whole(folder / "Demo.0.resistivity"), "Demo.0.resistivity");
  for (const auto& region : model.regions) d.rho.push_back(region.ohm_m[0]);
  std::string line;
  const Outline2d o = read_poly(whole(folder / "Demo.poly"), "Demo.poly");
  std::istringstream data(whole(folder / "Demo.0.resp"));
  while (std::getline(data, line)) {
    std::istringstream in(
        line.substr(line.find(':') == std::string::npos ? 0 : line.find(':') + 1));
    int count = 0;
    if (line.starts_with("# MT Frequencies")) {
      in >> count;
      for (double f; count-- > 0 && data >> f;) d.frequency.push_back(f);
    } else if (line.starts_with("# MT Receivers")) {
      in >> count;
      std::getline(data, line);
      while (count-- > 0 && std::getline(data, line)) {
        std::istringstream row(line);
        double x = 0, y = 0, z = 0, theta = 0, alpha = 0, beta = 0;
        row >> x >> y >> z >> theta >> alpha >> beta;
        d.sensors.y.push_back(y);
        d.sensors.tilt.push_back(beta * std::numbers::pi / 180);
      }
    } else if (line.starts_with("# Data")) {
      in >> count;
      for (const int type : {123, 104, 125, 106})
        d.responses[type].assign(d.frequency.size(), std::vector<double>(d.sensors.y.size()));
      std::getline(data, line);
      while (count-- > 0 && std::getline(data, line)) {
        std::istringstream row(line);
        int type = 0, f = 0, tx = 0, rx = 0;
        double value = 0, error = 0, response = 0;
        row >> type >> f >> tx >> rx >> value >> error >> response;
        d.responses.at(type)[static_cast<std::size_t>(f - 1)][static_cast<std::size_t>(rx - 1)] =
            response;
      }
    }
  }
  const Index sea = 2;  // region 3
  const auto size = [&](double y, double z) {
    double away = 1e9;
    for (const double at : d.sensors.y) away = std::min(away, std::hypot(y - at, z - 1700));
    return 400 + 0.5 * away;
  };
  d.mesh = triangles_of(o, media_of(model), {.size = size});
  d.mesh.lines = {line_between(d.mesh, [&](Index c) {
    return d.mesh.medium[c].is_air() || d.mesh.medium[c].parameter == sea;
  })};
  const Sensors2d on = sensors_on(d.mesh, 0, d.sensors.y);
  d.sensors.z = on.z;
  return d;
}

struct Refined {
  Responses2d responses;
  Index cells;
  double seconds;
};
/// Refined for some of the frequencies; then all are computed on the mesh.
Refined refined_responses(const Demo& d, double goal) {
  std::vector<double> rho;
  for (const double r : d.rho)
    if (r < 1e9) rho.push_back(std::log(r));
  const Tensor ln_rho = tensor(rho);
  const Forward2dOptions options{.order = 2, .tipper = false};
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<double> some{d.frequency[0], d.frequency[5], d.frequency[10], d.frequency[15]};
  const GoalMesh g = goal_mesh(d.mesh, d.sensors, some, ln_rho, {.goal = goal, .forward = options});
  for (const auto& s : g.steps) std::printf("  %ld cells, error %.2e\n", s.cells, s.error);
  EXPECT_TRUE(g.reached);
  const Responses2d r = Forward2d(g.mesh, d.sensors, d.frequency, options)(ln_rho);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return {r, g.mesh.cells(), took.count()};
}

/// Minutes long on a busy machine: for their acceptance rows.
TEST(Mare2demDemo, DISABLED_ResponsesAreThoseOfItsFile) {
  std::string why;
  if (!outlines_available(&why)) GTEST_SKIP() << why;
  if (!std::filesystem::exists(testing::test_data() / "mt/mare2dem_demo"))
    GTEST_SKIP() << "no test data";
  const Demo d = mare2dem_demo();
  ASSERT_EQ(d.frequency.size(), 16u);
  ASSERT_EQ(d.sensors.y.size(), 25u);
  const Refined r = refined_responses(d, 0.01);
  int within = 0, compared = 0, low = 0;
  double worst = 0, worst_above = 0;  // in units of 1 % and 0.5 degrees
  for (const bool te : {true, false}) {
    const Tensor z = te ? r.responses.te : -r.responses.tm;
    const auto ln_rho_a = ln_apparent_resistivity(z, d.frequency).to_vector<double>(),
               phase = phase_degrees(z).to_vector<double>();
    for (std::size_t f = 0; f < 16; ++f)
      for (std::size_t s = 0; s < 25; ++s) {
        const double rho_a = std::pow(10, d.responses.at(te ? 123 : 125)[f][s]),
                     degrees = d.responses.at(te ? 104 : 106)[f][s];
        for (const double off : {std::abs(std::exp(ln_rho_a[f * 25 + s]) / rho_a - 1) / 0.01,
                                 std::abs(phase[f * 25 + s] - degrees) / 0.5}) {
          within += off <= 1;
          low += off > 1 && d.frequency[f] < 3e-4;
          worst = std::max(worst, off);
          if (d.frequency[f] > 3e-4) worst_above = std::max(worst_above, off);
          ++compared;
        }
      }
  }
  test::measured("cells", static_cast<double>(r.cells));
  test::measured("share_within", double(within) / compared);
  test::measured("beyond_below_0.3_mHz", low);
  test::measured("worst_in_tolerances", worst);
  test::measured("worst_above_0.3_mHz", worst_above);
  test::measured("seconds", r.seconds);
  EXPECT_EQ(compared, 1600);
  EXPECT_GE(within, 1520);
  EXPECT_LE(worst, 3);
}

TEST(Mare2demDemo, DISABLED_OneGoalAgreesWithATenthOfIt) {
  std::string why;
  if (!outlines_available(&why)) GTEST_SKIP() << why;
  if (!std::filesystem::exists(testing::test_data() / "mt/mare2dem_demo"))
    GTEST_SKIP() << "no test data";
  const Demo d = mare2dem_demo();
  const Refined one = refined_responses(d, 0.01), tenth = refined_responses(d, 0.001);
  const auto change = [](const Tensor& a, const Tensor& b) {
    return 2 * max(abs(a / b - 1.0)).item();
  };
  const double te = change(one.responses.te, tenth.responses.te),
               tm = change(one.responses.tm, tenth.responses.tm);
  test::measured("cells_of_tenth", static_cast<double>(tenth.cells));
  test::measured("te", te);
  test::measured("tm", tm);
  EXPECT_LE(te, 0.01);
  EXPECT_LE(tm, 0.01);
}

}  // namespace
}  // namespace tessera::inversion
