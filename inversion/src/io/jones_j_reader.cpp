// SPDX-License-Identifier: Apache-2.0
// Jones J: comment lines '#', information lines '>KEY = value', the station's name, then blocks of
//   ZXY S.I.            element and units (S.I. = ohm, otherwise field units mV/km/nT)
//   14                  number of rows
//   period re im error [weight ...]       RXY: period rho phase rho_max rho_min phase_max phase_min
//   [weights]
// A negative period is a frequency; -999 stands for a missing number; a negative weight marks an
// estimate as rejected. Blocks S and Q are estimates of R and Z that are biased upwards: not read.
// The station's name may be followed by the azimuth, and stand before each block (A. G. Jones,
// J-format version 2.0, mtnet.info). The time dependence is e^{+i omega t}.
#include "sounding_finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>

namespace tessera::inversion {
namespace {

constexpr double kNothing = -999;

/// -999, -999.0, ... in a header, where an angle may stand as well.
bool is_nothing(std::string_view value) {
  constexpr std::string_view digits = "-999";
  if (!value.starts_with(digits)) return false;
  const std::string_view rest = value.substr(digits.size());
  return rest.empty() ||
         (rest.front() == '.' && rest.find_first_not_of('0', 1) == std::string_view::npos);
}

/// One row of an element: real, imaginary, error, or rho, phase and their errors.
struct Row {
  double a = kNaN, b = kNaN, a_error = kNaN, b_error = kNaN;
};
using Column = std::map<std::size_t, Row>;  // by index into the list of periods

class JonesReader {
 public:
  JonesReader(const data::TextFile& text, const ReadOptions& options)
      : text_(text), options_(options), findings_(text) {}

  Sounding read() {
    s_.format = "Jones J";
    std::string_view name;
    while (line_ <= text_.n_lines()) {
      const std::string_view line = text_.line(line_);
      const std::vector<Token> words = words_of(line_);
      if (words.empty() || words[0].text.front() == '#') {
        ++line_;
      } else if (words[0].text.front() == '>') {
        information(line);
        ++line_;
      } else if (name.empty() || trim(line) == name) {
        name = trim(line);
        ++line_;
      } else {
        block(words);
      }
    }
    s_.station = station_of(name);
    if (name.empty())
      findings_.error(307, text_.text.size() - 1, "the file names no station and has no data");
    findings_.throw_if_errors();
    assemble();
    return std::move(s_);
  }

 private:
  std::vector<Token> words_of(std::size_t n) const {
    if (n == 0 || n > text_.n_lines()) return {};
    return split_tokens(text_.text, text_.line_starts[n - 1],
                        text_.line_starts[n - 1] + text_.line(n).size());
  }

  /// The name in the line of a station, without the azimuth where it repeats that of the header.
  std::string station_of(std::string_view line) const {
    const std::size_t blank = line.find_last_of(" \t");
    if (!azimuth_ || blank == std::string_view::npos) return std::string(line);
    const bool repeated = number_if_any(line.substr(blank + 1)) == azimuth_;
    return std::string(repeated ? trim(line.substr(0, blank)) : line);
  }

  void information(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    const std::string key =
        upper(trim(line.substr(line.find('>') + 1, equals - line.find('>') - 1)));
    const std::string_view value = trim(line.substr(equals + 1));
    const Token token{
        value, text_.line_starts[line_ - 1] +
                   (value.empty() ? equals : static_cast<std::size_t>(value.data() - line.data()))};
    if (value.empty() || is_nothing(value)) return;
    if (key == "LATITUDE")
      s_.latitude_deg = parse_angle(token, 90, "latitude", findings_);
    else if (key == "LONGITUDE") {
      if (const auto v = parse_angle(token, 360, "longitude", findings_))
        s_.longitude_deg = wrap_degrees(*v);
    } else if (key == "ELEVATION")
      s_.elevation_m = parse_number(token, Exponent::fortran, findings_);
    else if (key == "AZIMUTH") {
      azimuth_ = parse_number(token, Exponent::fortran, findings_);
    }
  }

  /// Index of a period, a new one if it was not met before (equal to six digits).
  std::size_t period_index(double period, std::size_t offset) {
    const auto near = by_period_.lower_bound(period * (1 - 2e-6));
    if (near != by_period_.end() && near->first <= period * (1 + 2e-6)) return near->second;
    const std::size_t i = periods_.size();
    periods_.push_back(period);
    offsets_.push_back(offset);
    by_period_.emplace(period, i);
    return i;
  }

  void block(const std::vector<Token>& head) {
    const std::string name = upper(head[0].text);
    const auto one_of = [](std::string_view word, std::initializer_list<std::string_view> words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    const std::string kind = name.substr(0, 1),
                      element = name.size() == 3 ? name.substr(1) : std::string();
    const bool of_tensor = one_of(element, {"XX", "XY", "YX", "YY"});
    const bool impedance = kind == "Z" && of_tensor, tipper = name == "TZX" || name == "TZY";
    const bool resistivity = kind == "R" && of_tensor;
    const bool other = !(impedance || tipper || resistivity);
    if (other && !(one_of(kind, {"R", "S", "Z", "Q", "C", "T"}) &&
                   (of_tensor || one_of(element, {"TE", "TM", "AV", "DE", "ZX", "ZY"})))) {
      findings_.error(302, head[0].offset,
                      "expected a block such as ZXY, TZX or RXY, got " + shown(head[0].text));
      findings_.throw_if_errors();
    }
    if (impedance && head.size() > 1) {
      const std::string units = upper(head[1].text);
      const ImpedanceUnits u =
          units.starts_with("S.I") || units == "SI" || units == "OHM" || units == "OHMS"
              ? ImpedanceUnits::ohm
              : ImpedanceUnits::field;
      if (u == ImpedanceUnits::field && units != "FIELD" && units != "MV/KM/NT" && units != "MV/KM")
        findings_.warn(316, head[1].offset,
                       "unknown impedance units " + shown(head[1].text) + "; mV/km/nT is taken");
      if (units_ && *units_ != u)
        findings_.error(316, head[1].offset, "blocks in different units in one file");
      units_ = u;
    }
    if (columns_.contains(name))
      findings_.error(311, head[0].offset, "block " + name + " is given twice");
    ++line_;
    while (line_ <= text_.n_lines() && words_of(line_).empty()) ++line_;
    const std::vector<Token> count_words = words_of(line_);
    if (count_words.size() != 1) {
      findings_.error(
          309, line_ <= text_.n_lines() ? text_.line_starts[line_ - 1] : text_.text.size() - 1,
          "expected the number of rows of " + name);
      findings_.throw_if_errors();
    }
    const std::size_t most = std::min(text_.n_lines() - line_, kMostItems);
    const auto count =
        parse_count(count_words[0], most, "the number of rows of " + name, findings_);
    findings_.throw_if_errors();
    ++line_;
    if (other) {
      others_ += " " + name;
      line_ += *count;
      return;
    }
    Column& column = columns_[name];
    for (std::size_t k = 0; k < *count; ++k, ++line_) row(name, resistivity, column, k, *count);
  }

  void row(const std::string& name, bool resistivity, Column& column, std::size_t k,
           std::size_t count) {
    const std::vector<Token> words = words_of(line_);
    const std::size_t needed = resistivity ? 7 : 4;
    if (words.size() < needed) {
      findings_.error(
          304, line_ <= text_.n_lines() ? text_.line_starts[line_ - 1] : text_.text.size() - 1,
          fmt::format("{} declares {} rows; row {} has {} numbers, expected at least {}", name,
                      count, k + 1, words.size(), needed),
          "is the file complete?");
      findings_.throw_if_errors();
    }
    double v[7];
    for (std::size_t i = 0; i < needed; ++i) {
      const auto number = parse_number(words[i], Exponent::fortran, findings_);
      if (!number) return;
      v[i] = *number == kNothing || std::abs(*number) >= 1e30 ? kNaN : *number;
    }
    if (std::isnan(v[0])) {
      ++empty_rows_;
      return;
    }
    if (v[0] == 0) {
      findings_.error(305, words[0].offset, "a period of zero");
      return;
    }
    const double period = v[0] > 0 ? v[0] : -1 / v[0];
    const std::size_t i = period_index(period, words[0].offset);
    if (column.contains(i)) {
      findings_.error(306, words[0].offset,
                      fmt::format("period {:g} s is given twice in {}", period, name));
      return;
    }
    Row r{v[1], v[2], v[3], v[3]};
    if (words.size() > needed)
      if (const auto weight = number_if_any(words[needed].text);
          weight && *weight < 0 && *weight != kNothing) {
        column.emplace(i, Row{});
        return;
      }
    if (resistivity) {  // from the ends of the interval of one standard error
      r.a_error = std::abs(v[3] - v[4]) / 2;
      r.b_error = std::abs(v[5] - v[6]) / 2;
    }
    column.emplace(i, r);
  }

  void assemble() {
    const std::size_t n = periods_.size();
    if (n == 0)
      findings_.error(
          307, text_.text.size() - 1,
          others_.empty()
              ? "the file has no data"
              : "the file has no elements of a tensor, or none but estimates that are biased "
                "upwards; its blocks are" +
                    others_);
    findings_.throw_if_errors();
    if (!others_.empty())
      findings_.note(
          346,
          "blocks that are no elements of a tensor, or estimates that are biased upwards, are "
          "not read:" +
              others_);
    for (const double p : periods_) s_.frequency_hz.push_back(1 / p);
    s_.azimuth_deg.assign(n, azimuth_.value_or(0));
    const char axis[2] = {'X', 'Y'};
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c) {
        const std::string xy{axis[r], axis[c]};
        if (const auto at = columns_.find("Z" + xy); at != columns_.end()) {
          if (!s_.has_impedance()) {
            s_.impedance.assign(n, {{{kMissing, kMissing}, {kMissing, kMissing}}});
            s_.impedance_error.assign(n, {{{kNaN, kNaN}, {kNaN, kNaN}}});
          }
          for (const auto& [i, row] : at->second) {
            s_.impedance[i][r][c] = {row.a, row.b};
            s_.impedance_error[i][r][c] = row.a_error;
          }
        }
        if (const auto at = columns_.find("R" + xy); at != columns_.end()) {
          ResistivityPhase& rp = s_.resistivity;
          if (rp.empty())
            for (auto* list : {&rp.rho, &rp.rho_error, &rp.phase, &rp.phase_error})
              list->assign(n, {{{kNaN, kNaN}, {kNaN, kNaN}}});
          for (const auto& [i, row] : at->second) {
            rp.rho[i][r][c] = row.a;
            rp.phase[i][r][c] = row.b;
            rp.rho_error[i][r][c] = row.a_error;
            rp.phase_error[i][r][c] = row.b_error;
          }
        }
      }
    for (int c = 0; c < 2; ++c)
      if (const auto at = columns_.find(std::string("TZ") + axis[c]); at != columns_.end()) {
        if (!s_.has_tipper()) {
          s_.tipper.assign(n, {kMissing, kMissing});
          s_.tipper_error.assign(n, {kNaN, kNaN});
        }
        for (const auto& [i, row] : at->second) {
          s_.tipper[i][c] = {row.a, row.b};
          s_.tipper_error[i][c] = row.a_error;
        }
      }
    if (!s_.has_impedance() && !s_.resistivity.empty()) {
      const YxPhases yx = yx_phases_by_median(s_);
      impedance_from_resistivity(s_, yx);
      if (yx == YxPhases::of_minus_zyx)
        findings_.note(348, "yx phases lie within 90 degrees of zero: taken as those of -Zyx");
      findings_.note(
          349,
          "the file has apparent resistivities and phases only; impedances computed from them");
    }
    if (!s_.has_impedance() && !s_.has_tipper())
      findings_.error(307, text_.text.size() - 1,
                      "the file has neither impedance, tipper nor apparent resistivity");
    if (empty_rows_) findings_.note(336, fmt::format("{} rows hold no data (-999)", empty_rows_));
    FileConventions conventions{.stated_units = units_};
    finish_sounding(s_, conventions, options_, offsets_, findings_);
  }

  const data::TextFile& text_;
  const ReadOptions& options_;
  Findings findings_;
  Sounding s_;
  std::size_t line_ = 1;
  std::optional<double> azimuth_;
  std::optional<ImpedanceUnits> units_;
  std::vector<double> periods_;
  std::vector<std::size_t> offsets_;
  std::map<double, std::size_t> by_period_;
  std::map<std::string, Column> columns_;
  std::string others_;  ///< blocks of the format that are not used, each after a blank
  std::size_t empty_rows_ = 0;
};

}  // namespace

Sounding read_jones_j(const data::TextFile& text, const ReadOptions& options) {
  return JonesReader(text, options).read();
}

}  // namespace tessera::inversion
