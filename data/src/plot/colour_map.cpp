// SPDX-License-Identifier: Apache-2.0
// Ramps are interpolated in OKLab (Ottosson 2020, "A perceptual color space for image processing"),
// where equal steps look about equally large.
#include "tessera/data/colour_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace tessera::data {
namespace {

struct Lab {
  double l, a, b;
};

double to_linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
double to_srgb(double c) {
  c = std::clamp(c, 0.0, 1.0);
  return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
}

Lab oklab(unsigned rgb) {
  const double r = to_linear((rgb >> 16 & 255) / 255.0), g = to_linear((rgb >> 8 & 255) / 255.0),
               b = to_linear((rgb & 255) / 255.0);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Colour srgb(Lab c) {
  const double l = std::pow(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
  const double m = std::pow(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
  const double s = std::pow(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
  return {to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s), 1};
}

/// Lightness, chroma and hue in degrees.
Lab from_lch(double l, double c, double h) {
  const double r = h * std::numbers::pi / 180;
  return {l, c * std::cos(r), c * std::sin(r)};
}

Colour between(std::span<const Lab> anchors, double t) {
  const double at = t * static_cast<double>(anchors.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
  const double w = at - static_cast<double>(i);
  const Lab &p = anchors[i], &q = anchors[i + 1];
  return srgb({p.l + w * (q.l - p.l), p.a + w * (q.a - p.a), p.b + w * (q.b - p.b)});
}

// Ten equally spaced colours of viridis (van der Walt and Smith 2015, in the public domain).
const std::array<Lab, 10>& viridis() {
  static const std::array<Lab, 10> anchors = {
      oklab(0x440154), oklab(0x482878), oklab(0x3e4a89), oklab(0x31688e), oklab(0x26828e),
      oklab(0x1f9e89), oklab(0x35b779), oklab(0x6dcd59), oklab(0xb4de2c), oklab(0xfde725)};
  return anchors;
}

// Lightness is symmetric about the middle and changes by equal amounts; the hue turns red, orange,
// yellow, then teal, blue, indigo. Red against blue survives every common colour-vision deficiency.
const std::array<Lab, 9>& resistivity_anchors() {
  static const std::array<Lab, 9> anchors = {
      from_lch(0.36, 0.130, 25),  from_lch(0.51, 0.160, 35),  from_lch(0.66, 0.155, 55),
      from_lch(0.81, 0.135, 82),  from_lch(0.94, 0.065, 115), from_lch(0.81, 0.085, 205),
      from_lch(0.66, 0.115, 235), from_lch(0.51, 0.135, 255), from_lch(0.36, 0.130, 270)};
  return anchors;
}

const std::array<Lab, 9>& difference() {
  static const std::array<Lab, 9> anchors = {
      from_lch(0.36, 0.120, 260), from_lch(0.52, 0.125, 252), from_lch(0.68, 0.100, 245),
      from_lch(0.84, 0.050, 240), from_lch(0.975, 0.0, 0),    from_lch(0.84, 0.060, 45),
      from_lch(0.68, 0.125, 38),  from_lch(0.52, 0.155, 30),  from_lch(0.36, 0.125, 25)};
  return anchors;
}

}  // namespace

Colour line_colour(std::size_t i) {
  static constexpr std::array<unsigned, 8> rgb = {0x000000, 0x0072b2, 0xd55e00, 0x009e73,
                                                  0xcc79a7, 0xe69f00, 0x56b4e9, 0xf0e442};
  const unsigned c = rgb[i % rgb.size()];
  return {(c >> 16 & 255) / 255.0, (c >> 8 & 255) / 255.0, (c & 255) / 255.0, 1};
}

Colour colour_at(ColourMap map, double t) {
  if (std::isnan(t)) return {0, 0, 0, 0};
  t = std::clamp(t, 0.0, 1.0);
  switch (map) {
    case ColourMap::resistivity:
      return between(resistivity_anchors(), t);
    case ColourMap::difference:
      return between(difference(), t);
    case ColourMap::viridis:
      break;
  }
  return between(viridis(), t);
}

}  // namespace tessera::data
