// SPDX-License-Identifier: Apache-2.0
#include "geometry/thin_wires.h"

#include "geometry/faces_about.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <tuple>

namespace tessera::electromagnetics::detail {
namespace {

using std::numbers::pi;
using Place = std::array<int, 3>;  // of a node

/// The flux through the edge beyond the end of a line of charge, on a grid of cubes, over that
/// through its dual face of the field without a grid: (G(0) + G(1)) / 2 with Watson's integral G(0)
/// = 0.252731 and G(1) = G(0) - 1/6, over 0.126281.
constexpr double end_flux = 1.3413;

/// The wire that leaves a node along an axis, to one side.
struct Arm {
  int axis, way;
  double owned;    // m of it whose charge the node has
  double reaches;  // half of the cell there
  double radius;
};
struct Node {
  std::vector<Arm> arms;
  bool held = false;  // on another conductor
};

/// ln(r0/a), r0 of a grid with cells of dx and dy across the wire.
double log_radii(double dx, double dy, double a) {
  return std::log(std::exp(-std::numbers::egamma) * std::hypot(dx, dy) / (4 * a));
}

/// The integral of 1/R over a rectangle of half sides p, q, from a point on its axis at distance h.
double rectangle_potential(double p, double q, double h) {
  return 4 * (p * std::asinh(q / std::hypot(p, h)) + q * std::asinh(p / std::hypot(q, h)) -
              h * std::atan(p * q / (h * std::hypot(p, q, h))));
}

/// 2 pi eps times the drop at an end that owns the share q of a cell of length dz: of ln(r0/a) and
/// ln(dz/a), so that wires have the capacitance that the method of moments gives them. Fitted for
/// cells of 1/3 to 3 times their width and a of 0.03 to 0.3 cells, to 0.05.
double end_drop(double q, double log_r0_a, double log_dz_a) {
  const double own = std::log(std::exp(2 * (log_dz_a - log_r0_a)) + 0.4) / 2;  // 2 pi dz G(0)
  return log_r0_a + own * (1 - q) + (0.25 + 0.06 * own) * std::log(q) - 0.08 - 0.085 * own;
}

class Wires {
 public:
  Wires(CutCellFractions& open, const YeeGrid& grid, const std::array<Faces, 3>& faces,
        const std::function<bool(const Edge&)>& within_metal)
      : open_(open), grid_(grid), faces_(faces), within_metal_(within_metal) {}

  void add(std::size_t number, const ThinWire& wire) {
    number_ = number, radius_ = wire.radius_m;
    if (!(radius_ > 0)) fail_of_radius("its radius is not above 0");
    if (wire.points.size() < 2) fail("it has less than two points");
    const bool closed = is_closed(wire, grid_);
    for (std::size_t p = 0; p + 1 < wire.points.size(); ++p)
      piece(wire.points[p], wire.points[p + 1], !closed && p == 0,
            !closed && p + 2 == wire.points.size());
  }
  /// Elements whose edges go on from a wire carry its current.
  void go_on_through(std::span<const Edge> taken) {
    for (bool more = true; more;) {  // an element may have several edges in a row
      more = false;
      for (const Edge& e : taken)
        if (const auto it = metal_.find(key(e)); it != metal_.end())
          it->second.taken = true;
        else if (const double radius = radius_beside(e); radius > 0)
          more = cell(axis_of(e.component), {e.i, e.j, e.k}, radius, 0, 0).taken = true;
    }
  }
  void finish() {
    for (auto& [at, node] : nodes_) {
      node.held = on_conductor(at);
      mirror_arms(at, node);
    }
    for (const auto& [at, node] : nodes_) edges_about(at, node);
    for (const auto& [k, m] : metal_) faces_about(m);
    write();
  }

 private:
  using Key = std::tuple<std::uint8_t, int, int, int>;
  static Key key(const Edge& e) { return {e.component, e.k, e.j, e.i}; }
  struct Metal {
    Edge edge;
    double radius;
    bool taken = false;
  };
  struct Shares {
    Edge edge;
    double sum = 0;
    int count = 0;
  };

  [[noreturn]] void fail(const std::string& what) const { throw WireFault(number_, false, what); }
  [[noreturn]] void fail_of_radius(const std::string& what) const {
    throw WireFault(number_, true, what);
  }
  std::string at_point(const Point& p) const {
    return fmt::format("({:.6g}, {:.6g}, {:.6g}) m", p[0], p[1], p[2]);
  }
  Place moved(Place at, int axis, int by) const {
    auto& i = at[static_cast<std::size_t>(axis)];
    i += by;
    if (joined(axis)) i = ((i % grid_.cells(axis)) + grid_.cells(axis)) % grid_.cells(axis);
    return at;
  }
  bool joined(int d) const {
    return !grid_.resolved(d) || faces_[static_cast<std::size_t>(d)].low == Boundary::periodic;
  }
  /// The cell behind or in front of a line, across joined ends and mirrors.
  double length(int d, int line, int way) const {
    const int n = grid_.cells(d);
    int i = way > 0 ? line : line - 1;
    if (joined(d))
      i = ((i % n) + n) % n;
    else if (i < 0 || i >= n)
      i = i < 0 ? 0 : n - 1;
    return grid_.length(d, i);
  }
  double dual(int d, const Place& at) const {
    const int line = at[static_cast<std::size_t>(d)];
    return (length(d, line, -1) + length(d, line, 1)) / 2;
  }

  /// The line of the grid through a coordinate.
  int line_at(int d, double x, const Point& of) const {
    const auto& lines = grid_.lines[static_cast<std::size_t>(d)];
    if (!grid_.resolved(d))
      fail(fmt::format("wires need three dimensions, and {} is not resolved", "xyz"[d]));
    const auto above = std::lower_bound(lines.begin(), lines.end(), x);
    auto near = above == lines.end() ? lines.end() - 1 : above;
    if (above != lines.begin() && above != lines.end() && x - above[-1] < *above - x)
      near = above - 1;
    const int i = static_cast<int>(near - lines.begin());
    if (std::abs(*near - x) > same_on_wire * grid_.smallest_length(d))
      fail(fmt::format(
          "at {} it runs between lines of the grid: the nearest across {} is at {:.9g} m",
          at_point(of), "xyz"[d], *near));
    return joined(d) ? i % grid_.cells(d) : i;
  }
  /// The last node of a wire along `axis` that ends at `x`, seen from the side from which it comes
  /// (`way`), and how much of the wire the node owns on its other side.
  struct End {
    int line;
    double beyond;  // m
  };
  End end_at(int axis, double x, int way, const Point& of) const {
    const auto& lines = grid_.lines[static_cast<std::size_t>(axis)];
    const double slack = same_on_wire * grid_.smallest_length(axis);
    if (x < lines.front() - slack || x > lines.back() + slack)
      fail(fmt::format("at {} it leaves the domain", at_point(of)));
    // Seen along `way`: the last line that it reaches.
    int line = way > 0 ? 0 : grid_.cells(axis);
    for (int i = 0; i <= grid_.cells(axis); ++i) {
      if (way * (x - lines[static_cast<std::size_t>(i)]) >= -slack)
        line = way > 0 ? std::max(line, i) : std::min(line, i);
    }
    const double beyond = way * (x - lines[static_cast<std::size_t>(line)]);
    return {line, std::abs(beyond) < slack ? 0 : beyond};
  }

  void piece(const Point& from, const Point& to, bool begins, bool ends) {
    int axis = -1;
    for (int d = 0; d < 3; ++d)
      if (!same_along(grid_, d, from, to)) {
        if (axis >= 0)
          fail(fmt::format("from {} to {} it does not run along an axis", at_point(from),
                           at_point(to)));
        axis = d;
      }
    if (axis < 0) fail(fmt::format("two of its points are {}", at_point(from)));
    const auto a = static_cast<std::size_t>(axis);
    if (!grid_.resolved(axis))
      fail(fmt::format("wires need three dimensions, and {} is not resolved", "xyz"[axis]));
    Place at{};
    for (int d = 0; d < 3; ++d)
      if (d != axis)
        at[static_cast<std::size_t>(d)] = line_at(d, from[static_cast<std::size_t>(d)], from);
    const int way = to[a] > from[a] ? 1 : -1;
    const auto end = [&](const Point& p, int towards, bool free) -> End {
      return free ? end_at(axis, p[a], towards, p) : End{line_of_bend(axis, p), 0};
    };
    End low = way > 0 ? end(from, -1, begins) : end(to, -1, ends),
        high = way > 0 ? end(to, 1, ends) : end(from, 1, begins);
    if (low.line >= high.line)
      fail(fmt::format("from {} to {} it has no edge of the grid", at_point(from), at_point(to)));
    if (reaches_metal(axis, at, high, 1)) high = {high.line + 1, 0};
    if (reaches_metal(axis, at, low, -1)) low = {low.line - 1, 0};
    for (int i = low.line; i < high.line; ++i) {
      at[a] = i;
      check_radius(axis, at);
      const Metal& m = cell(axis, at, radius_, i == low.line ? low.beyond : 0,
                            i + 1 == high.line ? high.beyond : 0);
      if (open_.fraction(m.edge) == 0 || within_metal_(m.edge))
        fail(fmt::format("at {} it runs through a conductor: let it end at its surface",
                         at_point(grid_.position(m.edge))));
    }
  }
  /// Whether what is open of the edge beyond an end is no longer than the wire there.
  bool reaches_metal(int axis, Place at, const End& end, int way) const {
    at[static_cast<std::size_t>(axis)] = end.line;
    const auto e = edge_from(at, axis, way);
    if (!e || !(end.beyond > 0)) return false;
    const double open = open_.fraction(*e), whole = length(axis, end.line, way);
    return open > 0 && open < 1 && open * whole <= end.beyond + same_on_wire * whole;
  }
  int line_of_bend(int axis, const Point& p) const {
    const auto& lines = grid_.lines[static_cast<std::size_t>(axis)];
    const double x = p[static_cast<std::size_t>(axis)];
    if (x < lines.front() - same_on_wire * grid_.smallest_length(axis) ||
        x > lines.back() + same_on_wire * grid_.smallest_length(axis))
      fail(fmt::format("at {} it leaves the domain", at_point(p)));
    const auto near = std::min_element(lines.begin(), lines.end(), [&](double u, double v) {
      return std::abs(u - x) < std::abs(v - x);
    });
    if (std::abs(*near - x) > same_on_wire * grid_.smallest_length(axis))
      fail(fmt::format(
          "its bend at {} lies between lines of the grid: the nearest across {} is at {:.9g} m",
          at_point(p), "xyz"[axis], *near));
    return static_cast<int>(near - lines.begin());
  }
  void check_radius(int axis, const Place& at) const {
    for (int d = 0; d < 3; ++d) {
      if (d == axis) continue;
      const int line = at[static_cast<std::size_t>(d)];
      const double least = std::min(length(d, line, -1), length(d, line, 1));
      if (radius_ > thickest_wire * least * (1 + 1e-9))
        fail_of_radius(fmt::format(
            "its radius is {:.3g} of a cell of {:.4g} m next to it, and {} is the most: "
            "draw it as a cylinder, or take larger cells",
            radius_ / least, least, thickest_wire));
    }
  }

  /// An edge of wire, and the arms of its nodes; `low`, `high`: by how much the wire is longer than
  /// the edge at an end.
  Metal& cell(int axis, const Place& at, double radius, double low, double high) {
    const Edge edge{static_cast<std::uint8_t>(axis), at[0], at[1], at[2]};
    const auto [known, fresh] = metal_.try_emplace(key(edge), Metal{edge, radius});
    if (!fresh)
      fail(fmt::format("at {} a wire runs along another one, or along itself",
                       at_point(grid_.position(edge))));
    const double half = grid_.length(axis, at[static_cast<std::size_t>(axis)]) / 2;
    nodes_[at].arms.push_back({axis, 1, half + low, half, radius});
    nodes_[moved(at, axis, 1)].arms.push_back({axis, -1, half + high, half, radius});
    return known->second;
  }

  /// Of the wire at an end of an edge; 0 where there is none.
  double radius_beside(const Edge& e) const {
    const Place low{e.i, e.j, e.k};
    double radius = 0;
    for (const Place& end : {low, moved(low, axis_of(e.component), 1)})
      if (const auto at = nodes_.find(end); at != nodes_.end())
        for (const Arm& arm : at->second.arms) radius = std::max(radius, arm.radius);
    return radius;
  }
  bool on_conductor(const Place& at) const {
    for (int d = 0; d < 3; ++d) {
      const auto u = static_cast<std::size_t>(d);
      if (joined(d)) continue;
      if ((at[u] == 0 && faces_[u].low != Boundary::pmc) ||
          (at[u] == grid_.cells(d) && faces_[u].high != Boundary::pmc))
        return true;
    }
    for (int d = 0; d < 3; ++d)
      for (const int way : {1, -1})
        if (const auto e = edge_from(at, d, way);
            e && !metal_.contains(key(*e)) && (open_.fraction(*e) == 0 || within_metal_(*e)))
          return true;
    return false;
  }
  /// A wire that meets a magnetic wall goes on behind it.
  void mirror_arms(const Place& at, Node& node) const {
    for (std::size_t n = 0, own = node.arms.size(); n < own; ++n) {
      Arm image = node.arms[n];
      const auto u = static_cast<std::size_t>(image.axis);
      const int face = image.way > 0 ? 0 : grid_.cells(image.axis);
      if (at[u] != face || joined(image.axis) ||
          (image.way > 0 ? faces_[u].low : faces_[u].high) != Boundary::pmc)
        continue;
      image.way = -image.way;
      node.arms.push_back(image);
    }
  }
  std::optional<Edge> edge_from(const Place& at, int d, int way) const {
    Place low = way > 0 ? at : moved(at, d, -1);
    const int i = low[static_cast<std::size_t>(d)];
    if (i < 0 || i >= grid_.cells(d)) return {};
    return Edge{static_cast<std::uint8_t>(d), low[0], low[1], low[2]};
  }

  /// The drop of potential, per charge and length, that the edges of a node lack, times eps.
  double drop_of(const Place& at, const Node& node) const {
    const auto log_of = [&](const Arm& a) {
      return log_radii(dual((a.axis + 1) % 3, at), dual((a.axis + 2) % 3, at), a.radius);
    };
    double drop = 0;
    for (const Arm& a : node.arms) drop += log_of(a) / 2;
    if (node.arms.size() == 1 && !node.held)
      drop = end_drop(node.arms[0].owned / (2 * node.arms[0].reaches), log_of(node.arms[0]),
                      std::log(2 * node.arms[0].reaches / node.arms[0].radius));
    return drop / (2 * pi);
  }
  /// The flux through an edge that leaves the node along d, per charge and length of the wire.
  double flux_of(const Place& at, const Node& node, int d, int way) const {
    const int b = (d + 1) % 3, c = (d + 2) % 3;
    const double l = length(d, at[static_cast<std::size_t>(d)], way);
    double conductances = 0;
    for (int e = 0; e < 3; ++e)
      conductances += 2 * dual((e + 1) % 3, at) * dual((e + 2) % 3, at) / dual(e, at);
    const double of_point = dual(b, at) * dual(c, at) / l / conductances;
    double flux = 0;
    for (const Arm& a : node.arms) {
      flux += (a.owned - a.reaches) * of_point;
      if (a.axis != d)
        flux += a.reaches * std::atan(dual(3 - d - a.axis, at) / dual(d, at)) / pi;
      else
        flux += end_flux / (4 * pi) * rectangle_potential(dual(b, at) / 2, dual(c, at) / 2, l / 2);
    }
    return flux;
  }
  void edges_about(const Place& at, const Node& node) {
    const double drop = drop_of(at, node);
    for (int d = 0; d < 3; ++d)
      for (const int way : {1, -1}) {
        if (std::any_of(node.arms.begin(), node.arms.end(),
                        [&](const Arm& a) { return a.axis == d && a.way == way; }))
          continue;
        const auto e = edge_from(at, d, way);
        if (!e || metal_.contains(key(*e)) || open_.fraction(*e) < 1 || within_metal_(*e)) continue;
        const double capacitance = dual((d + 1) % 3, at) * dual((d + 2) % 3, at) /
                                   length(d, at[static_cast<std::size_t>(d)], way);
        give(*e, 1 + drop * capacitance / flux_of(at, node, d, way));
      }
  }
  /// The four faces that have an edge of wire in their rim.
  void faces_about(const Metal& m) {
    const int a = axis_of(m.edge.component);
    const Place at{m.edge.i, m.edge.j, m.edge.k};
    for (const int d : {(a + 1) % 3, (a + 2) % 3}) {
      const int b = 3 - a - d;
      for (const int way : {1, -1}) {
        const Place low = way > 0 ? at : moved(at, d, -1);
        const int i = low[static_cast<std::size_t>(d)];
        if (i < 0 || i >= grid_.cells(d)) continue;
        const Edge face{static_cast<std::uint8_t>(3 + b), low[0], low[1], low[2]};
        if (open_.fraction(face) < 1) continue;
        const double across = dual(b, at);
        give(face, 1 + across / length(d, at[static_cast<std::size_t>(d)], way) *
                           log_radii(dual(d, at), across, m.radius) /
                           (2 * std::atan(across / dual(d, at))));
      }
    }
  }
  void give(const Edge& e, double share) {
    Shares& s = shares_.try_emplace(key(e), Shares{e}).first->second;
    s.sum += share, ++s.count;
  }

  void write() {
    std::map<Key, CutCellFraction> listed;
    for (const CutCellFraction& p : open_.fractions) listed.emplace(key(p.edge), p);
    const auto take = [&](const Edge& e) -> CutCellFraction& {
      return listed.try_emplace(key(e), CutCellFraction{e, 1, 1}).first->second;
    };
    for (const auto& [k, m] : metal_)
      if (!m.taken) {
        CutCellFraction& p = take(m.edge);
        p.fraction = p.share = 0;
      }
    for (const auto& [k, s] : shares_) take(s.edge).share = s.sum / s.count;
    for (const auto& [k, s] : shares_)
      if (is_electric(s.edge.component)) take_faces_about(grid_, faces_, s.edge, take);
    open_.fractions.clear();
    for (const auto& [k, p] : listed) open_.fractions.push_back(p);
  }

  CutCellFractions& open_;
  const YeeGrid& grid_;
  const std::array<Faces, 3>& faces_;
  const std::function<bool(const Edge&)>& within_metal_;
  std::size_t number_ = 0;
  double radius_ = 0;
  std::map<Key, Metal> metal_;
  std::map<Place, Node> nodes_;
  std::map<Key, Shares> shares_;
};

}  // namespace

void add_thin_wires(CutCellFractions& open, const YeeGrid& grid, const std::array<Faces, 3>& faces,
                    std::span<const ThinWire> wires, std::span<const Edge> taken,
                    const std::function<bool(const Edge&)>& within_metal) {
  Wires all(open, grid, faces, within_metal);
  for (std::size_t n = 0; n < wires.size(); ++n) all.add(n, wires[n]);
  all.go_on_through(taken);
  all.finish();
}

}  // namespace tessera::electromagnetics::detail
