// SPDX-License-Identifier: Apache-2.0
// [prior]: a section of a learnt prior beside the smooth one.
#pragma once
#include "inversion/mt2d/invert.h"
#include "tessera/inversion/learnt_inversion.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

struct LearntSection {
  Result result;
  inversion::LearntResult found;
  std::vector<std::string> doubts;
  double error_scale = 1;  ///< of the bands: errors are the stated ones times this
};
/// The smooth section beside it.
struct Smooth {
  const std::vector<double>& section;  ///< ln ohm m of the cells, then static shifts in decades
  double rms;
};
/// Told of each step when it is taken, counted over all meshes.
using OnStep = std::function<void(const inversion::Iteration&)>;
/// Whether a search has not ended, but was cut at inversion.max_iterations.
bool was_cut(const inversion::LearntResult& found);
/// inversion::doubts_of, with a word on a search that was cut: it may have gone on to less.
std::vector<std::string> doubts_told(const inversion::LearntResult& found,
                                     const std::vector<inversion::HeldOut>& held_out);
/// From the smooth section, by so many steps at most from the cheapest start. Where that is less
/// than inversion.max_iterations another search goes on from it, and the prior is not doubted yet.
LearntSection first_learnt_section(const InvertProblem& p, const Smooth& smooth, int steps,
                                   const OnStep& on_step);
/// How many of inversion.max_iterations are left behind those of all meshes.
int steps_left(const InvertProblem& p, const LearntSection& before);
/// From what was found, perhaps on a coarser mesh, to the end or for the steps that are left, of
/// which there is one.
LearntSection learnt_section(const InvertProblem& p, const Smooth& smooth,
                             const LearntSection& before, const OnStep& on_step);
/// What 90 % of models lie between, the decoder's error within; errors as large as the misfit where
/// that is above them.
void add_bands(const InvertProblem& p, LearntSection& s);
/// Of the data, of squares whatever the loss is.
double rms_of(const LearntSection& s);
/// Lines for the user.
std::vector<std::string> describe(const LearntSection& s, double smooth_rms);
/// prior.csv: both sections by their numbers.
std::string prior_table(const LearntSection& s, double smooth_rms);

}  // namespace tessera::apps::mt2d
