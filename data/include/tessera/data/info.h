// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera::data {

/// A tree of named facts about a file.
struct InfoNode {
  using Value = std::variant<std::monostate, std::string, double, std::int64_t, bool>;
  std::string name;
  Value value;
  std::vector<InfoNode> children;
  InfoNode& add(std::string child, Value v = {}) {
    return children.emplace_back(InfoNode{std::move(child), std::move(v), {}});
  }
};

/// A kind of file that `tessera info` knows. A file belongs to the first format whose `sniff` says
/// so, in the order of `priority` (small first); where none does, to the one that names its
/// extension.
struct FileFormat {
  std::string name;     ///< "EDI"
  std::string summary;  ///< "SEG EDI magnetotelluric soundings", for `tessera list formats`
  std::vector<std::string> extensions;  ///< lower case with the dot: {".edi"}
  /// `head`: the first 4 KiB (all of a shorter file). Must not throw.
  bool (*sniff)(std::string_view head, const std::filesystem::path& path) = nullptr;
  /// Facts about the whole file. Throws InputError where it is damaged.
  InfoNode (*summarize)(const std::filesystem::path& path) = nullptr;
  int priority = 50;
};

/// Makes a format known; a namespace-scope object in the reader's file does it:
///     const tessera::data::RegisterFormat registered({.name = "EDI", ...});
void register_format(FileFormat format);
struct RegisterFormat {
  explicit RegisterFormat(FileFormat format) { register_format(std::move(format)); }
};
/// Every known format, sorted by name.
std::vector<FileFormat> all_formats();

/// The format that a file belongs to, if it is a known one. Throws InputError (exit 4): E0401 to
/// E0403, E0430 an empty file.
std::optional<FileFormat> format_of(const std::filesystem::path& path);

/// What a file or run folder holds. Throws InputError (exit 4): E0430 of no known format, or the
/// reader's own.
InfoNode info(const std::filesystem::path& path);
/// Indented lines `name: value`; control characters are made safe.
std::string to_text(const InfoNode& node);
std::string to_json(const InfoNode& node);

}  // namespace tessera::data
