// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of the log of a run.
#include "info/info_formats.h"
#include "tessera/data/text_file.h"
#include "tessera/data/text_reader.h"

#include <algorithm>
#include <string_view>

namespace tessera::data {
namespace {

/// "2026-01-31T12:00:00.000Z warning" and what it says.
bool is_record(std::string_view line) {
  constexpr std::string_view pattern = "0000-00-00T00:00:00.000Z ";
  if (line.size() < pattern.size()) return false;
  for (std::size_t k = 0; k < pattern.size(); ++k)
    if (pattern[k] == '0' ? line[k] < '0' || line[k] > '9' : line[k] != pattern[k]) return false;
  return true;
}

}  // namespace

bool is_log(std::string_view head, const std::filesystem::path&) { return is_record(head); }

InfoNode log_info(const std::filesystem::path& path) {
  const TextFile file = read_text_file(path);
  InfoNode node = file_node(path);
  std::vector<std::pair<std::string, std::int64_t>> levels;
  std::string first, last;
  for (std::size_t n = 1; n <= file.n_lines(); ++n) {
    const std::string_view line = file.line(n);
    if (!is_record(line)) continue;  // a message goes on
    last = std::string(line.substr(0, 24));
    if (first.empty()) first = last;
    const std::string_view rest = trim(line.substr(25));
    const std::string level(rest.substr(0, rest.find(' ')));
    auto at = std::ranges::find(levels, level, &std::pair<std::string, std::int64_t>::first);
    if (at == levels.end()) at = levels.insert(at, {level, 0});
    ++at->second;
  }
  node.add("first", first);
  node.add("last", last);
  for (const auto& [level, n] : levels) node.add(level, n);
  return node;
}

}  // namespace tessera::data
