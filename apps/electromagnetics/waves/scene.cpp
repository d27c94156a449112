// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/case.h"
#include "tessera/electromagnetics/pixels.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

int number_of(const std::string& name, const std::vector<em::Medium>& media) {
  int medium = 0;
  while (media[static_cast<std::size_t>(medium)].name != name) ++medium;
  return medium;
}

Point unit(Axis a) {
  return {a == Axis::x ? 1.0 : 0.0, a == Axis::y ? 1.0 : 0.0, a == Axis::z ? 1.0 : 0.0};
}

/// Both corners of a box or of pixels.
std::array<Point, 2> corners_of(const CaseOptions& o, const StructureOptions& s) {
  Point low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double half = s.size.value_or(Point{})[d] / 2;
    low[d] = s.low ? (*s.low)[d] : s.centre[d] - half;
    high[d] = s.high ? (*s.high)[d] : s.centre[d] + half;
    if (low[d] == high[d] && goes_through(o, s, static_cast<int>(d)))
      low[d] = -INFINITY, high[d] = INFINITY;
  }
  return {low, high};
}

em::Shape solid(const CaseOptions& o, const StructureOptions& s,
                const std::map<std::string, em::Shape>& known) {
  // Checks have seen that a body without a height goes through.
  const bool through = s.height == 0;
  const double height = through ? INFINITY : s.height, base = through ? -INFINITY : s.base,
               top = through ? INFINITY : s.base + s.height;
  const auto parts = [&] {
    std::vector<em::Shape> out;
    for (const std::string& name : s.parts) out.push_back(known.at(name));
    return out;
  };
  switch (s.shape) {
    case ShapeKind::box: {
      const auto [low, high] = corners_of(o, s);
      return em::box(low, high);
    }
    case ShapeKind::pixels:
      break;  // pixels_of
    case ShapeKind::mesh:
      if (!s.drawing) break;
      return em::translate(em::scale(s.drawing->solid.shape, s.unit / s.drawing->unit), s.origin);
    case ShapeKind::step:
      if (!s.drawing) break;
      return em::translate(s.drawing->solid.shape, s.origin);
    case ShapeKind::gds:
      if (!s.drawing) break;
      return em::translate(
          em::prism(s.drawing->rim, base, top, static_cast<int>(s.axis), s.sidewall), s.origin);
    case ShapeKind::half_space:
      return em::half_space(s.point, s.outward);
    case ShapeKind::sphere: {
      const em::Shape whole = em::sphere(s.centre, s.radius);
      return s.inner_radius ? em::subtract(whole, em::sphere(s.centre, *s.inner_radius)) : whole;
    }
    case ShapeKind::ellipsoid:
      return em::ellipsoid(s.centre, s.semi_axes);
    case ShapeKind::cylinder: {
      const em::Shape whole = em::cylinder(s.centre, s.radius, height, unit(s.axis));
      return s.inner_radius ? em::subtract(whole, em::cylinder(s.centre, *s.inner_radius, height,
                                                               unit(s.axis)))
                            : whole;
    }
    case ShapeKind::cone:
      return em::cone(s.centre, s.radius_low, s.radius_high, s.height, unit(s.axis));
    case ShapeKind::torus:
      return em::torus(s.centre, s.radius, s.tube_radius, unit(s.axis));
    case ShapeKind::prism:
      return em::prism(s.corners, base, top, static_cast<int>(s.axis), s.sidewall);
    case ShapeKind::unite:
      return em::unite(parts());
    case ShapeKind::intersection:
      return em::intersect(parts());
    case ShapeKind::difference: {
      std::vector<em::Shape> list = parts();
      em::Shape out = list.front();
      for (std::size_t p = 1; p < list.size(); ++p) out = em::subtract(out, list[p]);
      return out;
    }
  }
  return {};
}

/// What a body turns about: its middle, and where it is infinite what its options call that.
Point middle_of(const StructureOptions& s, const em::Shape& shape) {
  const em::Bounds& b = shape.bounds();
  const Point& named = s.shape == ShapeKind::half_space ? s.point : s.centre;
  Point m{};
  for (std::size_t d = 0; d < 3; ++d)
    m[d] =
        std::isfinite(b.low[d]) && std::isfinite(b.high[d]) ? (b.low[d] + b.high[d]) / 2 : named[d];
  return m;
}

/// The solid, turned, and its copies.
em::Shape whole_body(const CaseOptions& o, const StructureOptions& s,
                     const std::map<std::string, em::Shape>& known) {
  em::Shape shape = solid(o, s, known);
  if (s.rotate)
    shape = em::rotate(shape, em::rotation_about(s.rotate->axis, s.rotate->angle),
                       s.rotate->about.value_or(middle_of(s, shape)));
  if (!s.repeat) return shape;
  std::vector<em::Shape> copies;
  for (int k = 0; k < s.repeat->count[2]; ++k)
    for (int j = 0; j < s.repeat->count[1]; ++j)
      for (int i = 0; i < s.repeat->count[0]; ++i)
        copies.push_back(em::translate(
            shape, {i * s.repeat->step[0], j * s.repeat->step[1], k * s.repeat->step[2]}));
  return em::unite(copies);
}

/// Values at quarters of the pixels of one axis, linear between their middles. `stride`: from one
/// to the next along it.
std::vector<double> quartered(const std::vector<double>& values, std::size_t count,
                              std::size_t stride) {
  std::vector<double> out(4 * values.size());
  const std::size_t outer = values.size() / (count * stride);
  for (std::size_t a = 0; a < outer; ++a)
    for (std::size_t i = 0; i < 4 * count; ++i) {
      const double x =
          std::clamp((static_cast<double>(i) + 0.5) / 4 - 0.5, 0.0, static_cast<double>(count - 1));
      const auto below = std::min(static_cast<std::size_t>(x), count - 1),
                 above = std::min(below + 1, count - 1);
      const double t = x - static_cast<double>(below);
      for (std::size_t b = 0; b < stride; ++b)
        out[(a * 4 * count + i) * stride + b] = (1 - t) * values[(a * count + below) * stride + b] +
                                                t * values[(a * count + above) * stride + b];
    }
  return out;
}

/// The densities of a file in space. Where it was not read, the block is full.
em::Densities densities_of(const StructureOptions& s, const Point& low, const Point& high) {
  std::array<std::size_t, 3> count{1, 1, 1}, stride{};  // of the file, by axis
  std::array<bool, 3> reversed{};
  std::vector<double> values{1};
  if (s.densities) {
    values = s.densities->values;
    std::size_t step = 1;
    for (std::size_t k = s.axes.size(); k-- > 0;) {
      const auto axis = static_cast<std::size_t>(s.axes[k].back() - 'x');
      std::size_t n = s.densities->shape[k];
      if (s.interpolation == Interpolation::linear) values = quartered(values, n, step), n *= 4;
      count[axis] = n, stride[axis] = step, reversed[axis] = s.axes[k].front() == '-';
      step *= n;
    }
  }
  em::Densities out;
  for (std::size_t d = 0; d < 3; ++d)
    out.lines[d] = em::pixel_lines(low[d], high[d], static_cast<int>(count[d]));
  out.values.reserve(values.size());
  const auto at = [&](std::size_t d, std::size_t i) {
    return (reversed[d] ? count[d] - 1 - i : i) * stride[d];
  };
  for (std::size_t k = 0; k < count[2]; ++k)
    for (std::size_t j = 0; j < count[1]; ++j)
      for (std::size_t i = 0; i < count[0]; ++i)
        out.values.push_back(values[at(0, i) + at(1, j) + at(2, k)]);
  return out;
}

em::Structure pixels_of(const CaseOptions& o, const StructureOptions& s, em::Scene& scene,
                        const std::vector<em::Medium>& media) {
  const auto [low, high] = corners_of(o, s);
  const int empty = number_of(empty_medium(s, o), media), full = number_of(*s.material, media);
  em::require_mixable(media[static_cast<std::size_t>(empty)],
                      media[static_cast<std::size_t>(full)]);
  return em::pixel_structure(scene, media.size(), densities_of(s, low, high), empty, full,
                             s.priority, s.name);
}

}  // namespace

bool goes_through(const CaseOptions& o, const StructureOptions& s, int axis) {
  Point along{};
  along[static_cast<std::size_t>(axis)] = 1;
  if (s.rotate && s.rotate->axis != Point{}) {
    const em::Rotation r = em::rotation_about(s.rotate->axis, s.rotate->angle);
    for (std::size_t d = 0; d < 3; ++d) along[d] = r[d][static_cast<std::size_t>(axis)];
  }
  constexpr double rounding = 1e-9;
  for (int d = 0; d < 3; ++d)
    if (!o.grid.endless(d) && std::abs(along[static_cast<std::size_t>(d)]) > rounding) return false;
  return true;
}

em::Scene make_scene(const CaseOptions& o, const std::vector<em::Medium>& media) {
  em::Scene scene;
  std::map<std::string, em::Shape> known;
  for (std::size_t n = 0; n < o.structures.size(); ++n) {
    const StructureOptions& s = o.structures[n];
    try {
      if (s.shape == ShapeKind::pixels) {
        scene.structures.push_back(pixels_of(o, s, scene, media));
        continue;
      }
      const em::Shape shape = whole_body(o, s, known);
      if (!s.name.empty()) known[s.name] = shape;
      if (s.material)
        scene.structures.push_back({shape, number_of(*s.material, media), s.priority, s.name});
    } catch (const Error& e) {
      throw StructureFault(n, e.what());
    }
  }
  return scene;
}

}  // namespace tessera::apps::waves
