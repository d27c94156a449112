// SPDX-License-Identifier: Apache-2.0
// Touchstone files of version 1: an option line, then numbers whose lines tell the records.
#include "tessera/data/nearest_names.h"
#include "touchstone/touchstone_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera::data::detail {

void TouchstoneReader::read_version_1() {
  if (!lines_.front().tokens.front().text.starts_with('#'))
    fail(367, lines_.front().tokens.front().offset,
         "expected the option line, such as '# GHz S RI R 50', got " +
             shown(lines_.front().tokens.front().text));
  option_line_ = lines_.front();
  read_options(option_line_);
  std::vector<const Line*> rows;
  for (std::size_t k = 1; k < lines_.size(); ++k) {
    const Token& first = lines_[k].tokens.front();
    if (first.text.starts_with('#'))
      more_options(lines_[k]);
    else if (first.text.starts_with('['))
      fail(370, first.offset, "a keyword in a file of version 1",
           "files of version 2 begin with [Version] 2.0");
    else
      rows.push_back(&lines_[k]);
  }
  if (rows.empty()) fail(366, file_.text.size(), "expected network data behind the option line");
  ports_of_version_1(rows);
  use_option_reference(option_line_.offset);
  check_normalization();
  read_rows(rows);
}

void TouchstoneReader::ports_of_version_1(const std::vector<const Line*>& rows) {
  if (named_) return set_ports(*named_, 0, "the name of the file tells");
  // A record begins with a line of an odd count of numbers: the frequency and pairs.
  std::size_t count = rows[0]->tokens.size();
  for (std::size_t k = 1; k < rows.size() && rows[k]->tokens.size() % 2 == 0; ++k)
    count += rows[k]->tokens.size();
  const auto n =
      static_cast<std::size_t>(std::lround(std::sqrt((static_cast<double>(count) - 1) / 2)));
  if (count < 3 || 2 * n * n + 1 != count)
    fail(369, rows[0]->offset,
         "the first record has " + count_of(count, "number") +
             ", and a frequency and the pairs of n x n elements are 3, 9, 19, 33, ...",
         "call the file .s2p, .s3p, ... by its ports");
  set_ports(n, rows[0]->offset, "the first record tells");
}

void TouchstoneReader::read_rows(const std::vector<const Line*>& rows) {
  const std::size_t n = out_.ports, whole = 2 * n * n + 1;
  std::vector<Datum> record;
  std::size_t k = 0;
  for (; k < rows.size(); ++k) {
    const auto& tokens = rows[k]->tokens;
    if (record.empty() && noise_begins(tokens)) break;
    if (record.empty() != (tokens.size() % 2 == 1)) wrong_row(tokens, record, whole);
    for (const Token& t : tokens) {
      if (record.size() == whole)
        fail(369, t.offset,
             "unexpected " + shown(t.text) + ": a " + std::to_string(n) + "-port has " +
                 count_of(n * n, "pair") + " of numbers for each frequency",
             named_ ? "the name of the file tells the ports" : "");
      record.push_back(record.size() % 2 == 1 ? first_of_pair(t) : number(t));
    }
    if (record.size() < whole) continue;
    add_record(record, n == 2);
    record.clear();
  }
  if (!record.empty())
    fail(369, file_.text.size(),
         "the file ends within a record: " + count_of(whole, "number") + " expected, got " +
             std::to_string(record.size()));
  for (; k < rows.size(); ++k) {
    const auto& tokens = rows[k]->tokens;
    if (tokens.size() != 5)
      fail(369, rows[k]->offset,
           "a line of noise data has 5 numbers, got " + std::to_string(tokens.size()));
    std::vector<Datum> five;
    for (const Token& t : tokens) five.push_back(number(t));
    add_noise(five, out_.noise_reference_ohm);
  }
}

bool TouchstoneReader::noise_begins(const std::vector<Token>& tokens) {
  if (out_.ports != 2 || tokens.size() != 5 || out_.frequency_hz.empty()) return false;
  return frequency(number(tokens[0])) <= out_.frequency_hz.back();
}

void TouchstoneReader::wrong_row(const std::vector<Token>& tokens, const std::vector<Datum>& record,
                                 std::size_t whole) {
  const std::string ports = "a " + std::to_string(out_.ports) + "-port has " +
                            count_of(whole, "number") + " for each frequency";
  if (record.empty())
    fail(369, tokens.front().offset,
         "expected a frequency and pairs of numbers, got " + count_of(tokens.size(), "number") +
             ": " + ports,
         named_ ? "the name of the file tells the ports" : "");
  fail(369, tokens.front().offset,
       "the record above has " + std::to_string(record.size()) + " of its numbers when " +
           count_of(tokens.size(), "number") + " follow: " + ports,
       named_ ? "the name of the file tells the ports" : "");
}

void TouchstoneReader::check_normalization() {
  if (out_.kind == NetworkKind::S) return;
  normalized_by_ = out_.reference_ohm[0];
  for (const double other : out_.reference_ohm)
    if (other != *normalized_by_)
      fail(367, option_line_.offset,
           "parameters other than S are normalized by one reference in version 1, and here they "
           "differ");
}

std::complex<double> TouchstoneReader::normalized_away(Complex x, std::size_t i,
                                                       std::size_t j) const {
  const bool hybrid = out_.kind == NetworkKind::H || out_.kind == NetworkKind::G;
  if (!normalized_by_ || (hybrid && i != j)) return x;
  const bool ohms = out_.kind == NetworkKind::Z || (out_.kind == NetworkKind::H && i == 0) ||
                    (out_.kind == NetworkKind::G && i == 1);
  return ohms ? x * *normalized_by_ : x / *normalized_by_;
}

}  // namespace tessera::data::detail
