// SPDX-License-Identifier: Apache-2.0
// Results of one frequency after the other, where the medium differs between them.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

namespace tessera::electromagnetics::detail {

/// Of what is told for all frequencies at once, or for each.
inline void require_one_or_each(const char* operation, std::size_t given, std::size_t frequencies) {
  if (given != 1 && given != frequencies)
    throw Error(
        fmt::format("[{}] expected one medium for all of the {} frequencies, or one for "
                    "each, got {}",
                    operation, frequencies, given));
}

inline Tensor at_frequency(const Tensor& x, std::size_t k) {
  return slice(x, 0, static_cast<Index>(k), static_cast<Index>(k) + 1);
}

/// `of(k)`, whose first axis is that of one frequency, for each of `n`.
template <class F>
Tensor by_frequency(std::size_t n, const F& of) {
  std::vector<Tensor> parts;
  for (std::size_t k = 0; k < n; ++k) parts.push_back(of(k));
  return parts.size() == 1 ? parts[0] : concatenate(parts, 0);
}

}  // namespace tessera::electromagnetics::detail
