// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/case.h"

#include <cmath>
#include <map>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

Point unit(Axis a) {
  return {a == Axis::x ? 1.0 : 0.0, a == Axis::y ? 1.0 : 0.0, a == Axis::z ? 1.0 : 0.0};
}

em::Shape solid(const StructureOptions& s, const std::map<std::string, em::Shape>& known) {
  const auto parts = [&] {
    std::vector<em::Shape> out;
    for (const std::string& name : s.parts) out.push_back(known.at(name));
    return out;
  };
  switch (s.shape) {
    case ShapeKind::box: {
      if (s.low && s.high) return em::box(*s.low, *s.high);
      Point low{}, high{};
      for (std::size_t d = 0; d < 3; ++d) {
        low[d] = s.centre[d] - s.size.value_or(Point{})[d] / 2;
        high[d] = s.centre[d] + s.size.value_or(Point{})[d] / 2;
      }
      return em::box(low, high);
    }
    case ShapeKind::half_space:
      return em::half_space(s.point, s.outward);
    case ShapeKind::sphere: {
      const em::Shape whole = em::sphere(s.centre, s.radius);
      return s.inner_radius ? em::subtract(whole, em::sphere(s.centre, *s.inner_radius)) : whole;
    }
    case ShapeKind::ellipsoid:
      return em::ellipsoid(s.centre, s.semi_axes);
    case ShapeKind::cylinder: {
      const em::Shape whole = em::cylinder(s.centre, s.radius, s.height, unit(s.axis));
      return s.inner_radius ? em::subtract(whole, em::cylinder(s.centre, *s.inner_radius, s.height,
                                                               unit(s.axis)))
                            : whole;
    }
    case ShapeKind::cone:
      return em::cone(s.centre, s.radius_low, s.radius_high, s.height, unit(s.axis));
    case ShapeKind::prism:
      return em::prism(s.corners, s.base, s.base + s.height, static_cast<int>(s.axis), s.sidewall);
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
em::Shape whole_body(const StructureOptions& s, const std::map<std::string, em::Shape>& known) {
  em::Shape shape = solid(s, known);
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

}  // namespace

em::Scene make_scene(const CaseOptions& o, const std::vector<em::Medium>& media) {
  em::Scene scene;
  std::map<std::string, em::Shape> known;
  for (std::size_t n = 0; n < o.structures.size(); ++n) {
    const StructureOptions& s = o.structures[n];
    em::Shape shape;
    try {
      shape = whole_body(s, known);
    } catch (const Error& e) {
      throw StructureFault(n, e.what());
    }
    if (!s.name.empty()) known[s.name] = shape;
    if (!s.material) continue;
    int medium = 0;
    while (media[static_cast<std::size_t>(medium)].name != *s.material) ++medium;
    scene.structures.push_back({shape, medium, s.priority, s.name});
  }
  return scene;
}

}  // namespace tessera::apps::waves
