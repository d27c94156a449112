// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "files/regular_file.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/sha256.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace tessera::data {

using ByteSink = std::function<void(const void*, std::size_t)>;
using ValueSink = std::function<void(const std::string& name, const CheckpointValue&)>;

/// Gives the bytes of a checkpoint that has `n` values, those that `each` gives to its argument, to
/// `sink`, piece by piece, without holding them all. `each` is called twice. Returns the digest.
Sha256::Digest encode_values_to(const Checkpoint& about, std::uint64_t n,
                                const std::function<void(const ValueSink&)>& each,
                                const ByteSink& sink);
/// The same with its own values.
Sha256::Digest encode_checkpoint_to(const Checkpoint& c, const ByteSink& sink);

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
