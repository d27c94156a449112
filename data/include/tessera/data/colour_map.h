// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace tessera::data {

/// sRGB with straight alpha, every part in [0, 1].
struct Colour {
  double r = 0, g = 0, b = 0, a = 1;
  bool operator==(const Colour&) const = default;
};

/// Colours for lines and markers that stay apart for colour-blind readers, black first; repeats
/// after eight. Okabe and Ito, "Color Universal Design", 2008.
Colour line_colour(std::size_t i);

/// Ramps for maps. All are made to be read with the common colour-vision deficiencies.
enum class ColourMap {
  viridis,      ///< dark violet to yellow, lightness rises steadily; for anything without a middle
  resistivity,  ///< dark red - pale yellow - dark blue: conductive is warm, as geophysicists expect
  difference,   ///< blue - white - red around a middle that means "no difference"
};

/// The colour at `t` in [0, 1] (clamped; NaN gives a fully transparent colour).
Colour colour_at(ColourMap map, double t);

}  // namespace tessera::data
