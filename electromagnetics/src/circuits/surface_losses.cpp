// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/surface_impedance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace tessera::electromagnetics {
namespace {

constexpr double kLeastPart = 0.1;
/// Lengths of walls within a face, over those of its cell, below that are rounding of their places.
constexpr double kRounding = 1e-9;

/// What of electric edges lies in metal, and the surface of which conductor a closed one is.
class Metal {
 public:
  Metal(const YeeModel& m, const Scene& scene, const std::vector<Medium>& media)
      : m_(m), scene_(scene), media_(media) {
    for (int c = 0; c < 3; ++c) {
      std::vector<std::uint8_t>& closed = closed_[static_cast<std::size_t>(c)];
      closed.assign(static_cast<std::size_t>(size(0)) * size(1) * size(2), 0);
      const auto n = static_cast<std::size_t>(m.grid.cells(0)) + 1;
      for (int k = 0; k < places(c, 2); ++k)
        for (int j = 0; j < places(c, 1); ++j) {
          MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
          if (m.material) m.material(c, j, k, row);
          for (const CutCellFraction& p : m.open.row(c, j, k))
            if (p.fraction == 0) row.inverse[static_cast<std::size_t>(p.edge.i)] = 0;
          for (int i = 0; i < places(c, 0); ++i)
            closed[at(i, j, k)] = row.inverse[static_cast<std::size_t>(i)] == 0;
        }
    }
  }

  bool joined(int d) const {
    return m_.grid.resolved(d) && m_.faces[static_cast<std::size_t>(d)].low == Boundary::periodic;
  }
  /// Along an axis; of joined faces the last line is the first.
  int places(int c, int d) const {
    return m_.grid.cells(d) + (m_.grid.resolved(d) && !joined(d) && !at_middle(c, d) ? 1 : 0);
  }
  /// An outer face of metal in which the edge lies: axis and side; axis -1: none.
  std::pair<int, int> wall_of(const Edge& e) const {
    const int i[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d) {
      if (d == axis_of(e.component) || !m_.grid.resolved(d)) continue;
      const Faces& f = m_.faces[static_cast<std::size_t>(d)];
      const auto metal = [](Boundary b) { return b == Boundary::pec; };
      if (i[d] == 0 && metal(f.low)) return {d, 0};
      if (i[d] == m_.grid.cells(d) && metal(f.high)) return {d, 1};
    }
    return {-1, 0};
  }
  /// The part of an edge's length that bodies leave open.
  double left_by_bodies(const Edge& e) const {
    return closed_[e.component][at(e.i, e.j, e.k)] != 0 ? 0 : m_.open.fraction(e);
  }
  struct Surface {
    int medium = -1;  ///< of the conductor; -1: there is none
    Point normal{};
  };
  /// The surface of a conductor that is nearest to a point; that of the background is where a body
  /// of another medium ends.
  Surface nearest(const Point& p) const {
    double least = INFINITY;
    const Structure* found = nullptr;
    Point from{};
    const auto metal = [&](int medium) { return media_[static_cast<std::size_t>(medium)].pec; };
    for (const Point& at : seen_from(p))
      for (const Structure& s : scene_.structures)
        if (metal(s.medium) || metal(scene_.background))
          if (const double d = std::abs(s.shape.signed_distance(at)); d < least)
            least = d, found = &s, from = at;
    if (!found) return {};
    return {metal(found->medium) ? found->medium : scene_.background, found->shape.normal(from)};
  }
  Point position(const Edge& e) const {
    Point p = m_.grid.position(e);
    for (int d = 0; d < 3; ++d)
      if (!m_.grid.resolved(d)) p[static_cast<std::size_t>(d)] = m_.grid.middle(d, 0);
    return p;
  }

 private:
  int size(int d) const { return m_.grid.cells(d) + 1; }
  /// A point, and in the first or last cell between joined faces where it is from the other one.
  std::vector<Point> seen_from(const Point& p) const {
    std::vector<Point> out{p};
    for (std::size_t d = 0; d < 3; ++d) {
      if (!joined(static_cast<int>(d))) continue;
      const std::vector<double>& lines = m_.grid.lines[d];
      const double low = lines.front(), high = lines.back();
      const double by = p[d] <= lines[1]                  ? high - low
                        : p[d] >= lines[lines.size() - 2] ? low - high
                                                          : 0;
      for (std::size_t n = 0, known = out.size(); by != 0 && n < known; ++n) {
        out.push_back(out[n]);
        out.back()[d] += by;
      }
    }
    return out;
  }
  std::size_t at(int i, int j, int k) const {
    return (static_cast<std::size_t>(k) * size(1) + j) * size(0) + i;
  }
  const YeeModel& m_;
  const Scene& scene_;
  const std::vector<Medium>& media_;
  std::array<std::vector<std::uint8_t>, 3> closed_;
};

Medium wall_medium(const SurfaceImpedance& z) {
  Medium m{.name = "surface", .eps = {}};
  m.mu.fill(z.inductance_h / vacuum_permeability), m.sigma_m.fill(z.resistance_ohm);
  for (const SurfaceImpedance::Branch& b : z.branches)
    m.poles.push_back({-b.rate, b.resistance_ohm / vacuum_permeability});
  return m;
}

class SurfaceLosses {
 public:
  SurfaceLosses(const YeeModel& m, const Scene& scene, const std::vector<Medium>& media,
                const LossyConductors& conductors)
      : m_(m), metal_(m, scene, media), conductors_(conductors) {
    for (const auto& z : conductors.media) of_medium_.push_back(z ? number_of(*z) : -1);
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t side = 0; side < 2; ++side)
        of_wall_[d][side] = conductors.walls[d][side] ? number_of(*conductors.walls[d][side]) : -1;
  }

  AddedMedia find() {
    for (int c = 3; c < 6; ++c)
      for (int k = 0; k < metal_.places(c, 2); ++k)
        for (int j = 0; j < metal_.places(c, 1); ++j)
          for (int i = 0; i < metal_.places(c, 0); ++i)
            face({static_cast<std::uint8_t>(c), i, j, k});
    out_.sort();
    return std::move(out_);
  }

 private:
  int number_of(const SurfaceImpedance& z) {
    out_.media.push_back(wall_medium(z));
    return static_cast<int>(out_.media.size()) - 1;
  }

  /// An edge of a face.
  struct Rim {
    Edge edge;
    double length = 0, open = 1;  ///< what bodies leave of it
    bool in_wall = false;         ///< in an outer face of metal,
    int wall = -1;                ///< whose loss is this
  };
  void face(const Edge& f) {
    if (m_.open.fraction(f) == 0) return;
    const int a = axis_of(f.component), b = (a + 1) % 3, d = (a + 2) % 3;
    const int at[3] = {f.i, f.j, f.k};
    // Edges along b at d and d + 1, along d at b and b + 1.
    std::array<Rim, 4> rim;
    double open = 0;
    bool any = false, cut = m_.open.fraction(f) < 1;
    for (int q = 0; q < 4; ++q) {
      const int along = q < 2 ? b : d, across = q < 2 ? d : b;
      int i[3] = {at[0], at[1], at[2]};
      if (q % 2 == 1 && m_.grid.resolved(across)) ++i[across];
      if (metal_.joined(across)) i[across] %= m_.grid.cells(across);
      Rim& r = rim[q];
      r.edge = {static_cast<std::uint8_t>(along), i[0], i[1], i[2]};
      r.length = m_.grid.length(along, at[along]);
      r.open = metal_.left_by_bodies(r.edge);
      const auto [axis, side] = metal_.wall_of(r.edge);
      r.in_wall = axis >= 0;
      if (r.in_wall)
        r.wall = of_wall_[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)];
      else
        open += r.open;
      any = any || r.in_wall || r.open < 1, cut = cut || (r.open > 0 && r.open < 1);
    }
    if (!any || open == 0) return;  // away from metal, or within it
    const double area = m_.grid.length(b, at[b]) * m_.grid.length(d, at[d]) * m_.open.share(f);
    if (cut) return cut_face(f, rim, area);
    for (const Rim& r : rim) {
      if (r.in_wall) {
        add(f, r.wall, r.length / area);
      } else if (r.open == 0) {
        const int medium = metal_.nearest(metal_.position(r.edge)).medium;
        if (medium >= 0) add(f, of_medium_[static_cast<std::size_t>(medium)], r.length / area);
      }
    }
  }
  /// How much the wall within a face turns by a right angle, from 0, straight, to 1: what is open
  /// has the area of a straight cut, or up to half of the rectangle of its sides x and y more or
  /// less.
  static double bend(const std::array<Rim, 4>& rim, double area, double x, double y) {
    const double rectangle = x * y;
    if (!(rectangle > 1e-9)) return 0;
    constexpr double whole = 1 - 1e-9;
    const auto both = [&](bool (*is)(double, double)) {
      return is(rim[0].open, rim[1].open) && is(rim[2].open, rim[3].open);
    };
    double straight;
    if (y > whole)
      straight = (rim[0].open + rim[1].open) / 2;
    else if (x > whole)
      straight = (rim[2].open + rim[3].open) / 2;
    else if (both([](double p, double q) { return std::min(p, q) == 0; }))
      straight = rectangle / 2;
    else if (both([](double p, double q) { return std::max(p, q) > whole; }))
      straight = 1 - rectangle / 2;
    else
      return 0;
    return std::clamp(std::abs(area - straight) / (rectangle / 2), 0.0, 1.0);
  }

  /// Along the wall E is Z times the H across it in the surface, of which the face has the part u:
  /// that of its normal which lies in the surface.
  double part_in(const Point& normal, int axis) const {
    const double n = normal[static_cast<std::size_t>(axis)];
    return std::sqrt(std::max(1 - n * n, kLeastPart * kLeastPart));
  }

  /// Bodies end in the face as they do without a wall, and the wall has what they leave of it.
  void cut_face(const Edge& f, const std::array<Rim, 4>& rim, double area) {
    const int a = axis_of(f.component);
    const double x = std::abs(rim[0].open - rim[1].open), y = std::abs(rim[2].open - rim[3].open),
                 turned = bend(rim, m_.open.fraction(f), x, y);
    const auto surface = [&](const Point& at, double length) {
      const Metal::Surface s = metal_.nearest(at);
      if (s.medium >= 0)
        add(f, of_medium_[static_cast<std::size_t>(s.medium)],
            length / (area * part_in(s.normal, a)));
    };
    surface(metal_.position(f), (1 - turned) * std::hypot(x * rim[0].length, y * rim[2].length));
    if (turned > 0) {
      surface(metal_.position(rim[rim[0].open < rim[1].open ? 0 : 1].edge),
              turned * x * rim[0].length);
      surface(metal_.position(rim[rim[2].open < rim[3].open ? 2 : 3].edge),
              turned * y * rim[2].length);
    }
    for (const Rim& r : rim)
      if (r.in_wall) add(f, r.wall, r.open * r.length / area);
  }

  /// A face has each surface once, whatever parts of it run through.
  void add(const Edge& f, int number, double share) {
    const int at[3] = {f.i, f.j, f.k}, b = (axis_of(f.component) + 1) % 3, d = (b + 1) % 3;
    const double cell = std::min(m_.grid.length(b, at[b]), m_.grid.length(d, at[d]));
    if (number < 0 || !(share * cell > kRounding)) return;
    for (auto p = out_.parts.rbegin(); p != out_.parts.rend() && p->edge == f; ++p)
      if (p->medium == number) {
        p->share += share;
        return;
      }
    out_.parts.push_back({f, number, share, 0});
  }

  const YeeModel& m_;
  Metal metal_;
  const LossyConductors& conductors_;
  std::vector<int> of_medium_;
  std::array<std::array<int, 2>, 3> of_wall_{};
  AddedMedia out_;
};

}  // namespace

AddedMedia surface_losses(const YeeModel& model, const Scene& scene,
                          const std::vector<Medium>& media, const LossyConductors& conductors) {
  return SurfaceLosses(model, scene, media, conductors).find();
}

}  // namespace tessera::electromagnetics
