// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey_files.h"

#include "sounding/missing.h"
#include "survey/survey_table.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/csv.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/file_io.h"
#include "tessera/data/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tessera::inversion {
namespace {

/// Calls v(name, unit, meaning, get, set) for every number of a station; get gives NaN where it is
/// not known, and set leaves it out then.
template <class V>
void each_number(V&& v) {
  const auto optional = [&](const char* name, const char* unit, const char* meaning, auto member) {
    v(
        name, unit, meaning, [member](const Station& s) { return (s.*member).value_or(kNaN); },
        [member](Station& s, double x) {
          if (!std::isnan(x)) s.*member = x;
        });
  };
  const auto always = [&](const char* name, const char* unit, const char* meaning, auto member) {
    v(
        name, unit, meaning, [member](const Station& s) { return s.*member; },
        [member](Station& s, double x) { s.*member = x; });
  };
  const auto place = [&](const char* name, const char* meaning, std::size_t k) {
    v(
        name, "m", meaning, [k](const Station& s) { return s.place_m ? (*s.place_m)[k] : kNaN; },
        [k](Station& s, double x) {
          if (std::isnan(x)) return;
          if (!s.place_m) s.place_m.emplace(std::array<double, 3>{});
          (*s.place_m)[k] = x;
        });
  };
  optional("latitude_deg", "deg", "latitude", &Station::latitude_deg);
  optional("longitude_deg", "deg", "longitude", &Station::longitude_deg);
  optional("elevation_m", "m", "elevation", &Station::elevation_m);
  place("x_m", "x of the file's own axes", 0);
  place("y_m", "y of the file's own axes", 1);
  place("z_m", "z of the file's own axes, down", 2);
  always("tilt_deg", "deg", "how far y dips below the horizontal", &Station::tilt_deg);
  always("distance_m", "m", "along the line", &Station::distance_m);
  always("offset_m", "m", "to the right of the line", &Station::offset_m);
}

std::optional<double> if_number(double v) {
  return std::isnan(v) ? std::nullopt : std::optional(v);
}

[[noreturn]] void no_table(const std::string& file, std::string what, std::size_t line = 0) {
  data::Diagnostic d;
  d.number = 681;
  d.place.file = file;
  d.place.line = line;
  d.message = std::move(what);
  d.hint = "a table of data as Tessera writes it";
  throw data::InputError(std::move(d));
}

/// What follows from the stations: whether distances are some.
void complete(Survey& s) {
  const auto all = [&](auto&& has) {
    return !s.stations.empty() && std::all_of(s.stations.begin(), s.stations.end(), has);
  };
  s.has_coordinates = all([](const Station& t) { return t.latitude_deg && t.longitude_deg; }) ||
                      all([](const Station& t) { return t.place_m.has_value(); });
}

DatumKind kind_named(const std::string& word, const std::string& file, std::size_t line) {
  const std::optional<DatumKind> kind = kind_of(word);
  if (!kind) no_table(file, "\"" + word + "\" is no kind of datum", line);
  return *kind;
}

void add_row(Survey& s, std::size_t station, double f, DatumKind kind, double value, double sigma,
             double predicted, const std::string& file, std::size_t line) {
  if (!(f > 0) || !std::isfinite(f) || !std::isfinite(value) || !(sigma > 0) ||
      !std::isfinite(sigma))
    no_table(file, "a datum needs a finite value and a positive finite frequency and sigma", line);
  s.data.add(static_cast<std::int64_t>(station), f, kind, value, sigma);
  s.data.predicted.back() = predicted;
}

Survey from_csv(const std::filesystem::path& path) {
  // Empty fields are no numbers of CSV: every column is read as text.
  const data::TextFile text = data::read_text_file(path);
  const data::CsvColumns t = data::read_csv_columns(text, {}, {.number = 681});
  const auto number = [&](const std::string& name, std::size_t row) {
    const std::string& field = t.texts(name)[row];
    if (field.empty()) return kNaN;
    const auto v = data::csv_number(field);
    if (!v)
      no_table(path.string(), name + ": " + data::shown(field) + " is no number", t.lines[row]);
    return *v;
  };
  Survey out;
  for (std::size_t row = 0; row < t.rows(); ++row) {
    const std::string& id = t.texts("station")[row];
    if (out.stations.empty() || out.stations.back().id != id) {
      for (const Station& s : out.stations)
        if (s.id == id)
          no_table(path.string(), "the rows of station \"" + id + "\" do not stand together",
                   t.lines[row]);
      Station s;
      s.id = id;
      s.name = t.texts("name")[row];
      each_number([&](const char* name, const char*, const char*, auto&&, auto&& set) {
        set(s, number(name, row));
      });
      out.stations.push_back(std::move(s));
    }
    const std::string& kind = t.texts("kind")[row];
    if (kind.empty()) continue;
    add_row(out, out.stations.size() - 1, number("frequency_hz", row),
            kind_named(kind, path.string(), t.lines[row]), number("value", row),
            number("sigma", row), number("predicted", row), path.string(), t.lines[row]);
  }
  if (out.stations.empty()) no_table(path.string(), "the table has no row");
  complete(out);
  return out;
}

Survey from_hdf5(const std::filesystem::path& path) {
  std::map<std::string, data::H5Array> found;
  for (auto& [name, array] : data::read_h5(path, {}, data::limits_of_results()))
    found.emplace(name.starts_with('/') ? name.substr(1) : name, std::move(array));
  const auto get = [&]<class T>(const std::string& name, std::size_t rows) -> std::vector<T>& {
    const auto at = found.find("tessera/survey/" + name);
    auto* v = at == found.end() ? nullptr : std::get_if<std::vector<T>>(&at->second.data);
    if (!v || (rows != SIZE_MAX && v->size() != rows))
      no_table(path.string(), "tessera/survey/" + name + " is missing or of another size");
    return *v;
  };
  Survey out;
  const auto& ids = get.template operator()<std::string>("station/id", SIZE_MAX);
  const auto& names = get.template operator()<std::string>("station/name", ids.size());
  for (std::size_t k = 0; k < ids.size(); ++k) {
    Station s;
    s.id = ids[k];
    s.name = names[k];
    each_number([&](const char* name, const char*, const char*, auto&&, auto&& set) {
      set(s, get.template operator()<double>(std::string("station/") + name, ids.size())[k]);
    });
    out.stations.push_back(std::move(s));
  }
  const auto& station = get.template operator()<std::int64_t>("data/station", SIZE_MAX);
  const std::size_t n = station.size();
  const auto& kind = get.template operator()<std::string>("data/kind", n);
  const auto& f = get.template operator()<double>("data/frequency_hz", n);
  const auto& value = get.template operator()<double>("data/value", n);
  const auto& sigma = get.template operator()<double>("data/sigma", n);
  const auto& predicted = get.template operator()<double>("data/predicted", n);
  std::map<std::string, DatumKind> known;
  for (std::size_t i = 0; i < n; ++i) {
    if (station[i] < (i ? station[i - 1] : 0) ||
        station[i] >= static_cast<std::int64_t>(ids.size()))
      no_table(path.string(), "tessera/survey/data/station has rows that are not in order");
    const auto at = known.find(kind[i]);
    const DatumKind what = at != known.end() ? at->second : kind_named(kind[i], path.string(), 0);
    if (at == known.end()) known.emplace(kind[i], what);
    add_row(out, static_cast<std::size_t>(station[i]), f[i], what, value[i], sigma[i], predicted[i],
            path.string(), 0);
  }
  complete(out);
  return out;
}

}  // namespace

std::string survey_csv(const Survey& s) {
  require_valid(s.data, s.stations.size());
  std::vector<std::string> columns{"station", "name"};
  each_number([&](const char* name, const char*, const char*, auto&&, auto&&) {
    columns.emplace_back(name);
  });
  for (const char* name :
       {"frequency_hz", "period_s", "kind", "unit", "value", "sigma", "predicted"})
    columns.emplace_back(name);
  data::CsvTable t(columns);
  const auto begin_row = [&](const Station& station) {
    t.add(station.id).add(station.name);
    each_number([&](const char*, const char*, const char*, auto&& get, auto&&) {
      t.add(if_number(get(station)));
    });
  };
  std::size_t i = 0;
  for (std::size_t k = 0; k < s.stations.size(); ++k) {
    const std::size_t first = i;
    for (; i < s.data.size() && s.data.station[i] == static_cast<std::int64_t>(k); ++i) {
      const double f = s.data.frequency_hz[i];
      begin_row(s.stations[k]);
      t.add(f).add(1 / f).add(name_of(s.data.kind[i])).add(unit_of(s.data.kind[i]));
      t.add(s.data.value[i]).add(s.data.sigma[i]).add(if_number(s.data.predicted[i]));
      t.end_row();
    }
    if (i > first) continue;
    begin_row(s.stations[k]);
    for (int empty = 0; empty < 7; ++empty) t.add(std::string_view{});
    t.end_row();
  }
  return t.text();
}

void write_survey_csv(const std::filesystem::path& path, const Survey& survey) {
  data::write_file_atomically(path, survey_csv(survey));
}

void write_survey(data::H5Writer& file, const std::string& group, const Survey& s) {
  require_valid(s.data, s.stations.size());
  std::vector<std::string> ids, names, kinds;
  for (const Station& t : s.stations) {
    ids.push_back(t.id);
    names.push_back(t.name);
  }
  file.write_texts(group + "/station/id", ids, {"", "stations in their order"});
  file.write_texts(group + "/station/name", names, {"", "as their files spell them"});
  each_number([&](const char* name, const char* unit, const char* meaning, auto&& get, auto&&) {
    std::vector<double> column;
    for (const Station& t : s.stations) column.push_back(get(t));
    file.write(group + "/station/" + name, column, {}, {unit, meaning});
  });
  for (const DatumKind kind : s.data.kind) kinds.push_back(name_of(kind));
  file.write(group + "/data/station", s.data.station, {}, {"1", "index of the station"});
  file.write_texts(group + "/data/kind", kinds, {"", "which number of which response"});
  file.write(group + "/data/frequency_hz", s.data.frequency_hz, {}, {"Hz", "frequency"});
  file.write(group + "/data/value", s.data.value, {},
             {"", "observed: ohm, degrees or 1 by kind, exp(+i omega t)"});
  file.write(group + "/data/sigma", s.data.sigma, {}, {"", "standard deviation"});
  file.write(group + "/data/predicted", s.data.predicted, {}, {"", "by the model; NaN: no model"});
}

Survey read_survey(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".csv" ? from_csv(path) : from_hdf5(path);
}

bool is_survey_table(const std::filesystem::path& file) {
  const std::string ending = data::upper(file.extension().string());
  return ending == ".CSV" || ending == ".H5" || ending == ".HDF5";
}

std::vector<StationData> stations_of_table(const std::filesystem::path& file,
                                           const StationOptions& options) {
  const data::InputFiles one;
  Survey all = read_survey(file);
  if (options.strike_deg || options.read.sign || options.read.units) {
    data::Diagnostic d;
    d.number = 682;
    d.place.file = file.string();
    d.message = "a table of data has its axes, units and time sign: they cannot be changed";
    d.hint = "leave data.strike, data.sign and data.units out, or read the soundings";
    throw data::InputError(std::move(d));
  }
  std::vector<StationData> out;
  for (Station& s : all.stations) {
    s.file = one.list().front();
    s.absent_periods_s = options.mask_periods_s;
    out.push_back({std::move(s), {}});
  }
  for (std::size_t i = 0; i < all.data.size(); ++i) {
    StationData& to = out[static_cast<std::size_t>(all.data.station[i])];
    const double f = all.data.frequency_hz[i], period = 1 / f;
    const DatumKind kind = all.data.kind[i];
    const bool wanted =
        std::find(options.kinds.begin(), options.kinds.end(), kind) != options.kinds.end();
    const auto masked = [&](double p) { return std::abs(p * f - 1) <= 0.01; };
    std::erase_if(to.station.absent_periods_s, masked);
    if (!wanted || period < options.shortest_period_s || period > options.longest_period_s ||
        std::any_of(options.mask_periods_s.begin(), options.mask_periods_s.end(), masked))
      continue;
    to.data.add(0, f, kind, all.data.value[i], all.data.sigma[i]);
    to.data.predicted.back() = all.data.predicted[i];
  }
  return out;
}

}  // namespace tessera::inversion
