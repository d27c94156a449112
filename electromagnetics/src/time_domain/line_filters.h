// SPDX-License-Identifier: Apache-2.0
//
// A plane wave of the grid on a line along its direction: filters that make each component from the
// waveform's samples.
#pragma once
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/waveform.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// out[n] = sum_j taps[j] w[n - lead - j]
struct Filter {
  std::int64_t lead = 0;
  std::vector<double> taps;
};

/// The wave that travels along u (plane_wave.h).
struct GridWave {
  Point cell;  ///< lengths of the cells; counts only along axes with u_d != 0
  double dt;
  Point u, p;  ///< direction and polarization, unit vectors at right angles
  double eps, mu;

  /// F(k) = sum (2/D_d sin(k u_d D_d/2))^2 rises up to here.
  double largest_wavenumber() const;
  /// w dt of that wave: the highest that travels; the Nyquist frequency pi where time is the
  /// coarser grid.
  double largest_angle() const;
  double wavenumber(double angle, double guess) const;
  /// E (0-2) and Z0 H (3-5) for |E| = 1.
  std::array<double, 6> components(double angle, double k) const;
};

/// Frequencies, as angles w dt, up to `pass` pass unchanged; from `stop` on nothing does (-200 dB).
struct Band {
  double pass, stop;
};
/// The band that the waveform needs. Throws Error where its spectrum goes beyond half of what the
/// grid carries.
Band band_of(const GridWave& wave, const Waveform& waveform);

/// Filters of one component at the distances d: E at times n dt, H at (n + 1/2) dt. Empty where the
/// component is zero at all frequencies.
std::vector<Filter> line_filters(const GridWave& wave, const Band& band, int component,
                                 const std::vector<double>& distances);

/// A wave straight along an axis whose cells are uneven: nodes x_0, x_1, .. in the direction of
/// travel, middles between them. With f at nodes, g at middles (E along p, and H across, both over
/// their amplitudes in even cells),
///   (f_{i+1} - f_i)/(x_{i+1} - x_i) = -i K g_i,   (g_i - g_{i-1})/D*_i = -i K f_i,
///   K = sqrt(eps mu) (2/(c dt)) sin(w dt/2),
/// that is the scheme itself. Behind the last node goes on a single wave, and what comes in at the
/// corner has the phase 0 and the amplitude 1, beside what the unevenness reflects.
struct UnevenLine {
  std::vector<double> lengths;  ///< [n] of the cells between n + 1 nodes
  std::size_t corner = 0;       ///< the node where the wave comes in
};
/// Filters of E at the nodes [n + 1], or of H at the middles [n]. `wave.cell` is the longest cell
/// along the axis.
std::vector<Filter> uneven_filters(const GridWave& wave, const Band& band, int component,
                                   const UnevenLine& line);

}  // namespace tessera::electromagnetics::time_domain
