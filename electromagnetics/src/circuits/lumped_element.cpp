// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit_medium.h"
#include "circuits/edge_at.h"
#include "grid/nearer_line.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

using circuits::edge_at;

constexpr double kOnLine = 1e-6;  // of a cell

/// Of an axis, the positions that an element takes and the length that each stands for in the grid;
/// `images`: how often that is there in the whole.
struct Extent {
  std::vector<int> index;
  std::vector<double> length;
  double images = 1;
  double whole() const {
    double sum = 0;
    for (const double x : length) sum += x;
    return images * sum;
  }
};

int nearest_line(const std::vector<double>& lines, double at) {
  const auto above = std::lower_bound(lines.begin(), lines.end(), at);
  if (above == lines.begin()) return 0;
  if (above == lines.end()) return static_cast<int>(lines.size()) - 1;
  return static_cast<int>(above - lines.begin()) - (at - above[-1] < *above - at ? 1 : 0);
}

/// Cuts [low, high] at the faces of the grid: what lies behind a `mirror` of a symmetry is the
/// image of what is in front of it. A wire on a magnetic one is its own image.
Extent cut_at_mirrors(const YeeGrid& grid, Faces faces, std::array<bool, 2> symmetry, int axis,
                      Boundary mirror, double& low, double& high) {
  Extent out;
  const std::vector<double>& x = grid.lines[axis];
  const double from = low, to = high, near = kOnLine * grid.smallest_length(axis);
  const bool wire = to - from <= near && mirror == Boundary::pmc;
  for (const bool upper : {false, true}) {
    const bool halves = symmetry[upper] && (upper ? faces.high : faces.low) == mirror;
    const double front = upper ? x.back() - from : to - x.front(),
                 behind = upper ? to - x.back() : x.front() - from;
    const bool on_mirror = wire && halves && std::abs(behind) <= near;
    if (!on_mirror && behind <= near) continue;
    const char* const names[2] = {"lower", "upper"};
    if (!halves)
      throw Error(
          fmt::format("[place] the element reaches {:.3g} m beyond the {} face along {}, where it "
                      "has no image: "
                      "let it end at the face",
                      behind, names[upper], "xyz"[axis]));
    if (!on_mirror && std::abs(front - behind) > grid.smallest_length(axis) / 2)
      throw Error(fmt::format(
          "[place] the mirror at the {} face along {} should halve an element that crosses it: "
          "{:.3g} m lie in front of it, {:.3g} m behind",
          names[upper], "xyz"[axis], front, behind));
    out.images *= 2;
    (upper ? high : low) = upper ? x.back() : x.front();
  }
  return out;
}

/// Across the current: lines. One without width is on that to which thin conductors there go, a
/// wider one on those that are in it.
Extent across(const YeeGrid& grid, const detail::NearerLine& nearer, Faces faces,
              std::array<bool, 2> symmetry, int axis, double low, double high) {
  if (!grid.resolved(axis)) return {{0}, {1}};
  const bool periodic = faces.low == Boundary::periodic;
  Extent out = cut_at_mirrors(grid, faces, symmetry, axis, Boundary::pmc, low, high);
  const std::vector<double>& lines = grid.lines[axis];
  const double near = kOnLine * grid.smallest_length(axis), middle = (low + high) / 2;
  const bool thin = high - low <= near;
  const int n = grid.cells(axis),
            first = thin ? nearer.line(axis, middle) : nearest_line(lines, low + near),
            last = thin ? first : nearest_line(lines, high - near);
  for (int i = first; i <= last; ++i) {
    if (periodic && i == n && first == 0 && last != first) continue;
    if (!periodic &&
        ((i == 0 && faces.low != Boundary::pmc) || (i == n && faces.high != Boundary::pmc)))
      continue;  // in an outer conductor
    out.index.push_back(periodic ? i % n : i);
    out.length.push_back(grid.dual_length(axis, i, periodic));
  }
  return out;
}

/// Along the current: cells between the lines of the conductors at its ends.
Extent along(const YeeGrid& grid, const detail::NearerLine& nearer, Faces faces,
             std::array<bool, 2> symmetry, int axis, double low, double high) {
  if (!grid.resolved(axis)) return {{0}, {1}};
  Extent out = cut_at_mirrors(grid, faces, symmetry, axis, Boundary::pec, low, high);
  for (int i = nearer.line(axis, low), last = nearer.line(axis, high); i < last; ++i) {
    out.index.push_back(i);
    out.length.push_back(grid.length(axis, i));
  }
  return out;
}

void need_inside(const YeeGrid& grid, const LumpedElement& e) {
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    if (!(e.low[u] <= e.high[u]))
      throw Error(fmt::format("[place] expected low <= high along {}, got {} and {}", "xyz"[d],
                              e.low[u], e.high[u]));
    const double near = grid.smallest_length(d) / 2;
    if (grid.resolved(d) &&
        (e.high[u] < grid.lines[u].front() - near || e.low[u] > grid.lines[u].back() + near))
      throw Error(fmt::format("[place] the element lies outside of the grid along {}", "xyz"[d]));
  }
}

}  // namespace

PlacedElement place(const LumpedElement& e, const YeeGrid& grid, const std::array<Faces, 3>& faces,
                    const CutCellFractions& open, const std::function<bool(const Edge&)>& conductor,
                    const SymmetryFaces& symmetry) {
  if (e.axis < 0 || e.axis > 2)
    throw Error(fmt::format("[place] expected an axis 0, 1 or 2, got {}", e.axis));
  need_inside(grid, e);
  const detail::NearerLine nearer(grid, faces, symmetry);
  std::array<Extent, 3> extent;
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    extent[u] = d == e.axis ? along(grid, nearer, faces[u], symmetry[u], d, e.low[u], e.high[u])
                            : across(grid, nearer, faces[u], symmetry[u], d, e.low[u], e.high[u]);
  }
  const auto a = static_cast<std::size_t>(e.axis), b = (a + 1) % 3, c = (a + 2) % 3;
  PlacedElement out;
  const double unit = reference_length(grid);
  const auto face_of = [&](std::size_t d, int i) {
    const int axis = static_cast<int>(d);
    return grid.dual_length(axis, i, !grid.resolved(axis) || faces[d].low == Boundary::periodic);
  };
  const auto is_open = [&](const Edge& edge) {
    return (open.fractions.empty() || open.fraction(edge) > 0) && !(conductor && conductor(edge));
  };
  double widths = 0, path = 0;  // path: sum over columns of open length times width
  for (std::size_t m = 0; m < extent[c].index.size(); ++m)
    for (std::size_t n = 0; n < extent[b].index.size(); ++n) {
      const double width = extent[c].length[m] * extent[b].length[n];
      const std::size_t first = out.edges.size();
      double length = 0;
      std::array<int, 3> at{};
      at[b] = extent[b].index[n], at[c] = extent[c].index[m];
      for (std::size_t k = 0; k < extent[a].index.size(); ++k) {
        at[a] = extent[a].index[k];
        const Edge edge = edge_at(e.axis, at);
        if (!is_open(edge)) continue;
        const double whole =
            extent[a].length[k] * (open.fractions.empty() ? 1.0 : open.length_fraction(edge));
        const double step = grid.length(e.axis, at[a]);  // of an axis not resolved, not 1 m
        out.edges.push_back(edge);
        out.voltage.push_back(width * unit * (grid.resolved(e.axis) ? 1 : whole / step));
        const double face = face_of(b, at[b]) * face_of(c, at[c]);
        out.moment.push_back(-vacuum_impedance / unit * face);
        out.share.push_back(whole * width / face);
        length += whole;
      }
      for (std::size_t q = first; q < out.share.size(); ++q) out.share[q] /= length;
      widths += width, path += width * length;
    }
  if (out.edges.empty())
    throw Error(fmt::format(
        "[place] no open edge along {} lies in the element: it has no length there, or lies in a "
        "conductor or on an outer one",
        "xyz"[e.axis]));
  for (double& x : out.voltage) x *= extent[a].images / widths;
  out.length_m = extent[a].images * path / widths;
  out.images = extent[b].images * extent[c].images;
  out.parts = extent[a].images * out.images;
  out.section_m2 = widths * out.images;
  for (double& x : out.share) x *= out.images;
  return with_circuit(std::move(out), e.circuit);
}

PlacedElement with_circuit(PlacedElement element, const Circuit& circuit) {
  circuits::check(circuit);
  element.circuit = circuit;
  element.added = circuits::medium_of(circuit, element.length_m / element.section_m2);
  return element;
}

std::optional<Point> loose_end(const PlacedElement& e, const YeeGrid& grid,
                               const std::array<Faces, 3>& faces,
                               const std::function<bool(const Edge&)>& conductor) {
  const int a = axis_of(e.edges.front().component);
  if (!grid.resolved(a)) return {};
  const auto among = [&](const Edge& edge) {
    return std::find(e.edges.begin(), e.edges.end(), edge) != e.edges.end();
  };
  const auto touches = [&](const std::array<int, 3>& node) {
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      if (!grid.resolved(d) || faces[u].low == Boundary::periodic) continue;
      if ((node[u] == 0 && faces[u].low != Boundary::pmc) ||
          (node[u] == grid.cells(d) && faces[u].high != Boundary::pmc))
        return true;
    }
    for (int d = 0; d < 3; ++d)
      for (const int back : {0, 1}) {
        std::array<int, 3> at = node;
        const auto u = static_cast<std::size_t>(d);
        if (!grid.resolved(d)) continue;
        at[u] -= back;
        if (faces[u].low == Boundary::periodic) at[u] = (at[u] + grid.cells(d)) % grid.cells(d);
        if (at[u] < 0 || at[u] >= grid.cells(d)) continue;
        if (conductor(edge_at(d, at))) return true;
      }
    return false;
  };
  for (const Edge& edge : e.edges)
    for (const int end : {0, 1}) {
      std::array<int, 3> next{edge.i, edge.j, edge.k}, node = next;
      next[static_cast<std::size_t>(a)] += end == 0 ? -1 : 1;
      node[static_cast<std::size_t>(a)] += end;
      if (among(edge_at(a, next)) || touches(node)) continue;
      Point at{};
      for (std::size_t d = 0; d < 3; ++d) at[d] = grid.lines[d][static_cast<std::size_t>(node[d])];
      return at;
    }
  return {};
}

MaterialRows with_elements(MaterialRows rows, const std::vector<PlacedElement>& elements,
                           double dt_s) {
  struct Added {
    Edge edge;
    double eps, loss;
    DispersiveRun poles;
  };
  std::vector<Added> all;
  for (const PlacedElement& e : elements) {
    DispersiveRun poles;
    poles.weight = {1};
    for (const PoleResidue& p : e.added.poles) {
      const PoleUpdate u = pole_update(p, dt_s);
      poles.alpha.push_back(u.alpha), poles.beta.push_back(u.beta), poles.shear.push_back(u.shear);
    }
    for (const Edge& edge : e.edges) {
      poles.first = edge.i;
      all.push_back(
          {edge, e.added.eps[0], e.added.sigma[0] * dt_s / (2 * vacuum_permittivity), poles});
    }
  }
  if (all.empty()) return rows;
  return [rows = std::move(rows), all = std::move(all)](int component, int j, int k,
                                                        MaterialRow& row) {
    if (rows) rows(component, j, k, row);
    for (const Added& a : all) {
      if (a.edge.component != component || a.edge.j != j || a.edge.k != k) continue;
      const auto i = static_cast<std::size_t>(a.edge.i);
      if (row.inverse[i] == 0) continue;
      if (a.eps != 0) row.inverse[i] = 1 / (1 / row.inverse[i] + a.eps);
      row.loss[i] += a.loss;
      if (!a.poles.alpha.empty()) row.dispersive.push_back(a.poles);
    }
  };
}

void add_elements(YeeModel& model, const std::vector<PlacedElement>& elements) {
  model.material = with_elements(std::move(model.material), elements, model.dt_s);
  for (const PlacedElement& e : elements)
    model.uncoupled.insert(model.uncoupled.end(), e.edges.begin(), e.edges.end());
}

}  // namespace tessera::electromagnetics
