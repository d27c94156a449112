// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/input.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/phase_tensor.h"
#include "tessera/inversion/profile.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

namespace tessera::apps::mt2d {
namespace {

/// Places alone; stations by their number, since ids of two files may be the same.
inversion::StationPlaces places_of(const std::vector<inversion::StationData>& stations) {
  std::vector<inversion::Sounding> out;
  for (const inversion::StationData& d : stations) {
    inversion::Sounding s{.station = std::to_string(out.size())};
    s.latitude_deg = d.station.latitude_deg;
    s.longitude_deg = d.station.longitude_deg;
    s.place_m = d.station.place_m;
    out.push_back(std::move(s));
  }
  return inversion::station_places(out);
}

/// Leaves out the stations that have no place, with E0680 each, where others have one.
void drop_without_place(std::vector<inversion::StationData>& stations,
                        std::vector<data::Diagnostic>& findings) {
  const std::vector<std::string> without = places_of(stations).without;
  if (without.empty() || without.size() == stations.size()) return;
  for (const std::string& number : without) {
    const inversion::Station& s = stations[std::stoul(number)].station;
    findings.push_back(survey::about(
        680, s.file.path,
        fmt::format("station {} has no place: a section across the strike needs one", s.id),
        "give its latitude and longitude in the file, or leave it out"));
  }
  for (auto number = without.rbegin(); number != without.rend(); ++number)
    stations.erase(stations.begin() + std::stol(*number));
}

/// Leaves out stations that stand where another one does, with E0685 each.
void drop_doubles(inversion::Survey& survey, std::vector<data::Diagnostic>& findings) {
  const auto& stations = survey.stations;
  if (stations.size() < 2) return;
  const double length = stations.back().distance_m - stations.front().distance_m;
  std::vector<std::int64_t> kept(stations.size(), -1);
  inversion::Survey out = survey;
  out.stations.clear();
  out.data = {};
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const inversion::Station& s = stations[k];
    if (!out.stations.empty() &&
        s.distance_m - out.stations.back().distance_m <= std::max(1e-6 * length, 1e-3)) {
      findings.push_back(survey::about(
          685, s.file.path,
          fmt::format("station {} stands where {} does, at {:.6g} m along the section", s.id,
                      out.stations.back().id, s.distance_m),
          "leave one of them out, or mend its position"));
      continue;
    }
    kept[k] = std::ssize(out.stations);
    out.stations.push_back(s);
  }
  if (out.stations.size() == stations.size()) return;
  const inversion::DataTable& t = survey.data;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (const std::int64_t k = kept[static_cast<std::size_t>(t.station[i])]; k >= 0)
      out.data.add(k, t.frequency_hz[i], t.kind[i], t.value[i], t.sigma[i]);
  survey = std::move(out);
}

/// Turns what was read along north, and makes its rows again.
void turn(std::vector<inversion::StationData>& stations, double strike_deg,
          const inversion::StationOptions& options) {
  for (inversion::StationData& d : stations) {
    inversion::rotate_to(d.station.sounding, strike_deg);
    d.station.place_m = d.station.sounding.place_m;
    d.station.tilt_deg = d.station.sounding.tilt_deg;
    d.station.without_value = 0;
    d.station.without_error.clear();
    d.data = inversion::rows_of(d.station.sounding, options.kinds, options.floors, d.station);
  }
}

/// Of the two directions that phase tensors share, the one that the line crosses more squarely;
/// none where all stations stand at one place.
std::optional<double> across_line(double strike_deg,
                                  const std::vector<inversion::StationData>& stations) {
  std::vector<inversion::StationData> places;
  for (const inversion::StationData& d : stations) {
    places.push_back({d.station, {}});
    places.back().station.sounding = {};
    places.back().station.sounding.azimuth_deg = d.station.sounding.azimuth_deg;
  }
  const inversion::Survey line = inversion::line_up(std::move(places));
  if (!(line.stations.front().distance_m < line.stations.back().distance_m)) return {};
  const auto crosses = [&](double a) {
    return std::abs(std::sin((a - line.azimuth_deg) / degrees));
  };
  return crosses(strike_deg) >= crosses(strike_deg + 90) ? strike_deg : strike_deg + 90;
}

/// Turns stations to the strike that their phase tensors and the line tell; none, with a finding,
/// where they tell none.
std::optional<double> turn_to_estimate(const data::Config& config,
                                       std::vector<inversion::StationData>& stations,
                                       const inversion::StationOptions& options, std::string& told,
                                       std::vector<data::Diagnostic>& findings) {
  std::vector<inversion::PhaseTensorCurve> curves;
  for (const auto& d : stations)
    curves.push_back(inversion::phase_tensor_curve(d.station.sounding));
  const auto found = inversion::estimate_strike(curves);
  if (!found) {
    findings.push_back(
        config.error(683, "data.estimate_strike",
                     "no strike can be estimated: no station has a whole impedance tensor",
                     "data.strike, the direction along which the earth does not change"));
    return {};
  }
  const double along = found->strike_deg, across = std::fmod(along + 90, 180.0);
  const auto strike = across_line(along, stations);
  if (!strike) {
    findings.push_back(config.error(
        683, "data.estimate_strike",
        fmt::format("phase tensors share {:.1f} and {:.1f} deg, and stations at one place make "
                    "no line that tells which of them is the strike",
                    along, across),
        fmt::format("data.strike = \"{:.1f} deg\", or \"{:.1f} deg\"", along, across)));
    return {};
  }
  turn(stations, *strike, options);
  told = fmt::format(
      "x was turned to {:.1f} deg, the strike of {} phase tensors that the line crosses "
      "(concentration {:.2f}, median skew {:.1f} deg); {:.1f} deg is as good for them",
      *strike, found->n, found->concentration, found->median_skew_deg,
      std::fmod(*strike + 90, 180.0));
  return strike;
}

/// Least and greatest direction of x, degrees; that of a table is not known, and taken as 0.
std::pair<double, double> azimuths_of(const std::vector<inversion::StationData>& stations) {
  std::vector<double> all;
  for (const inversion::StationData& d : stations)
    all.insert(all.end(), d.station.sounding.azimuth_deg.begin(),
               d.station.sounding.azimuth_deg.end());
  if (all.empty()) return {0, 0};
  const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
  return {*least, *greatest};
}

/// Whether distances of a table, which rise along y of its data, fall along y across this strike.
bool falls_across(const std::vector<inversion::StationData>& stations, double strike_deg) {
  const inversion::StationPlaces places = places_of(stations);
  if (!places.on_globe) return false;  // y is that of the table
  const double angle = strike_deg / degrees;
  const auto y = [&](const inversion::PlanePoint& p) {
    return std::cos(angle) * p.east_m - std::sin(angle) * p.north_m;
  };
  double middle = 0, sum = 0;
  for (const inversion::PlanePoint& p : places.points)
    middle += y(p) / static_cast<double>(places.points.size());
  for (std::size_t k = 0; k < places.points.size(); ++k)
    sum += (stations[k].station.distance_m - stations[0].station.distance_m) *
           (y(places.points[k]) - middle);
  return sum < 0;
}

std::vector<inversion::DatumKind> kinds_to_read(const Mt2dOptions& o) {
  std::vector<inversion::DatumKind> kinds = kinds_of(o);
  if (!inversion::is_survey_table(o.data.files)) return kinds;
  // A table may hold the other form of what is asked for.
  Mt2dOptions other = o;
  other.form = o.form == Form::impedance ? Form::resistivity_phase : Form::impedance;
  for (const inversion::DatumKind k : kinds_of(other))
    if (std::find(kinds.begin(), kinds.end(), k) == kinds.end()) kinds.push_back(k);
  return kinds;
}

/// What was done for data.form: stations whose other numbers were left out, taken, or turned into
/// it.
struct FormsOfTable {
  std::size_t left_out = 0, taken = 0, computed = 0;
  std::size_t halves = 0;        ///< data that need another one, which is not there
  std::size_t beside_whole = 0;  ///< halves in data.form, where the other form is whole

  std::vector<std::string> remarks(Form form) const {
    const bool impedance = form == Form::impedance;
    const std::string pair = "real and imaginary parts", rho = "apparent resistivities and phases";
    std::vector<std::string> out;
    const auto add = [&](std::size_t n, const std::string& what) {
      if (n) out.push_back(fmt::format("at {} stations the table has {}", n, what));
    };
    add(left_out, "both forms of a response: the one of data.form is taken");
    add(taken, fmt::format("{} where data.form asks for {}: they are taken as they are",
                           impedance ? rho : pair, impedance ? pair : rho));
    add(computed, fmt::format("{} where data.form asks for {}: these are computed, their errors to "
                              "first order",
                              pair, form == Form::phase ? "phases" : "apparent resistivities"));
    if (beside_whole)
      out.push_back(
          fmt::format("{} data are one half of what data.form asks for, beside a whole "
                      "response in the other form: that is taken",
                      beside_whole));
    if (halves)
      out.push_back(fmt::format(
          "{} data of the table are a real part without its imaginary part, or the reverse: no {} "
          "can be computed of them",
          halves, form == Form::phase ? "phase" : "apparent resistivity"));
    return out;
  }
};

/// Of a table's rows what data.form asks for. Where a response is there in the other form alone, or
/// is whole in that form alone, that is taken; of an apparent resistivity or a phase alone, the
/// number that follows from it.
void take_form(inversion::StationData& d, const Mt2dOptions& o, FormsOfTable& done) {
  using inversion::Part;
  const std::vector<inversion::DatumKind> wanted = kinds_of(o);
  const auto is_wanted = [&](inversion::DatumKind k) {
    return std::find(wanted.begin(), wanted.end(), k) != wanted.end();
  };
  const inversion::DataTable& t = d.data;
  const bool one = o.form == Form::resistivity || o.form == Form::phase;
  constexpr int whole = 2;  // real and imaginary part, or resistivity and phase
  struct Rows {
    int in_form = 0, in_other = 0;
  };
  std::map<std::pair<double, inversion::Element>, Rows> rows;
  for (std::size_t i = 0; i < t.size(); ++i) {
    Rows& r = rows[{t.frequency_hz[i], t.kind[i].element}];
    ++(is_wanted(t.kind[i]) ? r.in_form : r.in_other);
  }
  bool left_out = false, taken = false, computed = false;
  inversion::DataTable out;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const auto [element, part] = t.kind[i];
    const double f = t.frequency_hz[i];
    const Rows& r = rows.at({f, element});
    const bool in_form = is_wanted(t.kind[i]),
               there = r.in_form >= (one ? 1 : whole) || (r.in_form > 0 && r.in_other < whole);
    if (in_form ? there : !there && !one) {
      taken |= !in_form;
      out.add(0, f, t.kind[i], t.value[i], t.sigma[i]);
      continue;
    }
    done.beside_whole += in_form;
    left_out |= !in_form && there;
    if (in_form || there) continue;
    const inversion::Response response = inversion::response_of(t, 0, element);
    const auto at = std::find(response.frequency_hz.begin(), response.frequency_hz.end(), f);
    if (at == response.frequency_hz.end()) {
      ++done.halves;
      continue;
    }
    if (part != Part::real) continue;  // the pair is seen once
    const auto k = static_cast<std::size_t>(at - response.frequency_hz.begin());
    const inversion::Complex z = response.impedance_ohm[k];
    const double relative = response.sigma_ohm[k] / std::abs(z);
    computed = true;
    if (o.form == Form::phase)
      out.add(0, f, {element, Part::phase}, inversion::phase_degrees(z), relative * degrees);
    else
      out.add(0, f, {element, Part::log10_rho}, std::log10(inversion::apparent_resistivity(f, z)),
              relative * 2 / std::numbers::ln10);
  }
  d.data = std::move(out);
  done.left_out += left_out;
  done.taken += taken;
  done.computed += computed;
}

}  // namespace

double depth_of(const inversion::Ground2d& line, double y) {
  return inversion::depth_through(line.y, line.z)(y);
}

namespace {

/// data.responses for rows of a table that a case has not asked for; empty where there is none.
std::string asking_for(const std::vector<inversion::DatumKind>& others) {
  using inversion::Element, inversion::Part;
  std::string names;
  const auto add = [&](const char* name, auto&& is_of) {
    if (std::any_of(others.begin(), others.end(), is_of))
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  };
  for (const auto& [element, name] : {std::pair{Element::xy, "te"},
                                      {Element::yx, "tm"},
                                      {Element::ty, "tipper"},
                                      {Element::determinant, "determinant"}})
    add(name, [of = element](inversion::DatumKind k) {
      return k.element == of && k.part != Part::phase_tensor;
    });
  add("phase_tensor", [](inversion::DatumKind k) {
    return k.part == Part::phase_tensor && (k.element == Element::xx || k.element == Element::yy);
  });
  return names.empty() ? names : "data.responses = [" + names + "]";
}

}  // namespace

Input read_input(const data::Config& config, const Mt2dOptions& o) {
  Input out;
  const bool table = inversion::is_survey_table(o.data.files);
  survey::DataOptions reading = o.data;
  if (o.profile.azimuth && !table)
    reading.strike = *o.profile.azimuth - std::numbers::pi / 2;  // what is turned to it
  const std::vector<inversion::DatumKind> kinds = kinds_to_read(o);
  const inversion::StationOptions options = [&] {
    inversion::StationOptions s = survey::station_options(reading, kinds);
    s.floors = floors_of(o);
    return s;
  }();

  std::vector<data::Diagnostic> findings;
  FormsOfTable forms;
  const auto line_up = [&](std::vector<inversion::StationData> stations) -> inversion::Survey {
    drop_without_place(stations, findings);
    double strike = 0;
    if (o.data.strike || (o.profile.azimuth && !table)) {
      strike = *reading.strike * degrees;
      out.strike = fmt::format("x was turned to the strike, {:.1f} deg", strike);
    } else if (o.profile.azimuth) {
      strike = (*o.profile.azimuth - std::numbers::pi / 2) * degrees;
      const bool turned = falls_across(stations, strike);  // a line has no direction, its data do
      if (turned) strike = std::fmod(strike + 180, 360.0);
      out.strike = fmt::format(
          "the table's x is taken to lie along the strike, {:.1f} deg, across the profile{}",
          strike, turned ? ", along which its distances rise the other way" : "");
    } else if (o.estimate_strike) {
      const auto found = turn_to_estimate(config, stations, options, out.strike, findings);
      if (!found) return {};
      strike = *found;
    } else if (const auto places = places_of(stations);
               !places.points.empty() && !places.on_globe) {
      const auto [least, greatest] = azimuths_of(stations);
      if (greatest - least > 0.01) {
        findings.push_back(config.error(
            683, "data.strike",
            fmt::format("x of the files points {:g} to {:g} degrees east of north: which of them "
                        "is the strike?",
                        least, greatest),
            "data.strike, the direction along which the earth does not change"));
        return {};
      }
      strike = least;
      out.strike = "x of the file lies along the strike, y along the section";
      if (strike != 0) out.strike += fmt::format("; x points {:g} deg", strike);
    } else {
      findings.push_back(config.error(
          683, "data.strike",
          "a section needs the strike: the direction along which the earth does not change",
          table
              ? "profile.azimuth, the direction of the line; the table's x is then across it"
              : "data.strike = \"30 deg\", or data.estimate_strike = true; see `tessera check` of "
                "inversion.mt1d"));
      return {};
    }
    return inversion::line_up_across(std::move(stations), strike);
  };

  try {
    static_cast<survey::Input&>(out) =
        survey::read_input(reading, {.kinds = kinds,
                                     .tipper_floor = o.tipper_floor,
                                     .phase_tensor_floor = o.phase_tensor_floor,
                                     .asking = asking_for,
                                     .prepare =
                                         [&](inversion::StationData& d) {
                                           if (table) take_form(d, o, forms);
                                         },
                                     .line_up = line_up});
  } catch (const data::InputError& e) {  // stations without places
    findings.insert(findings.end(), e.findings().begin(), e.findings().end());
  }
  drop_doubles(out.survey, findings);
  for (std::string& remark : forms.remarks(o.form)) out.survey.remarks.push_back(std::move(remark));
  out.findings.insert(out.findings.end(), findings.begin(), findings.end());
  return out;
}

inversion::Ground2d ground_line(const std::filesystem::path& file) {
  inversion::Ground2d line;
  const data::CsvNumbers table = data::read_csv_numbers(file, {.number = 690, .finite = true});
  const auto *y = table.find("distance_m"), *height = table.find("elevation_m");
  if (!y || !height || y->size() < 2)
    throw data::InputError(survey::about(690, file.string(),
                                         "a ground has the columns distance_m and elevation_m, and "
                                         "two rows or more",
                                         "see ground.file"));
  for (std::size_t i = 0; i < y->size(); ++i) {
    if (i && !((*y)[i] > (*y)[i - 1]))
      throw data::InputError(survey::about(
          690, file.string(),
          fmt::format("distance_m does not rise from row {} to row {}", i, i + 1), ""));
    line.y.push_back((*y)[i]);
    line.z.push_back(-(*height)[i]);
  }
  return line;
}

namespace {

/// z of the stations that have one; names the others.
std::vector<double> heights_of(const Mt2dOptions& o, const inversion::Survey& survey,
                               std::vector<std::string>& remarks) {
  std::vector<double> out;
  std::string without;
  for (const inversion::Station& s : survey.stations)
    if (const auto z = inversion::z_of(s))
      out.push_back(*z);
    else
      without += (without.empty() ? "" : ", ") + s.id;
  if (!without.empty() && (!out.empty() || o.ground == GroundShape::file))
    remarks.push_back(fmt::format("no elevation is given of {}: {}", without,
                                  o.ground == GroundShape::stations
                                      ? "they are put on the line through their neighbours"
                                      : "they are put on the ground"));
  return out;
}

}  // namespace

Ground ground_of(const Mt2dOptions& o, const inversion::Survey& survey) {
  Ground g{.line = {}, .stations = inversion::section_stations(survey), .remarks = {}};
  inversion::SectionStations& s = g.stations;
  if (s.y.empty()) return g;
  const std::vector<double> heights = heights_of(o, survey, g.remarks);
  if (o.ground == GroundShape::stations) {
    g.line = {s.y, s.z};
    return g;
  }
  if (o.ground == GroundShape::flat) {
    double mean = 0;
    for (const double z : heights) mean += z / static_cast<double>(heights.size());
    const auto [low, high] = std::minmax_element(s.z.begin(), s.z.end());
    if (*high - *low > 0)
      g.remarks.push_back(fmt::format(
          "stations stand up to {:.3g} m off the level ground, and are put on it", *high - *low));
    g.line = {{s.y.front(), s.y.back() + 1}, {mean, mean}};
    s.z.assign(s.z.size(), mean);
    return g;
  }
  g.line = ground_line(*o.ground_file);
  std::vector<data::Diagnostic> off;
  double farthest = 0;
  for (std::size_t k = 0; k < s.y.size(); ++k) {
    const double ground = depth_of(g.line, s.y[k]), away = s.z[k] - ground;
    double near = s.y.size() > 1 ? HUGE_VAL : 100;
    if (k) near = std::min(near, s.y[k] - s.y[k - 1]);
    if (k + 1 < s.y.size()) near = std::min(near, s.y[k + 1] - s.y[k]);
    const double allowed = std::max(1.0, 0.05 * near);
    const bool known = inversion::z_of(survey.stations[k]).has_value();
    if (known) farthest = std::max(farthest, std::abs(away));
    if (known && std::abs(away) > allowed) {
      const inversion::Station& station = survey.stations[k];
      off.push_back(survey::about(
          684, station.file.path,
          fmt::format("station {} {}: it is {:.1f} m {} the ground of {}", station.id,
                      away < 0 ? "stands in the air" : "is buried", std::abs(away),
                      away < 0 ? "above" : "below", o.ground_file->filename().string()),
          "mend its elevation or the ground, or take ground.shape = \"stations\""));
    }
    s.z[k] = ground;
  }
  if (!off.empty()) throw data::InputError(data::ExitCode::input_invalid, std::move(off));
  if (farthest > 1)
    g.remarks.push_back(
        fmt::format("stations stand up to {:.3g} m off the ground of {}, and are put on it",
                    farthest, o.ground_file->filename().string()));
  return g;
}

}  // namespace tessera::apps::mt2d
