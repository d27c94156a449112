// SPDX-License-Identifier: Apache-2.0
// MARE2DEM's data (.emdata, "Format: EMData_2.2") and responses (.resp, "Format: EMResp_2.2") of
// magnetotelluric receivers:
//   # MT Frequencies: n        then n lines of Hz
//   # MT Receivers: n          then n lines: x y z theta alpha beta length solve_static [name]
//   # Data: n                  then n lines: type frequency transmitter receiver datum error
//                              [response residual]
// x along strike, y across, z down in m; theta and alpha, which turn a receiver's x, have to be 0;
// beta, in degrees, is how far its y dips below the horizontal. Types: 123 and 125 are log10 of the
// apparent resistivity of Zxy (TE) and Zyx (TM), 104 and 106 their phases in degrees, of TM
// that of -Zyx. '!' begins a comment. Of a response file the responses are read. (Key
// 2016, Geophys. J. Int. 207, 571; the layout by the Demo example of the program.)
#include "sounding_finish.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>

namespace tessera::inversion {
namespace {

class EmdataReader {
 public:
  EmdataReader(const data::TextFile& text, const ReadOptions& options)
      : text_(text), options_(options), findings_(text) {}

  std::vector<Sounding> read() {
    std::size_t line = 1;
    while (line <= text_.n_lines()) {
      const std::string head = upper(trim(text_.line(line)));
      const std::size_t offset = text_.line_starts[line - 1];
      ++line;
      if (head.empty() || head.front() == '!') continue;
      if (head.starts_with("FORMAT:")) {
        response_ = head.find("EMRESP") != std::string::npos;
        continue;
      }
      if (head.front() != '#') continue;  // other settings of the program
      const std::size_t colon = head.find(':');
      const std::string name(trim(std::string_view(head).substr(1, colon - 1)));
      if (!sections_.insert(name).second) {
        findings_.error(362, offset, fmt::format("the section \"{}\" is there twice", name),
                        "one section of each kind");
        findings_.throw_if_errors();
      }
      if (name == "MT FREQUENCIES") {
        for (const auto& words : rows(line, count(line - 1))) frequency(words);
      } else if (name == "MT RECEIVERS") {
        for (const auto& words : rows(line, count(line - 1))) receiver(words);
      } else if (name == "DATA") {
        data_ = rows(line, count(line - 1));
      } else {
        findings_.error(363, offset, fmt::format("data of the section \"{}\" are not read", name),
                        "magnetotelluric receivers alone");
      }
      findings_.throw_if_errors();
    }
    if (frequency_.empty() || receivers_.empty() || data_.empty())
      findings_.error(307, text_.text.size() - 1,
                      "the file lacks frequencies, receivers or data of magnetotellurics");
    findings_.throw_if_errors();
    for (const auto& words : data_) datum(words);
    findings_.throw_if_errors();
    return soundings();
  }

 private:
  /// What is known of one receiver at one frequency.
  struct Row {
    Tensor2<double> rho{{{kNaN, kNaN}, {kNaN, kNaN}}}, phase = rho, rho_error = rho,
                                                       phase_error = rho;
    std::size_t offset = 0;  ///< of its first line
  };
  struct Receiver {
    std::string name;
    std::array<double, 3> place{};
    double tilt = 0;
    std::map<std::size_t, Row> rows;  ///< by frequency: sections come in any order
  };

  std::vector<Token> words_of(std::size_t n) const {
    return split_tokens(text_.text, text_.line_starts[n - 1],
                        text_.line_starts[n - 1] + text_.line(n).size());
  }

  std::size_t count(std::size_t line) {
    const std::string_view all = text_.line(line);
    const std::string_view rest = trim(all.substr(std::min(all.find(':') + 1, all.size())));
    const auto n = parse_count(
        {rest, text_.line_starts[line - 1] + static_cast<std::size_t>(rest.data() - all.data())},
        text_.n_lines(), "the number of rows", findings_);
    findings_.throw_if_errors();
    return *n;
  }

  /// The next n lines that are no comment; `line` moves behind them.
  std::vector<std::vector<Token>> rows(std::size_t& line, std::size_t n) {
    std::vector<std::vector<Token>> out;
    for (; out.size() < n && line <= text_.n_lines(); ++line) {
      auto words = words_of(line);
      if (words.empty() || words[0].text.front() == '!') continue;
      if (words[0].text.front() == '#') break;
      out.push_back(std::move(words));
    }
    if (out.size() < n) {
      findings_.error(362, text_.line_starts[std::min(line, text_.n_lines()) - 1],
                      fmt::format("{} rows are announced, there are {}", n, out.size()));
      findings_.throw_if_errors();
    }
    return out;
  }

  double number(const std::vector<Token>& words, std::size_t k) {
    if (k >= words.size()) {
      findings_.error(
          362, words[0].offset,
          fmt::format("the row has {} columns, at least {} are needed", words.size(), k + 1));
      findings_.throw_if_errors();
    }
    return parse_number(words[k], Exponent::fortran, findings_).value_or(kNaN);
  }

  std::size_t index(const std::vector<Token>& words, std::size_t k, std::size_t n,
                    const char* what) {
    const double v = number(words, k);
    if (!(v >= 1 && v <= static_cast<double>(n) && v == std::floor(v))) {
      findings_.error(362, words[k].offset,
                      fmt::format("{} {} is none of 1 to {}", what, shown(words[k].text), n));
      findings_.throw_if_errors();
    }
    return static_cast<std::size_t>(v) - 1;
  }

  void frequency(const std::vector<Token>& words) {
    frequency_.push_back(number(words, 0));
    if (!(frequency_.back() > 0))
      findings_.error(305, words[0].offset, "a frequency must be positive");
  }

  void receiver(const std::vector<Token>& words) {
    Receiver r;
    r.place = {number(words, 0), number(words, 1), number(words, 2)};
    for (const std::size_t k : {std::size_t{3}, std::size_t{4}})
      if (number(words, k) != 0)
        findings_.error(363, words[k].offset,
                        fmt::format("a receiver with {} = {} is not read: its x is not that of the "
                                    "section, or not level",
                                    k == 3 ? "theta" : "alpha", words[k].text),
                        "receivers along the strike, tilted across it (beta) alone");
    r.tilt = number(words, 5);
    r.name =
        words.size() > 8 ? std::string(words[8].text) : fmt::format("{}", receivers_.size() + 1);
    receivers_.push_back(std::move(r));
  }

  void datum(const std::vector<Token>& words) {
    const double type = number(words, 0);
    const std::size_t f = index(words, 1, frequency_.size(), "frequency"),
                      k = index(words, 3, receivers_.size(), "receiver");
    const double transmitter = number(words, 2);
    const bool rho = type == 123 || type == 125, phase = type == 104 || type == 106;
    if (!rho && !phase) {
      findings_.error(363, words[0].offset, fmt::format("data of the type {} are not read", type),
                      "123 and 125 (log10 of apparent resistivities), 104 and 106 (phases)");
      return;
    }
    if (transmitter != 0 && transmitter != static_cast<double>(k + 1)) {
      findings_.error(363, words[2].offset,
                      "the magnetic field of another receiver is not read for an impedance");
      return;
    }
    const double value = number(words, response_ ? 6 : 4), error = number(words, 5);
    const int i = type == 125 || type == 106;
    if (!given_.emplace(type, f, k).second) {
      findings_.error(
          362, words[0].offset,
          fmt::format("type {} of receiver {} at frequency {} is there twice", type, k + 1, f + 1),
          "each datum once");
      return;
    }
    const auto [at, fresh] = receivers_[k].rows.try_emplace(f);
    Row& r = at->second;
    if (fresh) r.offset = words[0].offset;
    if (rho) {
      r.rho[i][1 - i] = std::pow(10.0, value);
      r.rho_error[i][1 - i] = std::numbers::ln10 * r.rho[i][1 - i] * error;
    } else {
      r.phase[i][1 - i] = value;
      r.phase_error[i][1 - i] = error;
    }
  }

  std::vector<Sounding> soundings() {
    std::vector<Sounding> out;
    for (const Receiver& r : receivers_) {
      Findings findings(text_);
      Sounding s;
      s.format = "MARE2DEM";
      s.station = r.name;
      s.place_m = r.place;
      s.tilt_deg = r.tilt;
      s.resistivity.errors_apart = true;
      std::vector<std::size_t> offsets;
      bool any = false, yx_phases = false;
      for (const auto& [f, row] : r.rows) {
        s.frequency_hz.push_back(frequency_[f]);
        s.azimuth_deg.push_back(0);
        s.resistivity.rho.push_back(row.rho);
        s.resistivity.rho_error.push_back(row.rho_error);
        s.resistivity.phase.push_back(row.phase);
        s.resistivity.phase_error.push_back(row.phase_error);
        offsets.push_back(row.offset);
        yx_phases = yx_phases || !std::isnan(row.phase[1][0]);
        for (const auto* of : {&row.rho, &row.phase})
          any = any || !std::isnan((*of)[0][1]) || !std::isnan((*of)[1][0]);
      }
      if (!any) continue;  // a receiver without data
      if (yx_phases && yx_phases_by_median(s) == YxPhases::of_zyx)
        findings.note(348, "the yx phases lie beyond 90 degrees of zero: taken as those of -Zyx");
      impedance_from_resistivity(s, YxPhases::of_minus_zyx);
      finish_sounding(s, {}, options_, std::move(offsets), findings);
      out.push_back(std::move(s));
    }
    return out;
  }

  const data::TextFile& text_;
  ReadOptions options_;
  Findings findings_;
  std::vector<double> frequency_;
  std::vector<Receiver> receivers_;
  std::vector<std::vector<Token>> data_;  ///< rows, whose indices are of sections in any order
  std::set<std::string> sections_;
  std::set<std::tuple<double, std::size_t, std::size_t>> given_;  // (type, frequency, receiver)
  bool response_ = false;
};

}  // namespace

std::vector<Sounding> read_emdata(const data::TextFile& text, const ReadOptions& options) {
  return EmdataReader(text, options).read();
}

}  // namespace tessera::inversion
