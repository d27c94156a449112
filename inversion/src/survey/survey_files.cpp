// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey_files.h"

#include "sounding/missing.h"
#include "survey/survey_table.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/csv.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/file_io.h"
#include "tessera/data/text_reader.h"
#include "tessera/inversion/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <tuple>

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
        [member](Station& s, double x) {
          if (!std::isnan(x)) s.*member = x;
        });
  };
  const auto place = [&](const char* name, const char* meaning, std::size_t k) {
    v(
        name, "m", meaning, [k](const Station& s) { return s.place_m ? (*s.place_m)[k] : kNaN; },
        [k](Station& s, double x) {
          if (std::isnan(x)) return;
          if (!s.place_m) s.place_m.emplace(std::array<double, 3>{0, 0, kNaN});
          (*s.place_m)[k] = x;
        });
  };
  optional("latitude_deg", "deg", "latitude", &Station::latitude_deg);
  optional("longitude_deg", "deg", "longitude", &Station::longitude_deg);
  optional("elevation_m", "m", "elevation", &Station::elevation_m);
  place("x_m", "x along the axes of the data", 0);
  place("y_m", "y along the axes of the data", 1);
  place("z_m", "down, from the datum of the file", 2);
  always("tilt_deg", "deg", "how far y dips below the horizontal", &Station::tilt_deg);
  always("distance_m", "m", "along the line", &Station::distance_m);
  always("offset_m", "m", "beside the line: to its right; of a section along x, to its left",
         &Station::offset_m);
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

/// What turns a number in `unit` into unit_of(kind); nothing where it is no such unit.
std::optional<double> factor_of(DatumKind kind, std::string_view unit) {
  const std::string own = unit_of(kind);
  if (unit.empty() || unit == own) return 1.0;
  if (own == "ohm" && (unit == "mV/km/nT" || unit == "[mV/km]/[nT]")) return ohm_per_field_unit;
  if (own == "deg" && unit == "rad") return 180 / std::numbers::pi;
  return std::nullopt;
}

/// A table of texts: empty fields are no numbers of CSV.
class CsvTableOfData {
 public:
  explicit CsvTableOfData(const std::filesystem::path& path)
      : file_(path.string()),
        text_(data::read_text_file(path)),
        t_(data::read_csv_columns(text_, {}, {.number = 681})) {}

  Survey survey() {
    std::string without;
    for (const char* needed : {"station", "frequency_hz", "kind", "value", "sigma"})
      if (!has(needed)) without += (without.empty() ? "" : ", ") + std::string(needed);
    if (!without.empty()) no_table(file_, "the table has no column " + without, 1);
    for (row_ = 0; row_ < t_.rows(); ++row_) {
      station();
      if (!field("kind").empty()) datum();
    }
    if (out_.stations.empty()) no_table(file_, "the table has no row");
    complete(out_);
    return std::move(out_);
  }

 private:
  bool has(std::string_view name) const {
    return std::any_of(t_.columns.begin(), t_.columns.end(),
                       [&](const data::CsvColumn& c) { return c.name == name; });
  }
  /// An empty text where the table has no such column.
  const std::string& field(const std::string& name) const {
    static const std::string none;
    return has(name) ? t_.texts(name)[row_] : none;
  }
  [[noreturn]] void refuse(std::string what) const { no_table(file_, std::move(what), line()); }
  std::size_t line() const { return t_.lines[row_]; }
  double number(const std::string& name) const {
    const std::string& text = field(name);
    if (text.empty()) return kNaN;
    const auto v = data::csv_number(text);
    if (!v) refuse(name + ": " + data::shown(text) + " is no number");
    return *v;
  }
  /// The station of a row: a new one, or the last, of which nothing else is said.
  void station() {
    const std::string& id = field("station");
    if (out_.stations.empty() || out_.stations.back().id != id) {
      for (const Station& s : out_.stations)
        if (s.id == id) refuse("the rows of station \"" + id + "\" do not stand together");
      Station s;
      s.id = id;
      s.name = field("name");
      each_number([&](const char* name, const char*, const char*, auto&&, auto&& set) {
        set(s, number(name));
      });
      out_.stations.push_back(std::move(s));
      first_row_ = row_;
      return;
    }
    const Station& s = out_.stations.back();
    const auto differs = [&](const std::string& what, const std::string& before) {
      refuse(fmt::format("{} of station \"{}\" is {} here and {} in line {}", what, id,
                         data::shown(field(what)), data::shown(before), t_.lines[first_row_]));
    };
    if (!field("name").empty() && field("name") != s.name) differs("name", s.name);
    each_number([&](const char* name, const char*, const char*, auto&& get, auto&&) {
      const double v = number(name);
      if (!std::isnan(v) && v != get(s)) differs(name, t_.texts(name)[first_row_]);
    });
  }

  void datum() {
    const DatumKind kind = kind_named(field("kind"), file_, line());
    const double f = number("frequency_hz");
    if (const std::string& period = field("period_s"); !period.empty()) {
      constexpr double rounded = 0.01;  // as periods to mask are met
      if (!(std::abs(number("period_s") * f - 1) <= rounded))
        refuse(fmt::format("period_s is {}, and frequency_hz {}: one is not 1 over the other",
                           period, field("frequency_hz")));
    }
    const std::string& unit = field("unit");
    const auto factor = factor_of(kind, unit);
    if (!factor)
      refuse(fmt::format("{} has the unit {}: {} is meant{}", name_of(kind), data::shown(unit),
                         unit_of(kind),
                         unit_of(kind) == "ohm"   ? ", or mV/km/nT"
                         : unit_of(kind) == "deg" ? ", or rad"
                                                  : ""));
    if (kind.part == Part::phase && std::abs(*factor * number("value")) > 360)
      refuse(fmt::format("a phase of {} {} is more than a turn: is that its unit?", field("value"),
                         unit.empty() ? unit_of(kind) : unit));
    const std::size_t station = out_.stations.size() - 1;
    if (const auto [at, fresh] = seen_.try_emplace({station, f, name_of(kind)}, line()); !fresh)
      refuse(fmt::format("{} of station \"{}\" at {} Hz stands in line {}, too", name_of(kind),
                         field("station"), field("frequency_hz"), at->second));
    add_row(out_, station, f, kind, *factor * number("value"), *factor * number("sigma"),
            *factor * number("predicted"), file_, line());
  }

  const std::string file_;
  const data::TextFile text_;
  const data::CsvColumns t_;
  Survey out_;
  std::size_t row_ = 0, first_row_ = 0;  ///< that is read; the station's first
  std::map<std::tuple<std::size_t, double, std::string>, std::size_t> seen_;  ///< line of a datum
};

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
  std::set<std::tuple<std::int64_t, double, std::string>> seen;
  for (std::size_t i = 0; i < n; ++i) {
    if (station[i] < (i ? station[i - 1] : 0) ||
        station[i] >= static_cast<std::int64_t>(ids.size()))
      no_table(path.string(), "tessera/survey/data/station has rows that are not in order");
    const auto at = known.find(kind[i]);
    const DatumKind what = at != known.end() ? at->second : kind_named(kind[i], path.string(), 0);
    if (at == known.end()) known.emplace(kind[i], what);
    if (!seen.emplace(station[i], f[i], kind[i]).second)
      no_table(path.string(), fmt::format("{} of station \"{}\" at {} Hz is there twice", kind[i],
                                          ids[static_cast<std::size_t>(station[i])], f[i]));
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
  const std::string ending = data::upper(path.extension().string());
  return ending == ".CSV" ? CsvTableOfData(path).survey() : from_hdf5(path);
}

namespace {

/// Rows of a station as DataTable has them: frequencies fall, kinds in the order of `kinds`.
DataTable in_order(const DataTable& t, const std::vector<DatumKind>& kinds) {
  const auto rank = [&](std::size_t i) {
    return std::find(kinds.begin(), kinds.end(), t.kind[i]) - kinds.begin();
  };
  std::vector<std::size_t> order(t.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-t.frequency_hz[a], rank(a)) < std::pair(-t.frequency_hz[b], rank(b));
  });
  DataTable out;
  for (const std::size_t i : order) {
    out.add(t.station[i], t.frequency_hz[i], t.kind[i], t.value[i], t.sigma[i]);
    out.predicted.back() = t.predicted[i];
  }
  return out;
}

/// No error stays below its floor. |Z| is that of the parts that are there.
void raise_errors(DataTable& t, const ErrorFloors& floors) {
  std::map<std::tuple<std::int64_t, double, Element>, double> modulus;
  const auto of = [&](std::size_t i) -> double& {
    return modulus[{t.station[i], t.frequency_hz[i], t.kind[i].element}];
  };
  const auto is_part = [&](std::size_t i) {
    return t.kind[i].part == Part::real || t.kind[i].part == Part::imag;
  };
  for (std::size_t i = 0; i < t.size(); ++i)
    if (is_part(i)) of(i) = std::hypot(of(i), t.value[i]);
  for (std::size_t i = 0; i < t.size(); ++i)
    t.sigma[i] = std::max(t.sigma[i], floor_of(t.kind[i], is_part(i) ? of(i) : 0, floors));
}

}  // namespace

bool is_survey_table(const std::filesystem::path& file) {
  const std::string ending = data::upper(file.extension().string());
  return ending == ".CSV" || ending == ".H5" || ending == ".HDF5";
}

std::vector<StationData> stations_of_table(const std::filesystem::path& file,
                                           const StationOptions& options) {
  const data::InputFiles one;
  Survey all = read_survey(file);
  if (options.strike_deg || options.rotation_deg != 0 || options.read.sign || options.read.units) {
    data::Diagnostic d;
    d.number = 682;
    d.place.file = file.string();
    d.message = "a table of data has its axes, units and time sign: they cannot be changed";
    d.hint =
        "leave data.strike, data.rotation, data.sign and data.units out, or read the soundings";
    throw data::InputError(std::move(d));
  }
  if (options.floors_of_tables) raise_errors(all.data, *options.floors_of_tables);
  std::vector<StationData> out;
  for (std::size_t k = 0; k < all.stations.size(); ++k) {
    Station& s = all.stations[k];
    s.sounding.findings = doubts_of_rows(all.data, k);
    for (data::Diagnostic& d : s.sounding.findings) {
      d.place.file = file.string();
      d.message = fmt::format("station {}: {}", s.id, d.message);
    }
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
    if (!wanted) ++to.station.not_asked[name_of(kind)];
    if (!wanted || period < options.shortest_period_s || period > options.longest_period_s ||
        std::any_of(options.mask_periods_s.begin(), options.mask_periods_s.end(), masked))
      continue;
    to.data.add(0, f, kind, all.data.value[i], all.data.sigma[i]);
    to.data.predicted.back() = all.data.predicted[i];
  }
  for (StationData& d : out) d.data = in_order(d.data, options.kinds);
  return out;
}

}  // namespace tessera::inversion
