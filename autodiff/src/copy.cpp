// SPDX-License-Identifier: Apache-2.0
#include "kernels/copy.h"

#include "kernels/map.h"

namespace tessera::kernels {
void copy(const View& in, const View& out) {
  // Copies bytes of the same width, whatever they mean.
  auto move = [&](auto tag) {
    using T = typename decltype(tag)::type;
    map1<T>(in, out, [](T x) { return x; });
  };
  switch (size_of(in.dtype)) {
    case 1: return move(type_tag<std::uint8_t>{});
    case 4: return move(type_tag<std::uint32_t>{});
    case 8: return move(type_tag<std::int64_t>{});
    default: return move(type_tag<c128>{});
  }
}
}  // namespace tessera::kernels
