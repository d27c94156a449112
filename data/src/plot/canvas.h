// SPDX-License-Identifier: Apache-2.0
// What the plot code draws on. Coordinates are points from the upper left corner, y down.
// Everything arrives already clipped, so a canvas needs no clipping of its own.
#pragma once
#include "tessera/data/plot.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::data::plot {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, w = 0, h = 0;
  double right() const { return x + w; }
  double bottom() const { return y + h; }
  bool contains(Point p) const { return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom(); }
};

struct Pen {
  Colour colour;
  double width = 1;
  std::vector<double> dash{};
};

struct TextStyle {
  double size = 7.5;
  Colour colour{0.1, 0.1, 0.1, 1};
  bool bold = false;
  Align align = Align::low;  ///< low: the point is the left end of the base line
  double degrees = 0;        ///< turned clockwise about the point
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void polyline(std::span<const Point> points, const Pen& pen) = 0;
  virtual void polygon(std::span<const Point> points, Colour fill) = 0;
  virtual void ellipse(Point centre, double rx, double ry, double degrees, Colour fill,
                       const Pen* edge) = 0;
  /// Adjoining rectangles of one colour without seams between them.
  virtual void cells(std::span<const Rect> rects, Colour fill) = 0;
  /// Adjoining polygons of one colour without seams between them, nor to those of other calls.
  virtual void polygons(std::span<const std::vector<Point>> list, Colour fill) = 0;
  virtual void text(Point at, const std::string& markup, const TextStyle& style) = 0;
  virtual std::string finish() = 0;  ///< the bytes of the file
};

std::unique_ptr<Canvas> png_canvas(double width, double height, double dots_per_inch);
std::unique_ptr<Canvas> svg_canvas(double width, double height);

/// A piece of text at one level: 0 on the line, +1 raised, -1 lowered. Raised and lowered text is
/// kScript as large.
struct Run {
  std::string text;
  int level = 0;
};
constexpr double kScript = 0.72, kRaise = 0.38, kLower = 0.18;  // shifts in units of the full size
constexpr double kCapHeight = 0.729;  // of DejaVu Sans, for centring on a line

/// Splits `^{…}` and `_{…}`; bytes that are not UTF-8 become U+FFFD and control characters spaces.
std::vector<Run> parse_markup(const std::string& markup);

/// Width of the text in points as Cairo measures it, the same for every canvas.
double text_width(const std::string& markup, double size, bool bold = false);

}  // namespace tessera::data::plot
