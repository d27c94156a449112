// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/csv.h"

#include "plot/layout.h"

#include <cmath>

namespace tessera::data {
namespace {

/// An empty field for NaN.
std::string as_text(double v) { return std::isnan(v) ? std::string() : number_text(v); }

/// Text without line breaks, for a comment line.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

std::string axis_words(const Axis& a) {
  return one_line(plot::axis_title(a, 0)) + (a.log ? ", logarithmic" : "");
}

struct Row {
  std::string x, x_low, x_high, y, y_low, y_high, value, masked, text;
};

struct CsvWriter {
  std::string out;
  std::string head;  // panel and series of the current row

  void row(const char* kind, const Row& r) {
    out += head + kind;
    for (const std::string* f :
         {&r.x, &r.x_low, &r.x_high, &r.y, &r.y_low, &r.y_high, &r.value, &r.masked, &r.text})
      out += "," + *f;
    out += "\n";
  }

  void operator()(const Line& s) {
    for (std::size_t i = 0; i < s.x.size(); ++i)
      row("line", {.x = as_text(s.x[i]), .y = as_text(s.y[i])});
  }
  void operator()(const Steps& s) {
    for (std::size_t i = 0; i < s.value.size(); ++i) {
      const std::string v = as_text(s.value[i]), lo = as_text(s.edge[i]),
                        hi = as_text(s.edge[i + 1]);
      row("steps", s.vertical ? Row{.x = v, .y_low = lo, .y_high = hi}
                              : Row{.x_low = lo, .x_high = hi, .y = v});
    }
  }
  void operator()(const Points& s) {
    const auto end = [](double v, const std::vector<double>& length, std::size_t i, double sign) {
      return length.empty() ? std::string() : as_text(v + sign * length[i]);
    };
    for (std::size_t i = 0; i < s.x.size(); ++i)
      row("points", {.x = as_text(s.x[i]),
                     .x_low = end(s.x[i], s.x_minus, i, -1),
                     .x_high = end(s.x[i], s.x_plus, i, 1),
                     .y = as_text(s.y[i]),
                     .y_low = end(s.y[i], s.y_minus, i, -1),
                     .y_high = end(s.y[i], s.y_plus, i, 1)});
  }
  void operator()(const Band& s) {
    const bool stepped = s.at.size() == s.low.size() + 1;
    for (std::size_t i = 0; i < s.low.size(); ++i) {
      const std::string at = as_text(s.at[i]), next = stepped ? as_text(s.at[i + 1]) : "",
                        lo = as_text(s.low[i]), hi = as_text(s.high[i]);
      Row r;
      (s.vertical ? r.x_low : r.y_low) = lo;
      (s.vertical ? r.x_high : r.y_high) = hi;
      if (stepped) {
        (s.vertical ? r.y_low : r.x_low) = at;
        (s.vertical ? r.y_high : r.x_high) = next;
      } else {
        (s.vertical ? r.y : r.x) = at;
      }
      row("band", r);
    }
  }
  void operator()(const HeatMap& s) {
    const std::size_t nx = s.x_edge.empty() ? 0 : s.x_edge.size() - 1;
    for (std::size_t k = 0; k < s.value.size(); ++k) {
      const std::size_t i = k % nx, j = k / nx;
      row("cell", {.x_low = as_text(s.x_edge[i]),
                   .x_high = as_text(s.x_edge[i + 1]),
                   .y_low = as_text(s.y_edge[j]),
                   .y_high = as_text(s.y_edge[j + 1]),
                   .value = as_text(s.value[k]),
                   .masked = s.masked.empty() ? ""
                             : s.masked[k]    ? "1"
                                              : "0"});
    }
  }
  void operator()(const MeshCells& s) {
    // The corners go into text, "x y; x y; x y"; the veil into masked.
    for (std::size_t k = 0; k < s.value.size(); ++k) {
      Row r{.value = as_text(s.value[k]), .masked = s.veil.empty() ? "" : as_text(s.veil[k])};
      for (std::size_t i = 0; i < s.corners; ++i) {
        const std::size_t at = s.corner[k * s.corners + i];
        r.text += (i ? "; " : "") + as_text(s.x[at]) + " " + as_text(s.y[at]);
      }
      row("polygon", r);
    }
  }
  void operator()(const Text& s) {
    row("text", {.x = as_text(s.x), .y = as_text(s.y), .text = csv_field(s.text)});
  }
  void operator()(const Rule& s) {
    row("rule", s.vertical ? Row{.x = as_text(s.at)} : Row{.y = as_text(s.at)});
  }
  void operator()(const Ellipses& s) {
    // The shape goes into text, as three numbers: semi-axes in points and angle in degrees.
    for (std::size_t i = 0; i < s.x.size(); ++i)
      row("ellipse",
          {.x = as_text(s.x[i]),
           .y = as_text(s.y[i]),
           .value = s.value.empty() ? "" : as_text(s.value[i]),
           .text = as_text(s.major[i]) + " " + as_text(s.minor[i]) + " " + as_text(s.angle[i])});
  }
  void operator()(const Arrows& s) {
    // Likewise: length in points and angle in degrees.
    for (std::size_t i = 0; i < s.x.size(); ++i)
      row("arrow", {.x = as_text(s.x[i]),
                    .y = as_text(s.y[i]),
                    .text = as_text(s.length[i]) + " " + as_text(s.angle[i])});
  }
};

}  // namespace

std::string to_csv(const Figure& figure) {
  plot::check_sizes(figure);
  CsvWriter writer;
  if (!figure.title.empty()) writer.out += "# " + one_line(figure.title) + "\n";
  if (!figure.subtitle.empty()) writer.out += "# " + one_line(figure.subtitle) + "\n";
  for (const Panel& p : figure.panels)
    writer.out += "# panel " + one_line(plot::panel_name(p)) + ": x = " + axis_words(p.x) +
                  "; y = " + axis_words(p.y) +
                  (p.colour.axis.label.empty() ? "" : "; value = " + axis_words(p.colour.axis)) +
                  "\n";
  writer.out += "panel,series,kind,x,x_low,x_high,y,y_low,y_high,value,masked,text\n";
  for (const Panel& p : figure.panels) {
    for (const Series& s : p.series) {
      writer.head = csv_field(plot::panel_name(p)) + "," + csv_field(plot::series_label(s)) + ",";
      std::visit(writer, s);
    }
    writer.head = csv_field(plot::panel_name(p)) + ",,";
    for (const TopMark& m : p.top_marks)
      writer.row("mark", {.x = as_text(m.x), .text = csv_field(m.label)});
  }
  return writer.out;
}

}  // namespace tessera::data
