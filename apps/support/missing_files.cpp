// SPDX-License-Identifier: Apache-2.0
#include "support/missing_files.h"

#include "tessera/data/nearest_names.h"

#include <optional>
#include <system_error>

namespace tessera::apps {
namespace {

namespace fs = std::filesystem;

bool is_missing(const fs::path& path) {
  std::error_code failed;
  return fs::symlink_status(path, failed).type() == fs::file_type::not_found;
}

/// As options make paths of texts (data/src/options): from the folder of the file that has them.
fs::path path_of(const data::Config& config, const data::Value& v, const std::string& text) {
  fs::path base = fs::current_path();
  if (v.origin.line > 0) base /= fs::path(config.sources.at(v.origin.source).path).parent_path();
  return (base / text).lexically_normal();
}

/// The text of a case that names a file.
struct Named {
  data::Origin origin;
  std::string text;
};
std::optional<Named> find_named(const data::Config& config, const data::Value& v,
                                const fs::path& file) {
  if (const auto* text = v.get<std::string>()) {
    if (path_of(config, v, *text) == file) return Named{v.origin, *text};
  } else if (const auto* items = v.get<data::Array>()) {
    for (const data::Value& item : *items)
      if (auto found = find_named(config, item, file)) return found;
  } else if (const auto* table = v.get<data::Table>()) {
    for (const data::Member& m : *table)
      if (auto found = find_named(config, m.value, file)) return found;
  }
  return {};
}

}  // namespace

std::string nearest_file_hint(const fs::path& path) {
  fs::path missing = fs::absolute(path).lexically_normal();
  if (!missing.has_filename()) missing = missing.parent_path();  // "soundings/"
  while (missing.has_relative_path() && is_missing(missing.parent_path()))
    missing = missing.parent_path();
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(missing.parent_path(), failed))
    names.push_back(entry.path().filename().string());
  return data::nearest_hint(missing.filename().string(), names);
}

std::vector<data::Diagnostic> at_keys(const data::Config& config,
                                      std::vector<data::Diagnostic> findings) {
  for (data::Diagnostic& d : findings) {
    if (d.place.file.empty() || d.place.line > 0 || !is_missing(d.place.file)) continue;
    const auto named =
        find_named(config, config.root, fs::absolute(d.place.file).lexically_normal());
    if (!named) continue;
    const std::string hint = nearest_file_hint(d.place.file);
    data::Diagnostic at =
        config.error(401, named->origin, "there is no file or folder '" + named->text + "'",
                     hint.empty() ? d.hint : hint);
    at.severity = d.severity;
    d = std::move(at);
  }
  return findings;
}

}  // namespace tessera::apps
