// SPDX-License-Identifier: Apache-2.0
//
// A part of a periodic box, between planes along its faces: of each edge the fractions from `low`
// over `size`, in units of 2^-32, so that they wrap by themselves. Regions of a box have no point
// twice.
#pragma once
#include <array>
#include <cstdint>

namespace tessera::molecular {

struct Region {
  static constexpr std::uint64_t whole = std::uint64_t{1} << 32;
  std::array<std::uint32_t, 3> low{};
  std::array<std::uint64_t, 3> size = {whole, whole, whole};

  bool is_cut(std::size_t axis) const { return size[axis] != whole; }
  bool contains(const std::array<std::uint32_t, 3>& p) const {
    return p[0] - low[0] < size[0] && p[1] - low[1] < size[1] && p[2] - low[2] < size[2];
  }
  /// How far p lies outside of it along an axis, in edges.
  double gap(std::size_t axis, std::uint32_t p) const {
    const std::uint64_t in = p - low[axis];
    if (in < size[axis]) return 0;
    const std::uint64_t beyond = in - size[axis], before = whole - in;
    return 0x1p-32 * static_cast<double>(beyond < before ? beyond : before);
  }
};

/// A fraction in [0, 1) in units of 2^-32, to the nearest.
inline std::uint32_t in_units(double fraction) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(fraction * 4294967296.0 + 0.5));
}

/// The point half way from a to b by the shorter way around, the same from either.
inline std::uint32_t middle(std::uint32_t a, std::uint32_t b) {
  const auto way = static_cast<std::int32_t>(b - a);
  const std::uint32_t m = a + static_cast<std::uint32_t>(way >> 1);
  return b - a == 0x80000000U ? m & 0x7fffffffU : m;
}

}  // namespace tessera::molecular
