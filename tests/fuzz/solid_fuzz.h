// SPDX-License-Identifier: Apache-2.0
// What files of triangles are held to.
#pragma once
#include "processor_limit.h"
#include "tessera/data/triangles.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/surface_mesh.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tessera::testing {

/// Indices name points, which are finite and near enough; of a solid each box is filled by shares
/// from 0 to 1.
template <class Parse>
int fuzz_triangles(const std::uint8_t* bytes, std::size_t size, const Parse& parse) {
  const ProcessorLimit limit;
  try {
    const data::TriangleFile file =
        parse("fuzz", std::string(reinterpret_cast<const char*>(bytes), size));
    for (const auto& p : file.points)
      for (const double x : p)
        if (!(std::abs(x) <= data::kFurthestPoint)) std::abort();
    for (const auto& t : file.triangles)
      for (const std::uint32_t p : t)
        if (p >= file.points.size()) std::abort();
    if (file.triangles.empty()) std::abort();
    if (file.triangles.size() > 500) return 0;
    try {
      const auto solid =
          electromagnetics::surface_solid({.points = file.points, .triangles = file.triangles});
      const electromagnetics::Bounds& b = solid.shape.bounds();
      electromagnetics::Point at, wide;
      for (std::size_t k = 0; k < 3; ++k) {
        at[k] = (b.low[k] + b.high[k]) / 2;
        wide[k] = (b.high[k] - b.low[k]) / 3;
      }
      const electromagnetics::SceneOrder scene({.structures = {{solid.shape, 1, 0, "body"}}});
      double sum = 0;
      for (const auto& share : electromagnetics::fill(scene, at, wide).media) {
        if (!(share.fraction > -1e-5 && share.fraction < 1 + 1e-5)) std::abort();
        sum += share.fraction;
      }
      if (!(std::abs(sum - 1) < 1e-9)) std::abort();
    } catch (const data::InputError&) {
      std::abort();
    } catch (const Error&) {  // encloses nothing
    }
  } catch (const data::InputError& e) {
    if (e.findings().empty() || e.findings()[0].number == 0) std::abort();
  }
  return 0;
}

}  // namespace tessera::testing
