// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/finer.h"

#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tessera::apps::mt2d {
namespace {

/// Responses of a section on one mesh less those on another, in errors of the data.
std::vector<double> change_of(const InvertProblem& p, const InvertProblem& other,
                              const std::vector<double>& ln_rho) {
  const inversion::DataTable& data = p.input.survey.data;
  const inversion::SectionForward there(other.mesh.solver, other.mesh.sensors, data,
                                        other.frequency_hz,
                                        {.order = other.options.order.value_or(1)});
  const Tensor m = tensor(
      std::vector<double>(ln_rho.begin(), ln_rho.begin() + static_cast<std::ptrdiff_t>(p.cells())));
  std::vector<double> change = (there(m) - p.inversion->forward()(m)).to_vector();
  for (std::size_t i = 0; i < change.size(); ++i) change[i] /= data.sigma[i];
  return change;
}
double root_mean_square(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return v.empty() ? 0 : std::sqrt(sum / static_cast<double>(v.size()));
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
                     const std::vector<double>& ln_rho) {
  FinerMesh out;
  const double most = p.options.mesh_error;
  Fineness next = p.fineness;
  try {
    const std::vector<double>
        columns = change_of(p, with_fineness(config, p, {2 * p.fineness.columns, p.fineness.rows}),
                            ln_rho),
        rows = change_of(p, with_fineness(config, p, {p.fineness.columns, 2 * p.fineness.rows}),
                         ln_rho);
    const double by_columns = root_mean_square(columns), by_rows = root_mean_square(rows);
    out.change = std::hypot(by_columns, by_rows);
    std::size_t at = 0;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (const double both = std::hypot(columns[i], rows[i]); !(both <= out.worst))
        out.worst = both, at = i;
    const inversion::DataTable& data = p.input.survey.data;
    if (!columns.empty())
      out.at = fmt::format("{} of {} at {:.4g} Hz", inversion::name_of(data.kind[at]),
                           p.input.survey.stations[static_cast<std::size_t>(data.station[at])].name,
                           data.frequency_hz[at]);
    if (out.change <= most) return out;
    // The sum of both is above the bound, so one at least is above its half.
    if (by_columns > most / std::numbers::sqrt2) next.columns *= 2;
    if (by_rows > most / std::numbers::sqrt2) next.rows *= 2;
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
