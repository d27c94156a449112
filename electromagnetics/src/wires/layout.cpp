// SPDX-License-Identifier: Apache-2.0
#include "wires/layout.h"

#include "wires/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tessera::electromagnetics::wires {
namespace {

constexpr double one_place = 1e-6;  ///< of a cell: points that are the same

std::string at_point(const Point& p) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g}) m", p[0], p[1], p[2]);
}

class LayingOut {
 public:
  LayingOut(const YeeModel& model, std::span<const ThinWire> wires,
            std::span<const WireElement> elements, const std::array<std::array<int, 2>, 3>& layers)
      : model_(model), grid_(model.grid), wires_(wires), elements_(elements), layers_(layers) {}

  Laid lay() {
    for (std::size_t w = 0; w < wires_.size(); ++w) check_wire(w);
    for (int d = 0; d < 3; ++d) look_along(d);
    check_radii();
    out_.layout.eps = 1, out_.layout.dt_s = model_.dt_s;
    out_.elements.resize(elements_.size());
    place_elements();
    for (std::size_t w = 0; w < wires_.size(); ++w) lay_wire(w);
    for (std::size_t w = 0; w < wires_.size(); ++w) check_walls(w);
    return std::move(out_);
  }

 private:
  using Cells = std::array<double, 3>;
  [[noreturn]] static void fail(std::size_t wire, const std::string& what) {
    throw WireFault(wire, false, what);
  }

  void check_wire(std::size_t w) const {
    const ThinWire& wire = wires_[w];
    if (!(wire.radius_m > 0)) throw WireFault(w, true, "its radius is not above 0");
    if (wire.points.size() < 2) fail(w, "it has less than two points");
    for (std::size_t p = 0; p < wire.points.size(); ++p) {
      for (std::size_t d = 0; d < 3; ++d) {
        const auto& lines = grid_.lines[d];
        const double slack = one_place * grid_.smallest_length(static_cast<int>(d));
        if (!grid_.resolved(static_cast<int>(d)))
          fail(w, fmt::format("wires need three dimensions, and {} is not resolved", "xyz"[d]));
        if (!(wire.points[p][d] >= lines.front() - slack &&
              wire.points[p][d] <= lines.back() + slack))
          fail(w, fmt::format("at {} it leaves the domain", at_point(wire.points[p])));
      }
      if (p > 0 && same(wire.points[p], wire.points[p - 1], near()))
        fail(w, fmt::format("two of its points are {}", at_point(wire.points[p])));
    }
  }
  double near() const {
    return one_place *
           std::min({grid_.smallest_length(0), grid_.smallest_length(1), grid_.smallest_length(2)});
  }

  /// The stretch of the axis that wires see, which is even, and the wall at its end.
  void look_along(int d) {
    const auto u = static_cast<std::size_t>(d);
    const auto& lines = grid_.lines[u];
    const int n = grid_.cells(d);
    double low = INFINITY, high = -INFINITY;
    std::size_t lowest = 0, highest = 0;
    for (std::size_t w = 0; w < wires_.size(); ++w)
      for (const Point& p : wires_[w].points) {
        if (p[u] < low) low = p[u], lowest = w;
        if (p[u] > high) high = p[u], highest = w;
      }
    const auto cell_of = [&](double x) {
      const auto above = std::upper_bound(lines.begin(), lines.end(), x);
      return std::clamp(static_cast<int>(above - lines.begin()) - 1, 0, n - 1);
    };
    const int first = cell_of(low) - half_width, last = cell_of(high) + 1 + half_width;
    const int seen_low = std::max(first, 0), seen_high = std::min(last, n);
    out_.layout.cell[u] =
        (lines[static_cast<std::size_t>(seen_high)] - lines[static_cast<std::size_t>(seen_low)]) /
        (seen_high - seen_low);
    origin_[u] = lines[static_cast<std::size_t>(seen_low)] - seen_low * out_.layout.cell[u];
    for (int i = seen_low; i < seen_high; ++i)
      if (std::abs(grid_.length(d, i) - out_.layout.cell[u]) > 1e-6 * out_.layout.cell[u])
        fail(lowest,
             fmt::format("it runs between lines of the grid, where cells are even, and here those "
                         "along {} are {:.6g} to {:.6g} m long",
                         "xyz"[d], std::min(grid_.length(d, i), out_.layout.cell[u]),
                         std::max(grid_.length(d, i), out_.layout.cell[u])));
    if (first < 0 && last > n)
      fail(lowest, fmt::format("the domain is too narrow for it along {}", "xyz"[d]));
    for (const bool up : {false, true}) {
      const bool at_wall = up ? last > n : first < 0;
      const std::size_t of = up ? highest : lowest;
      const int layer = layers_[u][up];
      if (layer > 0 && (up ? last > n - layer : first < layer))
        fail(of,
             fmt::format("between lines of the grid, it keeps two cells away from the absorbing "
                         "layer at the {} end of {}",
                         up ? "upper" : "lower", "xyz"[d]));
      if (!at_wall) continue;
      const Boundary face = up ? model_.faces[u].high : model_.faces[u].low;
      if (face != Boundary::pec && face != Boundary::pmc)
        fail(of, fmt::format("between lines of the grid, it keeps two cells away from the {} end "
                             "of {}, which is no wall",
                             up ? "upper" : "lower", "xyz"[d]));
      out_.layout.mirrors.push_back({d, up ? n : 0, face == Boundary::pec ? -1.0 : 1.0});
    }
  }
  void check_radii() const {
    const auto& c = out_.layout.cell;
    const double least = std::min({c[0], c[1], c[2]});
    for (std::size_t w = 0; w < wires_.size(); ++w)
      if (wires_[w].radius_m > thickest_wire * least * (1 + 1e-9))
        throw WireFault(w, true,
                        fmt::format("its radius is {:.3g} of a cell of {:.4g} m next to it, and {} "
                                    "is the most: draw it as a cylinder, or take larger cells",
                                    wires_[w].radius_m / least, least, thickest_wire));
  }
  /// A wire in a wall or mirror has an image in its own place.
  void check_walls(std::size_t w) const {
    for (const Segment& s : out_.layout.segments)
      for (const Mirror& m : out_.layout.mirrors) {
        const auto u = static_cast<std::size_t>(m.axis);
        const double middle = (node(s.from)[u] + node(s.to)[u]) / 2 - m.line;
        if (s.wire == w && std::abs(middle) * out_.layout.cell[u] < 2 * s.radius_m)
          fail(w, fmt::format("between lines of the grid, it touches the {} end of {} with more "
                              "than an end",
                              m.line == 0 ? "lower" : "upper", "xyz"[m.axis]));
      }
  }

  Cells in_cells(const Point& p) const {
    Cells x{};
    for (std::size_t d = 0; d < 3; ++d) {
      x[d] = (p[d] - origin_[d]) / out_.layout.cell[d];
      if (std::abs(x[d] - std::round(x[d])) < one_place) x[d] = std::round(x[d]);
    }
    return x;
  }
  const Cells& node(std::int32_t n) const { return out_.layout.nodes[static_cast<std::size_t>(n)]; }
  std::int32_t node_at(const Cells& x) {
    std::array<std::int64_t, 3> key{};
    for (std::size_t d = 0; d < 3; ++d) key[d] = std::llround(x[d] / (4 * one_place));
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k)
          if (const auto known = nodes_.find({key[0] + i, key[1] + j, key[2] + k});
              known != nodes_.end() &&
              std::hypot(node(known->second)[0] - x[0], node(known->second)[1] - x[1],
                         node(known->second)[2] - x[2]) < 2 * one_place)
            return known->second;
    const auto number = static_cast<std::int32_t>(out_.layout.nodes.size());
    out_.layout.nodes.push_back(x);
    nodes_.emplace(key, number);
    return number;
  }

  void place_elements() {
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      const WirePlace place = place_on_wires(wires_, elements_[e].position);
      if (place.distance_m > on_free_wire * 2 * near() / one_place)
        throw ElementFault(e, fmt::format("lies {:.4g} m off the wire", place.distance_m));
      places_.push_back(place);
    }
  }
  /// Where pieces are divided: at ends, and where other wires touch them.
  std::vector<double> joints(std::size_t w, std::size_t piece) const {
    const Point &a = wires_[w].points[piece], &b = wires_[w].points[piece + 1];
    std::vector<double> out{0, 1};
    for (std::size_t v = 0; v < wires_.size(); ++v)
      for (const Point& p : wires_[v].points) {
        const ThinWire one{{a, b}, wires_[w].radius_m};
        const WirePlace place = place_on_wires({&one, 1}, p);
        if (place.distance_m < near() && !same(p, a, near()) && !same(p, b, near()))
          out.push_back(place.share);
      }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end(),
                          [](double x, double y) { return std::abs(x - y) < 1e-9; }),
              out.end());
    return out;
  }
  void lay_wire(std::size_t w) {
    for (std::size_t piece = 0; piece + 1 < wires_[w].points.size(); ++piece) {
      const std::vector<double> at = joints(w, piece);
      for (std::size_t k = 0; k + 1 < at.size(); ++k) lay_piece(w, piece, at[k], at[k + 1]);
    }
  }
  /// Segments of about a cell. Of two numbers of them that one, with which elements are nearer to
  /// their middles.
  void lay_piece(std::size_t w, std::size_t piece, double begin, double end) {
    const Cells a = in_cells(wires_[w].points[piece]), b = in_cells(wires_[w].points[piece + 1]);
    Cells t{};
    for (std::size_t d = 0; d < 3; ++d) t[d] = b[d] - a[d];
    const double length = (end - begin) * std::hypot(t[0], t[1], t[2]);
    std::vector<std::pair<std::size_t, double>> here;  // elements, and their places as shares
    for (std::size_t e = 0; e < elements_.size(); ++e)
      if (places_[e].wire == w && places_[e].piece == piece && places_[e].share >= begin &&
          (places_[e].share < end || (end == 1 && places_[e].share <= end)))
        here.emplace_back(e, (places_[e].share - begin) / (end - begin));
    const int most = std::max(1, static_cast<int>(std::floor(length + 1e-6)));
    const auto off = [&](int n) {
      double sum = 0;
      for (const auto& [e, s] : here) sum += std::abs(n * s - std::floor(n * s) - 0.5);
      return sum;
    };
    const int n = most > 3 && off(most - 1) < off(most) - 1e-6 ? most - 1 : most;
    const auto first = static_cast<std::int32_t>(out_.layout.segments.size());
    Cells last{};
    for (int k = 0; k <= n; ++k) {
      const double s = begin + (end - begin) * k / n;
      Cells x{};
      for (std::size_t d = 0; d < 3; ++d) x[d] = s == 1 ? b[d] : a[d] + s * t[d];
      if (k > 0) {
        const std::int32_t from = node_at(last), to = node_at(x);
        if (!known_.insert(std::minmax(from, to)).second)
          fail(w, "it runs along another wire, or along itself");
        out_.layout.segments.push_back({from, to, wires_[w].radius_m, w});
      }
      last = x;
    }
    for (const auto& [e, s] : here) {
      const double at = std::clamp(n * s - 0.5, 0.0, static_cast<double>(n - 1));
      const int low = std::min(static_cast<int>(at), std::max(n - 2, 0));
      for (const int k : {low, low + 1})
        if (const double share = 1 - std::abs(at - k); share > 1e-9 && k < n)
          out_.elements[e].emplace_back(first + k, share);
    }
  }

  const YeeModel& model_;
  const YeeGrid& grid_;
  std::span<const ThinWire> wires_;
  std::span<const WireElement> elements_;
  const std::array<std::array<int, 2>, 3>& layers_;
  std::vector<WirePlace> places_;
  Cells origin_{};  ///< m, where line 0 was if all cells were even
  std::map<std::array<std::int64_t, 3>, std::int32_t> nodes_;
  std::set<std::pair<std::int32_t, std::int32_t>> known_;
  Laid out_;
};

}  // namespace

bool same(const Point& a, const Point& b, double near) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < near;
}

Laid lay_out(const YeeModel& model, std::span<const ThinWire> wires,
             std::span<const WireElement> elements,
             const std::array<std::array<int, 2>, 3>& layers) {
  return LayingOut(model, wires, elements, layers).lay();
}

}  // namespace tessera::electromagnetics::wires
