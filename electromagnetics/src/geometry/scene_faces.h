// SPDX-License-Identifier: Apache-2.0
//
// Faces of bodies that lie along the grid, and where other bodies begin and end.
#pragma once
#include "tessera/electromagnetics/scene.h"

#include <cstddef>
#include <vector>

namespace tessera::electromagnetics::detail {

/// A face across an axis, or the end of a body that is curved or oblique there.
struct BodyFace {
  int axis;
  double at;
  Bounds extent;  ///< flat along the axis
  bool flat;      ///< false: an end of a curved or oblique body
  std::size_t structure;
};

/// A primitive of a structure, within `domain`.
struct BodyPart {
  Bounds extent;
  bool hollow;  ///< it is taken away from the structure
  std::size_t structure;
};

struct SceneFaces {
  std::vector<BodyFace> faces;
  std::vector<BodyPart> parts;
};

/// Of all structures, those outside of `domain` left out, in the order of the scene.
SceneFaces scene_faces(const Scene& scene, const Bounds& domain);

}  // namespace tessera::electromagnetics::detail
