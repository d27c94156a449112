// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/csv.h"

#include "tessera/autodiff/error.h"

#include <charconv>
#include <cmath>

namespace tessera::data {

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

CsvTable::CsvTable(const std::vector<std::string>& columns) : columns_(columns.size()) {
  for (const std::string& name : columns) add(name);
  end_row();
}

CsvTable& CsvTable::put(const std::string& field) {
  if (fields_++ > 0) text_ += ',';
  text_ += field;
  return *this;
}

void CsvTable::end_row() {
  if (fields_ != columns_)
    throw Error("[csv] a row of " + std::to_string(fields_) + " fields for " +
                std::to_string(columns_) + " columns");
  fields_ = 0;
  text_ += '\n';
}

}  // namespace tessera::data
