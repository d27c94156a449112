// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/elements_2d.h"

#include "tessera/autodiff/error.h"

#include <cmath>
#include <string>
#include <unordered_map>

namespace tessera::inversion {
namespace {

struct Point {
  double a, b, weight;  // of the reference triangle (0,0) (1,0) (0,1) or the unit square
};

/// Shapes and their derivatives by the reference coordinates.
struct Reference {
  std::array<double, 9> phi{}, da{}, db{};
};

Reference triangle_shapes(int order, double a, double b) {
  const std::array<double, 3> l{1 - a - b, a, b}, la{-1, 1, 0}, lb{-1, 0, 1};
  Reference r;
  for (int i = 0; i < 3; ++i) {
    if (order == 1) {
      r.phi[i] = l[i], r.da[i] = la[i], r.db[i] = lb[i];
      continue;
    }
    r.phi[i] = l[i] * (2 * l[i] - 1);
    r.da[i] = (4 * l[i] - 1) * la[i], r.db[i] = (4 * l[i] - 1) * lb[i];
    const int j = (i + 1) % 3;
    r.phi[3 + i] = 4 * l[i] * l[j];
    r.da[3 + i] = 4 * (la[i] * l[j] + l[i] * la[j]);
    r.db[3 + i] = 4 * (lb[i] * l[j] + l[i] * lb[j]);
  }
  return r;
}

/// One axis: value and slope of the shape at end 0, end 1, middle.
std::array<double, 3> line_shapes(int order, double t) {
  if (order == 1) return {1 - t, t, 0};
  return {(1 - t) * (1 - 2 * t), t * (2 * t - 1), 4 * t * (1 - t)};
}
std::array<double, 3> line_slopes(int order, double t) {
  if (order == 1) return {-1, 1, 0};
  return {4 * t - 3, 4 * t - 1, 4 - 8 * t};
}

/// Corners (0,0) (1,0) (1,1) (0,1), middles of the edges from each corner to the next, the middle.
constexpr std::array<std::array<int, 2>, 9> square_nodes{
    {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {2, 0}, {1, 2}, {2, 1}, {0, 2}, {2, 2}}};

Reference square_shapes(int order, double a, double b) {
  const auto va = line_shapes(order, a), vb = line_shapes(order, b), sa = line_slopes(order, a),
             sb = line_slopes(order, b);
  Reference r;
  for (int i = 0; i < (order == 1 ? 4 : 9); ++i) {
    const auto [p, q] = square_nodes[i];
    r.phi[i] = va[p] * vb[q], r.da[i] = sa[p] * vb[q], r.db[i] = va[p] * sb[q];
  }
  return r;
}

/// Six points, exact to degree 4: Dunavant 1985, doi:10.1002/nme.1620210612.
std::vector<Point> triangle_points() {
  std::vector<Point> out;
  for (const auto& [g, w] : {std::pair(0.445948490915965, 0.223381589678011),
                             std::pair(0.091576213509771, 0.109951743655322)})
    for (const auto& [a, b] : {std::pair(g, g), std::pair(g, 1 - 2 * g), std::pair(1 - 2 * g, g)})
      out.push_back({a, b, w / 2});
  return out;
}
/// Four points of Gauss an axis, exact to degree 7.
std::vector<Point> square_points() {
  const double r = std::sqrt(1.2), near = std::sqrt((3 - 2 * r) / 7),
               far = std::sqrt((3 + 2 * r) / 7);
  const std::array<double, 4> at{-far, -near, near, far};
  const double heavy = (18 + std::sqrt(30.0)) / 36, light = (18 - std::sqrt(30.0)) / 36;
  const std::array<double, 4> weight{light, heavy, heavy, light};
  std::vector<Point> out;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      out.push_back({(1 + at[i]) / 2, (1 + at[j]) / 2, weight[i] * weight[j] / 4});
  return out;
}

}  // namespace

Space2d space_2d(const Mesh2d& mesh, int order) {
  if (order != 1 && order != 2)
    throw Error("[space_2d] elements have order 1 or 2, not " + std::to_string(order));
  require_mesh(mesh);
  Space2d s;
  s.order = order, s.corners = mesh.corners, s.y = mesh.y, s.z = mesh.z;
  s.per_cell = order == 1 ? mesh.corners : mesh.corners == 3 ? 6 : 9;
  std::unordered_map<std::uint64_t, Index> number;
  for (Index c = 0; c < mesh.cells(); ++c)
    for (int k = 0; k < mesh.corners; ++k) {
      const Index a = mesh.cell[c * mesh.corners + k],
                  b = mesh.cell[c * mesh.corners + (k + 1) % mesh.corners];
      const auto key = static_cast<std::uint64_t>(std::min(a, b)) << 32 |
                       static_cast<std::uint64_t>(std::max(a, b));
      const auto [found, fresh] = number.try_emplace(key, static_cast<Index>(s.edges.size()));
      if (fresh) {
        s.edges.push_back({.node = {a, b, -1}, .cell = {c, -1}});
        if (order == 2) {
          s.edges.back().node[2] = s.nodes();
          s.y.push_back((mesh.y[a] + mesh.y[b]) / 2);
          s.z.push_back((mesh.z[a] + mesh.z[b]) / 2);
        }
      } else if (s.edges[found->second].cell[1] >= 0) {
        throw Error("[Mesh2d] more than two cells have the edge between vertices " +
                    std::to_string(a) + " and " + std::to_string(b));
      } else {
        s.edges[found->second].cell[1] = c;
      }
      s.edge.push_back(found->second);
    }
  for (Index c = 0; c < mesh.cells(); ++c) {
    for (int k = 0; k < mesh.corners; ++k) s.node.push_back(mesh.cell[c * mesh.corners + k]);
    if (order == 1) continue;
    for (int k = 0; k < mesh.corners; ++k)
      s.node.push_back(s.edges[s.edge[c * mesh.corners + k]].node[2]);
    if (mesh.corners == 4) {
      s.node.push_back(s.nodes());
      const auto [y, z] = mesh.middle(c);
      s.y.push_back(y);
      s.z.push_back(z);
    }
  }
  return s;
}

void for_points(const Space2d& s, Index c,
                const std::function<void(double, double, double, const ShapeValues&)>& f) {
  static const std::vector<Point> of_triangle = triangle_points(), of_square = square_points();
  const bool triangle = s.corners == 3;
  const Index* v = &s.node[c * s.per_cell];
  for (const Point& p : triangle ? of_triangle : of_square) {
    const Reference r = triangle ? triangle_shapes(s.order, p.a, p.b)
                                 : square_shapes(s.order, p.a, p.b),
                    g = triangle ? triangle_shapes(1, p.a, p.b) : square_shapes(1, p.a, p.b);
    double y = 0, z = 0, ya = 0, yb = 0, za = 0, zb = 0;
    for (int i = 0; i < s.corners; ++i) {
      y += g.phi[i] * s.y[v[i]], z += g.phi[i] * s.z[v[i]];
      ya += g.da[i] * s.y[v[i]], yb += g.db[i] * s.y[v[i]];
      za += g.da[i] * s.z[v[i]], zb += g.db[i] * s.z[v[i]];
    }
    const double area = ya * zb - yb * za;
    ShapeValues shapes;
    for (int i = 0; i < s.per_cell; ++i) {
      shapes.phi[i] = r.phi[i];
      shapes.dy[i] = (zb * r.da[i] - za * r.db[i]) / area;
      shapes.dz[i] = (ya * r.db[i] - yb * r.da[i]) / area;
    }
    f(y, z, p.weight * area, shapes);
  }
}

CellIntegrals cell_integrals(const Space2d& s) {
  const int n = s.per_cell;
  CellIntegrals out;
  for (auto* t : {&out.yy, &out.zz, &out.mass})
    t->assign(static_cast<std::size_t>(s.cells() * n * n), 0.0);
  for (Index c = 0; c < s.cells(); ++c)
    for_points(s, c, [&](double, double, double w, const ShapeValues& v) {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const Index at = (c * n + i) * n + j;
          out.yy[at] += w * v.dy[i] * v.dy[j];
          out.zz[at] += w * v.dz[i] * v.dz[j];
          out.mass[at] += w * v.phi[i] * v.phi[j];
        }
    });
  return out;
}

EdgeIntegrals edge_integrals(int order, double length) {
  EdgeIntegrals e;
  e.n = order + 1;
  // Gauss with three points: exact to degree 5.
  const double g = std::sqrt(0.6);
  for (const auto& [t, w] : {std::pair((1 - g) / 2, 5.0 / 18), std::pair(0.5, 8.0 / 18),
                             std::pair((1 + g) / 2, 5.0 / 18)}) {
    const auto v = line_shapes(order, t), d = line_slopes(order, t);
    for (int i = 0; i < e.n; ++i) {
      e.load[i] += w * length * v[i];
      for (int j = 0; j < e.n; ++j) {
        e.mass[i][j] += w * length * v[i] * v[j];
        e.stiffness[i][j] += w / length * d[i] * d[j];
        e.slope[i][j] += w * v[i] * d[j];
      }
    }
  }
  return e;
}

std::array<double, 3> edge_shapes(int order, double t) { return line_shapes(order, t); }

}  // namespace tessera::inversion
