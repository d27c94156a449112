// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/checkpoint_shards.h"

#include "files/write_behind.h"
#include "run/checkpoint_format.h"
#include "tessera/data/file_io.h"

#include <cerrno>
#include <cstring>
#include <vector>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

RegularFile open_shard(const fs::path& path, std::uint64_t step) {
  std::error_code none;
  if (!fs::exists(path, none))
    damaged_checkpoint(path.string(), 442, 0,
                       "is not there: the checkpoint of step " + std::to_string(step) +
                           " has a part of its values in it");
  return RegularFile(path);
}

template <class F>
auto as_damage(F&& f) {
  try {
    return f();
  } catch (const InputError& e) {
    throw InputError(ExitCode::checkpoint_damaged, e.findings());
  }
}

}  // namespace

std::string shard_name(std::uint64_t step, const Shard& shard) {
  return "step-" + std::to_string(step) + "." + shard.sha256.substr(0, 16) + ".shard";
}

template <class T>
Shard write_shard(const fs::path& dir, const Checkpoint& of, int writer,
                  const std::vector<ShardRow>& rows,
                  const std::function<const T*(std::size_t)>& numbers) {
  AtomicFile file(dir / ("step-" + std::to_string(of.step) + "." + std::to_string(writer)));
  const Checkpoint about{.app = of.app,
                         .step = of.step,
                         .config_sha256 = of.config_sha256,
                         .inputs = {},
                         .shards = {},
                         .is_shard = true,
                         .values = {}};
  Shard shard;
  std::uint64_t numbers_in_all = 0;
  for (const ShardRow& row : rows) numbers_in_all += row.count;
  WriteBehind behind(file, numbers_in_all * sizeof(T));
  const Sha256::Digest digest =
      encode_rows_to<T>(about, rows, numbers, [&](const void* p, std::size_t bytes) {
        behind.write(p, bytes);
        shard.bytes += bytes;
      });
  behind.finish();
  shard.sha256 = to_hex(digest);
  file.commit_as(dir / shard_name(of.step, shard));
  return shard;
}
template Shard write_shard(const fs::path&, const Checkpoint&, int, const std::vector<ShardRow>&,
                           const std::function<const float*(std::size_t)>&);
template Shard write_shard(const fs::path&, const Checkpoint&, int, const std::vector<ShardRow>&,
                           const std::function<const double*(std::size_t)>&);

void check_shard(const fs::path& dir, const Checkpoint& of, const Shard& shard) {
  const fs::path path = dir / shard_name(of.step, shard);
  as_damage([&] {
    const RegularFile file = open_shard(path, of.step);
    if (file.size() != shard.bytes)
      damaged_checkpoint(path.string(), 413, 0,
                         "truncated or lengthened: has " + std::to_string(file.size()) +
                             " bytes and was written with " + std::to_string(shard.bytes));
    Sha256 hash;
    Sha256::Digest digest{};
    std::vector<char> piece(std::size_t{1} << 20);
    const std::uint64_t body = shard.bytes - std::min<std::uint64_t>(digest.size(), shard.bytes);
    std::uint64_t at = 0;
    while (at < body) {
      const std::size_t got =
          file.read(at, piece.data(), std::min<std::uint64_t>(piece.size(), body - at));
      if (got == 0) break;
      hash.update(piece.data(), got);
      at += got;
    }
    const Sha256::Digest found = hash.finish();
    if (at < body || file.read(body, digest.data(), digest.size()) < digest.size() ||
        found != digest || to_hex(digest) != shard.sha256)
      damaged_checkpoint(path.string(), 414, 0,
                         "damaged, or of another checkpoint: its SHA-256 is not the one that the "
                         "checkpoint of step " +
                             std::to_string(of.step) + " names");
  });
}

void read_shard(const fs::path& dir, const Checkpoint& of, const Shard& shard,
                const std::function<bool(const std::string& name)>& wanted,
                const std::function<void(NamedValue)>& take) {
  const fs::path path = dir / shard_name(of.step, shard);
  as_damage([&] {
    read_values(open_shard(path, of.step), path.string(), wanted,
                [&](std::string name, CheckpointValue value) {
                  take({std::move(name), std::move(value)});
                });
  });
}

}  // namespace tessera::data
