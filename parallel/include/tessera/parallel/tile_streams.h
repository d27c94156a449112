// SPDX-License-Identifier: Apache-2.0
//
// Functions of images that no memory holds: read, computed and written tile by tile.
//
//   const BoxSource scan = data::open_boxes("scan.h5", "image"), wanted = ...;
//   tiled_into(c, restored, net, {scan}, [&](const Box& b, const Tensor& y) { out.write(b, y); });
//   const auto step = tiled_value_and_grad(c, loss, {scan, wanted});     // loss as in tiles.h
//   auto [l, g] = step(net);                                             // the same on all ranks
//
// Parts, ghosts and bits are those of tiles.h. What a tile needs is read at once, with the ghosts
// around it, while the tile before is computed; its parts are computed one after the other, so that
// memory holds two tiles with their ghosts, what two tiles give, and the inside of one part. Ranks
// read and write tiles of their own; one without any waits for the others. Where nothing is summed
// tiles are strips, long along the last axis (strips_of): files are read and written in long runs.
#pragma once
#include "tessera/autodiff/box.h"
#include "tessera/parallel/tiles.h"

#include <memory>

namespace tessera::parallel {

/// What a rank did.
struct TileCounts {
  Index tiles = 0, parts = 0;
  double bytes_read = 0, bytes_written = 0;
};

namespace detail {
TileCounts image_into(Communicator& c, const FunctionOfImages& f,
                      const std::vector<Tensor>& parameters, const std::vector<BoxSource>& images,
                      const BoxSink& sink, const Tiling& t, SourceLine line);
/// The loss, then its gradient.
class TiledGradient {
 public:
  TiledGradient(Communicator& c, std::vector<BoxSource> images, const Tiling& t, SourceLine line);
  std::vector<Tensor> run(const FunctionOfImages& f, const std::vector<Tensor>& parameters,
                          const TreeStructure& structure) const;
  struct Kept;

 private:
  std::shared_ptr<Kept> kept_;
};
}  // namespace detail

/// f(parameters, images), each box of the result once, a tile's from the rank that computes it (a
/// part's, where ranks share a tile): one after the other, on a thread beside those that compute
/// the next. All ranks call it with the same;
/// it returns on each when its own tiles are written. Throws Error as `tiled` does, but for ranks
/// without a part.
template <class F, IsTree P>
TileCounts tiled_into(Communicator& c, const F& f, const P& parameters,
                      const std::vector<BoxSource>& images, const BoxSink& sink,
                      const Tiling& t = {}, SourceLine line = SourceLine::here()) {
  return detail::image_into(c, detail::of_leaves(f, parameters), flatten_tree(parameters), images,
                            sink, t, line);
}

/// parameters -> the sum of all elements of f(parameters, images) and its gradient, with the bits
/// of value_and_grad(tiled_sum(c, f, t)). What is planned at the first call is kept for the next
/// ones.
template <class F>
auto tiled_value_and_grad(Communicator& c, F f, std::vector<BoxSource> images, const Tiling& t = {},
                          SourceLine line = SourceLine::here()) {
  return [f = std::move(f), steps = detail::TiledGradient(c, std::move(images), t, line)]<IsTree P>(
             const P& parameters) {
    std::vector<Tensor> all = steps.run(detail::of_leaves(f, parameters), flatten_tree(parameters),
                                        structure_of(parameters));
    const Tensor value = all.front();
    all.erase(all.begin());
    return std::pair<Tensor, P>(value, unflatten_tree(parameters, all));
  };
}

/// An array in memory, by boxes.
BoxSource source_of(const Tensor& x);

}  // namespace tessera::parallel
