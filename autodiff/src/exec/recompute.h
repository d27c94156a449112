// SPDX-License-Identifier: Apache-2.0
//
// A gradient reads most of what the function made, in the reverse order: all of it is alive where
// the one ends and the other begins. Element-wise values cost less than the memory in which they
// would wait: they are made again beside their late readers, from values that wait there anyway.
//
// Where most bytes are alive, let `late` be the steps behind that place. Of all values made before,
// some are kept for them, some are made again by copies of their steps, the others are not needed.
// Cheapest is a minimum cut between what can only be kept (results of products, sums, draws) and
// what late steps read:
//
//   source -> v   infinite, or the price of making v again, where its step is element-wise
//   v -> v'       bytes of v: it is kept
//   u' -> v       infinite, where the step of v reads u: made again it needs u
//   v' -> sink    infinite, where a late step reads v
//
// v is made again where it lies on the side of the sink. Copies have the bits of the first run:
// the same kernel on the same operands. PyTorch's compiler cuts between its forward and backward
// graphs likewise; here both are one list, cut where memory is highest.
#pragma once
#include "layout.h"

namespace tessera::plan {

/// What it costs to compute a value of this primitive again, per byte of it: a share of what it
/// costs to keep it. 0: it is only kept.
double price_per_byte(const Primitive& p);

/// Replaces late reads of cheap values, from the highest peak of memory downwards, as long as that
/// lowers it and it is at least 256 KiB (join_from - 1); values of less than 1/8192 of that stay.
/// Runs join steps of `join_from` elements on. Steps stay in an order in which they can run; roots
/// are added for values made again. Gives the bytes that are alive at the highest peak left: an
/// arena for this order is no smaller.
std::size_t recompute_cheap_values(std::vector<Step>& steps, std::vector<Root>& roots,
                                   Index join_from);

}  // namespace tessera::plan
