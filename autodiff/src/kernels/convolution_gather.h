// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "convolution_boxes.h"

#include <array>
#include <cstdint>

namespace tessera::kernels {

/// out[b, r, g N + n] = sum over j, then k, of in[b, p, g K + k] w_g[j, k, n], where r and j meet p
/// along each axis; K and N are `in_channels` and `out_channels`. Distances are in elements; those
/// of the last axes of in and out are 1.
struct GatherShape {
  std::int64_t batch, groups, in_channels, out_channels;
  std::array<Meeting, 3> axis;
  std::int64_t in_lead, out_lead;
  std::array<std::int64_t, 3> in_axis, out_axis, w_axis;
  std::int64_t w_in, w_out, w_group;
  std::int64_t window() const { return axis[0].window * axis[1].window * axis[2].window; }
};
template <class T>
void gather_windows(int width, const GatherShape& s, const T* in, const T* w, T* out);

}  // namespace tessera::kernels
