// SPDX-License-Identifier: Apache-2.0
// What [training] may say of the weights.
#pragma once
#include "solvers/training/options.h"

#include <functional>

namespace tessera::apps::training {

data::Options<AverageChoice> average_table();
data::Options<LeafChoice> leaf_table();

/// Tells a contradiction at a key, with a hint.
using Say = std::function<void(const std::string& key, std::string message, std::string hint)>;
void check_learning(const Options& o, const Say& say);

}  // namespace tessera::apps::training
