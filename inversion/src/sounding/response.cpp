// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/response.h"

#include "tessera/autodiff/error.h"

#include <cmath>
#include <string>
#include <utility>

namespace tessera::inversion {

void require_valid(const Response& response, const char* who) {
  const std::size_t n = response.frequency_hz.size();
  const std::string where = std::string("[") + who + "] ";
  if (n == 0) throw Error(where + "the response has no frequency");
  if (response.impedance_ohm.size() != n || response.sigma_ohm.size() != n)
    throw Error(where + "frequencies, impedances and sigmas differ in number: " +
                std::to_string(n) + ", " + std::to_string(response.impedance_ohm.size()) + ", " +
                std::to_string(response.sigma_ohm.size()));
  for (std::size_t i = 0; i < n; ++i) {
    const double f = response.frequency_hz[i];
    const double s = response.sigma_ohm[i];
    const auto z = response.impedance_ohm[i];
    if (!(f > 0) || !std::isfinite(f) || !(s > 0) || !std::isfinite(s) ||
        !std::isfinite(z.real()) || !std::isfinite(z.imag()))
      throw Error(where + "datum " + std::to_string(i) +
                  " needs a finite impedance and a positive finite frequency and sigma");
  }
}

std::vector<double> to_real(const std::vector<std::complex<double>>& impedance) {
  std::vector<double> data;
  data.reserve(2 * impedance.size());
  for (const auto& z : impedance) {
    data.push_back(z.real());
    data.push_back(z.imag());
  }
  return data;
}

std::vector<std::complex<double>> to_complex(const std::vector<double>& data) {
  std::vector<std::complex<double>> impedance(data.size() / 2);
  for (std::size_t i = 0; i < impedance.size(); ++i) impedance[i] = {data[2 * i], data[2 * i + 1]};
  return impedance;
}

std::vector<double> sigma_of_data(const Response& response) {
  std::vector<double> sigma;
  sigma.reserve(2 * response.size());
  for (double s : response.sigma_ohm) sigma.insert(sigma.end(), {s, s});
  return sigma;
}

double apparent_resistivity(double frequency_hz, std::complex<double> impedance_ohm) {
  return std::norm(impedance_ohm) / (2 * std::numbers::pi * frequency_hz * mu0);
}

double phase_degrees(std::complex<double> impedance_ohm) {
  return std::arg(impedance_ohm) * (180.0 / std::numbers::pi);
}

double impedance_modulus(double frequency_hz, double rho_a_ohm_m) {
  return std::sqrt(2 * std::numbers::pi * frequency_hz * mu0 * rho_a_ohm_m);
}

ModeCurve mode_curve(std::string name, const Response& r) {
  ModeCurve out{.name = std::move(name)};
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double size = std::abs(r.impedance_ohm[i]), relative = r.sigma_ohm[i] / size;
    const double rho = apparent_resistivity(r.frequency_hz[i], r.impedance_ohm[i]);
    out.period.push_back(1 / r.frequency_hz[i]);
    out.rho_a.push_back(rho);
    out.rho_a_error.push_back(2 * rho * relative);
    out.phase.push_back(phase_degrees(r.impedance_ohm[i]));
    out.phase_error.push_back(relative * 180 / std::numbers::pi);
  }
  return out;
}

double skin_depth(double frequency_hz, double resistivity_ohm_m) {
  return std::sqrt(resistivity_ohm_m / (std::numbers::pi * frequency_hz * mu0));
}

}  // namespace tessera::inversion
