// SPDX-License-Identifier: Apache-2.0
//
// A smooth section from data, step by step: between two steps an inversion is plain numbers, which
// can be looked at, drawn, kept, and gone on from with the same bits.
//
//   const SectionInversion inversion(survey.data, mesh, frequencies, {.target_rms = 1});
//   SectionState state = inversion.begin();              // or unpacked(numbers of a checkpoint)
//   while (!state.ended()) inversion.step(state);
//   const SectionResult r = inversion.result(state);
#pragma once
#include "tessera/inversion/bounds.h"
#include "tessera/inversion/occam.h"
#include "tessera/inversion/quasi_newton.h"
#include "tessera/inversion/section_forward.h"
#include "tessera/inversion/section_mesh.h"
#include "tessera/inversion/section_smoothing.h"
#include "tessera/inversion/static_shift.h"

#include <optional>
#include <span>
#include <vector>

namespace tessera::inversion {

enum class SectionMethod {
  occam,         ///< the smoothest section with the target's RMS
  gauss_newton,  ///< the least objective for `mu`
  lbfgs          ///< the same by gradients alone: no Jacobian is kept
};

struct SectionInversionOptions {
  SectionMethod method = SectionMethod::occam;
  Loss loss;
  double target_rms = 1.0;  ///< occam
  double mu = 1.0;          ///< gauss_newton, lbfgs
  double mu_start = 1e4;    ///< occam: nearly a half-space
  /// occam: go on to the smoothest section with the target's RMS; else stop at the first.
  bool smoothest = true;
  int max_iterations = 60;
  /// Ends where the objective is foretold to fall by less than this part of the number of data;
  /// occam: times the square of an RMS above 1 that it aims at.
  double tolerance = 1e-3;
  double max_change = 2.0;  ///< of ln rho in a step, or of what stands for it between bounds
  NormalEquations equations = NormalEquations::automatic;
  /// Of ln rho. Smoothness is then that of x (bounds.h), with the weight it has half way between.
  std::optional<Bounds> ln_rho_bounds;
  std::optional<double> shift_std_decades;  ///< free static shifts, and their prior
  std::vector<bool> shifted_stations;       ///< empty: all
  SectionSmoothingOptions smoothing;  ///< its axes follow `axes`; no reference: the start's mean
  Axes2d axes = Axes2d::one;
  Forward2dOptions forward;
  /// ln rho to begin with, [parameters (x axes)]; one number: of all; none: that of the data's
  /// median apparent resistivity.
  std::vector<double> start;
  std::vector<bool> fixed;  ///< [parameters (x axes)] or none: these keep their value of the start
};

/// Where an inversion stands.
struct SectionState {
  OccamState occam;          ///< occam
  QuasiNewtonState descent;  ///< gauss_newton, lbfgs
  bool by_occam = true;
  const StepState& steps() const {
    return by_occam ? static_cast<const StepState&>(occam) : descent;
  }
  bool ended() const { return steps().ended; }
};
/// All of it as numbers, and back, bit by bit. Throws Error for numbers that are no state.
std::vector<double> packed(const SectionState& state);
SectionState unpacked(std::span<const double> numbers);

struct SectionResult {
  std::vector<double> ln_rho;  ///< [parameters (x axes)]
  std::vector<StaticShifts::Of> shift_of;
  std::vector<double> shift_decades;  ///< [shift_of]
  std::vector<double> predicted;      ///< [rows], shifts included: the table's column
  double rms = 0;                     ///< plain, whatever the loss
  double loss_rms = 0, mu = 0, roughness = 0, objective = 0;
  Reason reason = Reason::iteration_limit;
  std::vector<Iteration> iterations;
};

/// Quantiles of ln rho of each cell, by Laplace's approximation.
struct SectionBands {
  std::vector<double> q05, q25, q75, q95;
  std::vector<double> shift_std_decades;
  double mu = 0;           ///< of the prior
  double error_scale = 1;  ///< errors are the stated ones times this, the RMS where it is above 1
};

class SectionInversion {
 public:
  /// `frequency_hz` falls: those of the model (model_frequencies). Throws Error for sizes that do
  /// not fit, a start outside of the bounds, and where SectionForward and the smoothing do.
  SectionInversion(const DataTable& data, const SectionMesh& mesh,
                   const std::vector<double>& frequency_hz,
                   const SectionInversionOptions& options = {});

  SectionState begin() const { return begin(start_); }
  /// From x of problem(): where an inversion of the same cells on another solver's mesh has come
  /// to.
  SectionState begin(const std::vector<double>& x) const;
  /// One Jacobian, or one line search of lbfgs; nothing where it has ended.
  void step(SectionState& state) const;
  SectionResult result(const SectionState& state) const;
  /// Root of the sum over data, with their static shifts, of (d(row)/d(ln rho) / sigma)^2,
  /// [parameters (x axes)]: what a change by one e-fold makes in errors of the data. Over the
  /// cell's area it can be compared.
  std::vector<double> sensitivity(const SectionState& state) const;
  /// About the model of a state that has ended. Gauss-Newton's Hessian, in data space. The prior's
  /// mu is the one that makes the data most probable, with the response linear about the model
  /// (MacKay 1992): the smoothest model's mu is too large for bands (docs/decisions/0030). It is
  /// looked for as far from the weight of the model as it takes; what is fixed is no datum of it.
  SectionBands bands(const SectionState& state) const;

  const SectionForward& forward() const { return forward_; }
  /// Of x: ln rho, or what stands for it between bounds, then shifts.
  const InverseProblem& problem() const { return problem_; }
  Smoothing smoothing(const SectionState& state) const;
  const StaticShifts& shifts() const { return shifts_; }
  std::vector<double> start() const { return start_; }

 private:
  OccamOptions occam_options() const;
  std::vector<double> ln_rho_of(const std::vector<double>& x) const;

  SectionInversionOptions options_;
  Mesh2d cells_;
  SectionForward forward_;
  StaticShifts shifts_;
  InverseProblem problem_;
  std::vector<double> start_;  ///< x
  std::size_t n_cells_ = 0;    ///< ln rho
};

/// A layered earth below a place of the section.
struct SectionColumn {
  double y = 0;
  std::vector<double> thickness_m;        ///< [n - 1]
  std::vector<double> resistivity_ohm_m;  ///< [n]
};
/// ln rho of the section's cells, each the mean over its depths of the columns' ln rho, linear in y
/// between columns and that of the last one beyond. Columns have rising y.
std::vector<double> stitched_section(const SectionMesh& mesh,
                                     const std::vector<SectionColumn>& columns);

}  // namespace tessera::inversion
