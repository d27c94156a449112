// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/finer.h"

#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::apps::mt2d {
namespace {

/// Responses of a section, with its static shifts, on one mesh less those on another, in errors of
/// the data.
std::vector<double> change_of(const InvertProblem& p, const InvertProblem& other,
                              const std::vector<double>& section) {
  const inversion::DataTable& data = p.input.survey.data;
  const inversion::SectionForward there(other.mesh.solver, other.mesh.sensors, data,
                                        other.frequency_hz,
                                        {.order = other.options.order.value_or(1)});
  const auto shifts = section.begin() + static_cast<std::ptrdiff_t>(p.cells());
  const Tensor m = tensor(std::vector<double>(section.begin(), shifts));
  const std::vector<double> factor = p.inversion->shifts().factors({shifts, section.end()});
  std::vector<double> change = (there(m) - p.inversion->forward()(m)).to_vector();
  for (std::size_t i = 0; i < change.size(); ++i)
    change[i] = (factor.empty() ? change[i] : factor[i] * change[i]) / data.sigma[i];
  return change;
}
double mean_square(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return v.empty() ? 0 : sum / static_cast<double>(v.size());
}

/// The fewest stations without which the mean square of the change is at most `rest`: true there.
std::vector<bool> stations_that_matter(const std::vector<double>& change,
                                       const std::vector<std::int64_t>& station,
                                       std::size_t stations, double rest) {
  std::vector<double> part(stations, 0.0);
  for (std::size_t i = 0; i < change.size(); ++i)
    part[static_cast<std::size_t>(station[i])] +=
        change[i] * change[i] / static_cast<double>(change.size());
  std::vector<std::size_t> order(stations);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return part[a] > part[b]; });
  double left = mean_square(change);
  std::vector<bool> out(stations, false);
  for (const std::size_t k : order) {
    if (!(left > rest)) break;
    out[k] = true;
    left -= part[k];
  }
  return out;
}

}  // namespace

InvertProblem with_fineness(const data::Config& config, const InvertProblem& p,
                            const Fineness& fineness) {
  InvertProblem out = p;
  out.inversion.reset();
  out.fineness = fineness;
  out.mesh = mesh_of(config, p.options, p.ground, p.scales, fineness);
  require_memory(config, out);
  return out;
}

FinerMesh finer_mesh(const data::Config& config, const InvertProblem& p,
                     const std::vector<double>& section) {
  FinerMesh out;
  const double most = p.options.mesh_error;
  const inversion::DataTable& data = p.input.survey.data;
  const std::size_t stations = p.input.survey.stations.size();
  Fineness now = p.fineness;
  if (now.columns.empty()) now.columns.assign(stations, 1);
  Fineness columns_halved = now, rows_halved = now, next = now;
  for (int& c : columns_halved.columns) c *= 2;
  rows_halved.rows *= 2;
  try {
    const std::vector<double> columns =
                                  change_of(p, with_fineness(config, p, columns_halved), section),
                              rows = change_of(p, with_fineness(config, p, rows_halved), section);
    const double by_columns = mean_square(columns), by_rows = mean_square(rows);
    out.change = std::sqrt(by_columns + by_rows);
    std::size_t at = 0;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (const double both = std::hypot(columns[i], rows[i]); !(both <= out.worst))
        out.worst = both, at = i;
    if (!columns.empty())
      out.at = fmt::format("{} of {} at {:.4g} Hz", inversion::name_of(data.kind[at]),
                           p.input.survey.stations[static_cast<std::size_t>(data.station[at])].id,
                           data.frequency_hz[at]);
    if (out.change <= most) return out;
    // The sum of both is above the bound, so one at least is above its half. Columns are halved
    // where that leaves an eighth of the bound to the stations whose columns stay.
    if (by_columns > most * most / 2) {
      const std::vector<bool> halved =
          stations_that_matter(columns, data.station, stations, most * most / 8);
      for (std::size_t k = 0; k < stations; ++k)
        if (halved[k]) next.columns[k] *= 2;
    }
    if (by_rows > most * most / 2) next.rows *= 2;
    out.next = with_fineness(config, p, next);
  } catch (const data::InputError& e) {
    out.why_not = e.findings().front().message;
  }
  return out;
}

std::string FinerMesh::text() const {
  if (std::isnan(change))
    return "whether the solver's mesh is fine enough is not known: " + why_not;
  return fmt::format(
      "on a solver's mesh twice as fine responses of this section change by {:.2g} of the data's "
      "errors (root mean square), {} most, by {:.2g}{}",
      change, at, worst, why_not.empty() ? "" : ": more than mesh.error, but " + why_not);
}

void tell(data::Log& log, const std::string& of, const FinerMesh& finer) {
  const std::string text = of + finer.text();
  finer.why_not.empty() ? log.info(text) : log.warning(text);
}

}  // namespace tessera::apps::mt2d
