// SPDX-License-Identifier: Apache-2.0
// SVG 1.1 written directly, so that texts stay texts (searchable, editable) and equal figures give
// equal bytes.
#include "files/xml_text.h"
#include "plot/canvas.h"
#include "tessera/autodiff/error.h"

#include <charconv>
#include <cmath>

namespace tessera::data::plot {
namespace {

/// Two decimals are 0.01 points, far below what can be seen or printed.
std::string num(double v) {
  if (std::abs(v) < 0.005) return "0";
  char text[400];
  auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::fixed, 2).ptr;
  while (end[-1] == '0') --end;
  if (end[-1] == '.') --end;
  return {text, end};
}

std::string hex(Colour c) {
  const auto byte = [](double v) {
    return static_cast<unsigned>(std::lround(std::fmin(std::fmax(v, 0), 1) * 255));
  };
  std::string out = "#";
  for (const unsigned v : {byte(c.r), byte(c.g), byte(c.b)})
    for (const unsigned digit : {v >> 4, v & 15u}) out += "0123456789abcdef"[digit];
  return out;
}

std::string fill(Colour c) {
  return " fill=\"" + hex(c) + "\"" + (c.a < 1 ? " fill-opacity=\"" + num(c.a) + "\"" : "");
}

std::string stroke(const Pen& pen) {
  std::string out = " stroke=\"" + hex(pen.colour) + "\" stroke-width=\"" + num(pen.width) + "\"";
  if (pen.colour.a < 1) out += " stroke-opacity=\"" + num(pen.colour.a) + "\"";
  if (!pen.dash.empty()) {
    out += " stroke-dasharray=\"";
    for (std::size_t i = 0; i < pen.dash.size(); ++i) out += (i ? "," : "") + num(pen.dash[i]);
    out += "\"";
  }
  return out;
}

std::string points(std::span<const Point> list) {
  std::string out = " points=\"";
  for (std::size_t i = 0; i < list.size(); ++i)
    out += (i ? " " : "") + num(list[i].x) + "," + num(list[i].y);
  return out + "\"";
}

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(double width, double height) {
    if (!(width >= 1 && height >= 1 && width <= 1e5 && height <= 1e5))
      throw Error("[plot] a figure of " + std::to_string(width) + " x " + std::to_string(height) +
                  " points is not possible: expected 1 to 100000");
    const std::string w = num(width), h = num(height);
    out_ =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"" +
        w + "pt\" height=\"" + h + "pt\" viewBox=\"0 0 " + w + " " + h +
        // Verdana has nearly the widths of DejaVu Sans, which the layout was measured with.
        "\" font-family=\"'DejaVu Sans',Verdana,sans-serif\" fill=\"none\" "
        "stroke-linejoin=\"round\">\n"
        "<rect width=\"" +
        w + "\" height=\"" + h + "\" fill=\"#ffffff\"/>\n";
  }

  void polyline(std::span<const Point> list, const Pen& pen) override {
    out_ += "<polyline" + points(list) + stroke(pen) + "/>\n";
  }
  void polygon(std::span<const Point> list, Colour colour) override {
    out_ += "<polygon" + points(list) + fill(colour) + "/>\n";
  }
  void ellipse(Point c, double rx, double ry, double degrees, Colour colour,
               const Pen* edge) override {
    out_ += "<ellipse cx=\"" + num(c.x) + "\" cy=\"" + num(c.y) + "\" rx=\"" + num(rx) +
            "\" ry=\"" + num(ry) + "\"";
    if (degrees != 0)
      out_ += " transform=\"rotate(" + num(degrees) + " " + num(c.x) + " " + num(c.y) + ")\"";
    out_ += fill(colour) + (edge ? stroke(*edge) : "") + "/>\n";
  }
  void cells(std::span<const Rect> rects, Colour colour) override {
    out_ += "<path shape-rendering=\"crispEdges\"" + fill(colour) + " d=\"";
    for (const Rect& r : rects)
      out_ += "M" + num(r.x) + " " + num(r.y) + "H" + num(r.right()) + "V" + num(r.bottom()) + "H" +
              num(r.x) + "z";
    out_ += "\"/>\n";
  }
  void polygons(std::span<const std::vector<Point>> list, Colour colour) override {
    out_ += "<path shape-rendering=\"crispEdges\"" + fill(colour) + " d=\"";
    for (const std::vector<Point>& polygon : list) {
      for (std::size_t i = 0; i < polygon.size(); ++i)
        out_ += (i ? "L" : "M") + num(polygon[i].x) + " " + num(polygon[i].y);
      out_ += "z";
    }
    out_ += "\"/>\n";
  }
  void text(Point at, const std::string& markup, const TextStyle& style) override {
    out_ += "<text x=\"" + num(at.x) + "\" y=\"" + num(at.y) + "\" font-size=\"" + num(style.size) +
            "\"" + fill(style.colour);
    if (style.bold) out_ += " font-weight=\"bold\"";
    if (style.align != Align::low)
      out_ += style.align == Align::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
    if (style.degrees != 0)
      out_ +=
          " transform=\"rotate(" + num(style.degrees) + " " + num(at.x) + " " + num(at.y) + ")\"";
    out_ += ">";
    double shifted = 0;  // where the pen is now, in points below the base line
    for (const Run& run : parse_markup(markup)) {
      const double target = style.size * (run.level > 0 ? -kRaise : run.level < 0 ? kLower : 0);
      if (run.level == 0 && shifted == 0) {
        out_ += xml_text(run.text);
        continue;
      }
      out_ += "<tspan dy=\"" + num(target - shifted) + "\"";
      if (run.level) out_ += " font-size=\"" + num(style.size * kScript) + "\"";
      out_ += ">" + xml_text(run.text) + "</tspan>";
      shifted = target;
    }
    out_ += "</text>\n";
  }
  std::string finish() override { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

}  // namespace

std::unique_ptr<Canvas> svg_canvas(double width, double height) {
  return std::make_unique<SvgCanvas>(width, height);
}

}  // namespace tessera::data::plot
