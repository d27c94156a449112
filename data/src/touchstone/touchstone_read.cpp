// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/nearest_names.h"
#include "tessera/data/quantity.h"
#include "touchstone/touchstone_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

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

TouchstoneFile TouchstoneReader::read() {
  split_lines();
  if (lines_.empty()) fail(366, file_.text.size(), "the file has nothing but comments");
  if (lines_.front().tokens.front().text.starts_with('['))
    read_version_2();
  else
    read_version_1();
  return {std::move(out_), findings_.take_remarks()};
}

void TouchstoneReader::fail(int number, std::size_t offset, std::string message, std::string hint) {
  findings_.error(number, offset, std::move(message), std::move(hint));
  stop();
}

void TouchstoneReader::stop() {
  findings_.throw_if_errors();
  throw std::logic_error("touchstone: an error that is none");
}

void TouchstoneReader::split_lines() {
  const std::string_view text = file_.text;
  bool data = false;
  for (std::size_t n = 0; n < file_.n_lines(); ++n) {
    const std::size_t begin = file_.line_starts[n];
    const std::string_view line = file_.line(n + 1);
    const std::size_t length = std::min(line.find('!'), line.size());
    Line here{begin, split_tokens(text, begin, begin + length)};
    if (here.tokens.empty()) {
      if (length < line.size() && !data) out_.comments.emplace_back(trim(line.substr(length + 1)));
      continue;
    }
    if (here.tokens.size() > kMostItems)
      fail(366, begin, "a line has more than " + std::to_string(kMostItems) + " numbers");
    const char first = here.tokens.front().text[0];
    data = data || (first != '#' && first != '[');
    lines_.push_back(std::move(here));
  }
}

void TouchstoneReader::read_options(const Line& line) {
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
    const auto unit = std::find_if(std::begin(kFrequencyUnits), std::end(kFrequencyUnits),
                                   [&](const FrequencyUnit& u) { return upper(u.name) == word; });
    const auto kind = std::find(std::begin(kNetworkKinds), std::end(kNetworkKinds), word);
    if (unit != std::end(kFrequencyUnits)) {
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

void TouchstoneReader::read_references(const std::vector<Token>& words, std::size_t& k) {
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

double TouchstoneReader::positive(const Token& t, int number, const std::string& what) {
  const std::optional<double> x = parse_number(t, Exponent::e_only, findings_);
  if (!x) stop();
  if (*x <= 0) fail(number, t.offset, what + " must be above 0 ohm, got " + shown(t.text));
  return *x;
}

void TouchstoneReader::more_options(const Line& line) {
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

void TouchstoneReader::set_ports(std::size_t n, std::size_t offset, const std::string& by) {
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

void TouchstoneReader::use_option_reference(std::size_t offset) {
  if (option_ohm_.size() != 1 && option_ohm_.size() != out_.ports)
    fail(369, offset,
         "the option line has " + count_of(option_ohm_.size(), "reference") + " for " +
             count_of(out_.ports, "port"),
         "give one for all, or one for each");
  out_.reference_ohm =
      option_ohm_.size() == 1 ? std::vector<double>(out_.ports, option_ohm_[0]) : option_ohm_;
  out_.noise_reference_ohm = option_ohm_[0];
}

TouchstoneDatum TouchstoneReader::number(const Token& t) {
  const std::optional<double> x = parse_number(t, Exponent::e_only, findings_);
  if (!x) stop();
  return {*x, t};
}

TouchstoneDatum TouchstoneReader::first_of_pair(const Token& t) {
  if (form_ == Numbers::DB && upper(t.text) == "-INF")
    return {-std::numeric_limits<double>::infinity(), t};
  return number(t);
}

double TouchstoneReader::frequency(const Datum& d) {
  if (d.value < 0) fail(368, d.token.offset, "a frequency below zero: " + shown(d.token.text));
  try {
    return parse_quantity(std::string(d.token.text) + " " + std::string(unit_.name),
                          dimension::frequency);
  } catch (const QuantityError&) {
    return finite(d.value * unit_.hz, d);
  }
}

double TouchstoneReader::finite(double x, const Datum& d) {
  if (!std::isfinite(x)) beyond(d);
  return x;
}

void TouchstoneReader::beyond(const Datum& d) {
  fail(303, d.token.offset,
       "what " + shown(d.token.text) + " stands for is beyond the range of double precision");
}

std::complex<double> TouchstoneReader::value(const Datum& a, const Datum& b) const {
  if (form_ == Numbers::RI) return {a.value, b.value};
  const double size = form_ == Numbers::DB ? std::pow(10.0, a.value / 20) : a.value;
  const double angle = b.value * std::numbers::pi / 180;
  return {size * std::cos(angle), size * std::sin(angle)};
}

void TouchstoneReader::rises(double f, double last, const Token& at, const char* of) {
  if (f > last) return;
  fail(368, at.offset,
       std::string("the frequency ") + shown(at.text) + " " + std::string(unit_.name) + " of the " +
           of + " is not above the one before it",
       "sort the file");
}

void TouchstoneReader::add_record(const std::vector<Datum>& record, bool columns_first) {
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

void TouchstoneReader::add_noise(const std::vector<Datum>& five, double ohm) {
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

}  // namespace detail

namespace {

TouchstoneFile read_text(const TextFile& file) {
  return detail::TouchstoneReader(file, detail::ports_by_name(file.path)).read();
}

}  // namespace

TouchstoneFile read_touchstone(const std::filesystem::path& path) {
  return read_text(read_text_file(path));
}

TouchstoneFile parse_touchstone(std::string name, std::string text) {
  return read_text(make_text_file(std::move(name), std::move(text)));
}

}  // namespace tessera::data
