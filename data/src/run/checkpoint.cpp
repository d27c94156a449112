// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/checkpoint.h"

#include "run/checkpoint_format.h"
#include "tessera/data/checkpoint_shards.h"
#include "tessera/data/file_io.h"
#include "tessera/data/memory.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "step-", kSuffix = ".ckpt", kShard = ".shard";

struct Found {
  std::uint64_t step;
  fs::path path;
};

std::optional<std::uint64_t> step_of(const std::string& name) {
  std::string_view s = name;
  if (!s.starts_with(kPrefix) || !s.ends_with(kSuffix) ||
      s.size() <= kPrefix.size() + kSuffix.size())
    return {};
  s.remove_prefix(kPrefix.size());
  s.remove_suffix(kSuffix.size());
  std::uint64_t step;
  const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), step);
  if (failed != std::errc{} || end != s.data() + s.size()) return {};
  return step;
}

/// The checkpoints of a folder, newest first.
std::vector<Found> list_checkpoints(const fs::path& dir) {
  std::vector<Found> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(dir, failed))
    if (const auto step = step_of(entry.path().filename().string()))
      out.push_back({*step, entry.path()});
  std::sort(out.begin(), out.end(), [](const Found& a, const Found& b) { return a.step > b.step; });
  return out;
}

/// Of "step-12.0123456789abcdef.shard".
std::optional<std::uint64_t> step_of_shard(const std::string& name) {
  if (!name.ends_with(kShard)) return {};
  return step_of(name.substr(0, name.find('.')) + std::string(kSuffix));
}

/// Runs after a checkpoint is safe. Steps above it are left from before a resume that had to go
/// further back.
void prune(const fs::path& dir, const Checkpoint& c, int keep) {
  std::error_code ignored;  // a file that cannot be removed costs space only
  std::set<std::uint64_t> kept;
  for (const Found& f : list_checkpoints(dir))
    if (f.step > c.step || static_cast<int>(kept.size()) == keep)
      fs::remove(f.path, ignored);
    else
      kept.insert(f.step);
  const auto is_shard_of_c = [&](const std::string& name) {
    return std::any_of(c.shards.begin(), c.shards.end(),
                       [&](const Shard& s) { return shard_name(c.step, s) == name; });
  };
  std::vector<fs::path> left;  // files of killed writers, shards of what is no checkpoint any more
  for (const auto& entry : fs::directory_iterator(dir, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto step = step_of_shard(name);
    if (name.find(".tmp-") != std::string::npos ||
        (step && (*step == c.step ? !is_shard_of_c(name) : !kept.contains(*step))))
      left.push_back(entry.path());
  }
  for (const fs::path& p : left) fs::remove(p, ignored);
}

}  // namespace

void Checkpoint::put_value(const std::string& name, CheckpointValue value) {
  if (!shape_fits(value))
    throw Error("[checkpoint] the shape of '" + name + "' does not fit its number of elements");
  values.insert_or_assign(name, std::move(value));
}

const CheckpointValue& Checkpoint::find(const std::string& name) const {
  const auto found = values.find(name);
  if (found == values.end())
    throw InputError(
        {.number = 416,
         .place = {},
         .message = "the checkpoint of step " + std::to_string(step) + " has no '" + name + "'",
         .hint = "it was written by another version of the app"},
        ExitCode::checkpoint_damaged);
  return found->second;
}

void Checkpoint::wrong_type(const std::string& name) const {
  throw InputError({.number = 416,
                    .place = {},
                    .message = "'" + name + "' in the checkpoint of step " + std::to_string(step) +
                               " has another type or size than expected",
                    .hint = "it was written by another version of the app"},
                   ExitCode::checkpoint_damaged);
}

const std::string& Checkpoint::text(const std::string& name) const {
  const auto* found = std::get_if<std::string>(&find(name).data);
  if (!found) wrong_type(name);
  return *found;
}

fs::path write_checkpoint(const fs::path& dir, const Checkpoint& c, int keep) {
  make_folder(dir);
  const std::string name = std::string(kPrefix) + std::to_string(c.step) + std::string(kSuffix);
  AtomicFile file(dir / name);
  encode_checkpoint_to(c, [&](const void* p, std::size_t n) { file.write(p, n); });
  file.commit();
  write_file_atomically(dir / "LATEST", name + "\n");
  prune(dir, c, std::max(keep, 1));
  return dir / name;
}

Checkpoint read_checkpoint(const fs::path& file) {
  try {
    return decode_checkpoint(read_file(file, memory_limit() / 2), file.string());
  } catch (const InputError& e) {
    throw InputError(ExitCode::checkpoint_damaged, e.findings());
  }
}

std::optional<LoadedCheckpoint> load_newest_checkpoint(
    const fs::path& dir, const std::function<void(const Checkpoint&)>& whole) {
  std::vector<Diagnostic> damaged;
  for (const Found& f : list_checkpoints(dir)) {
    try {
      LoadedCheckpoint loaded{.checkpoint = read_checkpoint(f.path), .path = f.path};
      const Checkpoint& c = loaded.checkpoint;
      if (c.step != f.step || c.is_shard)
        damaged_checkpoint(f.path.string(), 415, 0,
                           std::string("malformed: it is ") +
                               (c.is_shard ? "a shard" : "the checkpoint") + " of step " +
                               std::to_string(c.step));
      if (whole)
        whole(c);
      else
        for (const Shard& s : c.shards) check_shard(dir, c, s);
      for (Diagnostic& d : damaged) {
        d.severity = Severity::warning;
        d.hint = "an older checkpoint is used: " + f.path.filename().string();
      }
      loaded.warnings = std::move(damaged);
      return loaded;
    } catch (const InputError& e) {
      if (e.code() != ExitCode::checkpoint_damaged) throw;
      damaged.insert(damaged.end(), e.findings().begin(), e.findings().end());
    }
  }
  if (damaged.empty()) return {};
  throw InputError(ExitCode::checkpoint_damaged, std::move(damaged));
}

void check_resumable(const Checkpoint& c, const Manifest& run, std::span<const InputFile> inputs) {
  const bool known =
      c.config_sha256 == run.config_sha256 ||
      std::any_of(run.changes.begin(), run.changes.end(), [&](const ConfigChange& change) {
        return change.config_sha256 == c.config_sha256;
      });
  if (c.app != run.app || !known)
    throw InputError(
        {.number = 417,
         .place = {},
         .message = c.app != run.app
                        ? "the checkpoint is of app '" + c.app + "', not '" + run.app + "'"
                        : "the configuration is not the one the checkpoint was written with",
         .hint = "start a new run, or restore RUN/resolved.toml"},
        ExitCode::config_invalid);
  std::map<std::string_view, const InputFile*> left;
  for (const InputFile& f : inputs) left.emplace(f.path, &f);
  std::vector<Diagnostic> changed;
  for (const InputFile& was : c.inputs) {
    const auto now = left.find(was.path);
    if (now == left.end() || !(*now->second == was))
      changed.push_back({.number = 418,
                         .place = {was.path},
                         .message = now == left.end()
                                        ? "is read no more, the checkpoint was written with it"
                                        : "has changed since the checkpoint was written",
                         .hint = "restore the file, or start a new run"});
    if (now != left.end()) left.erase(now);
  }
  for (const auto& [path, now] : left)
    changed.push_back({.number = 418,
                       .place = {now->path},
                       .message = "is new since the checkpoint was written"});
  if (!changed.empty()) throw InputError(ExitCode::input_invalid, std::move(changed));
}

}  // namespace tessera::data
