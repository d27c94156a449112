// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/forall.h"

#include <Eigen/Core>

#include <algorithm>

namespace tessera::inversion {

/// body(first, count) for blocks of at most `width` of n columns, or rows, which know nothing of
/// one another: side by side, with the same blocks on any number of threads.
template <Eigen::Index width, class Body>
void in_blocks_of(Eigen::Index n, const Body& body) {
  parallel_chunks((n + width - 1) / width, [&](std::int64_t chunk) {
    const Eigen::Index first = chunk * width;
    body(first, std::min(width, n - first));
  });
}

}  // namespace tessera::inversion
