// SPDX-License-Identifier: Apache-2.0
#include "support/sweep_results.h"

#include "tessera/data/csv.h"
#include "tessera/data/exit_code.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/plot.h"
#include "tessera/data/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace tessera::apps {
namespace fs = std::filesystem;
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostPanels = 16, kMostLabels = 8;

/// Names of metrics in the order in which they first appear.
std::vector<std::string> metric_names(const std::vector<PointOutcome>& outcomes) {
  std::vector<std::string> names;
  for (const PointOutcome& o : outcomes)
    for (const auto& [name, value] : o.metrics)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

double metric(const PointOutcome& o, const std::string& name) {
  for (const auto& [key, value] : o.metrics)
    if (key == name) return value;
  return kNothing;
}

/// Names of those that are not the same at all points.
std::vector<std::string> varying_metrics(const std::vector<PointOutcome>& outcomes) {
  std::vector<std::string> names = metric_names(outcomes);
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::all_of(outcomes, [&](const PointOutcome& o) {
      return metric(o, name) == metric(outcomes.front(), name);
    });
  });
  return names;
}

std::string unit_of(const data::SweptParameter& p) {
  const std::string unit = data::si_unit(p.dimension);
  return unit.empty() ? "1" : unit;
}

double value_at(const data::Sweep& sweep, std::size_t point, std::size_t parameter) {
  return sweep.over[parameter].value[sweep.points[point][parameter]];
}

/// Of points.csv, none twice: a metric `cells` beside a parameter of this name is `metric.cells`.
std::vector<std::string> columns_of(const data::Sweep& sweep,
                                    const std::vector<std::string>& metrics) {
  std::vector<std::string> columns{"point"};
  const auto add = [&](const std::string& name, const char* kind) {
    const bool taken = name == "exit_code" || name == "reason" ||
                       std::find(columns.begin(), columns.end(), name) != columns.end();
    columns.push_back(taken ? std::string(kind) + "." + name : name);
  };
  for (const data::SweptParameter& p : sweep.over)
    add(p.name + (unit_of(p) == "1" ? "" : "_" + unit_of(p)), "parameter");
  for (const std::string& m : metrics) add(m, "metric");
  columns.insert(columns.end(), {"exit_code", "reason"});
  return columns;
}

void write_points(const fs::path& file, const data::Sweep& sweep,
                  const std::vector<PointOutcome>& outcomes) {
  const std::vector<std::string> metrics = metric_names(outcomes);
  data::CsvTable table(columns_of(sweep, metrics));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    table.add(i + 1);
    for (std::size_t k = 0; k < sweep.over.size(); ++k) table.add(value_at(sweep, i, k));
    for (const std::string& m : metrics) {
      const double x = metric(outcomes[i], m);
      table.add(std::isnan(x) ? std::optional<double>() : x);
    }
    table.add(outcomes[i].exit_code).add(outcomes[i].reason).end_row();
  }
  data::write_file_atomically(file, table.text());
}

/// One curve of each point that has it.
struct CurveOfPoints {
  Curve as;                                  ///< the first: its names and units
  std::vector<std::optional<Curve>> points;  ///< of each point

  std::size_t length() const {
    std::size_t n = 0;
    for (const auto& c : points)
      if (c) n = std::max(n, c->at.size());
    return n;
  }
};

std::vector<CurveOfPoints> curves_of(const fs::path& folder, const App& app,
                                     const std::vector<PointOutcome>& outcomes) {
  std::vector<CurveOfPoints> out;
  std::map<std::pair<std::string, std::string>, std::size_t> where;
  if (!app.curves) return out;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].has_results()) continue;
    for (Curve& c : app.curves(folder_of_point(folder, i, outcomes.size()))) {
      const auto [at, is_new] = where.emplace(std::pair(c.group, c.name), out.size());
      if (is_new) out.push_back({c, std::vector<std::optional<Curve>>(outcomes.size())});
      out[at->second].points[i] = std::move(c);
    }
  }
  return out;
}

/// [point, place on the axis]; where a point has nothing, not a number.
template <class T, class Get>
std::vector<T> rows_of(const CurveOfPoints& c, T nothing, Get get) {
  const std::size_t n = c.length();
  std::vector<T> out(c.points.size() * n, nothing);
  for (std::size_t i = 0; i < c.points.size(); ++i)
    if (c.points[i]) {
      const auto& from = get(*c.points[i]);
      std::copy_n(from.begin(), std::min(n, from.size()),
                  out.begin() + static_cast<std::ptrdiff_t>(i * n));
    }
  return out;
}

void write_curves(data::H5Writer& file, const std::vector<CurveOfPoints>& curves) {
  using Complex = std::complex<double>;
  std::set<std::string> axes;
  for (const CurveOfPoints& c : curves) {
    const std::string group = "curves/" + c.as.group;
    const std::vector<std::uint64_t> shape{c.points.size(), c.length()};
    if (shape[1] == 0) continue;
    if (axes.insert(c.as.group).second)
      file.write(group + "/" + c.as.axis,
                 rows_of(
                     c, kNothing, [](const Curve& p) -> auto& { return p.at; }),
                 shape, {c.as.axis_units, "of each point"});
    const std::string name = group + "/values/" + c.as.name;
    if (std::holds_alternative<std::vector<double>>(c.as.values))
      file.write(name,
                 rows_of(
                     c, kNothing, [](const Curve& p) -> auto& {
                       return std::get<std::vector<double>>(p.values);
                     }),
                 shape, {c.as.units, "of each point"});
    else
      file.write(name,
                 rows_of(
                     c, Complex(kNothing, kNothing), [](const Curve& p) -> auto& {
                       return std::get<std::vector<Complex>>(p.values);
                     }),
                 shape, {c.as.units, "of each point"});
  }
}

void write_numbers(const fs::path& path, const App& app, const data::Sweep& sweep,
                   const std::vector<PointOutcome>& outcomes,
                   const std::vector<CurveOfPoints>& curves) {
  data::H5Writer file(path);
  file.group("tessera");
  file.attribute("tessera", "app", app.name);
  std::vector<std::int64_t> codes;
  std::vector<std::string> names;
  for (const PointOutcome& o : outcomes) codes.push_back(o.exit_code);
  for (std::size_t k = 0; k < sweep.over.size(); ++k) {
    std::vector<double> values;
    for (std::size_t i = 0; i < outcomes.size(); ++i) values.push_back(value_at(sweep, i, k));
    names.push_back(sweep.over[k].name);
    file.write("parameters/" + names.back(), values, {}, {unit_of(sweep.over[k]), "of each point"});
  }
  file.write_texts("tessera/parameters", names, {"", "in the order of the sweep"});
  file.write("exit_code", codes, {}, {"1", "of each point's run; -1: it has not ended"});
  for (const std::string& name : metric_names(outcomes)) {
    std::vector<double> values;
    for (const PointOutcome& o : outcomes) values.push_back(metric(o, name));
    file.write("metrics/" + name, values, {}, {"", "of each point"});
  }
  write_curves(file, curves);
  file.commit();
}

/// The unit with a prefix in which the largest value reads well, and the factor to it.
std::pair<double, std::string> readable(double largest, const std::string& unit) {
  try {
    const data::Dimension d =
        unit == "1" || unit.empty() ? data::dimension::number : data::parse_unit(unit).dimension;
    const std::string text = data::print_readably({largest, d});
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos) return {1, ""};
    return {1 / data::parse_quantity("1" + text.substr(blank)).value, text.substr(blank + 1)};
  } catch (const data::QuantityError&) {
    return {1, unit};
  }
}

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values)
    if (std::isfinite(x)) out = std::max(out, std::abs(x));
  return out;
}

data::Colour colour_of(std::size_t at, std::size_t of) {
  constexpr double lightest = 0.9;  // what is yellow is hard to see on white
  return data::colour_at(
      data::ColourMap::viridis,
      of > 1 ? lightest * static_cast<double>(at) / static_cast<double>(of - 1) : 0);
}

/// Which of so many are named in a legend: all, or the ends and the middle.
bool labelled(std::size_t at, std::size_t of) {
  return of <= kMostLabels || at == 0 || at == of / 2 || at + 1 == of;
}

void place(data::Figure& f) {
  const std::size_t n = f.panels.size(),
                    columns = n == 1   ? 1
                              : n <= 4 ? 2
                                       : static_cast<std::size_t>(std::ceil(std::sqrt(n)));
  for (std::size_t k = 0; k < n; ++k)
    f.panels[k].row = k / columns, f.panels[k].column = k % columns;
  f.height = n == 1 ? 300 : 30 + 190 * static_cast<double>((n + columns - 1) / columns);
}

data::Line line_of(const CurveOfPoints& c, const Curve& at, double scale) {
  data::Line line;
  for (const double x : at.at) line.x.push_back(x * scale);
  const auto shown = [&](auto z) {
    return c.as.decibels ? 20 * std::log10(std::abs(z)) : std::abs(z);
  };
  if (const auto* real = std::get_if<std::vector<double>>(&at.values); real && !c.as.decibels)
    line.y = *real;
  else
    std::visit(
        [&](const auto& v) {
          for (const auto& z : v) line.y.push_back(shown(z));
        },
        at.values);
  return line;
}

/// A panel for each curve of a group, a line for each point.
data::Figure curves_figure(const std::vector<const CurveOfPoints*>& curves,
                           const data::Sweep& sweep) {
  data::Figure f{.title = curves.front()->as.group};
  for (const CurveOfPoints* c : curves) {
    if (f.panels.size() == kMostPanels) break;
    double most = 0;
    for (const auto& p : c->points)
      if (p) most = std::max(most, largest(p->at));
    const auto [scale, unit] = readable(most, c->as.axis_units);
    data::Panel panel{.title = c->as.name,
                      .x = {.label = c->as.axis, .unit = unit, .tight = true},
                      .y = {.label = c->as.decibels ? "magnitude" : c->as.name,
                            .unit = c->as.decibels       ? "dB"
                                    : c->as.units == "1" ? ""
                                                         : c->as.units}};
    for (std::size_t i = 0; i < c->points.size(); ++i) {
      if (!c->points[i]) continue;
      data::Line line = line_of(*c, *c->points[i], scale);
      if (f.panels.empty() && labelled(i, c->points.size())) line.label = label_of_point(sweep, i);
      line.stroke.colour = colour_of(i, c->points.size());
      panel.series.emplace_back(std::move(line));
    }
    f.panels.push_back(std::move(panel));
  }
  place(f);
  return f;
}

/// A panel for each metric over the parameter that varies fastest, a line for each set of the
/// others; dots where the points are on no grid.
data::Figure metrics_figure(const data::Sweep& sweep, const std::vector<PointOutcome>& outcomes) {
  std::size_t product = 1;
  for (const data::SweptParameter& p : sweep.over) product *= p.value.size();
  const bool grid = product == sweep.points.size();
  const std::size_t along = grid ? sweep.over.size() - 1 : 0,
                    length = grid ? sweep.over[along].value.size() : outcomes.size();
  const data::SweptParameter& p = sweep.over[along];
  const auto [scale, unit] = readable(largest(p.value), unit_of(p));
  data::Figure f;
  for (const std::string& name : varying_metrics(outcomes)) {
    if (f.panels.size() == kMostPanels) break;
    data::Panel panel{.title = name, .x = {.label = p.name, .unit = unit}, .y = {.label = name}};
    const std::size_t lines = outcomes.size() / length;
    for (std::size_t l = 0; l < lines; ++l) {
      data::Points dots{.label = {}, .x = {}, .y = {}};
      for (std::size_t i = l * length; i < (l + 1) * length; ++i) {
        dots.x.push_back(value_at(sweep, i, along) * scale);
        dots.y.push_back(metric(outcomes[i], name));
      }
      dots.colour = colour_of(l, lines);
      if (f.panels.empty() && lines > 1 && labelled(l, lines)) {
        data::Sweep others = sweep;
        others.over.pop_back();
        for (auto& point : others.points) point.pop_back();
        dots.label = label_of_point(others, l * length);
      }
      if (grid)
        panel.series.emplace_back(
            data::Line{.label = {}, .x = dots.x, .y = dots.y, .stroke = {.colour = dots.colour}});
      panel.series.emplace_back(std::move(dots));
    }
    f.panels.push_back(std::move(panel));
  }
  place(f);
  return f;
}

}  // namespace

bool PointOutcome::has_results() const {
  return exit_code == static_cast<int>(data::ExitCode::ok) ||
         exit_code == static_cast<int>(data::ExitCode::not_converged);
}

fs::path folder_of_point(const fs::path& sweep, std::size_t point, std::size_t points) {
  const std::size_t width = std::to_string(points).size();
  return sweep / "points" / fmt::format("{:0{}}", point + 1, width);
}

std::vector<fs::path> write_sweep_results(const fs::path& folder, const App& app,
                                          const data::Sweep& sweep,
                                          const std::vector<PointOutcome>& outcomes,
                                          bool pictures) {
  write_points(folder / "points.csv", sweep, outcomes);
  const std::vector<CurveOfPoints> curves = curves_of(folder, app, outcomes);
  write_numbers(folder / "results.h5", app, sweep, outcomes, curves);
  std::vector<fs::path> out;
  if (!pictures) return out;
  const auto keep = [&](const data::Figure& f, const std::string& name) {
    for (fs::path& file : data::save_as_png_and_svg(f, folder / "plots", name))
      out.push_back(std::move(file));
  };
  std::map<std::string, std::vector<const CurveOfPoints*>> groups;
  for (const CurveOfPoints& c : curves)
    if (c.length() > 1) groups[c.as.group].push_back(&c);
  for (const auto& [name, of] : groups) keep(curves_figure(of, sweep), name);
  if (!varying_metrics(outcomes).empty()) keep(metrics_figure(sweep, outcomes), "metrics");
  return out;
}

}  // namespace tessera::apps
