// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/checkpoint.h"

#include <cstddef>
#include <functional>

namespace tessera::data {

/// Gives the bytes of the checkpoint to `sink`, piece by piece, without holding them all.
void encode_checkpoint_to(const Checkpoint& c,
                          const std::function<void(const void*, std::size_t)>& sink);

/// Whether the shape multiplies up (without overflow) to the number of elements; texts have no
/// shape.
bool shape_fits(const CheckpointValue& value);

}  // namespace tessera::data
