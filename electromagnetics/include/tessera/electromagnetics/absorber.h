// SPDX-License-Identifier: Apache-2.0
//
// Absorbing layers of conductivity. In a layer of depth D fields lose s(u) = s_max u^p, u from 0 at
// its inner face to 1, per second in addition to what their medium takes:
//
//   sigma / (eps0 eps) = sigma_m / (mu0 mu) = s,
//
// so that a wave along the axis meets no change of impedance and is damped as exp(-integral s dx /
// v). There and back that is
//
//   R = exp(-2 s_max D / ((p + 1) v)),    v: the speed in the background.
//
// Of a medium with poles eps is Re eps(f) at a given frequency, and eps at infinite frequency where
// that is smaller, as in metals.
//
// Both conductivities are positive: whatever the medium, energy falls. Thicker than a Pml
// (boundary.h), and stable also where a film or surface of negative permittivity runs through it
// (backward_films.h). The face behind the layer is a conductor.
#pragma once
#include "tessera/electromagnetics/yee_grid.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <array>
#include <functional>

namespace tessera::electromagnetics {

struct Absorber {
  int cells = 40;            ///< of each layer
  double order = 3;          ///< p
  double reflection = 1e-4;  ///< R, amplitude: fixes s_max
  double index = 1;          ///< sqrt(eps mu) of the background: v = c / index
  double frequency_hz = 0;   ///< f of media with poles; 0: eps at infinite frequency
};
/// Which faces of an axis have a layer in front of them.
struct AbsorbingFaces {
  bool low = false, high = false;
};

/// What fills the rows of a model: YeeModel::material.
using MaterialRows = std::function<void(int component, int j, int k, MaterialRow&)>;
/// `rows`, and on top of them the conductivities of layers in front of `faces` for time steps of
/// dt_s; perfect conductors stay what they are. Axes that are not resolved have no layers. Throws
/// Error for layers without cells or of more cells than the axis has, for an order below 0, and
/// unless 0 < reflection <= 1 and index > 0.
MaterialRows with_absorber(MaterialRows rows, const YeeGrid& grid,
                           const std::array<AbsorbingFaces, 3>& faces, const Absorber& absorber,
                           double dt_s);

}  // namespace tessera::electromagnetics
