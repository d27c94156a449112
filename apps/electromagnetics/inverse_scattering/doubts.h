// SPDX-License-Identifier: Apache-2.0
// Warnings of what a case may say, but hardly means.
#pragma once
#include "electromagnetics/inverse_scattering/problem.h"

namespace tessera::apps::inverse_scattering {

/// Receivers where no wave is as it would be without layers, and a region that they reach into.
void doubt_places(Case& c, const InverseOptions& o, const data::Config& config);
/// Rows of a table between which a straight line is no wave.
void doubt_spacing(InverseProblem& p, double widest_s, const data::Config& config);
/// Bodies that no descent can find, and what is known and yet not used. While the truth's scene is
/// there.
void doubt_bodies(InverseProblem& p, const data::Config& config);

}  // namespace tessera::apps::inverse_scattering
