// SPDX-License-Identifier: Apache-2.0
// Touchstone files of version 2: keywords in brackets.
#include "tessera/data/nearest_names.h"
#include "touchstone/touchstone_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera::data::detail {

const std::vector<std::string>& TouchstoneReader::keywords() {
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

TouchstoneReader::Keyword TouchstoneReader::keyword(const Line& line) {
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

void TouchstoneReader::take_more(Keyword& k, std::size_t& line) {
  while (line + 1 < lines_.size() && !is_keyword(lines_[line + 1]) &&
         !lines_[line + 1].tokens.front().text.starts_with('#')) {
    ++line;
    k.arguments.insert(k.arguments.end(), lines_[line].tokens.begin(), lines_[line].tokens.end());
  }
}

const Token& TouchstoneReader::one_argument(const Keyword& k, const char* what) {
  if (k.arguments.size() != 1)
    fail(370, k.offset,
         std::string("expected ") + what + " behind [" + k.name + "], got " +
             count_of(k.arguments.size(), "word"));
  return k.arguments.front();
}

std::size_t TouchstoneReader::count(const Keyword& k, std::size_t most) {
  const std::optional<std::size_t> n =
      parse_count(one_argument(k, "a whole number"), most, "[" + k.name + "]", findings_);
  if (!n) stop();
  return *n;
}

void TouchstoneReader::read_version_2() {
  std::size_t line = 0;
  const Keyword version = keyword(lines_[0]);
  if (version.name != "VERSION")
    fail(370, version.offset, "expected [Version] 2.0 as the first keyword");
  const Token& number = one_argument(version, "2.0 or 2.1");
  if (number.text != "2.0" && number.text != "2.1")
    fail(370, number.offset, "version " + shown(number.text) + " is not read: expected 2.0 or 2.1",
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

void TouchstoneReader::end(const Keyword& k, std::size_t line) {
  if (line + 1 < lines_.size()) fail(370, lines_[line + 1].offset, "text stands behind [End]");
  complete(k.offset);
}

void TouchstoneReader::complete(std::size_t offset) {
  if (!seen_.contains("NETWORK DATA")) fail(370, offset, "expected [Network Data]");
  if (seen_.contains("NUMBER OF NOISE FREQUENCIES") && !seen_.contains("NOISE DATA"))
    fail(370, offset, "expected [Noise Data], whose number of frequencies is given");
}

void TouchstoneReader::read_keyword(Keyword& k, std::size_t& line) {
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

void TouchstoneReader::order(const Keyword& k) {
  if (out_.ports != 2)
    fail(
        370, k.offset,
        "[Two-Port Data Order] is for 2-ports, and this is one of " + count_of(out_.ports, "port"));
  const Token& t = one_argument(k, "12_21 or 21_12");
  if (t.text != "12_21" && t.text != "21_12")
    fail(370, t.offset, "expected 12_21 or 21_12, got " + shown(t.text));
  columns_first_ = t.text == "21_12";
}

void TouchstoneReader::modes(const Keyword& k) {
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

NetworkMode TouchstoneReader::mode(const Token& t) {
  const auto bad = [&] {
    fail(370, t.offset,
         "expected S1, D1,2 or C1,2 with ports from 1 to " + std::to_string(out_.ports) + ", got " +
             shown(t.text));
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

std::vector<Token> TouchstoneReader::numbers_below(std::size_t& line) {
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

void TouchstoneReader::network_data(const Keyword& k, std::size_t& line) {
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

void TouchstoneReader::noise_data(const Keyword& k, std::size_t& line) {
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

}  // namespace tessera::data::detail
