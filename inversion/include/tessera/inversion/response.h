// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/constants.h"

#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tessera::inversion {

/// One complex response of a station against frequency: impedance Z = E/H in ohm (SI), time
/// dependence exp(+i w t), so that a half-space has phase +45 degrees and Z = sqrt(i w mu0 rho).
/// `sigma_ohm` is the standard deviation of the real part and, independently, of the imaginary
/// part. As it comes out of a file a missing value or error is NaN; what is inverted has none
/// (require_valid).
struct Response {
  std::vector<double> frequency_hz;
  std::vector<std::complex<double>> impedance_ohm;
  std::vector<double> sigma_ohm;

  std::size_t size() const { return frequency_hz.size(); }
};

/// Throws tessera::Error unless the three vectors have one length > 0, all numbers are finite, the
/// frequencies positive and the sigmas positive. `who` names the caller in the message.
void require_valid(const Response& response, const char* who);

/// The data vector of all 1-D algorithms, length 2n: Re Z_0, Im Z_0, Re Z_1, ... in ohm.
std::vector<double> to_real(const std::vector<std::complex<double>>& impedance);
std::vector<std::complex<double>> to_complex(const std::vector<double>& data);
/// The matching standard deviations, length 2n.
std::vector<double> sigma_of_data(const Response& response);

/// Apparent resistivity |Z|^2 / (w mu0) in ohm m and phase in degrees.
double apparent_resistivity(double frequency_hz, std::complex<double> impedance_ohm);
double phase_degrees(std::complex<double> impedance_ohm);
/// |Z| of an apparent resistivity.
double impedance_modulus(double frequency_hz, double rho_a_ohm_m);

/// A response as it is drawn: apparent resistivity (ohm m) and phase (degrees) against period (s).
struct ModeCurve {
  std::string name;  ///< "xy", "yx", "det" ...
  std::vector<double> period;
  std::vector<double> rho_a, rho_a_error;  ///< errors may be empty; one standard deviation
  std::vector<double> phase, phase_error;
  bool inverted = true;  ///< false: shown pale, for comparison only
};
/// To first order d rho_a = 2 rho_a s/|Z|, d phase = s/|Z|; NaN where the response has one.
ModeCurve mode_curve(std::string name, const Response& response);

/// Skin depth sqrt(2 rho / (w mu0)) in m.
double skin_depth(double frequency_hz, double resistivity_ohm_m);

}  // namespace tessera::inversion
