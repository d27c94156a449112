// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_mesh.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/section_forward.h"
#include "tessera/inversion/section_smoothing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

const SectionScales usual_scales{
    .ohm_m = 100, .shallowest_m = 150, .deepest_m = 5000, .lowest_hz = 1, .highest_hz = 1000};

SectionStations line_of_stations(std::size_t n, double apart, double height = 0) {
  SectionStations s;
  for (std::size_t k = 0; k < n; ++k) {
    s.y.push_back(apart * static_cast<double>(k));
    s.z.push_back(height * std::sin(1.1 * static_cast<double>(k)));
  }
  return s;
}

std::string message_of(const SectionStations& s, const SectionMeshOptions& o) {
  try {
    (void)section_mesh(s, usual_scales, o);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// Every solver cell has the parameter of the model's cell that its middle lies in.
void expect_nested(const SectionMesh& m) {
  const auto inside = [&](Index c, double y, double z) {
    const Mesh2d& q = m.cells;
    for (int k = 0; k < 4; ++k) {
      const Index a = q.cell[c * 4 + k], b = q.cell[c * 4 + (k + 1) % 4];
      if ((q.y[b] - q.y[a]) * (z - q.z[a]) - (q.z[b] - q.z[a]) * (y - q.y[a]) < -1e-6) return false;
    }
    return true;
  };
  Index checked = 0;
  for (Index c = 0; c < m.solver.cells(); c += 37) {
    if (m.solver.medium[c].is_air()) continue;
    const auto [y, z] = m.solver.middle(c);
    for (Index p = 0; p < m.cells.cells(); ++p)
      if (inside(p, y, z)) {
        EXPECT_EQ(m.cells.medium[p], m.solver.medium[c]) << y << " " << z;
        ++checked;
        break;
      }
  }
  EXPECT_GT(checked, 20);
}

TEST(SectionMesh, FollowsTheGroundThroughStations) {
  const SectionStations s = line_of_stations(7, 400, 60);
  const SectionMesh m = section_mesh(s, usual_scales);
  require_mesh(m.cells);
  require_mesh(m.solver);
  EXPECT_EQ(m.cells.cells(), m.parameters());
  EXPECT_EQ(m.solver.parameters(), m.parameters());
  ASSERT_EQ(m.sensors.y.size(), 7u);
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_NEAR(m.sensors.z[k], s.z[k], 1e-6);
    // A station stands over the middle of its column.
    const auto above = std::upper_bound(m.y.begin(), m.y.end(), s.y[k]);
    EXPECT_NEAR((above[0] + above[-1]) / 2, s.y[k], 1e-6);
    EXPECT_NEAR(above[0] - above[-1], 200, 1e-6);
  }
  EXPECT_LE(m.y.front(), -4.2 * 5000);
  EXPECT_GE(m.y.back(), 2400 + 4.2 * 5000);
  EXPECT_GE(m.depth.back(), 4.2 * 5000);
  expect_nested(m);
  EXPECT_TRUE(m.remarks.empty());
}

// Depths of rows below the ground are those of the cells, under hills and in valleys, under a sea.
TEST(SectionMesh, DepthsBelowTheGroundAreThoseOfItsCells) {
  SectionStations s = line_of_stations(7, 400, 900);
  SectionMeshOptions below_sea;
  below_sea.sea = Sea2d{.floor = {{-1e5, 0, 2000, 1e5}, {2900, 2900, 100, 100}}};
  SectionStations on_floor = s;
  for (std::size_t k = 0; k < 7; ++k) on_floor.z[k] = 2900 - 1.4 * std::clamp(s.y[k], 0.0, 2000.0);
  const SectionScales scales{
      .ohm_m = 10, .shallowest_m = 20, .deepest_m = 200, .lowest_hz = 60, .highest_hz = 6000};
  for (const bool padding : {true, false})
    for (const bool sea : {false, true}) {
      SectionMeshOptions o = sea ? below_sea : SectionMeshOptions{};
      o.free_padding = padding;
      const SectionMesh m = section_mesh(sea ? on_floor : s, scales, o);
      const auto depth = depths_below_ground(m);
      Ground2d ground;
      for (const Index v : m.cells.lines.back())
        ground.y.push_back(m.cells.y[v]), ground.z.push_back(m.cells.z[v]);
      const auto z_of_ground = depth_through(ground.y, ground.z);
      double most = 0;
      Index checked = 0;
      for (Index c = 0; c < m.cells.cells(); ++c) {
        const Index p = m.cells.medium[c].parameter;
        if (p < 0) continue;
        const Index column = p / m.rows, row = p % m.rows;
        const auto [y, z] = m.cells.middle(c);
        if (std::abs(y - (m.y[column] + m.y[column + 1]) / 2) > 1e-6) continue;  // padding tied
        if (row + 1 == m.rows && !padding) continue;
        const double flat = (m.depth[row] + m.depth[row + 1]) / 2, is = z - z_of_ground(y);
        EXPECT_NEAR(depth(y, flat), is, 1e-6 * m.base) << y << " " << flat;
        most = std::max(most, is / flat);
        ++checked;
      }
      EXPECT_GT(checked, 100);
      EXPECT_GT(most, 1.5) << "rows are stretched by relief";
    }
}

TEST(SectionMesh, PaddingMayBelongToItsNeighbours) {
  const SectionStations s = line_of_stations(5, 300);
  const SectionMesh all = section_mesh(s, usual_scales),
                    inner = section_mesh(s, usual_scales, {.free_padding = false});
  EXPECT_EQ(all.cells.cells(), inner.cells.cells());
  EXPECT_LT(inner.parameters(), all.parameters() / 2);
  EXPECT_EQ(inner.cells.parameters(), inner.parameters());
  EXPECT_EQ(inner.solver.parameters(), inner.parameters());
  const Smoothing smooth = section_smoothing(inner.cells, {.reference = {4.6}});
  EXPECT_EQ(smooth.prior(1).size(), static_cast<std::size_t>(inner.parameters()));
}

TEST(SectionMesh, SeaAboveTheFloor) {
  SectionMeshOptions o;
  o.sea = Sea2d{.floor = {{-1e5, 0, 2000, 1e5}, {1500, 1400, 900, 900}}};
  SectionStations s = line_of_stations(5, 500);
  for (std::size_t k = 0; k < 5; ++k) s.z[k] = 1400 - s.y[k] / 4;
  const SectionMesh m = section_mesh(s, usual_scales, o);
  expect_nested(m);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(m.sensors.z[k], s.z[k], 1e-6);
  double shallowest = 1e9;
  for (Index c = 0; c < m.solver.cells(); ++c)
    if (m.solver.medium[c] == Medium2d{.ohm_m = 0.3125})
      shallowest = std::min(shallowest, m.solver.middle(c).second);
  EXPECT_GT(shallowest, 0);
  EXPECT_LT(shallowest, 100);
  // It is a mesh that Forward2d takes.
  const Forward2d f(m.solver, m.sensors, {1});
  const Responses2d r = f(full({m.parameters()}, std::log(10.0)));
  EXPECT_TRUE(std::isfinite(max(abs(r.te)).item()));
}

TEST(SectionMesh, WhatCannotBeIsRefused) {
  SectionStations s = line_of_stations(4, 300);
  EXPECT_NE(message_of({}, {}).find("0 y"), std::string::npos);
  s.y[2] = s.y[1];
  EXPECT_NE(message_of(s, {}).find("on one another"), std::string::npos);
  s = line_of_stations(4, 300);
  SectionMeshOptions o;
  o.ground = Ground2d{{0, 900}, {100, 100}};
  EXPECT_NE(message_of(s, o).find("hangs above the ground by 100"), std::string::npos);
  o.ground = Ground2d{{0, 900}, {-100, -100}};
  EXPECT_NE(message_of(s, o).find("lies below the ground by 100"), std::string::npos);
  o.ground = Ground2d{{900, 0}, {0, 0}};
  EXPECT_NE(message_of(s, o).find("left to right"), std::string::npos);
  o = {};
  o.sea = Sea2d{.floor = {{0, 900}, {100, -5}}};
  EXPECT_NE(message_of(s, o).find("above the surface"), std::string::npos);
  EXPECT_NE(message_of(s, {.first_cell_m = -1}).find("first_cell_m"), std::string::npos);
  EXPECT_NE(message_of(s, {.most_nodes = 100}).find("more than 100"), std::string::npos);
  EXPECT_EQ(message_of(line_of_stations(1, 1), {}), "");
}

TEST(SectionScales, DepthsOfAHalfSpace) {
  DataTable t;
  for (const double f : {100.0, 1.0, 0.01}) {
    const double w_mu = 2 * std::numbers::pi * f * 4e-7 * std::numbers::pi,
                 z = std::sqrt(w_mu * 50 / 2);
    t.add(0, f, {Element::xy, Part::real}, z, 1);
    t.add(0, f, {Element::xy, Part::imag}, z, 1);
    t.add(0, f, {Element::yx, Part::log10_rho}, std::log10(50.0), 1);
    t.add(0, f, {Element::yx, Part::phase}, 45, 1);
    t.add(0, f, {Element::ty, Part::real}, 0.1, 1);
  }
  const SectionScales s = section_scales(t);
  EXPECT_NEAR(s.ohm_m, 50, 1e-9);
  EXPECT_NEAR(s.shallowest_m,
              std::sqrt(50 / (2 * std::numbers::pi * 100 * 4e-7 * std::numbers::pi)), 1e-6);
  EXPECT_NEAR(s.deepest_m / s.shallowest_m, 100, 1e-9);
  EXPECT_EQ(s.lowest_hz, 0.01);
}

// One station in five with a static shift of four decades speaks of no deeper section.
TEST(SectionMesh, AShiftedStationDoesNotDeepenIt) {
  const auto scales_with = [](double factor) {
    DataTable t;
    for (int k = 0; k < 5; ++k)
      for (const double f : {100.0, 1.0, 0.01})
        for (const Element e : {Element::xy, Element::yx})
          t.add(k, f, {e, Part::log10_rho}, std::log10(50 * (k == 2 ? factor : 1)), 1);
    return section_scales(t);
  };
  const SectionScales plain = scales_with(1), shifted = scales_with(1e4);
  const double greatest = std::sqrt(50 / (2 * std::numbers::pi * 0.01 * 4e-7 * std::numbers::pi));
  EXPECT_NEAR(*plain.reach_m, greatest, 1e-6 * greatest);
  EXPECT_EQ(*shifted.reach_m, *plain.reach_m);
  EXPECT_NEAR(shifted.deepest_m, 100 * greatest, 1e-4 * greatest);
  const SectionMesh mesh = section_mesh(line_of_stations(5, 1000, 0), shifted);
  EXPECT_GE(mesh.depth_m, 1.5 * greatest);
  EXPECT_LT(mesh.depth_m, 1.12 * 1.5 * greatest) << "a row more at most";
  EXPECT_GE(mesh.depth.back(), 4.2 * shifted.deepest_m) << "padding is for what is deepest";
  EXPECT_LT(section_mesh(line_of_stations(5, 1000, 0), shifted, {.depth_m = 5000}).depth_m, 5601);
}

/// Chosen by itself the mesh gives a half-space's response, and that of finer meshes over blocks.
TEST(SectionMesh, IsFineEnoughAsItComes) {
  const SectionScales of_data{
      .ohm_m = 100, .shallowest_m = 113, .deepest_m = 3560, .lowest_hz = 1, .highest_hz = 1000};
  const std::vector<double> frequency{1000, 30, 1};
  SectionMeshOptions finer;
  finer.first_solver_m = 113.0 / 20;
  finer.solver_rate = 0.04;
  finer.columns_of_cell = 6;
  for (const double height : {0.0, 20.0}) {
    const SectionStations s = line_of_stations(5, 300, height);
    const SectionMesh m = section_mesh(s, of_data), fine = section_mesh(s, of_data, finer);
    std::vector<double> ln_rho;
    for (Index c = 0; c < m.columns; ++c)
      for (Index r = 0; r < m.rows; ++r) {
        const double y = (m.y[c] + m.y[c + 1]) / 2, z = (m.depth[r] + m.depth[r + 1]) / 2;
        ln_rho.push_back(std::log(100.0) - 2 * std::exp(-std::pow((y - 700) / 400, 2) -
                                                        std::pow((z - 500) / 300, 2)));
      }
    const auto of = [&](const SectionMesh& mesh) {
      return Forward2d(mesh.solver, mesh.sensors, frequency)(tensor(ln_rho));
    };
    const Responses2d a = of(m), b = of(fine);
    const double te = 2 * max(abs(a.te / b.te - 1.0)).item(),
                 tm = 2 * max(abs(a.tm / b.tm - 1.0)).item(),
                 tipper = max(abs(a.tipper - b.tipper)).item();
    std::printf("height %g: %ld nodes beside %ld: TE %.4f, TM %.4f of rho_a, tipper %.4f\n", height,
                m.solver.vertices(), fine.solver.vertices(), te, tm, tipper);
    EXPECT_LE(te, 0.02);
    EXPECT_LE(tm, 0.02);
    EXPECT_LE(tipper, 0.01);
  }
}

/// A contact of 3 and 3000 ohm m 40 m beside a station: what rules for columns do not know of.
/// Halved columns and rows come nearer to a mesh that is finer than both.
TEST(SectionMesh, HalvedColumnsAndRowsComeNearerBesideAContact) {
  const SectionScales of_data{
      .ohm_m = 100, .shallowest_m = 113, .deepest_m = 3560, .lowest_hz = 1, .highest_hz = 1000};
  const SectionStations s = line_of_stations(5, 300, 0);
  const auto of = [&](int columns, int rows) {
    SectionMeshOptions o;
    o.cell_width_m = 80;
    o.columns_of_cell = columns;
    o.split_rows = rows;
    const SectionMesh m = section_mesh(s, of_data, o);
    std::vector<double> ln_rho;
    for (Index c = 0; c < m.columns; ++c)
      for (Index r = 0; r < m.rows; ++r)
        ln_rho.push_back(std::log((m.y[c] + m.y[c + 1]) / 2 < s.y[2] + 30 ? 3000.0 : 3.0));
    return Forward2d(m.solver, m.sensors, {1000, 1})(tensor(ln_rho));
  };
  const Responses2d exact = of(16, 4);
  const auto error = [&](int columns, int rows) {
    const Responses2d r = of(columns, rows);
    return std::max(max(abs(r.te / exact.te - 1.0)).item(), max(abs(r.tm / exact.tm - 1.0)).item());
  };
  const double as_it_comes = error(2, 1), columns = error(8, 1), both = error(8, 2);
  std::printf("errors of impedances: %.4f as it comes, %.4f with columns, %.4f with rows cut too\n",
              as_it_comes, columns, both);
  EXPECT_GT(as_it_comes, 0.1);
  EXPECT_LT(columns, as_it_comes / 2);
  EXPECT_LT(both, columns);
  SectionMeshOptions none;
  none.split_rows = 0;
  EXPECT_THROW(section_mesh(s, of_data, none), Error);
}

/// Columns are cut below the stations that are named, whatever order stations stand in.
TEST(SectionMesh, ColumnsAreCutBelowTheStationsThatAreNamed) {
  SectionStations s = line_of_stations(5, 1000, 0);
  std::swap(s.y[0], s.y[3]);
  SectionMeshOptions o;
  const auto width_below = [&](const SectionMesh& m, double y) {
    double least = HUGE_VAL;
    for (Index c = 0; c < m.solver.cells(); ++c) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (int k = 0; k < m.solver.corners; ++k) {
        const double at = m.solver.y[static_cast<std::size_t>(
            m.solver.cell[static_cast<std::size_t>(c * m.solver.corners + k)])];
        low = std::min(low, at), high = std::max(high, at);
      }
      if (low <= y && y <= high) least = std::min(least, high - low);
    }
    return least;
  };
  const SectionMesh before = section_mesh(s, usual_scales, o);
  o.split_columns = {4, 1, 1, 1, 1};
  const SectionMesh after = section_mesh(s, usual_scales, o);
  EXPECT_NEAR(width_below(after, 3000), width_below(before, 3000) / 4, 1e-6);
  EXPECT_NEAR(width_below(after, 0), width_below(before, 0), 1e-6);
  EXPECT_EQ(after.parameters(), before.parameters());
  o.split_columns = {4, 1};
  EXPECT_THROW(section_mesh(s, usual_scales, o), Error);
  o.split_columns = {4, 1, 1, 0, 1};
  EXPECT_THROW(section_mesh(s, usual_scales, o), Error);
}

}  // namespace
}  // namespace tessera::inversion
