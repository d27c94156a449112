// SPDX-License-Identifier: Apache-2.0
//
// The pixels of a block that lie in a box.
#pragma once
#include "geometry/local.h"
#include "tessera/electromagnetics/scene.h"

#include <optional>

namespace tessera::electromagnetics::detail {

/// Pixels [low, high) along each axis.
struct PixelRange {
  std::array<int, 3> low{}, high{};
};

/// Those that reach into the box by more than rounding; along an axis on which it has no size, or
/// where none does, the one that is nearest to its centre.
PixelRange pixels_in(const Pixels& pixels, const Box& box);
/// The medium of all of them, if it is one.
std::optional<int> only_medium(const Pixels& pixels, const PixelRange& range);
/// The lines between them, from the centre of the box.
std::array<std::vector<double>, 3> lines_within(const Pixels& pixels, const PixelRange& range,
                                                const Box& box);

}  // namespace tessera::electromagnetics::detail
