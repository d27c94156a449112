// SPDX-License-Identifier: Apache-2.0
// [prior]: where a learnt prior lies in the section, and what it says of it.
#pragma once
#include "inversion/mt2d/invert.h"
#include "tessera/inversion/learnt_model.h"
#include "tessera/inversion/prior_calibration.h"

namespace tessera::apps::mt2d {

/// Reads prior.file. Throws data::InputError: E0692 for a file of something else, E0694 for one
/// that says nothing of held-out sections, or a region without cells.
void check_prior(const data::Config& config, const InvertProblem& p);

/// E0696, a warning: a region that lies for the most part where there are no stations.
std::vector<data::Diagnostic> doubts_of_region(const data::Config& config, const InvertProblem& p);

/// Unknowns x are pixels, static shifts among them, then codes.
struct PlacedPrior {
  inversion::LearntModel model;    ///< x -> ln ohm m of the cells, then static shifts
  inversion::GaussianPrior prior;  ///< of x
  inversion::PriorCalibration calibration;
};
/// Pixels have the decoder's error on held-out sections in the region, alike as far as it is there,
/// and `outside` decades elsewhere.
PlacedPrior placed_prior(const InvertProblem& p);

/// Data as a function of ln ohm m of the cells, then of static shifts.
inversion::InverseProblem problem_of_cells(const InvertProblem& p);

/// A section of ln ohm m of the cells, then static shifts, with what it predicts.
Result result_of_cells(const InvertProblem& p, const std::vector<double>& cells,
                       const std::vector<double>& predicted);

}  // namespace tessera::apps::mt2d
