// SPDX-License-Identifier: Apache-2.0
//
// A line between plates that ends in a circuit, and the reflection that it has on the grid.
#pragma once
#include "guides.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/lumped_element.h"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace tessera::electromagnetics::ended_lines {

/// Plates along x: a wave between them, and an element at the last line, on a magnetic wall.
struct Line {
  YeeGrid grid;
  std::array<Faces, 3> faces{Faces{Boundary::pml, Boundary::pmc}, guides::period, guides::period};
  double dt_s = 0;
  Dtype dtype = Dtype::f64;
  int end() const { return grid.cells(0); }
  double at(int line) const { return grid.lines[0][static_cast<std::size_t>(line)]; }
  YeeModel model() const {
    YeeModel m{.grid = grid, .faces = faces, .pml = {}, .dt_s = dt_s, .dtype = dtype};
    if (!grid.resolved(1)) m.active = {false, true, true, false, true, true};
    return m;
  }
  /// A sheet of current that gives a pulse of waves both ways.
  Injection pulse(int line, double f) const {
    Point low{at(line), 0, 0}, high{at(line), grid.lines[1].back(), grid.lines[2].back()};
    return current_source(grid, faces, dt_s, Ez, low, high, 1, gaussian_pulse(f, f));
  }
};

inline Line line_of(int cells, double cell) {
  return {.grid = {.lines = {guides::even(cells, cell), {0, 1e-3}, {0, 1e-3}}},
          .dt_s = 0.99 * cell / speed_of_light};
}

/// One per square at the end.
inline LumpedElement sheet_at_end(const Line& l, const Circuit& circuit) {
  return {circuit, 2, {l.at(l.end()), 0, 0}, {l.at(l.end()), 0, 0}};
}

/// Wavenumber of the line's own waves.
inline double wavenumber(double f, double cell, double dt) {
  return 2 / cell * std::asin(cell / (speed_of_light * dt) * std::sin(std::numbers::pi * f * dt));
}

/// Of the admittance y (1/ohm) beyond the last half cell of the line, both as the step has them.
inline std::complex<double> stepped_reflection(std::complex<double> y, double f, double cell,
                                               double dt) {
  // eps (d/2) D e = h - y A e, mu D h = (e[-1] - e) / d, with D, A of a step.
  using C = std::complex<double>;
  const C step{0, 2 / dt * std::sin(std::numbers::pi * f * dt)};
  const double mean = std::cos(std::numbers::pi * f * dt), k = wavenumber(f, cell, dt);
  const C z = 1.0 / (vacuum_permeability * step * cell),
          own = vacuum_permittivity * cell / 2 * step + y * mean;
  const C on = z * (std::polar(1.0, k * cell) - 1.0), back = z * (std::polar(1.0, -k * cell) - 1.0);
  return (on - own) / (own - back);
}

inline const double f0 = 1e9, w0 = 2 * std::numbers::pi * f0, eta = vacuum_impedance;

/// Of impedances about that of the line at f0.
inline std::vector<std::pair<std::string, Circuit>> circuits() {
  const double l = eta / w0, c = 1 / (eta * w0);
  return {{"R", {.resistance_ohm = eta}},
          {"small R", {.resistance_ohm = eta / 50}},
          {"large R", {.resistance_ohm = 50 * eta}},
          {"L", {.inductance_h = l}},
          {"C", {.capacitance_f = c}},
          {"series R L", {.resistance_ohm = eta / 2, .inductance_h = l}},
          {"series R C", {.resistance_ohm = eta / 3, .capacitance_f = c}},
          {"series L C", {.inductance_h = 2 * l, .capacitance_f = c / 1.5}},
          {"series R L C", {.resistance_ohm = eta / 2, .inductance_h = 2 * l, .capacitance_f = c}},
          {"damped", {.resistance_ohm = 5 * eta, .inductance_h = l, .capacitance_f = 2 * c}},
          {"critical", {.resistance_ohm = 2 * eta, .inductance_h = l, .capacitance_f = c}},
          {"parallel R L", {.resistance_ohm = eta, .inductance_h = l, .parallel = true}},
          {"parallel R C", {.resistance_ohm = eta, .capacitance_f = c, .parallel = true}},
          {"parallel L C", {.inductance_h = l, .capacitance_f = c / 2, .parallel = true}},
          {"parallel R L C",
           {.resistance_ohm = 2 * eta, .inductance_h = l, .capacitance_f = c, .parallel = true}}};
}

}  // namespace tessera::electromagnetics::ended_lines
