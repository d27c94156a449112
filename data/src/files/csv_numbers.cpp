// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/csv_numbers.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/nearest_names.h"
#include "tessera/data/text_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace tessera::data {

std::optional<double> csv_number(std::string_view field) {
  double v = 0;
  const auto [end, wrong] = std::from_chars(field.data(), field.data() + field.size(), v);
  if (wrong != std::errc{} || end != field.data() + field.size()) return std::nullopt;
  return v;
}

namespace {

/// Keeps what a hostile file can make us hold small.
constexpr std::size_t most_fields = std::size_t{1} << 20;

struct Field {
  std::string_view text;  // without quotes
  std::size_t at = 0;     // where it begins, blanks and quotes included
  bool quoted = false;
  std::string unquoted = {};

  std::string_view trimmed() const { return quoted ? text : trim(text); }
  /// Where its first character is that is no blank.
  std::size_t begin() const {
    return quoted || trimmed().empty()
               ? at
               : at + static_cast<std::size_t>(trimmed().data() - text.data());
  }
};

/// The field at `at`, which moves behind the comma or line break that ends it; whether that was a
/// comma. `record` is where the record begins.
bool next_field(const TextFile& file, std::size_t& at, std::size_t record, int number, Field& f) {
  const std::string& text = file.text;
  f.at = at;
  f.quoted = at < text.size() && text[at] == '"';
  f.unquoted.clear();
  if (f.quoted) {
    do {
      const std::size_t begin = at + 1, end = text.find('"', begin);
      if (end == std::string::npos)
        throw InputError(file.error(number, record, "a quoted field of this record has no end"));
      if (begin - 1 > f.at) f.unquoted += '"';  // two in quotes are one
      f.unquoted.append(text, begin, end - begin);
      at = end + 1;
    } while (at < text.size() && text[at] == '"');
  }
  const std::size_t end = std::min(text.find_first_of(",\n", at), text.size());
  f.text = std::string_view(text).substr(at, end - at);
  if (f.quoted) f.text = f.unquoted.append(f.text);  // what stands behind the quotes belongs to it
  at = std::min(end + 1, text.size());
  return end < text.size() && text[end] == ',';
}

/// The first line.
std::vector<std::string> read_names(const TextFile& file, std::size_t& at,
                                    const CsvNumbersOptions& options) {
  std::vector<std::string> names = csv_record(file, at, options.number);
  if (const auto first = csv_number(trim(names.front()));
      first && std::isfinite(*first))  // no name such as `inf`
    throw InputError(file.error(options.number, 0,
                                "the first line has numbers, and is to name columns",
                                options.names_hint));
  return names;
}

/// Calls take(column, field) for every field of the rows from `at` on, and end() behind each row
/// that has as many as there are columns.
template <class Take, class End>
void read_rows(const TextFile& file, std::size_t at, std::size_t columns, const char* what,
               const CsvNumbersOptions& options, Take take, End end) {
  Field field;
  while (at < file.text.size()) {
    if (file.text[at] == '\n') {
      ++at;
      continue;
    }
    const std::size_t record = at;
    std::size_t found = 0;
    for (bool more = true; more; ++found) {
      more = next_field(file, at, record, options.number, field);
      take(found, field);
    }
    if (found != columns)
      throw InputError(file.error(options.number, record,
                                  std::string("expected one ") + what + " for each of " +
                                      std::to_string(columns) + " columns, got " +
                                      std::to_string(found),
                                  options.row_hint));
    end(record);
  }
}

double number_of(const TextFile& file, const Field& field, const CsvNumbersOptions& options) {
  const std::string_view text = trim(field.text);
  const std::optional<double> v = csv_number(text);
  if (v && (!options.finite || std::isfinite(*v))) return *v;
  throw InputError(
      file.error(options.number, field.begin(),
                 std::string(v ? "expected a number that is finite" : "expected a number") +
                     (text.empty() ? ", the field is empty" : ", got " + shown(text.substr(0, 40))),
                 options.number_hint));
}

/// Where the first line is one name: what it seems to have in place of commas.
std::string comma_hint(const std::vector<std::string>& names) {
  if (names.size() != 1) return {};
  for (const auto& [mark, word] : {std::pair(';', "semicolons"), std::pair('\t', "tabs")})
    if (names[0].find(mark) != std::string::npos)
      return std::string("fields stand between commas, here they seem to stand between ") + word;
  return {};
}

}  // namespace

const std::vector<double>* CsvNumbers::find(const std::string& name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &columns[static_cast<std::size_t>(at - names.begin())];
}

std::vector<std::string> csv_record(const TextFile& file, std::size_t& at, int number) {
  std::vector<std::string> fields;
  const std::size_t record = at;
  Field field;
  while (next_field(file, at, record, number, field)) {
    if (fields.size() + 1 == most_fields)
      throw InputError(file.error(number, at - 1, "a record has more fields than 2^20"));
    fields.emplace_back(field.text);
  }
  fields.emplace_back(field.text);
  return fields;
}

CsvNumbers read_csv_numbers(const TextFile& file, const CsvNumbersOptions& options) {
  CsvNumbers out;
  std::size_t at = 0;
  out.names = read_names(file, at, options);
  out.columns.resize(options.columns > 0 ? options.columns : out.names.size());
  read_rows(
      file, at, out.columns.size(), "number", options,
      [&](std::size_t column, const Field& field) {
        const double v = number_of(file, field, options);
        if (column < out.columns.size()) out.columns[column].push_back(v);
      },
      [](std::size_t) {});
  return out;
}

CsvNumbers read_csv_numbers(const std::filesystem::path& path, const CsvNumbersOptions& options) {
  return read_csv_numbers(read_text_file(path, options.limits), options);
}

CsvColumns read_csv_columns(const TextFile& file, const std::vector<std::string>& numbers,
                            const CsvNumbersOptions& asked) {
  CsvNumbersOptions options = asked;
  CsvColumns out{.file = file.path, .number = options.number};
  std::size_t at = 0;
  const std::vector<std::string> names = read_names(file, at, options);
  if (options.row_hint.empty()) options.row_hint = comma_hint(names);
  for (const std::string& name : names) out.columns.push_back({.name = std::string(trim(name))});
  for (const std::string& name : numbers) out.columns[out.place_of(name)].is_number = true;
  read_rows(
      file, at, out.columns.size(), "field", options,
      [&](std::size_t i, const Field& field) {
        if (i >= out.columns.size()) return;
        CsvColumn& column = out.columns[i];
        if (column.is_number)
          column.numbers.push_back(number_of(file, field, options));
        else
          column.texts.emplace_back(field.trimmed());
      },
      [&](std::size_t record) { out.lines.push_back(file.place(record).line); });
  return out;
}

CsvColumns read_csv_columns(const std::filesystem::path& path,
                            const std::vector<std::string>& numbers,
                            const CsvNumbersOptions& options) {
  return read_csv_columns(read_text_file(path, options.limits), numbers, options);
}

std::size_t CsvColumns::place_of(const std::string& name) const {
  const auto at = std::ranges::find(columns, name, &CsvColumn::name);
  const auto place = static_cast<std::size_t>(at - columns.begin());
  const auto again =
      at == columns.end()
          ? at
          : std::find_if(at + 1, columns.end(), [&](const CsvColumn& c) { return c.name == name; });
  if (again != columns.end())
    throw InputError(Diagnostic{.number = number,
                                .place = {.file = file, .line = 1, .column = 1},
                                .message = "two columns are called " + shown(name) + ", number " +
                                           std::to_string(place + 1) + " and number " +
                                           std::to_string(again - columns.begin() + 1),
                                .hint = "give each a name of its own"});
  if (at != columns.end()) return place;
  std::vector<std::string> known;
  for (const CsvColumn& c : columns) known.push_back(c.name);
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(known.size(), 20); ++i)
    list += (i ? ", " : "") + shown(known[i]);
  throw InputError(Diagnostic{
      .number = number,
      .place = {.file = file, .line = 1, .column = 1},
      .message = "there is no column " + shown(name) + "; the first line names " + list +
                 (known.size() > 20 ? ", ..." : ""),
      .hint = comma_hint(known).empty() ? nearest_hint(name, known) : comma_hint(known)});
}

const std::vector<double>& CsvColumns::numbers(const std::string& name) const {
  const CsvColumn& column = columns[place_of(name)];
  if (!column.is_number) throw Error("[csv] the column '" + name + "' was read as texts");
  return column.numbers;
}

const std::vector<std::string>& CsvColumns::texts(const std::string& name) const {
  const CsvColumn& column = columns[place_of(name)];
  if (column.is_number) throw Error("[csv] the column '" + name + "' was read as numbers");
  return column.texts;
}

}  // namespace tessera::data
