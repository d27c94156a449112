// SPDX-License-Identifier: Apache-2.0
//
// A function of parameters and images, traced once, of which parts are cut.
#pragma once
#include "tessera/parallel/tiles.h"

namespace tessera::parallel {

struct TracedImage {
  tessera::Graph graph;
  std::size_t parameters;
  Type result;
};
TracedImage trace_image(const FunctionOfImages& f, std::span<const Type> parameters,
                        std::span<const Type> images, SourceLine line);
/// Inputs: the parameters whole, boxes of the images, what the function captures.
tessera::Cut cut_image(const TracedImage& f, const Box& part);

}  // namespace tessera::parallel
