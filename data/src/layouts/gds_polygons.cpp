// SPDX-License-Identifier: Apache-2.0
// What the references of a layout make of its cells.
#include "tessera/data/gds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <stdexcept>
#include <string_view>

namespace tessera::data {
namespace {

constexpr int kDeepest = 64;
constexpr int kRound = 32;  ///< sides of a round end

/// p -> A p + b.
struct Affine {
  double a[2][2] = {{1, 0}, {0, 1}};
  Place2 b{};
  double magnification = 1, angle = 0;  ///< of what was gone through

  Place2 operator()(double x, double y) const {
    return {a[0][0] * x + a[0][1] * y + b[0], a[1][0] * x + a[1][1] * y + b[1]};
  }
};

/// Right angles are exact.
std::array<double, 2> cosine_sine(double degrees) {
  const double turns = std::remainder(degrees, 360.0);
  if (turns == 0) return {1, 0};
  if (turns == 90) return {0, 1};
  if (turns == -90) return {0, -1};
  if (std::abs(turns) == 180) return {-1, 0};
  const double t = turns * std::numbers::pi / 180;
  return {std::cos(t), std::sin(t)};
}

Affine through(const Affine& outer, const GdsReference& r, int column, int row) {
  const double mag =
      r.absolute_magnification ? r.magnification / outer.magnification : r.magnification;
  const double angle = r.absolute_angle ? r.angle_deg - outer.angle : r.angle_deg;
  const auto [c, s] = cosine_sine(angle);
  const double m[2][2] = {{mag * c, r.mirrored ? mag * s : -mag * s},
                          {mag * s, r.mirrored ? -mag * c : mag * c}};
  Affine out;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) out.a[i][k] = outer.a[i][0] * m[0][k] + outer.a[i][1] * m[1][k];
  out.b = outer(r.at[0] + column * r.column_step[0] + row * r.row_step[0],
                r.at[1] + column * r.column_step[1] + row * r.row_step[1]);
  out.magnification = outer.magnification * mag;
  out.angle = outer.angle + angle;
  return out;
}

/// The outline of a path: along its left and back on its right. At a bend both run on to where they
/// meet, or half a width beyond the bend where they would meet further out.
Outline outline_of(const GdsElement& e, double half) {
  std::vector<Place2> p;
  for (const GdsPoint& q : e.points)
    if (p.empty() || p.back() != Place2{double(q[0]), double(q[1])})
      p.push_back({double(q[0]), double(q[1])});
  if (p.size() < 2 || half == 0) return {};
  std::vector<Place2> along;  // of each part, of length 1
  std::vector<double> length;
  for (std::size_t k = 0; k + 1 < p.size(); ++k) {
    const double dx = p[k + 1][0] - p[k][0], dy = p[k + 1][1] - p[k][1], l = std::hypot(dx, dy);
    along.push_back({dx / l, dy / l});
    length.push_back(l);
  }
  const double begin = e.path_type == 2   ? half
                       : e.path_type == 4 ? e.begin
                                          : 0,
               end = e.path_type == 2   ? half
                     : e.path_type == 4 ? e.end
                                        : 0;
  for (std::size_t k = 0; k < 2; ++k) {
    p.front()[k] -= begin * along.front()[k];
    p.back()[k] += end * along.back()[k];
  }
  Outline out;
  const auto round_end = [&](const Place2& at, const Place2& to) {  // from the left of `to`
    for (int k = 1; k < kRound; ++k) {
      const double t = std::numbers::pi * k / kRound, c = std::cos(t), s = std::sin(t);
      out.push_back(
          {at[0] + half * (to[0] * s - to[1] * c), at[1] + half * (to[1] * s + to[0] * c)});
    }
  };
  const auto flank = [&](int side) {  // 1: the left one, onward; -1: the right one, back
    const std::size_t n = p.size();
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t k = side > 0 ? j : n - 1 - j;
      const Place2 u = along[k > 0 ? k - 1 : 0], v = along[k + 1 < n ? k : n - 2];
      const double sine = u[0] * v[1] - u[1] * v[0], cosine = u[0] * v[0] + u[1] * v[1];
      const double h = half * side;  // to the left of the direction
      const Place2 before{p[k][0] - h * u[1], p[k][1] + h * u[0]},
          after{p[k][0] - h * v[1], p[k][1] + h * v[0]};
      // The outer flank runs on by half tan(turn/2); the inner one ends as much earlier.
      const bool back = 1 + cosine < 1e-12;
      const double on = back ? INFINITY : -h * sine / (1 + cosine);
      if (std::abs(sine) < 1e-12 && cosine > 0) {
        out.push_back(before);
      } else if (-on > std::min(length[k - 1], length[k])) {
        out.push_back(side > 0 ? before : after);
        out.push_back(p[k]);
        out.push_back(side > 0 ? after : before);
      } else if (on <= half * (1 + 1e-9)) {
        out.push_back({before[0] + on * u[0], before[1] + on * u[1]});
      } else {
        const Place2 first{before[0] + half * u[0], before[1] + half * u[1]},
            second{after[0] - half * v[0], after[1] - half * v[1]};
        out.push_back(side > 0 ? first : second);
        out.push_back(side > 0 ? second : first);
      }
    }
  };
  const bool round = e.path_type == 1;
  flank(-1);
  if (round) round_end(p.front(), {-along.front()[0], -along.front()[1]});
  flank(1);
  if (round) round_end(p.back(), along.back());
  return out;
}

class Expansion {
 public:
  Expansion(const GdsLibrary& library, int layer, int type)
      : library_(library), layer_(layer), type_(type) {
    for (std::size_t n = 0; n < library.cells.size(); ++n) number_[library.cells[n].name] = n;
    counted_.assign(library.cells.size(), {-1, -1});
  }

  std::vector<Outline> of(const std::string& cell) {
    const auto at = number_.find(cell);
    if (at == number_.end()) throw std::logic_error("gds_polygons: no such cell");
    const auto [polygons, corners] = count(at->second, 0);
    if (polygons > kMostPolygons || corners > kMostCorners)
      fail("layer " + std::to_string(layer_) + " of the cell '" + cell + "' has " +
           std::to_string(static_cast<long long>(std::min(polygons, 1e18))) + " polygons of " +
           std::to_string(static_cast<long long>(std::min(corners, 1e18))) + " corners; at most " +
           std::to_string(kMostPolygons) + " and " + std::to_string(kMostCorners) + " are read");
    expand(at->second, {});
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string what) const {
    throw InputError(Diagnostic{.number = 380,
                                .place = {.file = library_.file},
                                .message = std::move(what),
                                .hint = "name a cell with less in it"});
  }
  bool wanted(const GdsElement& e) const {
    return e.layer == layer_ && (type_ < 0 || e.type == type_);
  }

  /// Polygons and corners that a cell makes, each once.
  std::array<double, 2> count(std::size_t cell, int depth) {
    if (depth > kDeepest)
      fail("references of layer " + std::to_string(layer_) + " are nested deeper than " +
           std::to_string(kDeepest));
    if (counted_[cell][0] >= 0) return counted_[cell];
    std::array<double, 2> sum{};
    for (const GdsElement& e : library_.cells[cell].elements)
      if (wanted(e)) {
        sum[0] += 1;
        sum[1] += static_cast<double>(e.points.size()) * (e.is_path ? 2 : 1) +
                  (e.path_type == 1 ? 2 * kRound : 0);
      }
    for (const GdsReference& r : library_.cells[cell].references) {
      const auto inner = count(number_.at(r.cell), depth + 1);
      for (std::size_t k = 0; k < 2; ++k) sum[k] += double(r.columns) * r.rows * inner[k];
    }
    return counted_[cell] = sum;
  }

  void expand(std::size_t cell, const Affine& to) {
    for (const GdsElement& e : library_.cells[cell].elements) {
      if (!wanted(e)) continue;
      Outline o;
      if (e.is_path) {
        o = outline_of(e, e.width < 0 ? -0.5 * e.width / to.magnification : 0.5 * e.width);
      } else {
        for (const GdsPoint& p : e.points) o.push_back({double(p[0]), double(p[1])});
      }
      if (o.empty()) continue;
      for (Place2& p : o) p = to(p[0], p[1]);
      out_.push_back(std::move(o));
    }
    for (const GdsReference& r : library_.cells[cell].references) {
      const std::size_t inner = number_.at(r.cell);
      if (counted_[inner][0] == 0) continue;
      for (int row = 0; row < r.rows; ++row)
        for (int column = 0; column < r.columns; ++column)
          expand(inner, through(to, r, column, row));
    }
  }

  const GdsLibrary& library_;
  int layer_, type_;
  std::map<std::string_view, std::size_t> number_;
  std::vector<std::array<double, 2>> counted_;
  std::vector<Outline> out_;
};

}  // namespace

std::vector<Outline> gds_polygons(const GdsLibrary& library, const std::string& cell, int layer,
                                  int type) {
  return Expansion(library, layer, type).of(cell);
}

std::vector<std::array<int, 2>> layers_of(const GdsLibrary& library, const std::string& cell) {
  std::map<std::string_view, std::size_t> number;
  for (std::size_t n = 0; n < library.cells.size(); ++n) number[library.cells[n].name] = n;
  std::set<std::array<int, 2>> out;
  std::vector<bool> seen(library.cells.size(), false);
  std::vector<std::size_t> todo;
  if (const auto at = number.find(cell); at != number.end()) todo.push_back(at->second);
  while (!todo.empty()) {
    const std::size_t n = todo.back();
    todo.pop_back();
    if (seen[n]) continue;
    seen[n] = true;
    for (const GdsElement& e : library.cells[n].elements) out.insert({e.layer, e.type});
    for (const GdsReference& r : library.cells[n].references) todo.push_back(number.at(r.cell));
  }
  return {out.begin(), out.end()};
}

}  // namespace tessera::data
