// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/data/file_io.h"
#include "tessera/data/quantity.h"
#include "tessera/data/touchstone.h"
#include "touchstone/touchstone_names.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace tessera::data {
namespace {

using Complex = std::complex<double>;
using Matrix = TouchstoneStyle::Matrix;

std::string digits_of(double x) {
  char buffer[32];
  const auto [end, ec] = std::to_chars(buffer, buffer + sizeof buffer, x);
  return ec == std::errc() ? std::string(buffer, end) : "0";
}

class TouchstoneWriter {
 public:
  TouchstoneWriter(const Touchstone& network, const TouchstoneStyle& style)
      : network_(network), style_(style), n_(network.ports) {}

  std::string text() {
    check();
    for (const std::string& line : network_.comments) out_ += "! " + line + "\n";
    if (style_.version == 2) out_ += "[Version] 2.0\n";
    write_options();
    if (style_.version == 2) write_keywords();
    for (std::size_t f = 0; f < network_.frequency_hz.size(); ++f) write_record(f);
    if (style_.version == 2 && !network_.noise.empty()) out_ += "[Noise Data]\n";
    for (const NetworkNoise& x : network_.noise)
      out_ += frequency(x.frequency_hz) + " " + digits_of(x.least_figure_db) + " " +
              digits_of(std::abs(x.optimal_reflection)) + " " +
              digits_of(std::arg(x.optimal_reflection) * 180 / std::numbers::pi) + " " +
              digits_of(style_.version == 2 ? x.resistance_ohm
                                            : x.resistance_ohm / network_.noise_reference_ohm) +
              "\n";
    if (style_.version == 2) out_ += "[End]\n";
    return std::move(out_);
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw Error("[touchstone] " + what); }

  bool hybrid() const { return network_.kind == NetworkKind::H || network_.kind == NetworkKind::G; }
  bool one_reference() const {
    const auto& r = network_.reference_ohm;
    return std::all_of(r.begin(), r.end(), [&](double x) { return x == r[0]; });
  }

  void check() const {
    const Touchstone& t = network_;
    if (style_.version != 1 && style_.version != 2)
      fail("version " + std::to_string(style_.version) + " is not written: expected 1 or 2");
    if (n_ == 0 || t.frequency_hz.empty()) fail("a file needs a port and a frequency");
    if (t.values.size() != t.frequency_hz.size() * n_ * n_)
      fail(std::to_string(t.values.size()) + " values for " +
           std::to_string(t.frequency_hz.size()) + " frequencies and " + std::to_string(n_) +
           " ports");
    if (t.reference_ohm.size() != n_)
      fail(std::to_string(t.reference_ohm.size()) + " references for " + std::to_string(n_) +
           " ports");
    if (!t.modes.empty() && t.modes.size() != n_)
      fail(std::to_string(t.modes.size()) + " modes for " + std::to_string(n_) + " ports");
    for (const double r : t.reference_ohm)
      if (!(r > 0 && std::isfinite(r))) fail("a reference must be above 0 ohm");
    for (const Complex& x : t.values)
      if (!std::isfinite(x.real()) || !std::isfinite(x.imag())) fail("a value is not finite");
    double last = -1;
    for (const double f : t.frequency_hz) {
      if (!(f > last && f >= 0 && std::isfinite(f))) fail("the frequencies do not rise");
      last = f;
    }
    if (hybrid() && n_ != 2) fail("H and G parameters are those of 2-ports");
    if (!t.noise.empty()) check_noise();
    if (style_.version == 1 && !t.modes.empty()) fail("version 1 has no mixed modes");
    if (style_.version == 1 && t.kind != NetworkKind::S && !one_reference())
      fail("version 1 normalizes by one reference, and here they differ");
    if (style_.version == 1 && style_.matrix != Matrix::full)
      fail("version 1 has whole matrices only");
    if (style_.matrix != Matrix::full)
      for (std::size_t f = 0; f < t.frequency_hz.size(); ++f)
        for (std::size_t i = 0; i < n_; ++i)
          for (std::size_t j = 0; j < i; ++j)
            if (t.at(f, i, j) != t.at(f, j, i)) fail("a matrix is not symmetric");
    if (std::none_of(std::begin(detail::kFrequencyUnits), std::end(detail::kFrequencyUnits),
                     [&](const auto& u) { return u.name == style_.unit; }))
      fail("the unit '" + style_.unit + "' is none of Hz, kHz, MHz, GHz");
  }

  void check_noise() const {
    const Touchstone& t = network_;
    if (n_ != 2) fail("noise data are those of 2-ports");
    double last = -1;
    for (const NetworkNoise& x : t.noise) {
      if (!std::isfinite(x.frequency_hz) || !std::isfinite(x.least_figure_db) ||
          !std::isfinite(std::abs(x.optimal_reflection)) || !std::isfinite(x.resistance_ohm))
        fail("a value of the noise is not finite");
      if (!(x.frequency_hz > last && x.frequency_hz >= 0))
        fail("the frequencies of the noise do not rise");
      last = x.frequency_hz;
    }
    // Readers find its first line by this, and multiply by the first reference of version 1.
    if (t.noise[0].frequency_hz > t.frequency_hz.back())
      fail("the noise begins above the last frequency of the network");
    if (style_.version == 1 && t.noise_reference_ohm != t.reference_ohm[0])
      fail("version 1 has one reference for noise and port 1, and here they are " +
           digits_of(t.noise_reference_ohm) + " and " + digits_of(t.reference_ohm[0]) + " ohm");
    if (!(t.noise_reference_ohm > 0 && std::isfinite(t.noise_reference_ohm)))
      fail("the reference of the noise must be above 0 ohm");
  }

  void write_options() {
    static constexpr const char* forms[] = {"RI", "MA", "DB"};
    out_ += "# " + style_.unit + " " + kNetworkKinds[static_cast<std::size_t>(network_.kind)] +
            " " + forms[static_cast<std::size_t>(style_.numbers)] + " R";
    if (style_.version == 2) {
      out_ += " " + digits_of(network_.noise_reference_ohm);
    } else {
      const std::size_t count = one_reference() ? 1 : n_;
      for (std::size_t p = 0; p < count; ++p) out_ += " " + digits_of(network_.reference_ohm[p]);
    }
    out_ += "\n";
  }

  void write_keywords() {
    out_ += "[Number of Ports] " + std::to_string(n_) + "\n";
    if (n_ == 2)
      out_ +=
          std::string("[Two-Port Data Order] ") + (style_.rows_first ? "12_21" : "21_12") + "\n";
    out_ += "[Number of Frequencies] " + std::to_string(network_.frequency_hz.size()) + "\n";
    if (!network_.noise.empty())
      out_ += "[Number of Noise Frequencies] " + std::to_string(network_.noise.size()) + "\n";
    out_ += "[Reference]";
    for (const double r : network_.reference_ohm) out_ += " " + digits_of(r);
    out_ += "\n";
    static constexpr const char* formats[] = {"Full", "Lower", "Upper"};
    out_ +=
        std::string("[Matrix Format] ") + formats[static_cast<std::size_t>(style_.matrix)] + "\n";
    if (!network_.modes.empty()) out_ += "[Mixed-Mode Order]";
    for (const NetworkMode& m : network_.modes) {
      out_ += " " + std::string(1, "SDC"[static_cast<std::size_t>(m.kind)]) +
              std::to_string(m.port + 1);
      if (m.kind != NetworkMode::Kind::single) out_ += "," + std::to_string(m.minus + 1);
    }
    if (!network_.modes.empty()) out_ += "\n";
    out_ += "[Network Data]\n";
  }

  /// In the unit of the file; the digits that read back as this very double.
  std::string frequency(double hz) const {
    const std::string text = print_quantity(hz, style_.unit);
    return text.substr(0, text.find(' '));
  }

  Complex written(std::size_t f, std::size_t i, std::size_t j) const {
    const Complex x = network_.at(f, i, j);
    if (style_.version == 2 || network_.kind == NetworkKind::S) return x;
    if (hybrid() && i != j) return x;
    const bool ohms = network_.kind == NetworkKind::Z ||
                      (network_.kind == NetworkKind::H && i == 0) ||
                      (network_.kind == NetworkKind::G && i == 1);
    const double r = network_.reference_ohm[0];
    return ohms ? x / r : x * r;
  }

  std::string pair(const Complex& x) const {
    if (style_.numbers == TouchstoneStyle::Numbers::RI)
      return digits_of(x.real()) + " " + digits_of(x.imag());
    const double size = std::abs(x), angle = std::arg(x) * 180 / std::numbers::pi;
    // Zero has no decibels: 10^-500 is 0 in double precision.
    const double first = style_.numbers == TouchstoneStyle::Numbers::MA ? size
                         : size > 0                                     ? 20 * std::log10(size)
                                                                        : -10000;
    return digits_of(first) + " " + digits_of(angle);
  }

  /// Row by row, four pairs a line at most; a 2-port of version 1 on one line, columns first.
  void write_record(std::size_t f) {
    out_ += frequency(network_.frequency_hz[f]);
    const bool columns_first =
        n_ == 2 && style_.matrix == Matrix::full && (style_.version == 1 || !style_.rows_first);
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t from = style_.matrix == Matrix::upper ? i : 0,
                        to = style_.matrix == Matrix::lower ? i + 1 : n_;
      if (i > 0 && n_ > 2) out_ += "\n";
      for (std::size_t j = from; j < to; ++j) {
        if (j > from && (j - from) % 4 == 0) out_ += "\n";
        out_ += " " + pair(columns_first ? written(f, j, i) : written(f, i, j));
      }
    }
    out_ += "\n";
  }

  const Touchstone& network_;
  const TouchstoneStyle& style_;
  std::size_t n_;
  std::string out_;
};

}  // namespace

std::string touchstone_text(const Touchstone& network, const TouchstoneStyle& style) {
  return TouchstoneWriter(network, style).text();
}

void write_touchstone(const std::filesystem::path& path, const Touchstone& network,
                      const TouchstoneStyle& style) {
  if (const auto named = detail::ports_by_name(path); named && *named != network.ports)
    throw Error("[touchstone] " + path.filename().string() + " is a name of " +
                std::to_string(*named) + " ports, and the network has " +
                std::to_string(network.ports));
  write_file_atomically(path, touchstone_text(network, style));
}

}  // namespace tessera::data
