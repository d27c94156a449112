// SPDX-License-Identifier: Apache-2.0
// Columns of tables as numbers: of numbers as they are, of words by the words that there are.
#pragma once
#include "solvers/training/samples.h"
#include "tessera/data/csv_numbers.h"

#include <filesystem>

namespace tessera::apps::training {

struct Table {
  data::TextFile text;
  data::CsvColumns texts;  ///< every column
};
/// Several tables, read one after another as one.
using Tables = std::vector<Table>;

/// Throws data::InputError: E0433 no such table, a row of another length; E0672 an empty table.
Tables read_tables(const std::vector<std::filesystem::path>& files);

/// A column whose first field is no number is one of words: all different ones, by the alphabet.
/// Of numbers: none. The functions below throw data::InputError E0672 for a column that is not
/// there, for an empty field, and for one that is no finite number among numbers, with their place.
Words words_of(const Tables& t, const std::string& column);
/// f64 [rows, features]: a column of numbers is one feature, one of words a feature for each, 0 or
/// 1. The features' names are added to `names`. A word that is not among `words` throws; `hint`
/// mends a field that is no number.
Tensor columns_of(const Tables& t, const std::vector<std::string>& columns,
                  const std::vector<Words>& words, std::vector<std::string>& names,
                  const std::string& hint = {});

/// All different fields of a column: numbers by value, where all are, and one of those that are
/// equal; words by the alphabet.
Words labels_of(const Tables& t, const std::string& column);
/// i64 [rows]: the places of the fields among `labels`, of numbers by value.
Tensor numbers_of_labels(const Tables& t, const std::string& column, const Words& labels);

std::vector<std::string> texts_of(const Tables& t, const std::string& column);
/// The number of the group of each row: of one field, or of numbers that are equal.
std::vector<std::int64_t> groups_of(const Tables& t, const std::string& column);
/// The number of the table that each row is from.
std::vector<std::int64_t> files_of(const Tables& t);

}  // namespace tessera::apps::training
