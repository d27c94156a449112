// SPDX-License-Identifier: Apache-2.0
//
// Good conductors by the impedance of their surface.
//
// In a conductor fields fall within the skin depth, far below a cell. What is outside sees
//
//   E_t = Z (n x H),   Z(s) = sqrt(s mu / sigma),   s = i w
//
// on its surface (M. A. Leontovich's condition). In time this is a half derivative. A sum of R
// parallel to L, all positive, does as well in a band:
//
//   Z(s) = R + s L + sum over k of R_k s/(s + a_k),                R, L, R_k >= 0,
//
// by sqrt(s) = (1/pi) integral of s/(s + x) dx/sqrt(x) over x > 0, whose weights are positive: a_k
// evenly spaced in log x, and the rest fitted by least squares over the band, none negative. Each
// term has a positive real part, so the surface only absorbs, whatever the time step (J. G. Maloney
// and G. S. Smith, IEEE Trans. Antennas Propag. 40 (1992) 38; K. S. Oh and J. E. Schutt-Aine, IEEE
// Trans. Antennas Propag. 43 (1995) 660).
//
// In the loop of a face which metal bounds over the length l_w Faraday's law has Z on that length,
//
//   mu A dH/dt = - sum of E l over the open edges - l_w Z H,
//
// with H that of the face: on the surface its normal derivative is zero. So the face has the
// magnetic susceptibility l_w Z / (A mu0 s) on top of its medium, a medium of poles again. A is the
// area that the time step takes, enlarged or not. Of a face that metal cuts, l_w is the chord that
// closes its open edges, or, as far as the open area says that the wall turns within the face, the
// sides of that corner; of a whole face the length of its closed edges. Where the face's normal
// does not lie in the surface, H there is that of the face over the part u of the normal which
// does, so that l_w/u stands for l_w.
#pragma once
#include "tessera/electromagnetics/added_media.h"
#include "tessera/electromagnetics/scene.h"

#include <array>
#include <complex>
#include <optional>
#include <vector>

namespace tessera::electromagnetics {

struct SurfaceImpedance {
  struct Branch {
    double rate = 0;            ///< a_k, rad/s
    double resistance_ohm = 0;  ///< R_k
  };
  double resistance_ohm = 0, inductance_h = 0;
  std::vector<Branch> branches;
  double error = 0;  ///< largest in the band, of |Z|
};
std::complex<double> impedance(const SurfaceImpedance& z, std::complex<double> s);

/// sqrt(i w mu0 mu / sigma), sigma in S/m, mu relative.
std::complex<double> conductor_impedance(double sigma, double mu, double f_hz);

/// 1 + 2/pi atan(1.4 (roughness/skin depth)^2), by which a surface of that root mean square
/// roughness loses more than a smooth one (E. Hammerstad and O. Jensen, IEEE MTT-S 1980, 407).
double roughness_factor(double sigma, double mu, double roughness_m, double f_hz);

/// The fewest branches that meet it from f_min to f_max within `tolerance` of |Z|. Of a rough
/// surface the real part is greater by roughness_factor, the imaginary part what causality makes of
/// that. Throws Error where sigma, mu or the band is not positive, or the roughness negative.
SurfaceImpedance fit_surface_impedance(double sigma, double mu, double f_min_hz, double f_max_hz,
                                       double tolerance = 1e-3, double roughness_m = 0);

/// The conductors of a model: those of bodies by their media's numbers, those of outer faces that
/// are perfect conductors by axis and side. Those that are not there are perfect.
struct LossyConductors {
  std::vector<std::optional<SurfaceImpedance>> media;
  std::array<std::array<std::optional<SurfaceImpedance>, 2>, 3> walls;
};
/// What they add to the faces of a model made of this scene and media.
AddedMedia surface_losses(const YeeModel& model, const Scene& scene,
                          const std::vector<Medium>& media, const LossyConductors& conductors);

}  // namespace tessera::electromagnetics
