// SPDX-License-Identifier: Apache-2.0
//
// The device half of `forall`: the same bodies, launched on a stream. Only .cu files include this.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tessera::device {

/// Throws when the last kernel was not launched, and says why.
void need_launched();

template <class F>
__global__ void each(std::int64_t n, F body) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += step)
    body(i);
}

/// `body(i)` for i in [0, n) on the device, in order with what else is on the stream; does not wait
/// for it.
template <class F>
void forall(std::int64_t n, F body, cudaStream_t stream) {
  if (n <= 0) return;
  constexpr std::int64_t block = 256,
                         most = 1 << 16;  // beyond this many blocks a thread takes several elements
  each<<<static_cast<unsigned>(std::min(most, (n + block - 1) / block)), block, 0, stream>>>(n,
                                                                                             body);
  need_launched();
}

}  // namespace tessera::device
