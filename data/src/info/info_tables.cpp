// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of tables: comma-separated (RFC 4180), or numbers in columns.
#include "info/info_formats.h"
#include "tessera/data/csv.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/text_file.h"
#include "tessera/data/text_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity(),
         high = -std::numeric_limits<double>::infinity();
  bool numbers = true;
  void take(std::string_view field) {
    if (field.starts_with('+')) field.remove_prefix(1);
    double v = 0;
    const auto [end, wrong] = std::from_chars(field.data(), field.data() + field.size(), v);
    numbers &= wrong == std::errc{} && end == field.data() + field.size();
    low = std::min(low, v);
    high = std::max(high, v);
  }
};
void add_columns(InfoNode& node, std::size_t rows, const std::vector<std::string>& names,
                 const std::vector<Range>& ranges) {
  node.add("rows", static_cast<std::int64_t>(rows));
  InfoNode& list = node.add("columns", static_cast<std::int64_t>(names.size()));
  for (std::size_t i = 0; i < std::min(names.size(), kMaxListed); ++i) {
    const Range& r = ranges[i];
    if (r.numbers && r.low <= r.high)
      list.add(names[i], number_text(r.low) + " to " + number_text(r.high));
    else
      list.add(names[i]);
  }
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t,;", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t,;", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

/// Comments, then a table, and behind a blank line perhaps another (refractiveindex.info writes n
/// and k so).
InfoNode csv_info(const fs::path& path) {
  const TextFile file = read_text_file(path);
  InfoNode node = file_node(path);
  std::size_t at = 0;
  const auto is_blank = [&] { return file.text[at] == '\n'; };
  const auto more = [&] { return at < file.text.size(); };
  while (more() && file.text[at] == '#') {
    const std::size_t end = std::min(file.text.find('\n', at), file.text.size());
    node.add("comment",
             std::string(trim(std::string_view(file.text).substr(at + 1, end - at - 1))));
    at = end + 1;
  }
  if (!more())
    throw InputError(file.error(433, 0, "expected a line with the names of the columns"));
  while (more()) {
    const std::vector<std::string> columns = csv_record(file, at);
    std::vector<Range> ranges(columns.size());
    std::size_t rows = 0;
    while (more() && (columns.size() == 1 || !is_blank())) {
      const std::size_t begin = at;
      const std::vector<std::string> fields = csv_record(file, at);
      if (fields.size() != columns.size())
        throw InputError(file.error(433, begin,
                                    "has " + std::to_string(fields.size()) +
                                        " fields, the header has " +
                                        std::to_string(columns.size())));
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (const std::string_view field = trim(fields[i]); !field.empty()) ranges[i].take(field);
      ++rows;
    }
    while (more() && is_blank()) ++at;
    add_columns(node, rows, columns, ranges);
  }
  return node;
}

/// A .dat file may be anything: its first row tells.
bool is_columns(std::string_view head, const fs::path& path) {
  if (path.extension() != ".dat") return false;
  for (std::size_t begin = 0; begin < head.size();) {
    const std::size_t end = std::min(head.find('\n', begin), head.size());
    const std::string_view line = trim(head.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line.front() == '#') continue;
    return std::ranges::all_of(words_of(line), [](const std::string& word) {
      Range r;
      r.take(word);
      return r.numbers;
    });
  }
  return false;
}

/// Rows of numbers between blanks, commas or semicolons, with lines of names or comments before
/// them.
InfoNode columns_info(const fs::path& path) {
  const TextFile file = read_text_file(path);
  InfoNode node = file_node(path);
  std::vector<std::string> names;
  std::vector<Range> ranges;
  std::size_t rows = 0;
  for (std::size_t n = 1; n <= file.n_lines(); ++n) {
    const std::string_view line = trim(file.line(n));
    if (line.empty()) continue;
    if (line.front() == '#') {
      node.add("comment", std::string(trim(line.substr(1))));
      continue;
    }
    const std::vector<std::string> words = words_of(line);
    std::vector<Range> of(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) of[i].take(words[i]);
    if (rows == 0 && !std::ranges::all_of(of, &Range::numbers)) {
      names = words;
      continue;
    }
    if (rows++ == 0) ranges.resize(words.size());
    if (words.size() != ranges.size())
      throw InputError(file.error(433, file.line_starts[n - 1],
                                  "has " + std::to_string(words.size()) +
                                      " columns, the first row has " +
                                      std::to_string(ranges.size())));
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!of[i].numbers)
        throw InputError(
            file.error(433, file.line_starts[n - 1], "'" + words[i] + "' is no number"));
      ranges[i].take(words[i]);
    }
  }
  if (rows == 0) throw InputError(file.error(433, 0, "expected rows of numbers"));
  names.resize(ranges.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty()) names[i] = "column " + std::to_string(i + 1);
  add_columns(node, rows, names, ranges);
  return node;
}

}  // namespace tessera::data
