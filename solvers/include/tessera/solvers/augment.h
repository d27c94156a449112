// SPDX-License-Identifier: Apache-2.0
//
// Samples changed by chance for a training: x [n, sample...] by a key for each sample, keys [n, 2],
// so that neither the batch nor the number of threads has a part in it. Axes are those of a sample,
// from 0. Each key is used up.
#pragma once
#include "tessera/autodiff/tensor.h"

#include <vector>

namespace tessera::solvers {

/// x + deviation times normal numbers.
Tensor noisy(const Tensor& x, double deviation, const Tensor& keys);
/// A share `probability` of the samples with the axis turned round.
Tensor flipped(const Tensor& x, int axis, double probability, const Tensor& keys);
/// y[i] = x[i - s] along each of the axes, 0 where there is none; s uniform in -by, ..., by, one
/// for each sample and axis.
Tensor shifted(Tensor x, const std::vector<Index>& axes, Index by, const Tensor& keys);

}  // namespace tessera::solvers
