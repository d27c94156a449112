// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/input.h"

#include "tessera/inversion/layering.h"

#include <fmt/format.h>

#include <map>
#include <numbers>
#include <optional>
#include <set>

namespace tessera::apps::mt1d {
namespace {

constexpr double degrees = 180 / std::numbers::pi;
constexpr std::size_t fewest_periods = 3;

inversion::ResponseKind kind_of(ResponseChoice choice) {
  switch (choice) {
    case ResponseChoice::determinant:
      return inversion::ResponseKind::determinant;
    case ResponseChoice::average:
      return inversion::ResponseKind::average;
    case ResponseChoice::xy:
    case ResponseChoice::te:
      return inversion::ResponseKind::xy;
    case ResponseChoice::yx:
    case ResponseChoice::tm:
      return inversion::ResponseKind::yx;
  }
  return inversion::ResponseKind::determinant;
}

data::Diagnostic about(int number, const std::string& file, std::string message, std::string hint) {
  data::Diagnostic d;
  d.number = number;
  d.place.file = file;
  d.message = std::move(message);
  d.hint = std::move(hint);
  return d;
}

/// Error E0610: what is left, why the others are not, and the key that changes it.
data::Diagnostic too_few_periods(const std::string& file, const inversion::Station& station) {
  std::string message = fmt::format("only {} usable periods are left, at least {} are needed",
                                    station.response.size(), fewest_periods);
  const auto add = [&](std::size_t n, const char* what) {
    if (n) message += fmt::format("; {}{}", n, what);
  };
  add(station.without_value, " are masked, missing or zero");
  add(station.without_error, " have no error");
  return about(610, file, message,
               station.without_error ? "set data.error_floor above 0"
                                     : "see data.response, shortest_period, longest_period and "
                                       "mask_periods; --keep-going leaves the file out");
}

/// Error E0614 where one of the depths is given and the other one, which the data choose, does not
/// fit to it.
std::optional<data::Diagnostic> unfit_depths(const std::string& file, const Mt1dOptions& o,
                                             const inversion::Station& station) {
  if (o.first_depth.has_value() == o.last_depth.has_value()) return {};
  const auto inverted =
      inversion::without_reference_shift(station.response, inversion_options(o, 0));
  const auto z = inversion::bottoms(inversion::layering_from_data(inverted, o.layers).thickness_m);
  const double first = o.first_depth.value_or(z.front()), last = o.last_depth.value_or(z.back());
  if (first < last) return {};
  return about(614, file,
               o.last_depth ? fmt::format("model.last_depth, {:g} m, is not below the first depth "
                                          "that the data ask for, {:.3g} m",
                                          last, first)
                            : fmt::format("model.first_depth, {:g} m, is not above the last depth "
                                          "that the data ask for, {:.3g} m",
                                          first, last),
               "give model.first_depth and model.last_depth; are units and periods right?");
}

/// What the options ask of every file.
inversion::StationOptions station_options(const Mt1dOptions& o) {
  inversion::StationOptions out{.mask_periods_s = o.mask_periods,
                                .response = kind_of(o.response),
                                .error_floor = o.error_floor};
  if (o.sign != SignChoice::file)
    out.read.sign =
        o.sign == SignChoice::plus ? inversion::TimeSign::plus : inversion::TimeSign::minus;
  if (o.units != UnitsChoice::file)
    out.read.units = o.units == UnitsChoice::ohm ? inversion::ImpedanceUnits::ohm
                                                 : inversion::ImpedanceUnits::field;
  if (o.rotation) out.rotation_deg = *o.rotation * degrees;
  if (o.strike) out.strike_deg = *o.strike * degrees;
  if (o.shortest_period) out.shortest_period_s = *o.shortest_period;
  if (o.longest_period) out.longest_period_s = *o.longest_period;
  return out;
}

}  // namespace

std::vector<data::InputFile> files_of(const Input& in) {
  std::vector<data::InputFile> out;
  for (const inversion::Station& s : in.survey.stations) out.push_back(s.file);
  return out;
}

Input read_input(const Mt1dOptions& o) {
  namespace fs = std::filesystem;
  Input in;
  const auto say = [&](data::Diagnostic d) { in.findings.push_back(std::move(d)); };
  const auto files = fs::is_directory(o.files) ? inversion::list_sounding_files(o.files)
                                               : std::vector<fs::path>{o.files};
  const inversion::StationOptions options = station_options(o);
  std::vector<inversion::Station> stations;
  std::size_t with_impedance = 0;
  std::map<double, std::size_t> unmasked;  // for each period to mask, the soundings without it
  for (const fs::path& file : files) {
    inversion::Station s;
    try {
      s = inversion::read_station(file, options);
    } catch (const data::InputError& e) {
      in.findings.insert(in.findings.end(), e.findings().begin(), e.findings().end());
      continue;
    }
    const auto& doubts = s.sounding.findings;
    in.findings.insert(in.findings.end(), doubts.begin(), doubts.end());
    // shortest_period and longest_period may have left no period, and with them no impedance.
    if (s.sounding.size() > 0 && !s.sounding.has_impedance()) {
      say(about(611, file.string(), "the file has no impedance to invert",
                "leave it out, or invert the others with --keep-going"));
      continue;
    }
    ++with_impedance;
    for (const double period :
         std::set<double>(s.absent_periods_s.begin(), s.absent_periods_s.end()))
      ++unmasked[period];
    if (s.response.size() < fewest_periods) {
      say(too_few_periods(file.string(), s));
      continue;
    }
    if (auto unfit = unfit_depths(file.string(), o, s)) {
      say(std::move(*unfit));
      continue;
    }
    stations.push_back(std::move(s));
  }
  if (stations.empty()) return in;
  for (const auto& [period, n] : unmasked)
    if (n == with_impedance) {
      say(about(
          613, o.files.string(),
          fmt::format("no sounding has a period of {} s: data.mask_periods masks nothing there",
                      period),
          "a period is met within 1 %; is it in seconds?"));
      in.findings.back().severity = data::Severity::warning;
    }
  in.survey = inversion::line_up(
      std::move(stations),
      o.profile_azimuth ? std::optional(*o.profile_azimuth * degrees) : std::nullopt);
  return in;
}

}  // namespace tessera::apps::mt1d
