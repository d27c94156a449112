// SPDX-License-Identifier: Apache-2.0
#include <tessera/inversion/dplus.h>

#include <iostream>

using namespace tessera::inversion;

int main() {  // a half-space of 100 ohm m, 5 % errors: some layered earth must fit it exactly
  Response r;
  for (double f : {1000.0, 100.0, 10.0, 1.0}) {
    const std::complex<double> z =
        std::sqrt(std::complex<double>(0, 2 * std::numbers::pi * f * mu0 * 100));
    r.frequency_hz.push_back(f);
    r.impedance_ohm.push_back(z);
    r.sigma_ohm.push_back(0.05 * std::abs(z));
  }
  std::cout << "apparent resistivity " << apparent_resistivity(1000, r.impedance_ohm[0])
            << " ohm m, least RMS " << dplus(r).rms << "\n";
}
