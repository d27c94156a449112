// SPDX-License-Identifier: Apache-2.0
//
// Losses of a batch whose examples are dealt among ranks.
//
//   nn::Mlp net = ...;                                                // the same on all ranks
//   const auto loss = [](const nn::Mlp& m, const std::vector<Tensor>& part) {
//     return sum(square(m(part[0]) - part[1])) / 1024;                // a sum over examples
//   };
//   auto [l, g] = value_and_grad(data_parallel(c, loss, {x, y}))(net);  // the same on all ranks
//
// A batch is cut into parts, whose number belongs to the problem. A part is computed by one rank,
// as if it were alone; losses and gradients of the parts are added up along one binary tree
// (part_sums.h). So the bits depend on the parts, not on how many ranks hold them: one process has
// those of any number. Derivatives go to any order, under vmap too. A gradient sends each
// parameter once, a loss one number.
#pragma once
#include "tessera/autodiff/tree.h"
#include "tessera/parallel/communicator.h"

#include <utility>
#include <vector>

namespace tessera::parallel {

/// What `data_parallel` is made of: the same for a list of parameters.
using LossOfPart =
    std::function<Tensor(const std::vector<Tensor>& parameters, const std::vector<Tensor>& part)>;
Tensor loss_of_batch(Communicator& c, const LossOfPart& loss, const std::vector<Tensor>& parameters,
                     const std::vector<Tensor>& batch, Index parts, SourceLine line);

/// A function of a tree of parameters: the sum over parts of loss(parameters, part), a scalar each.
/// `batch`: arrays of as many rows as there are examples, whole on each rank, which reads those of
/// its parts; `part` has these rows of each array, as even as they can be cut. All ranks call it
/// with the same. Throws Error where there are fewer examples than parts, or fewer parts than
/// ranks.
template <class F>
auto data_parallel(Communicator& c, F loss, std::vector<Tensor> batch, Index parts = 8,
                   SourceLine line = SourceLine::here()) {
  return [&c, loss = std::move(loss), batch = std::move(batch), parts,
          line]<IsTree P>(const P& parameters) {
    return loss_of_batch(
        c,
        [&](const std::vector<Tensor>& leaves, const std::vector<Tensor>& part) {
          return loss(unflatten_tree(parameters, leaves), part);
        },
        flatten_tree(parameters), batch, parts, line);
  };
}

}  // namespace tessera::parallel
