// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey_figures.h"

#include "phase_tensors.h"
#include "pseudo_section.h"
#include "support.h"
#include "tessera/inversion/figures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

namespace tessera::inversion {
namespace {

using namespace data;
using figures::is_number;
using figures::Sounded;

const Colour kObserved{0.1, 0.1, 0.1, 1}, kModel{0.835, 0.369, 0.0, 1};

std::vector<std::string> names_of(const Survey& s) {
  std::vector<std::string> out;
  for (const Station& station : s.stations)
    out.push_back(station.name.empty() ? station.id : station.name);
  return out;
}
figures::Stations placed(const Survey& s) {
  std::vector<double> distance;
  for (const Station& station : s.stations) distance.push_back(station.distance_m);
  return figures::place_stations(names_of(s), distance, !s.has_coordinates);
}

/// The rows of a station: [first, last).
std::pair<std::size_t, std::size_t> rows_of_station(const DataTable& t, std::size_t station) {
  const auto [a, b] =
      std::equal_range(t.station.begin(), t.station.end(), static_cast<std::int64_t>(station));
  return {static_cast<std::size_t>(a - t.station.begin()),
          static_cast<std::size_t>(b - t.station.begin())};
}

double residual_of(const DataTable& t, std::size_t row) {
  return (t.value[row] - t.predicted[row]) / t.sigma[row];
}

/// What one station has of one number, rising periods.
struct KindCurve {
  std::vector<double> period, value, error, predicted, residual;
};
KindCurve curve_of(const DataTable& t, std::size_t station, DatumKind kind) {
  KindCurve c;
  const auto [first, last] = rows_of_station(t, station);
  for (std::size_t i = first; i < last; ++i) {
    if (!(t.kind[i] == kind)) continue;
    c.period.push_back(1 / t.frequency_hz[i]);
    c.value.push_back(t.value[i]);
    c.error.push_back(t.sigma[i]);
    c.predicted.push_back(t.predicted[i]);
    c.residual.push_back(residual_of(t, i));
  }
  return c;
}
/// Of apparent resistivity or phase, period by period as it stands in the table, else of the
/// impedance to first order: d rho_a = 2 rho_a d|Z|/|Z|, d phase = d|Z|/|Z|.
KindCurve curve_of_impedance(const DataTable& t, std::size_t station, Element element, bool rho) {
  struct Row {
    double value, error, predicted, residual;
  };
  std::map<double, Row> by_period;
  const KindCurve told = curve_of(t, station, {element, rho ? Part::log10_rho : Part::phase});
  for (std::size_t i = 0; i < told.period.size(); ++i) {
    Row r{told.value[i], told.error[i], told.predicted[i], told.residual[i]};
    if (rho) {
      r.value = std::pow(10.0, r.value), r.predicted = std::pow(10.0, r.predicted);
      r.error *= std::numbers::ln10 * r.value;
    }
    by_period.emplace(told.period[i], r);
  }
  const Response z = response_of(t, station, element), p = predicted_response(t, station, element);
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double f = z.frequency_hz[i], relative = z.sigma_ohm[i] / std::abs(z.impedance_ohm[i]);
    const auto ratio = z.impedance_ohm[i] / p.impedance_ohm[i];
    const double rho_a = apparent_resistivity(f, z.impedance_ohm[i]);
    by_period.emplace(
        1 / f, rho ? Row{rho_a, 2 * rho_a * relative, apparent_resistivity(f, p.impedance_ohm[i]),
                         std::log(std::abs(ratio)) / relative}
                   : Row{phase_degrees(z.impedance_ohm[i]), relative * 180 / std::numbers::pi,
                         phase_degrees(p.impedance_ohm[i]), std::arg(ratio) / relative});
  }
  KindCurve c;
  for (const auto& [period, r] : by_period) {
    c.period.push_back(period);
    c.value.push_back(r.value);
    c.error.push_back(r.error);
    c.predicted.push_back(r.predicted);
    c.residual.push_back(r.residual);
  }
  return c;
}

bool any_number(const std::vector<KindCurve>& curves) {
  for (const KindCurve& c : curves)
    if (std::any_of(c.predicted.begin(), c.predicted.end(), is_number)) return true;
  return false;
}

std::vector<Sounded> seen_of(const std::vector<KindCurve>& curves,
                             std::vector<double> KindCurve::*what) {
  std::vector<Sounded> out;
  for (const KindCurve& c : curves) out.push_back({c.period, c.*what});
  return out;
}

bool is_tipper(Element e) { return e == Element::tx || e == Element::ty; }

figures::Sounding2d quantity(std::string name, const std::vector<KindCurve>& curves) {
  figures::Sounding2d q{.name = std::move(name),
                        .colour = {},
                        .observed = seen_of(curves, &KindCurve::value),
                        .predicted = {},
                        .residual = {}};
  if (any_number(curves)) {
    q.predicted = seen_of(curves, &KindCurve::predicted);
    q.residual = seen_of(curves, &KindCurve::residual);
  }
  return q;
}

/// One mode of a station as it is observed and predicted, at the periods of either number.
void add_mode(SoundingFigure& s, const DataTable& t, std::size_t station, Element e) {
  const KindCurve rho = curve_of_impedance(t, station, e, true),
                  phase = curve_of_impedance(t, station, e, false);
  std::vector<double> period;
  std::set_union(rho.period.begin(), rho.period.end(), phase.period.begin(), phase.period.end(),
                 std::back_inserter(period));
  if (period.empty()) return;
  const auto at = [&](const KindCurve& c, std::vector<double> KindCurve::*what) {
    std::vector<double> out;
    std::size_t i = 0;
    for (const double p : period)
      out.push_back(i < c.period.size() && c.period[i] == p ? (c.*what)[i++] : NAN);
    return out;
  };
  const std::string name = name_of(e, false);
  s.observed.push_back({.name = name,
                        .period = period,
                        .rho_a = at(rho, &KindCurve::value),
                        .rho_a_error = at(rho, &KindCurve::error),
                        .phase = at(phase, &KindCurve::value),
                        .phase_error = at(phase, &KindCurve::error)});
  s.predicted.push_back({.name = "predicted " + name,
                         .period = period,
                         .rho_a = at(rho, &KindCurve::predicted),
                         .phase = at(phase, &KindCurve::predicted)});
}

/// Numbers of a station that `is_of` takes, observed and predicted.
Panel panel_of(const DataTable& t, std::size_t station, const std::vector<DatumKind>& kinds,
               const char* label, bool (*is_of)(DatumKind)) {
  Panel out{.x = {.label = "Period", .unit = "s", .log = true, .group = "period"},
            .y = {.label = label},
            .legend = Legend::above};
  std::size_t colour = 1;
  for (const DatumKind& kind : kinds) {
    if (!is_of(kind)) continue;
    const KindCurve c = curve_of(t, station, kind);
    out.series.push_back(Points{.label = name_of(kind),
                                .x = c.period,
                                .y = c.value,
                                .y_minus = c.error,
                                .y_plus = c.error,
                                .filled = kind.part == Part::real,
                                .colour = line_colour(colour)});
    if (any_number({c}))
      out.series.push_back(
          Line{.label = "", .x = c.period, .y = c.predicted, .stroke = {line_colour(colour)}});
    ++colour;
  }
  return out;
}

/// Leaves out a panel and the rows that it takes.
void drop_panel(Figure& f, std::size_t k) {
  const std::size_t row = f.panels[k].row, span = f.panels[k].row_span;
  f.panels.erase(f.panels.begin() + static_cast<std::ptrdiff_t>(k));
  const auto weight = f.row_weight.begin() + static_cast<std::ptrdiff_t>(row);
  f.row_weight.erase(weight, weight + static_cast<std::ptrdiff_t>(span));
  for (Panel& p : f.panels)
    if (p.row > row) p.row -= span;
}

std::string fit_text(const Survey& s) {
  const double rms = rms_of(s.data);
  return is_number(rms) ? "RMS " + figures::digits(rms, 3) : std::string();
}

}  // namespace

std::vector<Element> elements_of(const DataTable& table) {
  std::set<Element> found;
  for (const DatumKind& k : table.kind) found.insert(k.element);
  return {found.begin(), found.end()};
}

std::string name_of(Element e, bool across_strike) {
  switch (e) {
    case Element::determinant:
      return "determinant";
    case Element::average:
      return "average";
    case Element::xy:
      return across_strike ? "TE (xy)" : "xy";
    case Element::yx:
      return across_strike ? "TM (yx)" : "yx";
    case Element::xx:
      return "xx";
    case Element::yy:
      return "yy";
    case Element::tx:
      return "tipper tx";
    case Element::ty:
      return across_strike ? "tipper (ty)" : "tipper ty";
  }
  return "";
}

Figure pseudo_section(const Survey& survey, Element element, bool across_strike) {
  const std::size_t n = survey.stations.size();
  std::vector<KindCurve> first(n), second(n);
  for (std::size_t k = 0; k < n; ++k)
    if (is_tipper(element)) {
      first[k] = curve_of(survey.data, k, {element, Part::real});
      second[k] = curve_of(survey.data, k, {element, Part::imag});
    } else {
      first[k] = curve_of_impedance(survey.data, k, element, true);
      second[k] = curve_of_impedance(survey.data, k, element, false);
    }
  std::vector<figures::Sounding2d> q;
  if (is_tipper(element)) {
    q = {quantity("real part", first), quantity("imaginary part", second)};
    for (figures::Sounding2d& part : q)
      part.colour = figures::signed_colours(part.observed, "T", 0.1);
  } else {
    q = {quantity("apparent resistivity", first), quantity("phase", second)};
    q[0].colour = figures::resistivity_colours(q[0].observed);
    q[1].colour = figures::phase_colours(q[1].observed);
  }
  std::string title = name_of(element, across_strike);
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return figures::pseudo_section_of(std::move(title), fit_text(survey), placed(survey), q);
}

Figure phase_tensor_elements(const Survey& survey) {
  std::vector<figures::Sounding2d> q;
  for (const auto& [element, name] : {std::pair{Element::xx, "xx: tan of the phase of TM"},
                                      {Element::yy, "yy: tan of the phase of TE"}}) {
    std::vector<KindCurve> curves;
    for (std::size_t k = 0; k < survey.stations.size(); ++k)
      curves.push_back(curve_of(survey.data, k, {element, Part::phase_tensor}));
    q.push_back(quantity(name, curves));
    q.back().colour = figures::signed_colours(q.back().observed, "Φ", 1);
  }
  return figures::pseudo_section_of("Phase tensor", fit_text(survey), placed(survey), q);
}

Figure station_figure(const Survey& survey, std::size_t station) {
  const DataTable& t = survey.data;
  SoundingFigure s{.station = names_of(survey)[station]};
  std::vector<DatumKind> kinds;
  const auto [first, last] = rows_of_station(t, station);
  for (std::size_t i = first; i < last; ++i)
    if (std::find(kinds.begin(), kinds.end(), t.kind[i]) == kinds.end()) kinds.push_back(t.kind[i]);
  for (const Element e : elements_of(t))
    if (!is_tipper(e)) add_mode(s, t, station, e);
  for (const DatumKind& kind : kinds) {
    const KindCurve c = curve_of(t, station, kind);
    if (any_number({c})) s.residual.push_back({name_of(kind), c.period, c.residual});
  }
  if (const double rms = rms_of_station(t, station); is_number(rms)) s.rms = rms;

  Figure f = sounding_figure(s);
  f.width = 330;
  f.column_weight.clear();
  std::vector<Panel> more;
  for (Panel p :
       {panel_of(t, station, kinds, "Phase tensor",
                 [](DatumKind k) { return k.part == Part::phase_tensor; }),
        panel_of(t, station, kinds, "Tipper", [](DatumKind k) { return is_tipper(k.element); })})
    if (!p.series.empty()) more.push_back(std::move(p));
  const auto any = [&](std::vector<double> ModeCurve::*what) {
    return std::any_of(s.observed.begin(), s.observed.end(), [&](const ModeCurve& m) {
      return std::any_of((m.*what).begin(), (m.*what).end(), is_number);
    });
  };
  const bool rho = any(&ModeCurve::rho_a), phase = any(&ModeCurve::phase);
  if (rho || phase || !more.empty()) {
    if (!phase) drop_panel(f, 1);
    if (!rho) drop_panel(f, 0);
    if (phase && !rho) f.panels[0].legend = Legend::above;
  }
  for (Panel& p : more) {
    p.row = f.row_weight.size();
    f.panels.push_back(std::move(p));
    f.row_weight.push_back(0.8);
  }
  const double rows = std::accumulate(f.row_weight.begin(), f.row_weight.end(), 0.0);
  f.height = std::max(240.0, 65 + std::round(100 * rows));
  return f;
}

Figure misfit_map(const Survey& survey) {
  const DataTable& t = survey.data;
  const figures::Stations stations = placed(survey);
  std::vector<Sounded> seen(survey.stations.size());
  std::vector<double> rms(survey.stations.size(), NAN), all;
  for (std::size_t k = 0; k < survey.stations.size(); ++k) {
    const auto [first, last] = rows_of_station(t, k);
    for (std::size_t i = first; i < last;) {
      double sum = 0;
      std::size_t n = 0, j = i;
      for (; j < last && t.frequency_hz[j] == t.frequency_hz[i]; ++j)
        if (const double r = residual_of(t, j); is_number(r)) sum += r * r, ++n;
      seen[k].period.push_back(1 / t.frequency_hz[i]);
      seen[k].value.push_back(n ? std::sqrt(sum / static_cast<double>(n)) : NAN);
      i = j;
    }
    rms[k] = rms_of_station(t, k);
    all.insert(all.end(), seen[k].value.begin(), seen[k].value.end());
  }
  const double most = figures::symmetric_limit(all, 3);
  Figure f{.width = 510,
           .height = 300,
           .title = "Misfit",
           .subtitle = fit_text(survey),
           .row_weight = {0.28, 1}};
  f.panels = {
      {.x = stations.axis,
       .y = {.label = "RMS", .min = 0},
       .series =
           {Rule{.at = 1},
            Points{.label = "RMS", .x = stations.x, .y = rms, .size = 4, .colour = line_colour(2)}},
       .top_marks = stations.marks,
       .legend = Legend::none},
      {.row = 1,
       .x = stations.axis,
       .y = {.label = "Period", .unit = "s", .log = true, .reversed = true},
       .colour = {.axis = {.label = "RMS", .min = 0, .max = most}},
       .series = figures::columns(stations, seen),
       .legend = Legend::none,
       .grid = false}};
  return f;
}

Figure phase_tensor_section(const Survey& survey) {
  std::vector<PhaseTensorCurve> curves;
  for (const Station& s : survey.stations) curves.push_back(phase_tensor_curve(s.sounding));
  return figures::phase_tensors_along(placed(survey), curves);
}

bool has_phase_tensors(const Survey& survey) {
  return std::any_of(survey.stations.begin(), survey.stations.end(), [](const Station& s) {
    return !phase_tensor_curve(s.sounding).period.empty();
  });
}

bool has_tippers(const Survey& survey) {
  return std::any_of(survey.stations.begin(), survey.stations.end(),
                     [](const Station& s) { return s.sounding.has_tipper(); }) ||
         std::any_of(survey.data.kind.begin(), survey.data.kind.end(),
                     [](const DatumKind& k) { return is_tipper(k.element); });
}

Figure induction_arrows(const Survey& survey) {
  constexpr double points_of_one = 40, degrees = 180 / std::numbers::pi;
  const figures::Stations stations = placed(survey);
  Arrows observed{.label = "observed", .stroke = {.colour = kObserved, .width = 0.9}},
      predicted{.label = "predicted", .stroke = {.colour = kModel, .width = 0.9}};
  const auto add = [&](Arrows& to, std::size_t k, double period, double north, double east) {
    if (!is_number(north) || !is_number(east)) return;
    to.x.push_back(stations.x[k]);
    to.y.push_back(period);
    to.length.push_back(points_of_one * std::hypot(north, east));
    to.angle.push_back(std::atan2(east, north) * degrees);
  };
  const double across = survey.azimuth_deg / degrees;  // y of the table: along the line
  for (std::size_t k = 0; k < survey.stations.size(); ++k) {
    const Sounding& s = survey.stations[k].sounding;
    const KindCurve y = curve_of(survey.data, k, {Element::ty, Part::real});
    if (s.has_tipper())
      for (std::size_t i = 0; i < s.size(); ++i) {
        const double turn = s.azimuth_deg[i] / degrees, tx = s.tipper[i][0].real(),
                     ty = s.tipper[i][1].real();
        add(observed, k, 1 / s.frequency_hz[i], -(tx * std::cos(turn) - ty * std::sin(turn)),
            -(tx * std::sin(turn) + ty * std::cos(turn)));
      }
    for (std::size_t i = 0; i < y.period.size(); ++i) {
      const double north = std::cos(across), east = std::sin(across);
      if (!s.has_tipper()) add(observed, k, y.period[i], -y.value[i] * north, -y.value[i] * east);
      add(predicted, k, y.period[i], -y.predicted[i] * north, -y.predicted[i] * east);
    }
  }
  Figure f{.width = 510,
           .height = 300,
           .title = "Induction arrows along the profile",
           .subtitle =
               "real part, towards what conducts better (Parkinson); north is up; a tipper "
               "of 0.5 is 20 points long"};
  f.panels = {{.x = stations.axis,
               .y = {.label = "Period", .unit = "s", .log = true, .reversed = true},
               .series = {std::move(observed), std::move(predicted)},
               .top_marks = stations.marks,
               .legend = Legend::above,
               .grid = false}};
  return f;
}

}  // namespace tessera::inversion
