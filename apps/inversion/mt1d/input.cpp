// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/input.h"

#include "tessera/inversion/sounding_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
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

/// Periods that cannot be used, by reason.
struct LeftOut {
  std::size_t without_value = 0, without_error = 0;
};

/// The values that are there and not zero, with sigma = max(propagated error, floor * modulus).
inversion::Response1d reduce(const inversion::Sounding& s, ResponseChoice choice, double floor,
                             LeftOut& left_out) {
  const inversion::Response r = inversion::response_of(s, kind_of(choice));
  inversion::Response1d out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto z = r.z[i];
    const double least = floor * std::abs(z), error = r.error[i];
    if (!std::isfinite(z.real()) || !std::isfinite(z.imag()) || std::abs(z) == 0) {
      ++left_out.without_value;
      continue;
    }
    const double sigma = std::isfinite(error) ? std::max(error, least) : least;
    if (!(sigma > 0)) {
      ++left_out.without_error;
      continue;
    }
    out.frequency_hz.push_back(s.frequency_hz[i]);
    out.impedance_ohm.push_back(z);
    out.sigma_ohm.push_back(sigma);
  }
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

/// Error E0610: what is left, why the others are not, and the key that changes it.
data::Diagnostic too_few_periods(const std::string& file, std::size_t left, const LeftOut& out) {
  std::string message =
      fmt::format("only {} usable periods are left, at least {} are needed", left, fewest_periods);
  const auto add = [&](std::size_t n, const char* what) {
    if (n) message += fmt::format("; {}{}", n, what);
  };
  add(out.without_value, " are masked, missing or zero");
  add(out.without_error, " have no error");
  return about(610, file, message,
               out.without_error ? "set data.error_floor above 0"
                                 : "see data.response, shortest_period, longest_period and "
                                   "mask_periods; --keep-going leaves the file out");
}

}  // namespace

std::vector<data::InputFile> files_of(const Input& in) {
  std::vector<data::InputFile> out;
  for (const Item& item : in.items) out.push_back(item.file);
  return out;
}

Input read_input(const Mt1dOptions& o) {
  namespace fs = std::filesystem;
  Input in;
  const auto files = fs::is_directory(o.files) ? inversion::list_sounding_files(o.files)
                                               : std::vector<fs::path>{o.files};
  inversion::ReadOptions read;
  if (o.sign != SignChoice::file)
    read.sign = o.sign == SignChoice::plus ? inversion::TimeSign::plus : inversion::TimeSign::minus;
  if (o.units != UnitsChoice::file)
    read.units = o.units == UnitsChoice::ohm ? inversion::ImpedanceUnits::ohm
                                             : inversion::ImpedanceUnits::field;

  std::vector<Item> items;
  std::vector<inversion::Sounding> soundings;
  std::set<std::string> ids;
  std::size_t read_in = 0;
  std::map<double, std::size_t>
      unmasked;  // for each period to mask, the soundings that do not have it
  for (const fs::path& file : files) {
    Item item;
    try {
      const data::InputFiles one;  // thousands of soundings would be thousands of open files
      item.sounding = inversion::read_sounding(file, read);
      item.file = one.list().front();
    } catch (const data::InputError& e) {
      in.findings.insert(in.findings.end(), e.findings().begin(), e.findings().end());
      continue;
    }
    inversion::Sounding& s = item.sounding;
    in.findings.insert(in.findings.end(), s.findings.begin(), s.findings.end());
    if (!s.has_impedance()) {
      in.findings.push_back(about(611, file.string(), "the file has no impedance to invert",
                                  "leave it out, or invert the others with --keep-going"));
      continue;
    }
    if (o.rotation) inversion::rotate_by(s, *o.rotation * degrees);
    if (o.strike) inversion::rotate_to(s, *o.strike * degrees);
    ++read_in;
    const std::vector<double> absent = inversion::mask_periods(s, o.mask_periods);
    for (const double period : std::set<double>(absent.begin(), absent.end())) ++unmasked[period];
    if (o.shortest_period || o.longest_period)
      inversion::keep_periods(s, o.shortest_period.value_or(0),
                              o.longest_period.value_or(std::numeric_limits<double>::infinity()));
    LeftOut left_out;
    item.response = reduce(s, o.response, o.error_floor, left_out);
    if (item.response.size() < fewest_periods) {
      in.findings.push_back(too_few_periods(file.string(), item.response.size(), left_out));
      continue;
    }
    if (o.first_depth.has_value() !=
        o.last_depth.has_value()) {  // the other one is chosen from the data
      const auto z =
          inversion::bottoms(inversion::layering_from_data(item.response, o.layers).thickness_m);
      const double first = o.first_depth.value_or(z.front()),
                   last = o.last_depth.value_or(z.back());
      if (!(first < last)) {
        in.findings.push_back(
            about(614, file.string(),
                  o.last_depth ? fmt::format("model.last_depth, {:g} m, is not below the first "
                                             "depth that the data ask for, {:.3g} m",
                                             last, first)
                               : fmt::format("model.first_depth, {:g} m, is not above the last "
                                             "depth that the data ask for, {:.3g} m",
                                             first, last),
                  "give model.first_depth and model.last_depth; are units and periods right?"));
        continue;
      }
    }
    item.id = file.stem().string();
    for (int k = 2; !ids.insert(item.id).second; ++k)
      item.id = file.stem().string() + "-" + std::to_string(k);
    soundings.push_back(s);
    items.push_back(std::move(item));
  }
  if (items.empty()) return in;
  for (const auto& [period, n] : unmasked)
    if (n == read_in) {
      in.findings.push_back(about(
          613, o.files.string(),
          fmt::format("no sounding has a period of {} s: data.mask_periods masks nothing there",
                      period),
          "a period is met within 1 %; is it in seconds?"));
      in.findings.back().severity = data::Severity::warning;
    }

  const inversion::Profile profile = inversion::make_profile(
      soundings, o.profile_azimuth ? std::optional(*o.profile_azimuth * degrees) : std::nullopt);
  in.has_coordinates = profile.has_coordinates;
  in.remarks = profile.remarks;
  for (std::size_t k = 0; k < profile.order.size(); ++k) {
    Item& item = items[profile.order[k]];
    item.distance_m = profile.distance_m[k];
    in.items.push_back(std::move(item));
  }
  return in;
}

}  // namespace tessera::apps::mt1d
