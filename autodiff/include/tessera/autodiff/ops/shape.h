// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <vector>

// Rearranging elements. Reshape, transpose, broadcast, slice and reverse are views: no element
// moves.

namespace tessera {

Tensor reshape(Arg x, Shape shape);  ///< one entry may be -1
Tensor flatten(Arg x);               ///< one axis, in row-major order
Tensor transpose(Arg x, Shape permutation);
Tensor transpose(Arg x);                   ///< swaps the last two axes
Tensor moveaxis(Arg x, int from, int to);  ///< the other axes keep their order
Tensor expand_dims(Arg x, int axis);       ///< a new axis of length 1, at `axis` of the result
Tensor squeeze(Arg x, int axis);           ///< without that axis; throws unless its length is 1
Tensor broadcast_to(Arg x, const Shape& shape);
/// Axis k of x becomes axis dims[k] of the result; all other axes are repeated.
Tensor broadcast_in_dim(Arg x, const Shape& shape, const Shape& dims);
/// Elements start, start + step, ... below stop along every axis; steps are positive.
Tensor slice(Arg x, const Shape& start, const Shape& stop, Shape step = {});
/// The same along one axis; negative start and stop count from the end.
Tensor slice(Arg x, int axis, Index start, Index stop, Index step = 1);
/// One position along an axis, which disappears.
Tensor select(Arg x, int axis, Index position);
Tensor reverse(Arg x, const Shape& axes);
/// `low` and `high` elements of `value` around every axis and `interior` between neighbours.
Tensor pad(Arg x, const Shape& low, const Shape& high, Shape interior = {}, Literal value = 0);
Tensor concatenate(const std::vector<Tensor>& parts, int axis = 0,
                   SourceLine line = SourceLine::here());
/// Parts of one shape along a new axis, at `axis` of the result.
Tensor stack(const std::vector<Tensor>& parts, int axis = 0, SourceLine line = SourceLine::here());
/// Equal parts along an axis; throws where its length is no multiple of `parts`.
std::vector<Tensor> split(Arg x, int parts, int axis = 0);
/// The same elements in row-major order; copies a view that is not.
Tensor contiguous(Arg x);

}  // namespace tessera
