// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis/results.h"

#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/molecular/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tessera::apps::analysis {
namespace {

namespace fs = std::filesystem;

std::string file_name(const Chart& c) { return c.task + "_" + c.name; }
std::string with_unit(const std::string& label, const std::string& unit) {
  return unit.empty() ? label : label + " [" + unit + "]";
}

void write_table(const fs::path& path, const Chart& c) {
  const bool errors = c.curve.error.size() == c.curve.x.size();
  std::vector<std::string> columns = {with_unit(c.x_label, c.x_unit),
                                      with_unit(c.y_label, c.y_unit)};
  if (errors) columns.push_back("error");
  data::CsvTable table(columns);
  for (std::size_t k = 0; k < c.curve.x.size(); ++k) {
    table.add(c.curve.x[k]).add(c.curve.y[k]);
    if (errors) table.add(c.curve.error[k]);
    table.end_row();
  }
  data::write_file_atomically(path, table.text());
}

}  // namespace

void write_findings(const fs::path& run, const Findings& f, const std::string& title) {
  data::make_folder(run / "tables");
  data::H5Writer file(run / "results.h5");
  file.group("tessera");
  file.attribute("tessera", "app", "molecular.analysis");
  file.attribute("tessera", "title", title);
  for (const Chart& c : f.charts) {
    const std::string group = "charts/" + c.task + "/" + c.name + "/";
    file.write(group + "x", c.curve.x, {}, {c.x_unit.empty() ? "1" : c.x_unit, c.x_label});
    file.write(group + "y", c.curve.y, {}, {c.y_unit.empty() ? "1" : c.y_unit, c.y_label});
    if (c.curve.error.size() == c.curve.x.size())
      file.write(group + "error", c.curve.error, {},
                 {c.y_unit.empty() ? "1" : c.y_unit, "standard error"});
    write_table(run / "tables" / (file_name(c) + ".csv"), c);
  }
  data::CsvTable table({"quantity", "unit", "mean", "error", "error of the error", "inefficiency",
                        "values", "plateau"});
  for (const Average& a : f.averages) {
    const data::BlockedMean& m = a.mean;
    file.write("averages/" + a.name, std::vector<double>{m.mean, m.error}, {},
               {a.unit.empty() ? "1" : a.unit, "mean and standard error"});
    table.add(a.name).add(a.unit).add(m.mean).add(m.error).add(m.error_of_error);
    table.add(m.inefficiency).add(m.n).add(m.plateau ? "yes" : "no").end_row();
  }
  data::write_file_atomically(run / "tables" / "averages.csv", table.text());
  file.commit();
}

Findings read_charts(const fs::path& run, std::string& title) {
  const fs::path path = run / "results.h5";
  Findings out;
  for (const data::H5Object& o : data::list_h5(path, data::limits_of_results()))
    if (o.path == "/tessera")
      for (const auto& [label, text] : o.attributes)
        if (label == "title") title = text;
  const auto arrays = data::read_h5(path, {}, data::limits_of_results());
  constexpr std::string_view root = "/charts/";
  for (const auto& [name, x] : arrays) {
    if (!name.starts_with(root) || !name.ends_with("/x")) continue;
    const std::string base = name.substr(0, name.size() - 1);
    const std::size_t slash = base.find('/', root.size());
    Chart c{.task = base.substr(root.size(), slash - root.size()),
            .name = base.substr(slash + 1, base.size() - slash - 2)};
    const auto values = [&](const char* part) {
      const auto found = arrays.find(base + part);
      const auto* v =
          found == arrays.end() ? nullptr : std::get_if<std::vector<double>>(&found->second.data);
      return v ? *v : std::vector<double>{};
    };
    const auto unit = [](const data::H5Array& a) {
      return a.attributes.units == "1" ? std::string() : a.attributes.units;
    };
    c.curve = {values("x"), values("y"), values("error")};
    const auto y = arrays.find(base + "y");
    if (y == arrays.end() || c.curve.x.size() != c.curve.y.size())
      throw data::InputError(
          data::Diagnostic{.number = 428,
                           .place = {path.string()},
                           .message = base + " is no chart of molecular.analysis"});
    c.x_label = x.attributes.long_name == "place" ? "position"  // up to version 0.2
                                                  : x.attributes.long_name,
    c.x_unit = unit(x), c.y_label = y->second.attributes.long_name, c.y_unit = unit(y->second);
    out.charts.push_back(std::move(c));
  }
  return out;
}

std::vector<fs::path> draw(const fs::path& run, const Findings& f, const std::string& title) {
  data::make_folder(run / "plots");
  std::vector<fs::path> out;
  for (const Chart& c : f.charts) {
    const data::Figure figure =
        mol::curve_figure({title, c.x_label, c.x_unit, c.y_label, c.y_unit, c.curve});
    std::ranges::move(data::save_as_png_and_svg(figure, run / "plots", file_name(c)),
                      std::back_inserter(out));
  }
  return out;
}

std::string told(const Average& a) {
  const data::BlockedMean& m = a.mean;
  const std::string unit = a.unit.empty() ? "" : " " + a.unit;
  if (std::isnan(m.error)) return fmt::format("{} = {:.6g}{}", a.name, m.mean, unit);
  return fmt::format("{} = {:.6g} +- {:.2g}{}; one value in {:.3g} is independent{}", a.name,
                     m.mean, m.error, unit, m.inefficiency,
                     m.plateau ? "" : ", but the trajectory is too short to be sure of the error");
}

}  // namespace tessera::apps::analysis
