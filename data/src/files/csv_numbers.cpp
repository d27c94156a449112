// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/csv_numbers.h"

#include "tessera/data/text_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace tessera::data {
namespace {

/// Keeps what a hostile file can make us hold small.
constexpr std::size_t most_fields = std::size_t{1} << 20;

/// A number and nothing else.
std::optional<double> csv_number(std::string_view field) {
  double v = 0;
  const auto [end, wrong] = std::from_chars(field.data(), field.data() + field.size(), v);
  if (wrong != std::errc{} || end != field.data() + field.size()) return std::nullopt;
  return v;
}

}  // namespace

const std::vector<double>* CsvNumbers::find(const std::string& name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &columns[static_cast<std::size_t>(at - names.begin())];
}

std::vector<std::string> csv_record(const TextFile& file, std::size_t& at, int number) {
  const std::string& text = file.text;
  std::vector<std::string> fields(1);
  const std::size_t begin = at;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"')
        fields.back() += c;
      else if (at + 1 < text.size() && text[at + 1] == '"')
        fields.back() += text[++at];
      else
        quoted = false;
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      if (fields.size() == most_fields)
        throw InputError(file.error(number, at, "a record has more fields than 2^20"));
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      return fields;
    } else {
      fields.back() += c;
    }
  }
  if (quoted)
    throw InputError(file.error(number, begin, "a quoted field of this record has no end"));
  return fields;
}

CsvNumbers read_csv_numbers(const TextFile& file, const CsvNumbersOptions& options) {
  const auto refuse = [&](std::size_t offset, std::string what, std::string hint = {}) {
    throw InputError(file.error(options.number, offset, std::move(what), std::move(hint)));
  };
  CsvNumbers out;
  std::size_t at = 0;
  out.names = csv_record(file, at, options.number);
  if (const auto first = csv_number(trim(out.names.front()));
      first && std::isfinite(*first))  // no name such as `inf`
    refuse(0, "the first line has numbers, and is to name columns", options.names_hint);
  out.columns.resize(options.columns > 0 ? options.columns : out.names.size());
  const std::string_view text = file.text;
  while (at < text.size()) {
    const std::size_t begin = at, end = std::min(text.find('\n', at), text.size());
    at = end + 1;
    if (begin == end) continue;
    std::size_t found = 0;
    for (std::size_t field = begin; field <= end; ++found) {
      const std::size_t stop = std::min(text.find(',', field), end);
      const std::string_view word = trim(text.substr(field, stop - field));
      const std::optional<double> v = csv_number(word);
      if (!v || (options.finite && !std::isfinite(*v)))
        refuse(word.empty() ? field : static_cast<std::size_t>(word.data() - text.data()),
               "expected a number");
      if (found < out.columns.size()) out.columns[found].push_back(*v);
      field = stop + 1;
    }
    if (found != out.columns.size())
      refuse(begin,
             "expected one number for each of " + std::to_string(out.columns.size()) +
                 " columns, got " + std::to_string(found),
             options.row_hint);
  }
  return out;
}

CsvNumbers read_csv_numbers(const std::filesystem::path& path, const CsvNumbersOptions& options) {
  return read_csv_numbers(read_text_file(path, options.limits), options);
}

}  // namespace tessera::data
