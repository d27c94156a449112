// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/parallel/part_sums.h"

namespace tessera::parallel {

/// Each parameter for each of `mine` parts, part by part. The transpose adds up what comes back
/// over the parts of all ranks.
FlatFunction copies_for_parts(Communicator& c, const PartsOfRanks& held, std::size_t mine,
                              std::size_t parameters);

}  // namespace tessera::parallel
