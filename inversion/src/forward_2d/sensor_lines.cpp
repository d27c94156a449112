// SPDX-License-Identifier: Apache-2.0
#include "sensor_lines.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace tessera::inversion {
namespace {

using EdgeKey = std::pair<Index, Index>;

struct Place {
  std::size_t line = 0, edge = 0;
  double t = 0, off = std::numeric_limits<double>::infinity();
};

/// The nearest point, straight up or down, on any line.
Place place_of(const Mesh2d& m, double y, double z) {
  Place best;
  for (std::size_t l = 0; l < m.lines.size(); ++l) {
    const auto& line = m.lines[l];
    std::size_t k = 0;
    while (k + 2 < line.size() && m.y[line[k + 1]] <= y) ++k;
    const double y0 = m.y[line[k]], y1 = m.y[line[k + 1]], t = (y - y0) / (y1 - y0);
    if (t < 0 || t > 1) continue;
    const double off = std::abs((1 - t) * m.z[line[k]] + t * m.z[line[k + 1]] - z);
    if (off < best.off) best = {l, k, t, off};
  }
  return best;
}

using Sparse = Eigen::SparseMatrix<double>;
using Triplets = std::vector<Eigen::Triplet<double>>;

Sparse sparse(Eigen::Index rows, Eigen::Index cols, const Triplets& t) {
  Sparse out(rows, cols);
  out.setFromTriplets(t.begin(), t.end());
  return out;
}

/// Functions along one line onto which fluxes, derivatives and slopes are projected: a hat for each
/// vertex and, at order 2, a bubble for each edge that meets no corner. A line of straight pieces
/// has fluxes that peak at its corners, and a hat's mean over them is that of the smooth ground.
struct LineBasis {
  Sparse of_nodes;  ///< [functions, nodes]: their values at the nodes, in order along the line
  Sparse slope;     ///< [nodes, nodes]: int phi_i dphi_j/ds
  std::vector<double> angles;        ///< of the edges
  std::vector<Eigen::Index> bubble;  ///< of each edge; -1: none
  Eigen::VectorXd angle_load;        ///< [functions]: int (function) angle
  Eigen::SimplicialLDLT<Sparse> mass;

  LineBasis(const Mesh2d& m, const std::vector<Index>& line, int order) {
    const auto edges = static_cast<Eigen::Index>(line.size()) - 1, n = edges * order + 1;
    for (Eigen::Index k = 0; k < edges; ++k)
      angles.push_back(
          std::atan2(m.z[line[k + 1]] - m.z[line[k]], m.y[line[k + 1]] - m.y[line[k]]));
    const auto corner = [&](Eigen::Index v) {
      return v > 0 && v < edges && std::abs(angles[v] - angles[v - 1]) > 1e-4;
    };
    Triplets basis, all_mass, slopes;
    Eigen::Index functions = edges + 1;
    for (Eigen::Index k = 0; k <= edges; ++k) basis.emplace_back(k, k * order, 1.0);
    for (Eigen::Index k = 0; k < edges; ++k) {
      bubble.push_back(-1);
      if (order == 2) {
        basis.emplace_back(k, 2 * k + 1, 0.5);
        basis.emplace_back(k + 1, 2 * k + 1, 0.5);
        if (!corner(k) && !corner(k + 1)) {
          bubble.back() = functions++;
          basis.emplace_back(bubble.back(), 2 * k + 1, 1.0);
        }
      }
      const Eigen::Index at[] = {k * order, (k + 1) * order, 2 * k + 1};
      const EdgeIntegrals e = edge_integrals(
          order, std::hypot(m.z[line[k + 1]] - m.z[line[k]], m.y[line[k + 1]] - m.y[line[k]]));
      for (int i = 0; i < e.n; ++i)
        for (int j = 0; j < e.n; ++j) {
          all_mass.emplace_back(at[i], at[j], e.mass[i][j]);
          slopes.emplace_back(at[i], at[j], e.slope[i][j]);
        }
    }
    of_nodes = sparse(functions, n, basis);
    slope = sparse(n, n, slopes);
    const Sparse by_nodes = sparse(n, n, all_mass);
    mass.compute(Sparse(of_nodes * by_nodes * of_nodes.transpose()));
    // int (function) angle: of nodes by Simpson's or the trapezoid's weights, exact for the shapes
    Eigen::VectorXd loads = Eigen::VectorXd::Zero(n);
    for (Eigen::Index k = 0; k < edges; ++k) {
      const EdgeIntegrals e = edge_integrals(
          order, std::hypot(m.z[line[k + 1]] - m.z[line[k]], m.y[line[k + 1]] - m.y[line[k]]));
      const Eigen::Index at[] = {k * order, (k + 1) * order, 2 * k + 1};
      for (int i = 0; i < e.n; ++i) loads[at[i]] += e.load[i] * angles[k];
    }
    angle_load = of_nodes * loads;
  }

  /// w with sum w_i int (function i) g = the projection of g at part t of an edge.
  Eigen::VectorXd weights(std::size_t edge, double t) const {
    Eigen::VectorXd value = Eigen::VectorXd::Zero(of_nodes.rows());
    const auto k = static_cast<Eigen::Index>(edge);
    value[k] = 1 - t, value[k + 1] = t;
    if (bubble[edge] >= 0) value[bubble[edge]] = 4 * t * (1 - t);
    return mass.solve(value);
  }
};

/// Cells below a line at its vertices: those at its edges on that side, and from them on those
/// around the same vertices without crossing the line.
std::vector<bool> cells_below(const Mesh2d& m, const Space2d& s, const std::vector<Index>& line) {
  std::vector<bool> on_line(m.y.size(), false);
  for (const Index v : line) on_line[v] = true;
  std::set<EdgeKey> edges;
  for (std::size_t k = 0; k + 1 < line.size(); ++k) edges.insert(std::minmax(line[k], line[k + 1]));
  std::vector<bool> below(static_cast<std::size_t>(m.cells()), false);
  std::vector<Index> front;
  const auto take_in = [&](Index c) {
    if (c < 0 || below[c]) return;
    below[c] = true;
    front.push_back(c);
  };
  for (const Edge2d& e : s.edges) {
    if (!edges.contains(std::minmax(e.node[0], e.node[1]))) continue;
    const bool turned = m.y[e.node[0]] > m.y[e.node[1]];
    const Index a = e.node[turned ? 1 : 0], b = e.node[turned ? 0 : 1];
    for (const Index c : e.cell) {
      if (c < 0) continue;
      const auto [y, z] = m.middle(c);
      const double up = (m.z[b] - m.z[a]) * (y - m.y[a]) - (m.y[b] - m.y[a]) * (z - m.z[a]);
      if (up < 0) take_in(c);
    }
  }
  while (!front.empty()) {
    const Index c = front.back();
    front.pop_back();
    for (int k = 0; k < s.corners; ++k) {
      const Edge2d& e = s.edges[s.edge[c * s.corners + k]];
      if (edges.contains(std::minmax(e.node[0], e.node[1]))) continue;
      if (on_line[e.node[0]] || on_line[e.node[1]]) take_in(e.cell[0] == c ? e.cell[1] : e.cell[0]);
    }
  }
  return below;
}

}  // namespace

Sensors2d sensors_on(const Mesh2d& mesh, std::size_t line, std::vector<double> y, bool along) {
  if (line >= mesh.lines.size())
    throw Error("[sensors_on] there is no line " + std::to_string(line) + "; the mesh has " +
                std::to_string(mesh.lines.size()));
  Mesh2d one = mesh;
  one.lines = {mesh.lines[line]};
  const LineBasis basis(one, one.lines[0], 1);
  Sensors2d s{.y = std::move(y)};
  for (const double at : s.y) {
    const Place p = place_of(one, at, 0);
    if (!std::isfinite(p.off))
      throw Error("[sensors_on] y = " + std::to_string(at) + " lies beyond the mesh");
    const auto& vertices = one.lines[0];
    s.z.push_back((1 - p.t) * mesh.z[vertices[p.edge]] + p.t * mesh.z[vertices[p.edge + 1]]);
    if (along) s.tilt.push_back(basis.weights(p.edge, p.t).dot(basis.angle_load));
  }
  return s;
}

SensorLines sensor_lines(const Mesh2d& m, const Space2d& s, const Sensors2d& sensors) {
  const std::size_t count = sensors.y.size();
  if (sensors.z.size() != count || (!sensors.tilt.empty() && sensors.tilt.size() != count))
    throw Error("[Forward2d] sensors have " + std::to_string(count) + " y, " +
                std::to_string(sensors.z.size()) + " z and " + std::to_string(sensors.tilt.size()) +
                " tilts");
  std::vector<Place> places;
  std::set<std::size_t> used;
  for (std::size_t i = 0; i < count; ++i) {
    const Place p = place_of(m, sensors.y[i], sensors.z[i]);
    const std::string at = "sensor " + std::to_string(i) + " (y = " + std::to_string(sensors.y[i]) +
                           ", z = " + std::to_string(sensors.z[i]) + ")";
    if (!std::isfinite(p.off))
      throw Error("[Forward2d] " + at + " has no line of the mesh above or below it");
    const auto& line = m.lines[p.line];
    if (p.off > 1e-6 * (1 + m.y[line[p.edge + 1]] - m.y[line[p.edge]]))
      throw Error("[Forward2d] " + at + " lies off the mesh's lines, the nearest by " +
                  std::to_string(p.off) + " m; sensors_on(mesh, line, y) puts it there");
    places.push_back(p);
    used.insert(p.line);
  }

  std::map<EdgeKey, Index> edge_of;
  for (std::size_t e = 0; e < s.edges.size(); ++e)
    edge_of[std::minmax(s.edges[e].node[0], s.edges[e].node[1])] = static_cast<Index>(e);

  SensorLines out;
  std::map<std::size_t, std::size_t> first_of_line;
  for (const std::size_t l : used) {
    first_of_line[l] = out.node.size();
    const auto& line = m.lines[l];
    for (std::size_t k = 0; k < line.size(); ++k) {
      out.node.push_back(line[k]);
      if (k + 1 == line.size()) break;
      if (s.order == 2)
        out.node.push_back(s.edges[edge_of.at(std::minmax(line[k], line[k + 1]))].node[2]);
    }
  }

  std::map<std::size_t, LineBasis> basis;
  for (const std::size_t l : used) basis.try_emplace(l, m, m.lines[l], s.order);
  const std::size_t n = out.node.size();
  std::vector<c128> at(count * n), across(count * n), along(count * n);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& p = places[i];
    const LineBasis& line = basis.at(p.line);
    const std::size_t to = i * n + first_of_line[p.line], step = static_cast<std::size_t>(s.order);
    const auto value = edge_shapes(s.order, p.t);
    at[to + p.edge * step] = value[0], at[to + (p.edge + 1) * step] = value[1];
    if (s.order == 2) at[to + p.edge * step + 1] = value[2];
    const Eigen::VectorXd weight = line.weights(p.edge, p.t),
                          flux = line.of_nodes.transpose() * weight,
                          along_it = line.slope.transpose() * flux;
    for (Eigen::Index k = 0; k < flux.size(); ++k) {
      // Weights fall by more than a third from node to node; those below rounding are none.
      const auto here = to + static_cast<std::size_t>(k);
      if (std::abs(flux[k]) > 1e-17 * flux.cwiseAbs().maxCoeff()) across[here] = flux[k];
      if (std::abs(along_it[k]) > 1e-17 * along_it.cwiseAbs().maxCoeff()) along[here] = along_it[k];
    }
    const double a = weight.dot(line.angle_load), tilt = sensors.tilt.empty() ? 0 : sensors.tilt[i];
    const double turn = std::abs(tilt - a) < 1e-9 ? 0 : tilt - a;
    out.slope.push_back(a);
    out.cos_turn.push_back(std::cos(turn));
    out.sin_turn.push_back(std::sin(turn));
  }
  const Shape shape{static_cast<Index>(count), static_cast<Index>(n)};
  out.at = tensor(at, shape), out.across = tensor(across, shape), out.along = tensor(along, shape);

  out.above.assign(count, -1);
  out.below.assign(count, -1);
  for (const auto& [l, first] : first_of_line) {
    const auto& line = m.lines[l];
    const std::vector<bool> below = cells_below(m, s, line);
    for (std::size_t i = 0; i < count; ++i) {
      if (places[i].line != l) continue;
      const std::size_t k = places[i].edge;
      for (const Index c : s.edges[edge_of.at(std::minmax(line[k], line[k + 1]))].cell)
        if (c >= 0) (below[c] ? out.below : out.above)[i] = c;
    }
    std::map<Index, Index> place_of_node;
    const std::size_t end = first + (line.size() - 1) * static_cast<std::size_t>(s.order) + 1;
    for (std::size_t k = first; k < end; ++k) place_of_node[out.node[k]] = static_cast<Index>(k);
    for (Index c = 0; c < s.cells(); ++c) {
      if (!below[c]) continue;
      for (int k = 0; k < s.per_cell; ++k)
        if (const auto found = place_of_node.find(s.node[c * s.per_cell + k]);
            found != place_of_node.end())
          out.under.emplace_back(found->second, c);
    }
  }
  return out;
}

}  // namespace tessera::inversion
