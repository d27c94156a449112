// SPDX-License-Identifier: Apache-2.0
// EMTF Z files (.zmm, .zrr, .zss; G. D. Egbert's EMTF): a header with position and channel
// directions, then for each period the transfer functions from channels 1-2 (Hx, Hy) to the others,
// the inverse coherent signal power matrix S and the residual covariance N (lower triangles). e^{+i
// omega t}, mV/km/nT, variance of the complex T_ij = N_ii S_jj.
#include "sounding_finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tessera::inversion {
namespace {

class ZReader {
 public:
  ZReader(const data::TextFile& text, const ReadOptions& options)
      : text_(text), options_(options), findings_(text) {}

  Sounding read() {
    s_.format = "EMTF Z";
    header();
    for (std::size_t k = 0; k < n_periods_; ++k) period(k);
    skip_blank();
    if (line_ <= text_.n_lines())
      findings_.error(304, at(),
                      fmt::format("text after the {} periods the header declares: {}", n_periods_,
                                  shown(trim(text_.line(line_)))));
    findings_.throw_if_errors();
    errors_from_covariance(s_);
    use_channel_azimuths(s_, azimuths_, azimuth_offset_, findings_);
    finish_sounding(s_, {}, options_, offsets_, findings_);
    return std::move(s_);
  }

 private:
  std::size_t at() const {
    return line_ <= text_.n_lines() ? text_.line_starts[line_ - 1] : text_.text.size() - 1;
  }
  std::vector<Token> words() const {
    if (line_ > text_.n_lines()) return {};
    return split_tokens(text_.text, text_.line_starts[line_ - 1],
                        text_.line_starts[line_ - 1] + text_.line(line_).size());
  }
  void skip_blank() {
    while (line_ <= text_.n_lines() && trim(text_.line(line_)).empty()) ++line_;
  }
  [[noreturn]] void stop(int number, std::size_t offset, std::string message,
                         std::string hint = {}) {
    findings_.error(number, offset, std::move(message), std::move(hint));
    findings_.throw_if_errors();
    std::abort();  // not reached: there is an error
  }
  static bool contains(std::string_view line, std::string_view what) {
    return upper(line).find(what) != std::string::npos;
  }

  /// The first word behind `key` in a line; an empty token at the line if there is none.
  Token word_behind(std::string_view key) const {
    const std::string u = upper(text_.line(line_));
    const std::size_t k = u.find(key);
    if (k == std::string::npos) return {{}, at()};
    const std::size_t begin = at() + k + key.size();
    for (const Token& t : split_tokens(text_.text, begin, at() + u.size()))
      if (t.text != ":" && t.text != "=") return t;
    return {{}, begin};
  }

  double number_behind(std::string_view key, const char* what) {
    const Token t = word_behind(key);
    if (t.text.empty()) stop(304, t.offset, fmt::format("expected {} after '{}'", what, key));
    const auto v = parse_number(t, Exponent::fortran, findings_);
    findings_.throw_if_errors();
    return *v;
  }

  void header() {
    std::string previous;
    while (line_ <= text_.n_lines() && !contains(text_.line(line_), "COORDINATE ")) {
      const std::string_view line = trim(text_.line(line_));
      if (contains(line, "NUMBER OF CHANNELS")) break;
      if (!line.empty()) previous = std::string(line);
      ++line_;
    }
    if (line_ > text_.n_lines())
      stop(302, text_.text.size() - 1, "expected a line 'coordinate LAT LON declination D'");
    // The last line before the coordinates is the station's name, in newer files behind "station
    // :".
    if (contains(previous, "STATION"))
      if (const std::size_t colon = previous.find(':'); colon != std::string::npos)
        previous = std::string(trim(std::string_view(previous).substr(colon + 1)));
    s_.station = previous;
    if (contains(text_.line(line_), "COORDINATE ")) {
      const std::vector<Token> w = words();
      if (w.size() < 3) stop(310, at(), "expected 'coordinate LAT LON declination D'");
      s_.latitude_deg = parse_angle(w[1], 90, "latitude", findings_);
      if (const auto v = parse_angle(w[2], 360, "longitude", findings_))
        s_.longitude_deg = wrap_degrees(*v);
      if (contains(text_.line(line_), "DECLINATION"))
        s_.declination_deg = number_behind("DECLINATION", "the declination");
      ++line_;
    }
    skip_blank();
    if (line_ > text_.n_lines() || !contains(text_.line(line_), "NUMBER OF CHANNELS"))
      stop(302, at(), "expected 'number of channels N number of frequencies M'");
    // A channel takes a line, a period at least six.
    const auto channels =
        parse_count(word_behind("NUMBER OF CHANNELS"), 64, "the number of channels", findings_);
    const auto periods = parse_count(word_behind("NUMBER OF FREQUENCIES"),
                                     std::min((text_.n_lines() - line_) / 6, kMostItems),
                                     "the number of frequencies", findings_);
    findings_.throw_if_errors();
    n_channels_ = *channels;
    n_periods_ = *periods;
    if (n_channels_ < 3)
      stop(318, at(),
           fmt::format("{} channels; at least Hx, Hy and one output are needed", n_channels_));
    ++line_;
    skip_blank();
    if (contains(text_.line(line_), "ORIENTATIONS")) ++line_;
    azimuth_offset_ = at();
    for (std::size_t k = 0; k < n_channels_; ++k, ++line_) channel(k);
    if (ex_ == 0 && ey_ == 0 && hz_ == 0) stop(318, azimuth_offset_, "no channel Ex, Ey or Hz");
    if ((ex_ == 0) != (ey_ == 0)) stop(318, azimuth_offset_, "one of Ex and Ey only");
  }

  void channel(std::size_t k) {
    const std::vector<Token> w = words();
    if (w.size() < 5)
      stop(318, at(),
           fmt::format("expected 'number azimuth tilt station name' of channel {}", k + 1));
    const auto azimuth = parse_number(w[1], Exponent::fortran, findings_);
    parse_number(w[2], Exponent::fortran, findings_);
    findings_.throw_if_errors();
    const std::string name = upper(w.back().text);
    const std::string_view expected[] = {"HX", "HY"};
    if (k < 2 && !name.starts_with(expected[k]))
      stop(318, w.back().offset,
           fmt::format("channel {} must be {}, got {}", k + 1, expected[k], shown(w.back().text)));
    if (k == 0)
      azimuths_.hx = *azimuth;
    else if (k == 1)
      azimuths_.hy = *azimuth;
    else if (name.starts_with("EX") && !ex_)
      ex_ = k, azimuths_.ex = *azimuth;
    else if (name.starts_with("EY") && !ey_)
      ey_ = k, azimuths_.ey = *azimuth;
    else if (name.starts_with("HZ") && !hz_)
      hz_ = k;
    if (k + 1 == n_channels_ && !ex_) azimuths_.ex = azimuths_.hx, azimuths_.ey = azimuths_.hx + 90;
  }

  void expect_line(std::string_view what) {
    skip_blank();
    if (line_ > text_.n_lines() || !contains(text_.line(line_), what))
      stop(304, at(),
           fmt::format(
               "expected a line with '{}', got {}", what,
               line_ > text_.n_lines() ? "the end of the file" : shown(trim(text_.line(line_)))),
           "is the file complete?");
  }

  /// `rows` lines; line k holds `complex_in(k)` complex numbers.
  template <class Count>
  std::vector<std::vector<Complex>> matrix(std::size_t rows, Count complex_in, const char* what) {
    std::vector<std::vector<Complex>> out(rows);
    for (std::size_t k = 0; k < rows; ++k, ++line_) {
      const std::vector<Token> w = words();
      if (w.size() != 2 * complex_in(k))
        stop(304, at(),
             fmt::format("row {} of the {} has {} numbers, expected {}", k + 1, what, w.size(),
                         2 * complex_in(k)),
             "is the file complete?");
      for (std::size_t i = 0; i < complex_in(k); ++i) {
        const auto re = parse_number(w[2 * i], Exponent::fortran, findings_);
        const auto im = parse_number(w[2 * i + 1], Exponent::fortran, findings_);
        out[k].push_back(re && im ? Complex(*re, *im) : kMissing);
      }
    }
    return out;
  }

  void period(std::size_t k) {
    expect_line("PERIOD");
    const Token word = word_behind("PERIOD");
    const auto value = parse_number(word, Exponent::fortran, findings_);
    findings_.throw_if_errors();
    if (!(*value > 0))
      stop(305, word.offset,
           fmt::format("period number {} is {:g}; it must be positive", k + 1, *value));
    s_.frequency_hz.push_back(1 / *value);
    offsets_.push_back(word.offset);
    ++line_;
    while (line_ <= text_.n_lines() && !contains(text_.line(line_), "TRANSFER FUNCTION")) {
      if (contains(text_.line(line_), "PERIOD")) expect_line("TRANSFER FUNCTION");
      ++line_;
    }
    expect_line("TRANSFER FUNCTION");
    ++line_;
    const std::size_t outputs = n_channels_ - 2;
    const auto lower = [](std::size_t row) { return row + 1; };
    const auto t = matrix(
        outputs, [](std::size_t) { return std::size_t{2}; }, "transfer functions");
    expect_line("INVERSE COHERENT SIGNAL");
    ++line_;
    const auto signal = matrix(2, lower, "inverse signal power");
    expect_line("RESIDUAL COVARIANCE");
    ++line_;
    const auto residual = matrix(outputs, lower, "residual covariance");
    const auto hermitian = [](const auto& m, std::size_t i, std::size_t j) {
      return i >= j ? m[i][j] : std::conj(m[j][i]);
    };
    const Tensor2<Complex> si{
        {{signal[0][0], std::conj(signal[1][0])}, {signal[1][0], signal[1][1]}}};
    if (ex_) {
      const std::size_t e[2] = {ex_ - 2, ey_ - 2};
      Tensor2<Complex> z, n;
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
          z[i][j] = t[e[i]][j];
          n[i][j] = hermitian(residual, e[i], e[j]);
        }
      s_.impedance.push_back(z);
      s_.impedance_covariance.signal_inverse.push_back(si);
      s_.impedance_covariance.residual.push_back(n);
    }
    if (hz_) {
      s_.tipper.push_back({t[hz_ - 2][0], t[hz_ - 2][1]});
      s_.tipper_covariance.signal_inverse.push_back(si);
      const Complex n = residual[hz_ - 2][hz_ - 2];
      s_.tipper_covariance.residual.push_back({{{n, kNaN}, {kNaN, kNaN}}});
    }
  }

  const data::TextFile& text_;
  const ReadOptions& options_;
  Findings findings_;
  Sounding s_;
  std::size_t line_ = 1;
  std::size_t n_channels_ = 0, n_periods_ = 0;
  std::size_t ex_ = 0, ey_ = 0, hz_ = 0;  // channel numbers from 0; 0 is Hx, so 0 means none
  ChannelAzimuths azimuths_;
  std::size_t azimuth_offset_ = 0;
  std::vector<std::size_t> offsets_;
};

}  // namespace

Sounding read_emtf_z(const data::TextFile& text, const ReadOptions& options) {
  return ZReader(text, options).read();
}

}  // namespace tessera::inversion
