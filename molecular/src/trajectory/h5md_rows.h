// SPDX-License-Identifier: Apache-2.0
//
// Elements of H5MD have steps of their own: a row of each belongs to the frame of its step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::molecular {

/// Steps or times of the rows of an element: a list, or a distance between rows and an offset.
struct H5mdAxis {
  std::vector<double> list;
  double each = 0, offset = 0;
  std::uint64_t rows = UINT64_MAX;  ///< that it says something of; those of the list
  bool is_single = false;           ///< the file has it in single precision
  double at(std::uint64_t row) const {
    return list.empty() ? offset + each * static_cast<double>(row) : list[row];
  }
};

/// An element whose rows look for frames.
struct H5mdRows {
  const H5mdAxis* step;
  std::uint64_t rows;  ///< values that there are
  bool makes_frames;   ///< positions and velocities do; others are taken where they fit
};

/// Of each frame the row in every element; none: it has none at that step.
struct H5mdFrames {
  static constexpr std::uint64_t none = UINT64_MAX;
  std::vector<double> step;
  std::vector<std::vector<std::uint64_t>> row;  ///< [elements][frames]
  std::size_t size() const { return step.size(); }
};
/// None where rows cannot be joined: steps differ from element to element, and do not grow.
std::optional<H5mdFrames> joined_rows(std::span<const H5mdRows> elements);

}  // namespace tessera::molecular
