// SPDX-License-Identifier: Apache-2.0
//
// What a box of a result needs of the operands: a rule of a primitive beside those of primitive.h,
// told where the primitive is defined:
//
//   struct Transpose : Linear<Transpose> {
//     static BoxRule boxes(const BoxWanted& w);
//   };
//   TESSERA_BOXES(Transpose);
//
// Element-wise primitives need none.
#pragma once
#include "tessera/autodiff/box.h"
#include "tessera/autodiff/primitive.h"

#include <optional>

namespace tessera::detail {

struct BoxWanted {
  const Attributes* attr;
  std::span<const Type> in;
  const Type& out;
  const Box& box;                 ///< of the result; not empty
  std::span<const Tensor> known;  ///< operands that are constants; undefined: others
};
/// The application of the same primitive that computes it.
struct BoxRule {
  Box result;  ///< what it computes: the wanted box or a larger one
  std::vector<Box> operands;
  AttributesPtr attr;                 ///< null: as they are
  std::vector<Tensor> in_place = {};  ///< of an operand: this constant (undefined: none)
  int exactly = -1;     ///< an operand of which that box, no larger one, has to be computed
  bool sweeps = false;  ///< it takes all of an axis that the result does not have
};
using BoxRuleFn = BoxRule (*)(const BoxWanted&);

bool register_boxes(const Primitive& p, BoxRuleFn rule);
BoxRuleFn boxes_of(const Primitive& p);  ///< null: none
#define TESSERA_BOXES(P)                         \
  [[maybe_unused]] static const bool boxes_##P = \
      ::tessera::detail::register_boxes(::tessera::primitive<P>(), P::boxes)

/// Positions [begin, end) of n along one axis; empty ones begin and end at 0.
struct Stretch {
  Index begin, end;
};
inline Stretch clipped(Index begin, Index end, Index n) {
  begin = std::max<Index>(begin, 0), end = std::min(end, n);
  return begin < end ? Stretch{begin, end} : Stretch{0, 0};
}
inline Index floor_of(Index a, Index b) { return a / b - (a % b < 0); }  // b > 0
inline Index ceil_of(Index a, Index b) { return -floor_of(-a, b); }
inline void set(Box& b, int axis, Stretch s) { b.begin[axis] = s.begin, b.end[axis] = s.end; }

}  // namespace tessera::detail
