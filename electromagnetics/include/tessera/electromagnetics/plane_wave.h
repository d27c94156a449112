// SPDX-License-Identifier: Apache-2.0
//
// Plane waves in a box: inside of it the fields are total, outside they are scattered (A. Taflove &
// S. C. Hagness, Computational Electrodynamics, ch. 5). Edges E in the closed box and H in it are
// total; where a difference reaches across the box's surface, what the incident wave has on the far
// side is added (seen from inside) or taken away (from outside).
//
// The incident wave is one of the grid, not of free space, or it would leak out of the box: at each
// frequency
//
//   sum_d K_d^2 = eps mu Omega^2 / c^2,   k = k(w) u,
//   K_d = (2/D_d) sin(k_d D_d/2),   Omega = (2/dt) sin(w dt/2),
//   E along p - K (K.p)/K^2, of length A w(t),   H = K x E / (mu0 mu Omega)
//
// with u the direction, p the polarization and D the cells (the dispersion relation of the scheme;
// the frequency-domain view of T. Tan, M. Potter, IEEE Antennas Wirel. Propag. Lett. 9 (2010)
// 1087-1090, for any angle). Each component on a line along u, four points to a cell, is the
// waveform through a filter of that frequency response, about a hundred steps long; between its
// points a polynomial through six of them is taken. Along an axis with uneven cells the wave is
// that of the uneven line (line_filters.h), reflections by its unevenness included: it runs along
// that axis.
#pragma once
#include "tessera/electromagnetics/near_to_far.h"
#include "tessera/electromagnetics/time_domain.h"

namespace tessera::electromagnetics {

struct PlaneWave {
  Point direction{0, 0, 1};     ///< in which the wave travels, of any length
  Point polarization{1, 0, 0};  ///< of E; its part across the direction counts, of any length
  /// V/m: at the corner of the box that the wave meets first, |E| = amplitude * w(t).
  double amplitude = 1;
  Waveform waveform;       ///< taken as zero before t = 0
  Point low{}, high{};     ///< the box, moved to the nearest lines of the grid
  double eps = 1, mu = 1;  ///< relative, of the medium through which the box's surface runs
};

/// (sin theta cos phi, sin theta sin phi, cos theta); theta = pi/2 - 1e-17 and the like give exact
/// zeros.
Point unit_vector(const Direction& direction);

/// The corner of the box, on lines of the grid, that the wave meets first; along an axis that the
/// box fills, its middle.
Point first_corner(const YeeGrid& grid, const std::array<Faces, 3>& faces, const PlaneWave& wave);

/// k(w) in rad/m along the unit vector u, by the relation above; NaN where the grid carries no such
/// wave.
double grid_wavenumber(const Point& cell, double dt_s, const Point& u, double eps_mu,
                       double frequency_hz);

/// What the wave brings to an area across its way by the scheme, over |E|^2/(2 eta) where it meets
/// the box: flows are products E_u H_v of neighbours (sampled_flux), which through a plane across
/// axis d have cos(k_d D_d/2), so that it is the length of K_d cos(k_d D_d/2) / |K|. NaN where the
/// grid carries no such wave.
double incident_flow(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s,
                     const PlaneWave& wave, double frequency_hz);

/// The currents of the box's surface. The box may fill an axis that is not resolved, periodic, or
/// ends in mirrors (pec: with E along it, pmc: with H along it), with one mirror also half of it;
/// the wave must then run across that axis. Other sides of the box lie one cell or more inside the
/// domain, and outside of the absorbing layers. Throws Error for what cannot be: a direction along
/// an axis that the box fills, E across the mirror that it has to lie along, uneven cells (from one
/// before the box to one behind it) on an axis that the wave runs at an angle to, a waveform with
/// more than 1e-3 of its spectrum above half of the highest frequency that travels along u on this
/// grid.
///
/// Linear in the amplitude. A step costs about 100 multiplications for each point of the line and 6
/// for each edge of the surface; 56 bytes of memory for each of these.
Injection plane_wave(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s,
                     const PlaneWave& wave);

}  // namespace tessera::electromagnetics
