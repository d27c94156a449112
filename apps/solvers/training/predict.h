// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace tessera::apps::training {

/// What the best weights of a run say of the inputs in `file`, of the kind that the run has learnt
/// from. Into .csv: all columns of the table, and the predicted ones behind; of labels the
/// likeliest and the probability of each. Into .npy: the predicted array; of labels the
/// probabilities.
void predict(const std::filesystem::path& run, const std::filesystem::path& file,
             const std::filesystem::path& output);

}  // namespace tessera::apps::training
