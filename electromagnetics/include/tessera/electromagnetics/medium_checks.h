// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/diagnostic.h"
#include "tessera/electromagnetics/medium.h"

#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// What is wrong with a medium, before the first step. An error makes fields grow without bound or
/// has no meaning; a warning costs accuracy or time, or fields that are too strong; a note tells of
/// fields that few cases have.
struct MediumFinding {
  data::Severity severity = data::Severity::error;
  std::string medium;  ///< its name
  int term = -1;       ///< index into `poles`; -1: the medium as a whole
  std::string what;    ///< what was found
  std::string remedy;  ///< what to do
};

/// `error: medium 'gold', term 2: ...; ...`
std::string to_string(const MediumFinding& finding);

struct MediumCheckOptions {
  double f_min_hz = 0;  ///< band of interest; 0, 0: not given
  double f_max_hz = 0;
  double dt_s = 0;           ///< time step; 0: neither stability nor accuracy in time is looked at
  double curl_curl_max = 0;  ///< curl_curl_bound of the grid, 1/m^2
  double accuracy = 0.01;  ///< relative error of the discrete permittivity that is worth a warning
  /// What the time step of a run needs of mu dD/dE, (c dt)^2 curl_curl_max/4; 0: not known.
  double slope_min = 0;
};

/// Everything that can be known of a medium by itself: numbers that are finite; eps, mu > 0 at
/// infinite frequency (below 1 costs time steps); conductivities >= 0; poles that decay, or lie on
/// the imaginary axis as those of a lossless resonance (Re c = 0, Im c / Im a < 0) or of a
/// conductor (a = 0, c > 0) do; no gain at any frequency; with `dt_s` the exact test of the coupled
/// scheme and the error of the discrete permittivity in the band; the field strength at which a
/// nonlinear medium stops having one D for each E, or with `slope_min` the lower one from which
/// short waves on a strong field may grow.
std::vector<MediumFinding> check_medium(const Medium& medium,
                                        const MediumCheckOptions& options = {});

/// A resonance of a medium.
struct MediumLine {
  double frequency_hz = 0;
  double width_hz = 0;  ///< where Im eps is at least half of its peak
};
/// Those of all terms with a complex pole.
std::vector<MediumLine> lines_of(const Medium& medium);
/// By how much trapezoidal steps of a field at `f_hz` see resonances too low: they have the
/// permittivity of tan(pi f dt)/(pi dt), about (2 pi f dt)^2/12 of f higher. Infinite from
/// 1/(2 dt) on.
double stepped_shift(double f_hz, double dt_s);

/// Throws one Error that lists all findings of severity error, of all media; returns the others.
std::vector<MediumFinding> require_sound(const std::vector<Medium>& media,
                                         const MediumCheckOptions& options = {});

}  // namespace tessera::electromagnetics
