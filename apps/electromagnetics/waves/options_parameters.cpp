// SPDX-License-Identifier: Apache-2.0
// Lengths of structures in which results are differentiated.
#include "electromagnetics/waves/options.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::waves {

std::vector<Parameter> parameters_of(CaseOptions& o) {
  std::vector<Parameter> out;
  for (StructureOptions& s : o.structures) {
    if (s.name.empty() || s.name.find_first_of("/,\"\n") != std::string::npos)
      continue;  // names become those of columns and data sets
    const auto one = [&](const std::string& key, double& value) {
      if (std::isfinite(value)) out.push_back({s.name + "." + key, &value});
    };
    const auto height = [&] {
      if (s.height != 0) one("height", s.height);  // 0 stands for no end
    };
    const auto three = [&](const std::string& key, Point& value) {
      for (std::size_t d = 0; d < 3; ++d) one(fmt::format("{}[{}]", key, d), value[d]);
    };
    const auto may = [&](const std::string& key, std::optional<Point>& value) {
      if (value) three(key, *value);
    };
    switch (s.shape) {
      case ShapeKind::box:
        if (s.size) three("centre", s.centre);
        may("size", s.size);
        may("low", s.low);
        may("high", s.high);
        break;
      case ShapeKind::half_space:
        three("point", s.point);
        break;
      case ShapeKind::sphere:
      case ShapeKind::cylinder:
        three("centre", s.centre);
        one("radius", s.radius);
        if (s.inner_radius) one("inner_radius", *s.inner_radius);
        if (s.shape == ShapeKind::cylinder) height();
        break;
      case ShapeKind::ellipsoid:
        three("centre", s.centre);
        three("semi_axes", s.semi_axes);
        break;
      case ShapeKind::cone:
        three("centre", s.centre);
        one("radius_low", s.radius_low);
        one("radius_high", s.radius_high);
        one("height", s.height);
        break;
      case ShapeKind::torus:
        three("centre", s.centre);
        one("radius", s.radius);
        one("tube_radius", s.tube_radius);
        break;
      case ShapeKind::prism:
        for (std::size_t k = 0; k < s.corners.size(); ++k)
          for (std::size_t d = 0; d < 2; ++d)
            one(fmt::format("corners[{}][{}]", k, d), s.corners[k][d]);
        one("base", s.base);
        height();
        break;
      case ShapeKind::pixels:
        if (s.size) three("centre", s.centre);
        may("size", s.size);
        may("low", s.low);
        may("high", s.high);
        break;
      case ShapeKind::mesh:
      case ShapeKind::step:
        three("origin", s.origin);
        break;
      case ShapeKind::gds:
        three("origin", s.origin);
        one("base", s.base);
        height();
        break;
      case ShapeKind::unite:
      case ShapeKind::intersection:
      case ShapeKind::difference:
        break;
    }
  }
  return out;
}

std::vector<std::string> parameter_names(CaseOptions o) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters_of(o)) out.push_back(p.name);
  return out;
}

}  // namespace tessera::apps::waves
