// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/diagnostic.h"
#include "tessera/data/text_file.h"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::data {

/// Where a value stands: which source of its Config, line and column (bytes) from 1; 0 where there
/// are none (`--set`).
struct Origin {
  std::uint32_t source = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Value;
struct Member;
using Array = std::vector<Value>;
using Table = std::vector<Member>;  ///< sorted by key, keys unique
/// A TOML date or time: no option takes one, but "got a date" says more than "syntax error".
struct Date {
  std::string text;
};

/// One node of a configuration, TOML and JSON alike.
struct Value {
  std::variant<bool, std::int64_t, double, std::string, Date, Array, Table> data;
  Origin origin;

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  /// "a boolean", "an integer", "a number", "a string", "a date", "a list", "a table"
  const char* kind() const;
};

struct Member {
  std::string key;
  Origin origin;  ///< of the key
  Value value;
};

const Member* find(const Table& table, std::string_view key);

/// A configuration as it was written: its values with their places, before any app has looked at
/// them.
struct Config {
  std::vector<TextFile> sources;  ///< the file itself, its includes, then one for each `--set`
  Value root;                     ///< always a Table; `include` is already resolved and gone
  std::filesystem::path folder;   ///< absolute; relative paths in the file start here
  std::vector<Diagnostic>
      findings;  ///< what is wrong already (NaN, Inf); told together with what the app finds

  const std::string& path() const { return sources.front().path; }
  const Table& table() const { return *root.get<Table>(); }
  /// The name in `app = "folder.name"`. Throws InputError E0201 where it is missing or no string.
  std::string app() const;
  /// Where a key stands: "data.strike", "structure[2].radius" (items count from 0). Where it is not
  /// given, the nearest table or item around it.
  Origin origin(std::string_view key) const;
  Diagnostic error(int number, const Origin& at, std::string message, std::string hint = {}) const;
  /// The same at the place of a key.
  template <std::convertible_to<std::string_view> Key>
  Diagnostic error(int number, const Key& key, std::string message, std::string hint = {}) const {
    return error(number, origin(key), std::move(message), std::move(hint));
  }
};

enum class ConfigFormat { toml, json };

/// The longest text that is read as a configuration. A case of many bodies is several times as long
/// with every default (resolved.toml), and is read as that, too.
inline constexpr std::size_t kMostConfigBytes = std::size_t{4} << 20;

/// Reads `path` (JSON if it ends in .json, else TOML 1.0), the files its `include = [..]` names,
/// and `overrides` of the form `a.b=value` or `a[2].b=value`. The including file wins over the
/// included one, tables merged and lists replaced, but lists of tables in included files are put in
/// front of the same list here. An override replaces what its key holds, whole tables where its
/// value is one. Includes stay inside the folder of
/// `path` (no absolute path, no `..`, no link that leads out). Files are UTF-8 of at most 4 MiB,
/// nested at most 64 deep. Throws InputError (exit 5) with E01xx and E0217.
Config read_config(const std::filesystem::path& path,
                   const std::vector<std::string>& overrides = {});

/// The same from memory, without includes (E0120): for tests, fuzzing and `tessera new`.
Config parse_config(std::string name, std::string text, ConfigFormat format = ConfigFormat::toml,
                    const std::vector<std::string>& overrides = {});

}  // namespace tessera::data
