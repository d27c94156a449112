// SPDX-License-Identifier: Apache-2.0
#include "wires/matrices.h"

#include "tessera/electromagnetics/constants.h"
#include "wires/lattice.h"
#include "wires/spread.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics::wires {
namespace {

using std::numbers::pi;
using Cells = std::array<double, 3>;

/// Cells beyond which lattice and space are the same: to 1e-4 of a neighbour's share.
constexpr double near_cells = 10;

/// One of the wires themselves, or of their images.
struct Image {
  std::vector<Mirror> through;
  double sign = 1;

  Cells operator()(Cells x) const {
    for (const Mirror& m : through) {
      double& at = x[static_cast<std::size_t>(m.axis)];
      at = 2 * m.line - at;
    }
    return x;
  }
  EdgeShare operator()(EdgeShare s) const {
    for (const Mirror& m : through) {
      const bool along = s.at[0] == m.axis;
      int& i = s.at[static_cast<std::size_t>(1 + m.axis)];
      i = 2 * m.line - i - (along ? 1 : 0);
      if (along) s.weight = -s.weight;
    }
    return s;
  }
  NodeShare operator()(NodeShare s) const {
    for (const Mirror& m : through) {
      int& i = s.at[static_cast<std::size_t>(m.axis)];
      i = 2 * m.line - i;
    }
    return s;
  }
};
std::vector<Image> images_of(const std::vector<Mirror>& mirrors) {
  std::vector<Image> out;
  for (std::size_t set = 0; set < (std::size_t{1} << mirrors.size()); ++set) {
    Image image;
    for (std::size_t m = 0; m < mirrors.size(); ++m)
      if ((set >> m) & 1U) image.through.push_back(mirrors[m]), image.sign *= mirrors[m].sign;
    out.push_back(std::move(image));
  }
  return out;
}

/// Half of a segment: its charge is that of the node at its end.
struct Half {
  Cells from, to;
  std::int32_t node;
  double length_m;
};

class Making {
 public:
  explicit Making(const Layout& layout) : l_(layout) {
    for (const Segment& s : l_.segments) {
      const Cells &a = node(s.from), &b = node(s.to);
      Cells middle{};
      for (std::size_t d = 0; d < 3; ++d) middle[d] = (a[d] + b[d]) / 2;
      middles_.push_back(middle);
      halves_.push_back({a, middle, s.from, 0});
      halves_.push_back({middle, b, s.to, 0});
      currents_.push_back(current_shares(a, b));
    }
    owned_.assign(l_.nodes.size(), 0.0);
    for (Half& h : halves_) {
      const Point p = metres(h.from), q = metres(h.to);
      h.length_m = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
      owned_[static_cast<std::size_t>(h.node)] += h.length_m;
    }
    for (const Cells& n : l_.nodes) charges_.push_back(charge_shares(n));
  }

  Matrices make() {
    const auto n = static_cast<Eigen::Index>(l_.segments.size()),
               m = static_cast<Eigen::Index>(l_.nodes.size());
    out_.inductance = out_.reaction = Eigen::MatrixXd::Zero(n, n);
    out_.elastance = Eigen::MatrixXd::Zero(m, m);
    for (const Image& image : images_of(l_.mirrors)) {
      add_wires(image);
      take_grid(image);
    }
    for (Eigen::MatrixXd* x : {&out_.inductance, &out_.reaction, &out_.elastance})
      *x = ((*x + x->transpose()) / 2).eval();
    return std::move(out_);
  }

 private:
  const Cells& node(std::int32_t n) const { return l_.nodes[static_cast<std::size_t>(n)]; }
  Point metres(const Cells& x) const {
    return {x[0] * l_.cell[0], x[1] * l_.cell[1], x[2] * l_.cell[2]};
  }
  static bool near(const Cells& a, const Cells& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < near_cells;
  }

  /// The method of moments: of currents mu/(4 pi) t.t' / R, of charges 1 / (4 pi eps R).
  void add_wires(const Image& image) {
    for (std::size_t g = 0; g < halves_.size(); ++g) {
      const Half& b = halves_[g];
      const Cells from = image(b.from), to = image(b.to);
      const Point q0 = metres(from), q1 = metres(to);
      const double radius_b = l_.segments[g / 2].radius_m;
      for (std::size_t h = 0; h < halves_.size(); ++h) {
        const Half& a = halves_[h];
        const bool currents = near(middles_[h / 2], image(middles_[g / 2])),
                   charges = near(node(a.node), image(node(b.node)));
        if (!currents && !charges) continue;
        const Point p0 = metres(a.from), p1 = metres(a.to);
        const double radius_a = l_.segments[h / 2].radius_m,
                     radius = std::sqrt((radius_a * radius_a + radius_b * radius_b) / 2),
                     k = mutual_integral(p0, p1, q0, q1, radius) / (4 * pi) * image.sign;
        double along = 0;
        for (std::size_t d = 0; d < 3; ++d) along += (p1[d] - p0[d]) * (q1[d] - q0[d]);
        along /= a.length_m * b.length_m;
        if (currents)
          out_.inductance(static_cast<Eigen::Index>(h / 2), static_cast<Eigen::Index>(g / 2)) +=
              vacuum_permeability * along * k;
        if (charges)
          out_.elastance(a.node, b.node) +=
              k / (vacuum_permittivity * l_.eps * owned_[static_cast<std::size_t>(a.node)] *
                   owned_[static_cast<std::size_t>(b.node)]);
      }
    }
  }
  void take_grid(const Image& image) {
    const double volume = l_.cell[0] * l_.cell[1] * l_.cell[2];
    for (std::size_t q = 0; q < currents_.size(); ++q) {
      std::vector<EdgeShare> other;
      for (const EdgeShare& s : currents_[q]) other.push_back(image(s));
      for (std::size_t s = 0; s < currents_.size(); ++s) {
        if (!near(middles_[s], image(middles_[q]))) continue;
        double potential = 0, answer = 0;
        for (const EdgeShare& x : currents_[s])
          for (const EdgeShare& y : other) {
            if (x.at[0] != y.at[0]) continue;
            const double d = l_.cell[static_cast<std::size_t>(x.at[0])],
                         w = d * d * x.weight * y.weight;
            const int i = x.at[1] - y.at[1], j = x.at[2] - y.at[2], k = x.at[3] - y.at[3];
            potential += w * space_(i, j, k), answer += w * steps_(i, j, k);
          }
        const auto a = static_cast<Eigen::Index>(s), b = static_cast<Eigen::Index>(q);
        out_.inductance(a, b) -= image.sign * vacuum_permeability * potential;
        out_.reaction(a, b) +=
            image.sign * vacuum_impedance * speed_of_light * l_.dt_s / (l_.eps * volume) * answer;
      }
    }
    for (std::size_t q = 0; q < charges_.size(); ++q) {
      std::vector<NodeShare> other;
      for (const NodeShare& s : charges_[q]) other.push_back(image(s));
      for (std::size_t s = 0; s < charges_.size(); ++s) {
        if (!near(l_.nodes[s], image(l_.nodes[q]))) continue;
        double potential = 0;
        for (const NodeShare& x : charges_[s])
          for (const NodeShare& y : other)
            potential += x.weight * y.weight *
                         space_(x.at[0] - y.at[0], x.at[1] - y.at[1], x.at[2] - y.at[2]);
        out_.elastance(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(q)) -=
            image.sign * potential / (vacuum_permittivity * l_.eps);
      }
    }
  }
  std::array<double, 3> ratios(double of_all) const {
    return {of_all / (l_.cell[0] * l_.cell[0]), of_all / (l_.cell[1] * l_.cell[1]),
            of_all / (l_.cell[2] * l_.cell[2])};
  }
  /// Pairs that are near by their middles have edges that are further apart.
  static constexpr int reach = static_cast<int>(near_cells) + 2 * (half_width + 2);

  const Layout& l_;
  std::vector<Cells> middles_;
  std::vector<Half> halves_;   ///< two of each segment
  std::vector<double> owned_;  ///< [nodes] m of wire
  std::vector<std::vector<EdgeShare>> currents_;
  std::vector<std::vector<NodeShare>> charges_;
  LatticePotential space_{ratios(l_.cell[0] * l_.cell[1] * l_.cell[2]), reach};
  LatticePotential steps_ =
      LatticePotential::of_steps(ratios(std::pow(speed_of_light * l_.dt_s, 2) / l_.eps), reach);
  Matrices out_;
};

}  // namespace

Matrices wire_matrices(const Layout& layout) { return Making(layout).make(); }

double mutual_integral(const Point& p0, const Point& p1, const Point& q0, const Point& q1,
                       double a) {
  Point t{}, u{};
  double length = 0, other = 0, along = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    t[d] = p1[d] - p0[d], u[d] = q1[d] - q0[d];
    length += t[d] * t[d], other += u[d] * u[d], along += t[d] * u[d];
  }
  length = std::sqrt(length), other = std::sqrt(other);
  along /= length * other;
  /// Where a point is along the first line, and its distance from it squared.
  const auto seen = [&](const Point& x) {
    double z = 0, r2 = 0;
    for (std::size_t d = 0; d < 3; ++d) z += (x[d] - p0[d]) * t[d] / length;
    for (std::size_t d = 0; d < 3; ++d) r2 += std::pow(x[d] - p0[d] - z * t[d] / length, 2);
    return std::pair(z, r2);
  };
  const auto [z0, r0] = seen(q0);
  const auto [z1, r1] = seen(q1);
  const double scale = (length + other) * (length + other);
  if (std::abs(std::abs(along) - 1) < 1e-12 && std::abs(r0 - r1) < 1e-12 * scale) {
    const double b = std::sqrt(r0 + a * a), low = std::min(z0, z1), high = std::max(z0, z1);
    const auto twice = [&](double x) { return x * std::asinh(x / b) - std::hypot(x, b); };
    return twice(length - low) - twice(length - high) - twice(-low) + twice(-high);
  }
  // The inner integral is known; the outer one by Gauss.
  constexpr double at[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                           0.9602898564975363},
                   weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                               0.1012285362903763};
  double sum = 0;
  for (int g = 0; g < 8; ++g) {
    const double s = (1 + (g % 2 == 0 ? at[g / 2] : -at[g / 2])) / 2;
    Point x{};
    for (std::size_t d = 0; d < 3; ++d) x[d] = q0[d] + s * u[d];
    const auto [z, r2] = seen(x);
    const double b = std::sqrt(r2 + a * a);
    sum += weight[g / 2] * other / 2 * (std::asinh((length - z) / b) + std::asinh(z / b));
  }
  return sum;
}

}  // namespace tessera::electromagnetics::wires
