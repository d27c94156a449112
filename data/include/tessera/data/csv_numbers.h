// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/text_file.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// The number that a field is, and nothing else: blanks and signs `+` are none.
std::optional<double> csv_number(std::string_view field);

/// Columns of numbers under their names, as CsvTable and MetricsFile write them.
struct CsvNumbers {
  std::vector<std::string> names;            ///< of the first line, without quotes
  std::vector<std::vector<double>> columns;  ///< all of the same length
  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  /// The first column of that name; null: there is none.
  const std::vector<double>* find(const std::string& name) const;
};

struct CsvNumbersOptions {
  int number = 433;         ///< what errors are
  std::size_t columns = 0;  ///< how many numbers a row has; 0: as many as the first line has names
  std::string row_hint = {};     ///< how to mend a row that has more or fewer
  std::string names_hint = {};   ///< how to mend a first line that has numbers
  std::string number_hint = {};  ///< how to mend a field that is no number
  bool finite = false;           ///< `nan` and `inf` are no numbers
  TextLimits limits = {};
};

/// Reads a line of names (RFC 4180), then rows of decimal numbers between commas; blanks around a
/// number, quotes and empty lines do not count. Throws InputError `number` with line and column:
/// the first line begins with a number, a quoted name has no end, there are more than 2^20 names, a
/// field is no number, a row is of another length; and what read_text_file throws.
CsvNumbers read_csv_numbers(const std::filesystem::path& path,
                            const CsvNumbersOptions& options = {});
/// The same of text that has been read; `limits` are not looked at.
CsvNumbers read_csv_numbers(const TextFile& text, const CsvNumbersOptions& options = {});

/// A column of a table that has texts as well.
struct CsvColumn {
  std::string name;  ///< without quotes, and blanks around it
  bool is_number = false;
  std::vector<double> numbers = {};
  std::vector<std::string> texts = {};
};

struct CsvColumns {
  std::string file;
  int number = 433;                     ///< what errors are
  std::vector<CsvColumn> columns = {};  ///< all of the same length
  std::vector<std::size_t> lines = {};  ///< where each row begins, for what is wrong with its texts

  std::size_t rows() const { return lines.size(); }
  /// The column of that name. Throws InputError `number` where there is none, naming what there is,
  /// or two, and Error where it was read as the other kind.
  const std::vector<double>& numbers(const std::string& name) const;
  const std::vector<std::string>& texts(const std::string& name) const;
  std::size_t place_of(const std::string& name) const;
};

/// The same of a table where only the named columns are numbers, and others are texts (RFC 4180),
/// without blanks around them unless they are quoted:
///
///     const CsvColumns t = read_csv_columns("designs.csv", {"thickness_nm", "loss"});
///     t.numbers("loss"), t.texts("material")
///
/// A row has a field for each name; `columns` of the options is not looked at. Throws InputError
/// `number` as read_csv_numbers does, and for a name that no column has.
CsvColumns read_csv_columns(const std::filesystem::path& path,
                            const std::vector<std::string>& numbers,
                            const CsvNumbersOptions& options = {});
/// The same of text that has been read.
CsvColumns read_csv_columns(const TextFile& text, const std::vector<std::string>& numbers,
                            const CsvNumbersOptions& options = {});

/// The fields of the record (RFC 4180) that begins at `at`, which moves behind it. Throws
/// InputError `number` where a quoted one has no end, or there are more than 2^20.
std::vector<std::string> csv_record(const TextFile& text, std::size_t& at, int number = 433);

}  // namespace tessera::data
