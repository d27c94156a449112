// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/parallel/part_sums.h"

#include <vector>

namespace tessera::parallel {

/// Each parameter for each of `mine` parts, part by part. The transpose adds up what comes back
/// over the parts of all ranks. Integers and bool, which have no derivatives, pass as they are.
std::vector<Tensor> copies_for_parts(Communicator& c, const PartsOfRanks& held, std::size_t mine,
                                     const std::vector<Tensor>& parameters);

}  // namespace tessera::parallel
