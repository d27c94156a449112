// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/diagnostic.h"
#include "tessera/data/manifest.h"

#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::data {

/// What one name in a checkpoint holds. `shape` multiplies up to the number of elements; a text has
/// no shape.
struct CheckpointValue {
  using Data = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                            std::vector<std::uint64_t>, std::vector<std::uint8_t>,
                            std::vector<std::complex<double>>, std::string>;
  std::vector<std::uint64_t> shape;
  Data data;
};

/// A file that holds some of a checkpoint's values (checkpoint_shards.h).
struct Shard {
  std::string sha256;
  std::uint64_t bytes = 0;
  bool operator==(const Shard&) const = default;
};

/// The state of a run after `step` steps: a named set of arrays and texts, and what it belongs to.
///
///     Checkpoint c{.app = "inversion.mt1d", .step = 12, .config_sha256 = h};
///     c.put("model", model, {n_soundings, n_layers});
///     write_checkpoint(run.checkpoints(), c, keep);
///     ...
///     if (auto loaded = load_newest_checkpoint(run.checkpoints()))
///       model = loaded->checkpoint.array<double>("model");
struct Checkpoint {
  std::string app;
  std::uint64_t step = 0;
  std::string config_sha256;      ///< of the resolved configuration
  std::vector<InputFile> inputs;  ///< the files the run has read
  std::vector<Shard> shards;      ///< which values each has, the app knows
  bool is_shard = false;          ///< it has but some of the values of one
  std::map<std::string, CheckpointValue> values;

  /// Adds or replaces an array; an empty `shape` means [n]. Throws Error when the shape does not
  /// fit.
  template <class T>
  void put(const std::string& name, std::vector<T> array, std::vector<std::uint64_t> shape = {}) {
    if (shape.empty()) shape = {array.size()};
    put_value(name, {std::move(shape), std::move(array)});
  }
  void put(const std::string& name, std::string text) { put_value(name, {{}, std::move(text)}); }
  void put(const std::string& name, const char* text) { put(name, std::string(text)); }
  void put(const std::string& name, double value) { put(name, std::vector<double>{value}); }
  void put(const std::string& name, std::int64_t value) {
    put(name, std::vector<std::int64_t>{value});
  }
  void put(const std::string& name, std::uint64_t value) {
    put(name, std::vector<std::uint64_t>{value});
  }

  bool has(const std::string& name) const { return values.contains(name); }
  /// The array of that name; throws InputError E0416 (exit 8) when it is absent or of another type.
  template <class T>
  const std::vector<T>& array(const std::string& name) const {
    const auto* found = std::get_if<std::vector<T>>(&find(name).data);
    if (!found) wrong_type(name);
    return *found;
  }
  const std::string& text(const std::string& name) const;
  template <class T>
  T scalar(const std::string& name) const {
    const std::vector<T>& a = array<T>(name);
    if (a.size() != 1) wrong_type(name);
    return a[0];
  }

 private:
  void put_value(const std::string& name, CheckpointValue value);
  const CheckpointValue& find(const std::string& name) const;
  [[noreturn]] void wrong_type(const std::string& name) const;
};

/// Writes `DIR/step-N.ckpt` (temporary file, fsync, rename, fsync of the folder), points
/// `DIR/LATEST` at it and only then removes all but the newest `keep`. Its shards are in the folder
/// already: only with this file they are a checkpoint. Returns the path. Errors as AtomicFile;
/// older checkpoints stay untouched.
std::filesystem::path write_checkpoint(const std::filesystem::path& dir, const Checkpoint& c,
                                       int keep = 3);

struct LoadedCheckpoint {
  Checkpoint checkpoint;
  std::filesystem::path path;
  std::vector<Diagnostic> warnings;  ///< newer checkpoints that were damaged and passed over
};

/// The newest checkpoint that is whole. Nothing when there is none at all (the run was killed
/// before its first one: start afresh). Throws InputError (exit 8) naming each when there are some
/// and all are damaged. `whole` throws InputError with that exit code where the shards of one are
/// not as they were written; null: check_shard of each.
std::optional<LoadedCheckpoint> load_newest_checkpoint(
    const std::filesystem::path& dir, const std::function<void(const Checkpoint&)>& whole = {});

/// Reads one file. Throws InputError E0411..E0415 (exit 8).
Checkpoint read_checkpoint(const std::filesystem::path& file);

/// Refuses to go on with another configuration than that of the run or one that it was changed from
/// (E0417, exit 5), or with changed input files (E0418, exit 4).
void check_resumable(const Checkpoint& c, const Manifest& run, std::span<const InputFile> inputs);

/// The bytes of a checkpoint file (docs/reference/checkpoint-format.md), and back. `file` is for
/// messages only.
std::string encode_checkpoint(const Checkpoint& c);
Checkpoint decode_checkpoint(std::string_view bytes, const std::string& file);

}  // namespace tessera::data
