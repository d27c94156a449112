// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/index_table.h"
#include "tessera/electromagnetics/medium.h"

#include <vector>

namespace tessera::electromagnetics {

struct FitOptions {
  double tolerance = 1e-3;  ///< root mean square of |fit - eps|/|eps| that is good enough
  int least_order = 1;      ///< poles, each of a conjugate pair counted
  int most_order = 12;
  bool conducting = false;  ///< add a conductivity >= 0 (metals, semiconductors, salt water)
  /// eps at infinite frequency is at least this; below 1 costs time steps.
  double least_eps_inf = 1;
  bool passive = true;  ///< enforce Im eps <= 0 at every frequency, not only at the data
  int iterations = 40;  ///< of the pole relocation, at most, for each order
};

struct FitReport {
  int order = 0;                     ///< of the fit that was taken
  bool reached = false;              ///< the tolerance
  bool passive = false;              ///< as largest_gain finds it
  bool constrained = false;          ///< the residues had to be held back to make it passive
  double rms = 0;                    ///< of |fit - eps|/|eps|
  double max_error = 0;              ///< largest of them
  double worst_f_hz = 0;             ///< where that is
  std::vector<double> rms_by_order;  ///< from least_order on
};

struct FittedMedium {
  Medium medium;  ///< isotropic; named after the table
  FitReport report;
};

/// The fewest poles that fit a table within the tolerance; the best fit there was where none does.
///
/// Poles by vector fitting (B. Gustavsen and A. Semlyen, IEEE Trans. Power Delivery 14, 1052
/// (1999)) with the relaxed normalisation of B. Gustavsen, ibid. 21, 1587 (2006); those that would
/// grow are mirrored, those within 1e-9 of the imaginary axis put on it (a lossless resonance).
/// Residues by least squares under Im eps <= 0 at some hundred frequencies from a thousandth of the
/// slowest to a thousand times the fastest pole, and wherever the result still has gain: a convex
/// problem with an exact solution (least distance by nonnegative least squares, Lawson and Hanson
/// 1974, chapter 23).
///
/// A table without rows, or with fewer than the unknowns of least_order, is an Error.
FittedMedium fit_medium(const IndexTable& table, const FitOptions& options = {});

}  // namespace tessera::electromagnetics
