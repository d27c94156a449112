// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/constants.h"

#include <complex>
#include <cstddef>
#include <vector>

namespace tessera::inversion {

/// One scalar response of a sounding over a layered earth: impedance Z = Ex/Hy in ohm (SI), time
/// dependence exp(+i w t), so that a half-space has phase +45 degrees and Z = sqrt(i w mu0 rho).
/// `sigma_ohm` is the standard deviation of the real part and, independently, of the imaginary
/// part.
struct Response1d {
  std::vector<double> frequency_hz;
  std::vector<std::complex<double>> impedance_ohm;
  std::vector<double> sigma_ohm;

  std::size_t size() const { return frequency_hz.size(); }
};

/// Throws tessera::Error unless the three vectors have one length > 0, all numbers are finite, the
/// frequencies positive and the sigmas positive. `who` names the caller in the message.
void require_valid(const Response1d& response, const char* who);

/// The data vector of all 1-D algorithms, length 2n: Re Z_0, Im Z_0, Re Z_1, ... in ohm.
std::vector<double> to_real(const std::vector<std::complex<double>>& impedance);
std::vector<std::complex<double>> to_complex(const std::vector<double>& data);
/// The matching standard deviations, length 2n.
std::vector<double> sigma_of_data(const Response1d& response);

/// Apparent resistivity |Z|^2 / (w mu0) in ohm m and phase in degrees.
double apparent_resistivity(double frequency_hz, std::complex<double> impedance_ohm);
double phase_degrees(std::complex<double> impedance_ohm);

/// Skin depth sqrt(2 rho / (w mu0)) in m.
double skin_depth(double frequency_hz, double resistivity_ohm_m);

}  // namespace tessera::inversion
