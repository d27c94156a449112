// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../base/scratch.h"
#include "tessera/autodiff/shape.h"

namespace tessera::kernels {
/// Copies `in` to the contiguous `out` of the same type and shape, whatever the strides of `in`.
void copy(const View& in, const View& out);
/// The same into an output of any strides.
void copy_strided(const View& in, const View& out);

/// A copy of a view, row-major, in the kernel's own memory.
class PackedCopy {
 public:
  explicit PackedCopy(const View& v)
      : memory_(bytes(v)), view_{memory_.data(), v.dtype, v.shape, row_major(v.shape)} {
    copy(v, view_);
  }
  PackedCopy(const PackedCopy&) = delete;
  const View& view() const { return view_; }
  static std::size_t bytes(const View& v) {
    return static_cast<std::size_t>(v.count()) * size_of(v.dtype);
  }
  static std::size_t workspace(const View& v) { return detail::whole_lines(bytes(v)); }

 private:
  detail::ScratchArray<std::byte> memory_;
  View view_;
};
}  // namespace tessera::kernels
