// SPDX-License-Identifier: Apache-2.0
//
// Loops over atoms in blocks, on all threads; results do not depend on their number.
#pragma once
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace tessera::molecular {

constexpr std::size_t block = 2048;
/// f(begin, end) over blocks of [0, n), threaded.
template <class F>
void over_blocks(std::size_t n, F&& f) {
  parallel_chunks(static_cast<std::int64_t>((n + block - 1) / block), [&](std::int64_t c) {
    const std::size_t begin = static_cast<std::size_t>(c) * block;
    f(begin, std::min(begin + block, n));
  });
}

}  // namespace tessera::molecular
