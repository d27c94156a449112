// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/nearest_names.h"
#include "tessera/data/quantity.h"
#include "tessera/data/text_reader.h"
#include "tessera/data/touchstone.h"
#include "touchstone/touchstone_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

namespace tessera::data {
namespace detail {

std::optional<std::size_t> ports_by_name(const std::filesystem::path& path) {
  const std::string ending = upper(path.extension().string());
  if (ending.size() < 4 || ending.substr(0, 2) != ".S" || ending.back() != 'P') return {};
  std::size_t n = 0;
  const char* last = ending.data() + ending.size() - 1;
  const auto [end, ec] = std::from_chars(ending.data() + 2, last, n);
  if (ec != std::errc() || end != last || n == 0) return {};
  return n;
}

}  // namespace detail

namespace {

using Numbers = TouchstoneStyle::Numbers;
using Complex = std::complex<double>;

constexpr std::size_t kMostPorts = 10000;

/// A line without its comment.
struct Line {
  std::size_t offset = 0;  ///< of its beginning
  std::vector<Token> tokens;
};

std::string count_of(std::size_t n, const char* one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

/// One number of the data, and where it stands.
struct Datum {
  double value = 0;
  Token token;
};

class TouchstoneReader {
 public:
  TouchstoneReader(const TextFile& file, std::optional<std::size_t> named)
      : file_(file), named_(named), findings_(file) {}

  TouchstoneFile read() {
    split_lines();
    if (lines_.empty()) fail(366, file_.text.size(), "the file has nothing but comments");
    if (lines_.front().tokens.front().text.starts_with('['))
      read_version_2();
    else
      read_version_1();
    return {std::move(out_), findings_.take_remarks()};
  }

 private:
  [[noreturn]] void fail(int number, std::size_t offset, std::string message,
                         std::string hint = {}) {
    findings_.error(number, offset, std::move(message), std::move(hint));
    stop();
  }
  [[noreturn]] void stop() {
    findings_.throw_if_errors();
    throw std::logic_error("touchstone: an error that is none");
  }

  void split_lines() {
    const std::string_view text = file_.text;
    bool data = false;
    for (std::size_t n = 0; n < file_.n_lines(); ++n) {
      const std::size_t begin = file_.line_starts[n];
      const std::string_view line = file_.line(n + 1);
      const std::size_t length = std::min(line.find('!'), line.size());
      Line here{begin, split_tokens(text, begin, begin + length)};
      if (here.tokens.empty()) {
        if (length < line.size() && !data)
          out_.comments.emplace_back(trim(line.substr(length + 1)));
        continue;
      }
      if (here.tokens.size() > kMostItems)
        fail(366, begin, "a line has more than " + std::to_string(kMostItems) + " numbers");
      const char first = here.tokens.front().text[0];
      data = data || (first != '#' && first != '[');
      lines_.push_back(std::move(here));
    }
  }

  // --- the option line ---

  void read_options(const Line& line) {
    std::vector<Token> words = line.tokens;
    Token& first = words.front();
    first.text.remove_prefix(1), first.offset += 1;  // '#', perhaps with a word right behind it
    if (first.text.empty()) words.erase(words.begin());
    std::set<std::string> seen;
    const auto once = [&](const char* what, const Token& t) {
      if (!seen.insert(what).second)
        fail(367, t.offset, std::string("the option line gives the ") + what + " twice");
    };
    for (std::size_t k = 0; k < words.size(); ++k) {
      const Token& t = words[k];
      const std::string word = upper(t.text);
      const auto unit =
          std::find_if(std::begin(detail::kFrequencyUnits), std::end(detail::kFrequencyUnits),
                       [&](const detail::FrequencyUnit& u) { return upper(u.name) == word; });
      const auto kind = std::find(std::begin(kNetworkKinds), std::end(kNetworkKinds), word);
      if (unit != std::end(detail::kFrequencyUnits)) {
        once("unit of frequency", t);
        unit_ = *unit;
      } else if (kind != std::end(kNetworkKinds)) {
        once("kind of parameter", t);
        out_.kind = static_cast<NetworkKind>(kind - std::begin(kNetworkKinds));
      } else if (word == "RI" || word == "MA" || word == "DB") {
        once("form of numbers", t);
        form_ = word == "RI" ? Numbers::RI : word == "MA" ? Numbers::MA : Numbers::DB;
      } else if (word == "R") {
        once("reference", t);
        read_references(words, k);
      } else {
        fail(367, t.offset,
             "the option line has " + shown(t.text) +
                 ": expected Hz, kHz, MHz or GHz; S, Y, Z, H or G; RI, MA or DB; or R and ohms",
             nearest_hint(word, {"HZ", "KHZ", "MHZ", "GHZ", "RI", "MA", "DB"}));
      }
    }
  }

  /// One for all ports, or (1.1) one for each: numbers up to the next word.
  void read_references(const std::vector<Token>& words, std::size_t& k) {
    option_ohm_.clear();
    while (k + 1 < words.size()) {
      const char c = words[k + 1].text[0];
      if (!(c == '+' || c == '-' || c == '.' || (c >= '0' && c <= '9'))) break;
      option_ohm_.push_back(positive(words[++k], 367, "the reference R"));
    }
    if (option_ohm_.empty())
      fail(367, words[k].offset, "the option line has 'R' without its ohms behind it",
           "write e.g. R 50");
  }

  double positive(const Token& t, int number, const std::string& what) {
    const std::optional<double> x = parse_number(t, Exponent::e_only, findings_);
    if (!x) stop();
    if (*x <= 0) fail(number, t.offset, what + " must be above 0 ohm, got " + shown(t.text));
    return *x;
  }

  void more_options(const Line& line) {
    const auto words = [](const Line& l) {
      std::string all;
      for (const Token& t : l.tokens) all += upper(t.text) + " ";
      return all;
    };
    if (words(line) != words(option_line_))
      fail(367, line.offset, "a second option line, which says something else than the first",
           "one file holds one network: split it");
    findings_.warn(367, line.offset, "a second option line that says the same as the first");
  }

  void set_ports(std::size_t n, std::size_t offset, const std::string& by) {
    if (n > kMostPorts)
      fail(369, offset,
           by + " " + count_of(n, "port") + ", more than " + std::to_string(kMostPorts) +
               " that are read");
    out_.ports = n;
    const bool two_port = out_.kind == NetworkKind::H || out_.kind == NetworkKind::G;
    if (two_port && n != 2)
      fail(369, offset,
           std::string(kNetworkKinds[static_cast<std::size_t>(out_.kind)]) +
               " parameters are those of 2-ports, and " + by + " " + count_of(n, "port"));
  }

  void use_option_reference(std::size_t offset) {
    if (option_ohm_.size() != 1 && option_ohm_.size() != out_.ports)
      fail(369, offset,
           "the option line has " + count_of(option_ohm_.size(), "reference") + " for " +
               count_of(out_.ports, "port"),
           "give one for all, or one for each");
    out_.reference_ohm =
        option_ohm_.size() == 1 ? std::vector<double>(out_.ports, option_ohm_[0]) : option_ohm_;
    out_.noise_reference_ohm = option_ohm_[0];
  }

  // --- numbers ---

  Datum number(const Token& t) {
    const std::optional<double> x = parse_number(t, Exponent::e_only, findings_);
    if (!x) stop();
    return {*x, t};
  }
  /// The first of a pair: in dB a value of zero is written as -inf by some.
  Datum first_of_pair(const Token& t) {
    if (form_ == Numbers::DB && upper(t.text) == "-INF")
      return {-std::numeric_limits<double>::infinity(), t};
    return number(t);
  }

  /// In Hz, with the decimal digits moved where that can be: 2.4 GHz is the double next to 2.4e9.
  double frequency(const Datum& d) {
    if (d.value < 0) fail(368, d.token.offset, "a frequency below zero: " + shown(d.token.text));
    try {
      return parse_quantity(std::string(d.token.text) + " " + std::string(unit_.name),
                            dimension::frequency);
    } catch (const QuantityError&) {
      return finite(d.value * unit_.hz, d);
    }
  }

  double finite(double x, const Datum& d) {
    if (!std::isfinite(x)) beyond(d);
    return x;
  }
  [[noreturn]] void beyond(const Datum& d) {
    fail(303, d.token.offset,
         "what " + shown(d.token.text) + " stands for is beyond the range of double precision");
  }

  Complex value(const Datum& a, const Datum& b) const {
    if (form_ == Numbers::RI) return {a.value, b.value};
    const double size = form_ == Numbers::DB ? std::pow(10.0, a.value / 20) : a.value;
    const double angle = b.value * std::numbers::pi / 180;
    return {size * std::cos(angle), size * std::sin(angle)};
  }

  void rises(double f, double last, const Token& at, const char* of) {
    if (f > last) return;
    fail(368, at.offset,
         std::string("the frequency ") + shown(at.text) + " " + std::string(unit_.name) +
             " of the " + of + " is not above the one before it",
         "sort the file");
  }

  /// Where the k-th pair of a record stands in its matrix.
  void add_record(const std::vector<Datum>& record, bool columns_first) {
    const std::size_t n = out_.ports;
    const double f = frequency(record[0]);
    if (!out_.frequency_hz.empty())
      rises(f, out_.frequency_hz.back(), record[0].token, "network data");
    out_.frequency_hz.push_back(f);
    const std::size_t begin = out_.values.size();
    out_.values.resize(begin + n * n);
    std::size_t k = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = matrix_ == TouchstoneStyle::Matrix::upper ? i : 0;
      const std::size_t to = matrix_ == TouchstoneStyle::Matrix::lower ? i + 1 : n;
      for (std::size_t j = from; j < to; ++j, k += 2) {
        const Complex x = normalized_away(value(record[k], record[k + 1]), i, j);
        if (!std::isfinite(x.real()) || !std::isfinite(x.imag())) beyond(record[k]);
        const std::size_t row = columns_first ? j : i, column = columns_first ? i : j;
        out_.values[begin + row * n + column] = x;
        if (matrix_ != TouchstoneStyle::Matrix::full) out_.values[begin + column * n + row] = x;
      }
    }
  }

  void add_noise(const std::vector<Datum>& five, double ohm) {
    const double f = frequency(five[0]);
    if (!out_.noise.empty()) rises(f, out_.noise.back().frequency_hz, five[0].token, "noise data");
    if (out_.noise.empty() && f > out_.frequency_hz.back())
      fail(368, five[0].token.offset,
           "the noise data begin above the last frequency of the network data");
    if (five[2].value < 0)
      fail(366, five[2].token.offset,
           "a reflection has a size of at least 0, got " + shown(five[2].token.text));
    out_.noise.push_back({f, five[1].value,
                          std::polar(five[2].value, five[3].value * std::numbers::pi / 180),
                          finite(five[4].value * ohm, five[4])});
  }

  // --- version 1 ---

  void read_version_1() {
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

  void ports_of_version_1(const std::vector<const Line*>& rows) {
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

  void read_rows(const std::vector<const Line*>& rows) {
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

  /// Of a 2-port, behind its data: five numbers, at a frequency that does not go on.
  bool noise_begins(const std::vector<Token>& tokens) {
    if (out_.ports != 2 || tokens.size() != 5 || out_.frequency_hz.empty()) return false;
    return frequency(number(tokens[0])) <= out_.frequency_hz.back();
  }

  [[noreturn]] void wrong_row(const std::vector<Token>& tokens, const std::vector<Datum>& record,
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

  /// Version 1 keeps Z/R, Y R, h11/R, h22 R, g11 R, g22/R.
  void check_normalization() {
    if (out_.kind == NetworkKind::S) return;
    normalized_by_ = out_.reference_ohm[0];
    for (const double other : out_.reference_ohm)
      if (other != *normalized_by_)
        fail(367, option_line_.offset,
             "parameters other than S are normalized by one reference in version 1, and here they "
             "differ");
  }

  /// In ohms and siemens; which of i and j is the row does not matter.
  Complex normalized_away(Complex x, std::size_t i, std::size_t j) const {
    const bool hybrid = out_.kind == NetworkKind::H || out_.kind == NetworkKind::G;
    if (!normalized_by_ || (hybrid && i != j)) return x;
    const bool ohms = out_.kind == NetworkKind::Z || (out_.kind == NetworkKind::H && i == 0) ||
                      (out_.kind == NetworkKind::G && i == 1);
    return ohms ? x * *normalized_by_ : x / *normalized_by_;
  }

  // --- version 2 ---

  /// "[Two-Port Data Order] 12_21": its name in capitals with blanks, and what stands behind it.
  struct Keyword {
    std::string name;
    std::size_t offset = 0;
    std::vector<Token> arguments;
  };

  static const std::vector<std::string>& keywords() {
    static const std::vector<std::string> names = {"VERSION",
                                                   "NUMBER OF PORTS",
                                                   "TWO PORT DATA ORDER",
                                                   "NUMBER OF FREQUENCIES",
                                                   "NUMBER OF NOISE FREQUENCIES",
                                                   "REFERENCE",
                                                   "MATRIX FORMAT",
                                                   "MIXED MODE ORDER",
                                                   "BEGIN INFORMATION",
                                                   "END INFORMATION",
                                                   "NETWORK DATA",
                                                   "NOISE DATA",
                                                   "END"};
    return names;
  }

  Keyword keyword(const Line& line) {
    const std::size_t begin = line.tokens.front().offset;
    const std::size_t end_of_line = line.tokens.back().offset + line.tokens.back().text.size();
    const std::size_t close = file_.text.find(']', begin);
    if (close == std::string::npos || close >= end_of_line)
      fail(370, begin, "the keyword has no ']'");
    Keyword out;
    out.offset = begin;
    for (const char c : upper(std::string_view(file_.text).substr(begin + 1, close - begin - 1)))
      out.name += c == '-' ? ' ' : c;
    if (std::find(keywords().begin(), keywords().end(), out.name) == keywords().end())
      fail(370, begin, "there is no keyword " + shown(file_.text.substr(begin, close - begin + 1)),
           nearest_hint(out.name, keywords()));
    out.arguments = split_tokens(file_.text, close + 1, end_of_line);
    return out;
  }

  static bool is_keyword(const Line& line) { return line.tokens.front().text.starts_with('['); }

  /// Arguments on further lines, up to the next keyword.
  void take_more(Keyword& k, std::size_t& line) {
    while (line + 1 < lines_.size() && !is_keyword(lines_[line + 1]) &&
           !lines_[line + 1].tokens.front().text.starts_with('#')) {
      ++line;
      k.arguments.insert(k.arguments.end(), lines_[line].tokens.begin(), lines_[line].tokens.end());
    }
  }

  const Token& one_argument(const Keyword& k, const char* what) {
    if (k.arguments.size() != 1)
      fail(370, k.offset,
           std::string("expected ") + what + " behind [" + k.name + "], got " +
               count_of(k.arguments.size(), "word"));
    return k.arguments.front();
  }
  std::size_t count(const Keyword& k, std::size_t most) {
    const std::optional<std::size_t> n =
        parse_count(one_argument(k, "a whole number"), most, "[" + k.name + "]", findings_);
    if (!n) stop();
    return *n;
  }

  void read_version_2() {
    std::size_t line = 0;
    const Keyword version = keyword(lines_[0]);
    if (version.name != "VERSION")
      fail(370, version.offset, "expected [Version] 2.0 as the first keyword");
    const Token& number = one_argument(version, "2.0 or 2.1");
    if (number.text != "2.0" && number.text != "2.1")
      fail(370, number.offset,
           "version " + shown(number.text) + " is not read: expected 2.0 or 2.1",
           "files of version 1 have no keywords");
    if (++line == lines_.size() || !lines_[line].tokens.front().text.starts_with('#'))
      fail(367, line < lines_.size() ? lines_[line].offset : file_.text.size(),
           "expected the option line behind [Version], such as '# GHz S RI R 50'");
    option_line_ = lines_[line];
    read_options(option_line_);
    if (++line == lines_.size() || !is_keyword(lines_[line]) ||
        keyword(lines_[line]).name != "NUMBER OF PORTS")
      fail(370, line < lines_.size() ? lines_[line].offset : file_.text.size(),
           "expected [Number of Ports] behind the option line");
    const Keyword ports = keyword(lines_[line]);
    set_ports(count(ports, kMostPorts), ports.offset, "[Number of Ports] tells");
    if (named_ && *named_ != out_.ports)
      fail(369, ports.offset,
           "the name of the file tells " + count_of(*named_, "port") + ", and [Number of Ports] " +
               std::to_string(out_.ports));
    use_option_reference(option_line_.offset);
    seen_ = {"VERSION", "NUMBER OF PORTS"};
    for (++line; line < lines_.size(); ++line) {
      if (lines_[line].tokens.front().text.starts_with('#')) {
        more_options(lines_[line]);
        continue;
      }
      if (!is_keyword(lines_[line]))
        fail(366, lines_[line].offset,
             "expected a keyword, got " + shown(lines_[line].tokens.front().text));
      Keyword k = keyword(lines_[line]);
      if (k.name == "END") return end(k, line);
      if (!seen_.insert(k.name).second) fail(370, k.offset, "[" + k.name + "] is given twice");
      read_keyword(k, line);
    }
    findings_.warn(370, file_.text.size(), "the file has no [End]", "it may have been cut");
    complete(file_.text.size());
  }

  void end(const Keyword& k, std::size_t line) {
    if (line + 1 < lines_.size()) fail(370, lines_[line + 1].offset, "text stands behind [End]");
    complete(k.offset);
  }

  void complete(std::size_t offset) {
    if (!seen_.contains("NETWORK DATA")) fail(370, offset, "expected [Network Data]");
    if (seen_.contains("NUMBER OF NOISE FREQUENCIES") && !seen_.contains("NOISE DATA"))
      fail(370, offset, "expected [Noise Data], whose number of frequencies is given");
  }

  void read_keyword(Keyword& k, std::size_t& line) {
    const bool data = seen_.contains("NETWORK DATA");
    if (data && k.name != "NETWORK DATA" && k.name != "NOISE DATA")
      fail(370, k.offset, "[" + k.name + "] stands behind [Network Data]: expected in front of it");
    if (k.name == "TWO PORT DATA ORDER") {
      order(k);
    } else if (k.name == "NUMBER OF FREQUENCIES") {
      frequencies_ = count(k, file_.text.size());
    } else if (k.name == "NUMBER OF NOISE FREQUENCIES") {
      if (out_.ports != 2) fail(370, k.offset, "noise data are those of 2-ports");
      noise_frequencies_ = count(k, file_.text.size());
    } else if (k.name == "REFERENCE") {
      take_more(k, line);
      if (k.arguments.size() != out_.ports)
        fail(369, k.offset,
             "[Reference] has " + count_of(k.arguments.size(), "number") + " for " +
                 count_of(out_.ports, "port"));
      for (std::size_t p = 0; p < out_.ports; ++p)
        out_.reference_ohm[p] = positive(k.arguments[p], 370, "a reference");
    } else if (k.name == "MATRIX FORMAT") {
      const Token& t = one_argument(k, "Full, Lower or Upper");
      const std::string word = upper(t.text);
      if (word != "FULL" && word != "LOWER" && word != "UPPER")
        fail(370, t.offset, "expected Full, Lower or Upper, got " + shown(t.text));
      matrix_ = word == "FULL"    ? TouchstoneStyle::Matrix::full
                : word == "LOWER" ? TouchstoneStyle::Matrix::lower
                                  : TouchstoneStyle::Matrix::upper;
    } else if (k.name == "MIXED MODE ORDER") {
      take_more(k, line);
      modes(k);
    } else if (k.name == "BEGIN INFORMATION") {
      while (line + 1 < lines_.size()) {
        const Line& next = lines_[++line];
        if (is_keyword(next) && upper(next.tokens.front().text).starts_with("[END")) {
          if (keyword(next).name == "END INFORMATION") return;
        }
      }
      fail(370, k.offset, "[Begin Information] has no [End Information]");
    } else if (k.name == "END INFORMATION") {
      fail(370, k.offset, "[End Information] without [Begin Information]");
    } else if (k.name == "NETWORK DATA") {
      network_data(k, line);
    } else {
      noise_data(k, line);
    }
  }

  void order(const Keyword& k) {
    if (out_.ports != 2)
      fail(370, k.offset,
           "[Two-Port Data Order] is for 2-ports, and this is one of " +
               count_of(out_.ports, "port"));
    const Token& t = one_argument(k, "12_21 or 21_12");
    if (t.text != "12_21" && t.text != "21_12")
      fail(370, t.offset, "expected 12_21 or 21_12, got " + shown(t.text));
    columns_first_ = t.text == "21_12";
  }

  /// D2,3 C2,3 S1: every port once, and of a pair both modes.
  void modes(const Keyword& k) {
    if (out_.kind == NetworkKind::H || out_.kind == NetworkKind::G)
      fail(370, k.offset, "H and G parameters have no mixed modes");
    for (const Token& t : k.arguments) out_.modes.push_back(mode(t));
    std::vector<std::size_t> pair_of(out_.ports, out_.ports);
    std::vector<int> singles(out_.ports), plus(out_.ports), minus(out_.ports);
    for (const NetworkMode& m : out_.modes) {
      if (m.kind == NetworkMode::Kind::single) {
        singles[m.port] += 1;
        continue;
      }
      const bool differential = m.kind == NetworkMode::Kind::differential;
      for (const auto& [a, b] : {std::pair(m.port, m.minus), std::pair(m.minus, m.port)}) {
        (differential ? minus : plus)[a] += 1;
        if (pair_of[a] != out_.ports && pair_of[a] != b)
          fail(370, k.offset, "port " + std::to_string(a + 1) + " is in two pairs");
        pair_of[a] = b;
      }
    }
    for (std::size_t p = 0; p < out_.ports; ++p)
      if (!(singles[p] == 1 && plus[p] == 0 && minus[p] == 0) &&
          !(singles[p] == 0 && plus[p] == 1 && minus[p] == 1))
        fail(370, k.offset,
             "port " + std::to_string(p + 1) +
                 " must be in one S, or in one D and one C of the same pair");
  }

  NetworkMode mode(const Token& t) {
    const auto bad = [&] {
      fail(370, t.offset,
           "expected S1, D1,2 or C1,2 with ports from 1 to " + std::to_string(out_.ports) +
               ", got " + shown(t.text));
    };
    const std::string word = upper(t.text);
    NetworkMode m;
    m.kind = word[0] == 'D'   ? NetworkMode::Kind::differential
             : word[0] == 'C' ? NetworkMode::Kind::common
                              : NetworkMode::Kind::single;
    if (word[0] != 'S' && word[0] != 'D' && word[0] != 'C') bad();
    const char *at = word.data() + 1, *last = word.data() + word.size();
    const auto port = [&] {
      std::size_t p = 0;
      const auto [end, ec] = std::from_chars(at, last, p);
      if (ec != std::errc() || p < 1 || p > out_.ports) bad();
      at = end;
      return p - 1;
    };
    m.port = port();
    if (m.kind != NetworkMode::Kind::single) {
      if (at == last || *at != ',') bad();
      ++at;
      m.minus = port();
      if (m.minus == m.port) bad();
    }
    if (at != last) bad();
    return m;
  }

  /// Numbers up to the next keyword, whatever their lines.
  std::vector<Token> numbers_below(std::size_t& line) {
    std::vector<Token> out;
    while (line + 1 < lines_.size() && !is_keyword(lines_[line + 1])) {
      const Line& next = lines_[++line];
      if (next.tokens.front().text.starts_with('#')) {
        more_options(next);
        continue;
      }
      out.insert(out.end(), next.tokens.begin(), next.tokens.end());
    }
    return out;
  }

  void network_data(const Keyword& k, std::size_t& line) {
    if (!frequencies_)
      fail(370, k.offset, "expected [Number of Frequencies] in front of [Network Data]");
    if (out_.ports == 2 && !seen_.contains("TWO PORT DATA ORDER"))
      fail(370, k.offset, "expected [Two-Port Data Order] in front of [Network Data] of a 2-port",
           "12_21: rows first; 21_12: as in version 1");
    const std::size_t n = out_.ports,
                      pairs = matrix_ == TouchstoneStyle::Matrix::full ? n * n : n * (n + 1) / 2,
                      whole = 2 * pairs + 1;
    const std::vector<Token> tokens = numbers_below(line);
    const std::size_t got = tokens.size() / whole;
    if (tokens.size() % whole != 0 || got != *frequencies_)
      fail(369,
           tokens.size() > whole * *frequencies_ ? tokens[whole * *frequencies_].offset : k.offset,
           "expected " + std::to_string(*frequencies_) + " times " + count_of(whole, "number") +
               ", got " + count_of(tokens.size(), "number"));
    const bool columns_first = columns_first_ && matrix_ == TouchstoneStyle::Matrix::full;
    std::vector<Datum> record(whole);
    for (std::size_t f = 0; f < got; ++f) {
      for (std::size_t d = 0; d < whole; ++d) {
        const Token& t = tokens[f * whole + d];
        record[d] = d % 2 == 1 ? first_of_pair(t) : number(t);
      }
      add_record(record, columns_first);
    }
  }

  void noise_data(const Keyword& k, std::size_t& line) {
    if (!seen_.contains("NETWORK DATA"))
      fail(370, k.offset, "[Noise Data] stands in front of [Network Data]");
    if (!noise_frequencies_)
      fail(370, k.offset, "expected [Number of Noise Frequencies] in front of [Network Data]");
    const std::vector<Token> tokens = numbers_below(line);
    if (tokens.size() != 5 * *noise_frequencies_)
      fail(369, k.offset,
           count_of(5 * *noise_frequencies_, "number") + " of noise expected, got " +
               std::to_string(tokens.size()));
    for (std::size_t f = 0; f < *noise_frequencies_; ++f) {
      std::vector<Datum> five;
      for (std::size_t d = 0; d < 5; ++d) five.push_back(number(tokens[5 * f + d]));
      add_noise(five, 1);
    }
  }

  const TextFile& file_;
  std::optional<std::size_t> named_;
  Findings findings_;
  std::vector<Line> lines_;
  Touchstone out_;
  Line option_line_;
  detail::FrequencyUnit unit_ = detail::kFrequencyUnits[3];
  Numbers form_ = Numbers::MA;
  std::vector<double> option_ohm_ = {50};
  std::optional<double> normalized_by_;  ///< of version 1, of others than S
  TouchstoneStyle::Matrix matrix_ = TouchstoneStyle::Matrix::full;
  bool columns_first_ = false;
  std::optional<std::size_t> frequencies_, noise_frequencies_;
  std::set<std::string> seen_;
};

TouchstoneFile read_text(const TextFile& file) {
  return TouchstoneReader(file, detail::ports_by_name(file.path)).read();
}

}  // namespace

TouchstoneFile read_touchstone(const std::filesystem::path& path) {
  return read_text(read_text_file(path));
}

TouchstoneFile parse_touchstone(std::string name, std::string text) {
  return read_text(make_text_file(std::move(name), std::move(text)));
}

}  // namespace tessera::data
