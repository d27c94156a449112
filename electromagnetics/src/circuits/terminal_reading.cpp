// SPDX-License-Identifier: Apache-2.0
#include "circuits/edge_at.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/lumped_element.h"
#include "time_domain/row_answer.h"

#include <map>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

/// The loop of h around an edge as shares of faces: (h_d - h_d[b-1]) - (h_b - h_b[d-1]); behind a
/// magnetic mirror there is none.
std::vector<std::pair<Edge, double>> loop_around(const YeeModel& m, const Edge& e) {
  const int a = axis_of(e.component), b = (a + 1) % 3, d = (a + 2) % 3;
  std::vector<std::pair<Edge, double>> out;
  const auto add = [&](int component, int across, int back, double sign) {
    if (!m.grid.resolved(across)) return;  // both are the same
    std::array<int, 3> at{e.i, e.j, e.k};
    const auto u = static_cast<std::size_t>(across);
    const int n = m.grid.cells(across);
    at[u] -= back;
    if (m.faces[u].low == Boundary::periodic) at[u] = (at[u] + n) % n;
    if (at[u] >= 0 && at[u] < n) out.emplace_back(circuits::edge_at(3 + component, at), sign);
  };
  add(d, b, 0, 1), add(d, b, 1, -1), add(b, d, 0, -1), add(b, d, 1, 1);
  return out;
}

}  // namespace

TerminalReading terminal_reading(const YeeModel& m, const PlacedElement& element,
                                 const std::vector<double>& frequencies_hz, bool of_wire) {
  TerminalReading out;
  out.edges = element.edges;
  const double per_bracket = reference_length(m.grid) / vacuum_impedance;  // A
  const std::size_t n = element.edges.size(),
                    row_size = static_cast<std::size_t>(m.grid.cells(0)) + 1;
  std::vector<double> loops;  // [faces]
  std::map<std::array<int, 4>, std::size_t> known;
  std::vector<MaterialRow> rows;
  std::vector<double> gain;  // c dt ds / A*, A* as moment has it
  for (std::size_t k = 0; k < n; ++k) {
    const Edge& e = element.edges[k];
    for (const auto& [face, sign] : loop_around(m, e)) {
      const auto [at, fresh] =
          known.try_emplace({face.component, face.i, face.j, face.k}, loops.size());
      if (fresh) loops.push_back(0), out.edges.push_back(face);
      loops[at->second] += element.share[k] * per_bracket * sign;
    }
    MaterialRow row{std::vector<double>(row_size, 1.0), std::vector<double>(row_size, 0.0), {}, {}};
    if (m.material) m.material(e.component, e.j, e.k, row);
    rows.push_back(std::move(row));
    const int axis = axis_of(e.component), at[3] = {e.i, e.j, e.k};
    gain.push_back(speed_of_light * m.dt_s * m.grid.length(axis, at[axis]) *
                   m.open.length_fraction(e) / (-element.moment[k] * per_bracket));
  }
  for (const double f : frequencies_hz) {
    const double x = std::numbers::pi * f * m.dt_s;
    const std::complex<double> z = std::polar(1.0, 2 * x),
                               y = admittance(element.circuit, stepped_frequency(f, m.dt_s));
    std::vector<std::complex<double>> voltage(out.edges.size()), current(out.edges.size());
    for (std::size_t k = 0; k < n; ++k) {
      voltage[k] = element.voltage[k] * std::cos(x);
      if (of_wire) continue;
      // What flows in the edge less what the element carries of it: together Y V.
      current[k] = element.share[k] * per_bracket * row_answer(rows[k], element.edges[k].i, z) /
                       (std::polar(1.0, x) * gain[k]) -
                   y * voltage[k];
    }
    for (std::size_t k = 0; k < loops.size(); ++k) current[n + k] = -loops[k];
    out.voltage.push_back(std::move(voltage)), out.current.push_back(std::move(current));
  }
  return out;
}

}  // namespace tessera::electromagnetics
