// SPDX-License-Identifier: Apache-2.0
// PNG through Cairo's image surface, and the text metrics for every canvas. The only file that sees
// Cairo.
#include "plot/canvas.h"
#include "tessera/autodiff/error.h"

#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::data::plot {
namespace {

constexpr const char* kFamily = "DejaVu Sans";

struct Free {
  void operator()(cairo_t* p) const { cairo_destroy(p); }
  void operator()(cairo_surface_t* p) const { cairo_surface_destroy(p); }
  void operator()(cairo_font_options_t* p) const { cairo_font_options_destroy(p); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;

void require(cairo_status_t status, const char* what) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(std::string("[plot] Cairo could not ") + what + ": " +
                cairo_status_to_string(status));
}

/// The line between pixels nearest to x, the same for an edge that two sums give: rounding is no
/// reason to part cells.
double pixel(double x) { return std::floor(std::round(x * 256) / 256 + 0.5); }

/// Glyphs without hinting: their widths then scale with the size, and a layout is the same at every
/// resolution.
void set_font(cairo_t* cr, double size, bool bold) {
  const Handle<cairo_font_options_t> options(cairo_font_options_create());
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(cr, options.get());
  cairo_select_font_face(cr, kFamily, CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, size);
}

/// Without any font on the machine, Cairo falls back to its built-in stroke font, which is of the
/// type "user" and has ASCII letters only.
bool builtin_font(cairo_t* cr) {
  return cairo_scaled_font_get_type(cairo_get_scaled_font(cr)) == CAIRO_FONT_TYPE_USER;
}

/// The letters of our own labels spelt in ASCII; any other letter becomes a question mark.
std::string in_ascii(const std::string& text) {
  static constexpr std::pair<std::string_view, std::string_view> kSpelt[] = {
      {"Ω", "ohm"},    {"ρ", "rho"},    {"φ", "phi"}, {"σ", "sigma"}, {"β", "beta"},
      {"μ", "mu"},     {"°", "deg"},    {"±", "+-"},  {"×", "x"},     {"·", "-"},
      {"\u2212", "-"}, {"\u2009", " "}, {"…", "..."}, {"–", "-"}};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const auto found = std::find_if(std::begin(kSpelt), std::end(kSpelt),
                                    [&](const auto& s) { return rest.starts_with(s.first); });
    const auto lead = static_cast<unsigned char>(text[i]);
    if (found != std::end(kSpelt)) {
      out += found->second;
      i += found->first.size();
    } else if (lead < 0x80) {
      out += text[i++];
    } else {
      out += '?';
      i += lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    }
  }
  return out;
}

std::string drawable(cairo_t* cr, const std::string& text) {
  return builtin_font(cr) ? in_ascii(text) : text;
}

double advance(cairo_t* cr, const std::string& text) {
  cairo_text_extents_t extents;
  cairo_text_extents(cr, text.c_str(), &extents);
  return extents.x_advance;
}

class PngCanvas final : public Canvas {
 public:
  PngCanvas(double width, double height, double dots_per_inch) {
    const double scale = dots_per_inch / 72;
    const double w = std::ceil(width * scale), h = std::ceil(height * scale);
    if (!(w >= 1 && h >= 1 && w <= 32767 && h <= 32767 && w * h <= 2.0e8))
      throw Error("[plot] a PNG of " + std::to_string(w) + " x " + std::to_string(h) +
                  " dots is not possible: expected 1 to 32767 on each side and at most 2e8 in all");
    surface_.reset(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(w), static_cast<int>(h)));
    require(cairo_surface_status(surface_.get()), "make an image");
    cr_.reset(cairo_create(surface_.get()));
    cairo_scale(cr_.get(), scale, scale);
    cairo_set_source_rgb(cr_.get(), 1, 1, 1);
    cairo_paint(cr_.get());
    cairo_set_line_join(cr_.get(), CAIRO_LINE_JOIN_ROUND);
  }

  void polyline(std::span<const Point> points, const Pen& pen) override {
    path(points);
    stroke(pen);
  }

  void polygon(std::span<const Point> points, Colour fill) override {
    path(points);
    cairo_close_path(cr_.get());
    source(fill);
    cairo_fill(cr_.get());
  }

  void ellipse(Point centre, double rx, double ry, double degrees, Colour fill,
               const Pen* edge) override {
    cairo_save(cr_.get());
    cairo_translate(cr_.get(), centre.x, centre.y);
    cairo_rotate(cr_.get(), degrees * std::numbers::pi / 180);
    cairo_scale(cr_.get(), rx, ry);
    cairo_new_path(cr_.get());
    cairo_arc(cr_.get(), 0, 0, 1, 0, 2 * std::numbers::pi);
    cairo_close_path(cr_.get());
    cairo_restore(cr_.get());
    source(fill);
    cairo_fill_preserve(cr_.get());
    if (edge)
      stroke(*edge);
    else
      cairo_new_path(cr_.get());
  }

  /// Whole pixels: cells that touch on the page leave none between them.
  void cells(std::span<const Rect> rects, Colour fill) override {
    cairo_save(cr_.get());
    cairo_new_path(cr_.get());
    std::vector<std::array<double, 4>> corners;
    for (const Rect& r : rects) {
      corners.push_back({r.x, r.y, r.right(), r.bottom()});
      for (int k : {0, 2})
        cairo_user_to_device(cr_.get(), &corners.back()[k], &corners.back()[k + 1]);
    }
    cairo_identity_matrix(cr_.get());
    for (const auto& [x0, y0, x1, y1] : corners)
      cairo_rectangle(cr_.get(), pixel(x0), pixel(y0), pixel(x1) - pixel(x0),
                      pixel(y1) - pixel(y0));
    source(fill);
    cairo_fill(cr_.get());
    cairo_restore(cr_.get());
  }

  /// Whole pixels: each belongs to the polygon that its middle lies in.
  void polygons(std::span<const std::vector<Point>> list, Colour fill) override {
    cairo_save(cr_.get());
    cairo_set_antialias(cr_.get(), CAIRO_ANTIALIAS_NONE);
    cairo_new_path(cr_.get());
    for (const std::vector<Point>& polygon : list) {
      cairo_new_sub_path(cr_.get());
      for (const Point& p : polygon) cairo_line_to(cr_.get(), p.x, p.y);
      cairo_close_path(cr_.get());
    }
    source(fill);
    cairo_fill(cr_.get());
    cairo_restore(cr_.get());
  }

  void text(Point at, const std::string& markup, const TextStyle& style) override {
    cairo_save(cr_.get());
    cairo_translate(cr_.get(), at.x, at.y);
    cairo_rotate(cr_.get(), style.degrees * std::numbers::pi / 180);
    double x = 0;
    if (style.align != Align::low)
      x = -text_width(markup, style.size, style.bold) * (style.align == Align::middle ? 0.5 : 1.0);
    source(style.colour);
    for (const Run& run : parse_markup(markup)) {
      set_font(cr_.get(), style.size * (run.level ? kScript : 1), style.bold);
      const double up = run.level > 0 ? kRaise : run.level < 0 ? -kLower : 0;
      cairo_move_to(cr_.get(), x, -up * style.size);
      const std::string shown = drawable(cr_.get(), run.text);
      cairo_show_text(cr_.get(), shown.c_str());
      x += advance(cr_.get(), shown);
    }
    cairo_restore(cr_.get());
    cairo_new_path(cr_.get());
  }

  std::string finish() override {
    require(cairo_status(cr_.get()), "draw the figure");
    cairo_surface_flush(surface_.get());
    std::string bytes;
    const auto append = [](void* to, const unsigned char* data, unsigned n) {
      static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), n);
      return CAIRO_STATUS_SUCCESS;
    };
    require(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes), "encode the PNG");
    return bytes;
  }

 private:
  void path(std::span<const Point> points) {
    cairo_new_path(cr_.get());
    for (const Point& p : points) cairo_line_to(cr_.get(), p.x, p.y);
  }
  void source(Colour c) { cairo_set_source_rgba(cr_.get(), c.r, c.g, c.b, c.a); }
  void stroke(const Pen& pen) {
    source(pen.colour);
    cairo_set_line_width(cr_.get(), pen.width);
    cairo_set_dash(cr_.get(), pen.dash.data(), static_cast<int>(pen.dash.size()), 0);
    cairo_stroke(cr_.get());
  }

  Handle<cairo_surface_t> surface_;
  Handle<cairo_t> cr_;
};

/// A context that only measures text, one per thread.
cairo_t* measuring_context() {
  thread_local const Handle<cairo_surface_t> surface(
      cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
  thread_local const Handle<cairo_t> cr(cairo_create(surface.get()));
  return cr.get();
}

}  // namespace

double text_width(const std::string& markup, double size, bool bold) {
  constexpr double kUnit =
      64;  // measured once at this size: the font cache then holds two fonts, not dozens
  cairo_t* cr = measuring_context();
  set_font(cr, kUnit, bold);
  double width = 0;
  for (const Run& run : parse_markup(markup))
    width += advance(cr, drawable(cr, run.text)) * (run.level ? kScript : 1);
  return width * size / kUnit;
}

std::unique_ptr<Canvas> png_canvas(double width, double height, double dots_per_inch) {
  return std::make_unique<PngCanvas>(width, height, dots_per_inch);
}

}  // namespace tessera::data::plot

namespace tessera::data {

std::string plot_font() {
  cairo_t* cr = plot::measuring_context();
  plot::set_font(cr, 10, false);
  return plot::builtin_font(cr) ? "" : plot::kFamily;
}

}  // namespace tessera::data
