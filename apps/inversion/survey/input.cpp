// SPDX-License-Identifier: Apache-2.0
#include "inversion/survey/input.h"

#include "tessera/inversion/phase_tensor.h"
#include "tessera/inversion/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>

namespace tessera::apps::survey {
namespace {

std::size_t periods_of(const inversion::DataTable& t) {
  return std::set<double>(t.frequency_hz.begin(), t.frequency_hz.end()).size();
}
/// Those that count by the rules.
std::size_t usable_periods(const inversion::DataTable& t, const InputRules& rules) {
  return rules.whole ? inversion::response_of(t, 0, *rules.whole).size() : periods_of(t);
}

std::size_t sum_of(const std::map<std::string, std::size_t>& by_name) {
  std::size_t sum = 0;
  for (const auto& [name, n] : by_name) sum += n;
  return sum;
}

/// The keys that would give these responses an error.
std::string floors_for(const std::map<std::string, std::size_t>& responses) {
  std::set<std::string> keys;
  for (const auto& [name, n] : responses)
    keys.insert(name.starts_with("phase_tensor") ? "data.phase_tensor_floor"
                : name.starts_with("t")          ? "data.tipper_floor"
                                                 : "data.error_floor");
  std::string out;
  for (const std::string& key : keys) out += (out.empty() ? "" : " and ") + key;
  return out;
}

/// Error E0610: what is left, why the others are not, and the key that changes it.
data::Diagnostic too_few_periods(const std::string& file, const inversion::StationData& d,
                                 const InputRules& rules) {
  const std::size_t usable = usable_periods(d.data, rules), halves = periods_of(d.data) - usable;
  std::string message = fmt::format("only {} usable periods are left, at least {} are needed",
                                    usable, rules.fewest_periods);
  const auto add = [&](std::size_t n, const char* what) {
    if (n) message += fmt::format("; {}{}", n, what);
  };
  add(d.station.without_value, " are masked, missing or zero");
  add(sum_of(d.station.without_error), " have no error");
  if (!d.station.not_asked.empty())
    message += "; the table has other rows: " + counts_text(d.station.not_asked);
  add(halves, " have one half of a pair alone: a resistivity without its phase, or the reverse");
  std::vector<inversion::DatumKind> others;
  for (const auto& [kind, n] : d.station.not_asked)
    if (const auto known = inversion::kind_of(kind)) others.push_back(*known);
  const std::string asking =
      rules.asking && !others.empty() && usable == 0 ? rules.asking(others) : std::string();
  return about(610, file, message,
               halves ? "give both halves of each pair"
               : !d.station.without_error.empty()
                   ? "set " + floors_for(d.station.without_error) + " above 0"
               : !asking.empty() ? asking + " takes these rows"
                                 : "see which responses [data] takes, shortest_period, "
                                   "longest_period and mask_periods; --keep-going leaves "
                                   "the file out");
}

}  // namespace

std::string counts_text(const std::map<std::string, std::size_t>& by_name) {
  std::string out;
  for (const auto& [name, n] : by_name)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", n, name);
  return out;
}

data::Diagnostic about(int number, const std::string& file, std::string message, std::string hint) {
  data::Diagnostic d;
  d.number = number;
  d.place.file = file;
  d.message = std::move(message);
  d.hint = std::move(hint);
  return d;
}

std::vector<data::InputFile> files_of(const Input& in) {
  std::vector<data::InputFile> out;
  for (const inversion::Station& s : in.survey.stations)
    if (out.empty() || std::find(out.begin(), out.end(), s.file) == out.end())
      out.push_back(s.file);
  return out;
}

Input read_input(const DataOptions& o, const InputRules& rules) {
  namespace fs = std::filesystem;
  Input in;
  const auto say = [&](data::Diagnostic d) { in.findings.push_back(std::move(d)); };
  const auto files = fs::is_directory(o.files) ? inversion::list_sounding_files(o.files)
                                               : std::vector<fs::path>{o.files};
  inversion::StationOptions options = station_options(o, rules.kinds);
  if (rules.tipper_floor) options.floors.tipper = *rules.tipper_floor;
  if (rules.phase_tensor_floor) options.floors.phase_tensor = *rules.phase_tensor_floor;
  if (o.error_floor || rules.tipper_floor || rules.phase_tensor_floor)
    options.floors_of_tables =
        inversion::ErrorFloors{.impedance = o.error_floor.value_or(0),
                               .tipper = rules.tipper_floor.value_or(0),
                               .phase_tensor = rules.phase_tensor_floor.value_or(0)};
  std::vector<inversion::StationData> stations;
  std::size_t with_data = 0, halves = 0, with_halves = 0;
  std::map<std::string, std::size_t> not_asked;
  std::map<double, std::size_t> unmasked;  // for each period to mask, the stations without it
  for (const fs::path& file : files) {
    std::vector<inversion::StationData> of_file;
    try {
      of_file = inversion::read_stations(file, options);
    } catch (const data::InputError& e) {
      in.findings.insert(in.findings.end(), e.findings().begin(), e.findings().end());
      continue;
    }
    for (inversion::StationData& d : of_file) {
      const inversion::Sounding& sounding = d.station.sounding;
      const std::string where =
          of_file.size() == 1 ? file.string() : file.string() + ", station " + d.station.id;
      in.findings.insert(in.findings.end(), sounding.findings.begin(), sounding.findings.end());
      // shortest_period and longest_period may have left no period, and with them no impedance.
      if (sounding.size() > 0 && !sounding.has_impedance() && d.data.size() == 0) {
        say(about(611, where, "the file has no impedance to invert",
                  "leave it out, or invert the others with --keep-going"));
        continue;
      }
      if (rules.prepare) rules.prepare(d);
      for (const auto& [kind, n] : d.station.not_asked) not_asked[kind] += n;
      ++with_data;
      for (const double period :
           std::set<double>(d.station.absent_periods_s.begin(), d.station.absent_periods_s.end()))
        ++unmasked[period];
      if (usable_periods(d.data, rules) < rules.fewest_periods) {
        say(too_few_periods(where, d, rules));
        continue;
      }
      if (auto refused = rules.refuse ? rules.refuse(d) : std::nullopt) {
        refused->place.file = where;
        say(std::move(*refused));
        continue;
      }
      const std::size_t of_pairs = periods_of(d.data) - usable_periods(d.data, rules);
      halves += of_pairs, with_halves += of_pairs > 0;
      stations.push_back(std::move(d));
    }
  }
  if (stations.empty()) return in;
  for (const auto& [period, n] : unmasked)
    if (n == with_data) {
      say(about(
          613, o.files.string(),
          fmt::format("no sounding has a period of {} s: data.mask_periods masks nothing there",
                      period),
          "a period is met within 1 %; is it in seconds?"));
      in.findings.back().severity = data::Severity::warning;
    }
  in.survey = rules.line_up(std::move(stations));
  if (!not_asked.empty())
    in.survey.remarks.push_back("rows of the table that the case does not take: " +
                                counts_text(not_asked));
  std::map<std::string, std::size_t> without_error;
  for (const inversion::Station& station : in.survey.stations)
    for (const auto& [name, n] : station.without_error) without_error[name] += n;
  if (!without_error.empty())
    in.survey.remarks.push_back(fmt::format(
        "responses at a period without an error are left out: {}; {} above 0 takes them",
        counts_text(without_error), floors_for(without_error)));
  if (halves)
    in.survey.remarks.push_back(fmt::format(
        "{} periods of {} stations have one half of a pair alone, a resistivity without "
        "its phase or the reverse: they are left out",
        halves, with_halves));
  return in;
}

void doubt_options(const data::Config& config, const DataOptions& data,
                   std::vector<data::Diagnostic>& out) {
  const auto doubt = [&](int number, const std::string& key, std::string message,
                         std::string hint) {
    out.push_back(config.error(number, key, std::move(message), std::move(hint)));
    out.back().severity = data::Severity::warning;
  };
  if (data.rotation && !data.strike)
    doubt(607, "data.rotation",
          "data.rotation corrects the azimuths of the files, and no data are turned without "
          "data.strike",
          "give data.strike, the direction that x is turned to");
  if (!is_given(config, "static_shift", "enabled"))
    for (const char* key : {"prior_std", "reference_resistivity", "reference_period"})
      if (is_given(config, "static_shift", key))
        doubt(618, std::string("static_shift.") + key,
              fmt::format("{} has no effect without static_shift.enabled = true", key),
              "give it, or static_shift.enabled = false where that is meant");
}

void doubt_in_vain(const data::Config& config, int number, const std::string& key,
                   std::string_view why, std::vector<data::Diagnostic>& out) {
  out.push_back(config.error(number, key, fmt::format("{} has no effect {}", key, why),
                             "leave it out, or change the other key"));
  out.back().severity = data::Severity::warning;
}

std::string check_line(const Input& input, std::size_t k) {
  const inversion::Station& station = input.survey.stations[k];
  const auto& t = input.survey.data;
  const auto [first, last] =
      std::equal_range(t.station.begin(), t.station.end(), static_cast<std::int64_t>(k));
  std::set<double> periods;
  bool of_impedance = false, of_pairs = false;
  for (auto at = first; at != last; ++at) {
    const auto i = static_cast<std::size_t>(at - t.station.begin());
    periods.insert(1 / t.frequency_hz[i]);
    of_impedance |= inversion::unit_of(t.kind[i]) == "ohm";
    of_pairs |=
        t.kind[i].part == inversion::Part::log10_rho || t.kind[i].part == inversion::Part::phase;
  }
  const inversion::Sounding& s = station.sounding;
  const bool table = s.format.empty();
  const char* unit = "mV/km/nT";
  if (s.impedance_from_resistivity || (table && of_pairs && !of_impedance))
    unit = "ohm m and degrees";
  else if (table ? of_impedance : s.source_units == inversion::ImpedanceUnits::ohm)
    unit = "ohm";
  else if (table)
    unit = "1";  // tippers
  return fmt::format(
      "{:<12} {:<14} {:3} periods {:.3g} to {:.3g} s, {} in {}", station.id,
      table ? "table" : s.format, periods.size(), *periods.begin(), *periods.rbegin(),
      s.source_sign == inversion::TimeSign::plus ? "exp(+i w t)" : "exp(-i w t)", unit);
}

std::vector<std::string> strike_lines(const Input& input) {
  std::vector<inversion::PhaseTensorCurve> curves;
  double shortest = INFINITY, longest = 0;
  for (const inversion::Station& s : input.survey.stations) {
    curves.push_back(inversion::phase_tensor_curve(s.sounding));
    for (const double t : curves.back().period)
      shortest = std::min(shortest, t), longest = std::max(longest, t);
  }
  std::vector<std::string> out;
  const auto add = [&](const std::string& where, double from, double to) {
    if (const auto s = inversion::estimate_strike(curves, from, to))
      out.push_back(fmt::format(
          "strike {:5.1f} or {:5.1f} deg {}: concentration {:.2f} (1: all agree), median skew "
          "{:.1f} deg, {} phase tensors",
          s->strike_deg, s->strike_deg + 90, where, s->concentration, s->median_skew_deg, s->n));
  };
  if (!(longest > 0)) return out;
  add("at all periods", 0, HUGE_VAL);
  const int first = static_cast<int>(std::floor(std::log10(shortest))),
            last = static_cast<int>(std::ceil(std::log10(longest)));
  for (int k = first; k < last && last - first > 1; ++k)
    add(fmt::format("at 1e{} to 1e{} s", k, k + 1), std::pow(10.0, k), std::pow(10.0, k + 1));
  return out;
}

void require_stations(const data::Config& config, bool keep_going, const Input& input) {
  std::vector<data::Diagnostic> errors;
  for (const auto& d : input.findings)
    if (d.severity == data::Severity::error) errors.push_back(d);
  if (!input.survey.stations.empty() && (errors.empty() || keep_going)) return;
  if (errors.empty())
    errors.push_back(config.error(612, {}, "there is no sounding to invert", "see data.files"));
  throw data::InputError(data::ExitCode::input_invalid, std::move(errors));
}

}  // namespace tessera::apps::survey
