// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/sounding.h"

#include <optional>
#include <span>
#include <vector>

namespace tessera::inversion {

/// The phase tensor Phi = X^-1 Y of Z = X + iY and its invariants (Caldwell, Bibby and Brown 2004,
/// Geophys. J. Int. 158, 457-469). It is free of galvanic distortion. Angles in degrees; errors are
/// standard deviations to first order, the parts of the elements taken as independent, NaN where an
/// error is missing. All is NaN where an element is missing or X is singular.
struct PhaseTensor {
  Tensor2<double> phi;  ///< in the axes of the sounding
  Tensor2<double> phi_error{};
  double phi_max = 0,
         phi_min = 0;    ///< tangents of the principal phases; phi_min < 0 if det Phi < 0
  double alpha_deg = 0;  ///< 1/2 atan2(xy + yx, xx - yy)
  double skew_deg = 0,
         skew_error_deg = 0;  ///< beta = 1/2 atan2(xy - yx, xx + yy); 0 over a 1-D or 2-D earth
  double strike_deg = 0,
         strike_error_deg = 0;  ///< azimuth of the major axis, alpha - beta from north, in [0, 180)
  double ellipticity = 0, ellipticity_error = 0;  ///< (max - min) / (max + min); 0 over a 1-D earth
};

/// One per frequency; empty if the sounding has no impedance.
std::vector<PhaseTensor> phase_tensors(const Sounding& s);

/// The phase tensors of one sounding against period (s), as they are drawn and kept: principal
/// values, azimuth of the greater axis and skew in degrees. Periods without one are left out.
struct PhaseTensorCurve {
  std::vector<double> period, phi_max, phi_min, azimuth, skew;
};
PhaseTensorCurve phase_tensor_curve(const Sounding& s);

/// Geoelectric strike over a range of periods: the direction that phase-tensor axes share. The axis
/// along strike and the one across it cannot be told apart from the impedance, hence `strike_deg`
/// or `strike_deg + 90`.
struct StrikeEstimate {
  double strike_deg = 0;     ///< from north, in [0, 90)
  double concentration = 0;  ///< 1: all periods agree; 0: no common direction
  double median_skew_deg =
      0;              ///< of the absolute values; above about 3 degrees the earth is not 2-D
  std::size_t n = 0;  ///< phase tensors used
};

/// strike = 1/4 arg sum w exp(4 i strike_k) over all soundings and all periods in [shortest_s,
/// longest_s], weighted by the ellipticity; a tensor of less than 1e-3 of it has no direction and
/// is left out. Nothing if no other phase tensor lies in the range.
std::optional<StrikeEstimate> estimate_strike(std::span<const Sounding> soundings,
                                              double shortest_s = 0, double longest_s = 1e300);
std::optional<StrikeEstimate> estimate_strike(std::span<const PhaseTensorCurve> curves,
                                              double shortest_s = 0, double longest_s = 1e300);

}  // namespace tessera::inversion
