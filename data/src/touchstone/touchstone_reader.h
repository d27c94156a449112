// SPDX-License-Identifier: Apache-2.0
// The reader of Touchstone files: what both versions share, and each of them in a source of its
// own. Private to data/.
#pragma once
#include "tessera/data/text_reader.h"
#include "tessera/data/touchstone.h"
#include "touchstone/touchstone_names.h"

#include <complex>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::data::detail {

/// A line without its comment.
struct TouchstoneLine {
  std::size_t offset = 0;  ///< of its beginning
  std::vector<Token> tokens;
};

/// One number of the data, and where it stands.
struct TouchstoneDatum {
  double value = 0;
  Token token;
};

/// "3 ports"
inline std::string count_of(std::size_t n, const char* one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

class TouchstoneReader {
 public:
  TouchstoneReader(const TextFile& file, std::optional<std::size_t> named)
      : file_(file), named_(named), findings_(file) {}

  TouchstoneFile read();

 private:
  using Line = TouchstoneLine;
  using Datum = TouchstoneDatum;
  using Complex = std::complex<double>;
  using Numbers = TouchstoneStyle::Numbers;
  static constexpr std::size_t kMostPorts = 10000;

  [[noreturn]] void fail(int number, std::size_t offset, std::string message,
                         std::string hint = {});
  [[noreturn]] void stop();

  void split_lines();
  void read_options(const Line& line);
  /// One for all ports, or (1.1) one for each: numbers up to the next word.
  void read_references(const std::vector<Token>& words, std::size_t& k);
  double positive(const Token& t, int number, const std::string& what);
  void more_options(const Line& line);
  void set_ports(std::size_t n, std::size_t offset, const std::string& by);
  void use_option_reference(std::size_t offset);

  Datum number(const Token& t);
  /// The first of a pair: in dB a value of zero is written as -inf by some.
  Datum first_of_pair(const Token& t);
  /// In Hz, with the decimal digits moved where that can be: 2.4 GHz is the double next to 2.4e9.
  double frequency(const Datum& d);
  double finite(double x, const Datum& d);
  [[noreturn]] void beyond(const Datum& d);
  Complex value(const Datum& a, const Datum& b) const;
  void rises(double f, double last, const Token& at, const char* of);
  /// Where the k-th pair of a record stands in its matrix.
  void add_record(const std::vector<Datum>& record, bool columns_first);
  void add_noise(const std::vector<Datum>& five, double ohm);

  // touchstone_version_1.cpp
  void read_version_1();
  void ports_of_version_1(const std::vector<const Line*>& rows);
  void read_rows(const std::vector<const Line*>& rows);
  /// Of a 2-port, behind its data: five numbers, at a frequency that does not go on.
  bool noise_begins(const std::vector<Token>& tokens);
  [[noreturn]] void wrong_row(const std::vector<Token>& tokens, const std::vector<Datum>& record,
                              std::size_t whole);
  /// Version 1 keeps Z/R, Y R, h11/R, h22 R, g11 R, g22/R.
  void check_normalization();
  /// In ohms and siemens; which of i and j is the row does not matter.
  Complex normalized_away(Complex x, std::size_t i, std::size_t j) const;

  // touchstone_version_2.cpp
  /// "[Two-Port Data Order] 12_21": its name in capitals with blanks, and what stands behind it.
  struct Keyword {
    std::string name;
    std::size_t offset = 0;
    std::vector<Token> arguments;
  };
  static const std::vector<std::string>& keywords();
  Keyword keyword(const Line& line);
  static bool is_keyword(const Line& line) { return line.tokens.front().text.starts_with('['); }
  /// Arguments on further lines, up to the next keyword.
  void take_more(Keyword& k, std::size_t& line);
  const Token& one_argument(const Keyword& k, const char* what);
  std::size_t count(const Keyword& k, std::size_t most);
  void read_version_2();
  void end(const Keyword& k, std::size_t line);
  void complete(std::size_t offset);
  void read_keyword(Keyword& k, std::size_t& line);
  void order(const Keyword& k);
  /// D2,3 C2,3 S1: every port once, and of a pair both modes.
  void modes(const Keyword& k);
  NetworkMode mode(const Token& t);
  /// Numbers up to the next keyword, whatever their lines.
  std::vector<Token> numbers_below(std::size_t& line);
  void network_data(const Keyword& k, std::size_t& line);
  void noise_data(const Keyword& k, std::size_t& line);

  const TextFile& file_;
  std::optional<std::size_t> named_;
  Findings findings_;
  std::vector<Line> lines_;
  Touchstone out_;
  Line option_line_;
  FrequencyUnit unit_ = kFrequencyUnits[3];
  Numbers form_ = Numbers::MA;
  std::vector<double> option_ohm_ = {50};
  std::optional<double> normalized_by_;  ///< of version 1, of others than S
  TouchstoneStyle::Matrix matrix_ = TouchstoneStyle::Matrix::full;
  bool columns_first_ = false;
  std::optional<std::size_t> frequencies_, noise_frequencies_;
  std::set<std::string> seen_;
};

}  // namespace tessera::data::detail
