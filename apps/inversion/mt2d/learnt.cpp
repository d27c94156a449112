// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/learnt.h"

#include "inversion/mt2d/placed_prior.h"
#include "tessera/data/csv.h"
#include "tessera/inversion/low_rank_posterior.h"
#include "tessera/inversion/misfit.h"
#include "tessera/inversion/posterior.h"
#include "tessera/inversion/through.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::mt2d {
namespace {

using Numbers = std::vector<double>;

LearntSection searched(const InvertProblem& p, const Smooth& smooth,
                       inversion::LearntOptions options, bool is_last) {
  const PlacedPrior prior = placed_prior(p);
  const inversion::InverseProblem cells = problem_of_cells(p);
  options.newton.tolerance = 1e-3 * static_cast<double>(cells.data.size());
  options.error_scale = std::max(1.0, smooth.rms);
  options.draws = p.options.prior.draws;
  options.key = {p.options.seed, 17};
  const std::vector<inversion::HeldOut> held_out{prior.calibration.held_out};
  if (is_last) options.held_out = held_out;
  LearntSection s;
  s.found = inversion::invert_learnt(cells, prior.model, prior.prior, smooth.section, options);
  if (is_last) s.doubts = doubts_told(s.found, held_out);
  Result& r = s.result;
  r = result_of_cells(p, s.found.cells, s.found.predicted);
  r.reason = inversion::describe(s.found.reason);
  return s;
}

/// The steps of a search behind those before.
void note_steps(LearntSection& s) {
  for (const inversion::Iteration& i : s.found.iterations)
    s.result.steps.push_back({.step = double(s.result.steps.size() + 1),
                              .rms = i.plain_rms,
                              .rms_te = NAN,
                              .rms_tm = NAN,
                              .rms_tipper = NAN,
                              .roughness = NAN,
                              .weight = NAN,
                              .length = i.step});
}

}  // namespace

bool was_cut(const inversion::LearntResult& found) {
  return found.reason == inversion::Reason::iteration_limit;
}

std::vector<std::string> doubts_told(const inversion::LearntResult& found,
                                     const std::vector<inversion::HeldOut>& held_out) {
  std::vector<std::string> out = inversion::doubts_of(found, held_out);
  if (was_cut(found))
    for (std::string& doubt : out)
      doubt += "; the search was cut at inversion.max_iterations, and may go on to less";
  return out;
}

LearntSection first_learnt_section(const InvertProblem& p, const Smooth& smooth, int steps,
                                   const OnStep& on_step) {
  LearntSection s =
      searched(p, smooth, {.newton = {.max_iterations = steps}, .rounds = 0, .on_step = on_step},
               steps >= p.options.max_iterations);
  note_steps(s);
  return s;
}

int steps_left(const InvertProblem& p, const LearntSection& before) {
  return p.options.max_iterations - static_cast<int>(before.result.steps.size());
}

LearntSection learnt_section(const InvertProblem& p, const Smooth& smooth,
                             const LearntSection& before, const OnStep& on_step) {
  const inversion::LearntResult& b = before.found;
  const auto counted = [&](inversion::Iteration i) {
    i.number += static_cast<int>(before.result.steps.size());
    on_step(i);
  };
  LearntSection s = searched(p, smooth,
                             {.newton = {.max_iterations = steps_left(p, before)},
                              .from = inversion::LearntStart{b.starts[b.start].name, b.m},
                              .on_step = counted},
                             true);
  s.result.steps = before.result.steps;
  note_steps(s);
  return s;
}

void add_bands(const InvertProblem& p, LearntSection& s) {
  const PlacedPrior prior = placed_prior(p);
  inversion::InverseProblem codes = problem_of_cells(p);
  codes.forward = inversion::through(codes.forward, prior.model.map());
  // As those of the smooth section: errors that the model cannot meet are too small.
  s.error_scale =
      std::max(1.0, inversion::rms(codes.loss, inversion::normalised_residual(
                                                   codes.data, s.found.predicted, codes.sigma)));
  for (double& sigma : codes.sigma) sigma *= s.error_scale;
  const auto posterior = inversion::low_rank_laplace(
      codes, prior.prior, s.found.m,
      {.hessian = inversion::Hessian::gauss_newton, .key = {p.options.seed, 18}});
  const std::size_t n = p.cells();
  inversion::Matrix unit(n, prior.model.cells());
  for (std::size_t k = 0; k < n; ++k) unit(k, k) = 1;
  const Numbers sd = posterior.standard_deviation(
      inversion::sparse(from_left(unit, prior.model.map().linearize(s.found.m))));
  Numbers low(s.found.cells.begin(), s.found.cells.begin() + static_cast<std::ptrdiff_t>(n)),
      high = low;
  const double half = inversion::normal_half_width(0.9);
  for (std::size_t k = 0; k < n; ++k) low[k] -= half * sd[k], high[k] += half * sd[k];
  s.result.low = resistivity_of_cells(s.result.cells, low);
  s.result.high = resistivity_of_cells(s.result.cells, high);
}

double rms_of(const LearntSection& s) { return inversion::rms_of(s.result.survey.data); }

std::vector<std::string> describe(const LearntSection& s, double smooth_rms) {
  const inversion::LearntResult& f = s.found;
  std::vector<std::string> out{fmt::format(
      "with the prior: RMS {:.3f} after {} steps from start '{}' (smooth: {:.3f}), {:.3f} decades "
      "from the smooth section; codes have a mean square of {:.3f}, pixels cost {:.1f}, all {:.3f} "
      "a datum",
      rms_of(s), s.result.steps.size(), f.starts[f.start].name, smooth_rms, f.from_smooth,
      f.code_norm[0], f.pixels_cost, f.objective / static_cast<double>(f.n_data))};
  return out;
}

std::string prior_table(const LearntSection& s, double smooth_rms) {
  const inversion::LearntResult& f = s.found;
  data::CsvTable t({"rms", "steps", "smooth_rms", "from_smooth_decades", "code_norm", "pixels_cost",
                    "cost_per_datum", "doubts"});
  t.add(rms_of(s))
      .add(s.result.steps.size())
      .add(smooth_rms)
      .add(f.from_smooth)
      .add(f.code_norm[0])
      .add(f.pixels_cost)
      .add(f.objective / static_cast<double>(f.n_data))
      .add(s.doubts.size())
      .end_row();
  return t.text();
}

}  // namespace tessera::apps::mt2d
