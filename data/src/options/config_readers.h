// SPDX-License-Identifier: Apache-2.0
// What lies between the text of a configuration and its value tree. Private to data/.
#pragma once
#include "tessera/data/config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::data::detail {

/// Deepest nesting of tables and lists. Both parsers and every walk over the tree recurse this far
/// at most.
inline constexpr std::size_t kMaxDepth = 64;

/// The two readers: a Table whose origins point into `text` as source number `source`. Values that
/// are well formed but mean nothing (NaN, Inf) go to `findings`; the first syntax error is thrown
/// as InputError (E0110-E0114).
Value read_toml(const TextFile& text, std::uint32_t source, std::vector<Diagnostic>& findings);
Value read_json(const TextFile& text, std::uint32_t source, std::vector<Diagnostic>& findings);

/// Sorts members by key; returns a member whose key came twice (the later one), or nullptr.
const Member* sort_members(Table& table);

/// `'text'`, shortened and without control characters: for messages.
std::string in_quotes(std::string_view text);

}  // namespace tessera::data::detail
