// SPDX-License-Identifier: Apache-2.0
//
// Nested bisection of triangles. An edge that is halved must be the longest of both triangles at
// it; where it is not, the neighbour's longest edge is halved first. Lengths of that chain rise, so
// it ends.
#include "tessera/autodiff/error.h"
#include "tessera/inversion/mesh_2d.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace tessera::inversion {
namespace {

/// Triangles with, for each edge, those that have it.
class Bisection {
 public:
  explicit Bisection(const Mesh2d& m)
      : m_(m), parent_(static_cast<std::size_t>(m.cells())), touched_(parent_.size(), false) {
    for (Index c = 0; c < m_.cells(); ++c) {
      parent_[c] = c;
      for (int k = 0; k < 3; ++k) at(c, k).add(c);
    }
  }

  Index cells() const { return m_.cells(); }
  /// Whether cell c is still the triangle of the old mesh.
  bool untouched(Index c) const { return !touched_[c]; }

  /// One cut at the end of the chain of ever longer edges that begins at c.
  void cut_towards(Index c) {
    while (true) {
      const int k = longest(c);
      const Index other = at(c, k).other(c);
      if (other < 0 || same_edge(c, k, other, longest(other))) return cut(c, k, other);
      c = other;
    }
  }

  Mesh2d take(std::vector<Index>* parent) {
    for (auto& line : m_.lines) {
      std::vector<Index> longer;
      for (std::size_t k = 0; k + 1 < line.size(); ++k) {
        longer.push_back(line[k]);
        between(line[k], line[k + 1], longer);
      }
      longer.push_back(line.back());
      line = std::move(longer);
    }
    if (parent) *parent = std::move(parent_);
    return std::move(m_);
  }

 private:
  struct Sides {
    Index a = -1, b = -1;
    void add(Index c) { (a < 0 ? a : b) = c; }
    void replace(Index was, Index is) { (a == was ? a : b) = is; }
    Index other(Index c) const { return a == c ? b : a; }
  };
  static std::uint64_t key(Index a, Index b) {
    return static_cast<std::uint64_t>(std::min(a, b)) << 32 |
           static_cast<std::uint64_t>(std::max(a, b));
  }
  Index vertex(Index c, int k) const { return m_.cell[c * 3 + k % 3]; }
  Sides& at(Index c, int k) { return sides_[key(vertex(c, k), vertex(c, k + 1))]; }
  bool same_edge(Index c, int k, Index d, int l) const {
    return key(vertex(c, k), vertex(c, k + 1)) == key(vertex(d, l), vertex(d, l + 1));
  }
  /// Edge from vertex k to the next; of equal ones that with the smaller numbers, so that both
  /// triangles at an edge agree.
  int longest(Index c) const {
    int best = 0;
    double most = -1;
    for (int k = 0; k < 3; ++k) {
      const Index a = vertex(c, k), b = vertex(c, k + 1);
      const double dy = m_.y[a] - m_.y[b], dz = m_.z[a] - m_.z[b], length = dy * dy + dz * dz;
      const bool longer = length > most * (1 + 1e-9);
      const bool equal = !longer && length > most * (1 - 1e-9);
      if (longer || (equal && key(a, b) < key(vertex(c, best), vertex(c, best + 1)))) {
        best = k;
        most = std::max(most, length);
      }
    }
    return best;
  }
  void cut(Index c, int k, Index other) {
    const Index a = vertex(c, k), b = vertex(c, k + 1);
    const auto middle = static_cast<Index>(m_.y.size());
    m_.y.push_back((m_.y[a] + m_.y[b]) / 2);
    m_.z.push_back((m_.z[a] + m_.z[b]) / 2);
    middle_[key(a, b)] = middle;
    sides_.erase(key(a, b));
    split(c, k, middle);
    if (other >= 0) {
      int l = 0;
      while (key(vertex(other, l), vertex(other, l + 1)) != key(a, b)) ++l;
      split(other, l, middle);
    }
  }
  /// Cell c keeps the half at its vertex k; a new cell takes that at the next one.
  void split(Index c, int k, Index middle) {
    const Index a = vertex(c, k), b = vertex(c, k + 1), top = vertex(c, k + 2);
    const Index fresh = cells();
    m_.cell.insert(m_.cell.end(), {middle, b, top});
    m_.medium.push_back(m_.medium[c]);
    parent_.push_back(parent_[c]);
    m_.cell[c * 3] = a, m_.cell[c * 3 + 1] = middle, m_.cell[c * 3 + 2] = top;
    sides_[key(b, top)].replace(c, fresh);
    sides_[key(a, middle)].add(c);
    sides_[key(middle, b)].add(fresh);
    sides_[key(middle, top)].add(c);
    sides_[key(middle, top)].add(fresh);
    if (c < static_cast<Index>(touched_.size())) touched_[c] = true;
  }
  void between(Index a, Index b, std::vector<Index>& out) const {
    const auto found = middle_.find(key(a, b));
    if (found == middle_.end()) return;
    between(a, found->second, out);
    out.push_back(found->second);
    between(found->second, b, out);
  }

  Mesh2d m_;
  std::vector<Index> parent_;
  std::vector<bool> touched_;
  std::unordered_map<std::uint64_t, Sides> sides_;
  std::unordered_map<std::uint64_t, Index> middle_;
};

void require_triangles(const Mesh2d& m) {
  if (m.corners != 3)
    throw Error("[refined] halves triangles; cut quadrilaterals by triangles_of first");
}

}  // namespace

Mesh2d refined(const Mesh2d& mesh, const std::vector<bool>& wanted, std::vector<Index>* parent) {
  require_triangles(mesh);
  if (static_cast<Index>(wanted.size()) != mesh.cells())
    throw Error("[refined] says of " + std::to_string(wanted.size()) +
                " cells whether they are wanted; there are " + std::to_string(mesh.cells()));
  Bisection b(mesh);
  for (Index c = 0; c < mesh.cells(); ++c)
    while (wanted[c] && b.untouched(c)) b.cut_towards(c);
  return b.take(parent);
}

Mesh2d refined_to(Mesh2d mesh, const std::function<double(double, double)>& size, Index most) {
  require_triangles(mesh);
  while (true) {
    std::vector<bool> wanted(static_cast<std::size_t>(mesh.cells()));
    bool any = false;
    for (Index c = 0; c < mesh.cells(); ++c) {
      double longest = 0;
      for (int k = 0; k < 3; ++k) {
        const Index a = mesh.cell[c * 3 + k], b = mesh.cell[c * 3 + (k + 1) % 3];
        longest = std::max(longest, std::hypot(mesh.y[a] - mesh.y[b], mesh.z[a] - mesh.z[b]));
      }
      const auto [y, z] = mesh.middle(c);
      wanted[c] = longest > size(y, z);
      any = any || wanted[c];
    }
    if (!any) return mesh;
    if (mesh.cells() > most)
      throw Error("[refined_to] " + std::to_string(mesh.cells()) +
                  " cells and not yet as small as wanted; at most " + std::to_string(most) +
                  " are allowed");
    mesh = refined(mesh, wanted);
  }
}

}  // namespace tessera::inversion
