// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// The shortest decimal that reads back to the same double, whatever the locale; "nan", "inf",
/// "-inf".
std::string number_text(double value);
/// A CSV field: quoted by RFC 4180 where it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

/// The text of a table: a line with the names of the columns, then field by field.
///
///     CsvTable t({"layer", "top_m", "resistivity_ohm_m"});
///     for (...) t.add(j).add(top[j]).add(rho[j]).end_row();
///     write_file_atomically(path, t.text());
class CsvTable {
 public:
  explicit CsvTable(const std::vector<std::string>& columns);
  CsvTable& add(double value) { return put(number_text(value)); }
  CsvTable& add(std::integral auto value) { return put(std::to_string(value)); }
  CsvTable& add(std::string_view text) { return put(csv_field(text)); }
  /// An empty field where there is no value.
  CsvTable& add(std::optional<double> value) {
    return put(value ? number_text(*value) : std::string());
  }
  /// Throws tessera::Error unless the row has a field for each column.
  void end_row();
  const std::string& text() const { return text_; }

 private:
  CsvTable& put(const std::string& field);
  std::size_t columns_, fields_ = 0;
  std::string text_;
};

}  // namespace tessera::data
