// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/tables.h"

#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;

constexpr int number = 672;

[[noreturn]] void refuse(const Table& t, std::size_t row, std::string message,
                         std::string hint = {}) {
  const std::size_t line = t.texts.lines[row];
  throw data::InputError({.number = number,
                          .place = {.file = t.text.path, .line = line},
                          .message = std::move(message),
                          .hint = std::move(hint),
                          .source_line = std::string(t.text.line(line))});
}

template <class F>
void each_field(const Tables& tables, const std::string& column, const F& f) {
  for (const Table& t : tables) {
    const std::vector<std::string>& fields = t.texts.texts(column);
    for (std::size_t r = 0; r < fields.size(); ++r) {
      if (fields[r].empty())
        refuse(t, r, "column '" + column + "' has no value", "fill it in, or leave the row out");
      f(t, r, fields[r]);
    }
  }
}

/// All fields as numbers; nothing where one is none. Throws for one that is not finite.
std::optional<std::vector<double>> numbers_in(const Tables& tables, const std::string& column) {
  std::vector<double> all;
  std::size_t fields = 0;
  std::optional<std::pair<const Table*, std::size_t>> bad;
  each_field(tables, column, [&](const Table& t, std::size_t row, const std::string& field) {
    ++fields;
    const auto number = data::csv_number(field);
    if (number) all.push_back(*number);
    if (number && !std::isfinite(*number) && !bad) bad.emplace(&t, row);
  });
  if (all.size() < fields) return {};
  if (bad)
    refuse(*bad->first, bad->second,
           "column '" + column + "' has '" + bad->first->texts.texts(column)[bad->second] +
               "' among numbers: expected a number that is finite",
           "leave the row out, or write words");
  return all;
}

/// The word itself, else a number of the same value.
std::size_t needed_word(const Table& t, std::size_t row, const std::string& column,
                        const std::string& field, const Words& words) {
  auto found = std::ranges::find(words, field);
  if (const auto number = data::csv_number(field); number && found == words.end())
    found = std::ranges::find_if(
        words, [&](const std::string& w) { return data::csv_number(w) == number; });
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : ", ") + w;
  refuse(t, row, "column '" + column + "' has '" + field + "', which was not learnt",
         "it knows " + all);
}

}  // namespace

Tables read_tables(const std::vector<fs::path>& files) {
  Tables tables;
  for (const fs::path& file : files) {
    data::TextFile text = data::read_text_file(file);
    data::CsvColumns texts = data::read_csv_columns(text, {}, {.number = number});
    if (texts.rows() == 0)
      throw data::InputError(text.error(number, 0, "has no rows below a line of names"));
    tables.push_back({std::move(text), std::move(texts)});
  }
  return tables;
}

Words words_of(const Tables& tables, const std::string& column) {
  if (data::csv_number(tables.front().texts.texts(column).front())) return {};
  return labels_of(tables, column);
}

Tensor columns_of(const Tables& tables, const std::vector<std::string>& columns,
                  const std::vector<Words>& words, std::vector<std::string>& names,
                  const std::string& hint) {
  std::vector<std::string> of_numbers;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (words[k].empty()) of_numbers.push_back(columns[k]);
  std::vector<data::CsvColumns> read;
  for (const Table& t : tables)
    read.push_back(data::read_csv_columns(t.text, of_numbers,
                                          {.number = number, .number_hint = hint, .finite = true}));

  std::vector<Tensor> features;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::string& column = columns[k];
    if (words[k].empty()) {
      std::vector<double> v;
      for (const data::CsvColumns& t : read)
        v.insert(v.end(), t.numbers(column).begin(), t.numbers(column).end());
      names.push_back(column);
      features.push_back(expand_dims(tensor(v), 1));
      continue;
    }
    std::vector<Index> places;
    each_field(tables, column, [&](const Table& t, std::size_t row, const std::string& field) {
      places.push_back(static_cast<Index>(needed_word(t, row, column, field, words[k])));
    });
    for (const std::string& w : words[k]) names.push_back(column + "=" + w);
    features.push_back(one_hot(tensor(places), static_cast<Index>(words[k].size())));
  }
  return concatenate(features, 1);
}

Words labels_of(const Tables& tables, const std::string& column) {
  Words all = texts_of(tables, column);
  if (!numbers_in(tables, column)) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  const auto value = [](const std::string& f) { return *data::csv_number(f); };
  std::ranges::sort(all, {}, [&](const std::string& f) { return std::pair(value(f), f); });
  const auto same = std::ranges::unique(all, {}, value);
  all.erase(same.begin(), same.end());
  return all;
}

Tensor numbers_of_labels(const Tables& tables, const std::string& column, const Words& labels) {
  std::vector<Index> places;
  each_field(tables, column, [&](const Table& t, std::size_t row, const std::string& field) {
    places.push_back(static_cast<Index>(needed_word(t, row, column, field, labels)));
  });
  return tensor(places);
}

std::vector<std::string> texts_of(const Tables& tables, const std::string& column) {
  std::vector<std::string> all;
  each_field(tables, column,
             [&](const Table&, std::size_t, const std::string& field) { all.push_back(field); });
  return all;
}

std::vector<std::int64_t> groups_of(const Tables& tables, const std::string& column) {
  if (const auto numbers = numbers_in(tables, column)) return data::group_numbers(*numbers);
  return data::group_numbers(texts_of(tables, column));
}

std::vector<std::int64_t> files_of(const Tables& tables) {
  std::vector<std::int64_t> all;
  for (std::size_t k = 0; k < tables.size(); ++k)
    all.insert(all.end(), tables[k].texts.rows(), static_cast<std::int64_t>(k));
  return all;
}

}  // namespace tessera::apps::training
