// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/tables.h"

#include "tessera/autodiff/ops.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace tessera::apps::training {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, std::size_t line, std::string message,
                         std::string hint = {}) {
  throw data::InputError({.number = 672,
                          .place = {.file = file.string(), .line = line},
                          .message = std::move(message),
                          .hint = std::move(hint)});
}

std::string stripped(const std::string& text) {
  const auto from = text.find_first_not_of(" \t");
  return from == std::string::npos ? ""
                                   : text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

std::optional<double> number_of(const std::string& field) {
  double value = 0;
  const char* begin = field.data() + (field.starts_with("+") ? 1 : 0);
  const auto r = std::from_chars(begin, field.data() + field.size(), value);
  if (r.ec != std::errc() || r.ptr != field.data() + field.size()) return {};
  return value;
}

std::size_t place_of(const Table& t, const std::string& column) {
  const auto found = std::ranges::find(t.names, column);
  if (found != t.names.end()) return static_cast<std::size_t>(found - t.names.begin());
  const auto near = data::nearest_names(column, t.names);
  std::string all;
  for (const std::string& n : t.names) all += (all.empty() ? "" : ", ") + n;
  refuse(t.file, 1, "there is no column '" + column + "'",
         near.empty() ? "there are " + all : "did you mean '" + near.front() + "'?");
}

template <class F>
void each_field(const Tables& tables, const std::string& column, const F& f) {
  for (const Table& t : tables) {
    const std::size_t c = place_of(t, column);
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
      if (t.rows[r][c].empty())
        refuse(t.file, t.lines[r], "column '" + column + "' has no value",
               "fill it in, or leave the row out");
      f(t, t.lines[r], t.rows[r][c]);
    }
  }
}

double needed_number(const Table& t, std::size_t line, const std::string& column,
                     const std::string& field) {
  const std::optional<double> v = number_of(field);
  if (!v || !std::isfinite(*v))
    refuse(t.file, line, "column '" + column + "' has '" + field + "': expected a finite number");
  return *v;
}

std::size_t needed_word(const Table& t, std::size_t line, const std::string& column,
                        const std::string& field, const Words& words) {
  const auto found = std::ranges::find(words, field);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : ", ") + w;
  refuse(t.file, line, "column '" + column + "' has '" + field + "', which was not learnt",
         "it knows " + all);
}

}  // namespace

Tables read_tables(const std::vector<fs::path>& files) {
  Tables tables;
  for (const fs::path& file : files) {
    const data::TextFile text = data::read_text_file(file);
    Table t{.file = file};
    std::size_t at = 0;
    const std::string& all = text.text;
    while (at < all.size()) {
      const std::size_t line = text.place(at).line;
      std::vector<std::string> record = data::csv_record(text, at);
      for (std::string& f : record) f = stripped(f);
      if (record.size() == 1 && record[0].empty()) continue;
      if (t.names.empty()) {
        t.names = std::move(record);
        continue;
      }
      if (record.size() != t.names.size())
        refuse(file, line,
               "has " + std::to_string(record.size()) + " fields, the first line " +
                   std::to_string(t.names.size()) + " names");
      t.rows.push_back(std::move(record));
      t.lines.push_back(line);
    }
    if (t.rows.empty()) refuse(file, 0, "has no rows below a line of names");
    tables.push_back(std::move(t));
  }
  return tables;
}

Words words_of(const Tables& tables, const std::string& column) {
  const Table& first = tables.front();
  if (number_of(first.rows.front()[place_of(first, column)])) return {};
  return labels_of(tables, column);
}

Tensor columns_of(const Tables& tables, const std::vector<std::string>& columns,
                  const std::vector<Words>& words, std::vector<std::string>& names) {
  std::vector<Tensor> features;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::string& column = columns[k];
    std::vector<double> v;
    if (words[k].empty()) {
      each_field(tables, column, [&](const Table& t, std::size_t line, const std::string& field) {
        v.push_back(needed_number(t, line, column, field));
      });
      names.push_back(column);
      features.push_back(expand_dims(tensor(v), 1));
      continue;
    }
    std::vector<Index> places;
    each_field(tables, column, [&](const Table& t, std::size_t line, const std::string& field) {
      places.push_back(static_cast<Index>(needed_word(t, line, column, field, words[k])));
    });
    for (const std::string& w : words[k]) names.push_back(column + "=" + w);
    features.push_back(one_hot(tensor(places), static_cast<Index>(words[k].size())));
  }
  return concatenate(features, 1);
}

Words labels_of(const Tables& tables, const std::string& column) {
  Words all;
  bool numbers = true;
  each_field(tables, column, [&](const Table&, std::size_t, const std::string& field) {
    numbers = numbers && number_of(field).has_value();
    all.push_back(field);
  });
  if (numbers)
    std::ranges::sort(all, {}, [](const std::string& f) { return std::pair(*number_of(f), f); });
  else
    std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Tensor numbers_of_labels(const Tables& tables, const std::string& column, const Words& labels) {
  std::vector<Index> places;
  each_field(tables, column, [&](const Table& t, std::size_t line, const std::string& field) {
    places.push_back(static_cast<Index>(needed_word(t, line, column, field, labels)));
  });
  return tensor(places);
}

std::vector<std::string> texts_of(const Tables& tables, const std::string& column) {
  std::vector<std::string> all;
  each_field(tables, column,
             [&](const Table&, std::size_t, const std::string& field) { all.push_back(field); });
  return all;
}

std::vector<std::int64_t> files_of(const Tables& tables) {
  std::vector<std::int64_t> all;
  for (std::size_t k = 0; k < tables.size(); ++k)
    all.insert(all.end(), tables[k].rows.size(), static_cast<std::int64_t>(k));
  return all;
}

}  // namespace tessera::apps::training
