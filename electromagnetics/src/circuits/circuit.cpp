// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit_medium.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/lumped_element.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {

namespace circuits {
namespace {

void need_positive(const std::optional<double>& value, const char* name, const char* unit) {
  if (value && !(*value > 0 && std::isfinite(*value)))
    throw Error(fmt::format("[place] expected a positive {}, got {} {}", name, *value, unit));
}

/// With `scale` Y / s of a series circuit that has L or C.
std::vector<PoleResidue> series_poles(const Circuit& c, double scale) {
  constexpr double turn = 2 * std::numbers::pi;
  const double r = c.resistance_ohm.value_or(0);
  if (!c.inductance_h) return debye(1 / (turn * r * *c.capacitance_f), scale * *c.capacitance_f);
  const double l = *c.inductance_h;
  if (!c.capacitance_f) return drude(std::sqrt(scale / l) / turn, r / (turn * l));
  return lorentz(1 / (turn * std::sqrt(l * *c.capacitance_f)), r / (turn * l),
                 scale * *c.capacitance_f);
}

}  // namespace

void check(const Circuit& c) {
  need_positive(c.resistance_ohm, "resistance", "ohm");
  need_positive(c.inductance_h, "inductance", "H");
  need_positive(c.capacitance_f, "capacitance", "F");
  if (!c.resistance_ohm && !c.inductance_h && !c.capacitance_f)
    throw Error("[place] a lumped element has a resistance, an inductance or a capacitance");
}

Medium medium_of(const Circuit& c, double length_over_section) {
  const double scale = length_over_section / vacuum_permittivity;
  Medium m;
  m.name = "lumped element", m.eps = {};
  const auto conduct = [&] { m.sigma.fill(length_over_section / *c.resistance_ohm); };
  const auto store = [&] { m.eps.fill(scale * *c.capacitance_f); };
  const bool r = c.resistance_ohm.has_value(), l = c.inductance_h.has_value(),
             has_c = c.capacitance_f.has_value();
  if (c.parallel || int{r} + int{l} + int{has_c} == 1) {
    if (r) conduct();
    if (has_c) store();
    if (l) m.poles = {{.a = 0.0, .c = 0.0, .second = scale / *c.inductance_h}};
    return m;
  }
  m.poles = series_poles(c, scale);
  return zero_poles_as_conductivity(m);
}

}  // namespace circuits

std::complex<double> admittance(const Circuit& c, std::complex<double> s) {
  std::complex<double> y = 0, z = 0;
  const auto add = [&](std::complex<double> impedance) { y += 1.0 / impedance, z += impedance; };
  if (c.resistance_ohm) add(*c.resistance_ohm);
  if (c.inductance_h) add(s * *c.inductance_h);
  if (c.capacitance_f) add(1.0 / (s * *c.capacitance_f));
  return c.parallel ? y : 1.0 / z;
}

std::complex<double> source_admittance(const Circuit& c, std::complex<double> s) {
  if (!c.resistance_ohm) return 0;
  return c.parallel ? 1 / *c.resistance_ohm : admittance(c, s);
}

std::complex<double> stepped_frequency(double f_hz, double dt_s) {
  return {0, 2 / dt_s * std::tan(std::numbers::pi * f_hz * dt_s)};
}

Circuit exact_at(Circuit c, double f_hz, double dt_s) {
  const double x = std::numbers::pi * f_hz * dt_s, by = x > 0 ? x / std::tan(x) : 1;
  if (c.inductance_h) *c.inductance_h *= by;
  if (c.capacitance_f) *c.capacitance_f *= by;
  return c;
}

TerminalValues terminal_values(const PlacedElement& e, std::complex<double> voltage,
                               std::complex<double> source, double f_hz, double dt_s) {
  const std::complex<double> s = stepped_frequency(f_hz, dt_s),
                             v = voltage * std::cos(std::numbers::pi * f_hz * dt_s);
  return {v, source_admittance(e.circuit, s) * source - admittance(e.circuit, s) * v};
}

}  // namespace tessera::electromagnetics
