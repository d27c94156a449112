// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::electromagnetics {

/// What happens at a face of the domain.
enum class Boundary : std::uint8_t {
  pec,  ///< perfect electric conductor: tangential E is zero there; also the mirror plane of odd
        ///< tangential E
  pmc,  ///< perfect magnetic conductor: tangential H is zero there; also the mirror plane of even
        ///< tangential E
  periodic,  ///< joined to the opposite face, which must be periodic too
  pml        ///< absorbing layer inside the domain, in front of a perfect electric conductor
};
struct Faces {
  Boundary low = Boundary::pml, high = Boundary::pml;
};
/// Faces (axis; low, high) that are mirrors of a symmetry: what lies on one is half outside. Others
/// are walls, where things end.
using SymmetryFaces = std::array<std::array<bool, 2>, 3>;

/// Convolutional PML with complex frequency shifted stretching s = kappa + sigma / (alpha + i w
/// eps0): J. A. Roden, S. D. Gedney, Microw. Opt. Technol. Lett. 27 (2000) 334-339. Over the depth
/// 0 < u <= 1 from the inner face
///   sigma = sigma_max u^order,  kappa = 1 + (kappa_max - 1) u^order,  alpha = alpha_max (1 - u)
///   sigma_max = sigma_factor * 0.8 (order + 1) / (Z0 d sqrt(eps mu)),  d: mean length of its cells
///   alpha_max = alpha_factor * eps0 c / (D sqrt(eps mu)),              D: depth of the layer
/// so that a layer does the same at any scale. The shift quietens late times and waves along the
/// layer, and waves much longer than 2 pi D / alpha_factor see a layer that stretches but does not
/// absorb. The defaults are a compromise over angles and wavelengths:
/// docs/decisions/0090-absorbing-layers.md.
struct Pml {
  int cells = 10;
  double order = 3.5;
  double sigma_factor = 1;
  double kappa_max = 5;
  double alpha_factor = 0.1;
  double index = 1;  ///< sqrt(eps mu) of the medium that runs into the layer
};

/// The layer's recursion at each position along an axis, of n + 1 lines or n middles:
///   psi' = b psi + c D,   stretched difference = D + m D + psi',   m = 1/kappa - 1
/// b = exp(-(sigma/kappa + alpha) dt / eps0), c = sigma (b - 1) / (sigma kappa + kappa^2 alpha);
/// outside all are zero.
struct PmlProfile {
  std::vector<double> b, c, m;
  bool any() const { return !b.empty(); }
};
/// `lines`: of the axis, in m. A face that is not `pml` has no layer. Throws Error when the layers
/// meet or overlap.
PmlProfile pml_profile(const std::vector<double>& lines, Faces faces, const Pml& pml, double dt_s,
                       bool at_middles);

}  // namespace tessera::electromagnetics
