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

double slope_of(const Mesh2d& m, const Place& p) {
  const auto& line = m.lines[p.line];
  const auto of = [&](std::size_t k) {
    return std::atan2(m.z[line[k + 1]] - m.z[line[k]], m.y[line[k + 1]] - m.y[line[k]]);
  };
  if (p.t < 1e-9 && p.edge > 0) return (of(p.edge - 1) + of(p.edge)) / 2;
  if (p.t > 1 - 1e-9 && p.edge + 2 < line.size()) return (of(p.edge) + of(p.edge + 1)) / 2;
  return of(p.edge);
}

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
  Sensors2d s{.y = std::move(y)};
  for (const double at : s.y) {
    const Place p = place_of(one, at, 0);
    if (!std::isfinite(p.off))
      throw Error("[sensors_on] y = " + std::to_string(at) + " lies beyond the mesh");
    const auto& vertices = one.lines[0];
    s.z.push_back((1 - p.t) * mesh.z[vertices[p.edge]] + p.t * mesh.z[vertices[p.edge + 1]]);
    if (along) s.tilt.push_back(slope_of(one, p));
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

  const auto n = static_cast<Eigen::Index>(out.node.size());
  std::vector<Eigen::Triplet<double>> mass, slope;
  const auto local = [&](std::size_t first, std::size_t k, int i) {  // end, end, middle
    const std::size_t step = static_cast<std::size_t>(s.order);
    return static_cast<Eigen::Index>(first + k * step + (i == 0 ? 0 : i == 1 ? step : 1));
  };
  for (const auto& [l, first] : first_of_line) {
    const auto& line = m.lines[l];
    for (std::size_t k = 0; k + 1 < line.size(); ++k) {
      const double length =
          std::hypot(m.y[line[k + 1]] - m.y[line[k]], m.z[line[k + 1]] - m.z[line[k]]);
      const EdgeIntegrals e = edge_integrals(s.order, length);
      for (int i = 0; i < e.n; ++i)
        for (int j = 0; j < e.n; ++j) {
          mass.emplace_back(local(first, k, i), local(first, k, j), e.mass[i][j]);
          slope.emplace_back(local(first, k, i), local(first, k, j), e.slope[i][j]);
        }
    }
  }
  Eigen::SparseMatrix<double> mass_matrix(n, n), slope_matrix(n, n);
  mass_matrix.setFromTriplets(mass.begin(), mass.end());
  slope_matrix.setFromTriplets(slope.begin(), slope.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(mass_matrix);

  const std::size_t size = count * out.node.size();
  std::vector<c128> at(size), across(size), along(size);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& p = places[i];
    Eigen::VectorXd shape = Eigen::VectorXd::Zero(n);
    const auto value = edge_shapes(s.order, p.t);
    for (int k = 0; k <= s.order; ++k) shape[local(first_of_line[p.line], p.edge, k)] = value[k];
    const Eigen::VectorXd flux = factor.solve(shape), along_it = slope_matrix.transpose() * flux;
    for (Eigen::Index k = 0; k < n; ++k) {
      const std::size_t to = i * out.node.size() + static_cast<std::size_t>(k);
      at[to] = shape[k];
      // Weights fall by more than a third from node to node; those below rounding are none.
      if (std::abs(flux[k]) > 1e-17 * flux.cwiseAbs().maxCoeff()) across[to] = flux[k];
      if (std::abs(along_it[k]) > 1e-17 * along_it.cwiseAbs().maxCoeff()) along[to] = along_it[k];
    }
    const double a = slope_of(m, p), tilt = sensors.tilt.empty() ? 0 : sensors.tilt[i];
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
