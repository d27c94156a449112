// SPDX-License-Identifier: Apache-2.0
//
// Sums of products of reals in runs (blocks.h): a b + c d - e + ..., without the terms in memory.
#pragma once
#include "blocks.h"

namespace tessera::blocks {

inline bool same(const Source& a, const Source& b) {
  return a.inside == b.inside && a.index == b.index;
}

/// An operation of the run, or a sum that took in the operations before it.
struct Node {
  Operation o;
  std::vector<Term> terms;  ///< of a sum
  bool gone = false;        ///< it is part of a sum
};

/// Elements one after the other, or one for all; other layouts are left to the kernels.
enum class Layout { packed, repeated, other };
Layout layout_of(const View& v);

/// Sums take in the products that only they read, and the sums before them: y = x + a b, y = (a b +
/// c d) - e.
std::vector<Node> with_sums(std::vector<Operation> run, std::span<const Layout> operands);

/// out = the terms, added up from the first; a and b of each term at the element of the block's
/// begin. Of float and double.
template <class T>
void add_terms(Index n, std::span<const Term> terms, const View* const* in, T* out);

}  // namespace tessera::blocks
