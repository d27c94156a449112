// SPDX-License-Identifier: Apache-2.0
//
// Tables of data for other programs.
#include "sounding/conventions.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/csv.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/file_io.h"
#include "tessera/inversion/constants.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <complex>
#include <iterator>
#include <map>
#include <set>

namespace tessera::inversion {
namespace {

template <class... A>
void add(std::string& out, fmt::format_string<A...> format, A&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<A>(args)...);
}

/// Of stations as these programs take them: without blanks, and told apart by a number.
std::vector<std::string> names_without_blanks(const Survey& s) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (const Station& t : s.stations) {
    std::string word = t.id.empty() ? "_" : t.id;
    for (char& c : word)
      if (std::isspace(static_cast<unsigned char>(c))) c = '_';
    std::string name = word;
    for (int n = 2; !taken.insert(name).second; ++n) name = word + "-" + std::to_string(n);
    out.push_back(std::move(name));
  }
  return out;
}

// ---- ModEM ----

enum class ModemBlock { impedance, tipper, rho_phase };

/// Where a kind stands: its block, component and which of the two numbers of it.
struct ModemPlace {
  ModemBlock block;
  std::string component;
  int part;
};
ModemPlace modem_place(DatumKind kind) {
  static const std::map<Element, std::pair<ModemBlock, const char*>> of = {
      {Element::xx, {ModemBlock::impedance, "ZXX"}}, {Element::xy, {ModemBlock::impedance, "ZXY"}},
      {Element::yx, {ModemBlock::impedance, "ZYX"}}, {Element::yy, {ModemBlock::impedance, "ZYY"}},
      {Element::tx, {ModemBlock::tipper, "TX"}},     {Element::ty, {ModemBlock::tipper, "TY"}}};
  const auto at = of.find(kind.element);
  if (at != of.end() && (kind.part == Part::real || kind.part == Part::imag))
    return {at->second.first, at->second.second, kind.part == Part::imag};
  const bool xy = kind.element == Element::xy;
  if ((xy || kind.element == Element::yx) &&
      (kind.part == Part::log10_rho || kind.part == Part::phase))
    return {ModemBlock::rho_phase,
            std::string(kind.part == Part::phase ? "PHS" : "RHO") + (xy ? "XY" : "YX"), 0};
  throw Error("[write_modem] ModEM's list holds no datum " + name_of(kind) +
              ": impedances, tipper, log10_rho and phase of xy and yx");
}

}  // namespace

std::string emdata_text(const Survey& s) {
  require_valid(s.data, s.stations.size());
  const auto type_of = [](DatumKind kind) {
    const bool xy = kind.element == Element::xy;
    if (xy || kind.element == Element::yx) {
      if (kind.part == Part::log10_rho) return xy ? 123 : 125;
      if (kind.part == Part::phase) return xy ? 104 : 106;
    }
    throw Error("[write_emdata] MARE2DEM's file holds no datum " + name_of(kind) +
                " here: log10_rho and phase of xy and yx");
  };
  if (s.data.size() == 0) throw Error("[write_emdata] the survey has no data");
  std::vector<double> f = s.data.frequency_hz;
  std::sort(f.begin(), f.end());
  f.erase(std::unique(f.begin(), f.end()), f.end());
  std::string out = "Format:  EMData_2.2\n";
  add(out, "# MT Frequencies: {:5}\n", f.size());
  for (const double v : f) add(out, "{}\n", data::number_text(v));
  add(out, "# MT Receivers: {:7}\n", s.stations.size());
  add(out,
      "!            X            Y            Z   Theta   Alpha    Beta   Length SolveStatic  "
      "Name\n");
  const std::vector<std::string> names = names_without_blanks(s);
  for (std::size_t k = 0; k < s.stations.size(); ++k) {
    const Station& t = s.stations[k];
    add(out, "{} {} {} 0 0 {} 0 0 {}\n", data::number_text(t.offset_m),
        data::number_text(t.distance_m), data::number_text(z_of(t).value_or(0)),
        data::number_text(t.tilt_deg), names[k]);
  }
  add(out, "# Data: {:10}\n!  Type  Freq #    Tx #    Rx #           Data         StdErr\n",
      s.data.size());
  for (std::size_t i = 0; i < s.data.size(); ++i) {
    const auto at = std::lower_bound(f.begin(), f.end(), s.data.frequency_hz[i]) - f.begin();
    add(out, "{:7} {:7} {:7} {:7} {} {}\n", type_of(s.data.kind[i]), at + 1, s.data.station[i] + 1,
        s.data.station[i] + 1, data::number_text(s.data.value[i]),
        data::number_text(s.data.sigma[i]));
  }
  return out;
}

void write_emdata(const std::filesystem::path& path, const Survey& survey) {
  data::write_file_atomically(path, emdata_text(survey));
}

std::string modem_text(const Survey& s, double x_azimuth_deg) {
  require_valid(s.data, s.stations.size());
  if (s.data.size() == 0) throw Error("[write_modem] the survey has no data");
  // Block, station, falling frequency, component: its one or two numbers with their errors.
  struct Numbers {
    std::array<double, 2> value{}, sigma{};
    std::array<bool, 2> given{};
  };
  using Key = std::tuple<ModemBlock, std::int64_t, double, std::string>;
  std::map<Key, Numbers> rows;
  bool diagonal = false;
  for (std::size_t i = 0; i < s.data.size(); ++i) {
    const DatumKind kind = s.data.kind[i];
    const ModemPlace p = modem_place(kind);
    double value = s.data.value[i], sigma = s.data.sigma[i];
    if (p.block == ModemBlock::impedance) {
      diagonal = diagonal || kind.element == Element::xx || kind.element == Element::yy;
      const double unit = kind.element == Element::yx ? -ohm_per_field_unit : ohm_per_field_unit;
      value /= unit;
      sigma /= ohm_per_field_unit;
    } else if (kind.part == Part::log10_rho) {
      value = std::pow(10, value);
      sigma *= value * std::log(10);
    }
    Numbers& n = rows[{p.block, s.data.station[i], -s.data.frequency_hz[i], p.component}];
    n.value[static_cast<std::size_t>(p.part)] = value;
    n.sigma[static_cast<std::size_t>(p.part)] = sigma;
    n.given[static_cast<std::size_t>(p.part)] = true;
  }
  std::erase_if(rows, [](const auto& row) {
    return std::get<0>(row.first) != ModemBlock::rho_phase &&
           !(row.second.given[0] && row.second.given[1]);
  });
  double latitude = 0, longitude = 0, known = 0;
  for (const Station& t : s.stations)
    if (t.latitude_deg && t.longitude_deg) {
      latitude += *t.latitude_deg;
      longitude += *t.longitude_deg;
      ++known;
    }
  const std::vector<std::string> names = names_without_blanks(s);
  std::string out;
  for (const ModemBlock block :
       {ModemBlock::impedance, ModemBlock::tipper, ModemBlock::rho_phase}) {
    std::set<double> frequencies;
    std::set<std::int64_t> stations;
    for (const auto& row : rows)
      if (std::get<0>(row.first) == block) {
        stations.insert(std::get<1>(row.first));
        frequencies.insert(std::get<2>(row.first));
      }
    if (stations.empty()) continue;
    const bool one = block == ModemBlock::rho_phase;
    add(out,
        "# Magnetotelluric data{}{}\n# Period(s) Code GG_Lat GG_Lon X(m) Y(m) Z(m) Component {} "
        "Error\n",
        one ? "; " : "", one ? phases_of_minus_zyx : "", one ? "Value" : "Real Imag");
    add(out, "> {}\n> exp(+i\\omega t)\n> {}\n> {}\n> {} {}\n> {} {}\n",
        block == ModemBlock::tipper ? "Full_Vertical_Components"
        : one                       ? "Off_Diagonal_Rho_Phase"
        : diagonal                  ? "Full_Impedance"
                                    : "Off_Diagonal_Impedance",
        block == ModemBlock::impedance ? "[mV/km]/[nT]" : "[]", data::number_text(x_azimuth_deg),
        data::number_text(known ? latitude / known : 0.0),
        data::number_text(known ? longitude / known : 0.0), frequencies.size(), stations.size());
    for (const auto& row : rows) {
      if (std::get<0>(row.first) != block) continue;
      const Station& t = s.stations[static_cast<std::size_t>(std::get<1>(row.first))];
      const double z = z_of(t).value_or(0);
      add(out, "{} {} {} {} {} {} {} {} {}", data::number_text(-1 / std::get<2>(row.first)),
          names[static_cast<std::size_t>(std::get<1>(row.first))],
          data::number_text(t.latitude_deg.value_or(0)),
          data::number_text(t.longitude_deg.value_or(0)), data::number_text(t.offset_m),
          data::number_text(t.distance_m), data::number_text(z), std::get<3>(row.first),
          data::number_text(row.second.value[0]));
      if (!one) add(out, " {}", data::number_text(row.second.value[1]));
      add(out, " {}\n", data::number_text(std::max(row.second.sigma[0], row.second.sigma[1])));
    }
  }
  return out;
}

void write_modem(const std::filesystem::path& path, const Survey& survey, double x_azimuth_deg) {
  data::write_file_atomically(path, modem_text(survey, x_azimuth_deg));
}

}  // namespace tessera::inversion
