// SPDX-License-Identifier: Apache-2.0
//
// Functions of images in tiles.
//
//   const auto restored = [](const Net& net, const std::vector<Tensor>& images) {
//     return net(images[0]);                       // [channels, 4096, 4096], say
//   };
//   const Tensor y = tiled(c, restored)(net, {image});
//   const auto loss = tiled_sum(c, [&](const Net& net, const std::vector<Tensor>& images) {
//     return square(restored(net, images) - images[1]);   // a loss for each position
//   });
//   auto [l, g] = value_and_grad(loss)(net, std::vector{image, wanted});
//
// The result of a function of parameters and images is cut into parts: boxes whose size belongs to
// the problem. What a part needs of the images, its ghosts, is derived from the function, which is
// traced once (autodiff's cut.h): any windows, strides, dilations, borders; even ones, wide ones. A
// part is computed as if it were alone, by one rank; gradients of parameters are added up over
// parts along one binary tree (part_sums.h), those of images where parts overlap in the order of
// the parts. So the bits depend on the parts, not on how many are read at once, nor on who computes
// them: an untiled call of the same parts has them. Reverse mode computes the inside of a part
// again when it needs it.
//
// Parts are numbered along a curve in the shape of a Z (Morton's order): the 4, 16, ... parts of a
// square tile follow each other, whatever its size.
#pragma once
#include "tessera/autodiff/cut.h"
#include "tessera/autodiff/tree.h"
#include "tessera/parallel/communicator.h"
#include "tessera/parallel/part_sums.h"

#include <functional>
#include <utility>
#include <vector>

namespace tessera::parallel {

struct Tiling {
  /// Positions of a part along each axis of the result; 0, and an axis that is shorter: all of it.
  /// Empty: 512 along every axis.
  Shape part = {};
  /// Parts of a tile along each axis that is cut: a power of two. What is read and written at once,
  /// and dealt to a rank.
  Index tile = 1;
};

/// Boxes of a result in the order of the tree, and where tiles begin among them.
struct Parts {
  std::vector<Box> boxes;
  std::vector<Index> tiles;  ///< tile t has parts tiles[t] ... tiles[t + 1] - 1
};
/// Throws Error where the numbers of `t` do not fit the shape.
Parts parts_of(const Shape& result, const Tiling& t);
/// The same boxes where no sum asks for the order of the tree: tiles of as many parts lie along the
/// last axes, so that what is read and written of one lies in long runs.
Parts strips_of(const Shape& result, const Tiling& t);
/// Whole tiles for each rank as even as they can be, single parts where there are fewer tiles than
/// ranks.
PartsOfRanks deal_tiles(const Parts& parts, int ranks);

/// What `tiled` is made of: the same for a list of parameters. The result is an array of any axes
/// and type; integers and bool, of results, images and parameters, have no derivatives.
using FunctionOfImages =
    std::function<Tensor(const std::vector<Tensor>& parameters, const std::vector<Tensor>& images)>;
Tensor image_in_parts(Communicator& c, const FunctionOfImages& f,
                      const std::vector<Tensor>& parameters, const std::vector<Tensor>& images,
                      const Tiling& t, SourceLine line);
Tensor sum_in_parts(Communicator& c, const FunctionOfImages& f,
                    const std::vector<Tensor>& parameters, const std::vector<Tensor>& images,
                    const Tiling& t, SourceLine line);

namespace detail {
/// f(tree, images) of the leaves of a tree like `like`.
template <class F, class P>
FunctionOfImages of_leaves(const F& f, const P& like) {
  return [f, like](const std::vector<Tensor>& leaves, const std::vector<Tensor>& images) {
    return f(unflatten_tree(like, leaves), images);
  };
}
}  // namespace detail

/// (parameters, images) -> f(parameters, images), whole on all ranks, computed in parts. Images are
/// whole on each rank, the same. Derivatives to any order, under vmap too. All ranks call it with
/// the same. Throws Error where there are fewer parts than ranks, and where an operation has no
/// rule for boxes (cut.h).
template <class F>
auto tiled(Communicator& c, F f, Tiling t = {}, SourceLine line = SourceLine::here()) {
  return [&c, f = std::move(f), t, line]<IsTree P>(const P& parameters,
                                                   const std::vector<Tensor>& images) {
    return image_in_parts(c, detail::of_leaves(f, parameters), flatten_tree(parameters), images, t,
                          line);
  };
}
/// (parameters, images) -> the sum of all elements of f(parameters, images), by parts.
template <class F>
auto tiled_sum(Communicator& c, F f, Tiling t = {}, SourceLine line = SourceLine::here()) {
  return [&c, f = std::move(f), t, line]<IsTree P>(const P& parameters,
                                                   const std::vector<Tensor>& images) {
    return sum_in_parts(c, detail::of_leaves(f, parameters), flatten_tree(parameters), images, t,
                        line);
  };
}

}  // namespace tessera::parallel
