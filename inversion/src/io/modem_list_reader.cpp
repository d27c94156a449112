// SPDX-License-Identifier: Apache-2.0
// ModEM's list of data, all stations of a survey in one file. Blocks of
//   # comment
//   > Full_Impedance           type of data
//   > exp(+i\omega t)          time sign
//   > [mV/km]/[nT]             units: also [V/m]/[T] and Ohm
//   > 0.00                     azimuth of the axes, degrees
//   > 45.0 -90.0               origin
//   > 12 40                    numbers of periods and stations: told where rows have others
// and then a row per station, period and component:
//   period code latitude longitude x y z component real imag error
// where apparent resistivities (ohm m) and phases have one number in place of two, and a comment
// may say that phases of yx are those of -Zyx
// (Kelbert et al. 2014, Computers & Geosciences 66, 40; ModEM user guide). The error is that of the
// real and of the imaginary part; from 1e10 on it stands for none, as 1e13 and 2e15 do.
#include "sounding/conventions.h"
#include "sounding_finish.h"
#include "tessera/data/median.h"
#include "tessera/inversion/mt_transform.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace tessera::inversion {
namespace {

constexpr double kNoError = 1e10;

/// What is known of one station at one period.
struct ListRow {
  Tensor2<Complex> z{{{kMissing, kMissing}, {kMissing, kMissing}}};
  Tensor2<double> error{{{kNaN, kNaN}, {kNaN, kNaN}}};
  std::array<Complex, 2> tipper{kMissing, kMissing};
  std::array<double, 2> tipper_error{kNaN, kNaN};
  Tensor2<double> rho{{{kNaN, kNaN}, {kNaN, kNaN}}}, phase = rho, rho_error = rho,
                                                     phase_error = rho;
  std::size_t offset = 0;       ///< of its first line
  std::set<std::string> given;  ///< components, those of modes as ZXY and ZYX
};

struct ListStation {
  std::optional<double> latitude, longitude;
  std::array<double, 3> place{};
  std::map<double, ListRow> rows;                 ///< by period
  std::optional<double> azimuth, tipper_azimuth;  ///< of x, by the headers of their blocks
  std::size_t tipper_azimuth_offset = 0;
  bool modes = false;  ///< TE and TM
};

enum class ListType { impedance, modes, tipper, rho_phase, other };

struct ListBlock {
  ListType type = ListType::other;
  double factor = 1;  ///< to the units of FileConventions
  double azimuth = 0;
  Token azimuth_token{};
  Token numbers{};  ///< of periods and stations, as the header says
  std::set<double> periods;
  std::set<std::string> stations;
};

class ModemListReader {
 public:
  ModemListReader(const data::TextFile& text, const ReadOptions& options)
      : text_(text), options_(options), findings_(text) {}

  std::vector<Sounding> read() {
    for (std::size_t line = 1; line <= text_.n_lines();) {
      const auto words = words_of(line);
      if (words.empty() || words[0].text.front() == '#' || words[0].text.front() == '+') {
        stated_of_minus_zyx_ |=
            text_.line(line).find(phases_of_minus_zyx) != std::string_view::npos;
        ++line;
      } else if (words[0].text.front() == '>') {
        line = header(line);
      } else {
        row(words);
        ++line;
      }
    }
    end_of_block();
    findings_.throw_if_errors();
    if (order_.empty()) {
      findings_.error(307, text_.text.size() - 1, "the list has no row of a type that is read");
      findings_.throw_if_errors();
    }
    drop_equal_positions();
    return soundings();
  }

 private:
  std::vector<Token> words_of(std::size_t n) const {
    return split_tokens(text_.text, text_.line_starts[n - 1],
                        text_.line_starts[n - 1] + text_.line(n).size());
  }
  Token behind_mark(std::size_t n) const {
    const std::string_view line = text_.line(n);
    const std::string_view rest = trim(line.substr(line.find('>') + 1));
    return {rest, text_.line_starts[n - 1] + static_cast<std::size_t>(rest.data() - line.data())};
  }

  /// Six lines with '>' in front; the number of the line behind them.
  std::size_t header(std::size_t line) {
    std::vector<Token> lines;
    while (line <= text_.n_lines() && lines.size() < 6) {
      const auto words = words_of(line);
      if (words.empty() || words[0].text.front() == '#') {
        ++line;
        continue;
      }
      if (words[0].text.front() != '>') break;
      lines.push_back(behind_mark(line++));
    }
    if (lines.size() < 6) {
      findings_.error(362, lines.back().offset,
                      fmt::format("a block of ModEM's list has six lines with '>' in front: type, "
                                  "sign, units, azimuth, origin, numbers; there are {}",
                                  lines.size()));
      findings_.throw_if_errors();
    }
    end_of_block();
    block_.emplace();
    block_->numbers = lines[5];
    const std::string type = upper(lines[0].text);
    if (type == "FULL_IMPEDANCE" || type == "OFF_DIAGONAL_IMPEDANCE")
      block_->type = ListType::impedance;
    else if (type == "TE_IMPEDANCE" || type == "TM_IMPEDANCE")
      block_->type = ListType::modes;
    else if (type == "FULL_VERTICAL_COMPONENTS")
      block_->type = ListType::tipper;
    else if (type == "OFF_DIAGONAL_RHO_PHASE")
      block_->type = ListType::rho_phase;
    else
      findings_.warn(363, lines[0].offset,
                     fmt::format("data of the type {} are not read", shown(lines[0].text)));
    sign(lines[1]);
    units(lines[2]);
    if (const auto a =
            parse_number({words_of_token(lines[3]), lines[3].offset}, Exponent::fortran, findings_))
      block_->azimuth = *a;
    block_->azimuth_token = lines[3];
    return line;
  }
  /// Programs read as many periods and stations as the header says; so it is told where rows have
  /// others, as those of a list that was cut short or joined.
  void end_of_block() {
    if (!block_ || block_->type == ListType::other) return;
    const Token t = block_->numbers;
    const auto words = split_tokens(text_.text, t.offset, t.offset + t.text.size());
    const std::size_t found[] = {block_->periods.size(), block_->stations.size()};
    for (std::size_t k = 0; k < 2; ++k) {
      const char* what = k == 0 ? "periods" : "stations";
      if (k >= words.size())
        return findings_.warn(362, t.offset,
                              fmt::format("the header does not say how many {} there are", what));
      const auto said = parse_number(words[k], Exponent::fortran, findings_);
      if (said && *said != static_cast<double>(found[k]))
        findings_.warn(362, words[k].offset,
                       fmt::format("the header says {} {}, the rows of the block have {}",
                                   words[k].text, what, found[k]));
    }
  }
  /// A name stands for one place.
  void same_place(const ListStation& s, const std::vector<Token>& words, const Token& code,
                  const std::array<double, 4>& at) {
    constexpr double degree = 1e-3, metre = 10;
    if (std::abs(*s.latitude - at[0]) <= degree && std::abs(*s.longitude - at[1]) <= degree &&
        std::abs(s.place[0] - at[2]) <= metre && std::abs(s.place[1] - at[3]) <= metre)
      return;
    findings_.error(
        362, code.offset,
        fmt::format("station {} stands at {} {} {} {} here, and elsewhere before: two "
                    "stations have one name",
                    shown(code.text), words[2].text, words[3].text, words[4].text, words[5].text));
  }
  /// All impedances of a station have one x; that of its tipper may be another one.
  void same_azimuth(ListStation& s) {
    const bool tipper = block_->type == ListType::tipper;
    std::optional<double>& a = tipper ? s.tipper_azimuth : s.azimuth;
    if (!a) {
      a = block_->azimuth;
      if (tipper) s.tipper_azimuth_offset = block_->azimuth_token.offset;
    }
    if (*a == block_->azimuth) return;
    findings_.error(
        362, block_->azimuth_token.offset,
        fmt::format("x points {:g} degrees here and {:g} in a block before, of the same "
                    "stations",
                    block_->azimuth, *a));
    findings_.throw_if_errors();
  }
  static std::string_view words_of_token(Token t) {
    return t.text.substr(0, t.text.find_first_of(" \t"));
  }

  void sign(Token t) {
    const std::string s = upper(t.text);
    TimeSign found = TimeSign::plus;
    if (s.starts_with("EXP(-"))
      found = TimeSign::minus;
    else if (!s.starts_with("EXP(+") && !s.starts_with("EXP(I"))
      return findings_.error(317, t.offset, "the time sign " + shown(t.text) + " is not understood",
                             "exp(+i\\omega t) or exp(-i\\omega t)");
    if (conventions_.stated_sign && *conventions_.stated_sign != found)
      return findings_.error(317, t.offset, "the blocks of the file have different time signs");
    conventions_.stated_sign = found;
  }

  void units(Token t) {
    const std::string u = upper(t.text);
    if (block_->type != ListType::impedance && block_->type != ListType::modes) return;
    ImpedanceUnits found = ImpedanceUnits::field;
    if (u == "[V/M]/[T]")
      block_->factor = 1e-3;  // 1 mV/km/nT = 1e3 V/m/T
    else if (u == "OHM" || u == "[V/M]/[A/M]")
      found = ImpedanceUnits::ohm;
    else if (u != "[MV/KM]/[NT]")
      return findings_.error(316, t.offset, "unknown impedance units " + shown(t.text),
                             "[mV/km]/[nT], [V/m]/[T] or Ohm");
    if (conventions_.stated_units && *conventions_.stated_units != found)
      return findings_.error(316, t.offset, "the blocks of the file have different units");
    conventions_.stated_units = found;
  }

  void row(const std::vector<Token>& words) {
    if (!block_) {
      findings_.error(362, words[0].offset, "a row stands before the header of its block");
      findings_.throw_if_errors();
    }
    if (block_->type == ListType::other) return;
    const bool one_number = block_->type == ListType::rho_phase;
    const std::size_t n = one_number ? 10 : 11;
    if (words.size() != n) {
      findings_.error(362, words[0].offset,
                      fmt::format("a row of this block has {} columns: period code latitude "
                                  "longitude x y z component {} error; there are {}",
                                  n, one_number ? "value" : "real imag", words.size()));
      findings_.throw_if_errors();
    }
    const auto number = [&](std::size_t k) {
      return parse_number(words[k], Exponent::fortran, findings_).value_or(kNaN);
    };
    const double period = number(0);
    const std::string code(words[1].text);
    const auto [at, fresh] = stations_.try_emplace(code);
    ListStation& s = at->second;
    if (fresh) {
      order_.push_back(code);
      s.latitude = number(2);
      s.longitude = number(3);
      s.place = {number(4), number(5), number(6)};
    } else {
      same_place(s, words, words[1], {number(2), number(3), number(4), number(5)});
    }
    same_azimuth(s);
    block_->periods.insert(period);
    block_->stations.insert(code);
    if (!(period > 0)) {
      findings_.error(305, words[0].offset, "a period must be positive");
      return;
    }
    const auto [where, first] = s.rows.try_emplace(period);
    ListRow& r = where->second;
    if (first) r.offset = words[0].offset;
    const std::string component = upper(words[7].text);
    const auto error_at = [&](std::size_t k, double factor) {
      const double e = number(k);
      return e >= kNoError ? kNaN : factor * e;
    };
    const auto unknown = [&] {
      findings_.error(362, words[7].offset,
                      "component " + shown(words[7].text) + " is none of this block's type");
    };
    const auto twice = [&](std::string what) {
      if (r.given.insert(std::move(what)).second) return false;
      findings_.error(362, words[0].offset,
                      fmt::format("{} of station {} at {} s is there twice", words[7].text,
                                  shown(code), words[0].text),
                      "each datum once");
      return true;
    };
    if (one_number) {
      const int i = component.ends_with("XY") ? 0 : component.ends_with("YX") ? 1 : -1;
      if (i < 0) return unknown();
      auto& value = component.starts_with("RHO") ? r.rho : r.phase;
      auto& error = component.starts_with("RHO") ? r.rho_error : r.phase_error;
      if (!component.starts_with("RHO") && !component.starts_with("PHS")) return unknown();
      if (twice(component.substr(0, 3) + (i ? "YX" : "XY"))) return;
      value[i][1 - i] = number(8);
      error[i][1 - i] = error_at(9, 1);
      return;
    }
    const Complex v = block_->factor * Complex(number(8), number(9));
    const double e = error_at(10, block_->factor);
    if (block_->type == ListType::tipper) {
      if (component != "TX" && component != "TY") return unknown();
      if (twice(component)) return;
      r.tipper[component == "TY"] = v;
      r.tipper_error[component == "TY"] = e;
      return;
    }
    if (block_->type == ListType::modes) {
      if (component != "TE" && component != "TM") return unknown();
      const int i = component == "TM";
      if (twice(i ? "ZYX" : "ZXY")) return;
      s.modes = true;
      r.z[i][1 - i] = v;
      r.error[i][1 - i] = e;
      return;
    }
    if (component.size() != 3 || component[0] != 'Z' ||
        component.find_first_not_of("XY", 1) != std::string::npos)
      return unknown();
    if (twice(component)) return;
    r.z[component[1] == 'Y'][component[2] == 'Y'] = v;
    r.error[component[1] == 'Y'][component[2] == 'Y'] = e;
  }

  /// Files of synthetic data give one position to all stations, which differ by x and y.
  void drop_equal_positions() {
    std::set<std::pair<double, double>> globe;
    std::set<std::array<double, 3>> places;
    for (const auto& [code, s] : stations_) {
      globe.emplace(*s.latitude, *s.longitude);
      places.insert(s.place);
    }
    if (globe.size() > 1 || places.size() < 2) return;
    for (auto& [code, s] : stations_) s.latitude = s.longitude = std::nullopt;
  }

  /// A list comes from one program: all of its phases decide.
  YxPhases yx_phases() const {
    if (stated_of_minus_zyx_) return YxPhases::of_minus_zyx;
    std::vector<double> degrees;
    for (const auto& [code, s] : stations_)
      for (const auto& [period, r] : s.rows) degrees.push_back(r.phase[1][0]);
    return yx_phases_by_median(std::move(degrees));
  }

  std::vector<Sounding> soundings() {
    std::vector<Sounding> out;
    std::vector<data::Diagnostic> of_file = findings_.take_remarks();
    for (const std::string& code : order_) {
      Findings findings(text_);
      Sounding s = sounding(code, stations_.at(code), findings);
      s.findings.insert(s.findings.begin(), of_file.begin(), of_file.end());
      of_file.clear();
      out.push_back(std::move(s));
    }
    return out;
  }

  Sounding sounding(const std::string& code, const ListStation& station, Findings& findings) {
    Sounding s;
    s.format = "ModEM";
    s.station = code;
    s.latitude_deg = station.latitude;
    s.longitude_deg = station.longitude;
    s.place_m = station.place;
    std::vector<std::size_t> offsets;
    bool impedance = false, tipper = false, resistivity = false;
    for (const auto& [period, r] : station.rows) {
      s.frequency_hz.push_back(1 / period);
      s.azimuth_deg.push_back(station.azimuth ? *station.azimuth : *station.tipper_azimuth);
      offsets.push_back(r.offset);
      s.impedance.push_back(r.z);
      s.impedance_error.push_back(r.error);
      s.tipper.push_back(r.tipper);
      s.tipper_error.push_back(r.tipper_error);
      s.resistivity.rho.push_back(r.rho);
      s.resistivity.rho_error.push_back(r.rho_error);
      s.resistivity.phase.push_back(r.phase);
      s.resistivity.phase_error.push_back(r.phase_error);
      for (int a = 0; a < 2; ++a) {
        tipper |= !std::isnan(r.tipper[a].real());
        for (int b = 0; b < 2; ++b) {
          impedance |= !std::isnan(r.z[a][b].real());
          resistivity |= !std::isnan(r.rho[a][b]) || !std::isnan(r.phase[a][b]);
        }
      }
    }
    if (!tipper) s.tipper.clear(), s.tipper_error.clear();
    if (tipper && station.azimuth) turn_tipper(s, station, findings);
    if (impedance || !resistivity) s.resistivity = {};
    if (!impedance) s.impedance.clear(), s.impedance_error.clear();
    if (station.modes) positive_modes(s, findings);
    if (!impedance && resistivity) {
      s.resistivity.errors_apart = true;
      const YxPhases yx = yx_phases();
      impedance_from_resistivity(s, yx);
      if (yx == YxPhases::of_minus_zyx && !stated_of_minus_zyx_)
        findings.note(348, "the yx phases lie within 90 degrees of zero: taken as those of -Zyx");
    }
    finish_sounding(s, conventions_, options_, std::move(offsets), findings);
    return s;
  }

  /// To the axes of the impedance.
  static void turn_tipper(Sounding& s, const ListStation& station, Findings& findings) {
    const double from = *station.tipper_azimuth, to = *station.azimuth;
    if (from == to) return;
    if (!s.latitude_deg)
      return findings.error(362, station.tipper_azimuth_offset,
                            fmt::format("x points {:g} degrees here and {:g} for the impedance: "
                                        "along which of them are x and y of the stations?",
                                        from, to),
                            "one direction in all blocks");
    Sounding turned{.frequency_hz = s.frequency_hz,
                    .azimuth_deg = std::vector<double>(s.size(), from),
                    .tipper = s.tipper,
                    .tipper_error = s.tipper_error};
    rotate_to(turned, to);
    s.tipper = std::move(turned.tipper);
    s.tipper_error = std::move(turned.tipper_error);
    findings.warn(
        345, station.tipper_azimuth_offset,
        fmt::format("the tipper's axes differ from those of the impedance, {:g} from {:g} "
                    "degrees; it was turned to them",
                    from, to));
  }

  /// TE and TM as impedances of a 2-D earth, Zxy and Zyx: with a positive real part of Zxy and
  /// -Zyx.
  static void positive_modes(Sounding& s, Findings& findings) {
    for (int i = 0; i < 2; ++i) {
      std::vector<double> real;
      for (const auto& z : s.impedance)
        if (!std::isnan(z[i][1 - i].real())) real.push_back(z[i][1 - i].real());
      if (real.empty()) continue;
      const double wanted = i == 0 ? 1 : -1;
      if (data::median(std::move(real)) * wanted >= 0) continue;
      for (auto& z : s.impedance) z[i][1 - i] = -z[i][1 - i];
      findings.note(364, fmt::format("{} is taken with the other sign, so that the real part of {} "
                                     "is positive",
                                     i == 0 ? "TE" : "TM", i == 0 ? "Zxy" : "-Zyx"));
    }
  }

  const data::TextFile& text_;
  ReadOptions options_;
  Findings findings_;
  FileConventions conventions_;
  std::optional<ListBlock> block_;
  bool stated_of_minus_zyx_ = false;
  std::map<std::string, ListStation> stations_;
  std::vector<std::string> order_;
};

}  // namespace

std::vector<Sounding> read_modem_list(const data::TextFile& text, const ReadOptions& options) {
  return ModemListReader(text, options).read();
}

}  // namespace tessera::inversion
