// SPDX-License-Identifier: Apache-2.0
//
// Flat rectangles of points on which the transformed tangential fields are known: what flux, far
// fields and diffraction orders are made of. The two axes in the plane are taken in rising order
// and called lo and hi: (y, z), (x, z), (x, y).
#pragma once
#include "tessera/autodiff/tree.h"

#include <array>
#include <vector>

namespace tessera::electromagnetics {

/// Points at the crossings of `lo` and `hi`, m; the sum of f over them with weight_lo x weight_hi
/// is the integral of f over the rectangle. In two dimensions z is not resolved: one point of
/// weight 1, and integrals are per metre.
struct Patch {
  int axis = 2;         ///< of the normal
  int outward = 1;      ///< +1 or -1: the normal points along +axis or -axis
  double position = 0;  ///< along `axis`, m
  std::vector<double> lo, hi;
  std::vector<double> weight_lo, weight_hi;  ///< m

  int lo_axis() const { return axis == 0 ? 1 : 0; }
  int hi_axis() const { return axis == 2 ? 1 : 2; }
  /// +1 or -1: normal x lo = handedness * hi, normal x hi = -handedness * lo, lo x hi = handedness
  /// * normal.
  int handedness() const { return axis == 1 ? -outward : outward; }
  Index n_lo() const { return static_cast<Index>(lo.size()); }
  Index n_hi() const { return static_cast<Index>(hi.size()); }
};

/// Tangential fields F(w), time dependence e^{+i w t}, at the points of one patch and several
/// frequencies, complex [frequency, 2, n_hi, n_lo]: components along lo, then along hi. V/m and A/m
/// for phasors, times s for transforms of pulses.
struct SurfaceFields {
  Tensor e, h;
  TESSERA_TREE(e, h)
};

/// Cells of at most `spacing` on a rectangle, points in their middles (second order). An axis with
/// low = high is not resolved and gets one point of weight 1.
Patch patch_of(int axis, int outward, double position, const std::array<double, 2>& low,
               const std::array<double, 2>& high, double spacing);
/// The faces of a box, outward, in the order -x +x -y +y -z +z; those across an axis that is not
/// resolved are left out.
std::vector<Patch> box_patches(const std::array<double, 3>& low, const std::array<double, 3>& high,
                               double spacing);
/// Where the points lie, lo fastest.
std::vector<std::array<double, 3>> points_of(const Patch& p);

/// Throws Error, naming `operation`, where lists of patches, fields and frequencies do not fit each
/// other.
void require_fields(const char* operation, const std::vector<Patch>& patches,
                    const std::vector<SurfaceFields>& fields, Index n_frequencies);

}  // namespace tessera::electromagnetics
