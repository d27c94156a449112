// SPDX-License-Identifier: Apache-2.0
#include "sounding/missing.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/sounding_write.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <optional>

namespace tessera::inversion {
namespace {

constexpr double kEmpty = 1e32;
constexpr const char* kElement[2][2] = {{"XX", "XY"}, {"YX", "YY"}};

/// d:mm:ss.ssssss, rounded so that seconds never reach 60; 1e-6 s is 0.03 mm on the ground.
std::string sexagesimal(double degrees) {
  const auto micro = static_cast<long long>(std::llround(std::abs(degrees) * 3600e6));
  return fmt::format("{}{}:{:02}:{:02}.{:06}", degrees < 0 ? "-" : "", micro / 3600000000,
                     micro / 60000000 % 60, micro / 1000000 % 60, micro % 1000000);
}

/// A name between quotation marks on one line.
std::string edi_name(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (c == '"')
      out += '\'';
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  return out;
}

class EdiText {
 public:
  explicit EdiText(const Sounding& s) : s_(s) {}

  std::string text() {
    head();
    if (s_.has_impedance()) impedance();
    if (s_.has_tipper()) tipper();
    add(">END\n");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void head() {
    const std::string name = edi_name(s_.station);
    const bool placed = s_.latitude_deg && s_.longitude_deg;
    add(">HEAD\n  DATAID=\"{}\"\n", name);
    if (placed)
      add("  LAT={}\n  LONG={}\n", sexagesimal(*s_.latitude_deg), sexagesimal(*s_.longitude_deg));
    if (s_.elevation_m) add("  ELEV={:.10g}\n", *s_.elevation_m);
    if (s_.declination_deg) add("  DECLINATION={:.10g}\n", *s_.declination_deg);
    add("  UNITS=M\n  STDVERS=\"SEG 1.0\"\n  PROGVERS=\"TESSERA\"\n  EMPTY=1.0E+32\n\n");
    add(">INFO\n  Impedance E/B in mV/km/nT; a variance is the square of the standard deviation of "
        "one part.\n"
        "  transfer_function.sign_convention = +\n\n");
    const double x = s_.azimuth_deg.empty() ? 0 : s_.azimuth_deg.front();
    add(">=DEFINEMEAS\n  MAXCHAN=5\n  MAXRUN=999\n  MAXMEAS=9999\n  UNITS=M\n  REFTYPE=CART\n");
    if (placed)
      add("  REFLAT={}\n  REFLONG={}\n", sexagesimal(*s_.latitude_deg),
          sexagesimal(*s_.longitude_deg));
    if (s_.elevation_m) add("  REFELEV={:.10g}\n", *s_.elevation_m);
    add(">HMEAS ID=1001.001 CHTYPE=HX X=0.0 Y=0.0 Z=0.0 AZM={:.10g}\n", x);
    add(">HMEAS ID=1002.001 CHTYPE=HY X=0.0 Y=0.0 Z=0.0 AZM={:.10g}\n", x + 90);
    if (s_.has_tipper()) add(">HMEAS ID=1003.001 CHTYPE=HZ X=0.0 Y=0.0 Z=0.0 AZM=0.0\n");
    if (s_.has_impedance())
      add(">EMEAS ID=1004.001 CHTYPE=EX X=0.0 Y=0.0 Z=0.0 X2=0.0 Y2=0.0\n"
          ">EMEAS ID=1005.001 CHTYPE=EY X=0.0 Y=0.0 Z=0.0 X2=0.0 Y2=0.0\n");
    add("\n>=MTSECT\n  SECTID=\"{}\"\n  NFREQ={}\n  HX=1001.001\n  HY=1002.001\n", name, s_.size());
    if (s_.has_tipper()) add("  HZ=1003.001\n");
    if (s_.has_impedance()) add("  EX=1004.001\n  EY=1005.001\n");
    add("\n");
    block("FREQ ORDER=DEC", [&](std::size_t i) { return s_.frequency_hz[i]; });
    block(s_.has_impedance() ? "ZROT" : "TROT.EXP",
          [&](std::size_t i) { return s_.azimuth_deg[i]; });
  }

  template <class Value>
  void block(std::string_view name, Value value) {
    add(">{} //{}\n", name, s_.size());
    for (std::size_t i = 0; i < s_.size(); ++i) {
      const double v = value(i);
      add(" {:17.9E}{}", std::isfinite(v) ? v : kEmpty,
          i % 5 == 4 || i + 1 == s_.size() ? "\n" : "");
    }
  }

  void impedance() {
    const auto z = impedance_in(s_, ImpedanceUnits::field);
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c) {
        const std::string name = std::string("Z") + kElement[r][c];
        block(name + "R ROT=ZROT", [&](std::size_t i) { return z[i][r][c].real(); });
        block(name + "I ROT=ZROT", [&](std::size_t i) { return z[i][r][c].imag(); });
        block(name + ".VAR ROT=ZROT", [&](std::size_t i) {
          return std::pow(s_.impedance_error[i][r][c] / ohm_per_field_unit, 2);
        });
      }
  }

  void tipper() {
    if (s_.has_impedance()) block("TROT.EXP", [&](std::size_t i) { return s_.azimuth_deg[i]; });
    for (int c = 0; c < 2; ++c) {
      const std::string name = c == 0 ? "TX" : "TY";
      block(name + "R.EXP ROT=TROT", [&](std::size_t i) { return s_.tipper[i][c].real(); });
      block(name + "I.EXP ROT=TROT", [&](std::size_t i) { return s_.tipper[i][c].imag(); });
      block(name + "VAR.EXP ROT=TROT",
            [&](std::size_t i) { return std::pow(s_.tipper_error[i][c], 2); });
    }
  }

  const Sounding& s_;
  std::string out_;
};

std::optional<double> if_given(double v) {
  return std::isfinite(v) ? std::optional(v) : std::nullopt;
}

}  // namespace

std::string edi_text(const Sounding& s) { return EdiText(s).text(); }

std::string csv_text(std::span<const Sounding> soundings) {
  std::vector<std::string> columns = {"station",     "latitude_deg", "longitude_deg",
                                      "elevation_m", "frequency_hz", "period_s",
                                      "azimuth_deg"};
  for (const std::string xy : {"xx", "xy", "yx", "yy"})
    for (const std::string& name :
         {"z" + xy + "_re_ohm", "z" + xy + "_im_ohm", "z" + xy + "_error_ohm",
          "rho_" + xy + "_ohm_m", "rho_" + xy + "_error_ohm_m", "phase_" + xy + "_deg",
          "phase_" + xy + "_error_deg"})
      columns.push_back(name);
  for (const char* name : {"tx_re", "tx_im", "tx_error", "ty_re", "ty_im", "ty_error"})
    columns.push_back(name);
  data::CsvTable table(columns);
  for (const Sounding& s : soundings)
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double f = s.frequency_hz[i];
      table.add(s.station).add(s.latitude_deg).add(s.longitude_deg).add(s.elevation_m);
      table.add(f).add(1 / f).add(if_given(s.azimuth_deg[i]));
      for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 2; ++c) {
          const Complex z = s.has_impedance() ? s.impedance[i][r][c] : kMissing;
          const double e = s.has_impedance() ? s.impedance_error[i][r][c] : kNaN;
          const ModeCurve curve = mode_curve({}, {{f}, {z}, {e}});
          for (const double v : {z.real(), z.imag(), e, curve.rho_a[0], curve.rho_a_error[0],
                                 curve.phase[0], curve.phase_error[0]})
            table.add(if_given(v));
        }
      for (int c = 0; c < 2; ++c) {
        const Complex t = s.has_tipper() ? s.tipper[i][c] : kMissing;
        for (const double v : {t.real(), t.imag(), s.has_tipper() ? s.tipper_error[i][c] : kNaN})
          table.add(if_given(v));
      }
      table.end_row();
    }
  return table.text();
}

void write_edi(const std::filesystem::path& path, const Sounding& s) {
  data::write_file_atomically(path, edi_text(s));
}

void write_csv(const std::filesystem::path& path, std::span<const Sounding> soundings) {
  data::write_file_atomically(path, csv_text(soundings));
}

}  // namespace tessera::inversion
