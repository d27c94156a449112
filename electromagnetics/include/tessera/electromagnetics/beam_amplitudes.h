// SPDX-License-Identifier: Apache-2.0
//
// How much of a Gaussian beam, such as a single-mode fibre's, is in fields on a plane. With e, h
// the beam of 1 W (in two dimensions 1 W/m) through the whole plane and n along it,
//
//   a   = 1/4 integral (E x h* + e* x H) . n dS    along the beam's direction
//   a_b = 1/4 integral (E x h  - e  x H) . n dS    back along its path: of e*, -h*
//
// so that |a|^2 is the power that a fibre takes which ends there and has this beam for its mode;
// the phase is that of E in the focus.
#pragma once
#include "tessera/electromagnetics/gaussian_beam.h"
#include "tessera/electromagnetics/surface.h"

#include <span>

namespace tessera::electromagnetics {

/// Complex [2, frequency], along the direction first; sqrt(W) of phasors, sqrt(W) s of transforms
/// of pulses, e^{+i w t}. `eps`: relative, one for all frequencies or one for each. Linear in the
/// fields, and differentiates with respect to them. Throws Error for a beam that runs along the
/// plane.
Tensor beam_amplitudes(const Patch& patch, const SurfaceFields& fields, const GaussianBeam& beam,
                       std::span<const double> frequencies_hz, std::span<const double> eps,
                       double mu = 1);

}  // namespace tessera::electromagnetics
