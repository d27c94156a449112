// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "files/regular_file.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/checkpoint_shards.h"
#include "tessera/data/sha256.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::data {

using ByteSink = std::function<void(const void*, std::size_t)>;

/// Gives the bytes of a checkpoint to `sink`, piece by piece. Returns the digest.
Sha256::Digest encode_checkpoint_to(const Checkpoint& c, const ByteSink& sink);
/// The same with rows of T, float or double, as its values (checkpoint_shards.h).
template <class T>
Sha256::Digest encode_rows_to(const Checkpoint& about, const std::vector<ShardRow>& rows,
                              const std::function<const T*(std::size_t)>& numbers,
                              const ByteSink& sink);

/// Walks through the values of a file under a right digest, reading the elements of those that are
/// wanted. Throws InputError E0412, E0415.
void read_values(const RegularFile& file, const std::string& name,
                 const std::function<bool(const std::string& name)>& wanted,
                 const std::function<void(std::string name, CheckpointValue)>& take);

/// Whether the shape multiplies up (without overflow) to the number of elements; texts have no
/// shape.
bool shape_fits(const CheckpointValue& value);

[[noreturn]] void damaged_checkpoint(const std::string& file, int number, std::uint64_t byte,
                                     std::string message);

}  // namespace tessera::data
