// SPDX-License-Identifier: Apache-2.0
//
// Boxes of an array, one after the other in one row of elements, and back.
#pragma once
#include "tessera/autodiff/cut.h"

#include <memory>

namespace tessera::parallel {

struct Patches {
  Shape whole;
  std::vector<Box> boxes;
  std::vector<Index> begin;  ///< where the elements of box k begin in the row; the last: its length
};
using PatchesPtr = std::shared_ptr<const Patches>;
PatchesPtr patches(const Shape& whole, std::vector<Box> boxes);

/// x [whole...] -> [elements of all boxes].
Tensor taken(const PatchesPtr& p, const Tensor& x);
/// The transpose: boxes added up in their order, beginning with the first; 0 where there are none.
/// Not of bool.
Tensor put_back(const PatchesPtr& p, const Tensor& row);

}  // namespace tessera::parallel
