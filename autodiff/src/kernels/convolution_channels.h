// SPDX-License-Identifier: Apache-2.0
//
// Where each group has one channel on either side (depthwise), channels lie in the lanes of
// vectors.
#pragma once
#include "convolution_plan.h"

namespace tessera::kernels {

/// As gather_windows (convolution_plan.h), in_channels = out_channels = 1.
template <class T>
void gather_channels(int width, const GatherShape& s, const T* in, const T* w, T* out);

/// c[n] = sum of a[n] b[n] over the terms of segments, or with `add` the sum that c begins, for n <
/// channels; term l of a segment has its a at a + segment.a + l a_step, its b likewise.
template <class T>
void add_channels(int width, const Segment* segments, std::int64_t count, const T* a,
                  std::int64_t a_step, const T* b, std::int64_t b_step, std::int64_t channels,
                  bool add, T* c);

}  // namespace tessera::kernels
