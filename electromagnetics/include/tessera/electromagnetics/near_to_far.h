// SPDX-License-Identifier: Apache-2.0
//
// Fields outside of a surface from the tangential fields on it (surface equivalence: C. A. Balanis,
// Antenna Theory, ch. 12; A. Taflove & S. C. Hagness, Computational Electrodynamics, ch. 8). Time
// dependence e^{+i w t}, outgoing waves e^{-i k r}, J = n x H, M = -n x E with n outward; outside
// of a closed surface the currents radiate the field of the sources within, and inside of it, or
// with the sources outside, none. An open patch leaves out the rest of its surface: an
// approximation.
//
//   N = integral J e^{i k r^.r'} dS',  L = integral M e^{i k r^.r'} dS'
//   three dimensions:  E -> (e^{-ikr} / r)      F,   F = (i k / 4 pi)      [r^ x L - eta N]
//   two dimensions:    E -> (e^{-ikr} / sqrt r) F,   F = sqrt(i k / 8 pi)  [r^ x L - eta N]
//
// of which the transverse part counts, in V and in V / sqrt m.
//
// r is counted from the origin. In two dimensions everything is independent of z, patches have one
// z of weight 1, and theta = pi/2: E_z = -F_theta (polarisation Ez) and H_z = F_phi / eta
// (polarisation Hz).
//
// On a rectangle the exponential is a product of one in lo and one in hi, so that a far field costs
// n_hi n_lo n_directions multiplications in matrix products with (n_lo + n_hi) n_directions
// constants, blocks of directions after each other. All results are linear tensor expressions of
// the fields and differentiate at about that cost.
#pragma once
#include "tessera/electromagnetics/exterior.h"
#include "tessera/electromagnetics/surface.h"

#include <span>

namespace tessera::electromagnetics {

/// Spherical angles in rad: theta from +z, phi from +x towards +y.
struct Direction {
  double theta = 0, phi = 0;
};
/// All pairs, phi fastest.
std::vector<Direction> directions(std::span<const double> theta, std::span<const double> phi);
/// theta = pi/2: the directions of two dimensions.
std::vector<Direction> directions(std::span<const double> phi);

/// F(direction), complex [frequency, direction, 2]: F_theta, F_phi.
Tensor far_field(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields,
                 std::span<const double> frequencies_hz, std::span<const Direction> directions,
                 const Exterior& exterior = {});

/// One tangential component on a patch: 0 ... 3, E_lo, E_hi, H_lo, H_hi; complex [frequency, n_hi,
/// n_lo]. Its current flows, by these shares, beside the patch: so far along the axis of the
/// normal.
struct PatchComponent {
  struct Place {
    double offset = 0, share = 1;
  };
  Patch at;
  int component = 0;
  Tensor values;
  std::vector<Place> places{{}};
};
/// The same of components each at its own place, in one exterior or one for each frequency. In a
/// grid (Exterior::cell_m) of even cells these are the waves of the scheme (monitors.h,
/// SampledCurrents): a direction is that of K = 2/h sin(k h/2), and the integral of |F|^2/(2 eta)
/// over all is the power by the scheme.
Tensor far_field(const std::vector<PatchComponent>& components,
                 std::span<const double> frequencies_hz, std::span<const Direction> directions,
                 std::span<const Exterior> exteriors);

/// |F|^2 / (2 eta), real [frequency, direction]: W/sr, in two dimensions W/(rad m).
Tensor radiation_intensity(const Tensor& far_field, const Exterior& exterior = {});
/// Intensity over its mean: 4 pi U / P, in two dimensions 2 pi U / P; `power` real [frequency], as
/// from `flux`.
Tensor directivity(const Tensor& far_field, const Tensor& power, const Exterior& exterior = {});
/// The same in a medium that differs from frequency to frequency: one exterior for all of them, or
/// one for each (exteriors() of exterior.h), alike but for eps.
Tensor far_field(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields,
                 std::span<const double> frequencies_hz, std::span<const Direction> directions,
                 std::span<const Exterior> exteriors);
Tensor radiation_intensity(const Tensor& far_field, std::span<const Exterior> exteriors);
Tensor directivity(const Tensor& far_field, const Tensor& power,
                   std::span<const Exterior> exteriors);
/// Scattering cross-section 4 pi |F|^2 / |E_inc|^2 in m^2, in two dimensions the width 2 pi |F|^2 /
/// |E_inc|^2 in m, of the scattered far field: real [frequency, direction]. `incident` is the
/// spectrum of the incident plane wave's E, complex [frequency]. Monostatic: the direction that the
/// wave comes from.
Tensor scattering_cross_section(const Tensor& far_field, const Tensor& incident,
                                const Exterior& exterior = {});

/// Over all directions, from the scattered `power` through a surface around the body: power over
/// |E_inc|^2/(2 eta), real [frequency].
Tensor total_cross_section(const Tensor& power, const Tensor& incident,
                           const Exterior& exterior = {});

/// Fields at points, complex [frequency, point, 3] each.
struct PointFields {
  Tensor e, h;
  TESSERA_TREE(e, h)
};
/// Fields at any distance outside of the surface, by the full Green's function g = e^{-ikR}/(4 pi
/// R), in two dimensions H0^(2)(k R)/(4 i):
///   E = -i w mu (1 + grad div / k^2) integral g J dS' - curl integral g M dS',
///   H = -i w eps (1 + grad div / k^2) integral g M dS' + curl integral g J dS'.
/// Costs n_points n_hi n_lo evaluations of g for every frequency, forward and for a derivative;
/// memory is bounded. Points nearer to the surface than its spacing are wrong, on its points they
/// throw.
PointFields near_field(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields,
                       std::span<const double> frequencies_hz,
                       std::span<const std::array<double, 3>> points,
                       const Exterior& exterior = {});

}  // namespace tessera::electromagnetics
