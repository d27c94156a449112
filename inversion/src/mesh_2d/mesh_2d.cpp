// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/mesh_2d.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace tessera::inversion {

Index Mesh2d::parameters() const {
  Index n = 0;
  for (const Medium2d& m : medium) n = std::max(n, m.parameter + 1);
  return n;
}

std::pair<double, double> Mesh2d::middle(Index c) const {
  double my = 0, mz = 0;
  for (int k = 0; k < corners; ++k) {
    my += y[cell[c * corners + k]] / corners;
    mz += z[cell[c * corners + k]] / corners;
  }
  return {my, mz};
}

namespace {

[[noreturn]] void bad_mesh(const std::string& what) { throw Error("[Mesh2d] " + what); }

/// Twice the signed area of the triangle at corner k of cell c with its two neighbours.
double turn_at(const Mesh2d& m, Index c, int k) {
  const int n = m.corners;
  const Index a = m.cell[c * n + (k + n - 1) % n], b = m.cell[c * n + k],
              d = m.cell[c * n + (k + 1) % n];
  return (m.y[b] - m.y[a]) * (m.z[d] - m.z[b]) - (m.z[b] - m.z[a]) * (m.y[d] - m.y[b]);
}

}  // namespace

void require_mesh(const Mesh2d& m) {
  if (m.corners != 3 && m.corners != 4)
    bad_mesh("cells have 3 or 4 corners, not " + std::to_string(m.corners));
  if (m.y.size() != m.z.size()) bad_mesh("there are not as many z as y");
  if (m.medium.empty()) bad_mesh("it has no cells");
  if (m.cell.size() != m.medium.size() * static_cast<std::size_t>(m.corners))
    bad_mesh("the list of corners does not fit the number of cells");
  for (std::size_t v = 0; v < m.y.size(); ++v)
    if (!std::isfinite(m.y[v]) || !std::isfinite(m.z[v]))
      bad_mesh("vertex " + std::to_string(v) + " lies nowhere: its coordinates are not finite");
  for (Index c = 0; c < m.cells(); ++c) {
    for (int k = 0; k < m.corners; ++k) {
      const Index v = m.cell[c * m.corners + k];
      if (v < 0 || v >= m.vertices())
        bad_mesh("cell " + std::to_string(c) + " names vertex " + std::to_string(v) + " of " +
                 std::to_string(m.vertices()));
    }
    for (int k = 0; k < m.corners; ++k)
      if (!(turn_at(m, c, k) > 0))
        bad_mesh("cell " + std::to_string(c) + " near y = " + std::to_string(m.middle(c).first) +
                 ", z = " + std::to_string(m.middle(c).second) +
                 " has no area or its corners do not turn from y towards z");
    const Medium2d& medium = m.medium[c];
    if (medium.parameter < 0 && !(medium.ohm_m > 0))
      bad_mesh("cell " + std::to_string(c) + " has a resistivity that is not positive");
  }
  const auto [left, right] = std::minmax_element(m.y.begin(), m.y.end());
  std::set<std::pair<Index, Index>> edges;
  if (!m.lines.empty())
    for (Index c = 0; c < m.cells(); ++c)
      for (int k = 0; k < m.corners; ++k)
        edges.insert(
            std::minmax(m.cell[c * m.corners + k], m.cell[c * m.corners + (k + 1) % m.corners]));
  for (std::size_t l = 0; l < m.lines.size(); ++l) {
    const auto& line = m.lines[l];
    const std::string name = "line " + std::to_string(l);
    if (line.size() < 2) bad_mesh(name + " has fewer than two vertices");
    for (std::size_t k = 0; k + 1 < line.size(); ++k) {
      if (!edges.contains(std::minmax(line[k], line[k + 1])))
        bad_mesh(name + " leaves the edges of the cells after its vertex " + std::to_string(k));
      if (!(m.y[line[k + 1]] > m.y[line[k]]))
        bad_mesh(name + " goes back or straight down after its vertex " + std::to_string(k));
    }
    if (m.y[line.front()] != *left || m.y[line.back()] != *right)
      bad_mesh(name + " does not go from the left side to the right one");
  }
}

Mesh2d tensor_mesh(std::span<const double> y, std::span<const double> z,
                   std::span<const double> lines, const MediumAt& medium) {
  for (const auto& [axis, values] : {std::pair("y", y), std::pair("z", z)}) {
    if (values.size() < 2)
      throw Error(std::string("[tensor_mesh] ") + axis + " needs two values or more");
    for (std::size_t k = 0; k + 1 < values.size(); ++k)
      if (!(values[k + 1] > values[k]))
        throw Error(std::string("[tensor_mesh] ") + axis + " does not rise after its value " +
                    std::to_string(k));
  }
  Mesh2d m;
  const auto ny = static_cast<Index>(y.size()), nz = static_cast<Index>(z.size());
  for (Index j = 0; j < nz; ++j)
    for (Index i = 0; i < ny; ++i) {
      m.y.push_back(y[i]);
      m.z.push_back(z[j]);
    }
  for (Index j = 0; j + 1 < nz; ++j)
    for (Index i = 0; i + 1 < ny; ++i) {
      for (const Index v : {j * ny + i, j * ny + i + 1, (j + 1) * ny + i + 1, (j + 1) * ny + i})
        m.cell.push_back(v);
      m.medium.push_back(medium((y[i] + y[i + 1]) / 2, (z[j] + z[j + 1]) / 2));
    }
  for (const double at : lines) {
    Index row = -1;
    for (Index j = 0; j < nz; ++j)
      if (std::abs(z[j] - at) <= 1e-9 * (z.back() - z.front())) row = j;
    if (row < 0)
      throw Error("[tensor_mesh] no row of cells ends at the line z = " + std::to_string(at));
    m.lines.emplace_back();
    for (Index i = 0; i < ny; ++i) m.lines.back().push_back(row * ny + i);
  }
  return m;
}

Mesh2d bent(Mesh2d mesh, const std::vector<Level2d>& levels) {
  if (levels.size() < 2) throw Error("[bent] needs two levels or more");
  for (std::size_t k = 0; k + 1 < levels.size(); ++k)
    if (!(levels[k + 1].z > levels[k].z)) throw Error("[bent] levels go from the top down");
  const auto [top, bottom] = std::minmax_element(mesh.z.begin(), mesh.z.end());
  if (levels.front().z > *top || levels.back().z < *bottom)
    throw Error(
        "[bent] the first and the last level must reach the top and the bottom of the mesh");
  const auto depth = [](const Level2d& l, double y) { return l.depth ? l.depth(y) : l.z; };
  for (std::size_t v = 0; v < mesh.y.size(); ++v) {
    std::size_t k = 0;
    while (k + 2 < levels.size() && mesh.z[v] > levels[k + 1].z) ++k;
    const double t = (mesh.z[v] - levels[k].z) / (levels[k + 1].z - levels[k].z);
    mesh.z[v] = (1 - t) * depth(levels[k], mesh.y[v]) + t * depth(levels[k + 1], mesh.y[v]);
  }
  require_mesh(mesh);
  return mesh;
}

std::function<double(double)> depth_through(std::vector<double> y, std::vector<double> depth) {
  if (y.empty() || y.size() != depth.size())
    throw Error("[depth_through] needs a point or more, and as many depths as y");
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (!std::isfinite(y[k]) || !std::isfinite(depth[k]))
      throw Error("[depth_through] point " + std::to_string(k) + " is not finite");
    if (k > 0 && !(y[k] > y[k - 1]))
      throw Error("[depth_through] y does not rise after point " + std::to_string(k - 1));
  }
  return [y = std::move(y), depth = std::move(depth)](double at) {
    const auto above =
        static_cast<std::size_t>(std::upper_bound(y.begin(), y.end(), at) - y.begin());
    if (above == 0) return depth.front();
    if (above == y.size()) return depth.back();
    const double t = (at - y[above - 1]) / (y[above] - y[above - 1]);
    return (1 - t) * depth[above - 1] + t * depth[above];
  };
}

Mesh2d triangles_of(const Mesh2d& mesh) {
  if (mesh.corners == 3) return mesh;
  Mesh2d m = mesh;
  m.corners = 3;
  m.cell.clear();
  m.medium.clear();
  for (Index c = 0; c < mesh.cells(); ++c) {
    const Index* v = &mesh.cell[c * 4];
    const auto length = [&](int a, int b) {
      return std::hypot(mesh.y[v[a]] - mesh.y[v[b]], mesh.z[v[a]] - mesh.z[v[b]]);
    };
    // Equal diagonals go to and fro, so that no direction is favoured.
    const double first = length(0, 2), second = length(1, 3);
    const bool equal = std::abs(first - second) <= 1e-12 * first;
    const auto column = static_cast<Index>(v[0]);
    if (equal ? (column + c) % 2 == 0 : first < second)
      m.cell.insert(m.cell.end(), {v[0], v[1], v[2], v[0], v[2], v[3]});
    else
      m.cell.insert(m.cell.end(), {v[0], v[1], v[3], v[1], v[2], v[3]});
    m.medium.insert(m.medium.end(), 2, mesh.medium[c]);
  }
  return m;
}

std::vector<double> graded_axis(const std::vector<double>& through,
                                const std::function<double(double)>& size, std::size_t most) {
  if (through.size() < 2) throw Error("[graded_axis] needs two values or more");
  std::vector<double> out{through[0]};
  for (std::size_t k = 0; k + 1 < through.size(); ++k) {
    const double end = through[k + 1];
    if (!(end > through[k])) throw Error("[graded_axis] values must rise");
    // Steps counted so far, n(x) = int dx / size, at points twenty to a step; then every whole
    // share.
    std::vector<double> at{through[k]}, steps{0};
    while (at.back() < end) {
      const double here = size(at.back());
      if (!(here > 0) || at.size() > 20 * most)
        throw Error("[graded_axis] more than " + std::to_string(most) +
                    " steps, or a size that is not positive");
      const double next = std::min(end, at.back() + 0.05 * here),
                   middle = size((at.back() + next) / 2);
      steps.push_back(steps.back() + (next - at.back()) / middle);
      at.push_back(next);
    }
    const double n = std::max(1.0, std::ceil(steps.back() - 1e-6));
    std::size_t i = 0;
    for (double share = 1; share < n; ++share) {
      const double wanted = share / n * steps.back();
      while (steps[i + 1] < wanted) ++i;
      out.push_back(at[i] + (at[i + 1] - at[i]) * (wanted - steps[i]) / (steps[i + 1] - steps[i]));
    }
    out.push_back(end);
    if (out.size() > most)
      throw Error("[graded_axis] more than " + std::to_string(most) + " values");
  }
  return out;
}

}  // namespace tessera::inversion
