// SPDX-License-Identifier: Apache-2.0
//
// Sets of elements of a tensor, as boxes that do not overlap.
#pragma once
#include "tessera/parallel/layout.h"

namespace tessera::parallel {

inline Box both(const Box& a, const Box& b) {
  Box c = a;
  for (int d = 0; d < a.begin.size(); ++d) {
    c.begin[d] = std::max(a.begin[d], b.begin[d]);
    c.end[d] = std::min(a.end[d], b.end[d]);
  }
  return c;
}
/// What is in a and not in b: slabs on both sides of b, axis by axis.
inline std::vector<Box> without(Box a, const Box& b) {
  const Box common = both(a, b);
  if (a.empty()) return {};
  if (common.empty()) return {a};
  std::vector<Box> rest;
  for (int d = 0; d < a.begin.size(); ++d) {
    Box below = a, above = a;
    below.end[d] = common.begin[d];
    above.begin[d] = common.end[d];
    if (!below.empty()) rest.push_back(below);
    if (!above.empty()) rest.push_back(above);
    a.begin[d] = common.begin[d], a.end[d] = common.end[d];
  }
  return rest;
}
inline std::vector<Box> without(const std::vector<Box>& a, const Box& b) {
  std::vector<Box> rest;
  for (const Box& one : a)
    for (const Box& piece : without(one, b)) rest.push_back(piece);
  return rest;
}

}  // namespace tessera::parallel
