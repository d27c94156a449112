// SPDX-License-Identifier: Apache-2.0
// Inputs as training sees them: changed by chance, by each sample's own key, so that neither the
// batch nor the number of threads has a part in it.
#pragma once
#include "solvers/training/options.h"

#include <vector>

namespace tessera::apps::training {

data::Options<AugmentOptions> augment_table();
/// Throws data::InputError E0671 at the key that does not fit samples of this shape.
void check_augment(const std::vector<AugmentOptions>& list, const Shape& sample,
                   const data::Config& config);

/// x [n, sample...] after all of the list, one after another, by keys [n, 2]; the keys become those
/// for what follows.
Tensor augmented(const std::vector<AugmentOptions>& list, Tensor x, Tensor& keys);

}  // namespace tessera::apps::training
