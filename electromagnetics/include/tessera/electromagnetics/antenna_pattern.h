// SPDX-License-Identifier: Apache-2.0
//
// What engineers ask of an antenna's far field F (near_to_far.h): polarization, and its main beam.
// Terms are those of IEEE Std 145-2013. e^{+i w t}: a wave turns right-handed, seen along the way
// it goes, if F_phi = -i F_theta.
#pragma once
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/near_to_far.h"

#include <complex>
#include <functional>
#include <vector>

namespace tessera::electromagnetics {

/// The two complex amplitudes of a direction.
struct FarVector {
  std::complex<double> theta, phi;
};

/// Of the ellipse that the field runs through: major over minor axis, at least 1, infinite where it
/// is linear; negative where it turns left-handed.
double axial_ratio(const FarVector& f);
/// The angle of its major axis from theta^ towards phi^, -pi/2 to pi/2.
double tilt(const FarVector& f);

/// Right- and left-handed parts; |right|^2 + |left|^2 = |F|^2.
struct CircularParts {
  std::complex<double> right, left;
};
CircularParts circular_parts(const FarVector& f);

/// Co- and cross-polar parts of Ludwig's third definition (A. C. Ludwig, IEEE Trans. Antennas
/// Propag. 21 (1973) 116), for an antenna that looks along +z with E at the angle `reference` from
/// x:
///   co    = F_theta cos(phi - reference) - F_phi sin(phi - reference),
///   cross = F_theta sin(phi - reference) + F_phi cos(phi - reference).
struct LinearParts {
  std::complex<double> co, cross;
};
LinearParts ludwig3(const FarVector& f, double phi, double reference);

/// Far fields of one frequency in any directions.
using FarFieldAt = std::function<std::vector<FarVector>(const std::vector<Direction>&)>;

/// The beam about the direction of the largest |F|^2. Widths are between the directions on its two
/// sides where |F|^2 has first fallen to a half, in the plane of the major axis of E there and in
/// that across it; 2 pi where it never falls so far. All angles in rad.
struct MainBeam {
  Direction at;
  double intensity = 0;  ///< |F|^2 there
  double e_plane_width = 0, h_plane_width = 0;
  /// |F|^2 over that in the opposite direction.
  double front_to_back = 0;
  /// The largest |F|^2 of the two planes beyond the first minimum on either side of the beam, over
  /// that of the beam: 0 where there is no minimum.
  double side_lobe = 0;
  double axial_ratio = 1;
};
/// Looks in steps of `step`, which is finer than any lobe (for an antenna that fits in a sphere of
/// radius a: below 1/(k a)), then closer. Three dimensions. Throws Error for a step that is not
/// between 0 and pi/4, and for a field without a finite direction.
MainBeam main_beam(const FarFieldAt& far, double step = 0.05);
/// Such a step, 0.7/(k a) and at most 0.1, for what radiates within a box and its images: lobes go
/// by their size a about their middle, wherever that is.
double beam_step(const Bounds& box, const Exterior& around, double frequency_hz);

}  // namespace tessera::electromagnetics
