// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/elements_2d.h"

#include "measured.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/solve.h"
#include "tessera/solvers/ldlt.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

using Complex = std::complex<double>;

/// A made-up field and what -d/dy(a du/dy) - d/dz(b du/dz) + i c u is of it.
struct MadeUp {
  double a = 2, b = 0.5, c = 30;
  Complex u(double y, double z) const {
    return std::sin(2 * y + z) * std::exp(Complex(-1, 1.5) * z);
  }
  // With s = sin(2 y + z), t = cos(2 y + z), k = -1 + 1.5 i: u_y = 2 t e^{kz}, u_z = (t + k s)
  // e^{kz}.
  std::pair<Complex, Complex> slope(double y, double z) const {
    const Complex k(-1, 1.5), e = std::exp(k * z);
    const double s = std::sin(2 * y + z), t = std::cos(2 * y + z);
    return {2 * t * e, (t + k * s) * e};
  }
  Complex source(double y, double z) const {
    const Complex k(-1, 1.5), e = std::exp(k * z);
    const double s = std::sin(2 * y + z), t = std::cos(2 * y + z);
    return (a * 4 * s - b * (-s + 2.0 * k * t + k * k * s) + Complex(0, c) * s) * e;
  }
};

/// Errors in L2 and in the gradients' L2, all values on the rim given.
std::pair<double, double> errors_of(const Mesh2d& mesh, int order) {
  const MadeUp field;
  const Space2d s = space_2d(mesh, order);
  const CellIntegrals t = cell_integrals(s);
  std::vector<bool> rim(static_cast<std::size_t>(s.nodes()), false);
  for (const Edge2d& e : s.edges)
    if (e.cell[1] < 0)
      for (int k = 0; k <= order; ++k) rim[e.node[k]] = true;
  std::vector<Index> row, col;
  std::vector<c128> value;
  std::vector<c128> b(static_cast<std::size_t>(s.nodes()));
  const int n = s.per_cell;
  for (Index c = 0; c < s.cells(); ++c) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const Index at = (c * n + i) * n + j, p = s.node[c * n + i], q = s.node[c * n + j];
        const Complex v(field.a * t.yy[at] + field.b * t.zz[at], field.c * t.mass[at]);
        if (rim[p]) continue;
        if (rim[q]) {
          b[p] -= v * field.u(s.y[q], s.z[q]);
        } else {
          row.push_back(p), col.push_back(q), value.push_back(v);
        }
      }
    for_points(s, c, [&](double y, double z, double w, const ShapeValues& v) {
      for (int i = 0; i < n; ++i)
        if (!rim[s.node[c * n + i]]) b[s.node[c * n + i]] += w * v.phi[i] * field.source(y, z);
    });
  }
  for (Index k = 0; k < s.nodes(); ++k)
    if (rim[k])
      row.push_back(k), col.push_back(k), value.emplace_back(1), b[k] = field.u(s.y[k], s.z[k]);
  const CooPattern coo = csr_from_coo(s.nodes(), s.nodes(), row, col);
  const auto u = linear_solve(LinearOperator::csr(csr_values(coo, tensor(value)), coo.pattern),
                              tensor(b), {.solver = solvers::ldlt()})
                     .x.to_vector<c128>();
  double l2 = 0, h1 = 0;
  for (Index c = 0; c < s.cells(); ++c)
    for_points(s, c, [&](double y, double z, double w, const ShapeValues& v) {
      Complex at = -field.u(y, z), dy = -field.slope(y, z).first, dz = -field.slope(y, z).second;
      for (int i = 0; i < n; ++i) {
        const Complex x = u[s.node[c * n + i]];
        at += x * v.phi[i], dy += x * v.dy[i], dz += x * v.dz[i];
      }
      l2 += w * std::norm(at);
      h1 += w * (std::norm(dy) + std::norm(dz));
    });
  return {std::sqrt(l2), std::sqrt(h1)};
}

Mesh2d square_mesh(Index n, bool triangles) {
  std::vector<double> y, z;
  for (Index k = 0; k <= n; ++k)
    y.push_back(double(k) / double(n)), z.push_back(double(k) / double(n));
  Mesh2d m = tensor_mesh(y, z, {}, [](double, double) { return Medium2d{.parameter = 0}; });
  m = bent(m, {{0}, {0.5, [](double at) { return 0.5 + 0.1 * std::sin(3 * at); }}, {1}});
  return triangles ? triangles_of(m) : m;
}

TEST(Elements2d, MadeUpFieldsConvergeAtTheirOrder) {
  for (const bool triangles : {true, false})
    for (const int order : {1, 2}) {
      const auto [l2_coarse, h1_coarse] = errors_of(square_mesh(32, triangles), order);
      const auto [l2_fine, h1_fine] = errors_of(square_mesh(64, triangles), order);
      const double l2 = std::log2(l2_coarse / l2_fine), h1 = std::log2(h1_coarse / h1_fine);
      const std::string name = (triangles ? "P" : "Q") + std::to_string(order);
      std::printf("%s: L2 order %.3f, H1 order %.3f\n", name.c_str(), l2, h1);
      test::measured(name + "_l2_off", l2 - (order + 1));
      test::measured(name + "_h1_off", h1 - order);
      EXPECT_NEAR(l2, order + 1, 0.1) << name;
      EXPECT_NEAR(h1, order, 0.1) << name;
    }
}

TEST(Elements2d, IntegralsOfLinearFieldsAreExactOnBentCells) {
  for (const bool triangles : {true, false})
    for (const int order : {1, 2}) {
      const Mesh2d mesh = square_mesh(3, triangles);
      const Space2d s = space_2d(mesh, order);
      const CellIntegrals t = cell_integrals(s);
      double area = 0, slope = 0;
      const int n = s.per_cell;
      for (Index c = 0; c < s.cells(); ++c)
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) {
            const Index at = (c * n + i) * n + j, p = s.node[c * n + i], q = s.node[c * n + j];
            const double u = 2 * s.y[p] - s.z[p], v = s.y[q] + 3 * s.z[q];
            area += t.mass[at];
            slope += u * v * (t.yy[at] + t.zz[at]);
          }
      EXPECT_NEAR(area, 1, 1e-13);
      EXPECT_NEAR(slope, 2 * 1 - 1 * 3, 1e-12);
    }
}

TEST(Elements2d, EdgesHaveTheirIntegrals) {
  const EdgeIntegrals p1 = edge_integrals(1, 0.6), p2 = edge_integrals(2, 0.6);
  EXPECT_NEAR(p1.mass[0][0], 0.2, 1e-15);
  EXPECT_NEAR(p1.mass[0][1], 0.1, 1e-15);
  EXPECT_NEAR(p1.stiffness[0][1], -1 / 0.6, 1e-14);
  EXPECT_NEAR(p2.mass[0][0], 0.6 * 4 / 30, 1e-15);
  EXPECT_NEAR(p2.mass[0][1], -0.6 / 30, 1e-15);
  EXPECT_NEAR(p2.load[2], 0.4, 1e-15);
  EXPECT_NEAR(p2.slope[2][1] + p2.slope[2][0] + p2.slope[2][2], 0, 1e-15);
}

TEST(Mesh2d, RefusesWhatIsNone) {
  const Mesh2d good = square_mesh(2, true);
  const auto refused = [&](auto&& change, const std::string& word) {
    Mesh2d m = good;
    change(m);
    try {
      require_mesh(m);
      ADD_FAILURE() << "accepted: " << word;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  require_mesh(good);
  refused([](Mesh2d& m) { m.cell[0] = 99; }, "names vertex 99");
  refused([](Mesh2d& m) { std::swap(m.cell[0], m.cell[1]); }, "do not turn");
  refused([](Mesh2d& m) { m.y[4] = std::nan(""); }, "not finite");
  refused([](Mesh2d& m) { m.medium[1] = {.ohm_m = -1}; }, "not positive");
  refused([](Mesh2d& m) { m.lines = {{0, 8}}; }, "leaves the edges");
  refused([](Mesh2d& m) { m.lines = {{0, 1}}; }, "from the left side");
  refused([](Mesh2d& m) { m.medium.clear(); }, "no cells");
}

TEST(Mesh2d, BisectionKeepsAreaMediaAndLines) {
  std::vector<double> y{0, 1, 2.5, 3}, z{-1, 0, 0.2, 2};
  const Mesh2d coarse =
      triangles_of(tensor_mesh(y, z, std::vector{0.0}, [](double at, double depth) {
        return depth < 0 ? air() : Medium2d{.parameter = at < 1 ? 0 : 1};
      }));
  const auto area = [](const Mesh2d& m, Index which) {
    double sum = 0;
    for (Index c = 0; c < m.cells(); ++c) {
      const Index* v = &m.cell[c * 3];
      if (m.medium[c].parameter == which)
        sum += ((m.y[v[1]] - m.y[v[0]]) * (m.z[v[2]] - m.z[v[0]]) -
                (m.z[v[1]] - m.z[v[0]]) * (m.y[v[2]] - m.y[v[0]])) /
               2;
    }
    return sum;
  };
  const Mesh2d fine = refined_to(
      coarse, [](double at, double depth) { return 0.05 + 0.3 * std::hypot(at - 1.2, depth); });
  require_mesh(fine);
  EXPECT_GT(fine.cells(), 4 * coarse.cells());
  EXPECT_GT(fine.lines[0].size(), 8u);
  for (const Index v : fine.lines[0]) EXPECT_EQ(fine.z[v], 0);
  for (const Index which : {-1, 0, 1}) EXPECT_NEAR(area(fine, which), area(coarse, which), 1e-14);
  // Every edge but those on the rim has two cells: nothing hangs.
  for (const Edge2d& e : space_2d(fine, 1).edges) {
    const auto at_rim = [&](const std::vector<double>& x, double low, double high) {
      return (x[e.node[0]] == low && x[e.node[1]] == low) ||
             (x[e.node[0]] == high && x[e.node[1]] == high);
    };
    EXPECT_EQ(e.cell[1] < 0, at_rim(fine.y, 0, 3) || at_rim(fine.z, -1, 2));
  }
  // Angles stay: Rivara's halves no angle below half of the least.
  std::vector<bool> all(static_cast<std::size_t>(coarse.cells()), true);
  std::vector<Index> parent;
  const Mesh2d once = refined(coarse, all, &parent);
  EXPECT_GE(once.cells(), 2 * coarse.cells());
  for (Index c = 0; c < once.cells(); ++c) EXPECT_EQ(once.medium[c], coarse.medium[parent[c]]);
}

TEST(Mesh2d, GradedAxesGoThroughWhatTheyMust) {
  const auto x =
      graded_axis({-100, -3, 0, 50}, [](double at) { return std::max(1.0, 0.2 * std::abs(at)); });
  for (const double must : {-100.0, -3.0, 0.0, 50.0})
    EXPECT_NE(std::find(x.begin(), x.end(), must), x.end());
  for (std::size_t k = 0; k + 1 < x.size(); ++k) {
    EXPECT_GT(x[k + 1], x[k]);
    EXPECT_LE(x[k + 1] - x[k],
              1.15 * std::max(1.0, 0.2 * std::max(std::abs(x[k]), std::abs(x[k + 1]))));
  }
  EXPECT_THROW(graded_axis({0, 1}, [](double) { return 0.0; }), Error);
  EXPECT_THROW(graded_axis(
                   {0, 1}, [](double) { return 1e-9; }, 1000),
               Error);
}

}  // namespace
}  // namespace tessera::inversion
