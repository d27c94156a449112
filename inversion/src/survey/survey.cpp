// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey.h"

#include "sounding/missing.h"
#include "survey/survey_table.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/text_reader.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/phase_tensor.h"
#include "tessera/inversion/profile.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace tessera::inversion {
namespace {

/// One number with its error, as it is before the floor.
struct Estimate {
  double value = kNaN, error = kNaN, floor = 0;
};

constexpr double degrees_of_radian = 180 / std::numbers::pi,
                 decades_of_modulus = 2 / std::numbers::ln10;  ///< of rho_a, by d ln |Z|

/// What all kinds of data of a sounding are taken from, computed once.
class Rows {
 public:
  Rows(const Sounding& s, std::span<const DatumKind> kinds, const ErrorFloors& floors)
      : s_(s), floors_(floors) {
    for (const DatumKind kind : kinds) {
      const auto e = static_cast<std::size_t>(kind.element);
      if (kind.part == Part::phase_tensor) {
        if (phase_.empty()) phase_ = phase_tensors(s);
      } else if (kind.element != Element::tx && kind.element != Element::ty &&
                 response_[e].size() == 0) {
        response_[e] = response_of(s, kind.element);
      }
    }
  }

  Estimate at(std::size_t i, DatumKind kind) const {
    const Element e = kind.element;
    if (e == Element::tx || e == Element::ty) {
      if (!s_.has_tipper()) return {};
      const std::size_t k = e == Element::ty;
      const Complex t = s_.tipper[i][k];
      return {kind.part == Part::real ? t.real() : t.imag(), s_.tipper_error[i][k],
              floor_of(kind, 0, floors_)};
    }
    const std::size_t row = e == Element::yx || e == Element::yy,
                      column = e == Element::xy || e == Element::yy;
    if (kind.part == Part::phase_tensor) {
      if (phase_.empty()) return {};
      return {phase_[i].phi[row][column], phase_[i].phi_error[row][column],
              floor_of(kind, 0, floors_)};
    }
    const Response& r = response_[static_cast<std::size_t>(e)];
    const Complex z = r.impedance_ohm[i];
    const ResistivityPhase& given = s_.resistivity;
    const bool apart = given.errors_apart && !given.empty() && s_.impedance_from_resistivity &&
                       e != Element::determinant && e != Element::average;
    if (apart && std::isnan(z.real())) return half_of_pair(i, kind, row, column);
    const double size = std::abs(z), relative = r.sigma_ohm[i] / size,
                 floor = floor_of(kind, size, floors_);
    if (kind.part == Part::real) return {z.real(), r.sigma_ohm[i], floor};
    if (kind.part == Part::imag) return {z.imag(), r.sigma_ohm[i], floor};
    if (kind.part == Part::phase)
      return {phase_degrees(z),
              apart ? given.phase_error[i][row][column] : relative * degrees_of_radian, floor};
    return {std::log10(apparent_resistivity(s_.frequency_hz[i], z)),
            apart
                ? given.rho_error[i][row][column] / (given.rho[i][row][column] * std::numbers::ln10)
                : decades_of_modulus * relative,
            floor};
  }

 private:
  /// A resistivity without its phase, or the reverse: no impedance follows from it.
  Estimate half_of_pair(std::size_t i, DatumKind kind, std::size_t row, std::size_t column) const {
    const ResistivityPhase& given = s_.resistivity;
    const double rho = given.rho[i][row][column], phase = given.phase[i][row][column],
                 floor = floor_of(kind, 0, floors_);
    if (kind.part == Part::log10_rho)
      return {std::log10(rho), given.rho_error[i][row][column] / (rho * std::numbers::ln10), floor};
    if (kind.part != Part::phase) return {};
    // That of yx is the phase of Zyx, and its datum that of -Zyx.
    return {kind.element == Element::yx ? std::remainder(phase + 180, 360.0) : phase,
            given.phase_error[i][row][column], floor};
  }

  const Sounding& s_;
  const ErrorFloors& floors_;
  std::array<Response, 8> response_;
  std::vector<PhaseTensor> phase_;
};

StationData from_sounding(Sounding s, const data::InputFile& file, const std::string& id,
                          const StationOptions& options) {
  StationData out;
  Station& station = out.station;
  station.id = id;
  station.name = s.station;
  station.file = file;
  station.latitude_deg = s.latitude_deg;
  station.longitude_deg = s.longitude_deg;
  station.elevation_m = s.elevation_m;
  if (options.rotation_deg != 0)
    for (double& a : s.azimuth_deg) a = std::remainder(a + options.rotation_deg, 360.0);
  if (options.strike_deg) rotate_to(s, *options.strike_deg);
  station.place_m = s.place_m;
  station.tilt_deg = s.tilt_deg;
  station.absent_periods_s = mask_periods(s, options.mask_periods_s);
  if (options.shortest_period_s > 0 || std::isfinite(options.longest_period_s))
    keep_periods(s, options.shortest_period_s, options.longest_period_s);
  station.sounding = std::move(s);
  out.data = rows_of(station.sounding, options.kinds, options.floors, station);
  return out;
}

/// Name of a file's station: of one alone that of the file.
std::string id_of(const std::filesystem::path& file, const Sounding& s, std::size_t of) {
  if (of == 1) return file.stem().string();
  std::string id;
  for (const char c : s.station) id += c == '/' || c == ' ' || c == '\\' ? '_' : c;
  return id;
}

std::vector<Sounding> soundings_of(const std::vector<StationData>& stations) {
  std::vector<Sounding> out;  // places alone count
  for (const StationData& d : stations) {
    Sounding s{.station = d.station.name.empty() ? d.station.id : d.station.name};
    s.latitude_deg = d.station.latitude_deg;
    s.longitude_deg = d.station.longitude_deg;
    s.place_m = d.station.place_m;
    s.azimuth_deg = d.station.sounding.azimuth_deg;
    out.push_back(std::move(s));
  }
  return out;
}

void make_names_unique(std::vector<StationData>& stations) {
  std::set<std::string> ids;
  for (StationData& d : stations) {
    std::string& id = d.station.id;
    const std::string name = id;
    for (int k = 2; !ids.insert(id).second; ++k) id = name + "-" + std::to_string(k);
  }
}

/// "zyx" of all numbers of Zyx; "ty"; "phase_tensor_xx".
std::string response_name(DatumKind kind) {
  if (kind.part == Part::phase_tensor) return name_of(kind);
  const std::string real = name_of({kind.element, Part::real});
  return real.substr(0, real.rfind('_'));
}

/// Stations in a given order, their rows behind each other.
void put_in_order(Survey& survey, std::vector<StationData> stations,
                  std::span<const std::size_t> order, std::span<const double> distance_m,
                  std::span<const double> offset_m) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    StationData& d = stations[order[k]];
    d.station.distance_m = distance_m[k];
    if (!offset_m.empty()) d.station.offset_m = offset_m[k];
    survey.data.append(d.data, static_cast<std::int64_t>(k));
    survey.stations.push_back(std::move(d.station));
  }
}

}  // namespace

double floor_of(DatumKind kind, double modulus, const ErrorFloors& floors) {
  for (const ErrorFloors::Of& of : floors.kinds)
    if (of.kind == kind) return of.sigma;
  if (kind.element == Element::tx || kind.element == Element::ty) return floors.tipper;
  switch (kind.part) {
    case Part::phase_tensor:
      return floors.phase_tensor;
    case Part::phase:
      return floors.impedance * degrees_of_radian;
    case Part::log10_rho:
      return floors.impedance * decades_of_modulus;
    default:
      return floors.impedance * modulus;
  }
}

std::optional<double> z_of(const Station& s) {
  if (s.place_m && std::isfinite((*s.place_m)[2])) return (*s.place_m)[2];
  if (s.elevation_m) return -*s.elevation_m;
  return std::nullopt;
}

std::vector<DatumKind> impedance_kinds(Element element) {
  return {{element, Part::real}, {element, Part::imag}};
}

DataTable rows_of(const Sounding& s, std::span<const DatumKind> kinds, const ErrorFloors& floors,
                  Station& station) {
  for (const DatumKind kind : kinds)
    if (!exists(kind)) throw Error("[rows_of] there is no such kind of datum");
  const Rows rows(s, kinds, floors);
  DataTable out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::set<Element> no_value;
    std::set<std::string> no_error;
    for (const DatumKind kind : kinds) {
      const Estimate e = rows.at(i, kind);
      if (!std::isfinite(e.value)) {
        no_value.insert(kind.element);
        continue;
      }
      const double sigma = std::isfinite(e.error) ? std::max(e.error, e.floor) : e.floor;
      if (!(sigma > 0)) {
        no_error.insert(response_name(kind));
        continue;
      }
      out.add(0, s.frequency_hz[i], kind, e.value, sigma);
    }
    station.without_value += no_value.size();
    for (const std::string& response : no_error) ++station.without_error[response];
  }
  return out;
}

std::vector<StationData> read_stations(const std::filesystem::path& file,
                                       const StationOptions& options) {
  if (is_survey_table(file)) return stations_of_table(file, options);
  const data::InputFiles one;  // thousands of soundings would be thousands of open files
  std::vector<Sounding> soundings = read_stations_of(file, options.read);
  const data::InputFile hashed = one.list().front();
  std::vector<StationData> out;
  for (Sounding& s : soundings) {
    const std::string id = id_of(file, s, soundings.size());
    out.push_back(from_sounding(std::move(s), hashed, id, options));
  }
  return out;
}

Survey line_up(std::vector<StationData> stations, std::optional<double> azimuth_deg) {
  make_names_unique(stations);
  const Profile profile = make_profile(soundings_of(stations), azimuth_deg);
  Survey out{.has_coordinates = profile.has_coordinates,
             .azimuth_deg = profile.azimuth_deg,
             .remarks = profile.remarks};
  put_in_order(out, std::move(stations), profile.order, profile.distance_m, profile.offset_m);
  return out;
}

Survey line_up_across(std::vector<StationData> stations, double strike_deg) {
  make_names_unique(stations);
  const std::vector<Sounding> soundings = soundings_of(stations);
  const StationPlaces places = station_places(soundings);
  if (places.points.empty()) {
    std::vector<data::Diagnostic> errors;
    for (std::size_t k = 0; k < soundings.size(); ++k) {
      const auto& w = places.without;
      if (std::find(w.begin(), w.end(), soundings[k].station) == w.end()) continue;
      data::Diagnostic d;
      d.number = 680;
      d.place.file = stations[k].station.file.path;
      d.message = fmt::format("station {} has no place: a section across the strike needs one",
                              stations[k].station.id);
      d.hint = "give its latitude and longitude in the file, or leave it out";
      errors.push_back(std::move(d));
    }
    throw data::InputError(data::ExitCode::input_invalid, std::move(errors));
  }
  const std::size_t n = stations.size();
  const double angle = strike_deg * std::numbers::pi / 180;
  double north = 0, east = 0;
  if (places.on_globe)
    for (const PlanePoint& p : places.points) {
      north += p.north_m / static_cast<double>(n);
      east += p.east_m / static_cast<double>(n);
    }
  std::vector<double> x(n), y(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double u = places.points[k].north_m - north, v = places.points[k].east_m - east;
    x[k] = std::cos(angle) * u + std::sin(angle) * v;
    y[k] = -std::sin(angle) * u + std::cos(angle) * v;
    if (places.on_globe) continue;
    // Places of a file's own have turned with the data, whose x lies along the strike.
    x[k] = (*stations[k].station.place_m)[0];
    y[k] = (*stations[k].station.place_m)[1];
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return y[a] < y[b]; });
  Survey out{.has_coordinates = true, .azimuth_deg = std::fmod(strike_deg + 90 + 720, 360.0)};
  std::vector<double> distance, offset;
  for (const std::size_t k : order) {
    distance.push_back(y[k]);
    offset.push_back(x[k]);
  }
  const double length = distance.back() - distance.front();
  const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
  if (*greatest - *least > 0.25 * length)
    out.remarks.push_back(
        fmt::format("stations are spread over {:.3g} km along the strike and {:.3g} km across: the "
                    "section mixes different places",
                    (*greatest - *least) / 1000, length / 1000));
  for (std::size_t k = 1; k < n; ++k)
    if (distance[k] - distance[k - 1] <= 1e-6 * length)
      out.remarks.push_back(fmt::format("stations {} and {} stand at the same place of the section",
                                        stations[order[k - 1]].station.id,
                                        stations[order[k]].station.id));
  put_in_order(out, std::move(stations), order, distance, offset);
  return out;
}

}  // namespace tessera::inversion
