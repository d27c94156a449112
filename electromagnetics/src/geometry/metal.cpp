// SPDX-License-Identifier: Apache-2.0
#include "geometry/metal.h"

#include "geometry/crossings.h"
#include "geometry/vector.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::electromagnetics::detail {
namespace {

constexpr int parts = 4;           // of an edge, and of a face along both of its sides
constexpr int halvings = 5;        // of these, where surfaces bend within them
constexpr double smallest = 1e-5;  // shares this near to 0 or 1 are: surfaces are known to 1e-6

double snapped(double share) { return share < smallest ? 0 : share > 1 - smallest ? 1 : share; }

/// t in (0, 1) where the metal's function changes its sign between `a` (value fa) and `b` (fb):
/// regula falsi that halves the value at an end that stays (Illinois), and bisection where that
/// does not get on: along a sheet the value is that of its tolerance until the sheet ends.
double crossing(const Metal& metal, const Point& a, double fa, const Point& b, double fb) {
  const bool open_first = fa > 0;
  double low = 0, high = 1, f_low = fa, f_high = fb;
  int stays = 0;
  double before = 2;  // how far they were apart three steps ago, since when they should have halved
  for (int n = 0; n < 120 && high - low > 1e-12; ++n) {
    double t = f_high == f_low ? (low + high) / 2 : low - f_low * (high - low) / (f_high - f_low);
    if (n % 3 == 2) {
      if (high - low > before / 2) t = (low + high) / 2;
      before = high - low;
    }
    if (!(t > low && t < high)) t = (low + high) / 2;
    const double f = metal(plus(times(1 - t, a), times(t, b)));
    if (std::abs(f) < 1e-14 * (std::abs(fa) + std::abs(fb))) return t;
    if ((f > 0) == open_first) {
      low = t, f_low = f;
      if (stays == 1) f_high /= 2;
      stays = 1;
    } else {
      high = t, f_high = f;
      if (stays == -1) f_low /= 2;
      stays = -1;
    }
  }
  return (low + high) / 2;
}

/// The squares of a face, `parts` along each side.
struct FaceSquares {
  using Place = std::array<double, 2>;  ///< in squares from the corner
  const Metal& metal;
  Point corner, u, v;

  /// A little off the rim, which may lie on a surface; and the lines between squares off surfaces
  /// that lie on these and are as thick as the tolerance.
  Point at(double i, double j) const {
    constexpr double in = 3e-6;
    return plus(corner, plus(times(in + (1 - 2 * in) * i / parts, u),
                             times(in + (1 - 2 * in) * j / parts, v)));
  }
  double operator()(const Place& p) const { return metal(at(p[0], p[1])); }

  /// Open squares of one, from `low`, `side` wide, with these values at its corners,
  /// counterclockwise: what chords between the crossings on its sides leave, or the sum of its
  /// quarters where the surface lies off its chord.
  double open(const Place& low, double side, const std::array<double, 4>& value,
              int more_halvings) const {
    constexpr int corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const auto open_corners = std::ranges::count_if(value, [](double f) { return f > 0; });
    if (open_corners == 0 || open_corners == 4) return open_corners == 0 ? 0 : side * side;
    // The outline of the open part, in units of the square; the ends of its chords.
    std::array<Place, 8> outline;
    std::array<Place, 4> ends;
    std::array<double, 4> cut{};  // along side m, from its corner m
    int n = 0, n_ends = 0;
    for (int m = 0; m < 4; ++m) {
      const int next = (m + 1) % 4;
      const double x = corners[m][0], y = corners[m][1], dx = corners[next][0] - x,
                   dy = corners[next][1] - y;
      if (value[m] > 0) outline[n++] = {x, y};
      if ((value[m] > 0) == (value[next] > 0)) continue;
      cut[m] = crossing(metal, at(low[0] + side * x, low[1] + side * y), value[m],
                        at(low[0] + side * (x + dx), low[1] + side * (y + dy)), value[next]);
      outline[n++] = ends[n_ends++] = {x + cut[m] * dx, y + cut[m] * dy};
    }
    const auto within = [&](const Place& p) {
      return (*this)({low[0] + side * p[0], low[1] + side * p[1]});
    };
    if (more_halvings > 0 && (n_ends > 2 || !is_chord(ends[0], ends[1], within)))
      return of_quarters(low, side, value, more_halvings - 1);
    double area = 0;
    for (int m = 0; m < n; ++m) {
      const auto &p = outline[m], &q = outline[(m + 1) % n];
      area += (p[0] * q[1] - p[1] * q[0]) / 2;
    }
    if (n_ends > 2 && within({0.5, 0.5}) <= 0) {
      area = 0;  // two corners apart from each other
      for (int m = 0; m < 4; ++m)
        if (value[m] > 0) area += cut[m] * (1 - cut[(m + 3) % 4]) / 2;
    }
    return area * side * side;
  }

  /// Whether the surface between two places is nearer to their chord, at its middle, than `bend`.
  template <class Within>
  static bool is_chord(const Place& p, const Place& q, const Within& within) {
    constexpr double bend = 0.01;  // of a square: a ball of six cells has as much
    const double dx = q[0] - p[0], dy = q[1] - p[1], length = std::hypot(dx, dy);
    if (length < 1e-6) return true;
    const double off = std::min(bend, length / 4) / length;
    const double x = (p[0] + q[0]) / 2, y = (p[1] + q[1]) / 2;
    return (within({x - off * dy, y + off * dx}) > 0) != (within({x + off * dy, y - off * dx}) > 0);
  }

  double of_quarters(const Place& low, double side, const std::array<double, 4>& value,
                     int more_halvings) const {
    const double half = side / 2;
    const auto f = [&](int i, int j) { return (*this)({low[0] + half * i, low[1] + half * j}); };
    const double below = f(1, 0), right = f(2, 1), above = f(1, 2), left = f(0, 1),
                 middle = f(1, 1);
    const auto quarter = [&](int i, int j, const std::array<double, 4>& of) {
      return open({low[0] + half * i, low[1] + half * j}, half, of, more_halvings);
    };
    return quarter(0, 0, {value[0], below, middle, left}) +
           quarter(1, 0, {below, value[1], right, middle}) +
           quarter(1, 1, {middle, right, value[2], above}) +
           quarter(0, 1, {left, middle, above, value[3]});
  }
};

/// Whether a combination is less than the sum of its parts.
bool takes_away(const ShapeNode& node) {
  return node.kind == ShapeKind::complement || node.kind == ShapeKind::intersect ||
         std::any_of(node.parts.begin(), node.parts.end(),
                     [](const auto& part) { return takes_away(*part); });
}

/// The distance of a combination from that of its primitives, `of(primitive, adds)`; adds: more of
/// the primitive is more metal.
template <class Of>
double combined(const ShapeNode& node, bool adds, const Of& of) {
  if (node.kind == ShapeKind::primitive) return of(node, adds);
  if (node.kind == ShapeKind::complement) return -combined(*node.parts[0], !adds, of);
  const double sign = node.kind == ShapeKind::unite ? 1 : -1;
  double best = sign * INFINITY;
  for (const auto& part : node.parts)
    if (const double d = combined(*part, adds, of); sign * d < sign * best) best = d;
  return best;
}

/// Steps off a surface, in tolerances. To the corners and faces of a cube: a half-space, and an
/// edge or a corner along the axes, has one of them that leads more than two tolerances inside.
constexpr double far_off = 4, over_corner = 2.3;
constexpr std::array<Point, 14> cube_steps{{{over_corner, over_corner, over_corner},
                                            {-over_corner, over_corner, over_corner},
                                            {over_corner, -over_corner, over_corner},
                                            {-over_corner, -over_corner, over_corner},
                                            {over_corner, over_corner, -over_corner},
                                            {-over_corner, over_corner, -over_corner},
                                            {over_corner, -over_corner, -over_corner},
                                            {-over_corner, -over_corner, -over_corner},
                                            {far_off, 0, 0},
                                            {-far_off, 0, 0},
                                            {0, far_off, 0},
                                            {0, -far_off, 0},
                                            {0, 0, far_off},
                                            {0, 0, -far_off}}};

/// No step from a point of its surface leads inside: a sheet, or as good as one.
bool is_thin(const ShapeNode& primitive, const Point& p, double tolerance) {
  return std::none_of(cube_steps.begin(), cube_steps.end(), [&](const Point& step) {
    return distance(primitive, plus(p, times(tolerance, step))).value < -tolerance;
  });
}

/// Adds the normals of the faces that run through p, each direction once.
void add_normals(const ShapeNode& primitive, const Point& p, double tolerance,
                 std::vector<Point>& normals) {
  const auto add = [&](const Point& n) {
    if (std::none_of(normals.begin(), normals.end(),
                     [&](const Point& m) { return std::abs(dot(n, m)) > 1 - 1e-9; }))
      normals.push_back(n);
  };
  add(distance(primitive, p).gradient);
  const SolidFaces near = faces(primitive, p);
  for (int i = 0; i < near.n; ++i)
    if (std::abs(near.at[static_cast<std::size_t>(i)].distance) <= tolerance)
      add(near.at[static_cast<std::size_t>(i)].normal);
}

/// Steps off the surfaces through a point: both ways along each normal and into the wedges between
/// two of them. Along s = +-n +-m the step 2 s/|s|^2 leads by one away
/// from both faces, however acute the wedge.
std::vector<Point> steps_off(const std::vector<Point>& normals) {
  constexpr double least = 0.05, depth = 3;  // |s| of three degrees; tolerances
  std::vector<Point> out;
  for (std::size_t i = 0; i < normals.size(); ++i) {
    for (const double sign : {-far_off, far_off}) out.push_back(times(sign, normals[i]));
    for (std::size_t j = 0; j < i; ++j)
      for (const Point& s : {plus(normals[i], normals[j]), minus(normals[i], normals[j])})
        if (norm(s) > least)
          for (const double sign : {-depth, depth}) out.push_back(times(2 * sign / dot(s, s), s));
  }
  return out;
}

}  // namespace

Metal::Metal(const SceneOrder& scene, const std::vector<Medium>& media, const Box& box,
             double tolerance, const std::vector<Twin>& twins)
    : tolerance_(tolerance) {
  for (const Twin& twin : twins) {
    Stack s = stack(scene, media, box, twin);
    const bool settled = s.near.empty();
    if (settled && s.base) {
      stacks_ = {std::move(s)};
      return;
    }
    if (!stacks_.empty() && settled) continue;  // open: the others tell
    if (!stacks_.empty() && stacks_[0].near.empty()) stacks_.clear();
    stacks_.push_back(std::move(s));
  }
}

Metal::Stack Metal::stack(const SceneOrder& scene, const std::vector<Medium>& media, const Box& box,
                          const Twin& twin) const {
  Stack out{twin.moved,
            times(2 * tolerance_, twin.inwards),
            {},
            media[static_cast<std::size_t>(scene.scene().background)].pec};
  const Point centre = plus(box.centre, twin.moved);
  const double radius = 1.01 * box.radius() + 2 * tolerance_;
  for (std::size_t rank = 0; rank < scene.from_top().size(); ++rank) {
    const Bounds& b = scene.bounds_from_top()[rank];
    bool apart = false;
    for (int k = 0; k < 3; ++k)
      apart = apart || centre[k] + radius < b.low[k] || centre[k] - radius > b.high[k];
    if (apart) continue;
    const Structure& s = scene.scene().structures[scene.from_top()[rank]];
    const double clear = clearance(s.shape.node(), centre);
    if (clear > radius) continue;
    const bool metal = media[static_cast<std::size_t>(s.medium)].pec;
    if (clear < -radius) {
      out.base = metal;
      break;
    }
    out.near.push_back({&s.shape.node(), metal, scene.from_top()[rank]});
  }
  while (!out.near.empty() && out.near.back().metal == out.base) out.near.pop_back();
  return out;
}

Distance Metal::value(const Stack& stack, const Point& at) const {
  const Point p = plus(at, stack.moved);
  const Distance out = by_distances(stack, p);
  if (out.value > 0 || out.value < -2 * tolerance_) return out;
  return open_beside(stack, p).value_or(out);
}

Distance Metal::by_distances(const Stack& stack, const Point& p) const {
  Distance out{stack.base ? -INFINITY : INFINITY, {}};
  for (auto s = stack.near.rbegin(); s != stack.near.rend(); ++s) {
    Distance d = distance(*s->shape, s->metal ? p : plus(p, stack.hair));
    if (!s->metal) d = {-d.value, times(-1, d.gradient)};
    d.value -= tolerance_;
    if (s->metal ? d.value < out.value : d.value > out.value) out = d;
  }
  return out;
}

std::optional<Distance> Metal::open_beside(const Stack& stack, const Point& p) const {
  if (std::none_of(stack.near.begin(), stack.near.end(),
                   [](const Near& s) { return !s.metal || takes_away(*s.shape); }))
    return {};
  const auto joined = [&](const auto& of) {
    double out = stack.base ? -INFINITY : INFINITY;
    for (auto s = stack.near.rbegin(); s != stack.near.rend(); ++s) {
      const Point q = s->metal ? p : plus(p, stack.hair);
      const double d = combined(*s->shape, s->metal, [&](const ShapeNode& primitive, bool adds) {
        return of(primitive, adds, q);
      });
      out = s->metal ? std::min(out, d) : std::max(out, -d);
    }
    return out;
  };
  int surfaces = 0;
  joined([&](const ShapeNode& primitive, bool, const Point& q) {
    const double d = distance(primitive, q).value;
    surfaces += std::abs(d) <= tolerance_;
    return d;
  });
  if (surfaces < 2) return {};
  Distance least{INFINITY, {}};
  const auto leads_into_metal = [&](const Point& step) {
    for (std::size_t d = 0; d < 3; ++d)
      if (step[d] * stack.hair[d] < -1e-9 * tolerance_) return false;  // out of the domain
    const Distance there = by_distances(stack, plus(p, times(tolerance_, step)));
    if (there.value < least.value) least = there;
    return there.value < -2 * tolerance_;
  };
  if (std::any_of(cube_steps.begin(), cube_steps.end(), leads_into_metal)) return {};
  bool sheets = false;
  std::vector<Point> normals;
  joined([&](const ShapeNode& primitive, bool adds, const Point& q) {
    const double d = distance(primitive, q).value;
    if (std::abs(d) <= tolerance_) {
      add_normals(primitive, q, tolerance_, normals);
      sheets = sheets || (adds && is_thin(primitive, q, tolerance_));
    }
    return d;
  });
  // Without the conductors through p that are thin, or without those that are not.
  const auto closed_without = [&](bool thin) {
    return joined([&](const ShapeNode& primitive, bool adds, const Point& q) {
             const double d = distance(primitive, q).value;
             const bool left_out =
                 adds && std::abs(d) <= tolerance_ && is_thin(primitive, q, tolerance_) == thin;
             return left_out ? INFINITY : d;
           }) <= tolerance_;
  };
  if (sheets && (!closed_without(true) || closed_without(false))) return {};
  const std::vector<Point> steps = steps_off(normals);
  if (std::any_of(steps.begin(), steps.end(), leads_into_metal)) return {};
  return Distance{least.value + 2 * tolerance_, least.gradient};
}

Distance Metal::nearest(const Point& p) const {
  Distance least{INFINITY, {}};
  for (const Stack& s : stacks_)
    if (const Distance d = value(s, p); d.value < least.value) least = d;
  return least;
}

std::size_t Metal::bodies() const {
  std::size_t n = 0;
  for (const Stack& stack : stacks_)
    for (const Near& s : stack.near) n += s.metal;
  return n;
}

Distance Metal::nearest(const Point& p, std::size_t body) const {
  for (const Stack& stack : stacks_)
    for (const Near& s : stack.near)
      if (s.metal && body-- == 0) {
        Distance d = distance(*s.shape, plus(p, stack.moved));
        d.value -= tolerance_;
        return d;
      }
  return {INFINITY, {}};
}

double Metal::operator()(const Point& p) const { return nearest(p).value; }

/// The sign cannot change between two crossings. At each of them a stretch as wide as the tolerance
/// is looked at by itself, for a sheet is metal there and nowhere else.
std::vector<Stretch> Metal::along(const Point& from, const Point& to) const {
  if (settled()) return closed() ? std::vector<Stretch>{{0, 1}} : std::vector<Stretch>{};
  std::vector<double> at;
  for (const Stack& stack : stacks_)
    for (const Near& s : stack.near)
      add_crossings(*s.shape, plus(from, stack.moved), plus(to, stack.moved), at);
  const double length = norm(minus(to, from)), wide = length > 0 ? tolerance_ / length : 0;
  std::vector<double> cuts{0, 1};
  for (const double t : at)
    for (const double c : {t - wide, t, t + wide})
      if (c > 0 && c < 1) cuts.push_back(c);
  std::sort(cuts.begin(), cuts.end());
  std::vector<Stretch> out;
  for (std::size_t n = 0; n + 1 < cuts.size(); ++n) {
    const double a = cuts[n], b = cuts[n + 1], middle = (a + b) / 2;
    if (!(b > a) || (*this)(plus(times(1 - middle, from), times(middle, to))) > 0) continue;
    if (!out.empty() && out.back().to == a)
      out.back().to = b;
    else
      out.push_back({a, b});
  }
  return out;
}

std::optional<std::size_t> Metal::body_at(const Point& p) const {
  for (const Stack& stack : stacks_)
    for (const Near& s : stack.near) {
      const Point at = plus(p, stack.moved);
      const double d = distance(*s.shape, s.metal ? at : plus(at, stack.hair)).value;
      if (s.metal && d <= tolerance_) return s.structure;
      if (!s.metal && d < -tolerance_) break;
    }
  return {};
}

double open_length(const Metal& metal, const Point& from, const Point& to) {
  if (metal.settled()) return metal.closed() ? 0 : 1;
  const std::vector<Stretch> closed = metal.along(from, to);
  if (closed.size() > 1 || (closed.size() == 1 && closed[0].from > 0 && closed[0].to < 1)) {
    double share = 1;
    for (const Stretch& s : closed) share -= s.to - s.from;
    return snapped(share);
  }
  double sum = 0, f = metal(from);
  Point a = from;
  for (int n = 1; n <= parts; ++n) {
    const double t = double(n) / parts;
    const Point b = plus(times(1 - t, from), times(t, to));
    const double g = metal(b);
    if (f > 0 && g > 0) sum += 1;
    if ((f > 0) != (g > 0)) {
      const double at = crossing(metal, a, f, b, g);
      sum += f > 0 ? at : 1 - at;
    }
    a = b, f = g;
  }
  return snapped(sum / parts);
}

double open_area(const Metal& metal, const Point& corner, const Point& u, const Point& v) {
  if (metal.settled()) return metal.closed() ? 0 : 1;
  const FaceSquares squares{metal, corner, u, v};
  std::array<std::array<double, parts + 1>, parts + 1> f;
  for (int j = 0; j <= parts; ++j)
    for (int i = 0; i <= parts; ++i) f[j][i] = metal(squares.at(i, j));
  double sum = 0;
  for (int j = 0; j < parts; ++j)
    for (int i = 0; i < parts; ++i)
      sum += squares.open({double(i), double(j)}, 1,
                          {f[j][i], f[j][i + 1], f[j + 1][i + 1], f[j + 1][i]}, halvings);
  return snapped(sum / (parts * parts));
}

}  // namespace tessera::electromagnetics::detail
