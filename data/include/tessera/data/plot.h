// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/colour_map.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// Pictures as data. A Figure is a value: fill it, `save` it as PNG or SVG, `save_csv` the numbers
/// beside it.
///
///     Figure f{.width = 255, .height = 200};
///     f.panels = {{.x = {.label = "Period", .unit = "s", .log = true},
///                  .y = {.label = "Phase", .unit = "°"},
///                  .series = {Line{.label = "predicted", .x = t, .y = phase}}}};
///     save(f, "phase.png");
///
/// Lengths are in points (1/72 inch); 510 points are the full width of a journal page. Texts are
/// UTF-8 with `^{…}` raised and `_{…}` lowered. A NaN means "no value": it breaks a line, hides a
/// marker, leaves a map cell clear.
namespace tessera::data {

struct Axis {
  std::string label;
  std::string unit;  ///< shown in parentheses behind the label
  bool log = false;
  std::optional<double> min, max;  ///< limits; taken from the data where not given
  bool reversed = false;           ///< low values at the right or top (depth)
  double step = 0;      ///< linear axes: ticks at multiples of it (45 for degrees); 0 chooses
  bool tight = false;   ///< no free room beyond the data
  bool hidden = false;  ///< no ticks, numbers and label
  /// Panels whose axes have the same non-empty group show the same limits; in a column (x) or row
  /// (y) of the grid only the outermost of them carries labels.
  std::string group;
};

struct Stroke {
  std::optional<Colour> colour;  ///< the next of line_colour() if not given
  double width = 1.1;
  std::vector<double> dash;  ///< lengths on, off, on, off …; empty draws through
};

enum class Marker { circle, square, diamond, triangle, triangle_down, cross, plus };

/// A polyline through (x[i], y[i]); a point without neighbours is a dot.
struct Line {
  std::string label;
  std::vector<double> x, y;
  Stroke stroke{};
};

/// Piecewise constant: value[i] holds between edge[i] and edge[i + 1]; edge has one entry more than
/// value. With `vertical` the edges run along y (a layered earth: edges are depths, values
/// resistivities).
struct Steps {
  std::string label;
  std::vector<double> edge, value;
  bool vertical = false;
  Stroke stroke{};
};

/// Markers with error bars. The four arms are empty or as long as x; each is a length, not an end
/// point. An arm that would end at or below zero on a logarithmic axis is drawn to the edge of the
/// panel.
struct Points {
  std::string label;
  std::vector<double> x, y;
  std::vector<double> x_minus{}, x_plus{}, y_minus{}, y_plus{};
  Marker marker = Marker::circle;
  double size = 3.6;
  bool filled = true;
  std::optional<Colour> colour{};
};

/// The area between low[i] and high[i] over `at[i]`; with `vertical`, `at` runs along y. If `at`
/// has one entry more than low and high, the band is piecewise constant between the entries.
struct Band {
  std::string label;
  std::vector<double> at, low, high;
  bool vertical = false;
  std::optional<Colour> colour{};
  double opacity = 0.25;
};

/// Cells of a rectilinear grid, coloured by the panel's colour axis. value[j * nx + i] fills
/// x_edge[i]…x_edge[i + 1], y_edge[j]…y_edge[j + 1]; edges rise or fall strictly. `masked` is empty
/// or marks the cells to be veiled and hatched.
struct HeatMap {
  std::string label;
  std::vector<double> x_edge, y_edge, value;
  std::vector<bool> masked{};
};

/// Cells of a mesh, each with so many `corners` in order around it, coloured by the panel's colour
/// axis: cell k has the points corner[k * corners] … of x and y. It must not turn back on itself.
/// `veil` is empty or says, from 0 to 1, how far the colour of each cell fades to white: by it a
/// section shows what data do not see.
struct MeshCells {
  std::string label;
  std::size_t corners = 4;  ///< 3 or more
  std::vector<double> x, y;
  std::vector<std::size_t> corner;
  std::vector<double> value;
  std::vector<double> veil{};
};

enum class Align { low, middle, high };

/// A text at a point: in data coordinates or, with `relative`, as fractions of the panel from its
/// lower left corner.
struct Text {
  double x = 0, y = 0;
  std::string text;
  Align horizontal = Align::low, vertical = Align::low;
  bool relative = false;
  double size = 7;
  Colour colour{0.2, 0.2, 0.2, 1};
};

/// A straight line across the panel at x = `at` (vertical) or y = `at`. It does not widen the
/// limits. With `label_on_line` the label is written along it rather than in the legend.
struct Rule {
  std::string label;
  double at = 0;
  bool vertical = false;
  bool label_on_line = false;
  Stroke stroke{.colour = Colour{0.35, 0.35, 0.35, 1}, .width = 0.8, .dash = {4, 2.5}};
};

/// Ellipses of size in points around (x, y): semi-axes, turned by `angle` degrees clockwise from
/// up, filled by `value` through the panel's colour axis (empty: grey).
struct Ellipses {
  std::string label;
  std::vector<double> x, y, major, minor, angle, value{};
};

/// Arrows from (x, y), `length` in points, turned by `angle` degrees clockwise from up.
struct Arrows {
  std::string label;
  std::vector<double> x, y, length, angle;
  Stroke stroke{};
};

using Series =
    std::variant<Line, Steps, Points, Band, HeatMap, MeshCells, Text, Rule, Ellipses, Arrows>;

struct ColourAxis {
  Axis axis;
  ColourMap map = ColourMap::viridis;
  bool bar = true;  ///< draw the colour bar (only where the panel has coloured series)
};

/// A mark above the frame, such as a station.
struct TopMark {
  double x = 0;
  std::string label;
};

enum class Legend {
  none,
  inside,
  above
};  ///< inside: in the corner that hides the least; above: one row

struct Panel {
  std::string title;
  std::size_t row = 0, column = 0, row_span = 1, column_span = 1;
  Axis x, y;
  ColourAxis colour{};
  std::vector<Series> series{};
  std::vector<TopMark> top_marks{};
  Legend legend = Legend::inside;
  bool grid = true;
};

struct Figure {
  double width = 510, height = 300;
  std::string title;
  std::string subtitle;
  std::vector<Panel> panels{};
  std::vector<double> column_weight{},
      row_weight{};            ///< relative sizes of the grid's columns and rows; 1 if missing
  double dots_per_inch = 160;  ///< of the PNG
};

/// What a reader of the picture should know and the picture cannot say.
struct PlotReport {
  std::size_t dropped = 0;  ///< points not drawn: infinite, or not positive on a logarithmic axis
  std::vector<std::string> notes;  ///< one line each; also if no font was found
};

/// Draws the figure into the file; the extension says how, `.png` or `.svg`. Equal figures give
/// equal bytes. The file appears whole or not at all. Throws tessera::Error if sizes do not match
/// or a limit is not usable, naming panel and series, and InputError (E0581) if the file cannot be
/// written.
PlotReport save(const Figure& figure, const std::filesystem::path& path);

/// Draws the figure as FOLDER/NAME.png and FOLDER/NAME.svg, as all applications do; the two files.
std::vector<std::filesystem::path> save_as_png_and_svg(const Figure& figure,
                                                       const std::filesystem::path& folder,
                                                       const std::string& name);

/// The bytes that `save` writes. `format` is "png" or "svg".
std::string render(const Figure& figure, const std::string& format, PlotReport* report = nullptr);

/// All numbers of the figure in one table, one row per point, cell or edge; numbers are written
/// with as many digits as give the same double again. Columns: panel, series, kind, then x, x_low,
/// x_high, y, y_low, y_high, value, masked, text.
void save_csv(const Figure& figure, const std::filesystem::path& path);
std::string to_csv(const Figure& figure);

/// The family that texts are drawn in, or empty if the system has no font at all: then a built-in
/// one with ASCII letters only is used (Debian package of the font: fonts-dejavu-core).
std::string plot_font();

}  // namespace tessera::data
