// SPDX-License-Identifier: Apache-2.0
//
// What a component of E sees where media with poles or conductivity meet, at every frequency.
//
// In a box cut by faces, of which the component has the share a = mean of n_axis^2, the diagonal of
// Kottke's inverse tensor (averaging.h) is
//     1/eps(s) = a sum over media of w/eps_m(s) + (1 - a) / sum of w eps_m(s),
// with w the shares of the volume and s = i times the angular frequency. This is again a medium of
// poles. The inverse of a rational function f(s) = f0 + sum c/(s - p) is one,
//     1/f = 1/f0 + sum over its zeros z of [1/f'(z)]/(s - z),
// and the zeros are the eigenvalues of the matrix P - b c^T/f0 of the system with poles P that f is
// the response of. It is done for each eps_m, for their mean, and for 1/eps. A Drude metal gets the
// surface resonance it has: a film across E has one at fp sqrt(w) of the metal. If all media are
// passive, 1/eps is a sum of passive terms, so eps is passive too, and steps are stable under the
// limit of its background (medium_stability.h).
//
// The rule of A. Mohammadi and M. Agio, Opt. Express 14, 11330 (2006), and A. Deinega and I.
// Valuev, Opt. Lett. 32, 3429 (2007), the first for eps instead of 1/eps on the diagonal, the
// second with the rest of the tensor, which is left out here.
#pragma once
#include "tessera/electromagnetics/averaging.h"

namespace tessera::electromagnetics {

/// The isotropic medium (eps, sigma, poles) that a component along `axis` sees. `parts`: the media
/// and their shares, which sum to one. Media that differ between axes count by their values along
/// `axis`. Throws Error for a nonlinear medium or a conductor, where the poles that come out grow
/// (media with gain), and where double zeros leave the sum less accurate than 1e-6.
Medium laminate(const std::vector<Medium>& media, const std::vector<MediumWeight>& parts, int axis,
                double across);

}  // namespace tessera::electromagnetics
