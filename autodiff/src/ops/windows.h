// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../core/boxes.h"
#include "tessera/autodiff/ops/window.h"

namespace tessera::detail {

/// Throws where the windows do not fit x.
void check_windows(const char* op, const Tensor& x, const Window& w, const SourceLine& line);

/// What results [begin, end) of windows along an axis of n elements meet, and their borders there.
struct WindowCut {
  Stretch of_operand;
  Index low, high;
};
inline WindowCut cut_window(Index stride, Index low, Index reach, Stretch results, Index n) {
  const Index first = results.begin * stride - low, last = (results.end - 1) * stride - low + reach;
  const Stretch s = clipped(first, last + 1, n);
  return {s, s.begin - first, last + 1 - s.end};
}

}  // namespace tessera::detail
