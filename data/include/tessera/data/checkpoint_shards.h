// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of many writers: each writes a file of its values, a shard, and one of them then the
// checkpoint that names all of these. Without that file the shards are nothing.
//
//   Shard mine = write_shard(dir, c, rank, n, [&](std::size_t i) { return ..; });  // each
//   c.shards = ..;                                                                 // of all
//   write_checkpoint(dir, c, keep);                                                // one
//   ...
//   load_newest_checkpoint(dir);  // passes over those of which a shard is not as it was written
//   read_shard(dir, c, c.shards[k], wanted, take);
//
// A shard is a file of the checkpoint format, whose name ends with the first digits of its SHA-256:
// another attempt at the same step writes over nothing. Values go through memory one at a time.
#pragma once
#include "tessera/data/checkpoint.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

namespace tessera::data {

/// "step-12.0123456789abcdef.shard".
std::string shard_name(std::uint64_t step, const Shard& shard);

/// Writes a shard of the checkpoint that `of` begins, with the values of 0 .. n - 1, each of which
/// is asked for twice. `writer` differs among those that write at a time. Errors as AtomicFile.
using NamedValue = std::pair<std::string, CheckpointValue>;
Shard write_shard(const std::filesystem::path& dir, const Checkpoint& of, int writer, std::size_t n,
                  const std::function<NamedValue(std::size_t)>& value);

/// Throws InputError (exit 8) unless the file is there, every byte as it was written: E0442 absent,
/// E0413 shorter or longer, E0414 damaged or another one's.
void check_shard(const std::filesystem::path& dir, const Checkpoint& of, const Shard& shard);

/// Takes those values of a shard that are `wanted`, in their order, and reads nothing else. Of one
/// that is as it was written.
void read_shard(const std::filesystem::path& dir, const Checkpoint& of, const Shard& shard,
                const std::function<bool(const std::string& name)>& wanted,
                const std::function<void(NamedValue)>& take);

}  // namespace tessera::data
