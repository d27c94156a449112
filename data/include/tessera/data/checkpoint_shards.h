// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of many writers: each writes a file of its values, a shard, and one of them then the
// checkpoint that names all of these. Without that file the shards are nothing.
//
//   Shard mine = write_shard<double>(dir, c, rank, rows, [&](std::size_t k) { return ..; });  //
//   each c.shards = ..;                                                                 // of all
//   write_checkpoint(dir, c, keep);                                                // one
//   ...
//   load_newest_checkpoint(dir);  // passes over those of which a shard is not as it was written
//   read_shard(dir, c, c.shards[k], wanted, take);
//
// A shard is a file of the checkpoint format, whose name ends with the first digits of its SHA-256:
// another attempt at the same step writes over nothing. Values are asked for one at a time, and go
// to the disk while the next ones are looked at; a thirtieth of a shard waits for it in memory.
#pragma once
#include "tessera/data/checkpoint.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::data {

/// "step-12.0123456789abcdef.shard".
std::string shard_name(std::uint64_t step, const Shard& shard);

/// A value of a shard: a row of numbers.
struct ShardRow {
  std::string name;
  std::uint64_t count = 0;
};

/// Writes a shard of the checkpoint that `of` begins, of rows of T, float or double. numbers(k) are
/// those of row k; they are read before it is called again. `writer` differs among those that write
/// at a time. Errors as AtomicFile.
template <class T>
Shard write_shard(const std::filesystem::path& dir, const Checkpoint& of, int writer,
                  const std::vector<ShardRow>& rows,
                  const std::function<const T*(std::size_t)>& numbers);

/// Throws InputError (exit 8) unless the file is there, every byte as it was written: E0442 absent,
/// E0413 shorter or longer, E0414 damaged or another one's.
void check_shard(const std::filesystem::path& dir, const Checkpoint& of, const Shard& shard);

using NamedValue = std::pair<std::string, CheckpointValue>;
/// Takes those values of a shard that are `wanted`, in their order, and reads nothing else. Of one
/// that is as it was written.
void read_shard(const std::filesystem::path& dir, const Checkpoint& of, const Shard& shard,
                const std::function<bool(const std::string& name)>& wanted,
                const std::function<void(NamedValue)>& take);

}  // namespace tessera::data
