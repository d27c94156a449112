// SPDX-License-Identifier: Apache-2.0
//
// Where each group has one channel on either side (depthwise), channels lie in the lanes of
// vectors.
#pragma once
#include "convolution_plan.h"

#include <span>

namespace tessera::kernels {

/// As gather_windows (convolution_plan.h), in_channels = out_channels = 1.
template <class T>
void gather_channels(int width, const GatherShape& s, const T* in, const T* w, T* out);

/// c[n] = sum of a[n] b[n] over the terms of segments; term l of a segment has its a at a +
/// segment.a
/// + l a_step, its b likewise.
template <class T>
struct ChannelSum {
  const Segment* segments;
  std::int64_t count;
  T* c;
};
inline constexpr int kChannelSums = 5;
/// One to kChannelSums of them side by side, of n < channels; with `add` the sums that c begins.
template <class T>
void add_channels(int width, std::span<const ChannelSum<T>> sums, const T* a, std::int64_t a_step,
                  const T* b, std::int64_t b_step, std::int64_t channels, bool add);

}  // namespace tessera::kernels
