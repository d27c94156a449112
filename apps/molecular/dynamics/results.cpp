// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/results.h"

#include "tessera/data/blocking.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/molecular/stage_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::apps::dynamics {
namespace {

/// Slope of y over x and its standard error.
Average slope(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size()), mx = std::accumulate(x.begin(), x.end(), 0.0) / n,
               my = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0, xy = 0, rest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
  }
  const double b = xy / xx;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double r = y[i] - my - b * (x[i] - mx);
    rest += r * r;
  }
  return {b, std::sqrt(rest / (n - 2) / xx)};
}

/// What counts or labels rows: an average of it says nothing.
bool is_of_rows(const std::string& column) {
  return column == "step" || column == "time_ps" || column == "state" || column == "evaluations" ||
         column == "largest_at";
}

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& run, std::size_t k,
                                const std::string& name) {
  return run / fmt::format("{}_{}", k + 1, name);
}

Summary summary_of(const std::filesystem::path& folder, const Stage& stage, std::size_t n_atoms) {
  Summary s{.name = stage.name,
            .type = stage.type,
            .energies = data::read_csv_numbers(folder / "energies.csv"),
            .averages = {},
            .drift = {}};
  // Where a stage begins is the end of the one before; frames of a rerun count alike.
  const std::size_t skip = stage.type != StageType::rerun && s.energies.rows() > 1 ? 1 : 0;
  for (const auto& column : s.energies.columns) {
    const data::BlockedMean mean = data::blocked_mean(std::span(column).subspan(skip));
    s.averages.push_back({mean.mean, mean.error});
  }
  const auto* time = s.energies.find("time_ps");
  const auto* conserved = s.energies.find("conserved");
  if (conserved && s.energies.rows() > 3) {
    const Average b = slope(*time, *conserved);
    const double n = static_cast<double>(n_atoms);
    s.drift = Average{b.mean / n, b.error / n};
  }
  return s;
}

void tell(data::Log& log, const Summary& s) {
  for (std::size_t k = 0; k < s.energies.names.size(); ++k) {
    const std::string& name = s.energies.names[k];
    if (s.energies.rows() == 0 || is_of_rows(name)) continue;
    log.info(s.type == StageType::minimize || s.energies.rows() == 1
                 ? fmt::format("  {:<26} {:16.8g}", name, s.energies.columns[k].back())
                 : fmt::format("  {:<26} {:16.8g} +- {:.2g}", name, s.averages[k].mean,
                               s.averages[k].error));
  }
  if (s.drift)
    log.info(fmt::format("  {:<26} {:16.4g} +- {:.2g} kJ/mol/ps/atom", "drift", s.drift->mean,
                         s.drift->error));
}

void write_results(const std::filesystem::path& run, const Case& c,
                   const std::vector<Summary>& stages) {
  data::CsvTable table({"stage", "quantity", "unit", "average", "error", "first", "last"});
  data::H5Writer file(run / "results.h5");
  file.write_text("title", c.options.title.empty() ? c.system.title : c.options.title);
  for (const Summary& s : stages) {
    for (std::size_t k = 0; k < s.energies.names.size(); ++k) {
      const std::string& name = s.energies.names[k];
      const auto& values = s.energies.columns[k];
      file.write(s.name + "/energies/" + name, values, {}, {mol::unit_of(name), name});
      if (values.empty()) continue;
      table.add(s.name).add(name).add(mol::unit_of(name));
      if (is_of_rows(name))
        table.add(std::nullopt).add(std::nullopt);
      else
        table.add(s.averages[k].mean).add(s.averages[k].error);
      table.add(values.front()).add(values.back()).end_row();
    }
    if (s.drift) {
      file.write(s.name + "/drift", std::vector<double>{s.drift->mean, s.drift->error}, {},
                 {"kJ mol-1 ps-1", "slope of the conserved energy per atom, its standard error"});
      table.add(s.name).add("drift").add("kJ mol-1 ps-1").add(s.drift->mean).add(s.drift->error);
      table.add(std::nullopt).add(std::nullopt).end_row();
    }
  }
  file.commit();
  data::write_file_atomically(run / "summary.csv", table.text());
}

}  // namespace tessera::apps::dynamics
