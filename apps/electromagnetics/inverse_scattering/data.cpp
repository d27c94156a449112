// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/inverse_scattering/data.h"

#include "tessera/data/csv.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::inverse_scattering {
namespace {

/// Rows of a file: times, and values [time, source and receiver].
struct Rows {
  std::vector<double> time, values;
};

data::InputError wrong(const std::filesystem::path& file, std::string what, std::string remedy) {
  data::Diagnostic d;
  d.number = 651;
  d.place.file = file.string();
  d.message = std::move(what);
  d.hint = std::move(remedy);
  return data::InputError(std::move(d));
}

Rows from_csv(const std::filesystem::path& path, std::size_t columns) {
  const data::CsvNumbers table = data::read_csv_numbers(
      path,
      {.number = 651,
       .columns = columns + 1,
       .row_hint = fmt::format("the time, and sources times receivers are {}: one column for each "
                               "receiver of the first source, then of the second, ...",
                               columns),
       .names_hint = "begin with a line such as `time_s,source0_receiver0`",
       .finite = true,
       .limits = {.max_line_bytes = std::size_t{64} << 20}});
  Rows out{table.columns[0], {}};
  out.values.reserve(columns * table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t k = 1; k <= columns; ++k) out.values.push_back(table.columns[k][row]);
  return out;
}

Rows from_hdf5(const std::filesystem::path& path, std::size_t sources, std::size_t receivers) {
  const auto found = data::read_h5(path, {}, data::limits_of_results());
  const auto at = [&](const std::string& name) -> const data::H5Array& {
    for (const std::string& full : {name, "/" + name})
      if (const auto it = found.find(full);
          it != found.end() && std::holds_alternative<std::vector<double>>(it->second.data))
        return it->second;
    throw wrong(path, "there is no " + name + " of float64",
                "write data/time [n] and data/measured [source, n, receiver]");
  };
  Rows out{std::get<std::vector<double>>(at("data/time").data), {}};
  const data::H5Array& measured = at("data/measured");
  const std::size_t n = out.time.size();
  if (measured.shape != std::vector<std::uint64_t>{sources, n, receivers})
    throw wrong(
        path,
        fmt::format("data/measured is no array of [{}, {}, {}] for sources, times and receivers",
                    sources, n, receivers),
        "see its shape by `tessera info`");
  const auto& v = std::get<std::vector<double>>(measured.data);
  out.values.resize(v.size());
  for (std::size_t s = 0; s < sources; ++s)
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t r = 0; r < receivers; ++r)
        out.values[(t * sources + s) * receivers + r] = v[(s * n + t) * receivers + r];
  return out;
}

}  // namespace

ScatteringData read_scattering_data(const std::filesystem::path& file, std::size_t sources,
                                    std::size_t receivers, const std::vector<double>& time_s) {
  std::size_t steps = time_s.size();
  const std::string ending = data::upper(file.extension().string());
  const bool binary = ending == ".H5" || ending == ".HDF5";
  const Rows rows =
      binary ? from_hdf5(file, sources, receivers) : from_csv(file, sources * receivers);
  const std::vector<double>& t = rows.time;
  for (std::size_t i = 1; i < t.size(); ++i)
    if (!(t[i] > t[i - 1]))
      throw wrong(file, fmt::format("times do not rise at row {}", i + 1), "sort the rows");
  const double first = time_s.front(), slack = 1e-6 * first;
  // Two runs of one length end within a step of each other: with the last that both have.
  if (steps > 1 && !t.empty() && t.back() < time_s[steps - 1] - slack) --steps;
  const double last = time_s[steps - 1];
  if (t.size() < 2 || t.front() > first + slack || t.back() < last - slack)
    throw wrong(
        file,
        fmt::format("the data reach from {:.6g} to {:.6g} s, the run from {:.6g} to {:.6g} s",
                    t.empty() ? 0 : t.front(), t.empty() ? 0 : t.back(), first, time_s.back()),
        "shorten the run (run.stop), or begin the table at 0");
  const std::size_t columns = sources * receivers;
  ScatteringData out{std::vector<double>(sources * steps * receivers)};
  std::size_t row = 0;
  for (std::size_t n = 0; n < steps; ++n) {
    const double at = time_s[n];
    while (row + 2 < t.size() && t[row + 1] < at - slack) ++row;
    double share = (at - t[row]) / (t[row + 1] - t[row]);
    if (std::abs(share) < 1e-6) share = 0;
    if (std::abs(share - 1) < 1e-6) share = 1;
    if (share != 0 && share != 1) out.widest_s = std::max(out.widest_s, t[row + 1] - t[row]);
    for (std::size_t m = 0; m < columns; ++m)
      out.values[(m / receivers * steps + n) * receivers + m % receivers] =
          (1 - share) * rows.values[row * columns + m] +
          share * rows.values[(row + 1) * columns + m];
  }
  return out;
}

void write_scattering_data(const std::filesystem::path& file, const std::vector<double>& values,
                           std::size_t sources, std::size_t receivers,
                           const std::vector<double>& time_s) {
  const std::size_t steps = time_s.size();
  std::vector<std::string> columns = {"time_s"};
  for (std::size_t s = 0; s < sources; ++s)
    for (std::size_t r = 0; r < receivers; ++r)
      columns.push_back(fmt::format("source{}_receiver{}", s, r));
  data::CsvTable table(columns);
  for (std::size_t n = 0; n < steps; ++n) {
    table.add(time_s[n]);
    for (std::size_t s = 0; s < sources; ++s)
      for (std::size_t r = 0; r < receivers; ++r)
        table.add(values[(s * steps + n) * receivers + r]);
    table.end_row();
  }
  data::write_file_atomically(file, table.text());
}

}  // namespace tessera::apps::inverse_scattering
